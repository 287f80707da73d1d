//! Decodes the data of a case like Go's yaml.v3.

use gotemplate::Value;
use gotemplate::value::UintKind;

/// Integers become `int`, or `uint64` above the range of `int`. Numbers with a point or an exponent become `float64`, objects `map[string]interface {}`.
pub(crate) fn decode(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Nil,
        serde_json::Value::Bool(bool) => Value::Bool(*bool),
        serde_json::Value::Number(number) => decode_number(&number.to_string()),
        serde_json::Value::String(text) => Value::text(text.as_str()),
        serde_json::Value::Array(items) => Value::list(items.iter().map(decode).collect()),
        serde_json::Value::Object(entries) => {
            Value::dict(entries.iter().map(|(key, value)| (key.as_str(), decode(value))))
        }
    }
}

fn decode_number(written: &str) -> Value {
    match (written.parse::<i64>(), written.parse::<u64>()) {
        (Ok(int), _) => Value::int(int),
        (_, Ok(uint)) => Value::Uint(uint, UintKind::Uint64),
        _ => Value::Float(written.parse().unwrap_or(f64::NAN)),
    }
}
