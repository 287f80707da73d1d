//! Starts moves: which revision moves next, and what happens to newer revisions.

use std::sync::Arc;

use model::object::promotion::Newer;

use super::machine::Machine;
use crate::promotion::report::EventKind;
use crate::promotion::state::{Move, Phase, Revision};

impl Machine<'_> {
    /// Remembers a newer revision while another one moves. A queue also remembers them during a hold.
    pub(super) fn note_newer(&mut self) {
        let Some(desired) = self.input.desired else { return };
        let is_queue = self.input.promotion.newer == Newer::Queue;
        let moving = self.state.current.as_ref().map(|current| &current.revision);
        let waiting = &mut self.state.waiting;
        if !is_queue {
            let is_newer =
                moving.is_some_and(|moving| moving != desired) && self.state.rejected.as_ref() != Some(desired);
            waiting.clear();
            waiting.extend(is_newer.then(|| desired.clone()));
            return;
        }
        waiting.retain(|waiting| Some(waiting) != self.state.rejected.as_ref());
        let stable = self.state.stable.as_ref().map(|stable| &stable.revision);
        let last = waiting.last().or(moving).or(stable);
        if last != Some(desired) && self.state.rejected.as_ref() != Some(desired) {
            waiting.push(desired.clone());
        }
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

    /// Starts the next move, if there is one.
    pub(super) fn start_next(&mut self) -> bool {
        if self.input.desired.is_none() {
            return false;
        }
        let Some(revision) = self.take_next() else { return false };
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

    /// The revision that moves next. With a queue, it and all that waited before it leave the queue.
    fn take_next(&mut self) -> Option<Revision> {
        let moving = self.state.current.as_ref().map(|current| current.revision.clone());
        let stable = self.state.stable.as_ref().map(|stable| stable.revision.clone());
        let rejected = self.state.rejected.clone();
        // The revision that all places have, or get now, needs no move.
        let present = moving.or(stable);
        let is_next = |revision: &Revision| Some(revision) != present.as_ref() && Some(revision) != rejected.as_ref();
        if self.input.promotion.newer != Newer::Queue {
            self.state.waiting.clear();
            return self.input.desired.filter(|desired| is_next(desired)).cloned();
        }
        let position = self.state.waiting.iter().position(is_next);
        let mut taken = self.state.waiting.drain(..position.map_or(self.state.waiting.len(), |position| position + 1));
        taken.next_back().filter(|_| position.is_some())
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
