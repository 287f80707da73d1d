//! The report of a step of a rollout: how far the rings are, and what the move waits for.

use model::count::{count, thousands};

use super::history::ROLLED_BACK;
use super::machine::Machine;
use crate::promotion::answer::Answer;
use crate::promotion::gates::first_open;
use crate::promotion::report::{EventKind, MoveReport, ReportPhase, RingReport, Waiting, reason};
use crate::promotion::state::{GateRecord, Interrupted, Move, MoveStage, RolledBack, rejections};

impl Machine<'_> {
    pub(super) fn report(&self) -> MoveReport {
        let current = self.state.current.as_ref();
        MoveReport {
            phase: match current.map(|current| &current.phase) {
                None => ReportPhase::Rest,
                Some(MoveStage::Moving) => ReportPhase::Moving,
                Some(MoveStage::Stopped { .. }) => ReportPhase::Stopped,
                Some(MoveStage::RollingBack { .. }) => ReportPhase::RollingBack,
            },
            revision: current.map(|current| current.revision.clone()),
            is_held: self.hold().is_some(),
            rings: self.rings(),
            gates: current.map(|current| current.gates.clone()).unwrap_or_default(),
            waiting: self.waiting(),
        }
    }

    /// Emits an event if the first gate that does not hold is another one than before.
    pub(super) fn emit_waiting(&mut self, report: &MoveReport) {
        let first = |current: &Move| Some((current.ring, first_open(&current.gates)?));
        let is_same_move = self.before.difference() == self.state.difference();
        let before = self.before.current.as_ref().filter(|_| is_same_move).and_then(first);
        let now = self.state.current.as_ref().and_then(first);
        if let Some((_, (name, _))) = now.as_ref().filter(|_| now != before)
            && let Some(text) = report.text_of_gate(name)
        {
            self.emit(EventKind::Waiting, report.revision.clone(), text);
        }
    }

    /// The number of places of each ring.
    fn places(&self) -> Vec<u64> {
        let mut places = vec![0; self.input.promotion.rings.len()];
        for ring in self.input.places.ring {
            if let Some(count) = places.get_mut(usize::from(*ring)) {
                *count += 1;
            }
        }
        places
    }

    fn rings(&self) -> Vec<RingReport> {
        let places =
            if self.is_counted { self.tally.rings.iter().map(|ring| ring.places).collect() } else { self.places() };
        let is_known = self.is_counted && self.input.measured.is_ok();
        let rings = self.input.promotion.rings.iter().zip(places).enumerate();
        let rings = rings.map(|(index, (ring, places))| {
            let counts = self.tally.rings.get(index).copied().filter(|_| self.is_counted).unwrap_or_default();
            RingReport {
                name: ring.name.clone(),
                places,
                changed: counts.changed,
                released: counts.released,
                measured: is_known.then_some(counts.measured()),
                is_done: self.state.current.as_ref().is_some_and(|current| index < current.ring),
            }
        });
        rings.collect()
    }

    fn waiting(&self) -> Vec<Waiting> {
        let mut waiting: Vec<_> = Waiting::for_holds(self.state.hold.as_ref(), self.input.hold).collect();
        match (self.waiting_rollback(), &self.state.current) {
            (Some(rollback), _) => waiting.push(rollback),
            (None, Some(current)) => self.waiting_of_move(current, &mut waiting),
            (None, None) => waiting.extend(self.waiting_at_rest()),
        }
        waiting.extend(self.waiting_values());
        waiting
    }

    /// Why the rollback of a person has not begun.
    fn waiting_rollback(&self) -> Option<Waiting> {
        let RolledBack { decision, target: Some(target), .. } = self.state.rolled_back.as_ref()? else { return None };
        let why = match self.input.back {
            Some(Err(why)) => why,
            _ => "it is being rendered",
        };
        let text = format!(
            "the rollback to `{}` with the present values has not begun: {why}. When it is given up, `kalypso rollback --with-values` returns to its folders as they were",
            target.revision.0
        );
        Some(reason("rollback", text, decision.at).answered(Answer::Retry))
    }

    /// What goes ahead of what, or why newer values wait.
    fn waiting_values(&self) -> Option<Waiting> {
        if let Some(Err(why)) = self.input.ahead {
            let since = self.state.current.as_ref().map_or(self.input.now, |current| current.started);
            return Some(reason("values", format!("newer values wait: {why}"), since));
        }
        let Interrupted { movement: Move { ring, started, .. }, .. } = self.state.interrupted.as_ref()?;
        let rings = self.input.promotion.rings.len();
        let text =
            format!("the newest values move first; then the earlier move continues with ring {} of {rings}", ring + 1);
        Some(reason("ahead", text, *started))
    }

    fn waiting_at_rest(&self) -> Option<Waiting> {
        if self.input.promotion.rings.is_empty() {
            return None;
        }
        if let Some(RolledBack { decision, .. }) = &self.state.rolled_back {
            let text = format!("{}; nothing newer moves until a person allows it", decision.because(ROLLED_BACK));
            return Some(reason("rollback", text, decision.at).answered(Answer::Retry));
        }
        let Some(desired) = self.input.desired else {
            return Some(reason("sources", "the sources have errors, so no move starts".to_owned(), self.input.now));
        };
        let is_stable = self.state.stable.as_ref().is_some_and(|stable| stable.revision == *desired);
        let rejected = rejections::find(&self.state.rejected, desired).filter(|_| !is_stable)?;
        Some(Waiting::for_rejection(rejected, self.input.now))
    }

    fn waiting_of_move(&self, current: &Move, waiting: &mut Vec<Waiting>) {
        let has_tally = self.is_counted;
        if !self.is_of_rings() {
            let text = "the rings changed since; all places keep what they have".to_owned();
            waiting.push(reason("rings", text, current.ring_started));
        } else if !has_tally {
            let text = "the places that the revision changes are not known yet".to_owned();
            waiting.push(reason("changes", text, current.ring_started));
        }
        match &current.phase {
            MoveStage::RollingBack { reason: why, since } => {
                let text = format!("{why}; {}", self.rollback_text());
                waiting.push(reason("rollback", text, *since));
                return;
            }
            MoveStage::Stopped { reason: why, since, is_withdrawn } => {
                let (advice, answer) = if self.is_rolled_back() {
                    ("", Some(Answer::Retry))
                } else if *is_withdrawn || self.has_no_evidence() {
                    ("; a newer revision replaces it", Some(Answer::Retry))
                } else {
                    // It does not go on while nothing is known of the failures.
                    let answer = self.input.measured.is_err().then_some(Answer::Retry);
                    ("; it moves again when the failures are resolved, or a newer revision replaces it", answer)
                };
                // One retry is for the values, and one for the move that waits behind them.
                let what = if self.state.interrupted.is_some() { "the newest values: " } else { "" };
                waiting.push(Waiting { answer, ..reason("stopped", format!("{what}{why}{advice}"), *since) });
            }
            MoveStage::Moving => {}
        }
        if has_tally {
            waiting.extend(self.limits(current));
        }
        let ring = self.ring();
        let answer = |record: &GateRecord| Answer::to_record(record, ring.iter().flat_map(|(_, ring)| ring.gates()));
        waiting.extend(Waiting::for_gates(&current.gates, answer));
        if waiting.is_empty() {
            let text = "the gates of the ring are evaluated with the next evidence".to_owned();
            waiting.push(reason("gates", text, current.ring_started));
        }
    }

    /// The reason why places of the moving ring are not released yet.
    fn limits(&self, current: &Move) -> Option<Waiting> {
        let (index, ring) = self.ring()?;
        let counts = self.tally.rings.get(index).filter(|counts| counts.released < counts.changed)?;
        if current.phase != MoveStage::Moving {
            return None;
        }
        if current.gates.iter().any(|gate| !gate.holds() && ring.enter.iter().any(|enter| enter.name == gate.name)) {
            // The gate says why.
            return None;
        }
        let per = ring.per.iter().map(|limit| format!("{} for each `{}`", limit.at_once, limit.label));
        let at_once = ring.at_once.iter().map(|amount| format!("{amount} of the ring"));
        let canary = match ring.canary {
            Some(canary) => Some(format!("{canary} first")),
            None => self
                .is_not_exercised(index)
                .then(|| "1 first, because the change is untested: it changes nothing in the rings before".to_owned()),
        };
        let limits: Vec<_> = at_once.chain(per).chain(canary).collect();
        let released = format!(
            "{} of {} of the ring `{}` are released",
            thousands(counts.released as usize),
            count(counts.changed as usize, "changed place"),
            ring.name
        );
        let text = match &self.input.measured {
            Err(why) => format!("{released}; the state of the fleet is not known: {why}"),
            Ok(_) if limits.is_empty() => format!("{released}; the others wait for their windows"),
            Ok(_) => format!("{released}; simultaneous changes are limited to {}", limits.join(", ")),
        };
        Some(reason("limits", text, current.ring_started))
    }

    fn rollback_text(&self) -> String {
        if let Err(why) = &self.input.measured {
            return format!("the state of the fleet is not known: {why}");
        }
        let (all, changed) = (&self.tally, self.tally.state());
        if all.unpublished > 0 {
            let places = count(all.places as usize, "place");
            return format!("{} of {places} do not have the proved revision yet", thousands(all.unpublished as usize));
        }
        let applied = thousands(changed.succeeded as usize);
        let expected = count(changed.expected as usize, "reconciler");
        let failed = thousands(changed.failed as usize);
        format!("{applied} of {expected} applied the proved revision, {failed} failed")
    }
}
