//! The transitions of a move between environments, one after another until nothing more changes.

use std::sync::Arc;

use model::object::promotion::OnFailure;

use super::line::Line;
use super::standing::Proofs;
use super::{AdvanceAction, AdvanceInput, AdvanceStep, evaluate};
use crate::promotion::evidence::Measured;
use crate::promotion::gates;
use crate::promotion::report::{EventKind, MoveEvent};
use crate::promotion::state::{
    AdvanceState, BranchPosition, Candidate, CandidatePhase, Decision, GateRecord, GateStatus, MoveRequest, Proved,
    Revision,
};

/// Transitions in a step. Each phase begins at most once, for the current move and the next one.
const TRANSITIONS_MAX: usize = 16;

/// A step in progress.
pub(super) struct Machine<'a> {
    pub(super) input: &'a AdvanceInput<'a>,
    pub(super) before: &'a AdvanceState,
    pub(super) state: AdvanceState,
    pub(super) events: Vec<MoveEvent>,
    pub(super) line: Line<'a>,
    /// The newest revision that can move.
    pub(super) newest: Option<Revision>,
}

impl<'a> Machine<'a> {
    pub(super) fn new(input: &'a AdvanceInput<'a>, (before, state): (&'a AdvanceState, &AdvanceState)) -> Self {
        let line = Line::new(input.line);
        let mut state = state.clone().with_admitted();
        note_evidence(input, &line, &mut state);
        let newest = Proofs { input, line: &line, state: &state }.candidate().cloned();
        Self { input, before, state, events: Vec::new(), line, newest }
    }

    /// The hold of a person, of this move or of the whole environment.
    pub(super) fn hold(&self) -> Option<&Decision> {
        self.state.hold.as_ref().or(self.input.hold)
    }

    /// What the environments before show of revisions.
    pub(super) fn proofs(&self) -> Proofs<'_> {
        Proofs { input: self.input, line: &self.line, state: &self.state }
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
        self.events.push(MoveEvent { at: self.input.now, kind, revision, text: text.into(), gates });
    }

    /// Remembers what the sources of the environment name. Follows a person who wrote another revision into them.
    fn note_environment(&mut self) {
        let Some(at) = self.input.at else { return };
        let before = self.state.at.replace(at.clone());
        if before.is_none() && self.state.admitted.is_none() {
            self.begin(at);
        }
        if before.as_ref() == Some(at) || self.is_expected(at) {
            return;
        }
        let admitted = self.state.admitted.clone();
        if admitted.as_ref() == Some(at) {
            self.return_by_hand(at, before.is_some());
            return;
        }
        self.state.stays = None;
        if let Some(replaced) = admitted.filter(|replaced| self.goes_back(replaced, at)) {
            let reason = "a person wrote an older revision into the environment";
            self.state.reject(replaced, (reason.into(), self.input.now));
        }
        self.reject_what_rolls_back();
        self.state.requested = None;
        // It waits for its gates as if it were not there: until they hold, nothing of it is published.
        if self.state.current.as_ref().is_none_or(|current| current.revision != *at) {
            self.state.current = Some(self.new_candidate(at.clone(), CandidatePhase::Gated));
        }
        let text = "a person wrote it into the branch of the environment; it waits for its gates";
        self.emit(EventKind::MovedByHand, Some(at.clone()), text.to_owned());
    }

    /// The first step: what the environment has published is admitted. If it has published nothing, what it begins with.
    fn begin(&mut self, at: &Revision) {
        let first = self.input.baseline.unwrap_or(at).clone();
        self.state.admitted = Some(first.clone());
        let phase = CandidatePhase::Proving { since: self.input.now };
        self.state.current = Some(self.new_candidate(first.clone(), phase));
        self.emit(EventKind::Started, Some(first), "the environment has it already, and proves it".to_owned());
    }

    /// A person wrote the admitted revision into the sources again.
    fn return_by_hand(&mut self, at: &Revision, is_change: bool) {
        let text = "a person wrote the proved revision into the environment";
        let is_waiting = |current: &Candidate| !current.phase.is_admitted() && current.revision != *at;
        if self.state.current.as_ref().is_some_and(is_waiting) {
            self.reject(EventKind::MovedByHand, text);
        } else if is_change {
            self.emit(EventKind::MovedByHand, Some(at.clone()), text.to_owned());
        }
    }

