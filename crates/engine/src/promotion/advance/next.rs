//! Chooses the revision that moves next, and what happens to newer revisions.

use model::object::promotion::{Newer, Start};

use super::machine::Machine;
use crate::promotion::report::EventKind;
use crate::promotion::state::{Candidate, CandidatePhase, Revision};

impl Machine<'_> {
    /// Remembers a newer candidate while another revision moves. A queue also remembers them during a hold.
    pub(super) fn note_newer(&mut self) {
        let Some(newest) = self.newest.clone() else { return };
        let is_rejected = self.state.rejected.as_ref() == Some(&newest);
        let moving = self.state.current.as_ref().map(|current| current.revision.clone());
        let is_ahead = |of: &Option<Revision>| of.as_ref().is_none_or(|of| !self.line.contains(of, &newest));
        if self.input.promotion.newer != Newer::Queue {
            let is_newer = moving.is_some() && is_ahead(&moving) && !is_rejected;
            self.state.waiting.clear();
            self.state.waiting.extend(is_newer.then_some(newest));
            return;
        }
        let rejected = self.state.rejected.clone();
        self.state.waiting.retain(|waiting| Some(waiting) != rejected.as_ref());
        let proved = self.state.proved.as_ref().map(|proved| proved.revision.clone());
        let last = self.state.waiting.last().cloned().or(moving).or(proved);
        if is_ahead(&last) && !is_rejected {
            self.state.waiting.push(newest);
        }
    }

    /// Whether the current move gives way to a newer revision.
    pub(super) fn gives_way(&self) -> bool {
        let Some(current) = &self.state.current else { return false };
        // What a person requested gives way only when it fails.
        let is_requested = self.is_requested(&current.revision);
        let is_superseded = self.input.promotion.newer == Newer::Supersede && !is_requested;
        match current.phase {
            CandidatePhase::Stopped { .. } => true,
            // What a person wrote past the gates gives way to what comes through them.
            CandidatePhase::Gated => {
                let is_by_hand = self.input.at == Some(&current.revision);
                is_superseded || is_by_hand || (self.is_manual() && !is_requested)
            }
            CandidatePhase::Entering { .. } => is_superseded,
            CandidatePhase::Proving { .. } => is_superseded || (self.proves_nothing() && !is_requested),
            CandidatePhase::RollingBack { .. } => false,
        }
    }

    pub(super) fn is_manual(&self) -> bool {
        self.input.promotion.start == Start::Manual
    }

    pub(super) fn is_requested(&self, revision: &Revision) -> bool {
        self.state.requested.as_ref().is_some_and(|(requested, _)| requested == revision)
    }

    /// Whether the environment has no reconcilers, so it can never prove a revision.
    fn proves_nothing(&self) -> bool {
        let measured = self.input.to_measured.as_ref();
        self.input.to_settled.is_ok()
            && measured.is_ok_and(|measured| measured.expected == 0 && measured.unpublished == 0)
    }

    /// Starts a requested revision, which replaces any other one.
    pub(super) fn start_requested(&mut self) -> bool {
        let Some((revision, decision)) = self.state.requested.clone() else { return false };
        let current = self.state.current.as_ref();
        if current.is_some_and(|current| matches!(current.phase, CandidatePhase::RollingBack { .. })) {
            return false;
        }
        let present =
            current.map(|current| &current.revision).or(self.state.proved.as_ref().map(|proved| &proved.revision));
        if present == Some(&revision) {
            if current.is_none() {
                self.state.requested = None;
            }
            return false;
        }
        self.start(revision, format!("requested by {}", decision.by));
        true
    }

    /// Starts the next move, if there is one.
    pub(super) fn start_next(&mut self) -> bool {
        let Some(revision) = self.take_next() else { return false };
        self.start(revision, "it is the newest revision that can move".to_owned());
        true
    }

    fn start(&mut self, revision: Revision, text: String) {
        if let Some(old) = self.state.current.take() {
            let text = format!("`{}` replaces it", revision.0);
            self.forget(&old.revision);
            self.emit(EventKind::Superseded, Some(old.revision), text);
        }
        self.state.current = Some(self.new_candidate(revision.clone(), CandidatePhase::Gated));
        self.emit(EventKind::Started, Some(revision), text);
    }

    pub(super) fn new_candidate(&self, revision: Revision, phase: CandidatePhase) -> Candidate {
        Candidate { revision, since: self.input.now, phase, good_since: None, gates: Vec::new(), approvals: Vec::new() }
    }

    /// The revision that moves next. With a queue, it and all that waited before it leave the queue. The environment neither has its content nor gets it now.
    fn take_next(&mut self) -> Option<Revision> {
        let moving = self.state.current.as_ref().map(|current| current.revision.clone());
        let present = moving.or(self.state.proved.as_ref().map(|proved| proved.revision.clone()));
        let rejected = self.state.rejected.clone();
        let line = &self.line;
        let is_next = |revision: &Revision| {
            Some(revision) != rejected.as_ref()
                && present.as_ref().is_none_or(|present| !line.contains(present, revision))
        };
        if self.input.promotion.newer != Newer::Queue {
            self.state.waiting.clear();
            return self.newest.clone().filter(is_next);
        }
        let position = self.state.waiting.iter().position(is_next);
        let mut taken = self.state.waiting.drain(..position.map_or(self.state.waiting.len(), |position| position + 1));
        taken.next_back().filter(|_| position.is_some())
    }
}
