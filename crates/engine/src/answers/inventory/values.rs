//! Finds which assignments have which value of a key.
//!
//! Only containers with the key matter. Assignments that match the same ones of these have the same value, so it is composed once for all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gotemplate::value::Value;
use model::diagnostic::Origin;
use model::field_path::FieldPath;
use model::name::ConfigMapName;
use rayon::prelude::*;

use super::partition::partition;
use super::{AssignmentSet, Inventory};
use crate::answers::explain::{parse_path, shown};
use crate::compose::container::Container;
use crate::compose::trace::{Setting, Trace, collect_leaves, follow};
use crate::sensitive::redaction;

/// A value, and the assignments that have it.
#[derive(Clone, Debug)]
pub struct HeldValue {
    /// The value for display. A digest for a sensitive value. None: these assignments have no value.
    pub shown: Option<String>,
    /// Whether the value is sensitive for any assignment.
    pub is_sensitive: bool,
    /// The containers that set it, in merge order. Several if each of them sets a part.
    pub set_by: Vec<ValueOrigin>,
    /// The assignments.
    pub set: AssignmentSet,
    /// The value if it is a text that is not sensitive.
    text: Option<String>,
}

/// The container that sets a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ValueOrigin {
    /// The container.
    pub config_map: ConfigMapName,
    /// The place of the value in it.
    pub origin: Origin,
}

impl HeldValue {
    /// Whether a text stands for this value: as it is displayed, or without the quotes of a text.
    pub fn is(&self, text: &str) -> bool {
        [&self.shown, &self.text].into_iter().flatten().any(|own| own == text)
    }

    /// The value without the quotes of a text. A digest for a sensitive value.
    pub fn plain(&self) -> Option<&str> {
        self.text.as_deref().or(self.shown.as_deref())
    }
}

impl Inventory<'_> {
    /// The values of a key among the assignments of a set: the most frequent one first. `key` is a path, as for
    /// [`Prepared::explain_value`](crate::compile::Prepared::explain_value).
    pub fn values(&self, key: &str, set: &AssignmentSet) -> Vec<HeldValue> {
        let containers = self.containers_with(key);
        let parts: Vec<_> = partition(self, &containers, set).into_iter().collect();
        let held = |(matching, set): (Vec<u32>, AssignmentSet)| {
            let matching = matching.iter().filter_map(|position| containers.get(*position as usize));
            self.held(key, matching.cloned().collect(), set)
        };
        let held: Vec<_> = parts.into_par_iter().map(held).collect();
        let mut groups: BTreeMap<(Option<String>, Vec<ValueOrigin>), HeldValue> = BTreeMap::new();
        for value in held {
            match groups.get_mut(&(value.shown.clone(), value.set_by.clone())) {
                Some(group) => group.set.products.extend(value.set.products),
                None => drop(groups.insert((value.shown.clone(), value.set_by.clone()), value)),
            }
        }
        let mut counted: Vec<_> = groups.into_values().map(|value| (self.len(&value.set), value)).collect();
        counted.sort_by_key(|(count, value)| (value.shown.is_none(), std::cmp::Reverse(*count)));
        counted.into_iter().map(|(_, value)| value).collect()
    }

    /// Whether any container has a value of a key.
    pub fn has_key(&self, key: &str) -> bool {
        self.containers_with(key).into_iter().any(|container| {
            let data = Trace::record(vec![container]).data;
            follow(&data, parse_path(&data, key).steps()).is_some()
        })
    }

    /// The top-level keys of containers, each with the number of `ConfigMap`s that set it. Only containers that reach assignments of `set` count; None:
    /// all of them.
    pub fn keys(&self, set: Option<&AssignmentSet>) -> BTreeMap<Arc<str>, usize> {
        let mut keys: BTreeMap<Arc<str>, BTreeSet<&ConfigMapName>> = BTreeMap::new();
        let reaches = |container: &Container, set| !self.is_empty(&self.meeting(&container.conditions).and(set));
        let all = self.prepared.containers.list.iter();
        for container in all.filter(|container| set.is_none_or(|set| reaches(container, set))) {
            for entry in &container.entries {
                keys.entry(Arc::clone(&entry.key)).or_default().insert(&container.name);
            }
        }
        keys.into_iter().map(|(key, maps)| (key, maps.len())).collect()
    }

    /// The paths of all values in containers, and the paths above them, as text.
    pub fn key_paths(&self) -> BTreeSet<String> {
        let mut paths = BTreeSet::new();
        for entry in self.prepared.containers.list.iter().flat_map(|container| &container.entries) {
            let mut leaves = Vec::new();
            collect_leaves(&entry.value.value, &mut FieldPath::from([&*entry.key]), &mut leaves);
            for (mut path, _) in leaves {
                while !path.steps().is_empty() && paths.insert(path.to_string()) {
                    path.pop();
                }
            }
        }
        paths
    }

    /// The containers that may set a key, with only the entries that may set it. A key may contain dots, so several entries are possible.
    fn containers_with(&self, key: &str) -> Vec<Arc<Container>> {
        let is_candidate = |name: &str| {
            let rest = key.strip_prefix(name);
            !name.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        let all = self.prepared.containers.list.iter();
        all.filter_map(|container| container.with_keys(is_candidate).map(Arc::new)).collect()
    }

    fn held(&self, key: &str, matching: Vec<Arc<Container>>, set: AssignmentSet) -> HeldValue {
        let trace = Trace::record(matching);
        let path = parse_path(&trace.data, key);
        let value = follow(&trace.data, path.steps());
        let is_sensitive = redaction::covers(&self.prepared.sensitive_anywhere, &path);
        let display = |value: &Value| if is_sensitive { redaction::digest(value) } else { shown(value) };
        let text = match value {
            Some(Value::Text(text)) if !is_sensitive => Some(text.to_str().to_string()),
            _ => None,
        };
        let set_by = if value.is_some() { origins(&trace, &path) } else { Vec::new() };
        HeldValue { shown: value.map(display), is_sensitive, set_by, set, text }
    }
}

/// The containers that set a value.
fn origins(trace: &Trace, path: &FieldPath) -> Vec<ValueOrigin> {
    let origin = |setting: Setting| ValueOrigin { config_map: setting.container.name.clone(), origin: setting.origin };
    let pieces = trace.pieces(path);
    if pieces.is_empty() {
        return trace.settings(path).into_iter().take(1).map(origin).collect();
    }
    pieces.into_iter().map(|(_, setting)| origin(setting)).collect()
}
