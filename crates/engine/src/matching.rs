//! Which containers and schemas are for an assignment, found by the labels that they ask for.

use std::collections::HashMap;
use std::sync::Arc;

use crate::container::Conditions;
use crate::place::Place;
use crate::target::{Application, Target};

/// The key of a condition that no label meets: by which application a target is brought. Schemas of application repositories ask for it.
pub(crate) const APPLICATION: &str = "application that brings the deployment target";

/// Whether a place has what a container or schema asks for. Its name is no label: `cluster-type` is always the cluster type's, and
/// `cluster`, on a cluster, the cluster's. Some things only targets can have.
pub(crate) fn is_met_by_place(key: &str, value: &str, place: &Place) -> bool {
    match (key, &place.cluster) {
        ("cluster-type", _) => place.cluster_type.name.as_str() == value,
        ("cluster", Some(cluster)) => cluster.name.as_str() == value,
        ("deployment-target" | "workload", _) => false,
        _ => place.label(key).is_some_and(|label| **label == *value),
    }
}

/// Whether a target has what a container or schema asks for.
pub(crate) fn is_met_by_target(key: &str, value: &str, target: &Target) -> bool {
    match key {
        "cluster-type" | "cluster" => false,
        "deployment-target" => target.name.as_str() == value,
        "workload" => target.workload() == value,
        _ => target.labels.get(key).is_some_and(|label| **label == *value),
    }
}

/// Numbers for pairs of a label and its value that some container or schema asks for.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    keys: HashMap<Arc<str>, HashMap<Arc<str>, u32>>,
    count: u32,
}

/// The numbers of pairs, ascending.
pub(crate) type PairSet = Arc<[u32]>;

impl Pairs {
    fn of(&mut self, key: &Arc<str>, value: &Arc<str>) -> u32 {
        let values = self.keys.entry(Arc::clone(key)).or_default();
        *values.entry(Arc::clone(value)).or_insert_with(|| {
            self.count += 1;
            self.count - 1
        })
    }

    fn get(&self, key: &str, value: &str) -> Option<u32> {
        self.keys.get(key)?.get(value).copied()
    }

    /// What a place has of what is asked for, into `found`, ascending.
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

    /// What a target has of what is asked for, into `found`, ascending.
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

/// Finds, among things with conditions, those whose conditions are all met. Each is filed under one of its conditions, the rarest: so
/// only those are looked at that have that one in common with the assignment.
#[derive(Debug, Default)]
pub(crate) struct Matcher {
    conditions: Vec<Box<[u32]>>,
    by_pair: HashMap<u32, Vec<u32>>,
    unconditional: Vec<u32>,
}

impl Matcher {
    /// For things with these conditions, which are known by their positions.
    pub(crate) fn new<'c>(pairs: &mut Pairs, all: impl Iterator<Item = &'c Conditions>) -> Self {
        let of_one = |conditions: &Conditions| conditions.iter().map(|(key, value)| pairs.of(key, value)).collect();
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

    /// The positions, ascending, of those whose conditions the place or the target meets, and how many were looked at.
    pub(crate) fn matching(&self, place: &[u32], target: &[u32]) -> (Vec<u32>, usize) {
        let is_met = |pair: &u32| place.binary_search(pair).is_ok() || target.binary_search(pair).is_ok();
        let mut found = self.unconditional.clone();
        let mut looked_at = found.len();
        // A pair that both have is looked up once.
        let of_target = target.iter().filter(|pair| place.binary_search(pair).is_err());
        for filed in place.iter().chain(of_target).filter_map(|pair| self.by_pair.get(pair)) {
            looked_at += filed.len();
            let all_met =
                |position: &&u32| self.conditions.get(**position as usize).is_some_and(|all| all.iter().all(is_met));
            found.extend(filed.iter().filter(all_met));
        }
        found.sort_unstable();
        (found, looked_at)
    }
}

/// Sets of pairs that occur, each with a number: what has the same set matches the same.
#[derive(Debug, Default)]
pub(crate) struct Classes<K> {
    keys: Vec<K>,
    ids: HashMap<K, u32>,
}

impl<K: Clone + Eq + std::hash::Hash> Classes<K> {
    /// The number of a set.
    pub(crate) fn of<Q: Eq + std::hash::Hash + ?Sized>(&mut self, key: &Q) -> u32
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

    /// The set with a number.
    pub(crate) fn get(&self, id: u32) -> Option<&K> {
        self.keys.get(id as usize)
    }
}

#[cfg(test)]
mod tests;
