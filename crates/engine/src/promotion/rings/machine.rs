//! The transitions of a rollout, one after another until nothing more changes.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;

use model::count::count;
use model::object::promotion::{Gate, GateKind, OnFailure, Ring};

use super::entry::{Entering, Entry};
use super::release::Releasing;
use super::rows::{Contents, Rows};
use super::tally::{self, Tally};
use super::{RolloutInput, RolloutStep};
use crate::promotion::evidence::{Measured, UNKNOWN_AUTHORS};
use crate::promotion::gates::{self, GateInput, GateReport};
use crate::promotion::report::{EventKind, MoveEvent};
use crate::promotion::rings::layout::layout;
use crate::promotion::state::{
    BranchPosition, Decision, GateRecord, GateStatus, Move, MoveStage, Proved, Rejection, Revision, RingRecord,
    RolloutState, rejections,
};
use crate::promotion::vector::Part;

/// The name of the built-in gate of a ring's failure budget.
const FAILURES: &str = "failures";
/// The name of the built-in gate that all reconcilers applied the revision.
const COMPLIANT: &str = "compliant";
/// The name of the built-in gate of a ring's pause.
const PAUSE: &str = "pause";

/// The name of the built-in gate that a ring without a changed place has no place where the revision can't be rendered.
const RENDERED: &str = "rendered";

/// Transitions in a step beside those from ring to ring: to stop, to resume, to end, to start, to release.
const TRANSITIONS_MAX: usize = 8;

/// A step in progress.
pub(super) struct Machine<'a> {
    pub(super) input: &'a RolloutInput<'a>,
    pub(super) before: &'a RolloutState,
    pub(super) state: RolloutState,
    pub(super) events: Vec<MoveEvent>,
    pub(super) tally: Tally,
    /// Whether the tally is that of the state. It can't be counted without the places that the move changes.
    pub(super) is_counted: bool,
    layout: OnceCell<Arc<str>>,
    /// The ring whose places this step released.
    released_ring: Option<usize>,
}

impl<'a> Machine<'a> {
    pub(super) fn new(input: &'a RolloutInput<'a>, before: &'a RolloutState) -> Self {
        Self {
            input,
            before,
            state: before.clone(),
            events: Vec::new(),
            tally: Tally::default(),
            is_counted: false,
            layout: OnceCell::new(),
            released_ring: None,
        }
    }

    pub(super) fn run(&mut self) {
        let rings = self.input.promotion.rings.len();
        if rings == 0 {
            self.leave_rings();
            return;
        }
        for _ in 0..2 * rings + TRANSITIONS_MAX {
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

    /// The environment has no rings any more. What was proved ring by ring has no meaning then.
    fn leave_rings(&mut self) {
        if let Some(current) = self.state.current.take() {
            let text = "the environment has no rings any more".to_owned();
            self.emit(EventKind::Aborted, Some(current.revision), text);
        }
        self.state.interrupted = None;
        self.state.stable = None;
        self.state.earlier.clear();
        self.state.rolled_back = None;
        self.state.waiting.clear();
    }

    /// One transition. False: nothing more changes.
    fn transition(&mut self) -> bool {
        if let Some(target) = self.state.rolled_back.as_ref().and_then(|found| found.target.clone()) {
            return self.begin_rollback(&target);
        }
        let is_held = self.hold().is_some();
        let may_start = !is_held && !self.input.is_kept;
        if may_start && (self.return_to_proved() || self.go_ahead()) {
            return true;
        }
        if self.state.current.is_none() || (may_start && self.gives_way()) {
            if may_start && self.start_next() {
                return true;
            }
            if self.state.current.is_none() {
                return false;
            }
        }
        if self.end_lost() {
            return true;
        }
        if !self.is_of_rings() {
            return self.restart();
        }
        if !self.count() {
            return false;
        }
        let Some(phase) = self.state.current.as_ref().map(|current| current.phase.clone()) else { return false };
        match phase {
            MoveStage::RollingBack { .. } => self.end_rollback(),
            MoveStage::Stopped { is_withdrawn: true, .. } => false,
            MoveStage::Stopped { .. } if self.has_no_evidence() => false,
            MoveStage::Stopped { .. } => self.evaluate().is_some_and(|report| !is_held && self.resume(&report)),
            MoveStage::Moving if is_held => self.fail_in_hold(),
            MoveStage::Moving => self.advance(),
        }
    }

    /// The layout of the rings.
    pub(super) fn layout(&self) -> &Arc<str> {
        self.layout.get_or_init(|| layout(&self.input.promotion.rings))
    }

    /// Whether the move began with these rings.
    pub(super) fn is_of_rings(&self) -> bool {
        self.state.current.is_none() || self.state.is_of(self.layout())
    }

    /// The hold of a person, of this rollout or of the whole environment.
    pub(super) fn hold(&self) -> Option<&Decision> {
        self.state.hold.as_ref().or(self.input.hold)
    }

    /// Counts the places. False: the places that the move changes are not known.
    pub(super) fn count(&mut self) -> bool {
        if !self.is_counted && self.changed().is_some() && self.is_of_rings() {
            self.tally = self.tally();
            self.is_counted = true;
        }
        self.is_counted
    }

    fn tally(&self) -> Tally {
        let phase = self.state.current.as_ref().map(|current| &current.phase);
        let is_rollback = matches!(phase, Some(MoveStage::RollingBack { .. }));
        let size = (self.input.promotion.rings.len(), self.input.places.domains.len());
        tally::tally(&self.rows(), size, is_rollback)
    }

    fn changed(&self) -> Option<&'a [bool]> {
        let changed = self.input.changed?;
        (self.state.difference() == Some(changed.of)).then_some(changed.places)
    }

    fn rows(&self) -> Rows<'a> {
        let domains = self.input.places.domains;
        // The evidence is about the contents at the beginning of the step.
        let contents = (Contents::new(self.before, domains), Contents::new(&self.state, domains));
        Rows::new(self.input, self.changed().unwrap_or_default(), contents)
    }

