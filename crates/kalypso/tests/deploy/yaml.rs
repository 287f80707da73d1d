//! Reads YAML as Kubernetes and Helm do: as JSON values.

use model::yaml::{YamlOptions, read};
use serde_json::Value as Json;
use testkit::yaml_json::json;

/// The documents of a text without problems.
#[track_caller]
pub(crate) fn documents(text: &str) -> Vec<Json> {
    let reading = read(text, &YamlOptions::OBJECTS);
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
