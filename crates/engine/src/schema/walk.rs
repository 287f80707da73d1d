//! Walking through schemas, through `$ref` and `allOf`.

use jsonschema::Draft;
use model::field_path::{FieldPath, Step};
use serde_json::Value as Json;

use super::DEFAULT_DRAFT;

/// How many schemas deep something is looked for: deeper ones only repeat themselves.
const DEPTH_MAX: usize = 64;

/// Keywords whose schemas apply to the same value as the schema they are in.
const IN_PLACE: [&str; 7] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];

/// Keywords that say something about a single value, in the order in which people are told.
const SAID: [&str; 14] = [
    "type",
    "enum",
    "const",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
];

/// Calls `visit` for a schema, and for those that its `$ref` and `allOf` add to it.
pub(super) fn each_applied(root: &Json, schema: &Json, visit: &mut dyn FnMut(&Json)) {
    each_applied_below(root, schema, visit, 0);
}

fn each_applied_below(root: &Json, schema: &Json, visit: &mut dyn FnMut(&Json), depth: usize) {
    if depth > DEPTH_MAX {
        return;
    }
    visit(schema);
    if let Some(target) = referred(root, schema) {
        each_applied_below(root, target, visit, depth + 1);
    }
    for part in schema.get("allOf").and_then(Json::as_array).into_iter().flatten() {
        each_applied_below(root, part, visit, depth + 1);
    }
}

/// The schema that `$ref` names, if it is in the same document.
fn referred<'a>(root: &'a Json, schema: &Json) -> Option<&'a Json> {
    let pointer = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
    root.pointer(pointer)
}

/// The draft to read a schema without `$schema` by: draft 4 if a bound is written in its boolean form.
pub(super) fn draft(json: &Json) -> Draft {
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

/// A `$ref` that leads back to itself without going down into the value.
pub(super) fn endless_reference(root: &Json) -> Option<String> {
    let mut references = Vec::new();
    collect_references(root, &mut references);
    references
        .iter()
        .find(|schema| returns_to(root, schema, schema, 0))
        .and_then(|schema| Some(schema.get("$ref")?.as_str()?.to_owned()))
}

fn collect_references<'a>(json: &'a Json, references: &mut Vec<&'a Json>) {
    match json {
        Json::Object(entries) => {
            if entries.get("$ref").is_some_and(Json::is_string) {
                references.push(json);
            }
            entries.values().for_each(|value| collect_references(value, references));
        }
        Json::Array(items) => items.iter().for_each(|item| collect_references(item, references)),
        _ => {}
    }
}

/// Whether applying `schema` applies `start` again, to the same value.
fn returns_to(root: &Json, start: &Json, schema: &Json, depth: usize) -> bool {
    if depth > DEPTH_MAX {
        return true;
    }
    let next = |target: &Json| std::ptr::eq(target, start) || returns_to(root, start, target, depth + 1);
    if referred(root, schema).is_some_and(next) {
        return true;
    }
    let parts = IN_PLACE.iter().filter_map(|keyword| schema.get(keyword));
    parts.flat_map(|part| part.as_array().map_or(std::slice::from_ref(part), Vec::as_slice)).any(next)
}

/// The properties that a schema marks `writeOnly` or `x-sensitive`. Items of lists are not told apart: all or none are sensitive.
pub(super) fn sensitive(root: &Json) -> Vec<FieldPath> {
    let mut found = Vec::new();
    collect_sensitive(root, root, &mut FieldPath::default(), &mut found);
    found.sort();
    found.dedup();
    found
}

fn collect_sensitive(root: &Json, schema: &Json, path: &mut FieldPath, found: &mut Vec<FieldPath>) {
    const PROPERTY_DEPTH_MAX: usize = 16;
    if path.steps().len() > PROPERTY_DEPTH_MAX {
        return;
    }
    let mut properties = Vec::new();
    let mut is_sensitive = false;
    each_applied(root, schema, &mut |applied| {
        is_sensitive |= ["writeOnly", "x-sensitive"].iter().any(|mark| applied.get(mark) == Some(&Json::Bool(true)));
        let of_schema = applied.get("properties").and_then(Json::as_object).into_iter().flatten();
        properties.extend(of_schema.map(|(name, schema)| (name.clone(), schema.clone())));
        if applied
            .get("items")
            .is_some_and(|items| items.get("x-sensitive").is_some() || items.get("writeOnly").is_some())
        {
            is_sensitive = true;
        }
    });
    if is_sensitive {
        found.push(path.clone());
        return;
    }
    for (name, schema) in properties {
        path.push(Step::Key(name.into()));
        collect_sensitive(root, &schema, path, found);
        path.pop();
    }
}

/// What a schema says about the value at `path`: where, and the keywords with their values. None if it says nothing.
pub(crate) fn demands(text: &str, path: &FieldPath) -> Option<(FieldPath, String)> {
    let root: Json = serde_json::from_str(text).ok()?;
    let mut place = FieldPath::default();
    let mut schema = &root;
    for step in path.steps() {
        let keys: &[Step] = &match step {
            Step::Key(key) => vec![Step::Key("properties".into()), Step::Key(key.clone())],
            Step::Index(_) => vec![Step::Key("items".into())],
        };
        for key in keys {
            let Step::Key(key) = key else { continue };
            schema = schema.get(&**key)?;
            place = place.key(key.clone());
        }
        if let Some(target) = referred(&root, schema) {
            schema = target;
        }
    }
    let said = SAID.iter().filter_map(|keyword| Some((keyword, schema.get(keyword)?)));
    let word = |(keyword, value): (&&str, &Json)| match (*keyword, value) {
        ("type", Json::String(name)) => name.clone(),
        (_, Json::String(text)) => format!("{keyword} {text}"),
        (_, other) => format!("{keyword} {other}"),
    };
    let words: Vec<_> = said.map(word).collect();
    Some((place, words.join(", ")))
}
