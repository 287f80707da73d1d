//! Selects the changes of a plan that are shown, and limits their number.

use delivery::planned::Planned;
use delivery::selection::Selection as Selected;
use engine::plan::{AssignmentChange, PlannedId};
use model::selector::LabelSelector;

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

    /// Selects changes of a plan.
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
    /// Selects all changes of a plan.
    pub(in crate::commands) fn whole(planned: &'p Planned) -> Self {
        Self { planned, changes: planned.plan.changes.iter().collect(), filters: String::new(), limit: None }
    }
}