    /// The ring that moves. If the list of rings became shorter, the last one.
    pub(super) fn ring(&self) -> Option<(usize, &'a Ring)> {
        let rings = &self.input.promotion.rings;
        let index = self.state.current.as_ref()?.ring.min(rings.len().checked_sub(1)?);
        Some((index, rings.get(index)?))
    }

    /// How many changed places of a ring come before the others. An untested change begins with one.
    pub(super) fn canary(&self, index: usize, ring: &Ring) -> Option<u32> {
        ring.canary.or(self.is_not_exercised(index).then_some(1))
    }

    /// Whether a change begins in a later ring, because none of the places of the rings before changes.
    pub(super) fn is_not_exercised(&self, index: usize) -> bool {
        index > 0 && self.tally.rings.iter().take(index).all(|counts| counts.changed == 0)
    }

    /// Evaluates the gates of the moving ring, and keeps their records.
    pub(super) fn evaluate(&mut self) -> Option<RingGates> {
        let (index, ring) = self.ring()?;
        let measured = self.tally.rings.get(index)?.measured();
        let canary = self.canary(index, ring);
        let moving = self.tally.state();
        let current = self.state.current.as_mut()?;
        let is_about = self.input.evidence_of == Some((&current.revision, current.ring));
        let no_checks = BTreeMap::new();
        let (checks, authors) =
            if is_about { (self.input.checks, self.input.authors) } else { (&no_checks, &UNKNOWN_AUTHORS) };
        let known = |measured: Measured| self.input.measured.as_ref().map(|_| measured).map_err(Arc::clone);
        let approvals = [&*current.approvals, self.input.approvals].concat();
        let gate_input = |measured: Measured, good_since| GateInput {
            now: self.input.now,
            measured: known(measured),
            good_since,
            checks,
            approvals: &approvals,
            authors,
            teams: self.input.teams,
            before: &current.gates,
        };
        let budget = Gate::new(gates::free_name(FAILURES, &ring.prove), GateKind::Failures(ring.failures));
        let silent = gates::silent_in(&ring.prove);
        let budget = gates::evaluate_with(&[budget], silent, &gate_input(moving, current.good_since));
        let others = gates::evaluate(&gates_of(ring), &gate_input(measured, budget.good_since));
        let entry = if self.input.changed.is_some_and(|changed| changed.is_only_new) {
            // New places get what their ring has.
            Entry::free()
        } else {
            let entering = Entering {
                ring,
                counts: self.tally.rings.get(index).copied()?,
                canary,
                domains: self.input.places.domains,
                pending: self.tally.pending(index),
                has_begun: !current.released.is_empty(),
            };
            entering.evaluate(&gate_input(moving, None))
        };
        let report = RingGates::new(budget, others, entry);
        current.good_since = report.good_since;
        current.is_due = false;
        current.authors = gates::recorded(ring.gates(), authors);
        current.gates.clone_from(&report.records);
        Some(report)
    }

    /// During a hold, nothing moves on. A failure still takes back what the policy says.
    fn fail_in_hold(&mut self) -> bool {
        let Some((_, ring)) = self.ring() else { return false };
        let over_budget = self.evaluate().and_then(|report| report.over_budget);
        let Some(reason) = over_budget.filter(|_| self.input.promotion.on_failure != OnFailure::Stop) else {
            return false;
        };
        self.fail(ring, &reason);
        true
    }

