//! Which containers give a key to a target, and at which places.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use gotemplate::value::Value;
use model::object::deployment_target::WORKLOAD_LABEL;
use roaring::RoaringBitmap;

use super::reach::{Places, Reach};
use crate::compose::container::{Container, Entry};
use crate::invariant::require;
use crate::prepare::Prepared;
use crate::schedule::target::Target;
use crate::settings::Strategy;

/// All values of a fleet by key.
pub(super) struct Supply<'p> {
    reach: &'p Reach<'p>,
    keys: HashMap<&'p str, KeySupply>,
    /// The numbers of the labels that targets can meet: by key, then by value.
    labels: HashMap<&'p str, HashMap<&'p str, u32>>,
    labels_count: u32,
    /// The number of different values of keys that were found.
    count: AtomicUsize,
}

/// A value in a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct EntryAt {
    /// The position of the container in merge order.
    pub(super) container: u32,
    /// The position of the entry in the container.
    pub(super) entry: u32,
}

/// The values of one key.
#[derive(Default)]
struct KeySupply {
    entries: Vec<EntryAt>,
    /// The numbers of the labels that targets can meet. Targets that meet the same of them get the same values.
    of_targets: HashSet<u32>,
    known: Mutex<HashMap<Vec<u32>, Arc<Supplied>>>,
}

/// The values of a key for a target.
#[derive(Debug, Default)]
pub(super) struct Supplied {
    /// The places where the key has a value.
    pub(super) given: RoaringBitmap,
    /// The containers that apply, in merge order, with their places.
    pub(super) by: Vec<(EntryAt, Places)>,
    /// Identifies these values among those of all keys and targets.
    pub(super) number: usize,
}

impl<'p> Supply<'p> {
    pub(super) fn new(reach: &'p Reach<'p>) -> Self {
        let (keys, labels, count) = (HashMap::new(), HashMap::new(), AtomicUsize::new(1));
        let mut supply = Self { reach, keys, labels, labels_count: 0, count };
        for (container, object) in reach.prepared.containers.list.iter().enumerate() {
            let of_targets = object.conditions.iter().filter(|(key, value)| reach.is_of_targets(key, value));
            let of_targets: Vec<_> = of_targets.map(|(key, value)| supply.number(key, value)).collect();
            for (entry, value) in object.entries.iter().enumerate() {
                let of_key = supply.keys.entry(&value.key).or_default();
                of_key.entries.push(EntryAt { container: container as u32, entry: entry as u32 });
                of_key.of_targets.extend(&of_targets);
            }
        }
        supply
    }

    /// The fleet with these values.
    pub(super) fn prepared(&self) -> &'p Prepared {
        self.reach.prepared
    }

    /// The number of a label that targets can meet. A new label gets a new number.
    fn number(&mut self, key: &'p str, value: &'p str) -> u32 {
        *self.labels.entry(key).or_default().entry(value).or_insert_with(|| {
            self.labels_count += 1;
            self.labels_count - 1
        })
    }

    /// The numbers of the labels that a target meets.
    fn met(&self, target: &Target) -> impl Iterator<Item = u32> {
        let labels = target.labels.iter().map(|(key, value)| (&**key, &**value));
        let labels = labels.filter(|(key, _)| !matches!(*key, "deployment-target" | WORKLOAD_LABEL));
        let names = [("deployment-target", target.name.as_str()), (WORKLOAD_LABEL, target.workload())];
        labels.chain(names).filter_map(|(key, value)| self.labels.get(key)?.get(value).copied())
    }

    /// All keys, in no particular order.
    pub(super) fn keys(&self) -> impl Iterator<Item = &'p str> {
        self.keys.keys().copied()
    }

    /// All values of a key, in merge order.
    pub(super) fn entries(&self, key: &str) -> &[EntryAt] {
        self.keys.get(key).map_or(&[], |supply| &supply.entries)
    }

    /// The values of a key for a target.
    pub(super) fn for_target(&self, key: &str, target: &Target) -> Arc<Supplied> {
        let Some(supply) = self.keys.get(key) else { return Arc::default() };
        let mut signature: Vec<_> = self.met(target).filter(|label| supply.of_targets.contains(label)).collect();
        signature.sort_unstable();
        let known = supply.known.lock().unwrap_or_else(PoisonError::into_inner).get(&signature).cloned();
        known.unwrap_or_else(|| {
            let made = Arc::new(self.supplied(&supply.entries, target));
            let mut known = supply.known.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(known.entry(signature).or_insert(made))
        })
    }

    fn supplied(&self, entries: &[EntryAt], target: &Target) -> Supplied {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let mut supplied = Supplied { number, ..Supplied::default() };
        for at in entries {
            let places = self.reach.places(&self.container(*at).conditions, target);
            if !places.is_empty() {
                supplied.given |= &*places;
                supplied.by.push((*at, places));
            }
        }
        supplied
    }

    pub(super) fn container(&self, at: EntryAt) -> &'p Arc<Container> {
        let list = &self.reach.prepared.containers.list;
        require(list.get(at.container as usize), "a container of a key is not in the fleet")
    }

    pub(super) fn entry(&self, at: EntryAt) -> &'p Entry {
        require(self.container(at).entries.get(at.entry as usize), "an entry of a key is not in its container")
    }

    /// Whether a value replaces all values of earlier containers.
    pub(super) fn replaces(&self, at: EntryAt) -> bool {
        let entry = self.entry(at);
        entry.strategy == Strategy::Replace || !matches!(entry.value.value, Value::Map(_) | Value::List(_))
    }

    /// The values that have an effect at these places, the last one first, each with the places where it has an effect.
    pub(super) fn effective(&self, supplied: &Supplied, places: &RoaringBitmap) -> Vec<(EntryAt, RoaringBitmap)> {
        let mut left = places.clone();
        let mut found = Vec::new();
        for (at, with) in supplied.by.iter().rev() {
            if left.is_empty() {
                break;
            }
            let here = &left & &**with;
            if here.is_empty() {
                continue;
            }
            if self.replaces(*at) {
                left -= &here;
            }
            found.push((*at, here));
        }
        found
    }
}
