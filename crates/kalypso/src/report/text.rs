//! Texts of other people without what could move a terminal's cursor or turn its letters round.

/// `text` with every such character replaced by one visible character. Line breaks and tabs stay.
pub(super) fn visible(text: &str) -> String {
    text.chars().map(visible_character).collect()
}

/// The same for bytes; a sequence that is not UTF-8 becomes one `�`, so that columns are those of [`model::source::Position`].
pub(super) fn visible_bytes(bytes: &[u8]) -> String {
    visible(&String::from_utf8_lossy(bytes))
}

fn visible_character(character: char) -> char {
    match character {
        '\n' | '\t' => character,
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(character)).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\u{7f}' => '␡',
        // C1 controls, among them the one-character form of the sequence that begins colours; marks of direction; breaks that are none in YAML.
        '\u{80}'..='\u{9f}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            char::REPLACEMENT_CHARACTER
        }
        _ => character,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_but_letters() {
        assert_eq!(visible("a\u{1b}[31mb\u{7f}\r\n\tc"), "a␛[31mb␡␍\n\tc");
        assert_eq!(visible("\u{9b}31m \u{202e}txet"), "�31m �txet");
    }

    #[test]
    fn broken_bytes_are_one_character_each() {
        assert_eq!(visible_bytes(b"a\xffb\xfe"), "a�b�");
    }
}
