//! Values and applications on their way into an environment: when the output follows a newer commit of one of its sources.
//!
//! The main branch is no such source: its commits move from environment to environment ([`advance`](super::advance)). A newer commit of every other source comes
//! from the people of this environment, or from an application team. It waits for the gates that ask people or the clock.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::iter;

use jiff::Timestamp;
use model::object::promotion::Gate;

use super::answer::Answer;
use super::evidence::{Approver, Authors, UNKNOWN_AUTHORS};
use super::gates::{self, GateInput, GateReport, Teams, first_open};
use super::report::{EventKind, MERGE, MoveEvent, MoveReport, ReportPhase, Waiting, reason};
use super::state::{AdvanceState, Candidate, CandidatePhase, Decision, GateRecord, Revision, Unmerged, rejections};

/// The number of admitted changes that may wait for their merge. Each needs questions to the git host in each step.
const UNMERGED_MAX: usize = 20;

/// What a step needs to know.
#[derive(Clone, Debug)]
pub struct SourceInput<'a> {
    /// The current time.
    pub now: Timestamp,
    /// The gates that are for this source, by its origin: [`for_origin`](super::origin::for_origin).
    pub gates: &'a [Gate],
    /// The newest commit of the source.
    pub head: &'a Revision,
    /// Whether the newest commit changes something for the environment, compared with the admitted one.
    pub is_change: bool,
    /// What people say about the newest commit.
    pub people: People<'a>,
    /// What people say about the candidate of the state. None: it is the newest commit, or this one does not contain it.
    pub candidate: Option<People<'a>>,
    /// What people say now about each admitted change of the state that is not on the branches that clusters pull. None: all are.
    pub unmerged: Option<&'a [People<'a>]>,
    /// The accounts of the members of each team.
    pub teams: &'a Teams,
    /// A hold of the whole environment by a person.
    pub hold: Option<&'a Decision>,
}

/// What people say about a change.
#[derive(Clone, Copy, Debug)]
pub struct People<'a> {
    /// Approvals from the git host. Those in the state count too.
    pub approvals: &'a [Approver],
    /// Who wrote the change.
    pub authors: &'a Authors,
}

impl Default for People<'_> {
    fn default() -> Self {
        Self { approvals: &[], authors: &UNKNOWN_AUTHORS }
    }
}

/// The result of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceStep {
    /// The new state. The output is rendered from its admitted commit.
    pub state: AdvanceState,
    /// What the newest commit waits for.
    pub report: MoveReport,
    /// What changed in this step, in order.
    pub events: Vec<MoveEvent>,
}

/// Decides whether the output may follow the newest commit of a source.
///
/// The newest commit is the candidate: it contains those before, and an approval of one of these does not count for it. An approval by command holds its candidate:
/// newer commits wait until people have decided about it. A commit that changes nothing for the environment needs no gate. Nothing is admitted during a hold. The gates of an admitted change are evaluated again until it is on the branches that clusters pull.
pub fn step(input: &SourceInput<'_>, state: &AdvanceState) -> SourceStep {
    let mut machine = Machine { input, state: state.clone(), events: Vec::new() };
    machine.run();
    let report = machine.report();
    machine.emit_waiting(state.current.as_ref(), &report);
    SourceStep { state: machine.state, report, events: machine.events }
}

/// Evaluates the gates of a change.
fn evaluate(
    input: &SourceInput<'_>,
    people: People<'_>,
    (approvals, before): (&[Approver], &[GateRecord]),
) -> GateReport {
    let input_of_gates = GateInput {
        now: input.now,
        measured: Err("the change comes from no environment before".into()),
        good_since: None,
        checks: &BTreeMap::new(),
        approvals: &[approvals, people.approvals].concat(),
        authors: people.authors,
        teams: input.teams,
        before,
    };
    gates::evaluate(input.gates, &input_of_gates)
}

struct Machine<'a> {
    input: &'a SourceInput<'a>,
    state: AdvanceState,
    events: Vec<MoveEvent>,
}

impl<'a> Machine<'a> {
    fn run(&mut self) {
        let head = self.input.head;
        self.state.at = Some(head.clone());
        self.take_overridden();
        self.evaluate_unmerged();
        if self.state.admitted.as_ref() == Some(head) || !self.input.is_change {
            self.drop_candidate("the newest commit changes nothing here any more");
            self.state.admitted = Some(head.clone());
            return;
        }
        // After the candidate that was held, the newest commit.
        for _ in 0..2 {
            if !self.is_held_by_approvals() {
                self.start();
            }
            let is_admitted =
                self.state.current.is_some() && self.hold_by_gates() && self.hold().is_none() && self.has_room();
            if !is_admitted {
                return;
            }
            self.admit();
            if self.state.admitted.as_ref() == Some(head) {
                return;
            }
        }
    }

    /// Whether people have approved the candidate, which the newest commit contains. Without a gate for approvals, or if a person wants another commit, it is not held.
    fn is_held_by_approvals(&self) -> bool {
        let Some(current) = &self.state.current else { return false };
        let asks = self.input.gates.iter().any(|gate| gate.kind.is_approval());
        let is_approved = asks && !current.approvals.is_empty() && self.input.candidate.is_some();
        is_approved && self.state.requested.is_none() && !self.state.is_rejected(&current.revision)
    }

