//! The history of a workload in rings: the proved revisions, to which a rollback can return, and the rejected revisions.

use std::sync::Arc;

use jiff::Timestamp;

use crate::promotion::command::{CommandRefusal, ROLLBACK};
use crate::promotion::state::{
    Decision, Interrupted, Move, MoveStage, Proved, Rejection, Revision, RolledBack, RolloutState, rejections,
};
use crate::promotion::vector::Part;

/// What a person did who rolled a workload back, in words.
pub(super) const ROLLED_BACK: &str = "rolled back";

/// The number of proved revisions that a state keeps beside the stable one.
const EARLIER_MAX: usize = 20;

impl RolloutState {
    /// The revision that was rejected last, or the rejected one that the sources give.
    pub fn rejected_revision(&self) -> Option<&Revision> {
        self.rejected.last().map(|rejected| &rejected.revision)
    }

    /// The revision that moves, or else the stable one.
    pub fn present(&self) -> Option<&Revision> {
        let moving = self.current.as_ref().map(|current| &current.revision);
        moving.or(self.stable.as_ref().map(|stable| &stable.revision))
    }

    /// Whether a revision was rejected.
    pub fn is_rejected(&self, revision: &Revision) -> bool {
        rejections::contains(&self.rejected, revision)
    }

    /// Why a revision waits for `retry`: it was rejected, or a person rolled the workload back. None: it does not.
    pub fn blocked_because(&self, revision: &Revision) -> Option<String> {
        if self.stable.as_ref().is_some_and(|stable| stable.revision == *revision) {
            return None;
        }
        if let Some(RolledBack { decision, .. }) = &self.rolled_back {
            return Some(decision.because(ROLLED_BACK).to_string());
        }
        let rejected = rejections::find(&self.rejected, revision)?;
        let unknown = "the revision was rolled back or aborted";
        Some(if rejected.reason.is_empty() { unknown.to_owned() } else { rejected.reason.to_string() })
    }

    /// Why the revision of the sources failed in the rings: it stopped, a rollback takes it back, or it was rejected. A rollback to this revision is no failure of it.
    pub fn failed_because(&self, desired: Option<&Revision>) -> Option<Arc<str>> {
        let is_back = || self.stable.as_ref().map(|stable| &stable.revision) == desired;
        match self.current.as_ref().map(|current| &current.phase) {
            Some(MoveStage::Moving) => None,
            Some(MoveStage::Stopped { reason, .. }) => Some(Arc::clone(reason)),
            Some(MoveStage::RollingBack { reason, .. }) => (!is_back()).then(|| Arc::clone(reason)),
            None => self.blocked_because(desired?).map(Into::into),
        }
    }

    /// Rejects a revision. Its proof before does not count any more: when a person retries it, it goes through the rings.
    pub(in crate::promotion) fn reject(&mut self, rejection: Rejection) {
        self.earlier.retain(|earlier| earlier.revision != rejection.revision);
        rejections::add(&mut self.rejected, rejection);
    }

    /// Puts a rejected revision that the sources give to the end of the list: a retry is about it.
    pub(super) fn touch_rejected(&mut self, desired: &Revision) {
        rejections::touch(&mut self.rejected, desired);
    }

    /// Another revision is stable now.
    pub(in crate::promotion) fn set_stable(&mut self, proved: Proved) {
        self.earlier.retain(|earlier| earlier.revision != proved.revision);
        let old = self.stable.take().filter(|old| old.revision != proved.revision);
        self.earlier.extend(old);
        self.earlier.sort_by_key(|earlier| earlier.on);
        let surplus = self.earlier.len().saturating_sub(EARLIER_MAX);
        self.earlier.drain(..surplus);
        self.stable = Some(proved);
    }

