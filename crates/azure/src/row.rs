//! Rows of Resource Graph.

use serde_json::Value;

use crate::problem::PollProblem;

/// The id and the properties of a resource.
pub(crate) fn row(value: Value) -> Result<(String, Value), PollProblem> {
    let missing = |message: &str| PollProblem::new("a row without an id", message);
    let Value::Object(mut row) = value else { return Err(missing("is not an object")) };
    let id = match row.remove("id") {
        Some(Value::String(id)) if !id.is_empty() => id,
        _ => return Err(missing("id: is missing")),
    };
    match row.remove("properties") {
        Some(properties @ Value::Object(_)) => Ok((id, properties)),
        _ => Err(PollProblem::new(id, "properties: are missing")),
    }
}
