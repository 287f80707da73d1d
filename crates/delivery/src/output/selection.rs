//! Selects changes of a plan by workload, cluster type and labels.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::compile::Prepared;
use engine::plan::{AssignmentChange, PlannedId};
use engine::schedule::place::Place;
use model::fleet::Fleet;
use model::label::Labels;
use model::selector::{LabelSelector, Operator, Requirement};

use crate::output::planned::Planned;

/// A selection of changes.
#[derive(Clone, Debug, Default)]
pub struct ChangeSelection {
    /// The workload. None: all of them.
    pub workload: Option<String>,
    /// The cluster type, or a cluster. None: all of them.
    pub cluster_type: Option<String>,
    /// The labels of targets and places.
    pub selector: LabelSelector,
}

impl ChangeSelection {
    /// The selected changes of a plan.
    pub fn changes<'p>(&self, planned: &'p Planned) -> Vec<(&'p PlannedId, &'p AssignmentChange)> {
        // The labels of removed assignments are in the earlier fleet.
        let labelled: Vec<_> = planned.sides().map(|side| Labelled::new(side.prepared())).collect();
        let is_selected = |(id, change): &(&PlannedId, &AssignmentChange)| self.selects(id, change, &labelled);
        planned.plan.changes.iter().filter(is_selected).collect()
    }

    fn selects(&self, id: &PlannedId, change: &AssignmentChange, sides: &[Labelled<'_>]) -> bool {
        let is_on = |name: &String| **name == *id.place || sides.iter().any(|side| side.type_of(id) == Some(name));
        self.workload.as_ref().is_none_or(|name| **name == *change.workload)
            && self.cluster_type.as_ref().is_none_or(is_on)
            && (self.selector.requirements.is_empty() || sides.iter().any(|side| side.matches(&self.selector, id)))
    }
}

/// The labels of the assignments of one fleet.
struct Labelled<'a> {
    fleet: &'a Fleet,
    targets: BTreeMap<&'a str, &'a Labels>,
}

impl<'a> Labelled<'a> {
    fn new(prepared: &'a Prepared) -> Self {
        let targets = prepared.targets().iter().map(|target| (target.name.as_str(), &target.labels));
        Self { fleet: prepared.fleet(), targets: targets.collect() }
    }

    /// The cluster type of a cluster.
    fn type_of(&self, id: &PlannedId) -> Option<&'a str> {
        self.fleet.clusters.get(&*id.place).map(|cluster| &*cluster.spec.cluster_type)
    }

    /// Whether the labels of an assignment match: those of its target, of its place, and of the cluster type of a cluster. False if the assignment is not in this
    /// fleet.
    fn matches(&self, selector: &LabelSelector, id: &PlannedId) -> bool {
        let Some(target) = self.targets.get(&*id.target) else { return false };
        let Some(place) = Place::find(self.fleet, &id.place) else { return false };
        let holds = |requirement: &Requirement| {
            let labels = [target.get(&requirement.key), place.label(&requirement.key)];
            let mut each = labels.into_iter().map(|value| is_met(requirement, value));
            match requirement.operator {
                Operator::In(_) | Operator::Exists => each.any(|met| met),
                Operator::NotIn(_) | Operator::DoesNotExist => each.all(|met| met),
            }
        };
        selector.requirements.iter().all(holds)
    }
}

fn is_met(requirement: &Requirement, value: Option<&Arc<str>>) -> bool {
    let labels: Labels = value.map(|value| (Arc::clone(&requirement.key), Arc::clone(value))).into_iter().collect();
    requirement.matches(&labels)
}
