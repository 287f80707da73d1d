//! Which changes of a plan are shown, and how many of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::compile::Prepared;
use engine::place::Place;
use engine::plan::{Change, PlannedId};
use model::fleet::Fleet;
use model::label::Labels;
use model::selector::{LabelSelector, Operator, Requirement};

use super::Planned;
use crate::arguments;
use crate::exit::Failure;

/// What people want to see of a plan.
#[derive(Clone, Debug, Default)]
pub(in crate::commands) struct Selection {
    workload: Option<String>,
    cluster_type: Option<String>,
    selector: LabelSelector,
    /// The selector as it was typed.
    typed: Option<String>,
    limit: Option<usize>,
}

/// The changes of a plan that are shown.
pub(in crate::commands) struct View<'p> {
    /// The whole plan.
    pub(super) planned: &'p Planned<'p>,
    /// Those that are selected, by name.
    pub(super) changes: Vec<(&'p PlannedId, &'p Change)>,
    /// The options that select them, as they were typed; empty if all are.
    pub(super) filters: String,
    /// How many of anything are listed at most, if somebody has said so.
    pub(super) limit: Option<usize>,
}

impl Selection {
    /// What the command line says.
    pub(super) fn of(options: &arguments::Plan) -> Result<Self, Failure> {
        let typed = options.selector.clone();
        let selector = LabelSelector::parse(typed.as_deref().unwrap_or_default());
        let selector = selector.map_err(|error| {
            Failure::usage(format!("--selector can't be read: {error}"))
                .help("write requirements with commas between them: region=west,tier in (gold,silver),!edge")
        })?;
        let (workload, cluster_type) = (options.workload.clone(), options.cluster_type.clone());
        Ok(Self { workload, cluster_type, selector, typed, limit: options.limit })
    }

    /// What it selects of a plan.
    pub(super) fn view<'p>(&self, planned: &'p Planned<'p>) -> View<'p> {
        // What is removed has its labels in the fleet that was.
        let sides = [Some(planned.compiled), planned.old.as_ref().map(|old| &old.compiled)];
        let labelled: Vec<_> = sides.into_iter().flatten().map(|side| Labelled::of(side.prepared())).collect();
        let is_selected = |(id, change): &(&PlannedId, &Change)| self.selects(id, change, &labelled);
        let changes = planned.plan.changes.iter().filter(is_selected).collect();
        View { planned, changes, filters: self.words(), limit: self.limit }
    }

    fn selects(&self, id: &PlannedId, change: &Change, sides: &[Labelled<'_>]) -> bool {
        let is_on = |name: &String| **name == *id.place || sides.iter().any(|side| side.type_of(id) == Some(name));
        self.workload.as_ref().is_none_or(|name| **name == *change.workload)
            && self.cluster_type.as_ref().is_none_or(is_on)
            && (self.selector.requirements.is_empty() || sides.iter().any(|side| side.matches(&self.selector, id)))
    }

    fn words(&self) -> String {
        let options =
            [("--workload", &self.workload), ("--cluster-type", &self.cluster_type), ("--selector", &self.typed)];
        let words = options.iter().filter_map(|(option, value)| Some(format!("{option} {}", value.as_ref()?)));
        words.collect::<Vec<_>>().join(" ")
    }
}

impl<'p> View<'p> {
    /// All of a plan.
    pub(in crate::commands) fn whole(planned: &'p Planned<'p>) -> Self {
        Self { planned, changes: planned.plan.changes.iter().collect(), filters: String::new(), limit: None }
    }
}

/// The labels of one side's assignments.
struct Labelled<'a> {
    fleet: &'a Fleet,
    targets: BTreeMap<&'a str, &'a Labels>,
}

impl<'a> Labelled<'a> {
    fn of(prepared: &'a Prepared) -> Self {
        let targets = prepared.targets().iter().map(|target| (target.name.as_str(), &target.labels));
        Self { fleet: prepared.fleet(), targets: targets.collect() }
    }

    /// The cluster type of a cluster.
    fn type_of(&self, id: &PlannedId) -> Option<&'a str> {
        self.fleet.clusters.get(&*id.place).map(|cluster| &*cluster.spec.cluster_type)
    }

    /// Whether an assignment that is there has labels as they are asked for: its target's, its place's, and those of a cluster's type.
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
