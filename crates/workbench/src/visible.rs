//! Makes control characters in external texts visible, so that they can't move a terminal's cursor or change the direction of text.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Replaces each hidden character in `text` by a visible escape. Line breaks and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut result = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\0'..='\u{1f}' if is_hidden(character) => {
                result.push(char::from_u32(0x2400 + u32::from(character)).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            '\u{7f}' => result.push('␡'),
            _ if is_hidden(character) => {
                let _ = write!(result, "\\u{{{:x}}}", u32::from(character));
            }
            _ => result.push(character),
        }
    }
    Cow::Owned(result)
}

/// The same as [`visible()`], for bytes. An invalid UTF-8 sequence becomes one `�`, so that columns match [`model::source::Position`].
pub fn visible_bytes(bytes: &[u8]) -> String {
    visible(&String::from_utf8_lossy(bytes)).into_owned()
}

/// A message for output: without terminal control sequences, and without the credentials of URLs.
pub fn message(text: &str) -> String {
    visible(&model::credential::without(text)).into_owned()
}

/// Replaces each hidden character by its JSON escape. The value of the JSON does not change, because these characters occur only in strings.
pub fn escaped_json(json: String) -> String {
    if !json.contains(is_hidden) {
        return json;
    }
    let mut result = String::with_capacity(json.len());
    for character in json.chars() {
        if is_hidden(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(result, "\\u{unit:04x}");
            }
        } else {
            result.push(character);
        }
    }
    result
}

/// Whether a text has no hidden characters.
pub fn is_visible(text: &str) -> bool {
    !text.contains(is_hidden)
}

/// Whether a character is one of these: C0 and C1 control characters, including the one-character CSI; direction marks; line breaks that are not line
/// breaks in YAML; characters without a width; tags.
fn is_hidden(character: char) -> bool {
    let is_kept = matches!(character, '\n' | '\t');
    let is_control = matches!(character, '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}');
    let is_mark = matches!(character, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}');
    let has_no_width =
        matches!(character, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    !is_kept && (is_control || is_mark || has_no_width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_made_visible() {
        assert_eq!(visible("a\u{1b}[31mb\u{7f}\r\n\tc"), "a␛[31mb␡␍\n\tc");
        assert_eq!(visible("\u{9b}31m \u{202e}txet"), "\\u{9b}31m \\u{202e}txet");
        let all =
            "\u{61c}\u{200e}\u{200f}\u{202a}\u{202d}\u{2066}\u{2069}\u{2028}\u{2029}\u{200b}\u{feff}\u{e0041}\u{85}";
        assert!(visible(all).is_ascii(), "{}", visible(all));
        assert_eq!(visible("門真 é 👩\u{200d}🔧"), "門真 é 👩\u{200d}🔧");
    }

    #[test]
    fn each_invalid_byte_is_one_replacement_character() {
        assert_eq!(visible_bytes(b"a\xffb\xfe"), "a�b�");
    }

    #[test]
    fn escaped_json_is_visible_and_equivalent() {
        let text = "\u{9b}31m\u{202e}\u{7f}\u{e0041}é\n";
        let json = escaped_json(serde_json::json!([text]).to_string());
        assert!(is_visible(&json), "{json}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), [text]);
    }

    #[test]
    fn a_message_repeats_no_credential() {
        assert_eq!(message("`https://me:s3cret@h/a` \u{9b}"), "`https://…@h/a` \\u{9b}");
    }
}