    /// What people say about the candidate.
    fn people(&self) -> People<'a> {
        let is_head = self.state.current.as_ref().is_none_or(|current| current.revision == *self.input.head);
        if is_head { self.input.people } else { self.input.candidate.unwrap_or_default() }
    }

    /// Makes the newest commit the candidate, unless a person ended its move.
    fn start(&mut self) {
        let head = self.input.head.clone();
        if self.state.requested.take().is_some_and(|request| request.revision == head) {
            self.state.forgive(&head);
        }
        if self.state.current.as_ref().is_some_and(|current| current.revision == head) {
            return;
        }
        self.drop_candidate(&format!("`{}` replaces it", head.0));
        if self.state.is_rejected(&head) {
            return;
        }
        self.state.current = Some(Candidate::new(head.clone(), self.input.now, CandidatePhase::Gated));
        self.emit(EventKind::Started, head, "it is the newest commit".to_owned());
    }

    /// Evaluates the gates of the candidate, and keeps their records. Returns whether all hold.
    fn hold_by_gates(&mut self) -> bool {
        let people = self.people();
        let Some(current) = self.state.current.as_mut() else { return false };
        let report = evaluate(self.input, people, (&current.approvals, &current.gates));
        current.gates = report.records;
        current.authors = gates::recorded(self.input.gates, people.authors);
        report.all_hold
    }

    /// What a person admitted past the gates is there, and the rings prove it. Until it is merged, the override may expire.
    fn take_overridden(&mut self) {
        let Some(change) = self.state.current.take_if(|current| current.phase.is_admitted()) else { return };
        if let Some(overridden) = change.overridden.as_ref().filter(|_| !change.entry.is_empty()) {
            let from = overridden.from.clone();
            self.state.unmerged.push(Unmerged { change, from });
        }
    }

    /// Evaluates the gates of the admitted changes again, until they are merged while all of them hold.
    fn evaluate_unmerged(&mut self) {
        if self.input.unmerged.is_none() {
            self.state.unmerged.retain(|unmerged| !unmerged.change.entry.iter().all(GateRecord::holds));
        }
        let people = self.input.unmerged.unwrap_or_default().iter().copied().chain(iter::repeat(People::default()));
        for (Unmerged { change, .. }, people) in self.state.unmerged.iter_mut().zip(people) {
            let report = evaluate(self.input, people, (&change.approvals, &change.entry_at(self.input.now)));
            let is_expired = change.expired_override(self.input.now).is_some();
            let is_known =
                |record: &GateRecord| is_expired || change.entry.iter().any(|known| known.name == record.name);
            change.entry = report.records.into_iter().filter(is_known).collect();
        }
    }

    /// Whether another change may wait for its merge.
    fn has_room(&self) -> bool {
        self.state.unmerged.len() < UNMERGED_MAX
    }

    fn admit(&mut self) {
        let Some(mut change) = self.state.current.take() else { return };
        self.emit(EventKind::Promoted, change.revision.clone(), "the gates hold".to_owned());
        let before = self.state.admitted.replace(change.revision.clone());
        change.entry = std::mem::take(&mut change.gates);
        change.phase = CandidatePhase::Proving { since: self.input.now };
        if !change.entry.is_empty() {
            self.state.unmerged.push(Unmerged { change, from: before });
        }
    }

    fn hold(&self) -> Option<&Decision> {
        self.state.hold.as_ref().or(self.input.hold)
    }

    fn drop_candidate(&mut self, text: &str) {
        if let Some(old) = self.state.current.take() {
            self.emit(EventKind::Superseded, old.revision, text.to_owned());
        }
    }

    fn emit(&mut self, kind: EventKind, revision: Revision, text: String) {
        let gates = self.state.current.as_ref().map(|current| current.gates.clone()).unwrap_or_default();
        self.events.push(MoveEvent { at: self.input.now, kind, revision: Some(revision), text: text.into(), gates });
    }

    /// Emits an event if the first gate that does not hold is another one than before.
    fn emit_waiting(&mut self, before: Option<&Candidate>, report: &MoveReport) {
        let first = |candidate: &Candidate| Some((candidate.revision.clone(), first_open(&candidate.gates)?));
        let (before, now) = (before.and_then(first), self.state.current.as_ref().and_then(first));
        if let Some((revision, (name, _))) = now.as_ref().filter(|_| now != before)
            && let Some(text) = report.text_of_gate(name)
        {
            self.emit(EventKind::Waiting, revision.clone(), text);
        }
    }

    /// Why the newest commit does not move, if a person ended its move.
    fn rejected(&self) -> Option<Waiting> {
        let rejected = rejections::find(&self.state.rejected, self.input.head)?;
        Some(Waiting::for_rejection(rejected, self.input.now))
    }

    fn report(&self) -> MoveReport {
        let current = self.state.current.as_ref();
        let answer = |record: &GateRecord| Answer::to_record(record, self.input.gates);
        let mut waiting: Vec<_> = Waiting::for_holds(self.state.hold.as_ref(), self.input.hold).collect();
        match current {
            Some(current) => waiting.extend(Waiting::for_gates(&current.gates, answer)),
            None => waiting.extend(self.rejected()),
        }
        if let Some(current) = current.filter(|_| !self.has_room()) {
            let text = format!("{UNMERGED_MAX} changes before it wait for the merge of their pull request");
            waiting.push(reason(MERGE, text, current.since));
        }
        let unmerged = self.state.unmerged.iter().map(|unmerged| &unmerged.change);
        let mut ended = unmerged.filter(|change| !change.entry.iter().all(GateRecord::holds));
        waiting.extend(ended.clone().flat_map(|change| Waiting::for_gates(&change.entry, answer)));
        let moving = current.or(ended.next());
        MoveReport {
            phase: if current.is_some() { ReportPhase::Gated } else { ReportPhase::Rest },
            revision: moving.map(|moving| moving.revision.clone()),
            is_held: self.hold().is_some(),
            rings: Vec::new(),
            gates: current.map(|current| current.gates.clone()).unwrap_or_default(),
            waiting,
        }
    }
}
