//! Limits the size of schemas, so that checks end, and end soon. Schemas come from other teams.

use std::collections::HashMap;

use serde_json::Value as Json;

use super::pattern;
use super::references::References;

/// The maximum depth of nested schemas, references included. A recursive walk of this depth is safe on any stack.
const DEPTH_MAX: usize = 512;
/// The maximum number of schemas with each reference written out. A check visits at most this number.
const UNFOLDED_MAX: usize = 200_000;

/// Keywords whose schemas apply to the same value as the schema that contains them.
const IN_PLACE: [&str; 7] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];
/// Keywords whose schemas apply to the same value if it has a property.
const DEPENDENT: [&str; 2] = ["dependentSchemas", "dependencies"];
/// Keywords that contain schemas as targets of references.
const DEFINITIONS: [&str; 2] = ["definitions", "$defs"];

/// The number of schemas with references written out, including the sizes of patterns.
///
/// # Errors
/// The reason why checks may take too long: the schema is too deep or too large, or a reference refers to itself.
pub(super) fn unfolded<'a>(references: &References<'a>, root: &'a Json) -> Result<usize, String> {
    let mut unfolding = Unfolding { references, sizes: HashMap::new() };
    let unfolded = match unfolding.size(root, 0) {
        Ok(size) => size.unfolded,
        Err(TooDeep) => return Err(format!("it is more than {DEPTH_MAX} schemas deep, references included")),
    };
    if unfolded > UNFOLDED_MAX {
        return Err(format!(
            "it is more than {UNFOLDED_MAX} schemas when its references are written out and patterns count by their size"
        ));
    }
    let mut circles = Circles { references, done: HashMap::new() };
    match circles.find(root, 0).or_else(|| circles.find_below(root)) {
        Some(reference) => Err(format!("`{reference}` refers to itself, so checking it would never end")),
        None => Ok(unfolded),
    }
}

/// The size of a schema with its references written out.
#[derive(Clone, Copy, Default)]
struct Size {
    unfolded: usize,
    depth: usize,
}

struct TooDeep;

struct Unfolding<'r, 'a> {
    references: &'r References<'a>,
    /// None while the size is computed. A recursive reference counts nothing here, because a check applies it once for each nested value.
    sizes: HashMap<*const Json, Option<Size>>,
}

impl<'a> Unfolding<'_, 'a> {
    fn size(&mut self, json: &'a Json, above: usize) -> Result<Size, TooDeep> {
        if above > DEPTH_MAX {
            return Err(TooDeep);
        }
        let key = std::ptr::from_ref(json);
        if let Some(known) = self.sizes.get(&key) {
            let known = known.unwrap_or_default();
            return if above + known.depth > DEPTH_MAX { Err(TooDeep) } else { Ok(known) };
        }
        self.sizes.insert(key, None);
        let mut size = Size { unfolded: 1 + patterns(json), depth: 1 };
        for part in self.parts(json) {
            let part = self.size(part, above + 1)?;
            size.unfolded = size.unfolded.saturating_add(part.unfolded);
            size.depth = size.depth.max(part.depth + 1);
        }
        self.sizes.insert(key, Some(size));
        Ok(size)
    }

    fn parts(&self, json: &'a Json) -> Vec<&'a Json> {
        match json {
            Json::Object(entries) => {
                let applied = entries.iter().filter(|(key, _)| !DEFINITIONS.contains(&key.as_str()));
                applied.map(|(_, value)| value).chain(self.references.targets(json)).collect()
            }
            Json::Array(items) => items.iter().collect(),
            _ => Vec::new(),
        }
    }
}

/// The size of a schema's patterns, as a number of schemas.
fn patterns(json: &Json) -> usize {
    let own = json.get("pattern").and_then(Json::as_str);
    let of_properties = json.get("patternProperties").and_then(Json::as_object);
    own.into_iter().chain(of_properties.into_iter().flatten().map(|(name, _)| &**name)).map(pattern::schemas).sum()
}

/// Finds references that lead back to themselves at the same value.
struct Circles<'r, 'a> {
    references: &'r References<'a>,
    /// False while the schema is visited, then true.
    done: HashMap<*const Json, bool>,
}

impl<'a> Circles<'_, 'a> {
    /// Returns a reference of `schema` that is part of a circle.
    fn find(&mut self, schema: &'a Json, above: usize) -> Option<String> {
        let key = std::ptr::from_ref(schema);
        match self.done.get(&key) {
            Some(true) => return None,
            Some(false) => return Some("#".to_owned()),
            None => {}
        }
        if above > DEPTH_MAX {
            return Some("a chain of references".to_owned());
        }
        self.done.insert(key, false);
        let references = self.references;
        if references.targets(schema).any(|target| self.find(target, above + 1).is_some()) {
            return schema.get("$ref").and_then(Json::as_str).map(str::to_owned);
        }
        let parts = IN_PLACE.iter().filter_map(|keyword| schema.get(keyword));
        let parts = parts.flat_map(|part| part.as_array().map_or(std::slice::from_ref(part), Vec::as_slice));
        let dependent = DEPENDENT.iter().filter_map(|keyword| schema.get(keyword)?.as_object());
        let mut parts = parts.chain(dependent.flat_map(serde_json::Map::values));
        let found = parts.find_map(|part| self.find(part, above + 1));
        self.done.insert(key, true);
        found
    }

    /// Searches every schema inside `json`. The recursion is at most as deep as the JSON text.
    fn find_below(&mut self, json: &'a Json) -> Option<String> {
        match json {
            Json::Object(entries) => {
                let refers = entries.get("$ref").is_some_and(Json::is_string);
                let here = if refers { self.find(json, 0) } else { None };
                here.or_else(|| entries.values().find_map(|value| self.find_below(value)))
            }
            Json::Array(items) => items.iter().find_map(|item| self.find_below(item)),
            _ => None,
        }
    }
}
