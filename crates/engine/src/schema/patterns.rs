//! The patterns of a schema, with the meaning that Go gives them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use jsonschema::Validator;
use model::diagnostic::FieldPart;
use model::field_path::FieldPath;
use serde_json::Value as Json;

use super::schema_error::SchemaError;
use super::written_patterns::WrittenPatterns;
use super::{dialect, go_pattern, pattern_options};

const PATTERN: &str = "pattern";
const PATTERN_PROPERTIES: &str = "patternProperties";

/// A schema for the validator, and the patterns as their author wrote them.
#[derive(Debug)]
pub(super) struct Patterns<'a> {
    /// The schema, with patterns that the validator understands as Go does.
    pub(super) json: Cow<'a, Json>,
    /// The written patterns that differ from those in `json`, by those in `json`.
    pub(super) written: WrittenPatterns,
}

/// A pattern in a schema.
struct PatternAt<'a> {
    /// The path of the schema that contains it.
    schema: &'a FieldPath,
    /// Whether it is a key of `patternProperties`.
    is_key: bool,
    text: &'a str,
}

impl PatternAt<'_> {
    fn path(&self) -> FieldPath {
        if self.is_key { self.schema.key(PATTERN_PROPERTIES).key(self.text) } else { self.schema.key(PATTERN) }
    }

    fn part(&self) -> FieldPart {
        if self.is_key { FieldPart::KeyInside(self.path()) } else { FieldPart::Inside(self.path()) }
    }

    fn refused(&self, (reason, help): (String, String)) -> SchemaError {
        let reason = format!("pattern `{}`: {reason}", self.text);
        SchemaError::new(reason, self.part()).help(help)
    }
}

/// A pattern as the validator needs it. A pattern that Go refuses stays as it is.
pub(super) fn written(pattern: &str) -> Cow<'_, str> {
    go_pattern::translate(pattern).map_or(Cow::Borrowed(pattern), Cow::Owned)
}

/// Translates the patterns of these schemas of a document.
///
/// # Errors
/// A pattern that neither Go nor the validator accepts.
pub(super) fn translated<'a>(root: &'a Json, schemas: &[(FieldPath, &Json)]) -> Result<Patterns<'a>, SchemaError> {
    let patterns = all(schemas);
    let mut translations: BTreeMap<&str, String> = BTreeMap::new();
    let mut used: BTreeSet<String> = BTreeSet::new();
    for pattern in &patterns {
        if translations.contains_key(pattern.text) {
            continue;
        }
        let mut new = match go_pattern::translate(pattern.text) {
            Ok(new) => new,
            Err(_) if is_accepted(pattern.text) => pattern.text.to_owned(),
            Err(refusal) => return Err(pattern.refused(go_pattern::explain(pattern.text, &refusal))),
        };
        // Two patterns of one meaning stay two keys.
        while !used.insert(new.clone()) {
            new.push_str("(?:)");
        }
        translations.insert(pattern.text, new);
    }
    let mut edits: Vec<_> =
        patterns.iter().filter(|at| translations.get(at.text).is_some_and(|new| new != at.text)).collect();
    if edits.is_empty() {
        return Ok(Patterns { json: Cow::Borrowed(root), written: WrittenPatterns::default() });
    }
    // The new name of a key changes the paths below it.
    edits.sort_by_key(|at| std::cmp::Reverse(at.path().steps().len()));
    let mut json = root.clone();
    for edit in edits {
        if let (Some(schema), Some(new)) = (dialect::at_mut(&mut json, edit.schema), translations.get(edit.text)) {
            replace(schema, edit, new);
        }
    }
    let written = translations.into_iter().filter(|(old, new)| old != new).map(|(old, new)| (new, old.to_owned()));
    Ok(Patterns { json: Cow::Owned(json), written: WrittenPatterns::new(written) })
}

/// The first pattern that the validator refuses, although Go accepts it: its compiled form is too large.
pub(super) fn too_large(schemas: &[(FieldPath, &Json)]) -> Option<SchemaError> {
    let patterns = all(schemas);
    let refused = patterns.iter().find(|pattern| !is_accepted(&written(pattern.text)))?;
    let help = "use smaller repetitions such as `{0,20}`, or `maxLength`, and smaller classes than `\\pL`".to_owned();
    Some(refused.refused(("it is too large when it is compiled".to_owned(), help)))
}

fn all<'a>(schemas: &'a [(FieldPath, &Json)]) -> Vec<PatternAt<'a>> {
    let mut found = Vec::new();
    for (path, schema) in schemas {
        if let Some(text) = schema.get(PATTERN).and_then(Json::as_str) {
            found.push(PatternAt { schema: path, is_key: false, text });
        }
        let keys = schema.get(PATTERN_PROPERTIES).and_then(Json::as_object).into_iter().flatten();
        found.extend(keys.map(|(text, _)| PatternAt { schema: path, is_key: true, text }));
    }
    found
}

fn replace(schema: &mut Json, edit: &PatternAt<'_>, new: &str) {
    if !edit.is_key {
        if let Some(pattern) = schema.get_mut(PATTERN) {
            *pattern = new.into();
        }
    } else if let Some(entries) = schema.get_mut(PATTERN_PROPERTIES).and_then(Json::as_object_mut)
        && let Some(value) = entries.remove(edit.text)
    {
        entries.insert(new.to_owned(), value);
    }
}

/// A check whether texts match a pattern. None if the pattern can't be used.
pub(super) fn validator(pattern: &str) -> Option<Validator> {
    compiled(&written(pattern))
}

/// Whether the validator accepts a pattern.
fn is_accepted(pattern: &str) -> bool {
    compiled(pattern).is_some()
}

fn compiled(pattern: &str) -> Option<Validator> {
    let options = jsonschema::options().offline().with_pattern_options(pattern_options());
    options.build(&serde_json::json!({ "pattern": pattern })).ok()
}
