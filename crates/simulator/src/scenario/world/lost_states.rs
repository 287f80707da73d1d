//! Stored states of a world that are gone: nothing moves until a person restores them.

use engine::promotion::report::{MoveReport, ReportPhase, Waiting};
use engine::promotion::state::BranchPosition;
use engine::promotion::step::State;

use super::World;
use super::moves::SeenMove;
use super::subject::PLATFORM;

/// Why nothing moves.
pub(super) const GONE: &str = "its stored states are gone: a person restores them";

/// What is stored of the states of an environment.
#[derive(Debug, Default)]
pub(super) struct StoredStates {
    /// Those with which it was published last.
    published: State,
    is_gone: bool,
}

impl StoredStates {
    /// Whether they are gone.
    pub(super) fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// The positions to which workloads can return when a person restores the states of the last publication.
    pub(super) fn positions(&self) -> impl Iterator<Item = &BranchPosition> {
        self.published.rollouts.values().flat_map(|state| {
            let current = state.current.iter().map(|current| &current.base);
            let interrupted = state.interrupted.iter().map(|interrupted| &interrupted.movement.base);
            let proved = state.stable.iter().chain(&state.earlier).map(|proved| &proved.at);
            current.chain(interrupted).chain(proved)
        })
    }
}

impl World {
    /// The branch with the states of an environment is deleted.
    pub(super) fn delete_states(&mut self, environment: &str) {
        let Some(number) = self.number(environment) else { return };
        self.environments[number].stored.is_gone = true;
    }

    /// The output of an environment is published: its commit names the states that it follows from.
    pub(super) fn name_states(&mut self, number: usize) {
        self.environments[number].stored.published = self.stored(number);
    }

    /// A person restores the states that the last publication names. What was decided after it is lost. The commits of values that the output has stay there.
    pub(super) fn restore_states(&mut self, environment: &str) {
        let Some(number) = self.number(environment) else { return };
        if !std::mem::take(&mut self.environments[number].stored.is_gone) {
            return self.tell((environment, "refused"), "its stored states are there");
        }
        let State { main, releases, renderer, rollouts, promotion, .. } =
            self.environments[number].stored.published.clone();
        self.environments[number].admitted_promotion = promotion;
        self.read_promotion(number);
        let releases = releases.into_iter().filter_map(|(name, state)| Some((self.workload_number(&name)? + 1, state)));
        let subjects: Vec<_> = main.map(|state| (PLATFORM, state)).into_iter().chain(releases).collect();
        for (subject, state) in subjects {
            self.environments[number].subjects[subject].state = state;
            self.render_admitted(number, subject);
        }
        if let Some(state) = renderer {
            self.set_renderer(number, state);
        }
        for (name, state) in rollouts {
            if let Some(workload) = self.workload_number(&name) {
                self.set_rollout(number, workload, state);
            }
        }
    }

    /// What the controller says of an environment without states. None: they are there.
    pub(super) fn lost_states(&self, number: usize) -> Option<SeenMove> {
        let environment = &self.environments[number];
        let waiting = Waiting { what: "states".into(), text: GONE.into(), since: self.service_time(), answer: None };
        let report = MoveReport { phase: ReportPhase::Stopped, waiting: vec![waiting], ..MoveReport::at_rest() };
        environment.stored.is_gone.then(|| SeenMove::new(environment.name.to_string(), &report, false))
    }
}
