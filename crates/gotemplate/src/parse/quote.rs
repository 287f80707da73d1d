//! Removes the quotes and escapes of string and character constants.

use crate::runes::first_char;

/// The meaning of an escape or a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// A character, to be written as UTF-8.
    Character(char),
    /// One byte, from `\x` or an octal escape.
    Byte(u8),
}

impl Unit {
    /// The code point, or the value of the byte.
    pub(super) fn value(self) -> u32 {
        match self {
            Self::Character(character) => u32::from(character),
            Self::Byte(byte) => u32::from(byte),
        }
    }
}

/// The content of a constant in double quotes or backquotes (Go's `strconv.Unquote`). None if it contains an invalid escape.
pub(super) fn unquote(text: &[u8]) -> Option<Vec<u8>> {
    let (quote, inner) = match text {
        [open @ (b'"' | b'`'), inner @ .., close] if open == close => (*open, inner),
        _ => return None,
    };
    if quote == b'`' {
        return Some(inner.iter().copied().filter(|byte| *byte != b'\r').collect());
    }
    let mut content = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while !rest.is_empty() {
        if rest.first().is_some_and(|byte| !matches!(byte, b'\\' | b'"' | b'\n' | 0x80..)) {
            content.extend(rest.first());
            rest = rest.get(1..).unwrap_or_default();
            continue;
        }
        let (unit, after) = unquote_char(rest, quote)?;
        match unit {
            Unit::Character(character) => content.extend(character.encode_utf8(&mut [0; 4]).as_bytes()),
            Unit::Byte(byte) => content.push(byte),
        }
        rest = after;
    }
    Some(content)
}

/// The first character or escape of `text`, and the text after it (Go's `strconv.UnquoteChar`).
pub(super) fn unquote_char(text: &[u8], quote: u8) -> Option<(Unit, &[u8])> {
    match text {
        [] => None,
        [first, ..] if *first == quote => None,
        [b'\\', rest @ ..] => unescape(rest, quote),
        _ => {
            let (character, length) = first_char(text)?;
            Some((Unit::Character(character), text.get(length..)?))
        }
    }
}

fn unescape(text: &[u8], quote: u8) -> Option<(Unit, &[u8])> {
    let (letter, rest) = text.split_first()?;
    let simple = |character| Some((Unit::Character(character), rest));
    match letter {
        b'a' => simple('\x07'),
        b'b' => simple('\x08'),
        b'f' => simple('\x0c'),
        b'n' => simple('\n'),
        b'r' => simple('\r'),
        b't' => simple('\t'),
        b'v' => simple('\x0b'),
        b'\\' => simple('\\'),
        b'x' => digits(rest, 2, 16).and_then(|(code, rest)| Some((Unit::Byte(u8::try_from(code).ok()?), rest))),
        b'u' => digits(rest, 4, 16).and_then(|(code, rest)| Some((Unit::Character(char::from_u32(code)?), rest))),
        b'U' => digits(rest, 8, 16).and_then(|(code, rest)| Some((Unit::Character(char::from_u32(code)?), rest))),
        b'0'..=b'7' => digits(text, 3, 8).and_then(|(code, rest)| Some((Unit::Byte(u8::try_from(code).ok()?), rest))),
        b'\'' | b'"' if *letter == quote => simple(char::from(*letter)),
        _ => None,
    }
}

fn digits(text: &[u8], count: usize, radix: u32) -> Option<(u32, &[u8])> {
    let mut code = 0_u32;
    for byte in text.get(..count)? {
        code = code.checked_mul(radix)?.checked_add(char::from(*byte).to_digit(radix)?)?;
    }
    Some((code, text.get(count..)?))
}
