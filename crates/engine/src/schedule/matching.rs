//! Finds the containers and schemas that apply to an assignment, by the label pairs that they require.

use std::collections::HashMap;
use std::sync::Arc;

use crate::compose::container::Conditions;
use crate::schedule::place::Place;
use crate::schedule::target::{Application, Target};

/// The key of a condition that no label meets: the application that a target comes from. Schemas of application repositories have this condition.
pub(crate) const APPLICATION: &str = "application that brings the deployment target";

/// Whether a place meets a condition of a container or schema. Names are not labels: `cluster-type` is always the name of the cluster
/// type. On a cluster, `cluster` is the name of the cluster. Conditions `deployment-target` and `workload` are met only by targets.
pub(crate) fn is_met_by_place(key: &str, value: &str, place: &Place) -> bool {
    match (key, &place.cluster) {
        ("cluster-type", _) => place.cluster_type.name.as_str() == value,
        ("cluster", Some(cluster)) => cluster.name.as_str() == value,
        ("deployment-target" | "workload", _) => false,
        _ => place.label(key).is_some_and(|label| **label == *value),
    }
}

/// Whether a target meets a condition of a container or schema.
pub(crate) fn is_met_by_target(key: &str, value: &str, target: &Target) -> bool {
    match key {
        "cluster-type" | "cluster" => false,
        "deployment-target" => target.name.as_str() == value,
        "workload" => target.workload() == value,
        _ => target.labels.get(key).is_some_and(|label| **label == *value),
    }
}

/// Whether a target meets a condition of a container or schema, also the condition [`APPLICATION`].
pub(crate) fn is_met_by_assigned(key: &str, value: &str, target: &Target) -> bool {
    if key == APPLICATION {
        return target
            .application
            .as_ref()
            .is_some_and(|application| *Application::as_condition(application) == *value);
    }
    is_met_by_target(key, value, target)
}

/// Numeric ids for the label pairs (key and value) that containers and schemas require.
#[derive(Debug, Default)]
pub(crate) struct LabelPairs {
    keys: HashMap<Arc<str>, HashMap<Arc<str>, u32>>,
    count: u32,
}

/// The ids of label pairs, ascending.
pub(crate) type LabelPairSet = Arc<[u32]>;

impl LabelPairs {
    fn get_or_insert(&mut self, key: &Arc<str>, value: &Arc<str>) -> u32 {
        let values = self.keys.entry(Arc::clone(key)).or_default();
        *values.entry(Arc::clone(value)).or_insert_with(|| {
            self.count += 1;
            self.count - 1
        })
    }

    fn get(&self, key: &str, value: &str) -> Option<u32> {
        self.keys.get(key)?.get(value).copied()
    }

    /// The pairs of a place if its label `key` had another value. None: if it had no such label.
    pub(crate) fn with_label(&self, pairs: &[u32], key: &str, value: Option<&str>) -> Vec<u32> {
        let Some(values) = self.keys.get(key) else { return pairs.to_vec() };
        let of_key: std::collections::HashSet<_> = values.values().copied().collect();
        let mut changed: Vec<_> = pairs.iter().copied().filter(|pair| !of_key.contains(pair)).collect();
        changed.extend(value.and_then(|value| self.get(key, value)));
        changed.sort_unstable();
        changed
    }

    /// Writes the ids of the required pairs that a place has into `found`, ascending.
    pub(crate) fn of_place(&self, place: &Place, found: &mut Vec<u32>) {
        found.clear();
        let cluster = place.cluster.as_ref().map(|cluster| cluster.name.as_str());
        let labels = place.labels_iter().filter(|(key, _)| match &***key {
            "cluster-type" | "deployment-target" | "workload" | APPLICATION => false,
            "cluster" => cluster.is_none(),
            _ => true,
        });
        found.extend(labels.filter_map(|(key, value)| self.get(key, value)));
        found.extend(self.get("cluster-type", place.cluster_type.name.as_str()));
        found.extend(cluster.and_then(|name| self.get("cluster", name)));
        found.sort_unstable();
    }

