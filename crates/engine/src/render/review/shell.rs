//! Invalid names of variables in shell files.

use std::ops::Range;

use model::diagnostic::{Code, Severity};

use super::Finding;

/// The maximum number of reported names of a file.
const REPORTED_MAX: usize = 10;

/// Finds lines `export NAME=…` whose name is no identifier. `dash` stops reading the file at the first one, `bash` leaves the variable out.
///
/// The lines in `known` are left out: they are known to have no such name. The ranges are in order, and each has whole lines.
pub(in crate::render) fn review(text: &str, known: &[Range<usize>]) -> Vec<Finding> {
    let begins = [0].into_iter().chain(known.iter().map(|known| known.end));
    let ends = known.iter().map(|known| known.start).chain([text.len()]);
    begins.zip(ends).flat_map(|(begin, end)| invalid_names(text, begin..end)).take(REPORTED_MAX).collect()
}

/// The invalid names in these lines of a text.
fn invalid_names(text: &str, lines: Range<usize>) -> impl Iterator<Item = Finding> {
    let mut start = lines.start;
    text.get(lines).unwrap_or_default().split_inclusive('\n').filter_map(move |line| {
        let begin = start;
        start += line.len();
        let name = line.strip_prefix("export ")?.split_once('=')?.0;
        (!is_identifier(name)).then(|| finding(name, begin + "export ".len()))
    })
}

/// The lines that are completely in a part of a text: the part begins at the byte `start` of the text.
pub(in crate::render) fn whole_lines(start: usize, part: &[u8]) -> Range<usize> {
    let is_end = |byte: &u8| *byte == b'\n';
    let ends = part.iter().position(is_end).zip(part.iter().rposition(is_end));
    ends.map_or(start..start, |(first, last)| start + first + 1..start + last + 1)
}

fn is_identifier(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let mut bytes = name.bytes();
    bytes.next().is_some_and(is_letter) && bytes.all(|byte| is_letter(byte) || byte.is_ascii_digit())
}

fn finding(name: &str, at: usize) -> Finding {
    let at: Range<usize> = at..at + name.len();
    let message = format!("`{name}` is not a valid name of a shell variable: only letters, digits and `_` are allowed");
    Finding {
        code: Code::VariableRefused,
        severity: Severity::Warning,
        at,
        message,
        help: vec![
            "rename the key, or print it with `regexReplaceAll \"[^A-Za-z0-9_]\" $key \"_\"`".to_owned(),
            "`dash` stops reading the file there, `bash` leaves the variable out".to_owned(),
        ],
        namespace: None,
        value_key: Some(name.into()),
        is_of_application: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_no_identifiers_are_found() {
        let text = "# export a-b=c\nexport zone='a'\nexport feature-x='on'\nexport _A1=\nexport logging.level='=x'\nexport 7a=b\n";
        let found = |known: &[Range<usize>]| -> Vec<_> {
            review(text, known).into_iter().map(|finding| text[finding.at].to_owned()).collect()
        };
        assert_eq!(found(&[]), ["feature-x", "logging.level", "7a"]);
        let part = "='a'\nexport feature-x='on'\nexport _A";
        let known = whole_lines(text.find(part).unwrap(), part.as_bytes());
        assert_eq!(text[known.clone()], *"export feature-x='on'\n");
        assert_eq!(found(&[known]), ["logging.level", "7a"]);
        assert_eq!(whole_lines(7, b"a=b"), 7..7);
    }
}
