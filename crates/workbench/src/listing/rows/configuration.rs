//! Values, schemas and templates.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::count::{count, thousands};
use model::name::RegistrationName;
use model::object::{ConfigMap, Object, Template};
use model::object_key::ObjectKey;
use serde::Serialize;
use utoipa::ToSchema;

use super::{KindFields, ListColumns, columns};
use crate::listing::view::{Pairs, View};

/// A `ConfigMap`.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfigFields {
    /// Whether its values are used: the label `platform-config`, or a name that begins with `azure-app-config`.
    pub takes_part: bool,
    /// The labels that an assignment must have, as in `metadata.labels`; empty if the keys contain the labels.
    #[serde(rename = "for")]
    pub conditions: Pairs,
    /// Its priority; `null` if the keys contain the labels.
    pub priority: Option<i64>,
    /// The keys that it sets.
    pub keys: Vec<String>,
    /// How many assignments it reaches.
    pub assignments: usize,
}

impl ConfigFields {
    pub(super) fn new(object: &Object<ConfigMap>, view: &View<'_>) -> Self {
        let Some(facts) = view.inventory.config_map(&object.name) else {
            let keys = object.spec.data.keys().map(ToString::to_string).collect();
            return Self { takes_part: false, conditions: Pairs::new(), priority: None, keys, assignments: 0 };
        };
        let keys: BTreeSet<&str> = facts.values.iter().map(|value| &*value.key).collect();
        Self {
            takes_part: true,
            conditions: condition_pairs(&facts.conditions),
            priority: facts.priority,
            keys: keys.into_iter().map(str::to_owned).collect(),
            assignments: view.inventory.len(&facts.set),
        }
    }

    fn conditions_text(&self) -> String {
        match (self.takes_part, self.priority) {
            (false, _) => "(takes no part)".to_owned(),
            (true, None) => "(labels in keys)".to_owned(),
            (true, Some(_)) => conditions_text(&self.conditions),
        }
    }
}

impl KindFields for ConfigFields {
    const COLUMNS: ListColumns = columns(&["NAME", "FOR", "PRIORITY", "KEYS", "ASSIGNMENTS"], &["SOURCE"]);

    fn cells(&self) -> Vec<String> {
        vec![
            self.conditions_text(),
            self.priority.map_or_else(|| "-".to_owned(), |priority| priority.to_string()),
            thousands(self.keys.len()),
            thousands(self.assignments),
        ]
    }
}

/// A `ConfigSchema`.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SchemaFields {
    /// The labels that an assignment must have, as in `metadata.labels`.
    #[serde(rename = "for")]
    pub conditions: Pairs,
    /// The registration whose repository contains it; `null` for a schema of the platform.
    pub registration: Option<String>,
    /// How many assignments it reaches.
    pub assignments: usize,
}

impl SchemaFields {
    pub(super) fn new(key: &ObjectKey, view: &View<'_>) -> Self {
        Self {
            conditions: condition_pairs(&view.inventory.conditions_of_schema(key)),
            registration: key.of.as_ref().map(RegistrationName::to_string),
            assignments: view.inventory.len(&view.inventory.of_schema(key)),
        }
    }
}

impl KindFields for SchemaFields {
    const COLUMNS: ListColumns = columns(&["NAME", "FOR", "REGISTRATION", "ASSIGNMENTS"], &["SOURCE"]);

    fn cells(&self) -> Vec<String> {
        vec![
            conditions_text(&self.conditions),
            self.registration.as_deref().unwrap_or("-").to_owned(),
            thousands(self.assignments),
        ]
    }
}

/// A template.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TemplateFields {
    /// `reconciler`, `namespace` or `config`.
    #[serde(rename = "type")]
    pub kind: String,
    /// How many manifests it has.
    pub manifests: usize,
    /// How many cluster types use it.
    pub cluster_types: usize,
}

impl TemplateFields {
    pub(super) fn new(object: &Object<Template>, view: &View<'_>) -> Self {
        let name = object.name.as_arc();
        let users = view.fleet().cluster_types.values().filter(|cluster_type| {
            let spec = &cluster_type.spec;
            [&spec.reconciler, &spec.namespace_service, &spec.config_type].contains(&name)
        });
        let (kind, manifests) = (object.spec.kind.to_string(), object.spec.manifests.len());
        Self { kind, manifests, cluster_types: users.count() }
    }
}

impl KindFields for TemplateFields {
    const COLUMNS: ListColumns = columns(&["NAME", "TYPE", "USED-BY"], &["SOURCE"]);

    fn cells(&self) -> Vec<String> {
        vec![self.kind.clone(), count(self.cluster_types, "cluster type")]
    }
}

fn condition_pairs(conditions: &[(Arc<str>, Arc<str>)]) -> Pairs {
    conditions.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
}

/// Conditions of a container or schema, as labels.
fn conditions_text(conditions: &Pairs) -> String {
    let shown: Vec<_> = conditions.iter().map(|(key, value)| format!("{key}={value}")).collect();
    if shown.is_empty() { "all".to_owned() } else { shown.join(",") }
}
