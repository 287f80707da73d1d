//! Reads YAML from arbitrary bytes.

use super::reader::{Document, Reading, read, read_each};
use super::{ProblemKind, Span, YamlOptions, YamlProblem};

/// Reads all documents of `bytes` if they are UTF-8. Otherwise the result is one problem that names the encoding or format.
pub fn read_bytes(bytes: &[u8], options: &YamlOptions) -> Reading {
    match text(bytes) {
        Ok(text) => read(text, options),
        Err(problem) => Reading { problems: vec![problem], ..Reading::default() },
    }
}

/// Reads `bytes`, and passes each document without errors to `each` as soon as it is read. So only one document must be in memory.
/// Returns all problems.
pub fn read_bytes_each(bytes: &[u8], options: &YamlOptions, each: impl FnMut(Document)) -> Vec<YamlProblem> {
    match text(bytes) {
        Ok(text) => read_each(text, options, each),
        Err(problem) => vec![problem],
    }
}

fn text(bytes: &[u8]) -> Result<&str, YamlProblem> {
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        not_utf8(bytes, Span::new(at, at + error.error_len().unwrap_or(bytes.len() - at)))
    })
}

fn not_utf8(bytes: &[u8], span: Span) -> YamlProblem {
    let problem = |message: &'static str| YamlProblem::new(ProblemKind::Encoding, span, message);
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return problem("the text is UTF-16, not UTF-8").hint("save it as UTF-8");
    }
    if bytes.contains(&0) {
        return problem("this is binary data, not text");
    }
    problem("this is not UTF-8").hint("save the text as UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], message: &str, start: u32) {
        let reading = read_bytes(bytes, &YamlOptions::OBJECTS);
        assert_eq!((reading.documents.len(), reading.problems.len()), (0, 1));
        assert!(reading.problems[0].message.contains(message), "{:?}", reading.problems);
        assert_eq!((reading.problems[0].kind, reading.problems[0].span.start), (ProblemKind::Encoding, start));
    }

    #[test]
    fn non_utf8_input_is_named() {
        check(b"\xff\xfea\0:\0", "UTF-16", 0);
        check(b"\x7fELF\0\xff", "binary", 5);
        check(b"name: M\xfcller\n", "not UTF-8", 7);
        check(b"a: \xe2\x82", "not UTF-8", 3);
    }

    #[test]
    fn utf8_with_a_byte_order_mark_is_read() {
        let reading = read_bytes("\u{feff}a: 1\n".as_bytes(), &YamlOptions::OBJECTS);
        assert_eq!(reading.problems, []);
        assert_eq!(reading.documents[0].root.key_span("a"), Some(Span::new(3, 4)));
    }

    #[test]
    fn control_characters_are_reported_before_parsing() {
        check(b"a: 1\nb: \0\n", "U+0000", 8);
        check(b"a: \x1b[0m\n", "U+001B", 3);
        check("a: \u{feff}b\n".as_bytes(), "U+FEFF", 3);
    }
}