    fn advance(&mut self) -> bool {
        let Some((index, ring)) = self.ring() else { return false };
        let counts = self.tally.rings.get(index).copied().unwrap_or_default();
        if counts.changed == 0 {
            let is_proved = self.check_rendered(ring, counts.failing);
            if is_proved {
                self.end_ring(ring, None);
            }
            return is_proved;
        }
        let Some(report) = self.evaluate() else { return false };
        if let Some(reason) = report.over_budget {
            self.fail(ring, &reason);
            return true;
        }
        if counts.released < counts.changed {
            // All that the limits allow is released at once.
            let has_released = self.released_ring == Some(index);
            let may_release = self.input.measured.is_ok() && !has_released && report.entry.is_open;
            return may_release && self.release((index, ring), &report.entry);
        }
        let is_known = self.input.measured.is_ok();
        let is_published = counts.measured().unpublished == 0;
        // New places get what their ring has: they prove nothing for the next ring.
        let is_only_new = self.input.changed.is_some_and(|changed| changed.is_only_new);
        if (report.all_hold && (is_published || !is_known)) || (is_only_new && is_published && is_known) {
            let gates = self.state.current.as_mut().map(|current| &mut current.gates);
            gates.filter(|_| is_only_new).into_iter().for_each(Vec::clear);
            self.end_ring(ring, Some(counts.measured()));
            return true;
        }
        false
    }

    /// Whether nothing is to be proved in a ring without changed places. Otherwise, a gate waits.
    fn check_rendered(&mut self, ring: &Ring, failing: u64) -> bool {
        let Some(current) = self.state.current.as_mut() else { return false };
        let name = gates::free_name(RENDERED, &ring.prove);
        let is_skipped = |record: &GateRecord| record.name == name && matches!(record.status, GateStatus::Skipped(_));
        if failing == 0 || current.gates.iter().any(is_skipped) {
            return true;
        }
        let places = count(failing as usize, "place");
        let text = format!("{places} of the ring can't be rendered, so nothing proves the revision there");
        current.gates = vec![GateRecord::new(name, (GateStatus::Waiting, text), (&current.gates, self.input.now))];
        false
    }

    /// Whether the moving ring waits because the revision can't be rendered there. Its sources never change, so only a newer revision can repair it.
    pub(super) fn is_unrendered(&self) -> bool {
        let (Some((_, ring)), Some(current)) = (self.ring(), &self.state.current) else { return false };
        let name = gates::free_name(RENDERED, &ring.prove);
        current.gates.iter().any(|record| record.name == name && record.status == GateStatus::Waiting)
    }

    fn release(&mut self, (index, ring): (usize, &Ring), entry: &Entry) -> bool {
        self.released_ring = Some(index);
        let domains = self.input.places.domains;
        let rows = self.rows();
        let Some(current) = self.state.current.as_mut() else { return false };
        let releasing =
            Releasing { index, ring, domains, tally: &self.tally, rows: &rows, released: &current.released, entry };
        let release = releasing.choose();
        let is_first = current.released.is_empty();
        let mut has_released = false;
        for (domain, hash) in &release.thresholds {
            let before = current.released.insert(Arc::clone(domain), *hash);
            has_released |= before.is_none_or(|before| before < *hash);
        }
        if !has_released {
            return false;
        }
        let revision = current.revision.clone();
        self.is_counted = release.count(&mut self.tally, (index, domains));
        self.count();
        let counts = self.tally.rings.get(index).copied().unwrap_or_default();
        if is_first {
            self.emit(EventKind::RingStarted, Some(revision.clone()), format!("the ring `{}` begins", ring.name));
        }
        let changed = count(counts.changed as usize, "changed place");
        let text =
            format!("{} of {changed} of the ring `{}` have the revision, or get it now", counts.released, ring.name);
        self.emit(EventKind::Released, Some(revision), text);
        true
    }

