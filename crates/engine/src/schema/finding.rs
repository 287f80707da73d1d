//! Findings: violations of schemas, with messages.

use std::collections::BTreeSet;

use gotemplate::value::Value;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::paths::{Location, LocationSegment};
use jsonschema::{JsonType, ValidationError};
use model::field_path::{FieldPath, FieldStep};
use serde_json::Value as Json;

use super::cost::TooMuch;
use super::marks::allows_one_value;
use super::written_patterns::WrittenPatterns;
use crate::compose::Composition;
use crate::schedule::target::SchemaText;
use crate::sensitive::redaction;

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

/// The schema and the values of a check, for messages.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) schema: &'a SchemaText,
    pub(super) written: &'a WrittenPatterns,
    pub(super) composition: &'a Composition,
    /// The paths whose values are not shown.
    pub(super) sensitive: &'a BTreeSet<FieldPath>,
}

/// The findings of one validation error. Each missing property is an error of its own.
pub(super) fn from_error(error: &ValidationError<'_>, subject: Subject<'_>) -> Vec<Finding> {
    let Subject { schema, written, composition, sensitive } = subject;
    let path = field_path(error.instance_path());
    let schema_path = written.path(field_path(error.schema_path()));
    let schema = schema.clone();
    if let Kind::Required { property } = error.kind() {
        let path = path.key(property.as_str().unwrap_or_default());
        let message = format!("`{path}` is missing");
        return vec![Finding { path, kind: FindingKind::Missing, message, schema, schema_path }];
    }
    let is_secret = redaction::covers(sensitive, &path);
    let shown = if is_secret {
        redaction::digest_of_json(error.instance())
    } else {
        shown(error.instance()) + &conversion(error.instance(), &path, composition)
    };
    let subject = if path.steps().is_empty() { "the configuration".to_owned() } else { format!("`{path}`") };
    let is_part = sensitive.iter().any(|secret| path.is_at_or_below(secret));
    let message = if is_secret && reveals_value(error.kind(), is_part) {
        format!("{subject} does not match the schema, here it is {shown}")
    } else {
        // The listed requirements of alternatives can be constants.
        let requirement = if is_secret { requirement(error.kind(), written) } else { requirement_of(error, written) };
        format!("{subject} {requirement}, here it is {shown}")
    };
    vec![Finding { path, kind: FindingKind::Wrong, message, schema, schema_path }]
}

/// How a text is written that the check reads as a number or a boolean, and how it stays a text. Empty if nothing is lost.
fn conversion(value: &Json, path: &FieldPath, composition: &Composition) -> String {
    let [FieldStep::Key(key)] = path.steps() else { return String::new() };
    let Some(Value::Text(text)) = composition.get(key) else { return String::new() };
    let text = text.to_str();
    let read = value.to_string();
    if value.is_string() || *read == *text {
        return String::new();
    }
    format!(" (it is written {text:?}; in single quotes, as '{text}', it stays a text)")
}

/// Whether an error is about the value of a top-level key, whatever other values there are. It is found on the way through `properties`,
/// `patternProperties` and `additionalProperties`, not through an alternative or a condition.
pub(super) fn is_about(error: &ValidationError<'_>, key: &str) -> bool {
    let instance = field_path(error.instance_path());
    let is_of_root = match error.kind() {
        Kind::AdditionalProperties { .. } | Kind::PropertyNames { .. } => true,
        _ => instance.steps().first() == Some(&FieldStep::Key(key.into())),
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
        FieldStep::Key(step) => !matches!(&**step, "properties" | "patternProperties" | "additionalProperties"),
        FieldStep::Index(_) => true,
    });
    above.any(|step| matches!(step, FieldStep::Key(key) if CONDITIONAL.contains(&&**key)))
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
    let depends = |step: &FieldStep| matches!(step, FieldStep::Key(key) if CONDITIONAL.contains(&&**key));
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
        LocationSegment::Property(name) => FieldStep::Key(name.as_ref().into()),
        LocationSegment::Index(index) => FieldStep::Index(index),
    };
    location.into_iter().map(step).collect()
}

