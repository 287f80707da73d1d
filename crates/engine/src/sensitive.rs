//! Sensitive values: shown as a digest wherever people look.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gotemplate::value::Value;
use model::field_path::FieldPath;
use model::yaml;
use serde_json::Value as Json;

/// Shorter texts are hidden only where they stand alone: `1` is no secret inside `10`.
const ALONE_BELOW: usize = 4;

/// Texts that may not be shown, and what is shown in their place.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    /// The digest of a text, by each form in which manifests hold it.
    digests: BTreeMap<String, String>,
}

impl Secrets {
    /// Adds a value with all that is in it.
    pub fn add(&mut self, value: &Value) {
        let mut leaves = Vec::new();
        crate::trace::collect_leaves(value, &mut FieldPath::default(), &mut leaves);
        leaves.iter().for_each(|(_, leaf)| self.add_leaf(leaf));
    }

    /// Adds what a rendered file holds at these paths, wherever in the file they begin.
    pub fn add_file(&mut self, content: &[u8], paths: &std::collections::BTreeSet<FieldPath>) {
        if paths.is_empty() {
            return;
        }
        for document in yaml::read_bytes(content, &yaml::Options::VALUES).documents {
            let mut leaves = Vec::new();
            let value = crate::value::of_node(&document.root);
            crate::trace::collect_leaves(&value, &mut FieldPath::default(), &mut leaves);
            let sensitive = leaves.iter().filter(|(path, _)| ends_at(path, paths));
            sensitive.for_each(|(_, leaf)| self.add_leaf(leaf));
        }
    }

    /// Adds the texts of others.
    pub fn extend(&mut self, others: Self) {
        self.digests.extend(others.digests);
    }

    /// A text without secrets.
    pub fn hide(&self, text: &str) -> String {
        let mut forms: Vec<_> = self.digests.iter().collect();
        // A secret may be a part of another.
        forms.sort_by_key(|(form, _)| std::cmp::Reverse(form.len()));
        forms.into_iter().fold(text.to_owned(), |text, (form, digest)| replaced(&text, form, digest))
    }

    fn add_leaf(&mut self, leaf: &Value) {
        let text = match crate::schema::nested(leaf) {
            Json::Null => return,
            Json::String(text) => text,
            other => other.to_string(),
        };
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return;
        }
        let in_json = Json::from(trimmed).to_string();
        let forms = [
            trimmed.to_owned(),
            in_json.get(1..in_json.len() - 1).unwrap_or_default().to_owned(),
            trimmed.replace('\'', "''"),
            STANDARD.encode(trimmed),
            STANDARD.encode(&text),
        ];
        let digest = digest(leaf);
        self.digests.extend(forms.into_iter().map(|form| (form, digest.clone())));
    }
}

/// Whether a path, or what remains of it without its first steps, is at or below one of these.
fn ends_at(path: &FieldPath, paths: &std::collections::BTreeSet<FieldPath>) -> bool {
    let steps = path.steps();
    (0..steps.len()).any(|start| {
        let rest: FieldPath = steps.iter().skip(start).cloned().collect();
        paths.iter().any(|secret| rest.is_at_or_below(secret))
    })
}

/// A text with another in the place of a secret: also where the secret's blanks are others, as in an indented block.
fn replaced(text: &str, secret: &str, by: &str) -> String {
    let words: Vec<_> = secret.split_whitespace().collect();
    let Some(first) = words.first() else { return text.to_owned() };
    let (mut result, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, _)) = rest.split_once(first) {
        let (before, found) = rest.split_at(before.len());
        let end = end_of(found, &words).filter(|end| secret.len() >= ALONE_BELOW || is_alone(before, &found[*end..]));
        result.push_str(before);
        rest = if let Some(end) = end {
            result.push_str(by);
            &found[end..]
        } else {
            let (one, after) = found.split_at(found.chars().next().map_or(0, char::len_utf8));
            result.push_str(one);
            after
        };
    }
    result + rest
}

/// Where words that a text begins with end.
fn end_of(text: &str, words: &[&str]) -> Option<usize> {
    let mut rest = text;
    for (index, word) in words.iter().enumerate() {
        if index == 0 {
            rest = rest.strip_prefix(word)?;
            continue;
        }
        let blank = rest.trim_start();
        if blank.len() == rest.len() {
            return None;
        }
        // A folded text in double quotes has a backslash at the end or beginning of its lines.
        let folded = || blank.trim_start_matches(|c: char| c.is_whitespace() || c == '\\').strip_prefix(word);
        rest = blank.strip_prefix(word).or_else(folded)?;
    }
    Some(text.len() - rest.len())
}

fn is_alone(before: &str, after: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    !is_word(before.chars().next_back()) && !is_word(after.chars().next())
}

/// What is shown in place of a sensitive value: the same for the same value, and nothing of it.
pub fn digest(value: &Value) -> String {
    let yaml = gotemplate::yaml::to_yaml(value).unwrap_or_default();
    digest_of_bytes(&yaml)
}

pub(crate) fn digest_of_json(value: &Json) -> String {
    match value {
        Json::String(text) => digest(&Value::text(text.as_str())),
        other => digest_of_bytes(other.to_string().as_bytes()),
    }
}

fn digest_of_bytes(bytes: &[u8]) -> String {
    format!("(sensitive, sha256 {}…)", crate::digest::hex(bytes, 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(secret: &str, text: &str, expected: &str) {
        let mut secrets = Secrets::default();
        let value = Value::text(secret);
        secrets.add(&value);
        assert_eq!(secrets.hide(text).replace(&digest(&value), "***"), expected);
    }

    #[test]
    fn secrets_are_hidden_in_every_form() {
        check("hunter22", "password: hunter22\nurl: a:hunter22@b", "password: ***\nurl: a:***@b");
        check("it's", "a: 'it''s'", "a: '***'");
        check("say \"x\"", r#"a: "say \"x\"""#, r#"a: "***""#);
        check("hunter22", "password: aHVudGVyMjI=", "password: ***");
        check("one\ntwo\n", "key: |\n  one\n  two\nnext: 1", "key: |\n  ***\nnext: 1");
    }

    #[test]
    fn a_short_secret_is_hidden_where_it_stands_alone() {
        check("1", "a: 1\nb: 10\nc: x1", "a: ***\nb: 10\nc: x1");
    }

    #[test]
    fn the_longest_secret_is_hidden_first() {
        let mut secrets = Secrets::default();
        secrets.add(&Value::list(vec![Value::text("hunter"), Value::text("hunter22")]));
        assert!(!secrets.hide("hunter22").contains("22"), "{}", secrets.hide("hunter22"));
    }

    #[test]
    fn values_of_a_file_are_found_below_any_key() {
        let mut secrets = Secrets::default();
        let paths = [FieldPath::from(["db", "password"])].into_iter().collect();
        let file = b"data:\n  db:\n    password: hunter22\n    host: west\n";
        secrets.add_file(file, &paths);
        let shown = secrets.hide("hunter22 west");
        assert!(shown.starts_with("(sensitive") && shown.ends_with(" west"), "{shown}");
    }
}
