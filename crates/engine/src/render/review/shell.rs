//! Invalid names of variables in shell files.

use std::ops::Range;

use model::diagnostic::{Code, Severity};

use super::Finding;

/// The maximum number of reported names of a file.
const REPORTED_MAX: usize = 10;

/// Finds lines `export NAME=…` whose name is no identifier. `dash` stops reading the file at the first one, `bash` leaves the variable out.
pub(in crate::render) fn review(text: &str) -> Vec<Finding> {
    let mut start = 0;
    let names = text.split_inclusive('\n').filter_map(|line| {
        let begin = start;
        start += line.len();
        let name = line.strip_prefix("export ")?.split_once('=')?.0;
        (!is_identifier(name)).then(|| finding(name, begin + "export ".len()))
    });
    names.take(REPORTED_MAX).collect()
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
        let found: Vec<_> = review(text).into_iter().map(|finding| text[finding.at].to_owned()).collect();
        assert_eq!(found, ["feature-x", "logging.level", "7a"]);
    }
}
