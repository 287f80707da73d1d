//! Writes texts as scalars that every reader of YAML takes as the same text.

use std::fmt::Write as _;

use model::yaml::{self, Node, Resolved, ScalarStyle, YamlOptions, resolve_plain};

use crate::style::Quote;

/// Where a scalar is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Context {
    /// On a line of its own, or after a key.
    Block,
    /// Between brackets or braces.
    Flow,
}

/// The text as a scalar of one line.
pub(crate) fn written(text: &str, context: Context, quote: Quote) -> String {
    if is_plain(text, context) { text.to_owned() } else { quoted(text, quote) }
}

/// The text as a key of a mapping.
pub(crate) fn written_key(text: &str, quote: Quote) -> String {
    if is_plain(text, Context::Block) && is_plain(text, Context::Flow) { text.to_owned() } else { quoted(text, quote) }
}

/// The text in quotes. Double quotes are used where single quotes can't contain the text.
pub(crate) fn quoted(text: &str, quote: Quote) -> String {
    let is_simple = !text.contains(|c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}'));
    if quote == Quote::Single && is_simple {
        return format!("'{}'", text.replace('\'', "''"));
    }
    let mut written = String::with_capacity(text.len() + 2);
    written.push('"');
    for character in text.chars() {
        match character {
            '"' => written.push_str("\\\""),
            '\\' => written.push_str("\\\\"),
            '\n' => written.push_str("\\n"),
            '\t' => written.push_str("\\t"),
            '\r' => written.push_str("\\r"),
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                let _ = write!(written, "\\u{:04x}", u32::from(character));
            }
            _ if character.is_control() => {
                let _ = write!(written, "\\x{:02x}", u32::from(character));
            }
            _ => written.push(character),
        }
    }
    written.push('"');
    written
}

/// Whether the text without quotes is this text, for all readers of YAML.
fn is_plain(text: &str, context: Context) -> bool {
    let is_text = matches!(resolve_plain(text), Resolved::Text(_)) && !is_ambiguous(text);
    is_text && !text.contains(char::is_control) && is_read_back(text, context)
}

/// Whether some readers of YAML take a plain text as another type, although Go's `yaml.v2` does not: numbers to base 60, dates, words.
fn is_ambiguous(text: &str) -> bool {
    let begins_like_a_number = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'));
    let is_numeric = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | ':' | '_' | 'T' | 'Z' | ' ');
    let is_date_or_time = begins_like_a_number && text.chars().all(is_numeric) && text.contains([':', '-']);
    let begins_like_syntax = text.starts_with(|c: char| ",[]{}#&*!|>'\"%@`?:=<".contains(c));
    let is_number_word = ["inf", "nan", "infinity"].contains(&text.to_ascii_lowercase().as_str());
    begins_like_syntax || is_date_or_time || is_number_word || is_other_number(text)
}

/// Whether a text is a number in YAML 1.2 or in JSON, but not in Go's `yaml.v2`.
fn is_other_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.')) && text.parse::<f64>().is_ok()
}

/// Whether the reader of this workspace gives the same text back.
fn is_read_back(text: &str, context: Context) -> bool {
    let (line, count) = match context {
        Context::Block => (format!("k: {text}\n"), 1),
        Context::Flow => (format!("k: [{text}, z]\n"), 2),
    };
    let reading = yaml::read(&line, &YamlOptions::OBJECTS);
    let [document] = reading.documents.as_slice() else { return false };
    let is_same = |node: &Node| {
        node.as_scalar().is_some_and(|scalar| scalar.style == ScalarStyle::Plain && &*scalar.text == text)
    };
    let found = document.root.get("k");
    let found = match context {
        Context::Block => found.filter(|_| document.root.as_mapping().is_some_and(|entries| entries.len() == count)),
        Context::Flow => found.and_then(Node::as_sequence).filter(|items| items.len() == count).and_then(<[_]>::first),
    };
    reading.problems.is_empty() && found.is_some_and(is_same)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, block: &str, flow: &str) {
        assert_eq!(written(text, Context::Block, Quote::Double), block);
        assert_eq!(written(text, Context::Flow, Quote::Double), flow);
    }

    #[test]
    fn ordinary_texts_have_no_quotes() {
        for text in ["west-us", "https://a.example/b#c=d", "10.0.0.1", "two words", "./app", "é", "v1", "a:b", "-x"] {
            check(text, text, text);
        }
    }

    #[test]
    fn a_question_mark_has_quotes_inside_brackets() {
        // Go's libraries take it for the indicator of a key there.
        let url = "https://a.example/b?c=d";
        check(url, url, &format!("\"{url}\""));
    }

    #[test]
    fn texts_that_look_like_other_types_have_quotes() {
        for text in [
            "",
            "yes",
            "on",
            "y",
            "No",
            "true",
            "~",
            "null",
            "012",
            "1e3",
            "0x1f",
            "7",
            "1.0",
            "1_000",
            "1:30",
            "2024-01-15",
            "2024-01-15T10:00:00Z",
            ".inf",
            "NaN",
            "=",
            "<<",
            "089",
            "0o17",
            "+1",
        ] {
            check(text, &format!("\"{text}\""), &format!("\"{text}\""));
        }
    }

    #[test]
    fn texts_with_syntax_have_quotes() {
        check("a: b", "\"a: b\"", "\"a: b\"");
        check("a #b", "\"a #b\"", "\"a #b\"");
        check("a, b", "a, b", "\"a, b\"");
        check("{{ .x }}", "\"{{ .x }}\"", "\"{{ .x }}\"");
        check(" a", "\" a\"", "\" a\"");
        check("say \"hi\"\\", "say \"hi\"\\", "say \"hi\"\\");
        check("a\nb\u{1}", "\"a\\nb\\x01\"", "\"a\\nb\\x01\"");
    }

    #[test]
    fn single_quotes_are_used_where_they_can_be() {
        assert_eq!(written("it's: so", Context::Block, Quote::Single), "'it''s: so'");
        assert_eq!(written("a\tb", Context::Block, Quote::Single), "\"a\\tb\"");
    }

    proptest! {
        #[test]
        fn every_text_is_read_back(text in "\\PC{0,12}|[ -~\\t\\n\\r]{0,12}|[-+.:0-9eExob_ynoTZ~]{0,6}", single in any::<bool>()) {
            let quote = if single { Quote::Single } else { Quote::Double };
            let line = format!("{}: {}\nf: [{}, 1]\n", written_key(&text, quote), written(&text, Context::Block, quote), written(&text, Context::Flow, quote));
            let reading = yaml::read(&line, &YamlOptions::OBJECTS);
            let resolved = |node: &Node| node.as_scalar().map(|scalar| scalar.resolve() == Resolved::Text(text.as_str().into()));
            if text == "f" {
                return Ok(());
            }
            prop_assert!(reading.problems.is_empty(), "{line:?} {:?}", reading.problems);
            let root = &reading.documents[0].root;
            let entries = root.as_mapping().unwrap();
            prop_assert_eq!(resolved(&entries[0].0), Some(true), "{:?}", line);
            prop_assert_eq!(resolved(&entries[0].1), Some(true), "{:?}", line);
            prop_assert_eq!(root.get("f").and_then(|f| f.index(0)).and_then(resolved), Some(true), "{:?}", line);
        }
    }
}
