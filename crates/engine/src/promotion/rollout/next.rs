//! Starts moves: which revision moves next, and what happens to newer revisions.

use std::sync::Arc;

use model::object::promotion::Newer;

use super::machine::Machine;
use crate::promotion::queue::Queue;
use crate::promotion::report::EventKind;
use crate::promotion::state::{Move, Phase, Revision};

impl Machine<'_> {
    /// Remembers a newer revision while another one moves.
    pub(super) fn note_newer(&mut self) {
        let Some(desired) = self.input.desired else { return };
        self.state.touch_rejected(desired);
        Queue::of_rollout(&mut self.state, self.input.promotion.newer).note(desired, PartialEq::ne);
    }

    /// Whether the current move gives way to a newer revision.
    pub(super) fn gives_way(&self) -> bool {
        let Some(current) = &self.state.current else { return false };
        let is_superseded = self.input.promotion.newer == Newer::Supersede;
        match current.phase {
            Phase::Stopped { .. } => true,
            Phase::Moving => is_superseded || self.is_unrendered(),
            Phase::RollingBack { .. } => false,
        }
    }

    /// Returns all places at once if the sources give a revision that was proved here before. It takes back what is on its way instead of waiting for it.
    pub(super) fn return_to_proved(&mut self) -> bool {
        let Some(desired) = self.input.desired.filter(|_| self.state.rolled_back.is_none()) else { return false };
        let current = self.state.current.as_ref();
        let is_returning = current.is_some_and(|current| matches!(current.phase, Phase::RollingBack { .. }));
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
        self.state.current = Some(self.new_move(revision.clone()));
        self.is_counted = false;
        self.emit(EventKind::Started, Some(revision), format!("the move begins with the ring `{first}`"));
        true
    }

    /// Begins the move again when the rings changed since it began: the index of its ring and the released places of each domain have no meaning with other
    /// rings. Places keep the revision that they have, and the new rings prove it again.
    pub(super) fn restart(&mut self) -> bool {
        let moving = self.state.current.as_ref().filter(|current| current.phase == Phase::Moving);
        let Some(revision) = moving.map(|current| current.revision.clone()) else { return false };
        self.state.current = Some(self.new_move(revision.clone()));
        self.is_counted = false;
        self.emit(EventKind::Started, Some(revision), "the rings changed, so the move begins again".to_owned());
        true
    }

    fn new_move(&self, revision: Revision) -> Move {
        Move {
            revision,
            started: self.input.now,
            base: self.input.position.clone(),
            phase: Phase::Moving,
            layout: Arc::clone(&self.layout),
            ring: 0,
            ring_started: self.input.now,
            released: std::collections::BTreeMap::new(),
            good_since: None,
            gates: Vec::new(),
            approvals: Vec::new(),
            done: Vec::new(),
        }
    }
}
