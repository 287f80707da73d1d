//! Selects the changes of a plan that are shown, and limits their number.

use std::collections::BTreeSet;

use delivery::output::planned::Planned;
use delivery::output::selection::ChangeSelection;
use engine::compile::{Compiled, Prepared};
use engine::plan::{AssignmentChange, PlannedId};

use crate::Failure;
use crate::listing::filter::{advice, label_failure};

/// Which changes of a plan are shown.
#[derive(Clone, Debug, Default)]
pub struct PlanSelection {
    /// The conditions of the changes.
    pub selected: ChangeSelection,
    /// The maximum length of each list, if it is set.
    pub limit: Option<usize>,
}

/// The changes of a plan that are shown.
pub struct PlanView<'p> {
    /// The whole plan.
    pub planned: &'p Planned,
    /// The selected changes, by name.
    pub changes: Vec<(&'p PlannedId, &'p AssignmentChange)>,
    /// The maximum length of each list, if it is set.
    pub limit: Option<usize>,
}

impl PlanSelection {
    /// Selects changes of a plan.
    pub fn view<'p>(&self, planned: &'p Planned) -> PlanView<'p> {
        PlanView { planned, changes: self.selected.changes(planned), limit: self.limit }
    }

    /// The error for a name or a label that no state of the environment has, and no change. A filter for it would always show nothing.
    pub fn unknown(&self, (environment, answers): (&str, &[Planned])) -> Option<Failure> {
        let ChangeSelection { workload, cluster_type, selector } = &self.selected;
        let sides = || answers.iter().flat_map(Planned::sides).map(Compiled::prepared);
        let changes = || answers.iter().flat_map(|planned| planned.plan.changes.iter());
        let of_targets = sides().flat_map(|side| side.targets().iter().map(|target| target.workload().to_owned()));
        let of_changes = changes().map(|(_, change)| change.workload.to_string());
        let workloads = || -> BTreeSet<String> { of_targets.chain(of_changes).collect() };
        let of_fleets = sides().map(Prepared::fleet).flat_map(|fleet| {
            let types = fleet.cluster_types.keys().map(ToString::to_string);
            types.chain(fleet.clusters.keys().map(ToString::to_string))
        });
        let places =
            || -> BTreeSet<String> { of_fleets.chain(changes().map(|(id, _)| id.place.to_string())).collect() };
        let missing = |what: &str, name: &str, known: &BTreeSet<String>| {
            let failure = Failure::refused(format!("{environment} has no {what} `{name}`"));
            let advice = advice(name, known, sides());
            (!known.contains(name)).then(|| advice.into_iter().fold(failure, Failure::help))
        };
        if let Some(failure) = workload.as_ref().and_then(|name| missing("workload", name, &workloads())) {
            return Some(failure);
        }
        if let Some(failure) =
            cluster_type.as_ref().and_then(|name| missing("cluster type or cluster", name, &places()))
        {
            return Some(failure);
        }
        let mut labels = sides().map(|side| side.unknown_label(selector));
        let first = labels.next()??;
        labels.all(|other| other.is_some()).then(|| label_failure(first))
    }
}

impl<'p> PlanView<'p> {
    /// Selects all changes of a plan.
    pub fn whole(planned: &'p Planned) -> Self {
        Self { planned, changes: planned.plan.changes.iter().collect(), limit: None }
    }
}
