//! Starts moves: which revision moves next, and what happens to newer revisions.

use std::sync::Arc;

use model::object::promotion::Newer;

use super::Ahead;
use super::machine::Machine;
use crate::promotion::queue::Queue;
use crate::promotion::report::EventKind;
use crate::promotion::state::{
    BranchPosition, Interrupted, Move, MoveStage, Proved, Revision, RolledBack, RolloutState,
};
use crate::promotion::vector::Part;

impl Machine<'_> {
    /// Remembers a newer revision while another one moves.
    pub(super) fn note_newer(&mut self) {
        let Some(desired) = self.input.desired.filter(|_| !self.input.is_kept) else { return };
        self.state.touch_rejected(desired);
        Queue::of_rollout(&mut self.state, self.input.promotion.newer).note(desired, PartialEq::ne);
    }

    /// Whether the current move gives way to a newer revision.
    pub(super) fn gives_way(&self) -> bool {
        let Some(current) = &self.state.current else { return false };
        // A newer commit of the main branch comes after the move that was interrupted.
        let is_superseded = self.input.promotion.newer == Newer::Supersede && self.state.interrupted.is_none();
        match current.phase {
            MoveStage::Stopped { .. } => true,
            MoveStage::Moving => is_superseded || self.is_lost() || self.is_unrendered(),
            MoveStage::RollingBack { .. } => false,
        }
    }

    /// Returns all places at once if the sources give a revision that was proved here before. It takes back what is on its way instead of waiting for it.
    pub(super) fn return_to_proved(&mut self) -> bool {
        let Some(desired) = self.input.desired.filter(|_| self.state.rolled_back.is_none()) else { return false };
        if self.return_to_interrupted(desired) {
            return true;
        }
        let current = self.state.current.as_ref();
        let is_returning = current.is_some_and(|current| matches!(current.phase, MoveStage::RollingBack { .. }));
        if is_returning || self.state.present() == Some(desired) || self.state.is_rejected(desired) {
            return false;
        }
        let proved = self.state.stable.iter().filter(|_| current.is_some()).chain(&self.state.earlier);
        let Some(target) = proved.clone().find(|proved| proved.revision == *desired).cloned() else { return false };
        let (reason, revision) = ("the sources have a proved revision again", self.state.present().cloned());
        self.emit(EventKind::RollingBack, revision, reason.to_owned());
        self.state.return_to(target, (reason.into(), self.input.now));
        self.is_counted = false;
        true
    }

    /// Begins the rollback of a person when it is known what the earlier commit and release give with the present values. Until then, all places keep what they have.
    pub(super) fn begin_rollback(&mut self, target: &Proved) -> bool {
        let Some(Ok(revision)) = self.input.back else { return false };
        let Some(rolled_back) = &mut self.state.rolled_back else { return false };
        rolled_back.target = None;
        let is_exact = *revision == target.revision;
        let at = if is_exact { target.at.clone() } else { BranchPosition::default() };
        let target = Proved { revision: revision.clone(), at, on: target.on };
        let decision = rolled_back.decision.clone();
        self.state.roll_back_to(target, &decision, false);
        self.is_counted = false;
        true
    }

    /// Takes back what goes ahead of another move if the sources have again what the other move brings.
    fn return_to_interrupted(&mut self, desired: &Revision) -> bool {
        let is_again = self.state.interrupted.as_ref().is_some_and(|found| found.movement.revision == *desired);
        let Some(current) = self.state.current.as_mut().filter(|_| is_again) else { return false };
        if matches!(current.phase, MoveStage::RollingBack { .. }) {
            return false;
        }
        let (reason, revision) = ("the sources have their earlier content again", current.revision.clone());
        current.phase = MoveStage::RollingBack { reason: reason.into(), since: self.input.now };
        current.good_since = None;
        self.is_counted = false;
        self.emit(EventKind::RollingBack, Some(revision), reason.to_owned());
        true
    }

    /// Starts a move of the newest values on top of what each place has: ahead of the move that is half-way, or alone if what else is newer was rejected.
    pub(super) fn go_ahead(&mut self) -> bool {
        // What the input says is about the move and the stable revision at the beginning of the step.
        let of = |state: &RolloutState| {
            let moving = state.moving_platform().map(|moving| moving.revision.clone());
            (moving, state.stable.as_ref().map(|stable| stable.revision.clone()))
        };
        let Some(Ok(Ahead { revision, rest })) = self.input.ahead.filter(|_| of(self.before) == of(&self.state)) else {
            return false;
        };
        let current = self.state.current.as_ref();
        let is_first = current.is_some_and(|current| match current.phase {
            MoveStage::Moving => current.is_due,
            MoveStage::Stopped { .. } => false,
            MoveStage::RollingBack { .. } => true,
        });
        let waits = |rolled_back: &RolledBack| rolled_back.with_values || rest.is_some();
        let is_stopped = self.state.rolled_back.as_ref().is_some_and(waits) || self.state.is_rejected(revision);
        if is_first || is_stopped || self.state.present() == Some(revision) {
            return false;
        }
        // Values after values wait as the policy says.
        let is_after_values = current.is_some() && (self.state.interrupted.is_some() || rest.is_none());
        let may_replace = self.input.promotion.newer == Newer::Supersede || self.gives_way();
        if is_after_values && !may_replace {
            return false;
        }
        // Failures of the other move up to now count. Its gates are not evaluated until it goes on.
        if current.is_some_and(|current| current.phase == MoveStage::Moving) && self.count() {
            self.evaluate();
        }
        let before = self.state.current.take();
        let known = self.state.interrupted.take().map(|interrupted| interrupted.movement);
        let movement = known.or_else(|| before.clone());
        let text = match (&movement, rest) {
            (Some(movement), Some(rest)) => {
                let text = format!("it moves before `{}`, which continues after it", movement.revision.0);
                self.state.interrupted = Some(Interrupted { movement: movement.clone(), rest: rest.clone() });
                text
            }
            _ => "it moves without the rejected part".to_owned(),
        };
        self.state.current = Some(self.new_move(revision.clone(), Part::Configuration));
        // What waits has older values. The newest revision is noted again.
        self.state.waiting.clear();
        self.is_counted = false;
        self.emit(EventKind::Started, Some(revision.clone()), text);
        true
    }

    /// Goes on with the interrupted move, on top of the values that went ahead of it and are in all rings now.
    pub(super) fn go_on(&mut self, revision: Revision, Interrupted { movement, .. }: Interrupted) {
        let text = "the move continues after the newest values".to_owned();
        let base = self.input.position.clone();
        self.state.current = Some(Move { revision: revision.clone(), base, is_due: true, ..movement });
        self.is_counted = false;
        self.emit(EventKind::Resumed, Some(revision), text);
    }

    /// Starts the next move, if there is one.
    pub(super) fn start_next(&mut self) -> bool {
        let Some(desired) = self.input.desired.filter(|_| self.state.rolled_back.is_none()) else { return false };
        let queue = Queue::of_rollout(&mut self.state, self.input.promotion.newer);
        // The revision that all places have, or get now, needs no move.
        let Some(revision) = queue.take_next(Some(desired), PartialEq::ne) else { return false };
        if let Some(old) = self.state.current.take() {
            let text = format!("`{}` replaces it", revision.0);
            self.emit(EventKind::Superseded, Some(old.revision), text);
        }
        let first = self.input.promotion.rings.first().map(|ring| ring.name.to_string()).unwrap_or_default();
        let part = if revision == *desired { self.input.part } else { Part::Both };
        self.state.interrupted = None;
        self.state.current = Some(self.new_move(revision.clone(), part));
        self.is_counted = false;
        self.emit(EventKind::Started, Some(revision), format!("the move begins with the ring `{first}`"));
        true
    }

    /// Begins the move again when the rings changed since it began: the index of its ring and the released places of each domain have no meaning with other
    /// rings. Places keep the revision that they have, and the new rings prove it again.
    pub(super) fn restart(&mut self) -> bool {
        let moving = self.state.current.as_ref().filter(|current| current.phase == MoveStage::Moving);
        let Some((revision, part)) = moving.map(|current| (current.revision.clone(), current.part)) else {
            return false;
        };
        let part = if self.state.interrupted.take().is_some() { Part::Both } else { part };
        self.state.current = Some(self.new_move(revision.clone(), part));
        self.is_counted = false;
        self.emit(EventKind::Started, Some(revision), "the rings changed, so the move begins again".to_owned());
        true
    }

    fn new_move(&self, revision: Revision, part: Part) -> Move {
        Move {
            revision,
            part,
            started: self.input.now,
            base: self.input.position.clone(),
            phase: MoveStage::Moving,
            layout: Arc::clone(self.layout()),
            ring: 0,
            ring_started: self.input.now,
            released: std::collections::BTreeMap::new(),
            good_since: None,
            is_due: false,
            gates: Vec::new(),
            approvals: Vec::new(),
            authors: None,
            done: Vec::new(),
        }
    }
}
