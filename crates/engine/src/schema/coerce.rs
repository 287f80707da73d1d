//! Converts values for schemas: texts that look like numbers become numbers, unless the schema requires a text.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use gotemplate::Text;
use gotemplate::value::{Key, Value};
use jsonschema::Validator;
use serde_json::{Map, Number, Value as Json};

use super::patterns;
use super::references::References;
use crate::compose::Composition;
use crate::compose::record::key_text;

/// The JSON types that a schema allows for a property, beside numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Types {
    text: bool,
    boolean: bool,
}

impl Types {
    fn add(&mut self, name: &str) {
        self.text |= name == "string";
        self.boolean |= name == "boolean";
    }

    fn add_type_of(&mut self, value: &Json) {
        self.text |= value.is_string();
        self.boolean |= value.is_boolean();
    }

    fn is_empty(self) -> bool {
        !self.text && !self.boolean
    }

    fn and(self, other: Self) -> Self {
        Self { text: self.text | other.text, boolean: self.boolean | other.boolean }
    }
}

/// The types that a schema gives to top-level properties.
#[derive(Debug, Default)]
pub(super) struct TypesByName {
    named: BTreeMap<String, Types>,
    open: Vec<OpenTypes>,
}

/// The types of properties by patterns, and of properties that one schema does not name.
#[derive(Debug)]
struct OpenTypes {
    names: BTreeSet<String>,
    patterns: Vec<(Validator, Types)>,
    additional: Types,
}

/// Reads the types of a schema's top-level properties: from `type`, `enum` and `const`, in `properties`, `patternProperties` and `additionalProperties`, also
/// through `$ref`, `allOf`, `anyOf`, `oneOf`, `if`, `then`, `else` and `dependencies`.
pub(super) fn types<'a>(references: &References<'a>, root: &'a Json) -> TypesByName {
    let mut found = TypesByName::default();
    each_possible(references, root, &mut |schema| {
        let entries = |keyword| schema.get(keyword).and_then(Json::as_object).into_iter().flatten();
        for (name, property) in entries("properties") {
            let named = found.named.entry(name.clone()).or_default();
            *named = named.and(types_of(references, property));
        }
        let patterns = entries("patternProperties").filter_map(|(pattern, property)| {
            let types = types_of(references, property);
            (!types.is_empty()).then(|| Some((patterns::validator(pattern)?, types)))?
        });
        let (patterns, additional) = (patterns.collect::<Vec<_>>(), schema.get("additionalProperties"));
        let additional = additional.map(|property| types_of(references, property)).unwrap_or_default();
        if !patterns.is_empty() || !additional.is_empty() {
            let names = entries("properties").map(|(name, _)| name.clone()).collect();
            found.open.push(OpenTypes { names, patterns, additional });
        }
    });
    found
}

fn types_of<'a>(references: &References<'a>, property: &'a Json) -> Types {
    let mut types = Types::default();
    each_possible(references, property, &mut |schema| {
        match schema.get("type") {
            Some(Json::String(name)) => types.add(name),
            Some(Json::Array(names)) => names.iter().filter_map(Json::as_str).for_each(|name| types.add(name)),
            _ => {}
        }
        let values = schema.get("enum").and_then(Json::as_array).into_iter().flatten();
        values.chain(schema.get("const")).for_each(|value| types.add_type_of(value));
    });
    types
}

/// Calls `visit` once for a schema, and once for each schema that can require something of the same value.
fn each_possible<'a>(references: &References<'a>, schema: &'a Json, visit: &mut dyn FnMut(&'a Json)) {
    let (mut seen, mut open) = (HashSet::new(), vec![schema]);
    while let Some(schema) = open.pop() {
        if !seen.insert(std::ptr::from_ref(schema)) {
            continue;
        }
        visit(schema);
        open.extend(references.targets(schema));
        for keyword in ["allOf", "anyOf", "oneOf"] {
            open.extend(schema.get(keyword).and_then(Json::as_array).into_iter().flatten());
        }
        open.extend(["if", "then", "else"].iter().filter_map(|keyword| schema.get(keyword)));
        for keyword in ["dependencies", "dependentSchemas"] {
            open.extend(schema.get(keyword).and_then(Json::as_object).into_iter().flatten().map(|(_, schema)| schema));
        }
    }
}

impl OpenTypes {
    fn types(&self, key: &str) -> Types {
        let name = if self.patterns.is_empty() { Json::Null } else { Json::from(key) };
        let matching = self.patterns.iter().filter(|(pattern, _)| pattern.is_valid(&name)).map(|(_, types)| *types);
        match matching.reduce(Types::and) {
            Some(types) => types,
            None if self.names.contains(key) => Types::default(),
            None => self.additional,
        }
    }
}

impl TypesByName {
    /// Whether the schema gives a key the type of texts.
    pub(super) fn allow_text(&self, key: &str) -> bool {
        self.types(key).text
    }

    fn types(&self, key: &str) -> Types {
        let named = self.named.get(key).copied().unwrap_or_default();
        self.open.iter().fold(named, |types, open| types.and(open.types(key)))
    }

