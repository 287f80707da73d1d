//! Overviews of a place, a deployment target or a workload: its labels, its assignments, and what brings and reaches them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::diagnostic::{AssignmentId, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::name::{ConfigMapName, DeploymentTargetName, PlaceName, PolicyName, RegistrationName, WorkloadName};
use model::object::deployment_target::WORKLOAD_LABEL;
use model::object_key::ObjectKey;
use roaring::RoaringBitmap;

use crate::answers::explain::AssignmentValues;
use crate::answers::why_not::{SourcedLabel, labels_of_place, labels_of_target};
use crate::compile::{Prepared, SingleAssignments};
use crate::schedule::place::Place;
use crate::schedule::target::Target;

/// The maximum number of assignments whose problems are searched.
const CHECKED_MAX: usize = 100;
/// The maximum number of names of assignments.
const NAMED_MAX: usize = 1000;
/// The maximum number of different configurations that are compared.
const COMPARED_MAX: usize = 32;

/// A place with its assignments.
#[derive(Debug)]
pub struct PlaceOverview {
    /// The place.
    pub place: Place,
    /// Its labels, by key.
    pub labels: Vec<SourcedLabel>,
    /// The number of clusters of the cluster type. 0 if the place is a cluster.
    pub clusters: u64,
    /// The deployment targets on it, in the order of their folders.
    pub targets: Vec<DeploymentTargetName>,
    /// The assignments as a whole.
    pub assignments: Assignments,
}

/// A deployment target with its assignments.
#[derive(Debug)]
pub struct TargetOverview {
    /// The target.
    pub target: Arc<Target>,
    /// Its labels, by key.
    pub labels: Vec<SourcedLabel>,
    /// The number of cluster types, and the number of clusters, that it is assigned to.
    pub counts: [u64; 2],
    /// The places that it is assigned to, by name. A long list is cut.
    pub places: Vec<PlaceName>,
    /// The assignments as a whole.
    pub assignments: Assignments,
}

/// A workload with its deployment targets.
#[derive(Debug)]
pub struct WorkloadOverview {
    /// The workload.
    pub name: WorkloadName,
    /// The place of its object. None if only labels of deployment targets name it.
    pub origin: Option<Origin>,
    /// The registration whose repository contains it.
    pub registration: Option<RegistrationName>,
    /// The workspace. Empty if there is none.
    pub workspace: Arc<str>,
    /// Its deployment targets in this environment, each with the number of places that it is assigned to.
    pub targets: Vec<(DeploymentTargetName, u64)>,
    /// The number of its deployment targets in each other environment.
    pub elsewhere: BTreeMap<Arc<str>, usize>,
    /// The problem if it is not clear whose workload it is.
    pub problem: Option<Diagnostic>,
}

/// What brings assignments, and what reaches them.
#[derive(Debug, Default)]
pub struct Assignments {
    /// The policies that make them, by name.
    pub policies: Vec<PolicyShare>,
    /// The `ConfigMap`s with values of at least one of them, in merge order.
    pub config_maps: Vec<ConfigMapName>,
    /// The schemas that check the values of at least one of them.
    pub schemas: Vec<ObjectKey>,
    /// The values that differ between them, each with the number of different values. Empty if there are too many different configurations.
    pub differing: BTreeMap<FieldPath, usize>,
    /// The problems that stop assignments, with the assignments.
    pub problems: Vec<Diagnostic>,
    /// The number of assignments whose problems were searched.
    pub checked: usize,
}

/// A policy with the number of assignments that it makes.
#[derive(Debug)]
pub struct PolicyShare {
    /// The policy.
    pub policy: PolicyName,
    /// The place of its specification.
    pub origin: Origin,
    /// The number of the assignments that it makes, alone or with others.
    pub assignments: u64,
}

/// The meanings of a name in an environment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meanings {
    /// A cluster type or a cluster has the name.
    pub is_place: bool,
    /// A deployment target has the name.
    pub is_target: bool,
    /// A workload has the name.
    pub is_workload: bool,
}

