//! Decides whether a configuration value is a structure or a plain text.

use super::reader::read_first;
use super::{Node, NodeValue, YamlOptions};

/// The mapping or sequence in `text`, read by the rules of `yaml.v2`. None for scalars, invalid YAML and empty text.
///
/// Only the first document is read. Ordinary texts (`true`, `mysql://host:3306/a`, `hello world`) are recognised without parsing.
pub fn structure(text: &str) -> Option<Node> {
    if is_surely_scalar(text) {
        return None;
    }
    let reading = read_first(text, &YamlOptions::VALUES);
    let root = reading.documents.into_iter().next()?.root;
    match root.value {
        NodeValue::Scalar(_) => None,
        NodeValue::Sequence(_) | NodeValue::Mapping(_) => Some(root),
    }
}

/// The object or list in a JSON text, which another reader has accepted. None for other texts.
pub fn json_structure(text: &str) -> Option<Node> {
    let root = read_first(text, &YamlOptions::JSON).documents.into_iter().next()?.root;
    root.as_scalar().is_none().then_some(root)
}

/// Whether a text cannot be a structure: it begins like a plain scalar, and contains no colon that can end a key.
fn is_surely_scalar(text: &str) -> bool {
    let content = text.trim_start_matches([' ', '\n']);
    let mut bytes = content.bytes();
    let plain_start = match bytes.next() {
        None => return true,
        // A sign or a word. `- ` would begin a list.
        Some(b'-') => matches!(bytes.next(), Some(b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z')),
        Some(first) => {
            first.is_ascii_alphanumeric()
                || matches!(first, b'/' | b'.' | b'+' | b'~' | b'$' | b'_' | b'(' | b'^' | b'<')
                || first >= 0x80
        }
    };
    plain_start && !content.starts_with('\u{feff}') && !has_key_colon(content.as_bytes())
}

fn has_key_colon(content: &[u8]) -> bool {
    let ends_key =
        |next: Option<&u8>| next.is_none_or(|&byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r') || byte >= 0x80);
    content.iter().enumerate().any(|(at, &byte)| byte == b':' && ends_key(content.get(at + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, structured: bool, surely_scalar: bool) {
        assert_eq!((structure(text).is_some(), is_surely_scalar(text)), (structured, surely_scalar), "{text:?}");
    }

    #[test]
    fn ordinary_texts_are_recognized_without_parsing() {
        for text in [
            "",
            "true",
            "123",
            "-5",
            "mysql://host:3306/a",
            "hello world",
            "/var/lib",
            "a\nb\n",
            "  x",
            "~",
            "a:b",
            "é",
        ] {
            check(text, false, true);
        }
    }

    #[test]
    fn lists_and_mappings_are_structures() {
        for text in [
            "- a",
            "- ",
            "colon:",
            "a: b",
            "[x, [y]]",
            "{\"a\":1}",
            "{\n\t\"a\": 1\n}",
            "# c\na: 1",
            "--- {a: 1}",
            "'a': 1\n'b': '2'",
        ] {
            check(text, true, false);
        }
    }

    #[test]
    fn scalars_and_broken_texts_are_not() {
        for text in [
            "'quoted'",
            "\"quoted\"",
            "a: b: c",
            "[x",
            "{{ .x }}",
            "@x",
            "| a",
            "*x",
            "# only a comment",
            "a: \tb\n\tc: d",
            ":",
            ": ",
            ": )",
            ": x",
            "- :",
            "[:]",
            "{: x}",
            "a:\n: b",
            "a:\n  : b",
            "? a\n: : b",
            "[:8080]",
            "a: \"b\\/c\"",
            "%YAML 1.2\n---\na: b",
            "a:\n\t\n",
            "[a?b]",
            "? [a]\n: b",
        ] {
            check(text, false, false);
        }
    }

    #[test]
    fn keys_that_are_missing_after_an_indicator_are_read() {
        for text in ["? \n: b", "{? : b}", "&a : b", "!!str : b"] {
            check(text, true, false);
        }
    }

    #[test]
    fn json_can_have_escapes_that_yaml_does_not_have() {
        let text = "{\"pattern\": \"^https:\\/\\/\", \"sign\": \"\\ud83d\\ude81\"}";
        check(text, false, false);
        let root = json_structure(text).unwrap();
        assert_eq!(&*root.get("pattern").unwrap().as_scalar().unwrap().text, "^https://");
    }

    #[test]
    fn only_the_first_document_counts() {
        check("a: 1\n---\n: [", true, false);
        check("---\n---\na: 1", false, false);
        check("text\n---\n- a", false, true);
    }
}