    /// The proved revision that a rollback returns to: this one, or the newest one that was proved before the present revision.
    ///
    /// # Errors
    /// There is none.
    pub(in crate::promotion) fn rollback_target(&self, to: Option<&Revision>) -> Result<Proved, CommandRefusal> {
        let moving = self.current.as_ref().map(|current| &current.revision);
        let stable = self.stable.as_ref().filter(|stable| Some(&stable.revision) != moving);
        let Some(to) = to else {
            // A moving revision returns to the stable one.
            let of_move = stable.filter(|_| moving.is_some());
            let is_older = |earlier: &&Proved| self.stable.as_ref().is_some_and(|stable| earlier.on < stable.on);
            let before = self.earlier.iter().rev().find(is_older);
            return of_move.or(before).cloned().ok_or(CommandRefusal::NothingProved);
        };
        let others = stable.filter(|_| moving.is_some()).into_iter().chain(self.earlier.iter().rev());
        let mut found = others.clone().filter(|proved| proved.revision.0.starts_with(&*to.0));
        if let (Some(one), None) = (found.next(), found.next()) {
            return Ok(one.clone());
        }
        let names = others.map(|proved| proved.revision.0.clone()).collect();
        Err(CommandRefusal::NotProved { revision: to.0.clone(), names })
    }

    /// The revision to which a rollback without values returns if nothing moves: the newest one that was proved before the present one with another commit of the main
    /// branch or release. None: something moves, or the platforms are not known, and [`Self::rollback_target`] says it.
    ///
    /// # Errors
    /// Only values have changed since.
    pub(in crate::promotion) fn earlier_platform<P: PartialEq>(
        &self,
        platform_of: impl Fn(&Revision) -> Option<P>,
    ) -> Result<Option<Revision>, CommandRefusal> {
        let present = self.stable.as_ref().filter(|_| self.current.is_none());
        let Some((stable, platform)) = present.and_then(|stable| Some((stable, platform_of(&stable.revision)?))) else {
            return Ok(None);
        };
        let is_other = |revision: &Revision| platform_of(revision).is_none_or(|other| other != platform);
        let mut before = self.earlier.iter().rev().filter(|earlier| earlier.on < stable.on).peekable();
        let has_any = before.peek().is_some();
        match before.find(|earlier| is_other(&earlier.revision)) {
            Some(earlier) => Ok(Some(earlier.revision.clone())),
            None if has_any => Err(CommandRefusal::OnlyValues),
            None => Ok(None),
        }
    }

    /// Begins a rollback by a person to a proved revision, with the values that it had or with the present ones.
    pub(in crate::promotion) fn roll_back_to(&mut self, target: Proved, decision: &Decision, with_values: bool) {
        let is_ahead = self.interrupted.is_some();
        self.return_to(target, (decision.because(ROLLBACK), decision.at));
        let Some(current) = &mut self.current else { return };
        match (with_values, current.part) {
            (true, _) => current.part = Part::Both,
            // The values are not rejected. If they were half-way, they go through the rings again.
            (false, Part::Both) => current.part = Part::Platform,
            (false, Part::Configuration) if is_ahead => current.part = Part::Platform,
            (false, _) => {}
        }
    }

    /// Begins a rollback to a proved revision. The present revision is rejected at its end.
    pub(in crate::promotion) fn return_to(&mut self, target: Proved, (reason, since): (Arc<str>, Timestamp)) {
        if let Some(Interrupted { movement: Move { revision, part, .. }, .. }) = self.interrupted.take() {
            self.reject(Rejection { revision, reason: Arc::clone(&reason), part, at: Some(since) });
        }
        let phase = MoveStage::RollingBack { reason, since };
        match (&mut self.current, &self.stable) {
            (Some(current), _) => {
                current.phase = phase;
                current.good_since = None;
            }
            (None, Some(stable)) => self.current = Some(back_from(stable, (phase, since))),
            (None, None) => return,
        }
        self.set_stable(target);
    }
}

/// The move of a proved revision that returns.
fn back_from(proved: &Proved, (phase, since): (MoveStage, Timestamp)) -> Move {
    Move {
        revision: proved.revision.clone(),
        part: Part::Both,
        started: since,
        base: proved.at.clone(),
        phase,
        layout: "".into(),
        ring: 0,
        ring_started: since,
        released: std::collections::BTreeMap::new(),
        good_since: None,
        is_due: false,
        gates: Vec::new(),
        approvals: Vec::new(),
        authors: None,
        done: Vec::new(),
    }
}
