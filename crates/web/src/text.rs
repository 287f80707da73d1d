//! Texts from outside, on a page.

use std::fmt::Write as _;

use hub_api::timestamp::Timestamp;

/// A text in which characters that change the direction of text, or are not visible, are written as escapes. Line breaks and tabs stay.
pub(crate) fn visible(text: impl AsRef<str>) -> String {
    let text = text.as_ref();
    let mut result = String::with_capacity(text.len());
    for character in text.chars() {
        if is_hidden(character) {
            // Writing to a text can't fail.
            let _ = write!(result, "\\u{{{:x}}}", u32::from(character));
        } else {
            result.push(character);
        }
    }
    result
}

fn is_hidden(character: char) -> bool {
    let is_kept = matches!(character, '\n' | '\t');
    let is_mark = matches!(character, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}');
    let has_no_width =
        matches!(character, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    !is_kept && (character.is_control() || is_mark || has_no_width)
}

/// The first digits of the id of a commit, or another revision: enough to recognize it.
pub(crate) fn short(revision: &str) -> String {
    revision.chars().take(10).collect()
}

/// A time as text, without milliseconds that are zero.
pub(crate) fn utc(at: Timestamp) -> String {
    at.to_string().replace(".000Z", "Z")
}

/// A number with its noun: `1 assignment`, `2 assignments`.
pub(crate) fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_escapes() {
        assert_eq!(visible("a\u{202e}b\u{0}\n\u{200b}é"), "a\\u{202e}b\\u{0}\n\\u{200b}é");
    }
}
