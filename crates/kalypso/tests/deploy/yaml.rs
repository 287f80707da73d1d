//! Reads YAML as Kubernetes and Helm do: as JSON values.

use model::yaml::{Node, NodeValue, Options, Resolved, read};
use serde_json::{Map, Value as Json};

/// The documents of a text without problems.
#[track_caller]
pub(crate) fn documents(text: &str) -> Vec<Json> {
    let reading = read(text, &Options::OBJECTS);
    assert!(reading.problems.is_empty(), "{:?}\n{text}", reading.problems);
    reading.documents.iter().map(|document| json(&document.root)).collect()
}

/// The only document of a text.
#[track_caller]
pub(crate) fn document(text: &str) -> Json {
    let mut documents = documents(text);
    assert_eq!(documents.len(), 1, "{text}");
    documents.remove(0)
}

fn json(node: &Node) -> Json {
    match &node.value {
        NodeValue::Sequence(items) => items.iter().map(json).collect(),
        NodeValue::Mapping(entries) => {
            let name = |key: &Node| key.as_scalar().unwrap().text.to_string();
            Json::Object(entries.iter().map(|(key, value)| (name(key), json(value))).collect::<Map<_, _>>())
        }
        NodeValue::Scalar(scalar) => match scalar.resolve() {
            Resolved::Null => Json::Null,
            Resolved::Bool(bool) => bool.into(),
            Resolved::Int(number) => number.into(),
            Resolved::Uint(number) => number.into(),
            Resolved::Float(number) => number.into(),
            Resolved::Text(text) => text.into(),
        },
    }
}