    /// What is being rolled back stays rejected when a person writes something else.
    fn reject_what_rolls_back(&mut self) {
        let rolls_back = |current: &mut Candidate| matches!(current.phase, CandidatePhase::RollingBack { .. });
        if let Some(Candidate { revision, phase: CandidatePhase::RollingBack { reason, .. }, .. }) =
            self.state.current.take_if(rolls_back)
        {
            self.state.reject(revision, (reason, self.input.now));
        }
    }

    /// Whether a step asked for the revision that the sources name.
    fn is_expected(&self, at: &Revision) -> bool {
        let Some(current) = &self.state.current else { return false };
        match current.phase {
            CandidatePhase::Gated => false,
            CandidatePhase::RollingBack { .. } => self.state.admitted.as_ref() == Some(at) || current.revision == *at,
            _ => current.revision == *at,
        }
    }

    /// One transition. False: nothing more changes.
    fn transition(&mut self) -> bool {
        let is_held = self.hold().is_some();
        if !is_held && self.start_requested() {
            return true;
        }
        if !is_held && (self.state.current.is_none() || self.gives_way()) && self.start_next() {
            return true;
        }
        let Some(current) = &self.state.current else { return false };
        if self.input.about != Some(&current.revision) {
            return false;
        }
        match current.phase.clone() {
            CandidatePhase::Gated if self.is_lost() => self.drop_lost(),
            CandidatePhase::Gated => self.pass_gates(is_held),
            CandidatePhase::Entering { .. } => self.enter(is_held),
            CandidatePhase::Proving { .. } => self.prove(is_held),
            CandidatePhase::Stopped { .. } => self.resume(is_held),
            // Not even a hold keeps an environment from returning to what it has proved.
            CandidatePhase::RollingBack { .. } => self.end_rollback(),
        }
    }

    /// Whether the evidence about the environment is about what is admitted now. What was admitted in this step is not published yet.
    fn published(&self) -> Result<(), Arc<str>> {
        let is_new = self.before.admitted.is_some() && self.before.admitted != self.state.admitted;
        if is_new { Err("its output is not published yet".into()) } else { Ok(()) }
    }

    /// The state of all places of the environment for what is admitted now, or why it is not known.
    fn to_measured(&self) -> Result<Measured, Arc<str>> {
        self.published().and_then(|()| self.input.to_measured.clone())
    }

    /// Whether the environment has published what is admitted now, and nothing is open in it, or why not.
    pub(super) fn to_settled(&self) -> Result<(), Arc<str>> {
        self.published().and_then(|()| self.input.to_settled.clone())
    }

    /// Evaluates the gates of the candidate, and keeps their records. Returns whether all hold, and whether one of them takes back what has not entered yet.
    fn evaluate_gates(&mut self) -> (bool, bool) {
        let Some(current) = self.state.current.clone() else { return (false, false) };
        let found = evaluate::gated(self.proofs(), &current);
        let is_over = found.report.records.iter().any(|record| evaluate::ends_entry(self.input, record));
        if let Some(current) = self.state.current.as_mut() {
            current.good_since = found.report.good_since;
            current.steady_since = found.steady_since;
            current.gates = found.report.records;
            current.authors = gates::recorded(&self.input.promotion.gates, self.input.authors);
        }
        (found.report.all_hold, is_over)
    }

    fn pass_gates(&mut self, is_held: bool) -> bool {
        let (all_hold, _) = self.evaluate_gates();
        let Some(current) = self.state.current.as_mut() else { return false };
        let revision = current.revision.clone();
        let is_started = !self.is_manual() || self.is_requested(&revision) || self.input.at == Some(&revision);
        if !all_hold || !is_started || is_held {
            return false;
        }
        self.emit(EventKind::Promoted, Some(revision), "the gates hold".to_owned());
        if let Some(current) = self.state.current.as_mut() {
            current.phase = CandidatePhase::Entering { since: self.input.now };
        }
        true
    }

