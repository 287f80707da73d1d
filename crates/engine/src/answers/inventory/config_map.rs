//! What a `ConfigMap` gives to which assignments.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::diagnostic::{FieldPart, Origin};
use model::field_path::FieldPath;
use model::name::ConfigMapName;

use super::partition::partition;
use super::{AssignmentSet, Inventory};
use crate::answers::explain::shown;
use crate::compose::container::{Container, Entry};
use crate::sensitive::redaction;

/// The part of a `ConfigMap` in compositions.
#[derive(Clone, Debug)]
pub struct ConfigMapFacts {
    /// The label pairs that an assignment must have. Empty for a map whose keys contain the labels.
    pub conditions: Vec<(Arc<str>, Arc<str>)>,
    /// The priority. None for a map whose keys contain the labels: its values come last.
    pub priority: Option<i64>,
    /// The values that it sets.
    pub values: Vec<ConfigMapValue>,
    /// The assignments that it gives a value to.
    pub set: AssignmentSet,
}

/// A value that a `ConfigMap` sets.
#[derive(Clone, Debug)]
pub struct ConfigMapValue {
    /// The key in compositions.
    pub key: Arc<str>,
    /// The value for display. A digest for a sensitive value.
    pub shown: String,
    /// The place of the value.
    pub origin: Origin,
}

impl Inventory<'_> {
    /// The part of a `ConfigMap` in compositions. None if it takes no part.
    pub fn config_map(&self, name: &ConfigMapName) -> Option<ConfigMapFacts> {
        let containers = self.containers_of(name);
        let first = containers.first()?;
        let conditions: Vec<_> = match &containers[..] {
            [one] if one.priority().is_some() => one.conditions.iter().cloned().collect(),
            _ => Vec::new(),
        };
        let values = |container: &Arc<Container>| {
            let value = |entry| self.value_of(container, entry);
            container.entries.iter().map(value).collect::<Vec<_>>()
        };
        let values = containers.iter().flat_map(values).collect();
        let set = self.of_containers(&containers);
        Some(ConfigMapFacts { conditions, priority: first.priority(), values, set })
    }

    fn value_of(&self, container: &Container, entry: &Entry) -> ConfigMapValue {
        let path = FieldPath::from([&*entry.key]);
        let is_sensitive = redaction::covers(&self.prepared.sensitive_anywhere, &path);
        let value = &entry.value.value;
        let shown = if is_sensitive { redaction::digest(value) } else { shown(value) };
        ConfigMapValue { key: Arc::clone(&entry.key), shown, origin: container.origin(entry, FieldPart::Value) }
    }

    /// The assignments that a `ConfigMap` gives values to. None if it takes no part in compositions.
    pub fn of_config_map(&self, name: &ConfigMapName) -> Option<AssignmentSet> {
        let containers = self.containers_of(name);
        (!containers.is_empty()).then(|| self.of_containers(&containers))
    }

    pub(super) fn containers_of(&self, name: &ConfigMapName) -> Vec<Arc<Container>> {
        let containers = &self.prepared.containers;
        if self.prepared.fleet().duplicates.is_empty() {
            return containers.of_config_map(name);
        }
        // It is undefined which one of several copies applies, so all of them count.
        containers.list.iter().filter(|container| container.name == *name).map(Arc::clone).collect()
    }

    /// The assignments that match at least one of these containers.
    fn of_containers(&self, containers: &[Arc<Container>]) -> AssignmentSet {
        let mut different: Vec<Arc<Container>> = Vec::new();
        let mut seen = BTreeSet::new();
        for container in containers {
            if seen.insert(container.conditions.iter().cloned().collect::<Vec<_>>()) {
                different.push(Arc::clone(container));
            }
        }
        if let [one] = &different[..] {
            return self.meeting(&one.conditions);
        }
        let parts = partition(self, &different, &self.all());
        let mut set = AssignmentSet::default();
        for (_, part) in parts.into_iter().filter(|(matching, _)| !matching.is_empty()) {
            set.products.extend(part.products);
        }
        set
    }
}
