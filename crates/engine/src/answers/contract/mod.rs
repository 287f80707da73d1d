//! The contract between the teams: the values that workloads ask for with schemas, and the values that containers give.
//!
//! Nothing is computed for each assignment. Bitmaps of places are computed for each target and key, and each different value is checked once.

mod advice;
mod checks;
mod reach;
mod rows;
mod supply;
mod unused_values;
mod workload;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::diagnostic::{AssignmentId, Origin};
use model::name::RegistrationName;
use rayon::prelude::*;
use roaring::RoaringBitmap;

pub use self::advice::{Advice, UnmetLabel};
use self::checks::ValueChecks;
use self::reach::Reach;
use self::rows::TargetAt;
use self::supply::Supply;
use crate::prepare::Prepared;

/// The part of a contract that is computed.
#[derive(Clone, Copy, Debug, Default)]
pub struct ContractScope<'s> {
    /// Only this workload.
    pub workload: Option<&'s str>,
    /// Only assignments on this cluster type and its clusters, or on this cluster.
    pub place: Option<&'s str>,
    /// Whether containers, values that no schema asks for, and advice are included.
    pub has_details: bool,
}

/// The contract of an environment.
#[derive(Debug, Default)]
pub struct Contract {
    /// The workloads, by name.
    pub workloads: Vec<WorkloadContract>,
    /// The first values that nothing uses: no schema asks for them, and no template can read them.
    pub unused: Vec<GivenValue>,
    /// The number of these values.
    pub unused_count: usize,
}

/// The contract of a workload.
#[derive(Debug)]
pub struct WorkloadContract {
    /// The name. Empty for targets without the label `workload`.
    pub workload: Arc<str>,
    /// The workspace of its first target. May be empty.
    pub workspace: Arc<str>,
    /// The registration that it comes from. None for workloads of the control plane.
    pub registration: Option<RegistrationName>,
    /// The number of its deployment targets in the environment.
    pub targets: usize,
    /// The deployment targets that no policy assigns.
    pub unassigned: Vec<UnassignedTarget>,
    /// Whether no policy assigns any target. The counts are then those of assignments of all targets to all places.
    pub is_hypothetical: bool,
    /// The number of assignments.
    pub assignments: u64,
    /// The places of the assignments.
    pub places: PlaceCount,
    /// The values that schemas ask for, by key. The key is empty for rules about several values.
    pub values: Vec<AskedValue>,
    /// The values that its assignments get, and no schema asks for. Only with details, and not for a part of its places.
    pub unasked: Vec<GivenValue>,
    /// The places of its schemas that can't be used. It is not known what they ask for.
    pub unusable_schemas: Vec<Origin>,
    /// The number of assignments of which not all values were checked, because there are too many different ones.
    pub unchecked: u64,
}

/// A deployment target that no policy assigns.
#[derive(Debug)]
pub struct UnassignedTarget {
    /// The name.
    pub name: Arc<str>,
    /// The required keys that would be missing, each with the number of places.
    pub missing: Vec<(Arc<str>, PlaceCount)>,
    /// The places that were considered: all of the environment.
    pub places: PlaceCount,
}

/// A number of places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlaceCount {
    /// The number of cluster types.
    pub cluster_types: u64,
    /// The number of clusters.
    pub clusters: u64,
}

/// A value that schemas ask for.
#[derive(Debug)]
pub struct AskedValue {
    /// The key.
    pub key: Arc<str>,
    /// Whether a schema requires it.
    pub is_required: bool,
    /// Whether the value is sensitive. It is then not shown.
    pub is_sensitive: bool,
    /// What the schemas say about it.
    pub asks: Vec<Ask>,
    /// The number of assignments whose schemas ask for it.
    pub asked: u64,
    /// The number of these assignments that get it.
    pub given: u64,
    /// The places of the assignments that ask for it.
    pub asked_places: PlaceCount,
    /// Those of the places where all these assignments get it.
    pub given_places: PlaceCount,
    /// The assignments that require it and do not get it. None if there are none.
    pub missing: Option<MissingValue>,
    /// Values that violate a schema.
    pub wrong: Vec<WrongValue>,
    /// The containers that give it, most places first. Only with details.
    pub givers: Vec<GivenValue>,
    /// The number of further containers that give it.
    pub more_givers: usize,
    /// How to give it. Only with details.
    pub advice: Vec<Advice>,
}

/// What a schema says about a value.
#[derive(Debug)]
pub struct Ask {
    /// The place of the property in the schema.
    pub origin: Origin,
    /// Whether the schema requires it.
    pub is_required: bool,
    /// The requirements: the keywords of the property, with their values. May be empty.
    pub requirements: String,
    /// The default value, as JSON.
    pub default: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// The places where the schema applies.
    pub places: PlaceCount,
}

/// Assignments without a required value.
#[derive(Debug)]
pub struct MissingValue {
    /// The number of assignments.
    pub assignments: u64,
    /// Whether some of them are stopped. Otherwise only a warning is reported.
    pub is_enforced: bool,
    /// The places.
    pub places: PlaceCount,
    /// The first of the assignments.
    pub examples: Vec<AssignmentId>,
}

