//! The moves of a world, as claims see them.

use std::sync::Arc;

use engine::promotion::report::{MoveReport, ReportPhase};

use super::World;

/// A move, or the lack of one.
pub(super) struct SeenMove {
    /// The environment with the workload.
    name: String,
    pub(super) phase: ReportPhase,
    pub(super) is_held: bool,
    /// Whether the last revision was rolled back or aborted.
    pub(super) is_rejected: bool,
    /// What it waits for: names and reasons.
    pub(super) waiting: Vec<(Arc<str>, Arc<str>)>,
}

impl SeenMove {
    pub(super) fn new(name: String, report: &MoveReport, is_rejected: bool) -> Self {
        let waiting = report.waiting.iter().map(|waiting| (Arc::clone(&waiting.what), Arc::clone(&waiting.text)));
        Self { name, phase: report.phase, is_held: report.is_held, is_rejected, waiting: waiting.collect() }
    }

    /// Whether a reason contains a text. The empty text is in every reason.
    pub(super) fn mentions(&self, text: &str) -> bool {
        text.is_empty() || self.waiting.iter().any(|(what, reason)| **what == *text || reason.contains(text))
    }

    pub(super) fn in_words(&self) -> String {
        let reasons: Vec<_> = self.waiting.iter().map(|(what, text)| format!("{what}: {text}")).collect();
        format!("{} {} ({})", self.name, self.phase.name(), reasons.join("; "))
    }
}

impl World {
    /// The moves of an environment: of one workload, or of all and of the commits of the main branch.
    pub(super) fn moves(&self, number: usize, workload: Option<&str>) -> Vec<SeenMove> {
        if let Some(lost) = self.lost_states(number) {
            return vec![lost];
        }
        let environment = &self.environments[number];
        let rollouts = environment.workloads.iter().zip(&self.workloads);
        let rollouts = rollouts.filter(|(_, name)| workload.is_none_or(|meant| *meant == ***name));
        let rollouts = rollouts.filter_map(|(rollout, name)| {
            let report = rollout.memory.report.as_ref()?;
            let is_rejected = !rollout.state.rejected.is_empty();
            Some(SeenMove::new(format!("{} {name}", environment.name), report, is_rejected))
        });
        let subjects = self.subject_moves(number, workload).into_iter().chain(self.renderer_move(number, workload));
        rollouts.chain(subjects).chain(self.source_moves(number, workload)).collect()
    }

    /// A move that does not rest. None: everything rests.
    pub(super) fn restless(&self) -> Option<String> {
        let moves = (0..self.environments.len()).flat_map(|number| self.moves(number, None));
        moves.into_iter().find(|found| found.phase != ReportPhase::Rest).map(|found| found.in_words())
    }
}
