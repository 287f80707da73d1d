//! Texts inside of YAML and TOML.

/// A text as a scalar of YAML: plain where every reader takes it as the same text, else in double quotes.
pub(super) fn yaml(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':' | '@' | '~');
    let is_text = text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(is_plain)
        && !text.ends_with(':')
        && !is_word_of_yaml(text);
    if is_text { text.to_owned() } else { quoted(text) }
}

/// A text in double quotes, with the same meaning in YAML and in TOML.
pub(super) fn quoted(text: &str) -> String {
    let mut result = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => result.extend(['\\', character]),
            _ if character.is_control() => result.push_str(&format!("\\u{:04X}", u32::from(character))),
            _ => result.push(character),
        }
    }
    result.push('"');
    result
}

/// Whether a version of YAML reads a word as a boolean or as nothing, or as a number.
fn is_word_of_yaml(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    matches!(&*lower, "y" | "n" | "yes" | "no" | "on" | "off" | "true" | "false" | "null" | "inf" | "nan")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_stays_a_text() {
        let check = |text: &str, expected: &str| assert_eq!(yaml(text), expected);
        check("dev", "dev");
        check("https://git.example/acme/control-plane", "https://git.example/acme/control-plane");
        check("git@git.example:acme/a", "git@git.example:acme/a");
        check("no", "\"no\"");
        check("1e3", "\"1e3\"");
        check("0-1", "\"0-1\"");
        check("a: b", "\"a: b\"");
        check("a\"\\\n", "\"a\\\"\\\\\\u000A\"");
    }
}