    /// Writes the ids of the required pairs that a target has into `found`, ascending.
    pub(crate) fn of_target(&self, target: &Target, found: &mut Vec<u32>) {
        found.clear();
        let labels = target.labels.iter();
        let labels = labels.filter(|(key, _)| {
            !matches!(&***key, "cluster-type" | "cluster" | "deployment-target" | "workload" | APPLICATION)
        });
        found.extend(labels.filter_map(|(key, value)| self.get(key, value)));
        found.extend(self.get("deployment-target", target.name.as_str()));
        found.extend(self.get("workload", target.workload()));
        let application = target.application.as_ref().map(Application::as_condition);
        found.extend(application.and_then(|application| self.get(APPLICATION, &application)));
        found.sort_unstable();
    }
}

/// An index of containers or schemas by their conditions, to find all whose conditions are met. Each one is stored under its
/// rarest condition. A lookup examines only those whose rarest condition the assignment meets.
#[derive(Debug, Default)]
pub(crate) struct Matcher {
    conditions: Vec<Box<[u32]>>,
    by_pair: HashMap<u32, Vec<u32>>,
    unconditional: Vec<u32>,
}

impl Matcher {
    /// Builds the index for these conditions. Lookups return their positions.
    pub(crate) fn new<'c>(pairs: &mut LabelPairs, all: impl Iterator<Item = &'c Conditions>) -> Self {
        let of_one =
            |conditions: &Conditions| conditions.iter().map(|(key, value)| pairs.get_or_insert(key, value)).collect();
        let conditions: Vec<Box<[u32]>> = all.map(of_one).collect();
        let mut counts: HashMap<u32, usize> = HashMap::new();
        for pair in conditions.iter().flatten() {
            *counts.entry(*pair).or_default() += 1;
        }
        let mut matcher = Self { conditions, ..Self::default() };
        for (position, conditions) in matcher.conditions.iter().enumerate() {
            match conditions.iter().min_by_key(|pair| (counts.get(pair), **pair)) {
                Some(rarest) => matcher.by_pair.entry(*rarest).or_default().push(position as u32),
                None => matcher.unconditional.push(position as u32),
            }
        }
        matcher
    }

    /// Returns the positions, ascending, whose conditions are all met by the place or the target, and the number of positions examined.
    pub(crate) fn matching(&self, place: &[u32], target: &[u32]) -> (Vec<u32>, usize) {
        let is_met = |pair: &u32| place.binary_search(pair).is_ok() || target.binary_search(pair).is_ok();
        let mut found = self.unconditional.clone();
        let mut examined = found.len();
        // Look up a pair once if both have it.
        let of_target = target.iter().filter(|pair| place.binary_search(pair).is_err());
        for filed in place.iter().chain(of_target).filter_map(|pair| self.by_pair.get(pair)) {
            examined += filed.len();
            let all_met =
                |position: &&u32| self.conditions.get(**position as usize).is_some_and(|all| all.iter().all(is_met));
            found.extend(filed.iter().filter(all_met));
        }
        found.sort_unstable();
        (found, examined)
    }
}

/// The sets of label pairs that occur, each with an id (its class). Places or targets of one class match the same containers and schemas.
#[derive(Debug, Default)]
pub(crate) struct Classes<K> {
    keys: Vec<K>,
    ids: HashMap<K, u32>,
}

impl<K: Clone + Eq + std::hash::Hash> Classes<K> {
    /// Returns the id of a set. Assigns a new id to a new set.
    pub(crate) fn get_or_insert<Q: Eq + std::hash::Hash + ?Sized>(&mut self, key: &Q) -> u32
    where
        K: std::borrow::Borrow<Q> + for<'q> From<&'q Q>,
    {
        if let Some(id) = self.ids.get(key) {
            return *id;
        }
        let (id, key) = (self.keys.len() as u32, K::from(key));
        self.keys.push(key.clone());
        self.ids.insert(key, id);
        id
    }

    /// Returns the set with an id.
    pub(crate) fn get(&self, id: u32) -> Option<&K> {
        self.keys.get(id as usize)
    }
}

#[cfg(test)]
mod tests;
