//! Findings: violations of schemas, with messages.

use std::collections::BTreeSet;

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::paths::{Location, LocationSegment};
use jsonschema::{JsonType, ValidationError};
use model::field_path::{FieldPath, Step};
use serde_json::Value as Json;

use super::cost::TooMuch;
use super::marks::allows_one_value;
use crate::redaction;
use crate::target::SchemaText;

/// Keywords under which a schema may not apply.
const CONDITIONAL: [&str; 8] = ["anyOf", "oneOf", "not", "if", "then", "else", "dependencies", "dependentSchemas"];

/// A violation of a schema.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Finding {
    /// The path of the value, or of the missing value.
    pub path: FieldPath,
    /// The kind of violation.
    pub kind: FindingKind,
    /// The message, one sentence.
    pub message: String,
    /// The violated schema.
    pub schema: SchemaText,
    /// The path of the violated keyword in the schema.
    pub schema_path: FieldPath,
}

/// The kind of a violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingKind {
    /// The value is missing.
    Missing,
    /// The value does not satisfy the schema.
    Wrong,
    /// The check exceeds the cost limit.
    TooMuch,
}

/// The findings of one validation error. Each missing property is an error of its own.
pub(super) fn of(error: &ValidationError<'_>, schema: &SchemaText, sensitive: &BTreeSet<FieldPath>) -> Vec<Finding> {
    let path = field_path(error.instance_path());
    let schema_path = field_path(error.schema_path());
    let schema = schema.clone();
    if let Kind::Required { property } = error.kind() {
        let path = path.key(property.as_str().unwrap_or_default());
        let message = format!("`{path}` is missing");
        return vec![Finding { path, kind: FindingKind::Missing, message, schema, schema_path }];
    }
    let is_secret = redaction::covers(sensitive, &path);
    let shown = if is_secret { redaction::digest_of_json(error.instance()) } else { shown(error.instance()) };
    let subject = if path.steps().is_empty() { "the configuration".to_owned() } else { format!("`{path}`") };
    let is_part = sensitive.iter().any(|secret| path.is_at_or_below(secret));
    let requirement = requirement(error.kind()).filter(|_| !is_secret || !reveals_value(error.kind(), is_part));
    let message = match requirement {
        Some(requirement) => format!("{subject} {requirement}, here it is {shown}"),
        None if is_secret => format!("{subject} does not match the schema, here it is {shown}"),
        None => format!("{subject} does not match the schema: {error}"),
    };
    vec![Finding { path, kind: FindingKind::Wrong, message, schema, schema_path }]
}

/// Whether an error is about the value of a top-level key, whatever other values there are. It is found on the way through `properties`,
/// `patternProperties` and `additionalProperties`, not through an alternative or a condition.
pub(super) fn is_about(error: &ValidationError<'_>, key: &str) -> bool {
    let instance = field_path(error.instance_path());
    let is_of_root = match error.kind() {
        Kind::AdditionalProperties { .. } | Kind::PropertyNames { .. } => true,
        _ => instance.steps().first() == Some(&Step::Key(key.into())),
    };
    is_of_root && !is_conditional(error)
}

/// Whether an error is about several values together.
pub(super) fn relates(error: &ValidationError<'_>) -> bool {
    let is_of_one = matches!(
        error.kind(),
        Kind::Required { .. } | Kind::AdditionalProperties { .. } | Kind::PropertyNames { .. } | Kind::Type { .. }
    );
    let is_of_root = error.instance_path().into_iter().next().is_none();
    is_conditional(error) || (is_of_root && !is_of_one)
}

/// Whether an error is found on a way through an alternative or a condition at the root.
fn is_conditional(error: &ValidationError<'_>) -> bool {
    let path = field_path(error.evaluation_path());
    let mut above = path.steps().iter().take_while(|step| match step {
        Step::Key(step) => !matches!(&**step, "properties" | "patternProperties" | "additionalProperties"),
        Step::Index(_) => true,
    });
    above.any(|step| matches!(step, Step::Key(key) if CONDITIONAL.contains(&&**key)))
}

/// Whether an error stays if mappings and lists get further entries from other containers.
pub(super) fn stays(error: &ValidationError<'_>) -> bool {
    let is_scalar = !error.instance().is_object() && !error.instance().is_array();
    let grows = |kind: &Kind| {
        let of_whole =
            matches!(kind, Kind::Type { .. } | Kind::FalseSchema | Kind::UniqueItems | Kind::MaxItems { .. });
        !of_whole && !matches!(kind, Kind::AdditionalProperties { .. } | Kind::PropertyNames { .. })
    };
    if error.instance_path().into_iter().count() <= 1 && is_scalar {
        return true;
    }
    let path = field_path(error.evaluation_path());
    let depends = |step: &Step| matches!(step, Step::Key(key) if CONDITIONAL.contains(&&**key));
    (is_scalar || !grows(error.kind())) && !path.steps().iter().any(depends)
}

/// A finding for a value that looks like a number that JSON does not have.
pub(super) fn not_json(key: &str, schema: &SchemaText) -> Finding {
    let message =
        format!("`{key}` is read as a number that JSON can't represent; put it in single quotes to make it a text");
    let path = FieldPath::from([key]);
    Finding { path, kind: FindingKind::Wrong, message, schema: schema.clone(), schema_path: FieldPath::default() }
}

/// A finding for a check that exceeds the cost limit.
pub(super) fn too_much(reason: TooMuch, schema: &SchemaText) -> Finding {
    let reason = match reason {
        TooMuch::Steps => "its alternatives and references take too many steps for these values",
        TooMuch::Depth => "its references are nested too deeply for these values",
    };
    let message = format!("checking these values with this schema exceeds the limit: {reason}");
    let (path, schema_path) = Default::default();
    Finding { path, kind: FindingKind::TooMuch, message, schema: schema.clone(), schema_path }
}

pub(super) fn field_path(location: &Location) -> FieldPath {
    let step = |segment| match segment {
        LocationSegment::Property(name) => Step::Key(name.as_ref().into()),
        LocationSegment::Index(index) => Step::Index(index),
    };
    location.into_iter().map(step).collect()
}

/// Whether the requirement reveals a sensitive value: it allows only one value, or it names keys that are part of a sensitive value.
fn reveals_value(kind: &Kind, is_part: bool) -> bool {
    match kind {
        Kind::Constant { .. } => true,
        Kind::AdditionalProperties { .. } => is_part,
        Kind::Enum { options } => allows_one_value(options),
        _ => false,
    }
}

/// The requirement of the schema, as the end of a sentence that begins with the value's name.
fn requirement(kind: &Kind) -> Option<String> {
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
        Kind::UniqueItems => "must not contain an item twice".to_owned(),
        Kind::AdditionalProperties { unexpected } => format!("must not have the key `{}`", unexpected.join("`, `")),
        Kind::FalseSchema => "must not be set".to_owned(),
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

/// A value for messages. Long values are cut.
pub(super) fn shown(value: &Json) -> String {
    const SHOWN_MAX: usize = 80;
    let text = value.to_string();
    if text.chars().count() <= SHOWN_MAX {
        return text;
    }
    let start: String = text.chars().take(SHOWN_MAX).collect();
    format!("{start}…")
}