    /// Waits until the sources of the environment name the revision, and admits it if its gates still hold. Its pull request may be open for days: what fails
    /// meanwhile, what people withdraw, and a window that ends, count, also after the merge.
    fn enter(&mut self, is_held: bool) -> bool {
        let Some(current) = self.state.current.clone() else { return false };
        let is_there = self.input.at == Some(&current.revision);
        let (all_hold, is_over) = self.evaluate_gates();
        if is_held || (is_there && all_hold) {
            return !is_held && self.admit();
        }
        if !is_there && !is_over {
            // Until it ends, the records are those with which the gates held.
            if let Some(now) = self.state.current.as_mut() {
                now.gates = current.gates;
            }
            return false;
        }
        if let Some(current) = self.state.current.as_mut() {
            current.phase = CandidatePhase::Gated;
        }
        true
    }

    /// Whether a revision is older than the one that it replaces. Where their order is not known, one that the environment has proved is.
    fn goes_back(&self, replaced: &Revision, to: &Revision) -> bool {
        let is_proved = || self.state.has_proved(to) && !self.line.is_older(replaced, to);
        replaced != to && (self.line.is_older(to, replaced) || is_proved())
    }

    /// From now on, the output has the candidate.
    fn admit(&mut self) -> bool {
        let Some(revision) = self.state.current.as_ref().map(|current| current.revision.clone()) else { return false };
        let replaced = self.state.admitted.replace(revision.clone());
        self.state.stays = None;
        if let Some(replaced) = replaced.filter(|replaced| self.goes_back(replaced, &revision)) {
            if !self.state.is_rejected(&replaced) {
                let reason = format!("the older `{}` replaced it", revision.0);
                self.state.reject(replaced, (reason.into(), self.input.now));
            }
            let is_return = |request: &MoveRequest| request.revision == revision && !request.is_retry;
            let request = self.state.requested.clone().filter(is_return);
            self.state.stays = request.map(|request| request.decision);
        }
        self.state.forgive(&revision);
        // The gates of the environments before have other subjects than those of the proof, though their names may be the same.
        self.state.current.iter_mut().for_each(|current| current.entry = std::mem::take(&mut current.gates));
        self.set_phase(CandidatePhase::Proving { since: self.input.now })
    }

    /// Begins a phase.
    fn set_phase(&mut self, phase: CandidatePhase) -> bool {
        let Some(current) = self.state.current.as_mut() else { return false };
        current.phase = phase;
        (current.good_since, current.steady_since) = (None, None);
        true
    }

    /// Evaluates the gates by which the revision was admitted again, until its output is merged while all of them hold. Returns whether they hold.
    fn evaluate_entry(&mut self) -> bool {
        if self.input.is_published && self.published().is_ok() {
            self.state.current.iter_mut().for_each(Candidate::settle_override);
        }
        let Some(current) = self.state.current.clone() else { return true };
        if self.input.is_proposed || !current.entry.iter().all(GateRecord::holds) {
            let entry = evaluate::entry(self.proofs(), &current);
            self.state.current.iter_mut().for_each(|current| current.entry.clone_from(&entry));
            return entry.iter().all(GateRecord::holds);
        }
        true
    }

    /// Evaluates the gates by which the environment proves its revision. Returns why it fails, and whether the revision is proved.
    fn evaluate_proof(&mut self) -> (Option<Arc<str>>, bool) {
        let (measured, is_settled) = (self.to_measured(), self.to_settled().is_ok());
        let is_published = self.published().is_ok();
        let Some(current) = self.state.current.as_mut() else { return (None, false) };
        let report = evaluate::proving(self.input, (current, measured));
        current.good_since = report.good_since;
        current.gates = report.records;
        let is_failed = |record: &&GateRecord| record.status == GateStatus::Failed;
        let failed = current.gates.iter().find(is_failed).map(|record| Arc::clone(&record.text));
        let stopped = self.input.to_failed.clone().filter(|_| is_published);
        (stopped.or(failed), report.all_hold && is_settled)
    }

    fn prove(&mut self, is_held: bool) -> bool {
        let is_entitled = self.evaluate_entry();
        let (failed, is_proved) = self.evaluate_proof();
        if is_held {
            return false;
        }
        if let Some(reason) = failed {
            self.fail(reason);
            return true;
        }
        if !is_proved || !is_entitled {
            return false;
        }
        let Some(current) = self.state.current.as_ref() else { return false };
        let revision = current.revision.clone();
        self.emit(EventKind::Proved, Some(revision.clone()), "the environment proved it".to_owned());
        self.state.current = None;
        self.forget(&revision);
        self.state.forgive(&revision);
        let proved = Proved { revision, at: BranchPosition::default(), on: self.input.now };
        let measured = self.to_measured().ok();
        self.state.prove(proved, measured);
        true
    }

