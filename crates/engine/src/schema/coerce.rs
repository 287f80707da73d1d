//! Converts values for schemas: texts that look like numbers become numbers, unless the schema requires a text.

use std::collections::BTreeMap;

use gotemplate::Text;
use gotemplate::value::{Key, Value};
use serde_json::{Map, Number, Value as Json};

use super::references::References;
use super::walk;
use crate::compose::Composition;
use crate::record::key_text;

/// The JSON types that a schema allows for a property.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Types {
    pub(super) text: bool,
    boolean: bool,
}

/// The types of a schema's top-level properties, also through `$ref` and `allOf`. Properties that allow neither a text nor a boolean are omitted.
pub(super) fn types<'a>(references: &References<'a>, root: &'a Json) -> BTreeMap<String, Types> {
    let mut properties: BTreeMap<String, Types> = BTreeMap::new();
    walk::each_applied(references, root, &mut |schema| {
        for (name, property) in schema.get("properties").and_then(Json::as_object).into_iter().flatten() {
            walk::each_applied(references, property, &mut |property| {
                let Some(written) = property.get("type") else { return };
                let allows = |name: &str| match written {
                    Json::String(text) => text == name,
                    Json::Array(types) => types.iter().any(|text| text == name),
                    _ => false,
                };
                let types = properties.entry(name.clone()).or_default();
                types.text |= allows("string");
                types.boolean |= allows("boolean");
            });
        }
    });
    properties.retain(|_, types| types.text || types.boolean);
    properties
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
    pub(crate) fn of(composition: &Composition) -> Self {
        let (mut object, mut not_json) = (Map::new(), Vec::new());
        for (key, value) in composition.entries() {
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

/// Converts top-level properties to the types that the schema requires. Returns the previous values of changed properties.
pub(super) fn apply(
    types: &BTreeMap<String, Types>,
    composition: &Composition,
    json: &mut Json,
) -> Vec<(String, Json)> {
    let mut changed = Vec::new();
    for (name, types) in types {
        let (Some(Value::Text(text)), Some(slot)) = (composition.get(name), json.get_mut(name)) else { continue };
        let text = text.to_str();
        let converted = match &*text {
            _ if types.text => Json::String(text.into_owned()),
            "true" if types.boolean && slot.is_string() && !is_quoted(composition, name) => Json::Bool(true),
            "false" if types.boolean && slot.is_string() && !is_quoted(composition, name) => Json::Bool(false),
            _ => continue,
        };
        if *slot != converted {
            changed.push((name.clone(), std::mem::replace(slot, converted)));
        }
    }
    changed
}

/// Restores the values that [`apply`] changed.
pub(super) fn undo(changed: Vec<(String, Json)>, json: &mut Json) {
    for (name, value) in changed {
        if let Some(slot) = json.get_mut(&name) {
            *slot = value;
        }
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
        Value::List(list) => Json::Array(list.items.iter().map(nested).collect()),
        Value::Map(map) => {
            let name = |key: &Key| if let Key::Text(text) = key { owned(text) } else { key_text(key).to_string() };
            Json::Object(map.entries.iter().map(|(key, value)| (name(key), nested(value))).collect())
        }
        _ => Json::Null,
    }
}
