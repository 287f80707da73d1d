//! Sensitive values: followed wherever they go, and shown as a digest wherever people look.
//!
//! What is hidden is where a value went, and not what looks like it: a value in capitals, encoded, cut or counted is as secret as the value.

mod canary;
mod rendered;
mod written;

use std::collections::BTreeSet;

use gotemplate::value::Value;
use model::field_path::FieldPath;
use serde_json::Value as Json;

pub(crate) use self::canary::Canary;
pub use self::rendered::{HIDDEN, Lines, ShownFiles, plain};
pub use self::written::{hidden_in, names_mark};
pub(crate) use self::written::{is_only_one, may_mark};

/// Whether a value at this path is sensitive, or has sensitive ones in it.
pub(crate) fn covers(sensitive: &BTreeSet<FieldPath>, path: &FieldPath) -> bool {
    sensitive.iter().any(|secret| path.is_at_or_below(secret) || secret.is_at_or_below(path))
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
