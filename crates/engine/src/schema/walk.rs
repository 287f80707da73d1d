//! Walks through schemas, `$ref` and `allOf` included.

use std::collections::{BTreeSet, HashMap, HashSet};

use model::field_path::{FieldPath, FieldStep};
use serde_json::Value as Json;

use super::dialect;
use super::marks::{allows_one_value, is_marked};
use super::references::{Document, References};

/// Keywords with requirements for a single value, in display order.
pub(super) const VALUE_KEYWORDS: [&str; 14] = [
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

/// Keywords that contain schemas by name.
pub(super) const BY_NAME: &[&str] =
    &["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];
/// Keywords whose value is a schema, or a list of schemas.
pub(super) const APPLIED: &[&str] = &[
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "oneOf",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
    "extends",
];

/// Calls `visit` once for a schema, and once for each schema that its `$ref` and `allOf` add.
pub(super) fn each_applied<'a>(references: &References<'a>, schema: &'a Json, visit: &mut dyn FnMut(&'a Json)) {
    let mut seen = HashSet::new();
    let mut open = vec![schema];
    while let Some(schema) = open.pop() {
        if !seen.insert(std::ptr::from_ref(schema)) {
            continue;
        }
        visit(schema);
        open.extend(references.targets(schema));
        open.extend(schema.get("allOf").and_then(Json::as_array).into_iter().flatten());
    }
}

/// All schemas of a document with their paths: those at keywords, and the targets of references.
pub(super) fn positions<'a>(references: &References<'a>, root: &'a Json) -> Vec<(FieldPath, &'a Json)> {
    let places = paths(root);
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    let mut open = vec![(FieldPath::default(), root)];
    while let Some((path, schema)) = open.pop() {
        if !seen.insert(std::ptr::from_ref(schema)) {
            continue;
        }
        for target in references.targets(schema) {
            if let Some(path) = places.get(&std::ptr::from_ref(target)) {
                open.push((path.clone(), target));
            }
        }
        for (keyword, value) in schema.as_object().into_iter().flatten() {
            let at = path.key(keyword.as_str());
            if BY_NAME.contains(&keyword.as_str()) {
                open.extend(
                    value.as_object().into_iter().flatten().map(|(name, schema)| (at.key(name.as_str()), schema)),
                );
            } else if APPLIED.contains(&keyword.as_str()) {
                open.extend(
                    value.as_array().into_iter().flatten().enumerate().map(|(index, item)| (at.index(index), item)),
                );
                open.push((at, value));
            }
        }
        found.push((path, schema));
    }
    found.retain(|(_, schema)| schema.is_object() || schema.is_boolean());
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    found
}

/// The names of the properties in conditions and alternatives of a schema. Their forms can decide which rules apply.
pub(super) fn conditional<'a>(references: &References<'a>, root: &'a Json) -> BTreeSet<String> {
    const CONDITIONS: [&str; 6] = ["if", "then", "else", "not", "anyOf", "oneOf"];
    let mut names = BTreeSet::new();
    let mut add = |schema: &'a Json| {
        each_applied(references, schema, &mut |schema| {
            names.extend(
                schema.get("properties").and_then(Json::as_object).into_iter().flatten().map(|(name, _)| name.clone()),
            );
        });
    };
    each_applied(references, root, &mut |schema| {
        for condition in CONDITIONS.iter().filter_map(|keyword| schema.get(keyword)) {
            match condition {
                Json::Array(alternatives) => alternatives.iter().for_each(&mut add),
                schema => add(schema),
            }
        }
        for keyword in ["dependencies", "dependentSchemas"] {
            schema.get(keyword).and_then(Json::as_object).into_iter().flatten().for_each(|(_, schema)| add(schema));
        }
    });
    names
}

/// The path of each mapping and list of a schema, by its address.
pub(super) fn paths(root: &Json) -> HashMap<*const Json, FieldPath> {
    let mut found = HashMap::new();
    let mut open = vec![(root, FieldPath::default())];
    while let Some((json, path)) = open.pop() {
        match json {
            Json::Object(entries) => {
                open.extend(entries.iter().map(|(key, value)| (value, path.key(key.as_str()))));
            }
            Json::Array(items) => open.extend(items.iter().enumerate().map(|(index, item)| (item, path.index(index)))),
            _ => continue,
        }
        found.insert(std::ptr::from_ref(json), path);
    }
    found
}

