//! The transitions of a move between environments, one after another until nothing more changes.

use std::sync::Arc;

use model::object::promotion::{Gate, GateKind, OnFailure};

use super::line::{Line, candidate};
use super::{Action, AdvanceInput, AdvanceStep, evaluate};
use crate::promotion::report::{Event, EventKind};
use crate::promotion::state::{
    AdvanceState, CandidatePhase, GateRecord, GateStatus, Position, Proved, Rejection, Revision,
};

/// Transitions in a step. Each phase begins at most once, for the current move and the next one.
const TRANSITIONS_MAX: usize = 16;

/// A step in progress.
pub(super) struct Machine<'a> {
    pub(super) input: &'a AdvanceInput<'a>,
    pub(super) before: &'a AdvanceState,
    pub(super) state: AdvanceState,
    pub(super) events: Vec<Event>,
    pub(super) line: Line<'a>,
    /// The newest revision that can move.
    pub(super) newest: Option<Revision>,
}

impl<'a> Machine<'a> {
    pub(super) fn new(input: &'a AdvanceInput<'a>, before: &'a AdvanceState) -> Self {
        let line = Line::new(input.line);
        let newest = candidate(input, &line).cloned();
        Self { input, before, state: before.clone(), events: Vec::new(), line, newest }
    }

    pub(super) fn run(&mut self) {
        self.note_environment();
        for _ in 0..TRANSITIONS_MAX {
            self.note_newer();
            if !self.transition() {
                return;
            }
        }
    }

    pub(super) fn emit(&mut self, kind: EventKind, revision: Option<Revision>, text: String) {
        let gates = self.state.current.as_ref().map(|current| current.gates.clone()).unwrap_or_default();
        self.events.push(Event { at: self.input.now, kind, revision, text: text.into(), gates });
    }

    /// Remembers what the environment has. Follows a person who wrote another revision into it.
    fn note_environment(&mut self) {
        let Some(at) = self.input.at else { return };
        let before = self.state.at.replace(at.clone());
        if before.as_ref() == Some(at) || self.is_expected(at) {
            return;
        }
        let proved = self.state.proved.as_ref().map(|proved| proved.revision.clone());
        let entered = self.state.current.as_ref().filter(|current| has_entered(&current.phase));
        let replaced = entered.map(|current| current.revision.clone()).or_else(|| proved.clone());
        if proved.as_ref() == Some(at) {
            let text = "a person wrote the proved revision into the environment";
            if entered.is_some() {
                self.reject(EventKind::MovedByHand, text);
            } else if before.is_some() {
                self.emit(EventKind::MovedByHand, Some(at.clone()), text.to_owned());
            }
            return;
        }
        if let Some(replaced) = replaced.filter(|replaced| self.line.is_older(at, replaced)) {
            let reason = "a person wrote an older revision into the environment".into();
            self.state.rejected = Some(Rejection { revision: replaced, reason });
        }
        let is_first = self.state.current.is_none() && self.state.proved.is_none() && before.is_none();
        self.state.requested = None;
        if is_first {
            let phase = CandidatePhase::Proving { since: self.input.now };
            self.state.current = Some(self.new_candidate(at.clone(), phase));
            let text = "the environment has it already, and proves it";
            self.emit(EventKind::Started, Some(at.clone()), text.to_owned());
            return;
        }
        // It waits for its gates as if it were not there: until they hold, nothing of it is published.
        if self.state.current.as_ref().is_none_or(|current| current.revision != *at) {
            self.state.current = Some(self.new_candidate(at.clone(), CandidatePhase::Gated));
        }
        let text = "a person wrote it into the environment, past the gates";
        self.emit(EventKind::MovedByHand, Some(at.clone()), text.to_owned());
    }

    /// Whether a step asked for the revision that the environment has.
    fn is_expected(&self, at: &Revision) -> bool {
        let Some(current) = &self.state.current else { return false };
        let proved = self.state.proved.as_ref().map(|proved| &proved.revision);
        match current.phase {
            CandidatePhase::Gated => false,
            CandidatePhase::RollingBack { .. } => proved == Some(at) || current.revision == *at,
            _ => current.revision == *at,
        }
    }

