//! The marks by which schemas say that a value is sensitive.

use serde_json::Value as Json;

/// What marks a property of a schema.
pub(crate) const MARKS: [&str; 2] = ["writeOnly", "x-sensitive"];

/// Whether a schema marks its value.
pub(super) fn is_marked(schema: &Json) -> bool {
    MARKS.iter().any(|mark| schema.get(mark) == Some(&Json::Bool(true)))
}

/// Whether the text of a schema that can't be used may mark something, so that it is not known what is sensitive.
pub(crate) fn may_mark(schema: &str) -> bool {
    names_mark(schema.as_bytes()) || schema.contains("\\u")
}

/// Whether the word of a mark is in a file.
pub fn names_mark(content: &[u8]) -> bool {
    MARKS.iter().any(|mark| content.windows(mark.len()).any(|word| word == mark.as_bytes()))
}

/// Whether a schema's demand says what the value is: it allows no other.
pub(super) fn allows_one_value(options: &Json) -> bool {
    options.as_array().is_none_or(|options| options.len() < 2)
}
