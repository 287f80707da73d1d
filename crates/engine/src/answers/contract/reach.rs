//! The places where a target meets the conditions of containers and schemas.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use model::object::deployment_target::WORKLOAD_LABEL;
use roaring::RoaringBitmap;

use crate::compose::container::Conditions;
use crate::prepare::Prepared;
use crate::schedule::matching::{APPLICATION, is_met_by_assigned};
use crate::schedule::target::Target;

/// A set of places by their ids.
pub(super) type Places = Arc<RoaringBitmap>;

type PlacesByLabel = HashMap<(Arc<str>, Arc<str>), Places>;

/// Finds places by conditions. Each label is looked up once.
pub(super) struct Reach<'p> {
    pub(super) prepared: &'p Prepared,
    pub(super) all: Places,
    by_label: Mutex<PlacesByLabel>,
}

impl<'p> Reach<'p> {
    pub(super) fn new(prepared: &'p Prepared) -> Self {
        let all = Arc::new(prepared.places().map(|(id, _)| id).collect());
        Self { prepared, all, by_label: Mutex::default() }
    }

    /// The places where an assignment of this target meets all conditions.
    pub(super) fn places(&self, conditions: &Conditions, target: &Target) -> Places {
        let mut found: Option<Places> = None;
        for (key, value) in conditions.iter().filter(|(key, value)| !is_met_by_assigned(key, value, target)) {
            let with = self.with(key, value);
            found = Some(match found {
                None => with,
                Some(before) => Arc::new(&*before & &*with),
            });
            if found.as_ref().is_some_and(|places| places.is_empty()) {
                break;
            }
        }
        found.unwrap_or_else(|| Arc::clone(&self.all))
    }

    /// Whether a target can meet a condition.
    pub(super) fn is_of_targets(&self, key: &str, value: &str) -> bool {
        match key {
            "cluster-type" | "cluster" => false,
            "deployment-target" | WORKLOAD_LABEL => true,
            _ => self.prepared.target_index.has(key, value),
        }
    }

    /// The places that meet a condition.
    pub(super) fn with(&self, key: &Arc<str>, value: &Arc<str>) -> Places {
        let label = (Arc::clone(key), Arc::clone(value));
        let mut known = self.by_label.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(label).or_insert_with(|| Arc::new(with(self.prepared, key, value))))
    }
}

fn with(prepared: &Prepared, key: &str, value: &str) -> RoaringBitmap {
    match key {
        "cluster-type" => prepared.places_of_type(value),
        "deployment-target" | WORKLOAD_LABEL | APPLICATION => RoaringBitmap::new(),
        "cluster" => {
            let is_cluster = |id: &u32| prepared.place(*id).is_some_and(|place| place.cluster.is_some());
            let labelled = prepared.place_index.with(key, value).into_iter().filter(|id| !is_cluster(id));
            labelled.chain(prepared.place_id(value).filter(is_cluster)).collect()
        }
        _ => prepared.place_index.with(key, value),
    }
}