    /// One transition. False: nothing more changes.
    fn transition(&mut self) -> bool {
        let is_held = self.state.hold.is_some();
        if !is_held && self.start_requested() {
            return true;
        }
        if !is_held && (self.state.current.is_none() || self.gives_way()) && self.start_next() {
            return true;
        }
        let Some(current) = &self.state.current else { return false };
        match current.phase.clone() {
            CandidatePhase::Gated => self.pass_gates(is_held),
            CandidatePhase::Entering { .. } => self.enter(is_held),
            CandidatePhase::Proving { .. } => self.prove(is_held),
            CandidatePhase::Stopped { .. } => self.resume(is_held),
            CandidatePhase::RollingBack { .. } => !is_held && self.end_rollback(),
        }
    }

    fn pass_gates(&mut self, is_held: bool) -> bool {
        let Some(current) = self.state.current.as_mut() else { return false };
        let report = evaluate::gated(self.input, &self.line, current);
        current.good_since = report.good_since;
        current.gates = report.records;
        let revision = current.revision.clone();
        let is_started = !self.is_manual() || self.is_requested(&revision) || self.input.at == Some(&revision);
        if !report.all_hold || !is_started || is_held {
            return false;
        }
        self.emit(EventKind::Promoted, Some(revision), "the gates hold".to_owned());
        self.set_phase(CandidatePhase::Entering { since: self.input.now });
        // The gates are evaluated until the environment has the revision.
        self.state.current.iter_mut().for_each(|current| current.good_since = report.good_since);
        true
    }

    /// Waits until the environment has the revision. Its pull request may be open for days: what fails meanwhile, and a window that ends, count.
    fn enter(&mut self, is_held: bool) -> bool {
        let Some(current) = self.state.current.as_mut() else { return false };
        if self.input.at != Some(&current.revision) {
            let report = evaluate::gated(self.input, &self.line, current);
            current.good_since = report.good_since;
            let is_over = report.records.iter().any(|record| ends_entry(self.input, record));
            if is_over && !is_held {
                current.gates = report.records;
                current.phase = CandidatePhase::Gated;
            }
            return is_over && !is_held;
        }
        // The gates of the environments before have other subjects than those of the proof, though their names may be the same.
        self.state.current.iter_mut().for_each(|current| current.gates.clear());
        self.set_phase(CandidatePhase::Proving { since: self.input.now })
    }

    /// Begins a phase.
    fn set_phase(&mut self, phase: CandidatePhase) -> bool {
        let Some(current) = self.state.current.as_mut() else { return false };
        current.phase = phase;
        current.good_since = None;
        true
    }

    /// Evaluates the gates by which the environment proves its revision. Returns why it fails, and whether the revision is proved.
    fn evaluate_proof(&mut self) -> (Option<Arc<str>>, bool) {
        let Some(current) = self.state.current.as_mut() else { return (None, false) };
        let report = evaluate::proving(self.input, current);
        current.good_since = report.good_since;
        current.gates = report.records;
        let is_failed = |record: &&GateRecord| record.status == GateStatus::Failed;
        let failed = current.gates.iter().find(is_failed).map(|record| Arc::clone(&record.text));
        (self.input.to_failed.clone().or(failed), report.all_hold && self.input.to_settled.is_ok())
    }

    fn prove(&mut self, is_held: bool) -> bool {
        let (failed, is_proved) = self.evaluate_proof();
        if is_held {
            return false;
        }
        if let Some(reason) = failed {
            self.fail(reason);
            return true;
        }
        if !is_proved {
            return false;
        }
        let Some(current) = self.state.current.as_ref() else { return false };
        let revision = current.revision.clone();
        self.emit(EventKind::Proved, Some(revision.clone()), "the environment proved it".to_owned());
        self.state.current = None;
        self.forget(&revision);
        self.state.rejected = self.state.rejected.take().filter(|rejected| rejected.revision != revision);
        self.state.proved = Some(Proved { revision, at: Position::default(), on: self.input.now });
        true
    }

