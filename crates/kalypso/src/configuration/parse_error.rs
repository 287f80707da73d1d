//! Errors of the configuration file, without the values in it, because a value may be a token.

use std::fmt::Write as _;
use std::path::Path;

use model::source::Positions;

use crate::exit::Failure;

/// The text that replaces a value.
const HIDDEN: &str = "…";

/// The error for a file that is not valid configuration: the position, the key, and the reason.
pub(super) fn file(path: &Path, text: &str, error: &toml::de::Error) -> Failure {
    let mut message = format!("the configuration file `{}` is wrong", path.display());
    if let Some(span) = error.span() {
        let position = Positions::new(text.as_bytes()).position(span.start);
        let line = text.lines().nth(position.line - 1).unwrap_or_default();
        let (line, column) = (without_value(line), position.column);
        let _ = write!(message, "\n  in line {}, column {column}: {line}", position.line);
    }
    Failure::usage(format!("{message}\n  {}", without_values(error.message())))
}

/// The line of a position for people: `line 4 of kalypso.toml`.
pub(super) fn line((path, text): (&Path, &str), start: usize) -> String {
    let line = Positions::new(text.as_bytes()).position(start.min(text.len())).line;
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    format!("line {line} of {name}")
}

/// The error for a line of the file whose values can't be used.
pub(super) fn in_line(path: &Path, line: &str, reason: &str) -> Failure {
    Failure::usage(format!("the configuration file `{}` is wrong\n  in {line}: {reason}", path.display()))
}

/// A line without its value.
fn without_value(line: &str) -> String {
    let is_key = |c: char| c.is_alphanumeric() || " \t_-.\"'[]".contains(c);
    let key = line.find(|c| !is_key(c)).unwrap_or(line.len());
    match line.get(key..).unwrap_or_default().strip_prefix('=') {
        Some(_) => format!("{}= {HIDDEN}", line.get(..key).unwrap_or_default().trim_start()),
        None if line.trim_start().starts_with('[') => line.get(..key).unwrap_or_default().trim().to_owned(),
        None => HIDDEN.to_owned(),
    }
}

/// A message without the values that it repeats: quoted texts, and words that are not one of the valid choices.
pub(super) fn without_values(message: &str) -> String {
    let message = match message.strip_prefix("unknown variant `").and_then(|rest| rest.rsplit_once("`, expected ")) {
        // The list of the valid choices is quoted in the same way.
        Some(_) => {
            let expected = message.split_once("`, expected ").map_or("", |(_, expected)| expected);
            format!("it must be {expected}")
        }
        None => message.to_owned(),
    };
    match (message.find('"'), message.rfind('"')) {
        (Some(first), Some(last)) if first < last => format!("{}{HIDDEN}{}", &message[..=first], &message[last..]),
        _ => message,
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only read")]
    struct Options {
        url: Option<Vec<u8>>,
        kind: Option<Kind>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Kind {
        One,
        Two,
    }

    fn check(text: &str, expected: &str) {
        let error = toml::from_str::<Options>(text).unwrap_err();
        let failure = file(Path::new("k.toml"), text, &error);
        assert_eq!(failure.message, format!("the configuration file `k.toml` is wrong\n  {expected}"));
    }

    #[test]
    fn no_value_is_repeated() {
        check("url = \"s3cret\"", "in line 1, column 7: url = …\n  invalid type: string \"…\", expected a sequence");
        check("\nkind = \"s3cret\"", "in line 2, column 8: kind = …\n  it must be `one` or `two`");
        check("token = 's3cret'", "in line 1, column 1: token = …\n  unknown field `token`, expected `url` or `kind`");
        check("[[s3cret = 1", "in line 1, column 9: [[s3cret = …\n  unclosed array table, expected `]]`");
    }

    #[test]
    fn broken_texts_are_not_repeated() {
        for text in [
            "url = \"s3cret",
            "url = s3cret",
            "kind = 's3cret\n'",
            "url = { a = 's3cret' ",
            "s3cret",
            "kind = \"s3c\\ret\"",
        ] {
            let error = toml::from_str::<Options>(text).unwrap_err();
            let message = file(Path::new("k.toml"), text, &error).message;
            assert!(!message.contains("s3c"), "{message}");
        }
    }
}
