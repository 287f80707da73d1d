//! Walking through schemas, through `$ref` and `allOf`.

use std::collections::HashSet;

use jsonschema::Draft;
use model::field_path::{FieldPath, Step};
use serde_json::Value as Json;

use super::DEFAULT_DRAFT;
use super::references::{Document, References};

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

/// Calls `visit` for a schema, and for those that its `$ref` and `allOf` add to it, once for each.
pub(super) fn each_applied<'a>(references: &References<'a>, schema: &'a Json, visit: &mut dyn FnMut(&'a Json)) {
    let mut seen = HashSet::new();
    let mut open = vec![schema];
    while let Some(schema) = open.pop() {
        if !seen.insert(std::ptr::from_ref(schema)) {
            continue;
        }
        visit(schema);
        open.extend(references.of(schema));
        open.extend(schema.get("allOf").and_then(Json::as_array).into_iter().flatten());
    }
}

/// The draft to read a schema by. One without `$schema` is of draft 4 if a bound is written in its boolean form.
pub(super) fn draft(json: &Json) -> Draft {
    if json.get("$schema").is_some() {
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

/// How many properties are looked at for marks. Beyond that, a schema with any mark makes everything sensitive.
const PROPERTIES_MAX: usize = 10_000;

/// The properties that a schema marks `writeOnly` or `x-sensitive`. Where a mark is in a list, or in something that may or may not
/// apply, all that it could be about is sensitive.
pub(super) fn sensitive<'a>(references: &References<'a>, root: &'a Json) -> Vec<FieldPath> {
    let mut marks = Marks { references, found: Vec::new(), count: 0 };
    if !marks.are_in(root) {
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
                    _ => is_sensitive |= self.are_in(value),
                }
            }
        });
        if is_sensitive {
            self.found.push(path.clone());
            return;
        }
        for (name, schema) in properties {
            path.push(Step::Key(name.as_str().into()));
            self.collect(schema, path);
            path.pop();
        }
    }

    /// Whether there is a mark in `json`, or in what it refers to.
    fn are_in(&self, json: &'a Json) -> bool {
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
                Json::Object(entries) => open.extend(entries.values().chain(self.references.of(json))),
                Json::Array(items) => open.extend(items),
                _ => {}
            }
        }
        false
    }
}

fn is_marked(schema: &Json) -> bool {
    ["writeOnly", "x-sensitive"].iter().any(|mark| schema.get(mark) == Some(&Json::Bool(true)))
}

/// What a schema says about the value at `path`: where, and the keywords with their values. None if it says nothing. Of a sensitive
/// value it is not said that it can only be one.
pub(crate) fn demands(text: &str, path: &FieldPath, is_sensitive: bool) -> Option<(FieldPath, String)> {
    let root: Json = serde_json::from_str(text).ok()?;
    let document = Document::new(&root, draft(&root)).ok()?;
    let references = document.references().ok()?;
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
        schema = references.of(schema).next().unwrap_or(schema);
    }
    let is_shown = |keyword: &str, value: &Json| {
        !is_sensitive || !(keyword == "const" || (keyword == "enum" && crate::sensitive::is_only_one(value)))
    };
    let said = SAID.iter().filter_map(|keyword| Some((keyword, schema.get(keyword)?)));
    let said = said.filter(|(keyword, value)| is_shown(keyword, value));
    let word = |(keyword, value): (&&str, &Json)| match (*keyword, value) {
        ("type", Json::String(name)) => name.clone(),
        (_, Json::String(text)) => format!("{keyword} {text}"),
        (_, other) => format!("{keyword} {other}"),
    };
    let words: Vec<_> = said.map(word).collect();
    Some((place, words.join(", ")))
}