impl Prepared {
    /// What a name can mean.
    pub fn meanings(&self, name: &str) -> Meanings {
        let fleet = self.fleet();
        Meanings {
            is_place: self.place_id(name).is_some(),
            is_target: self.target_id(name).is_some(),
            is_workload: fleet.workloads.contains_key(name)
                || fleet.conflicting_claims.contains_key(name)
                || self.target_index.has(WORKLOAD_LABEL, name),
        }
    }

    /// The overview of a place. None if there is no such place.
    pub fn place_overview(&self, name: &str) -> Option<PlaceOverview> {
        let id = self.place_id(name)?;
        let place = self.place(id)?;
        let targets: RoaringBitmap = self.schedule.targets_on(id).iter().copied().collect();
        let clusters = if place.cluster.is_some() { 0 } else { self.places_of_type(name).len().saturating_sub(1) };
        Some(PlaceOverview {
            labels: labels_of_place(place),
            clusters,
            targets: self.targets_on(name).into_iter().cloned().collect(),
            assignments: self.assignments(&RoaringBitmap::from_iter([id]), &targets),
            place: place.clone(),
        })
    }

    /// The overview of a deployment target. None if there is no such target.
    pub fn target_overview(&self, name: &str) -> Option<TargetOverview> {
        let id = self.target_id(name)?;
        let target = Arc::clone(&self.target(id)?.target);
        let places = self.schedule.places_of(id);
        let is_cluster = |place: &u32| self.place(*place).is_some_and(|place| place.cluster.is_some());
        let clusters = places.iter().filter(is_cluster).count() as u64;
        let names = places.iter().filter_map(|place| self.place(place)).map(Place::name);
        let mut first: BTreeSet<PlaceName> = BTreeSet::new();
        for name in names {
            if first.len() >= NAMED_MAX && first.last().is_some_and(|last| name > *last) {
                continue;
            }
            first.insert(name);
            if first.len() > NAMED_MAX {
                first.pop_last();
            }
        }
        Some(TargetOverview {
            labels: labels_of_target(&target),
            counts: [places.len() - clusters, clusters],
            places: first.into_iter().collect(),
            assignments: self.assignments(&places, &RoaringBitmap::from_iter([id])),
            target,
        })
    }

    /// The overview of a workload. None if there is no such workload.
    pub fn workload_overview(&self, name: &str) -> Option<WorkloadOverview> {
        if !self.meanings(name).is_workload {
            return None;
        }
        let fleet = self.fleet();
        let contested = || fleet.conflicting_claims.get(name).and_then(|claims| claims.first());
        let registered = fleet.workloads.get(name).or_else(contested);
        let with_label = self.target_index.with(WORKLOAD_LABEL, name);
        let targets = with_label
            .iter()
            .filter_map(|id| Some((self.target(id)?.target.name.clone(), self.schedule.places_of(id).len())));
        let mut targets: Vec<_> = targets.collect();
        targets.sort();
        let mut elsewhere: BTreeMap<Arc<str>, usize> = BTreeMap::new();
        for target in registered.iter().flat_map(|workload| &workload.object.spec.deployment_targets) {
            if *target.spec.environment != *fleet.environment.as_str() {
                *elsewhere.entry(Arc::clone(&target.spec.environment)).or_default() += 1;
            }
        }
        let of_targets =
            || with_label.iter().next().and_then(|id| self.target(id)).map(|target| target.target.workspace());
        let name = WorkloadName::new(name).ok()?;
        Some(WorkloadOverview {
            origin: registered
                .map(|workload| Origin::field(&workload.object.key(), FieldPath::from(["metadata", "name"]))),
            registration: registered.and_then(|workload| workload.registration.clone()),
            workspace: registered
                .map_or_else(|| of_targets().unwrap_or_default().into(), |workload| Arc::clone(&workload.workspace)),
            targets,
            elsewhere,
            problem: fleet.conflicting_claims_diagnostic(&name),
            name,
        })
    }

