//! The report of a step of a move between environments: its phase, and what it waits for.

use model::object::promotion::GateKind;

use super::FromEnvironment;
use super::machine::Machine;
use crate::promotion::answer::Answer;
use crate::promotion::gates::{first_open, with_measure};
use crate::promotion::report::{EventKind, MoveReport, ROLLBACK, ReportPhase, SETTLE, WRITE, Waiting, reason};
use crate::promotion::state::{Candidate, CandidatePhase, GateRecord, rejections};

impl Machine<'_> {
    pub(super) fn report(&self) -> MoveReport {
        let current = self.state.current.as_ref();
        MoveReport {
            phase: match current.map(|current| &current.phase) {
                None => ReportPhase::Rest,
                Some(CandidatePhase::Gated) => ReportPhase::Gated,
                Some(CandidatePhase::Entering { .. }) => ReportPhase::Entering,
                Some(CandidatePhase::Proving { .. }) => ReportPhase::Proving,
                Some(CandidatePhase::Stopped { .. }) => ReportPhase::Stopped,
                Some(CandidatePhase::RollingBack { .. }) => ReportPhase::RollingBack,
            },
            revision: current.map(|current| current.revision.clone()),
            is_held: self.hold().is_some(),
            rings: Vec::new(),
            gates: current.map(|current| current.gates.clone()).unwrap_or_default(),
            waiting: self.waiting(),
        }
    }

    /// Emits an event if the first gate that does not hold is another one than before.
    pub(super) fn emit_waiting(&mut self, report: &MoveReport) {
        let first = |candidate: &Candidate| Some((candidate.revision.clone(), first_open(&candidate.gates)?));
        let before = self.before.current.as_ref().and_then(first);
        let now = self.state.current.as_ref().and_then(first);
        if let Some((_, (name, _))) = now.as_ref().filter(|_| now != before)
            && let Some(text) = report.text_of_gate(name)
        {
            self.emit(EventKind::Waiting, report.revision.clone(), text);
        }
    }

    fn waiting(&self) -> Vec<Waiting> {
        let mut waiting: Vec<_> = Waiting::for_holds(self.state.hold.as_ref(), self.input.hold).collect();
        match &self.state.current {
            Some(current) => self.waiting_of_move(current, &mut waiting),
            None => waiting.extend(self.waiting_at_rest()),
        }
        waiting
    }

    fn waiting_at_rest(&self) -> Option<Waiting> {
        if let Some(stays) = &self.state.stays {
            let text = format!("{}: {}; nothing moves until a person allows it", stays.by, stays.reason);
            return Some(reason("rejected", text, stays.at).answered(Answer::Retry));
        }
        let Some(newest) = &self.newest else {
            return Some(reason("candidate", self.without_candidate(), self.input.now));
        };
        let rejected = rejections::find(&self.state.rejected, newest)?;
        Some(Waiting::for_rejection(rejected, self.input.now))
    }

    /// Why there is no revision that can move.
    fn without_candidate(&self) -> String {
        if self.input.promotion.from.is_empty() {
            return "there is no revision".to_owned();
        }
        let shown = |from: &FromEnvironment| match &from.has {
            Some(has) => format!("`{}` has `{}`", from.name, has.0),
            None => format!("it is not known what `{}` has", from.name),
        };
        let has: Vec<_> = self.input.from.iter().map(shown).collect();
        let names = self.input.promotion.from.join(", ");
        if has.is_empty() {
            format!("no revision is in {names} yet")
        } else {
            format!("no revision is in {names} yet: {}", has.join(", "))
        }
    }

    /// What a person can do about a gate of the promotion.
    fn answer(&self, record: &GateRecord) -> Option<Answer> {
        Answer::to_record(record, &self.input.promotion.gates)
    }

    /// What a person can do about a record that nothing else ends: the environments before have another revision, and have not shown this one, or it is no commit of
    /// the main branch.
    fn past(&self, candidate: &Candidate, record: &GateRecord) -> Option<Answer> {
        let gates = with_measure(&self.input.promotion.gates);
        let gate = gates.iter().find(|gate| gate.name == record.name);
        let is_open = if self.input.promotion.from.is_empty() {
            gate.is_none()
        } else {
            let is_of_clock = gate.is_some_and(|gate| matches!(gate.kind, GateKind::Window(_)));
            !is_of_clock && !self.proofs().can_pass(&candidate.revision)
        };
        is_open.then_some(Answer::Skip)
    }

    fn waiting_of_move(&self, current: &Candidate, waiting: &mut Vec<Waiting>) {
        match &current.phase {
            CandidatePhase::Gated => {
                let answer = |record: &GateRecord| self.answer(record).or_else(|| self.past(current, record));
                waiting.extend(Waiting::for_gates(&current.gates, answer));
                if self.is_manual() && !self.is_requested(&current.revision) {
                    let text = "the promotion starts by hand".to_owned();
                    waiting.push(reason("request", text, current.since).answered(Answer::Promote));
                }
            }
            CandidatePhase::Entering { since } => {
                let text = format!("`{}` does not have the revision yet", self.input.promotion.to);
                waiting.push(reason(WRITE, text, *since));
            }
            CandidatePhase::Proving { since } => {
                waiting.extend(Waiting::for_gates(&current.entry, |record| self.answer(record)));
                waiting.extend(Waiting::for_gates(&current.gates, |_| None));
                if let Err(why) = self.to_settled() {
                    waiting.push(reason(SETTLE, format!("`{}`: {why}", self.input.promotion.to), *since));
                }
            }
            CandidatePhase::Stopped { reason: why, since } => {
                let (text, answer) = match &self.input.to_failed {
                    _ if self.state.is_rejected(&current.revision) => {
                        (format!("{why}; a newer revision replaces it"), Some(Answer::Retry))
                    }
                    // What ends it is the wait of the rollout. By now, it can be another one than that of the stop.
                    Some(why) => (why.to_string(), None),
                    None => (
                        format!("{why}; it continues when the failures are resolved, or a newer revision replaces it"),
                        None,
                    ),
                };
                waiting.push(Waiting { answer, ..reason("stopped", text, *since) });
            }
            CandidatePhase::RollingBack { reason: why, since } => {
                let state = match self.to_settled() {
                    Err(why) => format!("`{}`: {why}", self.input.promotion.to),
                    Ok(()) => format!("`{}` does not have the proved revision yet", self.input.promotion.to),
                };
                waiting.push(reason(ROLLBACK, format!("{why}; {state}"), *since));
            }
        }
    }
}
