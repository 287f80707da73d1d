//! Finds out in which assignments a `ConfigMap` sets a value, and what overrides it in the others.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::diagnostic::{FieldPart, Origin};
use model::name::ConfigMapName;

use super::values::ValueOrigin;
use super::{AssignmentSet, Inventory};
use crate::compose::container::{Container, Containers};
pub use crate::compose::precedence::OverrideReason;

/// In how many assignments a `ConfigMap` sets a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueReach {
    /// The place of the value. None if the map does not take part in compositions, or does not have the key.
    pub origin: Option<Origin>,
    /// The number of assignments that have the labels of the map.
    pub matching: usize,
    /// The number of these assignments in which the map sets the value, or a part of it.
    pub effective: usize,
    /// The values that are used in the others, the most frequent one first.
    pub overriding: Vec<OverridingValue>,
}

/// A value that overrides another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverridingValue {
    /// The `ConfigMap` that sets it.
    pub by: ValueOrigin,
    /// The number of assignments in which it is used.
    pub assignments: usize,
    /// Why it overrides.
    pub reason: OverrideReason,
}

impl ValueReach {
    /// The lowest priority with which the value is used everywhere. None if no priority is enough.
    pub fn priority_above(&self) -> Option<i64> {
        let priorities: Option<Vec<_>> = self.overriding.iter().map(|other| other.reason.priority_above()).collect();
        priorities?.into_iter().max()
    }
}

impl Inventory<'_> {
    /// In how many assignments a `ConfigMap` sets a value. `key` is a key of its `data`.
    pub fn value_reach(&self, name: &ConfigMapName, key: &str) -> ValueReach {
        let containers = self.containers_of(name);
        let has_key = |container: &&Arc<Container>| container.entries.iter().any(|entry| *entry.data_key == *key);
        let Some(container) = containers.iter().find(has_key) else { return ValueReach::default() };
        let Some(entry) = container.entries.iter().find(|entry| *entry.data_key == *key) else {
            return ValueReach::default();
        };
        let set = self.meeting(&container.conditions);
        let mut reach = ValueReach {
            origin: Some(container.origin(entry, FieldPart::Value)),
            matching: self.len(&set),
            ..ValueReach::default()
        };
        let mut others: BTreeMap<ValueOrigin, usize> = BTreeMap::new();
        for (set_by, assignments) in self.setters(&entry.key, &set) {
            if set_by.iter().any(|origin| origin.config_map == *name) {
                reach.effective += assignments;
            } else {
                set_by.into_iter().for_each(|origin| *others.entry(origin).or_default() += assignments);
            }
        }
        let other = |(by, assignments): (ValueOrigin, usize)| {
            let reason = self.override_reason(container, &entry.key, &by.config_map)?;
            Some(OverridingValue { by, assignments, reason })
        };
        reach.overriding = others.into_iter().filter_map(other).collect();
        reach.overriding.sort_by_key(|other| std::cmp::Reverse(other.assignments));
        reach
    }

    /// Who sets a key in the assignments of a set, with the number of assignments.
    fn setters(&self, key: &str, set: &AssignmentSet) -> Vec<(Vec<ValueOrigin>, usize)> {
        let values = self.values(key, set);
        values.into_iter().map(|value| (value.set_by, self.len(&value.set))).collect()
    }

    /// Why the value of another `ConfigMap` overrides that of a container. None: it has no such key.
    fn override_reason(&self, own: &Container, key: &str, by: &ConfigMapName) -> Option<OverrideReason> {
        let Containers { order, list, .. } = &self.prepared.containers;
        let mut named = list.iter().rev().filter(|container| container.name == *by);
        let other = named.find(|container| container.entries.iter().any(|entry| *entry.key == *key))?;
        Some(order.precedence.reason(&own.position, &other.position))
    }
}