    /// What brings and reaches all assignments of these targets on these places.
    fn assignments(&self, places: &RoaringBitmap, targets: &RoaringBitmap) -> Assignments {
        let classes: BTreeMap<u32, u32> = places.iter().map(|place| (self.class_of_place(place), place)).collect();
        let of_targets: BTreeMap<u32, u32> =
            targets.iter().map(|target| (self.class_of_target(target), target)).collect();
        let (mut containers, mut schemas) = (BTreeSet::new(), BTreeSet::new());
        for class in classes.keys() {
            for target in of_targets.keys() {
                let (matching, checking, _) = self.matching(*class, *target);
                containers.extend(matching);
                schemas.extend(checking);
            }
        }
        let containers: Vec<u32> = containers.into_iter().collect();
        let mut config_maps: Vec<_> =
            self.containers_at(&containers).iter().map(|container| container.name.clone()).collect();
        config_maps.dedup();
        let schemas: Vec<u32> = schemas.into_iter().collect();
        let schemas: BTreeSet<_> = self.schemas_at(&schemas).map(|schema| schema.text.object.clone()).collect();
        let ids: Vec<_> = self.ids(places, targets).take(CHECKED_MAX).collect();
        Assignments {
            policies: self.policy_shares(places, targets),
            config_maps,
            schemas: schemas.into_iter().collect(),
            differing: self.differing(&classes, targets),
            problems: self.problems_of(&ids),
            checked: ids.len(),
        }
    }

    fn ids<'a>(
        &'a self,
        places: &'a RoaringBitmap,
        targets: &'a RoaringBitmap,
    ) -> impl Iterator<Item = AssignmentId> + 'a {
        let pairs = places.iter().flat_map(move |place| targets.iter().map(move |target| (place, target)));
        pairs.filter_map(|(place, target)| self.assignment_id(place, target))
    }

    fn policy_shares(&self, places: &RoaringBitmap, targets: &RoaringBitmap) -> Vec<PolicyShare> {
        let shares = self.schedule.all_selections().iter().filter_map(|selection| {
            let assignments = selection.places.intersection_len(places) * selection.targets.intersection_len(targets);
            let origin = Origin::field(&selection.policy.key(), FieldPath::from(["spec"]));
            (assignments > 0).then(|| PolicyShare { policy: selection.policy.name.clone(), origin, assignments })
        });
        shares.collect()
    }

    /// The values that differ between the places of a single target.
    fn differing(&self, classes: &BTreeMap<u32, u32>, targets: &RoaringBitmap) -> BTreeMap<FieldPath, usize> {
        let Some(target) = targets.iter().next().filter(|_| targets.len() == 1) else { return BTreeMap::new() };
        if classes.len() < 2 || classes.len() > COMPARED_MAX {
            return BTreeMap::new();
        }
        let ids = classes.values().filter_map(|place| self.assignment_id(*place, target));
        let all: Vec<_> =
            ids.filter_map(|id| Some(AssignmentValues::find(self, &id, BTreeSet::new())?.shown())).collect();
        let paths: BTreeSet<_> = all.iter().flat_map(BTreeMap::keys).cloned().collect();
        let count = |path: &FieldPath| all.iter().map(|values| values.get(path)).collect::<BTreeSet<_>>().len();
        paths
            .into_iter()
            .map(|path| (count(&path), path))
            .filter(|(count, _)| *count > 1)
            .map(|(count, path)| (path, count))
            .collect()
    }

    fn problems_of(&self, ids: &[AssignmentId]) -> Vec<Diagnostic> {
        let all = SingleAssignments::new(self, ids.iter());
        let found = ids.iter().flat_map(|id| {
            let problems = all.problems(id).into_iter().filter(Diagnostic::is_error);
            problems.map(|problem| if problem.assignments.is_empty() { problem.reaching(id) } else { problem })
        });
        model::diagnostic::merged(found.collect())
    }
}
