//! Selects the changes of a plan that are shown, and limits their number.

use std::collections::BTreeSet;

use delivery::output::planned::Planned;
use delivery::output::selection::ChangeSelection as Selected;
use engine::compile::{Compiled, Prepared};
use engine::plan::{AssignmentChange, PlannedId};
use model::selector::LabelSelector;
use workbench::listing::filter::{advice, label_failure};

use crate::arguments;
use crate::exit::Failure;

/// The options that select changes of a plan.
#[derive(Clone, Debug, Default)]
pub(in crate::commands) struct Selection {
    selected: Selected,
    /// The selector as it was typed.
    typed: Option<String>,
    limit: Option<usize>,
}

/// The changes of a plan that are shown.
pub(in crate::commands) struct View<'p> {
    /// The whole plan.
    pub(super) planned: &'p Planned,
    /// The selected changes, by name.
    pub(super) changes: Vec<(&'p PlannedId, &'p AssignmentChange)>,
    /// The selecting options as they were typed. Empty if all changes are selected.
    pub(super) filters: String,
    /// The maximum length of each list, if it is set.
    pub(super) limit: Option<usize>,
}

impl Selection {
    /// Reads the options of the command line.
    pub(super) fn new(options: &arguments::Plan) -> Result<Self, Failure> {
        let typed = options.selector.clone();
        let selector = LabelSelector::parse(typed.as_deref().unwrap_or_default());
        let selector = selector.map_err(|error| {
            Failure::usage(format!("--selector can't be read: {error}"))
                .help("write requirements with commas between them: region=west,tier in (gold,silver),!edge")
        })?;
        let (workload, cluster_type) = (options.workload.clone(), options.cluster_type.clone());
        Ok(Self { selected: Selected { workload, cluster_type, selector }, typed, limit: options.limit })
    }

    /// Selects changes of a plan.
    pub(super) fn view<'p>(&self, planned: &'p Planned) -> View<'p> {
        View { planned, changes: self.selected.changes(planned), filters: self.words(), limit: self.limit }
    }

    /// The error for a name or a label that no state of the environment has, and no change. A filter for it would always show nothing.
    pub(super) fn unknown(&self, (environment, answers): (&str, &[Planned])) -> Option<Failure> {
        let Selected { workload, cluster_type, selector } = &self.selected;
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

    fn words(&self) -> String {
        let Selected { workload, cluster_type, .. } = &self.selected;
        let options = [("--workload", workload), ("--cluster-type", cluster_type), ("--selector", &self.typed)];
        let words = options.iter().filter_map(|(option, value)| Some(format!("{option} {}", value.as_ref()?)));
        words.collect::<Vec<_>>().join(" ")
    }
}

impl<'p> View<'p> {
    /// Selects all changes of a plan.
    pub(in crate::commands) fn whole(planned: &'p Planned) -> Self {
        Self { planned, changes: planned.plan.changes.iter().collect(), filters: String::new(), limit: None }
    }
}
