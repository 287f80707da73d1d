//! Decisions of people in a world: commands for rollouts and for moves between environments.

use std::sync::Arc;

use engine::promotion::command::{Command, CommandKind, Refusal, apply_to_advance, apply_to_rollout, is_retried_with};
use engine::promotion::state::Revision;

use super::World;
use super::subject::PLATFORM;
use super::values::Source;
use crate::scenario::definition::PersonDecision;

impl World {
    /// A person decides about a workload in an environment, or about the commits of the main branch.
    ///
    /// For a workload, the decision is about its rollout; if that refuses it, about its release on the way into the environment. A retry and a hold are about both, and a
    /// retry of the commits of the main branch is about all rollouts, too.
    pub(super) fn decide(
        &mut self,
        (environment, workload): (&str, Option<&Arc<str>>),
        (by, reason): (&Arc<str>, &Arc<str>),
        decision: &PersonDecision,
    ) {
        let Some(number) = self.number(environment) else { return };
        let source = workload.and_then(|name| self.source_called(name));
        let workload = workload.and_then(|name| self.workloads.iter().position(|known| known == name));
        let subject = workload.map_or(PLATFORM, |workload| workload + 1);
        let kind = self.command_of(decision, (number, subject, source));
        let command = Command { kind, by: Arc::clone(by), at: self.service_time(), reason: Arc::clone(reason) };
        if let Some(source) = source {
            if let Err(refusal) = self.command_source(number, source, &command) {
                let place = self.source_name(number, source);
                self.tell((&place, "refused"), format!("{} by {by} is refused: {refusal}", command.kind.name()));
            }
            return;
        }
        let is_retry = command.kind == CommandKind::Retry;
        let is_of_both = matches!(command.kind, CommandKind::Retry | CommandKind::Hold | CommandKind::Resume);
        let rollouts = match workload {
            _ if !self.environments[number].has_rings() => 0..0,
            Some(workload) => workload..workload + 1,
            None if is_retry => 0..self.workloads.len(),
            None => 0..0,
        };
        let environment = &self.environments[number];
        let commit = &environment.subjects[PLATFORM].state;
        let is_meant = |of: &usize| workload.is_some() || is_retried_with(commit, &environment.workloads[*of].state);
        let rollouts: Vec<_> = rollouts.filter(is_meant).collect();
        let of_rollout = |workload| self.command_rollout((number, workload), &command);
        let answers: Vec<_> = rollouts.into_iter().map(of_rollout).collect();
        let is_done = answers.iter().any(Result::is_ok);
        if is_done && !is_of_both {
            return;
        }
        let is_of_environment = workload.is_none() && matches!(command.kind, CommandKind::Hold | CommandKind::Resume);
        let answer = if is_of_environment || self.is_moved(number, subject) {
            self.command_subject((number, subject), &command).map_err(|refusal| refusal.to_string())
        } else {
            Err(format!("it does not move into {}", self.environments[number].name))
        };
        if let Err(refusal) = answer
            && !is_done
        {
            let refusal = answers.into_iter().find_map(Result::err).map_or(refusal, |refusal| refusal.to_string());
            let place = self.subject_name(number, subject);
            self.tell((&place, "refused"), format!("{} by {by} is refused: {refusal}", command.kind.name()));
        }
    }

    /// The command of a decision about a subject, or about a source.
    fn command_of(
        &self,
        decision: &PersonDecision,
        (number, subject, source): (usize, usize, Option<Source>),
    ) -> CommandKind {
        match decision {
            PersonDecision::Approve => CommandKind::Approve { gate: None },
            PersonDecision::Hold => CommandKind::Hold,
            PersonDecision::Resume => CommandKind::Resume,
            PersonDecision::Abort => CommandKind::Abort,
            PersonDecision::Retry => CommandKind::Retry,
            PersonDecision::Skip(gate) => CommandKind::Skip { gate: Arc::clone(gate) },
            PersonDecision::RollBack => CommandKind::Rollback { to: None, with_values: false },
            PersonDecision::Override => {
                let known = &self.environments[number];
                let state = source.map_or(&known.subjects[subject].state, |source| &known.source(source).state);
                let waiting = state.current.as_ref();
                let revision = waiting.map_or_else(|| Revision("".into()), |candidate| candidate.revision.clone());
                CommandKind::Override { revision }
            }
            PersonDecision::Promote(revision) => {
                let newest = self.line(subject).into_iter().next();
                let revision = revision.clone().map(Revision).or(newest);
                CommandKind::Request { revision: revision.unwrap_or_else(|| Revision("".into())) }
            }
        }
    }

    fn command_rollout(&mut self, (number, workload): (usize, usize), command: &Command) -> Result<(), Refusal> {
        let place = format!("{} {}", self.environments[number].name, self.workloads[workload]);
        let rollout = &mut self.environments[number].workloads[workload];
        let command = &rollout.with_target(workload, command)?;
        let state = apply_to_rollout(&rollout.state, command)?;
        let revision =
            state.current.as_ref().or(rollout.state.current.as_ref()).map(|current| current.revision.clone());
        rollout.state = state;
        // A rollback may lead to another proved revision than before.
        rollout.memory.changed = None;
        self.tell_events(&place, &[command.event(revision)]);
        let (environment, mut repository) = self.environment(number);
        environment.keep_positions(workload);
        environment.follow(workload, &mut repository);
        Ok(())
    }

    fn command_subject(&mut self, (number, subject): (usize, usize), command: &Command) -> Result<(), Refusal> {
        let place = self.subject_name(number, subject);
        let known = &mut self.environments[number].subjects[subject];
        let state = apply_to_advance(&known.state, command)?;
        let revision = state.current.as_ref().or(known.state.current.as_ref()).map(|current| current.revision.clone());
        known.state = state;
        self.tell_events(&place, &[command.event(revision)]);
        self.render_admitted(number, subject);
        Ok(())
    }
}
