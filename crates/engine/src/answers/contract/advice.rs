//! Advice for a value that is missing: a container that has it elsewhere, or a similar key.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::diagnostic::{FieldPart, Origin};
use model::similar;

use super::Contracts;
use super::rows::Row;
use super::supply::EntryAt;
use crate::schedule::matching::{is_met_by_assigned, is_met_by_place};
use crate::schedule::place::Place;
use crate::schedule::target::Target;

/// The maximum number of containers that are compared, and that are named.
const COMPARED_MAX: usize = 5_000;
const NAMED_MAX: usize = 3;

/// Advice for a value that is missing.
#[derive(Debug)]
pub enum Advice {
    /// A container has the key, and does not apply to an assignment where it is missing.
    Elsewhere {
        /// The container, for display.
        container: String,
        /// The place of the value.
        origin: Origin,
        /// An assignment where the key is missing, for display.
        assignment: String,
        /// The conditions that this assignment does not meet.
        unmet: Vec<UnmetLabel>,
    },
    /// An assignment where the key is missing gets a similar key, which no schema asks for.
    Spelling {
        /// The similar key.
        key: Arc<str>,
        /// The container, for display.
        container: String,
        /// The place of the similar key.
        origin: Origin,
    },
}

/// A label that an assignment would need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmetLabel {
    /// The label that the container has.
    pub key: Arc<str>,
    /// Its value.
    pub value: Arc<str>,
    /// The value that the assignment has. None if neither its place nor its target has the label.
    pub actual: Option<Arc<str>>,
    /// Whether the label is only spelled differently: the value, or the key with the same value.
    pub is_near: bool,
    /// The place of the label.
    pub origin: Origin,
}

impl Contracts<'_> {
    /// Advice for the first assignment where a key is missing. Empty if it is missing nowhere.
    pub(super) fn advice(&self, key: &str, row: &Row) -> Vec<Advice> {
        let missing = row.targets.iter().find_map(|(target, of)| Some((of.missing.min()?, *target)));
        let Some((place_id, target_id)) = missing else { return Vec::new() };
        let Some(place) = self.prepared.place(place_id) else { return Vec::new() };
        let target = self.target(target_id);
        let mut advice = self.similar_keys(key, (place_id, target_id));
        advice.extend(self.elsewhere(key, place, target));
        advice
    }

    fn elsewhere(&self, key: &str, place: &Place, target: &Target) -> Vec<Advice> {
        let entries = self.supply.entries(key).iter().take(COMPARED_MAX);
        let mut ranked: Vec<_> = entries.map(|at| (self.unmet(*at, place, target), *at)).collect();
        ranked.sort_by_key(|(unmet, at)| (unmet.iter().filter(|label| !label.is_near).count(), unmet.len(), *at));
        let named = ranked.into_iter().take(NAMED_MAX).map(|(unmet, at)| Advice::Elsewhere {
            container: self.supply.container(at).display_name(),
            origin: self.supply.container(at).origin(self.supply.entry(at), FieldPart::Value),
            assignment: format!("{}/{}", place.name_text(), target.name),
            unmet,
        });
        named.collect()
    }

    fn unmet(&self, at: EntryAt, place: &Place, target: &Target) -> Vec<UnmetLabel> {
        let container = self.supply.container(at);
        let is_unmet = |(key, value): &&(Arc<str>, Arc<str>)| {
            !is_met_by_place(key, value, place) && !is_met_by_assigned(key, value, target)
        };
        let unmet = container.conditions.iter().filter(is_unmet).map(|(key, value)| {
            let actual = actual(key, place, target);
            let is_near = match &actual {
                // A value that others have is another value, and no other spelling.
                Some(actual) => !self.is_known(key, value) && similar::nearest(value, [&**actual]).is_some(),
                None => has_near_key(key, value, place, target),
            };
            let origin = container.condition_origin(key);
            UnmetLabel { key: Arc::clone(key), value: Arc::clone(value), actual, is_near, origin }
        });
        unmet.collect()
    }

    /// Whether any place or target meets a condition.
    fn is_known(&self, key: &str, value: &str) -> bool {
        let prepared = self.prepared;
        match key {
            "cluster-type" => prepared.fleet.cluster_types.contains_key(value),
            "cluster" => prepared.fleet.clusters.contains_key(value),
            "deployment-target" => prepared.target_id(value).is_some(),
            _ => prepared.place_index.has(key, value) || prepared.target_index.has(key, value),
        }
    }

    /// Similar keys that an assignment gets, and no schema of its target asks for.
    fn similar_keys(&self, key: &str, (place, target): (u32, u32)) -> Vec<Advice> {
        let (containers, _) = self.prepared.inputs_of(place, target);
        let mut keys = BTreeMap::new();
        for container in &containers {
            keys.extend(container.entries.iter().map(|entry| (&*entry.key, (container, entry))));
        }
        let schemas = self.schemas_of(self.target(target));
        let is_free = |name: &&str| !schemas.iter().any(|(id, places)| places.contains(place) && self.asks(*id, name));
        let names: Vec<_> = keys.keys().copied().filter(is_free).collect();
        let is_spelling = |name: &&&str| name.eq_ignore_ascii_case(key) || similar::is_spelling_of(key, name);
        let near = names.iter().find(is_spelling).copied();
        let near = near.or_else(|| similar::nearest(key, names.iter().copied()));
        let found = near.and_then(|near| Some((near, keys.get(near)?)));
        let advice = found.map(|(near, (container, entry))| Advice::Spelling {
            key: near.into(),
            container: container.display_name(),
            origin: container.origin(entry, FieldPart::Key),
        });
        advice.into_iter().collect()
    }
}

/// The value that an assignment has for the key of a condition.
fn actual(key: &str, place: &Place, target: &Target) -> Option<Arc<str>> {
    match key {
        "cluster-type" => Some(Arc::clone(place.cluster_type.name.as_arc())),
        "cluster" if place.cluster.is_some() => Some(Arc::clone(place.name_text())),
        "deployment-target" => Some(Arc::clone(target.name.as_arc())),
        _ => place.label(key).or_else(|| target.labels.get(key)).cloned(),
    }
}

/// Whether an assignment has the value under a key that is spelled differently.
fn has_near_key(key: &str, value: &str, place: &Place, target: &Target) -> bool {
    let labels = place.labels_iter().chain(target.labels.iter());
    let mut same = labels.filter(|(_, other)| ***other == *value).map(|(key, _)| &**key);
    same.any(|other| similar::nearest(key, [other]).is_some() || similar::is_spelling_of(other, key))
}
