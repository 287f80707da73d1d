//! Selects the YAML style of a text.

use std::borrow::Cow;

use super::resolve;

/// A text, to be written as a scalar outside of flow collections.
pub(super) struct Scalar<'a> {
    /// The text, or its base64 if it is `binary`.
    pub(super) text: Cow<'a, str>,
    /// Whether the text is not UTF-8 and needs the tag `!!binary`.
    pub(super) binary: bool,
    /// Whether the text contains a line break.
    pub(super) multiline: bool,
    /// The style in which the text is written.
    pub(super) style: Style,
}

/// A quick check whether the text can be written as a plain scalar in one line. It is true for most keys and values: they contain no character with a
/// meaning in YAML. `false` means that the style must be determined with [`Scalar::new`].
pub(super) fn is_evidently_plain(bytes: &[u8]) -> bool {
    /// Longer texts are not words with a meaning in YAML, such as `false`.
    const WORD_LENGTH_MAX: usize = 5;
    let is_harmless = |byte: &u8| HARMLESS[usize::from(*byte)];
    bytes.len() > WORD_LENGTH_MAX
        && bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.iter().all(is_harmless)
        && !bytes.ends_with(b" ")
}

/// The characters that have no meaning in YAML after a letter. A blank at the end has one.
const HARMLESS: [bool; 256] = {
    let mut harmless = [false; 256];
    let mut byte = b' ';
    while byte <= b'~' {
        harmless[byte as usize] = byte != b':' && byte != b'#';
        byte += 1;
    }
    harmless
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    Literal,
}

impl<'a> Scalar<'a> {
    /// Selects the style for `bytes`.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let (text, binary) = match std::str::from_utf8(bytes) {
            Ok(text) => (Cow::Borrowed(text), false),
            Err(_) => (Cow::Owned(base64_lines(bytes)), true),
        };
        let allowed = Allowed::by(&text);
        let style = if text.contains('\n') {
            if allowed.literal { Style::Literal } else { Style::DoubleQuoted }
        } else if !binary && !resolve::is_text(&text) {
            Style::DoubleQuoted
        } else if allowed.plain {
            Style::Plain
        } else if allowed.single_quoted {
            Style::SingleQuoted
        } else {
            Style::DoubleQuoted
        };
        Self { text, binary, multiline: allowed.multiline, style }
    }
}

/// The styles that a text can be written in.
#[derive(Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "four independent answers about one text")]
struct Allowed {
    multiline: bool,
    plain: bool,
    single_quoted: bool,
    literal: bool,
}

impl Allowed {
    /// yaml.v3's `yaml_emitter_analyze_scalar`, without what matters only in flow collections.
    fn by(text: &str) -> Self {
        // Without a branch in the loop, the compiler looks at many bytes at once.
        let classes = text.bytes().map(|byte| (byte == b'\n', matches!(byte, b'\n' | b' '..=b'~')));
        match classes.fold((false, true), |(breaks, ascii), (is_break, is_ascii)| (breaks | is_break, ascii & is_ascii))
        {
            (false, true) => Self::by_line(text.as_bytes()),
            (true, true) => Self::by_lines(text.as_bytes()),
            (_, false) => Self::by_chars(text),
        }
    }

    /// The same as [`Allowed::by_chars`], for one line of printable ASCII: nearly all texts.
    fn by_line(text: &[u8]) -> Self {
        let blank_at = |index: usize| text.get(index).is_none_or(|next| *next == b' ');
        let first = text.first().is_some_and(|first| is_indicator_at_start(char::from(*first), blank_at(1)));
        let ends_plain = |index: usize| match text.get(index) {
            Some(b':') => index > 0 && blank_at(index + 1),
            _ => index.checked_sub(1).is_some_and(|before| text.get(before) == Some(&b' ')),
        };
        let indicator = first || text.starts_with(b"---") || text.starts_with(b"...");
        let indicator = indicator || memchr::memchr2_iter(b':', b'#', text).any(ends_plain);
        let space_at_end = text.ends_with(b" ");
        let at_border = text.starts_with(b" ") || space_at_end;
        Self { multiline: false, plain: !(at_border || indicator), single_quoted: true, literal: !space_at_end }
    }

    /// The same as [`Allowed::by_chars`], for several lines of printable ASCII.
    fn by_lines(text: &[u8]) -> Self {
        let (mut break_then_space, mut space_then_break) = (false, false);
        for index in memchr::memchr_iter(b'\n', text) {
            space_then_break |= index.checked_sub(1).is_some_and(|before| text.get(before) == Some(&b' '));
            break_then_space |= text.get(index + 1) == Some(&b' ');
        }
        Self {
            multiline: true,
            plain: false,
            single_quoted: !(break_then_space || space_then_break),
            literal: !(text.ends_with(b" ") || space_then_break),
        }
    }

    fn by_chars(text: &str) -> Self {
        let mut indicator = text.starts_with("---") || text.starts_with("...");
        let (mut breaks, mut tab, mut special) = (false, false, false);
        let (mut break_then_space, mut space_then_break) = (false, false);
        let mut previous = None;
        let mut chars = text.chars().peekable();
        while let Some(char) = chars.next() {
            let blank_follows = chars.peek().is_none_or(|next| matches!(next, ' ' | '\t'));
            indicator |= match previous {
                None => is_indicator_at_start(char, blank_follows),
                Some(previous) => (char == ':' && blank_follows) || (char == '#' && is_blank_or_end(previous)),
            };
            tab |= char == '\t';
            special |= char != '\t' && !is_printable(char);
            if is_break(char) {
                breaks = true;
                space_then_break |= previous == Some(' ');
            }
            break_then_space |= char == ' ' && previous.is_some_and(is_break);
            previous = Some(char);
        }
        let space_at_end = text.ends_with(' ');
        let at_border = text.starts_with(' ') || space_at_end;
        let single_quoted = !(break_then_space || space_then_break || tab || special);
        Self {
            multiline: breaks,
            plain: single_quoted && !(at_border || breaks || indicator),
            single_quoted,
            literal: !(space_at_end || space_then_break || special),
        }
    }
}

