//! Decisions of people in a world: commands for rollouts and for moves between environments.

use std::sync::Arc;

use engine::promotion::command::{Command, CommandKind, CommandRefusal, gates_passed};
use engine::promotion::decision::{About, ChangedMove, DecisionFacts, DecisionRequest, apply};
use engine::promotion::gates::Teams;
use engine::promotion::report::MoveEvent;
use engine::promotion::state::{AdvanceState, Revision, RolloutState};
use engine::promotion::step::{RENDERER, Subject};
use jiff::SignedDuration;
use model::object::Promotion;

use super::World;
use super::lost_states::GONE;
use super::subject::PLATFORM;
use crate::scenario::definition::{DecisionEvent, DecisionKind};

impl World {
    /// A person decides about a workload in an environment, about one of its sources, or about the commits of the main branch.
    pub(super) fn decide(&mut self, decided: &DecisionEvent) {
        let DecisionEvent { environment, subject: name, by, decision, reason } = decided;
        let name = name.as_ref();
        let Some(number) = self.number(environment) else { return };
        let source = name.and_then(|name| self.source_called(name));
        if self.environments[number].stored.is_gone() {
            return self.tell((environment, "refused"), format!("a decision by {by} is refused: {GONE}"));
        }
        let is_renderer = name.is_some_and(|name| **name == *RENDERER);
        let subject = self.subject_called(name.map(|name| &**name));
        let (state, newest) = match source {
            Some(source) => (self.environments[number].source(source).state.as_ref(), None),
            None if is_renderer => (self.state_of(number, subject), Some(self.installed_renderer())),
            None => (self.state_of(number, subject), self.line(subject).into_iter().next()),
        };
        let kind = self.command_of(decision, (state.cloned().unwrap_or_default(), newest));
        let command = Command { kind, by: Arc::clone(by), at: self.service_time(), reason: Arc::clone(reason) };
        let about = match (source, name) {
            _ if is_renderer => About::Renderer,
            (Some(source), _) => About::Source(&self.subject_of(source)),
            (None, Some(name)) => About::Workload(name),
            (None, None) => About::Environment,
        };
        // In the words of scenarios, an approval that names nothing is about the commits of the main branch.
        let moving = self.state_of(number, PLATFORM).and_then(|state| state.current.as_ref());
        let moving = moving.map_or("no revision", |moving| &moving.revision.0);
        let is_of_main = about == About::Environment && matches!(command.kind, CommandKind::Approve { .. });
        let revision = match decision {
            DecisionKind::Skip(_, revision) => revision.as_deref(),
            _ => is_of_main.then_some(moving),
        };
        let request = DecisionRequest { about, revision, command: &command };
        let applied = apply(&self.stored(number), request, &DecidedWorld { world: self, number });
        match applied {
            Ok(applied) => {
                for (changed, event) in applied.changes {
                    self.change_state(number, changed, event);
                }
            }
            Err(refusal) => {
                let place = match source {
                    Some(source) => self.source_name(number, source),
                    None => self.subject_name(number, subject),
                };
                self.tell((&place, "refused"), format!("{} by {by} is refused: {refusal}", command.kind.name()));
            }
        }
    }

    fn change_state(&mut self, number: usize, changed: ChangedMove, event: MoveEvent) {
        let (subject, state) = match changed {
            ChangedMove::Main(state) => (PLATFORM, state),
            ChangedMove::Release(workload, state) => (self.subject_number(&Subject::Release(workload)), state),
            ChangedMove::Renderer(state) => {
                self.tell_events(&self.subject_name(number, self.renderer_subject()), &[event]);
                self.set_renderer(number, state);
                return;
            }
            ChangedMove::Source(name, state) => {
                let Some(source) = self.source_called(&name) else { return };
                self.tell_events(&self.source_name(number, source), &[event]);
                return self.set_source(number, source, state);
            }
            ChangedMove::Rollout(name, state) => {
                let Some(workload) = self.workload_number(&name) else { return };
                self.tell_events(&format!("{} {name}", self.environments[number].name), &[event]);
                return self.set_rollout(number, workload, state);
            }
        };
        self.tell_events(&self.subject_name(number, subject), &[event]);
        self.environments[number].subjects[subject].state = state;
        self.render_admitted(number, subject);
    }

    /// The command of a decision about something in this state. `newest` is what a person promotes that names no revision.
    fn command_of(&self, decision: &DecisionKind, (state, newest): (AdvanceState, Option<Revision>)) -> CommandKind {
        match decision {
            DecisionKind::Approve => CommandKind::Approve { gate: None },
            DecisionKind::Hold => CommandKind::Hold,
            DecisionKind::Resume => CommandKind::Resume,
            DecisionKind::Abort => CommandKind::Abort,
            DecisionKind::Retry => CommandKind::Retry,
            DecisionKind::Skip(gate, _) => CommandKind::Skip { gate: Arc::clone(gate) },
            DecisionKind::RollBack => CommandKind::Rollback { to: None, with_values: false },
            DecisionKind::Override => {
                let waiting = state.current.as_ref();
                let expires = self.service_time() + SignedDuration::from_hours(24);
                let revision = waiting.map_or_else(|| Revision("".into()), |candidate| candidate.revision.clone());
                CommandKind::Override { gates: gates_passed(&state, &revision, &[]), revision, expires }
            }
            DecisionKind::Promote(revision) => {
                let revision = revision.clone().map(Revision).or(newest);
                CommandKind::Request { revision: revision.unwrap_or_else(|| Revision("".into())) }
            }
        }
    }

    pub(super) fn set_rollout(&mut self, number: usize, workload: usize, state: RolloutState) {
        let rollout = &mut self.environments[number].workloads[workload];
        rollout.state = state;
        let (environment, mut repository) = self.environment(number);
        environment.keep_positions(workload);
        environment.follow(workload, &mut repository);
    }
}

/// What is known beside the states when a person decides.
struct DecidedWorld<'a> {
    world: &'a World,
    number: usize,
}

impl DecisionFacts for DecidedWorld<'_> {
    fn promotion(&self) -> Option<&Promotion> {
        self.world.environments[self.number].promotion.as_ref()
    }

    fn teams(&self) -> &Teams {
        &self.world.system.teams
    }

    fn with_target(&self, workload: &str, state: &RolloutState, command: &Command) -> Result<Command, CommandRefusal> {
        let environment = &self.world.environments[self.number];
        match self.world.workloads.iter().position(|name| **name == *workload) {
            Some(number) => environment.workloads[number].with_target(number, state, command),
            None => Ok(command.clone()),
        }
    }

    fn beginning(&self, source: &str) -> Option<AdvanceState> {
        let source = self.world.source_called(source)?;
        Some(AdvanceState::beginning(self.world.environments[self.number].source(source).read.clone()))
    }
}
