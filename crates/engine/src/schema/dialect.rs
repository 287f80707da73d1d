//! Reads the text of a schema: its JSON, and the draft that counts.
//!
//! As in gojsonschema, a `$schema` that names no draft does not stop a check: the schema counts as one without `$schema`.

use jsonschema::Draft;
use model::diagnostic::FieldPart;
use model::field_path::{FieldPath, FieldStep};
use serde_json::Value as Json;

use super::finding;
use super::schema_error::SchemaError;

/// The draft of schemas without `$schema`, unless they use a keyword in its draft 4 form.
const DEFAULT_DRAFT: Draft = Draft::Draft7;

/// The keyword that names the draft.
const SCHEMA: &str = "$schema";

/// A schema as JSON, without a `$schema` that names no draft.
#[derive(Debug)]
pub(super) struct SchemaJson {
    pub(super) json: Json,
    pub(super) draft: Draft,
    /// The `$schema` that names no draft, although it looks as if it should.
    pub(super) mistaken: Option<String>,
    /// Whether the draft is written in the schema.
    pub(super) is_written: bool,
}

/// Reads the text of a schema.
///
/// # Errors
/// If the text is not JSON, or is neither a mapping nor a boolean.
pub(super) fn read(text: &str) -> Result<SchemaJson, SchemaError> {
    let mut json: Json = serde_json::from_str(text).map_err(|error| not_json(&error))?;
    if !json.is_object() && !json.is_boolean() {
        let reason = format!("a schema is a mapping, here it is {}", finding::shown(&json));
        return Err(SchemaError::new(reason, FieldPart::Value)
            .help("begin with `{\"properties\": {\"PORT\": {\"type\": \"integer\"}}}`"));
    }
    let mut mistaken = None;
    match json.get(SCHEMA) {
        None | Some(Json::String(_)) => {}
        Some(other) => {
            let reason = format!("`{SCHEMA}` must be a text, here it is {}", finding::shown(other));
            return Err(SchemaError::new(reason, FieldPart::Inside(FieldPath::from([SCHEMA]))).help(DRAFTS));
        }
    }
    let written = json.get(SCHEMA).and_then(Json::as_str).map(str::to_owned);
    remove_unknown(&mut json);
    let is_written = json.get(SCHEMA).is_some();
    if let Some(written) = written.filter(|written| !is_written && !is_of_others(written)) {
        mistaken = Some(written);
    }
    let draft = draft(&json);
    Ok(SchemaJson { json, draft, mistaken, is_written })
}

/// The known drafts, for advice.
pub(super) const DRAFTS: &str = "the drafts are http://json-schema.org/draft-04/schema#, http://json-schema.org/draft-06/schema#, http://json-schema.org/draft-07/schema#, https://json-schema.org/draft/2019-09/schema and https://json-schema.org/draft/2020-12/schema";

/// The address of a draft, and its name in messages.
pub(super) fn name(draft: Draft) -> (&'static str, &'static str) {
    match draft {
        Draft::Draft4 => ("http://json-schema.org/draft-04/schema#", "draft 4"),
        Draft::Draft6 => ("http://json-schema.org/draft-06/schema#", "draft 6"),
        Draft::Draft7 => ("http://json-schema.org/draft-07/schema#", "draft 7"),
        Draft::Draft201909 => ("https://json-schema.org/draft/2019-09/schema", "draft 2019-09"),
        _ => ("https://json-schema.org/draft/2020-12/schema", "draft 2020-12"),
    }
}

/// The draft of a schema. A schema without `$schema` has draft 4 if it contains a boolean `exclusiveMinimum` or `exclusiveMaximum`.
pub(super) fn draft(json: &Json) -> Draft {
    if json.get(SCHEMA).is_some() {
        return DEFAULT_DRAFT.detect(json);
    }
    let is_old = |key: &str, value: &Json| matches!(key, "exclusiveMinimum" | "exclusiveMaximum") && value.is_boolean();
    if any_entry(json, &is_old) { Draft::Draft4 } else { DEFAULT_DRAFT }
}

fn any_entry(json: &Json, found: &dyn Fn(&str, &Json) -> bool) -> bool {
    match json {
        Json::Object(entries) => entries.iter().any(|(key, value)| found(key, value) || any_entry(value, found)),
        Json::Array(items) => items.iter().any(|item| any_entry(item, found)),
        _ => false,
    }
}

/// Whether `$schema` is the address of another organization's own schema of schemas.
fn is_of_others(written: &str) -> bool {
    let address = written.strip_prefix("https://").or_else(|| written.strip_prefix("http://"));
    let host = address.and_then(|rest| rest.split(['/', '#', '?']).next()).unwrap_or_default();
    host.contains('.') && !host.trim_start_matches("www.").eq_ignore_ascii_case("json-schema.org")
}

/// Removes each `$schema` that names no draft, here and in schemas below.
fn remove_unknown(json: &mut Json) {
    match json {
        Json::Object(entries) => {
            let is_unknown =
                |value: &Json| value.as_str().is_some_and(|uri| Draft::from_schema_uri(uri) == Draft::Unknown);
            if entries.get(SCHEMA).is_some_and(is_unknown) {
                entries.remove(SCHEMA);
            }
            let has_values =
                |keyword: &String| matches!(keyword.as_str(), "enum" | "const" | "default" | "examples" | "example");
            entries.iter_mut().filter(|(keyword, _)| !has_values(keyword)).for_each(|(_, value)| remove_unknown(value));
        }
        Json::Array(items) => items.iter_mut().for_each(remove_unknown),
        _ => {}
    }
}

fn not_json(error: &serde_json::Error) -> SchemaError {
    let (line, column) = (error.line(), error.column().max(1));
    let text = error.to_string();
    let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
    SchemaError::new(format!("it is not JSON: {reason}"), FieldPart::Text { line, column })
        .help("it has to be a JSON schema, written as JSON")
}

/// The node at a path of a JSON value.
pub(super) fn at_mut<'j>(json: &'j mut Json, path: &FieldPath) -> Option<&'j mut Json> {
    path.steps().iter().try_fold(json, |json, step| match step {
        FieldStep::Key(key) => json.get_mut(&**key),
        FieldStep::Index(index) => json.get_mut(*index),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_schema_uris_default_to_draft_7() {
        let read = |uri: &str| {
            let read = read(&serde_json::json!({ "$schema": uri, "type": "object" }).to_string()).unwrap();
            (read.draft, read.mistaken.is_some())
        };
        assert_eq!(read("https://acme.example/platform-schema"), (Draft::Draft7, false));
        assert_eq!(read("http://json-schema.org/draft-08/schema#"), (Draft::Draft7, true));
        assert_eq!(read("draft-07"), (Draft::Draft7, true));
        assert_eq!(read("http://json-schema.org/draft-04/schema#"), (Draft::Draft4, false));
        assert_eq!(read("https://json-schema.org/draft/2020-12/schema"), (Draft::Draft202012, false));
    }

    #[test]
    fn invalid_schemas_are_refused_with_their_place() {
        let refused = |text: &str| read(text).unwrap_err();
        assert!(refused("[1]").reason.contains("a schema is a mapping"));
        assert_eq!(refused("{\"$schema\": 7}").part, FieldPart::Inside(FieldPath::from(["$schema"])));
        assert!(refused("properties: {}").reason.starts_with("it is not JSON"));
    }
}
