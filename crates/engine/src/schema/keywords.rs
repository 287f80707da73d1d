//! Finds misspelled keywords in schemas.

use model::field_path::{FieldPath, FieldStep};
use model::similar;
use serde_json::Value as Json;

use super::walk::{APPLIED, BY_NAME};

/// Keywords of all drafts, of OpenAPI, and of Kalypso.
const KNOWN: &[&str] = &[
    "$anchor",
    "$comment",
    "$defs",
    "$dynamicAnchor",
    "$dynamicRef",
    "$id",
    "$recursiveAnchor",
    "$recursiveRef",
    "$ref",
    "$schema",
    "$vocabulary",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "contains",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "default",
    "definitions",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "deprecated",
    "description",
    "discriminator",
    "else",
    "enum",
    "example",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "externalDocs",
    "format",
    "id",
    "if",
    "items",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "nullable",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "readOnly",
    "required",
    "then",
    "title",
    "type",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
    "writeOnly",
    "x-sensitive",
    "xml",
    "divisibleBy",
    "disallow",
    "extends",
];
/// Keywords that differ in a single letter from other common words. They are never suggested.
const TOO_COMMON: &[&str] = &["else", "id", "if", "not", "then", "title", "xml"];
/// The maximum number of misspelled keywords that are reported for one schema.
const REPORTED_MAX: usize = 20;

/// A misspelled keyword.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Misspelled {
    /// The path of the word in the schema.
    pub(super) path: FieldPath,
    /// The most similar keyword.
    pub(super) suggestion: &'static str,
}

/// Finds words of a schema that are similar to a keyword and are not keywords. Other unknown words are allowed: a schema may contain any key.
pub(super) fn misspelled(root: &Json) -> Vec<Misspelled> {
    let mut found = Vec::new();
    in_schema(root, &mut FieldPath::default(), &mut found);
    found
}

fn in_schema(schema: &Json, path: &mut FieldPath, found: &mut Vec<Misspelled>) {
    for (word, value) in schema.as_object().into_iter().flatten() {
        if found.len() >= REPORTED_MAX {
            return;
        }
        path.push(FieldStep::Key(word.as_str().into()));
        if BY_NAME.contains(&word.as_str()) {
            for (name, schema) in value.as_object().into_iter().flatten() {
                path.push(FieldStep::Key(name.as_str().into()));
                in_schema(schema, path, found);
                path.pop();
            }
        } else if APPLIED.contains(&word.as_str()) {
            in_schema(value, path, found);
            for (index, schema) in value.as_array().into_iter().flatten().enumerate() {
                path.push(FieldStep::Index(index));
                in_schema(schema, path, found);
                path.pop();
            }
        } else if let Some(suggestion) = nearest(word) {
            found.push(Misspelled { path: path.clone(), suggestion });
        }
        path.pop();
    }
}

/// Whether a word is a keyword.
pub(super) fn is_known(word: &str) -> bool {
    KNOWN.contains(&word)
}

/// The keyword that a word is similar to. None if the word is a keyword, or similar to none.
fn nearest(word: &str) -> Option<&'static str> {
    if is_known(word) {
        return None;
    }
    similar::nearest(word, KNOWN.iter().copied().filter(|known| !TOO_COMMON.contains(known)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(schema: Json, expected: &[&str]) {
        let found = misspelled(&schema);
        let found: Vec<_> = found.iter().map(|word| format!("{}: {}", word.path, word.suggestion)).collect();
        assert_eq!(found, expected, "{schema}");
    }

    #[test]
    fn misspelled_keywords_are_found() {
        check(serde_json::json!({"requird": ["A"]}), &["requird: required"]);
        check(
            serde_json::json!({"properties": {"A": {"tpye": "string", "x-sensitiv": true}}}),
            &["properties.A.tpye: type", "properties.A.x-sensitiv: x-sensitive"],
        );
        check(
            serde_json::json!({"allOf": [{"minlength": 1}], "not": {"patern": "a"}}),
            &["allOf[0].minlength: minLength", "not.patern: pattern"],
        );
    }

    #[test]
    fn names_values_and_custom_keywords_are_not_reported() {
        check(serde_json::json!({"properties": {"requird": {}}, "default": {"tpye": 1}, "enum": [{"tpye": 1}]}), &[]);
        check(
            serde_json::json!({"x-owner": "a", "note": "b", "when": "c", "form": 1, "markdownDescription": "d"}),
            &[],
        );
        check(serde_json::json!(true), &[]);
    }
}
