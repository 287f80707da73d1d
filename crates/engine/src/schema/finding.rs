//! What a schema finds wrong, in words.

use std::collections::BTreeSet;

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::paths::{Location, LocationSegment};
use jsonschema::{JsonType, ValidationError};
use model::field_path::{FieldPath, Step};
use serde_json::Value as Json;

use crate::sensitive;
use crate::target::SchemaText;

/// One thing that a schema finds wrong with values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Finding {
    /// The value, or the one that is missing.
    pub path: FieldPath,
    /// Whether it is missing.
    pub is_missing: bool,
    /// What is wrong, in one sentence.
    pub message: String,
    /// The schema that asks for something else.
    pub schema: SchemaText,
    /// The place in the schema.
    pub schema_path: FieldPath,
}

/// The findings of one error. Several missing properties are one error each.
pub(super) fn of(error: &ValidationError<'_>, schema: &SchemaText, sensitive: &BTreeSet<FieldPath>) -> Vec<Finding> {
    let path = field_path(error.instance_path());
    let schema_path = field_path(error.schema_path());
    let schema = schema.clone();
    if let Kind::Required { property } = error.kind() {
        let path = path.key(property.as_str().unwrap_or_default());
        let message = format!("`{path}` is missing");
        return vec![Finding { path, is_missing: true, message, schema, schema_path }];
    }
    let is_secret = sensitive.iter().any(|secret| path.is_at_or_below(secret) || secret.is_at_or_below(&path));
    let shown = if is_secret { sensitive::digest_of_json(error.instance()) } else { shown(error.instance()) };
    let subject = if path.steps().is_empty() { "the configuration".to_owned() } else { format!("`{path}`") };
    let message = match demand(error.kind()) {
        Some(demand) => format!("{subject} {demand}, here it is {shown}"),
        None if is_secret => format!("{subject} is not what the schema asks for"),
        None => format!("{subject} is not what the schema asks for: {error}"),
    };
    vec![Finding { path, is_missing: false, message, schema, schema_path }]
}

/// That a value looks like a number which JSON does not have.
pub(super) fn not_json(key: &str, schema: &SchemaText) -> Finding {
    let message = format!(
        "`{key}` reads as a number that JSON does not have, which no schema allows; in single quotes it is a text"
    );
    let path = FieldPath::from([key]);
    Finding { path, is_missing: false, message, schema: schema.clone(), schema_path: FieldPath::default() }
}

pub(super) fn field_path(location: &Location) -> FieldPath {
    let step = |segment| match segment {
        LocationSegment::Property(name) => Step::Key(name.as_ref().into()),
        LocationSegment::Index(index) => Step::Index(index),
    };
    location.into_iter().map(step).collect()
}

/// What the schema asks for, as the end of a sentence that begins with the value's name.
fn demand(kind: &Kind) -> Option<String> {
    Some(match kind {
        Kind::Type { kind: TypeKind::Single(one) } => format!("must be {}", with_article(*one)),
        Kind::Type { kind: TypeKind::Multiple(many) } => {
            format!("must be {}", many.into_iter().map(with_article).collect::<Vec<_>>().join(" or "))
        }
        Kind::Enum { options } => format!("must be one of {}", list(options)),
        Kind::Constant { expected_value } => format!("must be {expected_value}"),
        Kind::Pattern { pattern } => format!("must match the pattern `{pattern}`"),
        Kind::Format { format } => format!("must have the format `{format}`"),
        Kind::Minimum { limit } => format!("must be at least {limit}"),
        Kind::Maximum { limit } => format!("must be at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("must be more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("must have at least {limit} characters"),
        Kind::MaxLength { limit } => format!("must have at most {limit} characters"),
        Kind::MinItems { limit } => format!("must have at least {limit} items"),
        Kind::MaxItems { limit } => format!("must have at most {limit} items"),
        Kind::UniqueItems => "must not have an item twice".to_owned(),
        Kind::AdditionalProperties { unexpected } => format!("must not have the key `{}`", unexpected.join("`, `")),
        Kind::FalseSchema => "must not be there".to_owned(),
        Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => "must match one of the schema's alternatives".to_owned(),
        Kind::OneOfMultipleValid { .. } => "must match only one of the schema's alternatives".to_owned(),
        _ => return None,
    })
}

fn with_article(json_type: JsonType) -> &'static str {
    match json_type {
        JsonType::Array => "a list",
        JsonType::Boolean => "a boolean",
        JsonType::Integer => "an integer",
        JsonType::Null => "null",
        JsonType::Number => "a number",
        JsonType::Object => "a mapping",
        JsonType::String => "a text",
    }
}

fn list(options: &Json) -> String {
    let items: Vec<_> = options.as_array().into_iter().flatten().map(Json::to_string).collect();
    items.join(", ")
}

/// A value as messages show it: cut if it is long.
pub(super) fn shown(value: &Json) -> String {
    const SHOWN_MAX: usize = 80;
    let text = value.to_string();
    if text.chars().count() <= SHOWN_MAX {
        return text;
    }
    let start: String = text.chars().take(SHOWN_MAX).collect();
    format!("{start}…")
}
