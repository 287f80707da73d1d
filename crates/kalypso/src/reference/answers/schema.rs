//! The fields of answers, read from their schemas: those of the hub from its OpenAPI description.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};
use workbench::listing::rows;

use super::AnswerField;

/// Schemas by name.
pub(super) struct Schemas(Map<String, Value>);

/// The schema of places.
const PLACE: (&str, &str) = ("SourcePosition", "A place (below).");

/// The schema of explained values.
const VALUE: (&str, &str) = ("ExplainedValue", "The same as `explain KEY` gives.");

/// The schema of counts.
const COUNTS: (&str, &str) = ("Counts", "Counts (below).");

/// Nested schemas whose fields are in another table.
const ELSEWHERE: [(&str, &str); 4] = [
    COUNTS,
    ("Deployment", "The same as `deployments` lists."),
    PLACE,
    ("PublishedContent", "The same as `rollout` of `explain`."),
];

/// The fields of the answer of a command. A type that occurs several times in it is described once.
pub(super) fn of_answer<T: ToSchema>() -> Vec<AnswerField> {
    let mut schemas = vec![(T::name().into_owned(), T::schema())];
    T::schemas(&mut schemas);
    let found = Found { fields: Vec::new(), elsewhere: &[COUNTS, PLACE, VALUE], first: Some(BTreeMap::new()) };
    Schemas::new(schemas).found(&T::name(), "", found)
}

/// The fields that were found.
struct Found {
    fields: Vec<FoundField>,
    /// Nested schemas whose fields are in another table.
    elsewhere: &'static [(&'static str, &'static str)],
    /// The first field with each schema, by the name of the schema. None: each field is described with its nested fields.
    first: Option<BTreeMap<String, String>>,
}

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
        Self::new(rows::schemas())
    }

    fn new(schemas: impl IntoIterator<Item = (String, RefOr<Schema>)>) -> Self {
        Self(schemas.into_iter().map(|(name, schema)| (name, serde_json::json!(schema))).collect())
    }

    /// The fields of a schema and of its nested schemas, each with a prefix.
    pub(super) fn fields(&self, name: &str, prefix: &str) -> Vec<AnswerField> {
        self.found(name, prefix, Found { fields: Vec::new(), elsewhere: &ELSEWHERE, first: None })
    }

    fn found(&self, name: &str, prefix: &str, mut found: Found) -> Vec<AnswerField> {
        if let Some(schema) = self.0.get(name) {
            self.walk(schema, prefix, &mut found);
        }
        found.fields.into_iter().map(|field| (field.path.clone(), field.meaning())).collect()
    }

    fn walk(&self, schema: &Value, prefix: &str, found: &mut Found) {
        // Schemas of answers are not recursive, so the depth is limited.
        let schema = self.resolved(schema);
        for parts in ["allOf", "oneOf", "anyOf"] {
            schema[parts].as_array().into_iter().flatten().for_each(|part| self.walk(part, prefix, found));
        }
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            self.field(&format!("{prefix}{name}"), property, found);
        }
    }

    fn field(&self, path: &str, property: &Value, found: &mut Found) {
        let mut link = not_null(property);
        let mut path = path.to_owned();
        if let Some(items) = self.resolved(link).get("items") {
            link = not_null(items);
            path.push_str("[]");
        }
        let inner = self.resolved(link);
        let described = property["description"].as_str().or(not_null(property)["description"].as_str());
        let described = described.unwrap_or_default().replace('\n', " ");
        let elsewhere = found.elsewhere.iter().find(|(name, _)| self.0.get(*name) == Some(inner));
        let elsewhere = elsewhere.map(|(_, place)| (*place).to_owned()).or_else(|| found.same(name_of(link), &path));
        if let Some(elsewhere) = elsewhere {
            found.add(&path, format!("{described} {elsewhere}").trim(), Vec::new());
        } else {
            found.add(&path, &described, words(inner));
            self.walk(inner, &format!("{path}."), found);
        }
    }

    fn resolved<'a>(&'a self, schema: &'a Value) -> &'a Value {
        name_of(schema).and_then(|name| self.0.get(name)).unwrap_or(schema)
    }
}

/// The name of the schema that a reference names.
fn name_of(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str().and_then(|link| link.rsplit('/').next())
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

impl Found {
    /// The description of a field whose schema an earlier field has, too.
    fn same(&mut self, name: Option<&str>, path: &str) -> Option<String> {
        let (first, name) = (self.first.as_mut()?, name?);
        if let Some(first) = first.get(name) {
            return Some(format!("The same as `{first}`."));
        }
        first.insert(name.to_owned(), path.to_owned());
        None
    }

    /// Adds a field, or the description of another variant to an existing field.
    fn add(&mut self, path: &str, meaning: &str, words: Vec<String>) {
        let known = self.fields.iter().position(|field| field.path == path);
        let index = known.unwrap_or_else(|| {
            self.fields.push(FoundField { path: path.to_owned(), meanings: Vec::new(), words: Vec::new() });
            self.fields.len() - 1
        });
        if let Some(field) = self.fields.get_mut(index) {
            if !meaning.is_empty() && !field.meanings.iter().any(|known| known == meaning) {
                field.meanings.push(meaning.to_owned());
            }
            field.words.extend(words);
        }
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