/// Whether the requirement reveals a sensitive value: it allows only one value, or it names keys that are part of a sensitive value.
fn reveals_value(kind: &Kind, is_part: bool) -> bool {
    match kind {
        // The message about items shows them.
        Kind::Constant { .. } | Kind::UnevaluatedItems { .. } => true,
        Kind::AdditionalProperties { .. } | Kind::UnevaluatedProperties { .. } | Kind::PropertyNames { .. } => is_part,
        Kind::Enum { options } => allows_one_value(options),
        _ => false,
    }
}

/// The requirement of the schema, as the end of a sentence that begins with the value's name.
pub(super) fn requirement(kind: &Kind, written: &WrittenPatterns) -> String {
    match kind {
        Kind::Type { kind: TypeKind::Single(one) } => format!("must be {}", with_article(*one)),
        Kind::Type { kind: TypeKind::Multiple(many) } => {
            format!("must be {}", many.into_iter().map(with_article).collect::<Vec<_>>().join(" or "))
        }
        Kind::Enum { options } if options.as_array().is_some_and(Vec::is_empty) => {
            "can't have any value, because the schema's `enum` is empty".to_owned()
        }
        Kind::Enum { options } => format!("must be one of {}", list(options)),
        Kind::Constant { expected_value } => format!("must be {expected_value}"),
        Kind::Pattern { pattern } => format!("must match the pattern `{}`", written.get(pattern)),
        Kind::Format { format } => format!("must have the format `{format}`"),
        Kind::Minimum { limit } => format!("must be at least {limit}"),
        Kind::Maximum { limit } => format!("must be at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("must be more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("must have at least {}", counted(*limit, "character")),
        Kind::MaxLength { limit } => format!("must have at most {}", counted(*limit, "character")),
        Kind::MinItems { limit } => format!("must have at least {}", counted(*limit, "item")),
        Kind::MaxItems { limit } => format!("must have at most {}", counted(*limit, "item")),
        Kind::AdditionalItems { limit } => format!("must have at most {}", counted(*limit as u64, "item")),
        Kind::MinProperties { limit } => format!("must have at least {}", counted(*limit, "key")),
        Kind::MaxProperties { limit } => format!("must have at most {}", counted(*limit, "key")),
        Kind::UniqueItems => "must not contain an item twice".to_owned(),
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            format!("must not have the key `{}`", unexpected.join("`, `"))
        }
        Kind::UnevaluatedItems { unexpected } => format!("must not have the item `{}`", unexpected.join("`, `")),
        Kind::PropertyNames { error } => {
            format!("must not have the key {}: it {}", shown(error.instance()), requirement(error.kind(), written))
        }
        Kind::Contains => "must contain an item that matches the schema's `contains`".to_owned(),
        Kind::ContentEncoding { content_encoding } => format!("must be encoded as `{content_encoding}`"),
        Kind::ContentMediaType { content_media_type } => format!("must have the media type `{content_media_type}`"),
        Kind::FalseSchema => "must not be set".to_owned(),
        Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => "must match one of the schema's alternatives".to_owned(),
        Kind::OneOfMultipleValid { .. } => "must match only one of the schema's alternatives".to_owned(),
        Kind::Not { .. } => "must not match the schema's `not`".to_owned(),
        _ => "must match the schema".to_owned(),
    }
}

/// The requirement that an error reports. Alternatives are listed if each of them has one simple requirement for the same value.
fn requirement_of(error: &ValidationError<'_>, written: &WrittenPatterns) -> String {
    const LISTED_MAX: usize = 4;
    let (Kind::AnyOf { context } | Kind::OneOfNotValid { context }) = error.kind() else {
        return requirement(error.kind(), written);
    };
    let of_one = |errors: &Vec<ValidationError<'static>>| match errors.as_slice() {
        [one] if one.instance_path() == error.instance_path() => {
            Some(requirement(one.kind(), written)).filter(|text| text.starts_with("must "))
        }
        _ => None,
    };
    let listed: Option<Vec<_>> = context.iter().map(of_one).collect();
    match listed.filter(|listed| (1..=LISTED_MAX).contains(&listed.len())) {
        Some(listed) => listed.join(" or "),
        None => requirement(error.kind(), written),
    }
}

fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
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