    /// Records the moving ring as done. After the last one, the revision is stable.
    fn end_ring(&mut self, ring: &Ring, measured: Option<Measured>) {
        let Some(current) = self.state.current.as_mut() else { return };
        let revision = current.revision.clone();
        if measured.is_none() {
            // They were about places that are gone.
            current.gates.clear();
        }
        current.done.push(RingRecord {
            name: Arc::clone(&ring.name),
            started: current.ring_started,
            ended: self.input.now,
            measured,
            gates: current.gates.clone(),
        });
        let text = match measured {
            Some(_) => format!("the ring `{}` is done", ring.name),
            None => format!("nothing changes in the ring `{}`", ring.name),
        };
        self.emit(EventKind::RingDone, Some(revision.clone()), text);
        let Some(current) = self.state.current.as_mut() else { return };
        current.ring += 1;
        current.ring_started = self.input.now;
        current.released.clear();
        current.good_since = None;
        current.gates.clear();
        current.approvals.clear();
        // All changed places of this ring have the revision, and those of the next one do not: the counts stay as they are.
        if current.ring >= self.input.promotion.rings.len() {
            self.is_counted = false;
            self.complete(revision);
        }
    }

    fn complete(&mut self, revision: Revision) {
        self.emit(EventKind::Completed, Some(revision.clone()), "all rings are done".to_owned());
        self.state.current = None;
        rejections::remove(&mut self.state.rejected, &revision);
        let (at, on) = (self.input.position.clone(), self.input.now);
        let Some(interrupted) = self.state.interrupted.take() else {
            self.state.set_stable(Proved { revision, at, on });
            return;
        };
        // No position has the rest everywhere: it is rendered again where it is needed.
        self.state.set_stable(Proved { revision: interrupted.rest.clone(), at: BranchPosition::default(), on });
        self.go_on(revision, interrupted);
    }

    /// Stops the move, with the consequences of the policy. Without an earlier proved revision, there is nothing to return to.
    fn fail(&mut self, ring: &Ring, reason: &str) {
        let stable = self.state.stable.as_ref().map(|stable| stable.revision.clone());
        let Some(current) = self.state.current.as_mut() else { return };
        let (revision, since) = (current.revision.clone(), self.input.now);
        let can_return = self.state.interrupted.is_some() || stable.is_some_and(|stable| stable != revision);
        if let Some(interrupted) = &mut self.state.interrupted {
            interrupted.movement.good_since = None;
        }
        let policy = self.input.promotion.on_failure;
        let mut reason = format!("ring `{}`: {reason}", ring.name);
        current.good_since = None;
        self.is_counted = false;
        if policy == OnFailure::RollBackEnvironment && can_return {
            current.phase = MoveStage::RollingBack { reason: reason.as_str().into(), since };
            self.emit(EventKind::RollingBack, Some(revision), reason);
            return;
        }
        if policy != OnFailure::Stop && !can_return {
            reason.push_str("; there is no earlier proved revision to return to");
        }
        let is_withdrawn = policy == OnFailure::RollBackRing && can_return;
        current.phase = MoveStage::Stopped { reason: reason.as_str().into(), since, is_withdrawn };
        let text = if is_withdrawn { format!("{reason}; the ring returns to the proved revision") } else { reason };
        self.emit(EventKind::Stopped, Some(revision), text);
    }

    /// Moves on when the failures are within the budget again.
    fn resume(&mut self, report: &RingGates) -> bool {
        let is_rolled_back = self.is_rolled_back();
        let is_unknown = self.input.measured.is_err() || self.is_lost();
        let Some(current) = self.state.current.as_mut() else { return false };
        if report.over_budget.is_some() || is_unknown || is_rolled_back {
            return false;
        }
        current.phase = MoveStage::Moving;
        let revision = current.revision.clone();
        self.is_counted = false;
        self.emit(EventKind::Resumed, Some(revision), "the failures are within the budget again".to_owned());
        true
    }

    /// Whether a person rolled back what moves: only a decision of a person moves it again. The values that move after a rollback are not rolled back.
    pub(super) fn is_rolled_back(&self) -> bool {
        let current = self.state.current.as_ref().filter(|_| self.state.rolled_back.is_some());
        current.is_some_and(|current| current.part != Part::Configuration)
    }

    /// Whether what moves, or what it returns to, can't be rendered any more. The input says it of the beginning of the step.
    pub(super) fn is_lost(&self) -> bool {
        let phase = |state: &RolloutState| state.current.as_ref().map(|current| mem::discriminant(&current.phase));
        let is_as_before =
            phase(&self.state) == phase(self.before) && self.state.difference() == self.before.difference();
        self.input.is_lost && is_as_before
    }

    /// Whether a move stopped with nothing released, because it could not be taken back: no place shows that its failures are gone.
    pub(super) fn has_no_evidence(&self) -> bool {
        let is_new = |current: &Move| current.ring == 0 && current.released.is_empty() && current.done.is_empty();
        self.state.current.as_ref().is_some_and(|current| current.phase != MoveStage::Moving && is_new(current))
    }

