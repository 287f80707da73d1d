//! Which values are sensitive by their paths, and what is shown in place of them.

use std::collections::BTreeSet;

use gotemplate::value::Value;
use model::field_path::FieldPath;
use serde_json::Value as Json;

/// Whether a value at this path is sensitive, or has sensitive ones in it.
pub(crate) fn covers(sensitive: &BTreeSet<FieldPath>, path: &FieldPath) -> bool {
    sensitive.iter().any(|secret| path.is_at_or_below(secret) || secret.is_at_or_below(path))
}

/// What is shown in place of a sensitive value: the same for the same value, and nothing of it.
pub(crate) fn digest(value: &Value) -> String {
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