/// A value that violates a schema.
#[derive(Debug)]
pub struct WrongValue {
    /// What is wrong, one sentence.
    pub message: String,
    /// Whether assignments are stopped. Otherwise a part of a value is missing, and only a warning is reported.
    pub is_enforced: bool,
    /// The place of the value.
    pub origin: Option<Origin>,
    /// The place of the violated rule in the schema.
    pub schema: Origin,
    /// The number of assignments.
    pub assignments: u64,
    /// The first of the assignments.
    pub examples: Vec<AssignmentId>,
}

/// A value in a container.
#[derive(Debug)]
pub struct GivenValue {
    /// The key.
    pub key: Arc<str>,
    /// The container, for display.
    pub container: String,
    /// The conditions of the container, such as `region=west`.
    pub conditions: Vec<String>,
    /// The place of the value.
    pub origin: Origin,
    /// The value for display. A digest for a sensitive value.
    pub shown: String,
    /// The places where it has an effect.
    pub places: PlaceCount,
    /// The number of further containers that give this key.
    pub more: usize,
}

impl WorkloadContract {
    /// Whether a required value is missing or a value is wrong, so that an assignment is stopped.
    pub fn has_problems(&self) -> bool {
        let is_problem = |value: &AskedValue| {
            value.missing.as_ref().is_some_and(|missing| missing.is_enforced)
                || value.wrong.iter().any(|wrong| wrong.is_enforced)
        };
        !self.is_hypothetical && (!self.unusable_schemas.is_empty() || self.values.iter().any(is_problem))
    }
}

impl Prepared {
    /// The contract of the environment, or of a part of it.
    pub fn contract(&self, scope: ContractScope<'_>) -> Contract {
        let reach = Reach::new(self);
        let supply = Supply::new(&reach);
        let mut by_workload: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for target in self.targets().iter().filter(|target| scope.workload.is_none_or(|name| name == target.workload()))
        {
            by_workload.entry(target.workload()).or_default().extend(self.target_id(target.name.as_str()));
        }
        let of_labels = 0..self.schemas.labelled.len() as u32;
        let targets = by_workload.values().flatten().filter_map(|id| self.target(*id));
        let own = targets.flat_map(|target| self.schemas.ids_of_target(&target.target).collect::<Vec<_>>());
        let schemas: BTreeSet<u32> = of_labels.chain(own).collect();
        let checks = ValueChecks::new(self, &supply, &schemas);
        let clusters = self.places().filter(|(_, place)| place.cluster.is_some()).map(|(id, _)| id).collect();
        let targets = by_workload.values().flatten().copied().collect();
        let (reach, supply, checks) = (&reach, &supply, &checks);
        let contracts = Contracts { prepared: self, scope, reach, supply, checks, clusters, targets };
        let by_workload: Vec<_> = by_workload.into_iter().collect();
        let made = by_workload.par_iter().filter_map(|(name, targets)| contracts.of_workload(name, targets));
        let workloads: Vec<_> = made.collect();
        let (unused, unused_count) = contracts.unused();
        Contract { workloads, unused, unused_count }
    }
}

/// What the contracts of all workloads are computed from.
struct Contracts<'p> {
    prepared: &'p Prepared,
    scope: ContractScope<'p>,
    reach: &'p Reach<'p>,
    supply: &'p Supply<'p>,
    checks: &'p ValueChecks<'p>,
    /// The places that are clusters.
    clusters: RoaringBitmap,
    /// All targets.
    targets: RoaringBitmap,
}

impl Contracts<'_> {
    /// The places to which policies assign a target, in the scope.
    fn assigned(&self, id: u32) -> RoaringBitmap {
        let places = self.prepared.schedule.places_of(id);
        match self.scope.place {
            None => places,
            Some(name) => places & self.in_scope(name),
        }
    }

    /// The places of a cluster type, or a cluster.
    fn in_scope(&self, name: &str) -> RoaringBitmap {
        let mut places = self.prepared.places_of_type(name);
        places.extend(self.prepared.place_id(name));
        places
    }

    fn count(&self, places: &RoaringBitmap) -> PlaceCount {
        let clusters = places.intersection_len(&self.clusters);
        PlaceCount { cluster_types: places.len() - clusters, clusters }
    }

    /// The first assignments of a target at these places.
    fn examples(&self, of_targets: &[(u32, &RoaringBitmap)]) -> Vec<AssignmentId> {
        const EXAMPLES_MAX: usize = 3;
        const SORTED_MAX: usize = 1_000;
        let all = of_targets.iter().flat_map(|(target, places)| places.iter().map(move |place| (place, *target)));
        let ids = all.take(SORTED_MAX).filter_map(|(place, target)| self.prepared.assignment_id(place, target));
        let mut ids: Vec<_> = ids.collect();
        ids.sort_unstable();
        ids.truncate(EXAMPLES_MAX);
        ids
    }

    fn at(&self, id: u32, places: RoaringBitmap) -> TargetAt<'_> {
        TargetAt { id, target: self.target(id), places }
    }
}

#[cfg(test)]
mod tests;
