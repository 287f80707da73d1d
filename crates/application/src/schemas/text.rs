//! Values of manifests in messages, and how they compare with those of schemas.

use model::similar;
use model::yaml::{Node, NodeValue, Resolved, ScalarStyle, resolve_plain};
use serde_json::Value;

use super::field_schema::FieldTypes;
use super::read::whole;

/// The number of values that a message lists.
const LISTED_MAX: usize = 12;

/// The number of characters of a pattern or value in a message.
const CHARACTERS_MAX: usize = 100;

/// The types that a value has. A number without a fraction is also an integer.
pub(super) fn types(node: &Node) -> FieldTypes {
    match &node.value {
        NodeValue::Mapping(_) => FieldTypes::MAP,
        NodeValue::Sequence(_) => FieldTypes::LIST,
        NodeValue::Scalar(scalar) => types_of(&scalar.resolve()),
    }
}

fn types_of(value: &Resolved<'_>) -> FieldTypes {
    match value {
        Resolved::Null => FieldTypes::default(),
        Resolved::Bool(_) => FieldTypes::BOOLEAN,
        Resolved::Int(_) | Resolved::Uint(_) => FieldTypes::INTEGER.or(FieldTypes::NUMBER),
        Resolved::Float(float) if whole(*float).is_some() => FieldTypes::INTEGER.or(FieldTypes::NUMBER),
        Resolved::Float(_) => FieldTypes::NUMBER,
        Resolved::Text(_) => FieldTypes::TEXT,
    }
}

/// The type of a value in words.
pub(super) fn noun(node: &Node) -> &'static str {
    match &node.value {
        NodeValue::Mapping(_) => "a map",
        NodeValue::Sequence(_) => "a list",
        NodeValue::Scalar(scalar) => match scalar.resolve() {
            Resolved::Float(float) if whole(float).is_none() => "a number with a fraction",
            resolved => resolved.noun(),
        },
    }
}

/// How to correct a value of another type. None: it is not only a matter of quotes.
pub(super) fn type_help(node: &Node, expected: FieldTypes) -> Option<&'static str> {
    let scalar = node.as_scalar()?;
    if expected.contains(FieldTypes::TEXT) {
        return Some("put it in quotes: in a template, `{{ … | quote }}`");
    }
    let is_quoted = scalar.style != ScalarStyle::Plain;
    (is_quoted && expected.contains(types_of(&resolve_plain(&scalar.text)))).then_some("remove the quotes")
}

/// Whether a value is the one of a schema.
pub(super) fn is_equal(value: &Resolved<'_>, listed: &Value) -> bool {
    match value {
        Resolved::Null => listed.is_null(),
        Resolved::Bool(bool) => listed.as_bool() == Some(*bool),
        Resolved::Int(int) => listed.as_i64() == Some(*int),
        Resolved::Uint(int) => listed.as_u64() == Some(*int),
        Resolved::Float(float) => listed.as_f64() == Some(*float),
        Resolved::Text(text) => listed.as_str() == Some(text),
    }
}

/// What to say and to advise about a value that is not in a list. `shown` is the value, if a message may contain it.
pub(super) fn not_listed(shown: Option<&str>, listed: &[&Value]) -> (String, Option<String>) {
    let texts: Vec<_> = listed.iter().map(|one| one.as_str().map_or_else(|| one.to_string(), str::to_owned)).collect();
    let names = texts.iter().take(LISTED_MAX).map(|text| format!("`{}`", shortened(text))).collect::<Vec<_>>();
    let more = texts.len().saturating_sub(LISTED_MAX);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let one_of = if texts.len() == 1 { "" } else { "one of " };
    let is = shown.map_or_else(|| "has another value".to_owned(), |text| format!("is `{}`", shortened(text)));
    let nearest = shown.and_then(|text| similar::nearest(text, texts.iter().map(String::as_str)));
    let help = nearest.map(|nearest| format!("did you mean `{nearest}`?"));
    (format!("{is}, and must be {one_of}{}{more}", names.join(", ")), help)
}

/// The beginning of a text, in one line.
pub(super) fn shortened(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(CHARACTERS_MAX) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None if line.len() < text.len() => format!("{line}…"),
        None => line.to_owned(),
    }
}

/// Whether a text is in base64, as Go's decoder reads it: with padding, and line breaks are ignored.
pub(super) fn is_base64(text: &str) -> bool {
    let bytes: Vec<_> = text.bytes().filter(|byte| !matches!(byte, b'\n' | b'\r')).collect();
    let padding = bytes.iter().rev().take_while(|byte| **byte == b'=').count();
    let digits = bytes.get(..bytes.len() - padding).unwrap_or_default();
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    bytes.len().is_multiple_of(4) && padding <= 2 && digits.iter().all(is_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_go() {
        for (text, expected) in [
            ("", true),
            ("YWI=", true),
            ("YWJj", true),
            ("YWJj\nYQ==\n", true),
            ("YWI", false),
            ("a-b_", false),
            ("====", false),
        ] {
            assert_eq!(is_base64(text), expected, "{text}");
        }
    }

    #[test]
    fn values_that_are_not_listed_have_a_nearest_one() {
        let listed = ["ClusterIP", "NodePort"].map(Value::from);
        let listed: Vec<_> = listed.iter().collect();
        let (predicate, help) = not_listed(Some("NodePorts"), &listed);
        assert_eq!(predicate, "is `NodePorts`, and must be one of `ClusterIP`, `NodePort`");
        assert_eq!(help.as_deref(), Some("did you mean `NodePort`?"));
        assert_eq!(not_listed(None, &listed[..1]).0, "has another value, and must be `ClusterIP`");
        assert_eq!(shortened(&format!("{}\nb", "a".repeat(101))), format!("{}…", "a".repeat(100)));
    }
}
