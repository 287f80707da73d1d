//! The assignments that an object, a name or a label selector selects.

use std::sync::Arc;

use model::diagnostic::AssignmentId;
use model::object::SchedulingPolicy;
use model::object::deployment_target::{WORKLOAD_LABEL, WORKSPACE_LABEL};
use model::object_key::ObjectKey;
use model::selector::{LabelSelector, Operator};
use roaring::RoaringBitmap;

use super::{AssignmentSet, Inventory};
use crate::compose::container::Conditions;
use crate::schedule::matching::APPLICATION;
use crate::schedule::target::{Application, Target};

impl Inventory<'_> {
    /// All assignments.
    pub fn all(&self) -> AssignmentSet {
        AssignmentSet::new(self.places.clone(), self.targets.clone())
    }

    /// The assignments of a cluster type and its clusters, or of a cluster. None if no place has this name.
    pub fn on(&self, place: &str) -> Option<AssignmentSet> {
        let id = self.prepared.place_id(place)?;
        let is_type = self.prepared.place(id)?.cluster.is_none();
        let places = if is_type { self.prepared.places_of_type(place) } else { RoaringBitmap::from_iter([id]) };
        Some(AssignmentSet::new(places, self.targets.clone()))
    }

    /// The assignments of exactly this place: without the clusters of a cluster type. Empty if no place has this name.
    pub fn only_on(&self, place: &str) -> AssignmentSet {
        AssignmentSet::new(self.prepared.place_id(place).into_iter().collect(), self.targets.clone())
    }

    /// The assignments of a workload, or of a deployment target. None if there is neither.
    pub fn of_workload_or_target(&self, name: &str) -> Option<AssignmentSet> {
        let targets = self.prepared.target_index.with(WORKLOAD_LABEL, name);
        let target = || self.prepared.target_id(name).map(|id| RoaringBitmap::from_iter([id]));
        let targets = if targets.is_empty() { target()? } else { targets };
        Some(AssignmentSet::new(self.places.clone(), targets))
    }

    /// The assignments of a workload. Empty if there is no such workload.
    pub fn of_workload(&self, name: &str) -> AssignmentSet {
        AssignmentSet::new(self.places.clone(), self.prepared.target_index.with(WORKLOAD_LABEL, name))
    }

    /// The number of deployment targets of a workload.
    pub fn targets_of(&self, workload: &str) -> usize {
        self.prepared.target_index.with(WORKLOAD_LABEL, workload).len() as usize
    }

    /// The assignments of a deployment target. Empty if there is no such target.
    pub fn of_target(&self, name: &str) -> AssignmentSet {
        AssignmentSet::new(self.places.clone(), self.prepared.target_id(name).into_iter().collect())
    }

    /// The assignments of these cluster types and their clusters.
    pub fn on_cluster_types<'n>(&self, names: impl Iterator<Item = &'n str>) -> AssignmentSet {
        let places = names.map(|name| self.prepared.places_of_type(name));
        AssignmentSet::new(places.fold(RoaringBitmap::new(), |all, some| all | some), self.targets.clone())
    }

    /// The assignments of those deployment targets that a condition selects.
    pub fn of_targets(&self, is_selected: impl Fn(&Target) -> bool) -> AssignmentSet {
        AssignmentSet::new(self.places.clone(), self.targets_where(is_selected))
    }

    /// The pairs of the places and of the targets of these assignments.
    pub fn these<'i>(&self, ids: impl Iterator<Item = &'i AssignmentId> + Clone) -> AssignmentSet {
        let places = ids.clone().filter_map(|id| self.prepared.place_id(id.place.as_str())).collect();
        AssignmentSet::new(places, ids.filter_map(|id| self.prepared.target_id(id.target.as_str())).collect())
    }

    /// The assignments that a policy, or a release pin, selects.
    pub fn of_policy(&self, policy: &SchedulingPolicy) -> AssignmentSet {
        let (places, targets) = self.selection(policy);
        AssignmentSet::new(places, targets)
    }

    /// The number of places and of targets that a policy, or a release pin, selects.
    pub fn selected_by(&self, policy: &SchedulingPolicy) -> (usize, usize) {
        let (places, targets) = self.selection(policy);
        (places.len() as usize, targets.len() as usize)
    }

    fn selection(&self, policy: &SchedulingPolicy) -> (RoaringBitmap, RoaringBitmap) {
        let mut targets = self.prepared.target_index.select(&policy.targets);
        if !policy.workspace.is_empty() {
            targets &= self.prepared.target_index.with(WORKSPACE_LABEL, &policy.workspace);
        }
        (self.prepared.place_index.select(&policy.cluster_types), targets)
    }

    /// The labels that an assignment must have, so that a `ConfigSchema` applies to it.
    pub fn conditions_of_schema(&self, key: &ObjectKey) -> Vec<(Arc<str>, Arc<str>)> {
        let mut of_key = self.prepared.schemas.labelled.iter().filter(|labelled| labelled.schema.text.object == *key);
        let conditions = of_key.next().map(|labelled| labelled.conditions.iter());
        conditions.into_iter().flatten().filter(|(key, _)| **key != *APPLICATION).cloned().collect()
    }

    /// The assignments whose values a `ConfigSchema` checks. Empty if there is no such schema.
    pub fn of_schema(&self, key: &ObjectKey) -> AssignmentSet {
        let mut of_key = self.prepared.schemas.labelled.iter().filter(|labelled| labelled.schema.text.object == *key);
        of_key.next().map_or_else(AssignmentSet::default, |labelled| self.meeting(&labelled.conditions))
    }

    /// The assignments that a label selector selects. A label of the place or of the target is enough for a requirement that a label has a value or
    /// exists. Neither may have a label that must not have a value or must not exist.
    pub fn selected(&self, selector: &LabelSelector) -> AssignmentSet {
        let mut set = self.all();
        for requirement in &selector.requirements {
            let places = self.prepared.place_index.matching(requirement);
            let sides = (places, self.prepared.target_index.matching(requirement));
            set = match requirement.operator {
                Operator::In(_) | Operator::Exists => set.with_either(&sides),
                Operator::NotIn(_) | Operator::DoesNotExist => set.with_both(&sides),
            };
        }
        set
    }

    /// The assignments that meet all conditions of a container or schema.
    pub(super) fn meeting(&self, conditions: &Conditions) -> AssignmentSet {
        conditions.iter().fold(self.all(), |set, (key, value)| set.with_either(&self.sides(key, value)))
    }

    /// The places and the targets that meet a condition. The meaning of the keys is that of [`crate::schedule::matching`].
    fn sides(&self, key: &str, value: &str) -> (RoaringBitmap, RoaringBitmap) {
        let none = RoaringBitmap::new;
        let (place_index, target_index) = (&self.prepared.place_index, &self.prepared.target_index);
        match key {
            "cluster-type" => (self.prepared.places_of_type(value), none()),
            "cluster" => {
                let labelled = place_index.with(key, value) - &self.clusters;
                let named = self.prepared.place_id(value).filter(|id| self.clusters.contains(*id));
                (labelled | named.into_iter().collect::<RoaringBitmap>(), none())
            }
            "deployment-target" => (none(), self.prepared.target_id(value).into_iter().collect()),
            // A target without the label is of the workload with the empty name.
            WORKLOAD_LABEL if value.is_empty() => (none(), self.targets_where(|target| target.workload().is_empty())),
            WORKLOAD_LABEL => (none(), target_index.with(key, value)),
            APPLICATION => {
                let is_of = |application: &Application| *application.as_condition() == *value;
                (none(), self.targets_where(|target| target.application.as_ref().is_some_and(is_of)))
            }
            _ => (place_index.with(key, value), target_index.with(key, value)),
        }
    }

    fn targets_where(&self, is_found: impl Fn(&Target) -> bool) -> RoaringBitmap {
        let is_found = |id: &u32| self.prepared.target(*id).is_some_and(|target| is_found(&target.target));
        self.targets.iter().filter(is_found).collect()
    }
}