    /// Sets top-level values to the form that the schema gives to them. Returns the forms that they had.
    pub(super) fn apply(&self, composition: &Composition, json: &mut Json) -> Forms {
        let converted = |name: &str, value: &Value, types: Types| {
            let (Value::Text(text), form) = (value, json.get(name)?) else { return None };
            let converted = if types.text && form.is_string() {
                return None;
            } else if types.text {
                Json::String(text.to_str().into_owned())
            } else if types.boolean && form.is_string() && !is_quoted(composition, name) {
                boolean(&text.to_str())?
            } else {
                return None;
            };
            Some((name.to_owned(), converted))
        };
        let forms = if self.open.is_empty() {
            let typed = self.named.iter().filter(|(_, types)| !types.is_empty());
            typed.filter_map(|(name, types)| converted(name, composition.get(name)?, *types)).collect()
        } else {
            let of_entry = |(key, value): (&Key, &Value)| {
                let Key::Text(name) = key else { return None };
                let name = name.to_str();
                converted(&name, value, self.types(&name))
            };
            composition.entries().iter().filter_map(of_entry).collect()
        };
        set(&forms, json)
    }

    /// The other form that the schema gives to a top-level value. None if it gives only one.
    pub(super) fn other_form(&self, composition: &Composition, name: &str, form: &Json) -> Option<Json> {
        let Some(Value::Text(text)) = composition.get(name) else { return None };
        if is_quoted(composition, name) {
            return None;
        }
        let (text, types) = (text.to_str(), self.types(name));
        match form {
            Json::String(_) if types.boolean && boolean(&text).is_some() => boolean(&text),
            Json::String(_) => number(&text).ok().flatten(),
            _ if types.text || form.is_boolean() => Some(Json::String(text.into_owned())),
            _ => None,
        }
    }
}

/// Forms of top-level values, by key.
pub(super) type Forms = BTreeMap<String, Json>;

/// Sets top-level values. Returns the forms that they had.
pub(super) fn set(forms: &Forms, json: &mut Json) -> Forms {
    let mut replace = |(name, form): (&String, &Json)| {
        let slot = json.get_mut(name)?;
        Some((name.clone(), std::mem::replace(slot, form.clone())))
    };
    forms.iter().filter_map(&mut replace).collect()
}

fn boolean(text: &str) -> Option<Json> {
    match text {
        "true" => Some(Json::Bool(true)),
        "false" => Some(Json::Bool(false)),
        _ => None,
    }
}

/// A composition as JSON.
#[derive(Clone, Debug)]
pub(crate) struct JsonData {
    /// The values. Top-level texts that look like numbers are numbers, unless they were in single quotes.
    pub(crate) object: Json,
    /// The keys of texts that look like a number that JSON does not have (`nan`, `inf`). They satisfy only schemas that require a text.
    pub(crate) not_json: Vec<String>,
}

impl JsonData {
    /// Converts a composition to JSON.
    pub(crate) fn from_composition(composition: &Composition) -> Self {
        let entries = composition.entries();
        let (mut object, mut not_json) = (Map::with_capacity(entries.len()), Vec::new());
        for (key, value) in entries {
            let Key::Text(name) = key else { continue };
            let json = match value {
                Value::Text(text) if !composition.quoted.contains(name) => {
                    number(&text.to_str()).unwrap_or_else(|()| {
                        not_json.push(name.to_string());
                        None
                    })
                }
                _ => None,
            };
            object.insert(owned(name), json.unwrap_or_else(|| nested(value)));
        }
        Self { object: Json::Object(object), not_json }
    }
}

fn is_quoted(composition: &Composition, name: &str) -> bool {
    composition.quoted.contains(&name.into())
}

/// Parses a text as a number, by the rules of Go's `ParseInt` in base 10 and `ParseFloat`. None if it is not a number. An error if JSON can't
/// express the number.
fn number(text: &str) -> Result<Option<Json>, ()> {
    if let Ok(number) = text.parse::<i64>() {
        return Ok(Some(number.into()));
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !unsigned.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '.' | 'i' | 'I' | 'n' | 'N')) {
        return Ok(None);
    }
    let word = unsigned.to_ascii_lowercase();
    if matches!(&*word, "inf" | "infinity") || (word == "nan" && unsigned.len() == text.len()) {
        return Err(());
    }
    let is_number = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && unsigned.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE_".contains(&byte));
    if !is_number || unsigned.ends_with('_') || unsigned.contains("__") {
        return Ok(None);
    }
    Ok(text.replace('_', "").parse::<f64>().ok().filter(|number| number.is_finite()).map(float))
}

/// A float as JSON. Whole numbers become integers, as in JSON Schema.
fn float(number: f64) -> Json {
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= EXACT_MAX {
        return Json::from(number as i64);
    }
    Number::from_f64(number).map_or(Json::Null, Json::Number)
}

fn owned(text: &Text) -> String {
    text.to_str().into_owned()
}

/// A value as JSON, without conversion of texts. The recursion is at most as deep as the YAML that the value was read from.
pub(crate) fn nested(value: &Value) -> Json {
    match value {
        Value::Bool(value) => Json::Bool(*value),
        Value::Int(number, _) => (*number).into(),
        Value::Uint(number, _) => (*number).into(),
        Value::Float(number) => float(*number),
        Value::Text(text) => Json::String(owned(text)),
        Value::List(list) => Json::Array(list.items().iter().map(nested).collect()),
        Value::Map(map) => {
            let name = |key: &Key| if let Key::Text(text) = key { owned(text) } else { key_text(key).to_string() };
            Json::Object(map.entries().iter().map(|(key, value)| (name(key), nested(value))).collect())
        }
        _ => Json::Null,
    }
}
