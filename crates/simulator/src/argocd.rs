//! Renders notifications of Argo CD with the template in `deploy/argocd`, in the same way as Argo CD.

use gotemplate::{RenderLimits, Template, Value};
use model::yaml::{Node, YamlOptions, read};
use serde_json::Value as Json;

/// The `ConfigMap` with the template.
const CONFIG_MAP: &str = include_str!("../../../deploy/argocd/notifications.yaml");

/// The body of the webhook for an Application of a cluster.
///
/// # Errors
/// If the `ConfigMap` has no template, or the template fails.
pub fn notification(application: &Json, cluster: &str) -> Result<String, String> {
    let config_map = document(CONFIG_MAP)?;
    let template = document(&text(&config_map, &["data", "template.kalypso-report"])?)?;
    let body = text(&template, &["webhook", "kalypso", "body"])?;
    let data = Value::dict([
        ("app", value(application)),
        ("context", Value::text_map([("cluster", cluster)])),
        ("serviceType", Value::text("kalypso")),
    ]);
    let template = Template::parse("body", &body).map_err(|error| error.to_string())?;
    let body = template.render(&data, &RenderLimits::default()).map_err(|error| error.to_string())?;
    String::from_utf8(body).map_err(|error| error.to_string())
}

fn document(yaml: &str) -> Result<Node, String> {
    let reading = read(yaml, &YamlOptions::OBJECTS);
    if let Some(problem) = reading.problems.first() {
        return Err(format!("{problem:?}"));
    }
    reading.documents.into_iter().next().map(|document| document.root).ok_or_else(|| "no document".to_owned())
}

fn text(node: &Node, path: &[&str]) -> Result<String, String> {
    let node = path.iter().try_fold(node, |node, key| node.get(key));
    let scalar = node.and_then(Node::as_scalar).ok_or_else(|| format!("there is no text at {}", path.join(".")))?;
    Ok(scalar.text.to_string())
}

/// Converts JSON to a value for templates, like the client of Kubernetes does for objects without types.
fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Nil,
        Json::Bool(bool) => Value::Bool(*bool),
        Json::Number(number) => {
            number.as_i64().map_or_else(|| Value::Float(number.as_f64().unwrap_or_default()), Value::int64)
        }
        Json::String(text) => Value::text(text.as_str()),
        Json::Array(items) => Value::list(items.iter().map(value).collect()),
        Json::Object(entries) => Value::dict(entries.iter().map(|(key, entry)| (key.as_str(), value(entry)))),
    }
}
