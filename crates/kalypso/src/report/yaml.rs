//! JSON values as YAML.

use gotemplate::value::Value;

/// `json` as a YAML document, keys sorted.
pub fn to_yaml(json: &serde_json::Value) -> String {
    match gotemplate::yaml::to_yaml(&value(json)) {
        Ok(text) => String::from_utf8_lossy(&text).into_owned(),
        // Too large for the limits of templates: JSON is YAML too.
        Err(_) => format!("{json:#}\n"),
    }
}

fn value(json: &serde_json::Value) -> Value {
    use serde_json::Value as Json;
    match json {
        Json::Null => Value::Nil,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => {
            number.as_i64().map_or_else(|| Value::Float(number.as_f64().unwrap_or_default()), Value::int)
        }
        Json::String(text) => Value::text(text.as_str()),
        Json::Array(items) => Value::list(items.iter().map(value).collect()),
        Json::Object(entries) => Value::dict(entries.iter().map(|(key, item)| (key.as_str(), value(item)))),
    }
}
