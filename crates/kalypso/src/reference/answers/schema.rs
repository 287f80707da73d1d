//! The fields of the hub's answers, read from its OpenAPI description.

use serde_json::{Map, Value};
use workbench::listing::rows;

use super::Field;

/// The schemas of the hub's OpenAPI description, by name.
pub(super) struct Schemas(Map<String, Value>);

/// Nested schemas whose fields are in another table.
const ELSEWHERE: [(&str, &str); 4] = [
    ("Counts", "Counts (below)."),
    ("Deployment", "The same as `deployments` lists."),
    ("SourcePosition", "A place (below)."),
    ("PublishedContent", "The same as `rollout` of `explain`."),
];

/// A field with its descriptions.
struct FoundField {
    path: String,
    meanings: Vec<String>,
    /// The values of its enum.
    words: Vec<String>,
}

impl Schemas {
    /// The schemas of this program's version of the hub.
    pub(super) fn of_hub() -> Self {
        let mut description: Value = serde_json::from_str(hub::http::DESCRIPTION).unwrap_or_default();
        match description["components"]["schemas"].take() {
            Value::Object(schemas) => Self(schemas),
            _ => Self(Map::new()),
        }
    }

    /// The schemas of lists.
    pub(super) fn of_lists() -> Self {
        let schemas = rows::schemas().into_iter();
        Self(schemas.map(|(name, schema)| (name, serde_json::json!(schema))).collect())
    }

    /// The fields of a schema and of its nested schemas, each with a prefix.
    pub(super) fn fields(&self, name: &str, prefix: &str) -> Vec<Field> {
        let mut found = Vec::new();
        if let Some(schema) = self.0.get(name) {
            self.walk(schema, prefix, &mut found);
        }
        found.into_iter().map(|field| (field.path.clone(), field.meaning())).collect()
    }

    fn walk(&self, schema: &Value, prefix: &str, found: &mut Vec<FoundField>) {
        // Schemas of answers are not recursive, so the depth is limited.
        let schema = self.resolved(schema);
        for parts in ["allOf", "oneOf", "anyOf"] {
            schema[parts].as_array().into_iter().flatten().for_each(|part| self.walk(part, prefix, found));
        }
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            self.field(&format!("{prefix}{name}"), property, found);
        }
    }

    fn field(&self, path: &str, property: &Value, found: &mut Vec<FoundField>) {
        let inner = self.resolved(not_null(property));
        let (path, inner) = match inner.get("items") {
            Some(items) => (format!("{path}[]"), self.resolved(not_null(items))),
            None => (path.to_owned(), inner),
        };
        let described = property["description"].as_str().or(not_null(property)["description"].as_str());
        let described = described.unwrap_or_default().replace('\n', " ");
        let elsewhere = ELSEWHERE.iter().find(|(name, _)| self.0.get(*name) == Some(inner));
        if let Some((_, place)) = elsewhere {
            add(found, &path, format!("{described} {place}").trim(), Vec::new());
        } else {
            add(found, &path, &described, words(inner));
            self.walk(inner, &format!("{path}."), found);
        }
    }

    fn resolved<'a>(&'a self, schema: &'a Value) -> &'a Value {
        let name = schema["$ref"].as_str().and_then(|link| link.rsplit('/').next());
        name.and_then(|name| self.0.get(name)).unwrap_or(schema)
    }
}

/// The schema of a nullable value without `null`.
fn not_null(schema: &Value) -> &Value {
    let either = schema["oneOf"].as_array().into_iter().flatten();
    let mut either = either.filter(|one| one["type"] != "null");
    match (either.next(), either.next()) {
        (Some(one), None) => one,
        _ => schema,
    }
}

/// The values of an enum: a list, or variants with a description each.
fn words(schema: &Value) -> Vec<String> {
    let listed = schema["enum"].as_array().into_iter().flatten();
    let variants = schema["oneOf"].as_array().into_iter().flatten();
    let of_variants = variants.flat_map(|variant| variant["enum"].as_array().into_iter().flatten());
    listed.chain(of_variants).filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Adds a field, or the description of another variant to an existing field.
fn add(found: &mut Vec<FoundField>, path: &str, meaning: &str, words: Vec<String>) {
    let known = found.iter().position(|field| field.path == path);
    let index = known.unwrap_or_else(|| {
        found.push(FoundField { path: path.to_owned(), meanings: Vec::new(), words: Vec::new() });
        found.len() - 1
    });
    if let Some(field) = found.get_mut(index) {
        if !meaning.is_empty() && !field.meanings.iter().any(|known| known == meaning) {
            field.meanings.push(meaning.to_owned());
        }
        field.words.extend(words);
    }
}

impl FoundField {
    fn meaning(&self) -> String {
        let mut meaning = self.meanings.join(" ");
        if !self.words.is_empty() && self.words.iter().any(|word| !meaning.contains(&format!("`{word}`"))) {
            let words: Vec<_> = self.words.iter().map(|word| format!("`{word}`")).collect();
            meaning = format!("{meaning} One of {}.", words.join(", "));
        }
        meaning.trim().to_owned()
    }
}