    /// A rollback stops where it is if what it returns to can't be rendered any more. What moves ends then if nothing newer replaces it: after the rollback of a
    /// person, or because the newest revision was rejected. Both wait for a decision.
    fn end_lost(&mut self) -> bool {
        let is_rejected = self.input.desired.is_some_and(|desired| self.state.is_rejected(desired));
        let may_start = self.hold().is_none() && !self.input.is_kept;
        let has_no_next = self.state.rolled_back.is_some() || (is_rejected && may_start);
        let is_lost = self.is_lost();
        let Some(current) = self.state.current.as_mut().filter(|_| is_lost) else { return false };
        let reason: Arc<str> = match &current.phase {
            MoveStage::RollingBack { reason, .. } => {
                format!("{reason}; what it returns to can't be rendered any more").into()
            }
            MoveStage::Moving if has_no_next => return self.end_lost_move(),
            MoveStage::Moving | MoveStage::Stopped { .. } => return false,
        };
        let revision = current.revision.clone();
        // Places that have returned keep that, the others what they have.
        current.begin_again(self.input.now);
        current.base = self.input.position.clone();
        current.phase = MoveStage::Stopped { reason: Arc::clone(&reason), since: self.input.now, is_withdrawn: false };
        self.is_counted = false;
        self.emit(EventKind::Stopped, Some(revision), reason.to_string());
        true
    }

    fn end_lost_move(&mut self) -> bool {
        let Some(current) = self.state.current.take() else { return false };
        self.state.interrupted = None;
        self.is_counted = false;
        self.emit(EventKind::Aborted, Some(current.revision), "it can't be rendered any more".to_owned());
        true
    }

    /// Ends a rollback when the proved revision is published and applied again. Silent reconcilers are not waited for. Failed ones are not waited for if a
    /// newer revision can repair them.
    fn end_rollback(&mut self) -> bool {
        let changed = self.tally.state();
        let has_newer = !self.state.waiting.is_empty();
        let reported = changed.succeeded + changed.silent + if has_newer { changed.failed } else { 0 };
        if self.input.measured.is_err() || self.tally.unpublished > 0 || reported < changed.expected {
            return false;
        }
        let Some(current) = self.state.current.take() else { return false };
        self.is_counted = false;
        let reason = match current.phase {
            MoveStage::RollingBack { reason, .. } => reason,
            MoveStage::Moving | MoveStage::Stopped { .. } => "".into(),
        };
        let (revision, part, at) = (current.revision.clone(), current.part, Some(self.input.now));
        self.state.reject(Rejection { revision, reason, part, at });
        let interrupted = self.state.interrupted.take();
        let text = match &interrupted {
            Some(_) => "all places have their earlier content again",
            None => "all places have the proved revision again",
        };
        self.emit(EventKind::RolledBack, Some(current.revision), text.to_owned());
        self.state.current = interrupted.map(|interrupted| interrupted.movement);
        true
    }

    pub(super) fn finish(mut self) -> RolloutStep {
        self.count();
        debug_assert!(!self.is_counted || self.tally == self.tally(), "the counts are not those of the state");
        let report = self.report();
        self.emit_waiting(&report);
        RolloutStep { state: self.state, report, events: self.events }
    }
}

/// The gates of a ring, as evaluated now.
pub(super) struct RingGates {
    records: Vec<GateRecord>,
    good_since: Option<jiff::Timestamp>,
    all_hold: bool,
    /// The evidence that more reconcilers failed than the budget allows.
    over_budget: Option<Arc<str>>,
    /// What may be released.
    entry: Entry,
}

impl RingGates {
    fn new(budget: GateReport, others: GateReport, entry: Entry) -> Self {
        let failed = budget.records.iter().find(|record| record.status == GateStatus::Failed);
        Self {
            over_budget: failed.map(|record| Arc::clone(&record.text)),
            all_hold: budget.all_hold && others.all_hold,
            good_since: budget.good_since.and(others.good_since),
            records: [&*budget.records, &entry.records, &others.records].concat(),
            entry,
        }
    }
}

/// The gates of a ring, with the built-in ones.
fn gates_of(ring: &Ring) -> Vec<Gate> {
    let mut all = Vec::new();
    if !ring.prove.iter().any(|gate| matches!(gate.kind, GateKind::Compliant { .. })) {
        all.push(gates::all_compliant(gates::free_name(COMPLIANT, &ring.prove)));
    }
    all.extend_from_slice(&ring.prove);
    if !ring.pause.is_zero() {
        all.push(Gate::new(gates::free_name(PAUSE, &ring.prove), GateKind::Soak(ring.pause)));
    }
    all
}
