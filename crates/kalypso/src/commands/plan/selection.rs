//! Which changes of a plan are shown, and how many of them.

use delivery::planned::Planned;
use delivery::selection::Selection as Selected;
use engine::plan::{AssignmentChange, PlannedId};
use model::selector::LabelSelector;

use crate::arguments;
use crate::exit::Failure;

/// What people want to see of a plan.
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
    /// Those that are selected, by name.
    pub(super) changes: Vec<(&'p PlannedId, &'p AssignmentChange)>,
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
        Ok(Self { selected: Selected { workload, cluster_type, selector }, typed, limit: options.limit })
    }

    /// What it selects of a plan.
    pub(super) fn view<'p>(&self, planned: &'p Planned) -> View<'p> {
        View { planned, changes: self.selected.changes(planned), filters: self.words(), limit: self.limit }
    }

    fn words(&self) -> String {
        let Selected { workload, cluster_type, .. } = &self.selected;
        let options = [("--workload", workload), ("--cluster-type", cluster_type), ("--selector", &self.typed)];
        let words = options.iter().filter_map(|(option, value)| Some(format!("{option} {}", value.as_ref()?)));
        words.collect::<Vec<_>>().join(" ")
    }
}

impl<'p> View<'p> {
    /// All of a plan.
    pub(in crate::commands) fn whole(planned: &'p Planned) -> Self {
        Self { planned, changes: planned.plan.changes.iter().collect(), filters: String::new(), limit: None }
    }
}
