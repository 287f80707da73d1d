//! JSON values as YAML.

use gotemplate::value::Value;

use workbench::visible::{escaped_json, is_visible};

/// Formats `json` as a YAML document with sorted keys.
pub fn to_yaml(json: &serde_json::Value) -> String {
    let yaml = gotemplate::yaml::to_yaml(&value(json)).ok().map(|text| String::from_utf8_lossy(&text).into_owned());
    // If the value is too large for the limits of templates, or has characters that only JSON can escape everywhere, the result is JSON, which is
    // valid YAML.
    yaml.filter(|text| is_visible(text)).unwrap_or_else(|| escaped_json(format!("{json:#}\n")))
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
