//! Explains why a `ConfigMap` that applies does not set a value.

use std::sync::Arc;

use model::diagnostic::{AssignmentId, FieldPart, Origin};
use model::field_path::FieldStep;
use model::name::ConfigMapName;

use crate::answers::explain::ValueReason;
use crate::compile::Prepared;
use crate::compose::container::{Container, Entry};
use crate::settings::Strategy;

/// What becomes of a key of a `ConfigMap` in an assignment.
#[derive(Debug)]
pub struct ValueStanding {
    /// The explanation of the value.
    pub reason: ValueReason,
    /// The place of the key in the `ConfigMap`.
    pub origin: Option<Origin>,
    /// Whether the `ConfigMap` sets the value.
    pub standing: Standing,
    /// The keys of the `ConfigMap`, if it does not have this one.
    pub keys: Vec<Arc<str>>,
}

/// Whether a `ConfigMap` sets a value.
#[derive(Debug)]
pub enum Standing {
    /// It sets the value.
    Sets,
    /// It sets a part of the value, together with others.
    SetsPart,
    /// Another one overrides it.
    Overridden(Winner),
    /// It does not have the key.
    WithoutKey,
}

/// A `ConfigMap` that overrides another one.
#[derive(Debug)]
pub struct Winner {
    /// The `ConfigMap`.
    pub container: ConfigMapName,
    /// The place of its value.
    pub origin: Origin,
    /// The priorities of the overridden one, and of this one. None for keys of an `azure-app-config` map.
    pub priorities: [Option<i64>; 2],
    /// Whether this one replaces the value as a whole, instead of merging it.
    pub replaces: bool,
}

impl Prepared {
    /// Explains what becomes of a key of a `ConfigMap` that applies to an assignment. None if there is no such assignment.
    pub fn why_not_set(&self, id: &AssignmentId, (name, key): (&str, &str)) -> Option<ValueStanding> {
        let reason = self.explain_value(id, key)?;
        let of_name = |container: &&Arc<Container>| container.name.as_str() == name;
        let named: Vec<_> = self.containers.list.iter().filter(of_name).collect();
        let first = match reason.path.steps().first() {
            Some(FieldStep::Key(key)) => Arc::clone(key),
            _ => key.into(),
        };
        let entry_of = |container: &&Arc<Container>| container.entries.iter().find(|entry| entry.key == first).cloned();
        // The last one in merge order with the key.
        let own: Option<(&Arc<Container>, Entry)> =
            named.iter().rev().find_map(|container| Some((*container, entry_of(container)?)));
        let Some((container, entry)) = own else {
            let keys = named.iter().flat_map(|container| &container.entries).map(|entry| Arc::clone(&entry.key));
            let keys = keys.collect();
            return Some(ValueStanding { reason, origin: None, standing: Standing::WithoutKey, keys });
        };
        let origin = Some(container.origin(&entry, FieldPart::Value));
        let is_own = |source: &crate::answers::explain::ValueSource| source.container.as_str() == name;
        let standing = if reason.set_by.as_ref().is_some_and(is_own) {
            Standing::Sets
        } else if reason.composed_of.iter().any(|part| is_own(&part.source)) {
            Standing::SetsPart
        } else {
            match self.winner(&reason, (container, &first)) {
                Some(winner) => Standing::Overridden(winner),
                None => Standing::WithoutKey,
            }
        };
        Some(ValueStanding { reason, origin, standing, keys: Vec::new() })
    }

    fn winner(&self, reason: &ValueReason, (own, key): (&Container, &str)) -> Option<Winner> {
        let mut parts = reason.composed_of.iter().map(|part| &part.source);
        let mut others = reason.overrides.iter().filter(|source| source.container != own.name);
        let source = reason.set_by.as_ref().or_else(|| parts.next_back()).or_else(|| others.next())?;
        let winner = self.containers.list.iter().rev().find(|container| {
            container.name == source.container && container.entries.iter().any(|entry| *entry.key == *key)
        })?;
        let entry = winner.entries.iter().find(|entry| *entry.key == *key)?;
        Some(Winner {
            container: winner.name.clone(),
            origin: source.origin.clone(),
            priorities: [own.priority(), winner.priority()],
            replaces: entry.strategy == Strategy::Replace,
        })
    }
}
