//! Sensitive values: shown as a digest wherever people look.

use gotemplate::value::Value;
use serde_json::Value as Json;

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
