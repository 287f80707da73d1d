//! The columns of values, schemas and templates.

use std::collections::BTreeSet;

use model::object::{ConfigMap, Object, Template};
use model::object_key::ObjectKey;
use serde_json::{Value as Json, json};

use super::super::view::View;
use super::{Columns, Row, columns};
use crate::terminal::{count, thousands};

pub(super) const CONFIG: Columns = columns(&["NAME", "FOR", "PRIORITY", "KEYS", "ASSIGNMENTS"], &["SOURCE"]);
pub(super) const SCHEMA: Columns = columns(&["NAME", "FOR", "REGISTRATION", "ASSIGNMENTS"], &["SOURCE"]);
pub(super) const TEMPLATE: Columns = columns(&["NAME", "TYPE", "USED-BY"], &["SOURCE"]);

/// Conditions of a container or schema, as labels.
pub(crate) fn conditions_text(conditions: &[(std::sync::Arc<str>, std::sync::Arc<str>)]) -> String {
    let shown: Vec<_> = conditions.iter().map(|(key, value)| format!("{key}={value}")).collect();
    if shown.is_empty() { "all".to_owned() } else { shown.join(",") }
}

pub(super) fn config(object: &Object<ConfigMap>, view: &View<'_>) -> Row {
    let Some(facts) = view.inventory.config_map(&object.name) else {
        let keys = object.spec.data.len();
        return Row {
            cells: ["(takes no part)", "-", &thousands(keys), "0"].map(str::to_owned).to_vec(),
            json: json!({"takesPart": false, "for": {}, "priority": null, "keys": object.spec.data.keys().map(|key| &**key).collect::<Vec<_>>(), "assignments": 0}),
        };
    };
    let keys: BTreeSet<&str> = facts.values.iter().map(|value| &*value.key).collect();
    let assignments = view.inventory.len(&facts.set);
    let conditions = match facts.priority {
        Some(_) => conditions_text(&facts.conditions),
        None => "(labels in keys)".to_owned(),
    };
    let labels: serde_json::Map<String, Json> =
        facts.conditions.iter().map(|(key, value)| (key.to_string(), Json::from(&**value))).collect();
    Row {
        cells: vec![
            conditions,
            facts.priority.map_or_else(|| "-".to_owned(), |priority| priority.to_string()),
            thousands(keys.len()),
            thousands(assignments),
        ],
        json: json!({
            "takesPart": true,
            "for": labels,
            "priority": facts.priority,
            "keys": keys,
            "assignments": assignments,
        }),
    }
}

pub(super) fn schema(key: &ObjectKey, view: &View<'_>) -> Row {
    let conditions = view.inventory.conditions_of_schema(key);
    let assignments = view.inventory.len(&view.inventory.of_schema(key));
    let registration = key.of.as_ref().map(model::name::RegistrationName::as_str);
    let labels: serde_json::Map<String, Json> =
        conditions.iter().map(|(key, value)| (key.to_string(), Json::from(&**value))).collect();
    Row {
        cells: vec![conditions_text(&conditions), registration.unwrap_or("-").to_owned(), thousands(assignments)],
        json: json!({"for": labels, "registration": registration, "assignments": assignments}),
    }
}

pub(super) fn template(object: &Object<Template>, view: &View<'_>) -> Row {
    let name = object.name.as_arc();
    let users = view.fleet().cluster_types.values().filter(|cluster_type| {
        let spec = &cluster_type.spec;
        [&spec.reconciler, &spec.namespace_service, &spec.config_type].contains(&name)
    });
    let users = users.count();
    Row {
        cells: vec![object.spec.kind.to_string(), count(users, "cluster type")],
        json: json!({"type": &*object.spec.kind, "manifests": object.spec.manifests.len(), "clusterTypes": users}),
    }
}
