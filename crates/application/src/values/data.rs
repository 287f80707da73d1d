//! Merged values as JSON, which every program reads as YAML.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::yaml::Resolved;
use serde_json::{Map, Number, Value};

use super::merge::{MergedValue, ValueContent};

/// The values as a JSON object.
///
/// # Errors
/// The first value that JSON can't express: infinity, or not a number.
pub fn json(values: &BTreeMap<Arc<str>, MergedValue>) -> Result<Value, Box<Diagnostic>> {
    let entry = |(key, value): (&Arc<str>, &MergedValue)| Ok::<_, Box<Diagnostic>>((key.to_string(), of_value(value)?));
    Ok(Value::Object(values.iter().map(entry).collect::<Result<Map<_, _>, _>>()?))
}

fn of_value(value: &MergedValue) -> Result<Value, Box<Diagnostic>> {
    Ok(match &value.content {
        ValueContent::Map(map) => json(map)?,
        ValueContent::List(items) => Value::Array(items.iter().map(of_value).collect::<Result<_, _>>()?),
        ValueContent::Scalar(scalar) => match scalar.resolve() {
            Resolved::Null => Value::Null,
            Resolved::Bool(bool) => Value::Bool(bool),
            Resolved::Int(int) => Value::Number(int.into()),
            Resolved::Uint(int) => Value::Number(int.into()),
            Resolved::Text(text) => Value::String(text.into_owned()),
            Resolved::Float(float) => Value::Number(Number::from_f64(float).ok_or_else(|| {
                let message = format!("`{}` can't be passed to a chart", scalar.text);
                let place = Origin::Span(value.place.file, value.place.span);
                Box::new(
                    Diagnostic::error(Code::ValuesTree, message)
                        .at(place, "")
                        .help("write a number, or a text in quotes"),
                )
            })?),
        },
    })
}