    /// Stops the move, or returns to the proved revision.
    fn fail(&mut self, reason: Arc<str>) {
        let Some(current) = self.state.current.as_ref() else { return };
        let (revision, since) = (current.revision.clone(), self.input.now);
        let can_return = self.state.proved.as_ref().is_some_and(|proved| proved.revision != revision);
        if self.input.promotion.on_failure == OnFailure::RollBackEnvironment && can_return {
            self.emit(EventKind::RollingBack, Some(revision), reason.to_string());
            self.set_phase(CandidatePhase::RollingBack { reason, since });
        } else {
            self.emit(EventKind::Stopped, Some(revision), reason.to_string());
            self.set_phase(CandidatePhase::Stopped { reason, since });
        }
    }

    fn resume(&mut self, is_held: bool) -> bool {
        let (failed, _) = self.evaluate_proof();
        if is_held || failed.is_some() || self.input.to_measured.is_err() {
            return false;
        }
        let revision = self.state.current.as_ref().map(|current| current.revision.clone());
        self.emit(EventKind::Resumed, revision, "the failures are gone".to_owned());
        self.set_phase(CandidatePhase::Proving { since: self.input.now })
    }

    /// Ends a rollback when the environment has the proved revision again.
    fn end_rollback(&mut self) -> bool {
        let proved = self.state.proved.as_ref().map(|proved| &proved.revision);
        if self.input.at.is_none() || self.input.at != proved || self.input.to_settled.is_err() {
            return false;
        }
        self.reject(EventKind::RolledBack, "the environment has the proved revision again");
        true
    }

    /// Ends the move without a proof.
    fn reject(&mut self, kind: EventKind, text: &str) {
        let Some(current) = self.state.current.take() else { return };
        self.forget(&current.revision);
        let reason = match current.phase {
            CandidatePhase::RollingBack { reason, .. } => reason,
            _ => text.into(),
        };
        self.state.rejected = Some(Rejection { revision: current.revision.clone(), reason });
        self.emit(kind, Some(current.revision), text.to_owned());
    }

    /// A request is done when its revision is proved, rejected or replaced.
    pub(super) fn forget(&mut self, revision: &Revision) {
        self.state.requested = self.state.requested.take().filter(|(requested, _)| requested != revision);
    }

    pub(super) fn finish(mut self) -> AdvanceStep {
        let report = self.report();
        self.emit_waiting(&report);
        let action = self.action();
        AdvanceStep { state: self.state, action, report, events: self.events }
    }

    fn action(&self) -> Option<Action> {
        let current = self.state.current.as_ref().filter(|_| self.state.hold.is_none())?;
        match &current.phase {
            CandidatePhase::Entering { .. } => Some(Action::Write { revision: current.revision.clone() }),
            CandidatePhase::RollingBack { .. } => {
                let to = self.state.proved.as_ref()?.revision.clone();
                (self.input.at != Some(&to)).then_some(Action::RollBack { to })
            }
            _ => None,
        }
    }
}

/// Whether the environment has the revision of a move in this phase.
fn has_entered(phase: &CandidatePhase) -> bool {
    matches!(phase, CandidatePhase::Proving { .. } | CandidatePhase::Stopped { .. })
}

/// Whether a gate takes a change back that has not entered yet: it failed, its window ended, or its share is not reached any more. Evidence that is missing for a
/// while does not.
fn ends_entry(input: &AdvanceInput<'_>, record: &GateRecord) -> bool {
    let is_known = input.from.iter().all(|from| from.settled.is_ok() && from.measured.is_ok());
    // With several environments before, a gate that measures them has the name of one in front.
    let name = record.name.rsplit('/').next().unwrap_or_default();
    let is_strict = |gate: &Gate| match gate.kind {
        GateKind::Window(_) => *gate.name == *record.name,
        GateKind::Compliant { .. } => is_known && *gate.name == *name,
        _ => false,
    };
    match record.status {
        GateStatus::Failed => true,
        GateStatus::Waiting => input.promotion.gates.iter().any(is_strict),
        GateStatus::Passed | GateStatus::Skipped(_) => false,
    }
}