/// The maximum number of properties that are searched for marks. In a larger schema, any mark makes all values sensitive.
const PROPERTIES_MAX: usize = 10_000;

/// The paths of properties that a schema marks as `writeOnly` or `x-sensitive`. If a mark is in a list, or in a schema that may not apply,
/// the whole value that contains it is sensitive.
pub(super) fn sensitive<'a>(references: &References<'a>, root: &'a Json) -> Vec<FieldPath> {
    let mut marks = Marks { references, found: Vec::new(), count: 0 };
    if !marks.contains_mark(root) {
        return Vec::new();
    }
    marks.collect(root, &mut FieldPath::default());
    if marks.count > PROPERTIES_MAX {
        return vec![FieldPath::default()];
    }
    marks.found.sort();
    marks.found.dedup();
    marks.found
}

struct Marks<'r, 'a> {
    references: &'r References<'a>,
    found: Vec<FieldPath>,
    count: usize,
}

impl<'a> Marks<'_, 'a> {
    fn collect(&mut self, schema: &'a Json, path: &mut FieldPath) {
        const PATH_LENGTH_MAX: usize = 16;
        self.count += 1;
        if self.count > PROPERTIES_MAX {
            return;
        }
        if path.steps().len() > PATH_LENGTH_MAX {
            self.found.push(path.clone());
            return;
        }
        let mut properties = Vec::new();
        let mut is_sensitive = false;
        each_applied(self.references, schema, &mut |applied| {
            is_sensitive |= is_marked(applied);
            for (keyword, value) in applied.as_object().into_iter().flatten() {
                match keyword.as_str() {
                    "properties" => properties.extend(value.as_object().into_iter().flatten()),
                    "allOf" | "$ref" | "definitions" | "$defs" => {}
                    _ => is_sensitive |= self.contains_mark(value),
                }
            }
        });
        if is_sensitive {
            self.found.push(path.clone());
            return;
        }
        for (name, schema) in properties {
            path.push(FieldStep::Key(name.as_str().into()));
            self.collect(schema, path);
            path.pop();
        }
    }

    /// Whether there is a mark in `json`, or in a target of its references.
    fn contains_mark(&self, json: &'a Json) -> bool {
        let mut seen = HashSet::new();
        let mut open = vec![json];
        while let Some(json) = open.pop() {
            if !seen.insert(std::ptr::from_ref(json)) {
                continue;
            }
            if is_marked(json) {
                return true;
            }
            match json {
                Json::Object(entries) => open.extend(entries.values().chain(self.references.targets(json))),
                Json::Array(items) => open.extend(items),
                _ => {}
            }
        }
        false
    }
}

/// What a schema says about the value at `path`: where, and the keywords with their values. None if it says nothing. Of a sensitive
/// value it is not said that it can only be one.
pub(crate) fn requirements(text: &str, path: &FieldPath, is_sensitive: bool) -> Option<(FieldPath, String)> {
    let read = dialect::read(text).ok()?;
    let root = read.json;
    let document = Document::new(&root, read.draft).ok()?;
    let references = document.references().ok()?;
    let mut place = FieldPath::default();
    let mut schema = &root;
    for step in path.steps() {
        let keys: &[FieldStep] = &match step {
            FieldStep::Key(key) => vec![FieldStep::Key("properties".into()), FieldStep::Key(key.clone())],
            FieldStep::Index(_) => vec![FieldStep::Key("items".into())],
        };
        for key in keys {
            let FieldStep::Key(key) = key else { continue };
            schema = schema.get(&**key)?;
            place = place.key(key.clone());
        }
        schema = references.targets(schema).next().unwrap_or(schema);
    }
    let keywords = VALUE_KEYWORDS.iter().filter_map(|keyword| Some((*keyword, schema.get(*keyword)?)));
    let texts: Vec<_> = keywords.filter_map(|(keyword, value)| keyword_text(keyword, value, is_sensitive)).collect();
    Some((place, texts.join(", ")))
}

/// A keyword with its value. None for a keyword that reveals a sensitive value, because it allows no other.
pub(super) fn keyword_text(keyword: &str, value: &Json, is_sensitive: bool) -> Option<String> {
    if is_sensitive && (keyword == "const" || (keyword == "enum" && allows_one_value(value))) {
        return None;
    }
    Some(match (keyword, value) {
        ("type", Json::String(name)) => name.clone(),
        (_, Json::String(text)) => format!("{keyword} {text}"),
        (_, other) => format!("{keyword} {other}"),
    })
}
