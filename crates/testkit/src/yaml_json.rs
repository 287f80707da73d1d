//! YAML as JSON values, as Kubernetes and checkers of schemas read it.

use model::yaml::{Node, NodeValue, Resolved};
use serde_json::Value;

/// The value of a node. A key that is not a scalar becomes an empty text.
pub fn json(node: &Node) -> Value {
    match &node.value {
        NodeValue::Sequence(items) => items.iter().map(json).collect(),
        NodeValue::Mapping(entries) => {
            let key = |node: &Node| node.as_scalar().map(|scalar| scalar.text.to_string()).unwrap_or_default();
            Value::Object(entries.iter().map(|(name, value)| (key(name), json(value))).collect())
        }
        NodeValue::Scalar(scalar) => match scalar.resolve() {
            Resolved::Null => Value::Null,
            Resolved::Bool(value) => value.into(),
            Resolved::Int(value) => value.into(),
            Resolved::Uint(value) => value.into(),
            Resolved::Float(value) => value.into(),
            Resolved::Text(text) => (*text).into(),
        },
    }
}
