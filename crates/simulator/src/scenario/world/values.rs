//! Values in a world: commits on the branches of environments, which wait for the gates that ask people or the clock.

use engine::promotion::command::{Command, Refusal, apply_to_advance};
use engine::promotion::origin::for_origin;
use engine::promotion::report::ReportPhase;
use engine::promotion::source::{SourceInput, step};
use engine::promotion::state::Revision;
use model::object::promotion::{ChangeOrigin, Gate};

use super::World;
use super::environment::Environment;
use super::moves::SeenMove;
use crate::scenario::contents::Commit;
use crate::scenario::definition::VALUES;

/// The account that writes values.
pub(in crate::scenario) const AUTHOR: &str = "olga";

impl Environment {
    /// The gates that values wait for.
    pub(in crate::scenario) fn gates_of_values(&self) -> Vec<Gate> {
        let promotion = self.promotion.as_ref();
        promotion.map(|promotion| for_origin(promotion, ChangeOrigin::Values).gates).unwrap_or_default()
    }
}

impl World {
    /// A commit on the branch of an environment that changes values.
    pub(super) fn add_values(&mut self, number: usize, commit: Commit) {
        self.environments[number].values.pending.push(commit);
        self.step_values(number);
    }

    /// Lets values in when their gates hold. True: they need another step later.
    pub(super) fn step_values(&mut self, number: usize) -> bool {
        let environment = &self.environments[number];
        let Some(newest) = environment.values.pending.last().filter(|_| !self.system.is_service_down()) else {
            return false;
        };
        let head = Revision(newest.name.clone());
        let input = SourceInput {
            now: self.service_time(),
            gates: &environment.gates_of_values(),
            head: &head,
            is_change: true,
            approvals: &[],
            author: Some(AUTHOR),
            teams: &self.system.teams,
            hold: environment.subjects[super::subjects::PLATFORM].state.hold.as_ref(),
        };
        let found = step(&input, &environment.values.state);
        let is_admitted = found.state.admitted.as_ref() == Some(&head);
        let waits = found.report.phase != ReportPhase::Rest || !found.report.waiting.is_empty();
        if waits || environment.values.report.is_some() {
            self.tell_events(&self.values_name(number), &found.events);
        }
        let values = &mut self.environments[number].values;
        (values.state, values.report) = (found.state, waits.then_some(found.report));
        if is_admitted {
            for commit in std::mem::take(&mut values.pending) {
                self.commit(number, commit);
            }
        }
        waits
    }

    pub(super) fn command_values(&mut self, number: usize, command: &Command) -> Result<(), Refusal> {
        let known = &self.environments[number].values.state;
        let state = apply_to_advance(known, command)?;
        let revision = state.current.as_ref().or(known.current.as_ref()).map(|current| current.revision.clone());
        self.environments[number].values.state = state;
        self.tell_events(&self.values_name(number), &[command.event(revision)]);
        Ok(())
    }

    pub(super) fn values_moves(&self, number: usize) -> Option<SeenMove> {
        let values = &self.environments[number].values;
        let report = values.report.as_ref()?;
        Some(SeenMove::new(self.values_name(number), report, !values.state.rejected.is_empty()))
    }

    fn values_name(&self, number: usize) -> String {
        format!("{} {VALUES}", self.environments[number].name)
    }
}