    /// Stops the move, or returns to the proved revision.
    fn fail(&mut self, reason: Arc<str>) {
        let Some(current) = self.state.current.as_ref() else { return };
        let (revision, since) = (current.revision.clone(), self.input.now);
        let proved = self.state.proved.as_ref().map(|proved| proved.revision.clone());
        let back = proved.filter(|proved| *proved != revision && !self.state.is_rejected(proved));
        if self.input.promotion.on_failure == OnFailure::RollBackEnvironment && back.is_some() {
            // What a person requests from now on is a request to move it again.
            self.forget(&revision);
            self.emit(EventKind::RollingBack, Some(revision), reason.to_string());
            self.state.admitted = back;
            self.set_phase(CandidatePhase::RollingBack { reason, since });
        } else {
            self.emit(EventKind::Stopped, Some(revision), reason.to_string());
            self.set_phase(CandidatePhase::Stopped { reason, since });
            self.state.current.iter_mut().for_each(|current| current.has_failed = true);
        }
    }

    fn resume(&mut self, is_held: bool) -> bool {
        let (failed, _) = self.evaluate_proof();
        let revision = self.state.current.as_ref().map(|current| current.revision.clone());
        let is_rejected = revision.as_ref().is_some_and(|revision| self.state.is_rejected(revision));
        if is_held || is_rejected || failed.is_some() || self.to_measured().is_err() {
            return false;
        }
        self.emit(EventKind::Resumed, revision, "the failures are resolved".to_owned());
        self.set_phase(CandidatePhase::Proving { since: self.input.now })
    }

    /// Ends a rollback when the sources name the proved revision again, and it is published.
    fn end_rollback(&mut self) -> bool {
        let back = self.state.admitted.clone();
        if self.input.at.is_none() || self.input.at != back.as_ref() || self.to_settled().is_err() {
            return false;
        }
        let requested = self.state.requested.take();
        self.reject(EventKind::RolledBack, "the environment has the proved revision again");
        if let Some(request) = &requested {
            self.state.forgive(&request.revision);
        }
        self.state.requested = requested;
        if let Some(revision) = back {
            let measured = self.state.proof(&revision).and_then(|proof| proof.measured);
            self.state.prove(Proved { revision, at: BranchPosition::default(), on: self.input.now }, measured);
        }
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
        self.state.reject(current.revision.clone(), (reason, self.input.now));
        self.emit(kind, Some(current.revision), text.to_owned());
    }

    /// A request is done when its revision is proved, rejected or replaced.
    pub(super) fn forget(&mut self, revision: &Revision) {
        self.state.requested = self.state.requested.take().filter(|request| request.revision != *revision);
    }

    pub(super) fn finish(mut self) -> AdvanceStep {
        let report = self.report();
        self.emit_waiting(&report);
        let action = self.action();
        AdvanceStep { state: self.state, action, report, events: self.events }
    }

    fn action(&self) -> Option<AdvanceAction> {
        let current = self.state.current.as_ref()?;
        match &current.phase {
            CandidatePhase::Entering { .. } if self.hold().is_none() => {
                let revision = current.revision.clone();
                let is_back = self.state.has_proved(&revision);
                Some(if is_back { AdvanceAction::RollBack { to: revision } } else { AdvanceAction::Write { revision } })
            }
            CandidatePhase::RollingBack { .. } => {
                let to = self.state.admitted.clone()?;
                (self.input.at != Some(&to)).then_some(AdvanceAction::RollBack { to })
            }
            _ => None,
        }
    }
}

/// Keeps what the environments before show about the revisions that they have exactly.
fn note_evidence(input: &AdvanceInput<'_>, line: &Line<'_>, state: &mut AdvanceState) {
    for from in input.from {
        let Some(has) = from.has.as_ref().filter(|has| !from.rejected.contains(has)) else { continue };
        let is_settled = from.settled.is_ok();
        if is_settled && (Proofs { input, line, state }).measuring_hold(from.measured.clone()) {
            state.note_exercised(&from.name, has, input.now);
        }
    }
}
