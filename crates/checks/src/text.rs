//! Texts from outside, in the form in which they may be shown.

use crate::limits::TEXT_CHARACTERS_MAX;

/// The first characters of a text, on one line, without characters that change how other text is shown.
pub(crate) fn shown(text: &str) -> String {
    let visible = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).filter(|c| !is_hidden(*c));
    let mut shown: String = visible.clone().take(TEXT_CHARACTERS_MAX).collect();
    if visible.count() > TEXT_CHARACTERS_MAX {
        shown.pop();
        shown.push('…');
    }
    shown.trim().to_owned()
}

/// Whether a character is a control character, or changes the direction of text.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// The innermost cause of an error, which has the most precise message.
pub(crate) fn root_cause(error: &(dyn std::error::Error + 'static)) -> String {
    shown(&model::network::root_cause(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_short_line_without_control_characters() {
        assert_eq!(shown(" a\tb\nc\u{1b}[31m\u{7}\u{202e} "), "a b c[31m");
        assert_eq!(shown(&"ä".repeat(200)), "ä".repeat(200));
        assert_eq!(shown(&"ä".repeat(201)), format!("{}…", "ä".repeat(199)));
    }
}
