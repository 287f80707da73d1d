//! The values that a schema asks for: its top-level properties, through `$ref` and `allOf`.

use std::collections::{BTreeMap, HashMap, HashSet};

use jsonschema::Validator;
use model::field_path::FieldPath;
use serde_json::Value as Json;

use super::dialect::{self, SchemaJson};
use super::marks::is_marked;
use super::patterns;
use super::references::{Document, References};
use super::walk::{VALUE_KEYWORDS, each_applied, keyword_text, paths};

/// Keywords at the root that relate several values with one another, so that a value can't be checked alone.
const RELATING: [&str; 14] = [
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "minProperties",
    "maxProperties",
    "dependentSchemas",
    "unevaluatedProperties",
    "const",
    "enum",
    "$dynamicRef",
    "$recursiveRef",
];
/// Keywords whose rules hold for a merged value if they hold for its parts, and keywords without rules.
const MERGE_CLOSED: [&str; 24] = [
    "type",
    "enum",
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
    "minProperties",
    "required",
    "$ref",
    "$defs",
    "definitions",
    "$comment",
    "title",
    "description",
    "default",
    "examples",
    "writeOnly",
    "x-sensitive",
];
/// The maximum length of a default or a description in characters. They come from other teams.
const TEXT_MAX: usize = 200;

/// What a schema asks for.
#[derive(Debug, Default)]
pub(crate) struct RequestedValues {
    pub(crate) properties: BTreeMap<String, RequestedProperty>,
    /// Keys that are required if another key is given: the other key, and the required ones with their place.
    pub(crate) dependent: Vec<(String, Vec<(String, FieldPath)>)>,
    /// Whether the schema relates several values, so that values alone can be right and together wrong.
    pub(crate) relates_values: bool,
    /// Whether the schema has rules for keys that it does not name.
    pub(crate) describes_others: bool,
    /// Whether any key is asked for, because the schema describes properties of all names.
    takes_any: bool,
    patterns: Vec<String>,
    names: Option<Validator>,
}

/// A top-level property.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestedProperty {
    /// The place of the property in the schema. For a property that is only required, the place of the list.
    pub(crate) path: FieldPath,
    pub(crate) is_required: bool,
    /// The keywords with their values, such as `integer, minimum 1`.
    pub(crate) requirements: String,
    /// The default value, as JSON.
    pub(crate) default: Option<String>,
    pub(crate) description: Option<String>,
    /// Whether valid mappings and lists are still valid when they are merged.
    pub(crate) is_merge_closed: bool,
}

impl RequestedValues {
    /// Reads a schema. `is_sensitive` tells for a key whether its value is sensitive: then no default is shown, and not the only value that is allowed.
    /// Empty if the text can't be used as a schema.
    pub(crate) fn read(text: &str, is_sensitive: &dyn Fn(&str) -> bool) -> Self {
        let Ok(SchemaJson { json: root, draft, .. }) = dialect::read(text) else { return Self::default() };
        let Ok(document) = Document::new(&root, draft) else { return Self::default() };
        let Ok(references) = document.references() else { return Self::default() };
        let mut reader = Reader { references: &references, paths: paths(&root), is_sensitive, asked: Self::default() };
        each_applied(&references, &root, &mut |schema| reader.add(schema));
        let mut asked = reader.asked;
        asked.names = names(&asked.patterns);
        asked
    }

    /// Whether the schema names a key, or describes properties of such names.
    pub(crate) fn asks_for(&self, key: &str) -> bool {
        let is_matched = || {
            let name = Json::String(key.to_owned());
            !self.patterns.is_empty() && self.names.as_ref().is_none_or(|names| names.is_valid(&name))
        };
        self.takes_any || self.properties.contains_key(key) || is_matched()
    }
}

/// A check of names: whether one of the patterns of `patternProperties` matches.
fn names(names: &[String]) -> Option<Validator> {
    let any: Vec<_> =
        names.iter().map(|pattern| serde_json::json!({ "pattern": patterns::written(pattern) })).collect();
    let options = jsonschema::options().with_pattern_options(super::pattern_options()).offline();
    options.build(&serde_json::json!({ "anyOf": any })).ok()
}

struct Reader<'r, 'a> {
    references: &'r References<'a>,
    paths: HashMap<*const Json, FieldPath>,
    is_sensitive: &'r dyn Fn(&str) -> bool,
    asked: RequestedValues,
}

