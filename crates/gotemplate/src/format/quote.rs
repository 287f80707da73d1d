//! Quotes strings and characters as Go's package `strconv` does.

use std::fmt::Write as _;

use unicode_properties::{GeneralCategoryGroup as Group, UnicodeGeneralCategory as _};

use crate::runes::first_char;

/// The characters that are not escaped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Charset {
    Unicode,
    Ascii,
}

/// `text` as a Go string constant in double quotes.
pub fn quote(text: &[u8]) -> String {
    quote_with(text, Charset::Unicode)
}

/// A character as a Go constant in single quotes.
pub fn quote_rune(rune: char) -> String {
    quote_rune_with(rune, Charset::Unicode)
}

/// Whether the character is printable in Go: letters, marks, numbers, punctuation, symbols and the ASCII blank.
pub fn is_printable(character: char) -> bool {
    if character.is_ascii() {
        return character == ' ' || character.is_ascii_graphic();
    }
    matches!(
        character.general_category_group(),
        Group::Letter | Group::Mark | Group::Number | Group::Punctuation | Group::Symbol
    )
}

pub(super) fn quote_with(text: &[u8], charset: Charset) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    let mut rest = text;
    while let Some((character, length)) = first_char(rest) {
        if character == char::REPLACEMENT_CHARACTER && length == 1 {
            push_format(&mut quoted, format_args!("\\x{:02x}", rest.first().copied().unwrap_or_default()));
        } else {
            push(&mut quoted, character, '"', charset);
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    quoted.push('"');
    quoted
}

pub(super) fn quote_rune_with(rune: char, charset: Charset) -> String {
    let mut quoted = String::from("'");
    push(&mut quoted, rune, '\'', charset);
    quoted.push('\'');
    quoted
}

/// Whether the text can be written between backquotes without escapes.
pub(super) fn can_backquote(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| {
        text.chars().all(|character| match character {
            '\u{feff}' | '`' | '\x7f' => false,
            other => other >= ' ' || other == '\t',
        })
    })
}

fn push(quoted: &mut String, character: char, quote: char, charset: Charset) {
    if character == quote || character == '\\' {
        quoted.push('\\');
        quoted.push(character);
        return;
    }
    let stays = is_printable(character) && (charset == Charset::Unicode || character.is_ascii());
    if stays {
        quoted.push(character);
        return;
    }
    match character {
        '\x07' => quoted.push_str("\\a"),
        '\x08' => quoted.push_str("\\b"),
        '\x0c' => quoted.push_str("\\f"),
        '\n' => quoted.push_str("\\n"),
        '\r' => quoted.push_str("\\r"),
        '\t' => quoted.push_str("\\t"),
        '\x0b' => quoted.push_str("\\v"),
        other if other < ' ' || other == '\x7f' => push_format(quoted, format_args!("\\x{:02x}", u32::from(other))),
        other if u32::from(other) < 0x10000 => push_format(quoted, format_args!("\\u{:04x}", u32::from(other))),
        other => push_format(quoted, format_args!("\\U{:08x}", u32::from(other))),
    }
}

fn push_format(quoted: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing into a string never fails.
    let _ = quoted.write_fmt(arguments);
}
