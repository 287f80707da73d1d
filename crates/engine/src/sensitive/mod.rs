//! Sensitive values: finds them in all output, and replaces them by a digest wherever values are displayed.
//!
//! All text that depends on a sensitive value is hidden, not only text that is equal to it: an uppercase, encoded, cut or counted form is as
//! secret as the value.

mod canary;
mod rendered;
mod source_files;

use std::collections::BTreeSet;

use gotemplate::value::Value;
use model::field_path::FieldPath;
use serde_json::Value as Json;

pub(crate) use self::canary::Canary;
pub use self::rendered::{HIDDEN, Lines, ShownFiles, plain};
pub(crate) use self::source_files::{allows_one_value, may_mark};
pub use self::source_files::{hidden_in, names_mark};

/// Whether the value at this path is sensitive, or contains sensitive values.
pub(crate) fn covers(sensitive: &BTreeSet<FieldPath>, path: &FieldPath) -> bool {
    sensitive.iter().any(|secret| path.is_at_or_below(secret) || secret.is_at_or_below(path))
}

/// The text that is shown in place of a sensitive value: a digest, which is the same for the same value.
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