impl<'a> Reader<'_, 'a> {
    /// Adds a schema that applies to the values as a whole.
    fn add(&mut self, schema: &'a Json) {
        let path = self.paths.get(&std::ptr::from_ref(schema)).cloned().unwrap_or_default();
        self.asked.relates_values |= RELATING.iter().any(|keyword| schema.get(keyword).is_some());
        for (name, property) in entries(schema, "properties") {
            self.add_property(name, property, path.key("properties").key(name.as_str()));
        }
        self.asked.patterns.extend(entries(schema, "patternProperties").map(|(pattern, _)| pattern.clone()));
        self.asked.describes_others |= ["patternProperties", "additionalProperties", "propertyNames"]
            .iter()
            .any(|keyword| schema.get(keyword).is_some());
        self.asked.takes_any |= schema.get("additionalProperties").is_some_and(Json::is_object);
        for name in names_of(schema.get("required")) {
            let required = path.key("required");
            let new = || RequestedProperty { path: required, ..RequestedProperty::default() };
            self.asked.properties.entry(name.to_owned()).or_insert_with(new).is_required = true;
        }
        for keyword in ["dependencies", "dependentRequired"] {
            for (given, needed) in entries(schema, keyword) {
                let place = path.key(keyword).key(given.as_str());
                self.asked.relates_values |= !needed.is_array();
                let needed = names_of(Some(needed)).map(|name| (name.to_owned(), place.clone())).collect();
                self.asked.dependent.push((given.clone(), needed));
            }
        }
    }

    fn add_property(&mut self, name: &'a str, property: &'a Json, path: FieldPath) {
        let is_sensitive = (self.is_sensitive)(name);
        let is_merge_closed = self.is_merge_closed(property);
        let asked = self.asked.properties.entry(name.to_owned()).or_default();
        if asked.path.steps().last() != path.steps().last() {
            asked.path = path;
        }
        let (mut parts, mut is_secret) = (Vec::new(), is_sensitive);
        let mut described = Vec::new();
        each_applied(self.references, property, &mut |schema| {
            is_secret |= is_marked(schema);
            described.push(schema);
        });
        for schema in described {
            let keywords = VALUE_KEYWORDS.iter().filter_map(|keyword| Some((*keyword, schema.get(*keyword)?)));
            for part in keywords.filter_map(|(keyword, value)| keyword_text(keyword, value, is_secret)) {
                if !parts.contains(&part) {
                    parts.push(part);
                }
            }
            if *schema == Json::Bool(false) {
                parts.push("must not be set".to_owned());
            }
            if let Some(default) = schema.get("default").filter(|_| !is_secret) {
                asked.default.get_or_insert_with(|| cut(&default.to_string()));
            }
            if let Some(text) = schema.get("description").and_then(Json::as_str) {
                asked.description.get_or_insert_with(|| cut(text));
            }
        }
        asked.requirements = parts.join(", ");
        asked.is_merge_closed = is_merge_closed;
    }
}

impl<'a> Reader<'_, 'a> {
    /// Whether a schema, and the schemas in it, only have rules that hold for merged values if they hold for each part.
    fn is_merge_closed(&self, property: &'a Json) -> bool {
        let (mut open, mut seen) = (vec![property], HashSet::new());
        while let Some(schema) = open.pop() {
            if !seen.insert(std::ptr::from_ref(schema)) {
                continue;
            }
            for (keyword, value) in schema.as_object().into_iter().flatten() {
                match keyword.as_str() {
                    "properties" | "patternProperties" => {
                        open.extend(value.as_object().into_iter().flatten().map(|(_, schema)| schema));
                    }
                    "items" if value.is_array() => return false,
                    "items" | "additionalProperties" | "propertyNames" => open.push(value),
                    "allOf" => open.extend(value.as_array().into_iter().flatten()),
                    "enum"
                        if value
                            .as_array()
                            .into_iter()
                            .flatten()
                            .any(|value| value.is_object() || value.is_array()) =>
                    {
                        return false;
                    }
                    keyword if !MERGE_CLOSED.contains(&keyword) => return false,
                    _ => {}
                }
            }
            open.extend(self.references.targets(schema));
        }
        true
    }
}

fn entries<'a>(schema: &'a Json, keyword: &str) -> impl Iterator<Item = (&'a String, &'a Json)> {
    schema.get(keyword).and_then(Json::as_object).into_iter().flatten()
}

fn names_of(list: Option<&Json>) -> impl Iterator<Item = &str> {
    list.and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str)
}

fn cut(text: &str) -> String {
    let mut shown: String = text.chars().take(TEXT_MAX).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the asked keys: `KEY*` if it is required, with its requirements and its place.
    fn check(schema: &str, expected: &[&str]) {
        let asked = RequestedValues::read(schema, &|_| false);
        let shown = asked.properties.iter().map(|(key, property)| {
            let star = if property.is_required { "*" } else { "" };
            format!("{key}{star} {} @{}", property.requirements, property.path)
        });
        assert_eq!(shown.collect::<Vec<_>>(), expected, "{schema}");
    }

    #[test]
    fn properties_are_found_through_references_and_all_of() {
        check(
            r#"{"required": ["A"], "properties": {"A": {"type": "integer", "minimum": 1}, "B": {"enum": ["x", "y"]}}}"#,
            &["A* integer, minimum 1 @properties.A", "B enum [\"x\",\"y\"] @properties.B"],
        );
        check(
            r##"{"allOf": [{"$ref": "#/definitions/base"}, {"required": ["B"]}],
                "definitions": {"base": {"properties": {"A": {"$ref": "#/definitions/port"}}}, "port": {"type": "integer"}}}"##,
            &["A integer @definitions.base.properties.A", "B*  @allOf[1].required"],
        );
    }

    #[test]
    fn pattern_properties_match_names() {
        let asked =
            RequestedValues::read(r#"{"properties": {"A": {}}, "patternProperties": {"^LIMIT_": {}}}"#, &|_| false);
        assert!(asked.asks_for("A") && asked.asks_for("LIMIT_X") && !asked.asks_for("B"));
        assert!(!asked.relates_values);
        assert!(RequestedValues::read(r#"{"anyOf": [{"required": ["A"]}]}"#, &|_| false).relates_values);
        assert!(RequestedValues::read(r#"{"additionalProperties": {"type": "string"}}"#, &|_| false).asks_for("X"));
    }

    #[test]
    fn a_sensitive_value_is_not_revealed() {
        let schema =
            r#"{"properties": {"A": {"writeOnly": true, "default": "secret", "const": "secret", "type": "string"}}}"#;
        let asked = RequestedValues::read(schema, &|_| false);
        let property = &asked.properties["A"];
        assert_eq!((property.requirements.as_str(), &property.default), ("string", &None));
    }
}
