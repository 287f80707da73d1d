//! Texts inside of YAML and TOML.

use std::fmt::Write as _;

use crate::scalar::{self, Context};
use crate::style::Quote;

/// A text as a scalar of YAML: plain where every reader takes it as the same text, else in double quotes.
pub fn yaml(text: &str) -> String {
    scalar::written(text, Context::Block, Quote::Double)
}

/// A text as a string of TOML.
pub fn toml(text: &str) -> String {
    let mut result = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => result.extend(['\\', character]),
            _ if character.is_control() => {
                let _ = write!(result, "\\u{:04X}", u32::from(character));
            }
            _ => result.push(character),
        }
    }
    result.push('"');
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_where_needed() {
        let check = |text: &str, expected: &str| assert_eq!(yaml(text), expected);
        check("https://git.example/acme/control-plane", "https://git.example/acme/control-plane");
        check("git@git.example:acme/a", "git@git.example:acme/a");
        check("no", "\"no\"");
        check("1e3", "\"1e3\"");
        assert_eq!(toml("C:\\a \"b\"\n"), "\"C:\\\\a \\\"b\\\"\\u000A\"");
    }
}
