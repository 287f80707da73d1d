//! Explains why the validator refuses a schema, in the words of its author.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;
use model::diagnostic::FieldPart;
use model::field_path::{FieldPath, FieldStep};
use model::similar;
use serde_json::Value as Json;

use super::finding;
use super::patterns;
use super::references::{self, References};
use super::schema_error::SchemaError;
use super::written_patterns::WrittenPatterns;

/// A schema whose validator can't be built.
pub(super) struct Unusable<'s, 'a> {
    /// The schemas of the document.
    pub(super) schemas: &'s [(FieldPath, &'a Json)],
    pub(super) references: &'s References<'a>,
    pub(super) written: &'s WrittenPatterns,
}

impl Unusable<'_, '_> {
    /// Translates an error of the validator.
    pub(super) fn reason(&self, error: &ValidationError<'_>) -> SchemaError {
        let path = self.written.path(finding::field_path(error.instance_path()));
        match error.kind() {
            Kind::Referencing(error) => self.broken_reference(error),
            Kind::Format { format } if format == "regex" => {
                let other = || SchemaError::new("a pattern of it can't be compiled", FieldPart::Value);
                patterns::too_large(self.schemas).unwrap_or_else(other)
            }
            kind => {
                let subject = if path.steps().is_empty() { "it".to_owned() } else { format!("`{path}`") };
                let shown = finding::shown(error.instance());
                let reason = match kind {
                    // These kinds only list the values that the rules for schemas allow.
                    Kind::AnyOf { .. } | Kind::Enum { .. } | Kind::OneOfNotValid { .. } => {
                        format!("{subject} can't be {shown}")
                    }
                    kind => format!("{subject} {}, here it is {shown}", finding::requirement(kind, self.written)),
                };
                let part = if path.steps().is_empty() { FieldPart::Value } else { FieldPart::Inside(path.clone()) };
                let found = SchemaError::new(reason, part);
                match advice(&path, error.instance()) {
                    Some(help) => found.help(help),
                    None => found,
                }
            }
        }
    }

    fn broken_reference(&self, error: &referencing::Error) -> SchemaError {
        let reason = references::reason(error);
        let is_it =
            |schema: &Json| self.references.broken(schema).is_some_and(|broken| references::reason(broken) == reason);
        let path = self.schemas.iter().find(|(_, schema)| is_it(schema)).map(|(path, _)| path.key("$ref"));
        let help = "references lead to parts of the same schema, such as `#/definitions/port`";
        SchemaError::new(reason, path.map_or(FieldPart::Value, FieldPart::Inside)).help(help)
    }
}

/// What to write instead of a value that a keyword can't have.
fn advice(path: &FieldPath, value: &Json) -> Option<String> {
    let keyword = path.steps().iter().rev().find_map(|step| match step {
        FieldStep::Key(key) => Some(&**key),
        FieldStep::Index(_) => None,
    })?;
    Some(match (keyword, value) {
        ("required", Json::Bool(_)) => {
            "list the required names beside `properties`: `\"required\": [\"PORT\"]`; `true` at a property is of draft 3".to_owned()
        }
        ("exclusiveMinimum" | "exclusiveMaximum", Json::Bool(_)) => {
            "write the limit itself, as in draft 6 and later: `\"exclusiveMinimum\": 5`".to_owned()
        }
        ("exclusiveMinimum" | "exclusiveMaximum", Json::Number(_)) => {
            "in draft 4 it is `true` beside `minimum` or `maximum`; or name a later draft in `$schema`".to_owned()
        }
        ("items", Json::Array(_)) => "in draft 2020-12, the list is `prefixItems`".to_owned(),
        ("enum", _) => "list the allowed values: `\"enum\": [\"small\", \"large\"]`, or remove `enum`".to_owned(),
        ("type", Json::String(word)) => type_advice(word),
        ("properties" | "patternProperties" | "definitions" | "$defs", _) => {
            "write a mapping from names to schemas: `{\"PORT\": {\"type\": \"integer\"}}`".to_owned()
        }
        (_, Json::String(word)) if word.parse::<f64>().is_ok() => format!("write the number without quotes: {word}"),
        _ => return None,
    })
}

/// The type that a word stands for in other languages, or that it is similar to.
fn type_advice(word: &str) -> String {
    const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];
    let known = match word.to_ascii_lowercase().as_str() {
        "int" | "int32" | "int64" | "long" => Some("integer"),
        "float" | "double" | "decimal" => Some("number"),
        "bool" => Some("boolean"),
        "str" | "text" => Some("string"),
        "list" => Some("array"),
        "map" | "dict" | "mapping" => Some("object"),
        _ => None,
    };
    match known.or_else(|| similar::nearest(word, TYPES)) {
        Some(known) => format!("did you mean `{known}`?"),
        None => "the types are `array`, `boolean`, `integer`, `null`, `number`, `object` and `string`".to_owned(),
    }
}