fn is_indicator_at_start(char: char, blank_follows: bool) -> bool {
    match char {
        '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`' => true,
        '?' | ':' | '-' => blank_follows,
        _ => false,
    }
}

/// Whether YAML 1.1 reads the character as the end of a line.
pub(super) fn is_break(char: char) -> bool {
    matches!(char, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_blank_or_end(char: char) -> bool {
    matches!(char, ' ' | '\t' | '\0') || is_break(char)
}

/// Whether yaml.v3 writes the character unescaped.
fn is_printable(char: char) -> bool {
    matches!(char, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}

/// The indentation and chomping indicators of a literal block with this text.
pub(super) fn block_hints(text: &str) -> &'static str {
    let hint = text.starts_with(|first| first == ' ' || is_break(first));
    let mut from_end = text.chars().rev();
    let last_breaks = (from_end.next().is_some_and(is_break), from_end.next().is_none_or(is_break));
    match (hint, last_breaks) {
        (false, (false, _)) => "-",
        (false, (true, false)) => "",
        (false, (true, true)) => "+",
        (true, (false, _)) => "4-",
        (true, (true, false)) => "4",
        (true, (true, true)) => "4+",
    }
}

/// Writes `text` in double quotes.
pub(super) fn write_double_quoted(out: &mut Vec<u8>, text: &str) {
    // yaml.v3 checks for the byte order mark at the beginning of the text for every character. So it escapes the whole text after one.
    let escape_all = text.starts_with('\u{feff}');
    out.push(b'"');
    let mut rest = text;
    while !rest.is_empty() {
        let plain = if escape_all { 0 } else { rest.find(needs_escape).unwrap_or(rest.len()) };
        let (verbatim, escaped) = rest.split_at(plain);
        out.extend_from_slice(verbatim.as_bytes());
        let mut chars = escaped.chars();
        if let Some(char) = chars.next() {
            write_escape(out, char);
        }
        rest = chars.as_str();
    }
    out.push(b'"');
}

fn needs_escape(char: char) -> bool {
    !is_printable(char) || is_break(char) || matches!(char, '"' | '\\')
}

fn write_escape(out: &mut Vec<u8>, char: char) {
    let short = match char {
        '\0' => '0',
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{b}' => 'v',
        '\u{c}' => 'f',
        '\r' => 'r',
        '\u{1b}' => 'e',
        '"' => '"',
        '\\' => '\\',
        '\u{85}' => 'N',
        '\u{a0}' => '_',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        _ => {
            let code = u32::from(char);
            let escape = match code {
                0..=0xff => format!("\\x{code:02X}"),
                0x100..=0xffff => format!("\\u{code:04X}"),
                _ => format!("\\U{code:08X}"),
            };
            out.extend_from_slice(escape.as_bytes());
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short as u8]);
}

/// Base64 in lines of 70 characters, each with a newline. A single line that is shorter has no newline.
fn base64_lines(bytes: &[u8]) -> String {
    const LINE: usize = 70;
    let encoded = data_encoding::BASE64.encode(bytes);
    if encoded.len() < LINE {
        return encoded;
    }
    let mut lines = String::with_capacity(encoded.len() + encoded.len() / LINE + 1);
    for (index, char) in encoded.char_indices() {
        if index > 0 && index % LINE == 0 {
            lines.push('\n');
        }
        lines.push(char);
    }
    lines.push('\n');
    lines
}

#[cfg(test)]
mod tests {
    use super::{Allowed, Scalar, Style, is_evidently_plain};

    const CHARACTERS: [&str; 13] = ["", "a", "1", " ", ":", "#", "-", ".", "?", "'", "%", "/", "\n"];

    /// All texts of up to four of the characters.
    fn texts() -> impl Iterator<Item = String> {
        let count = CHARACTERS.len();
        let character = move |index, place| CHARACTERS[index / count.pow(place) % count];
        (0..count.pow(4)).map(move |index| (0..4).map(|place| character(index, place)).collect())
    }

    #[test]
    fn the_fast_paths_for_ascii_have_the_same_result() {
        for text in texts() {
            let by_ascii = if text.contains('\n') { Allowed::by_lines } else { Allowed::by_line };
            assert_eq!(by_ascii(text.as_bytes()), Allowed::by_chars(&text), "{text:?}");
            assert_eq!(Allowed::by(&text), Allowed::by_chars(&text), "{text:?}");
        }
    }

    #[test]
    fn evidently_plain_texts_are_plain() {
        let texts =
            texts().flat_map(|text| [format!("some {text}"), format!("{text}words"), format!("a{text}a{text}")]);
        let plain = texts.filter(|text| is_evidently_plain(text.as_bytes())).map(|text| {
            let Scalar { style, multiline, .. } = Scalar::new(text.as_bytes());
            assert_eq!((style, multiline), (Style::Plain, false), "{text:?}");
        });
        assert!(plain.count() > 10_000);
    }
}
