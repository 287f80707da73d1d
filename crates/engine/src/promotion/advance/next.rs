//! Chooses the revision that moves next, and what happens to newer revisions.

use model::object::promotion::{Newer, Start};

use super::machine::Machine;
use crate::promotion::queue::Queue;
use crate::promotion::report::EventKind;
use crate::promotion::state::{Candidate, CandidatePhase, MoveRequest, Revision, rejections};

impl Machine<'_> {
    /// Remembers a newer candidate while another revision moves.
    pub(super) fn note_newer(&mut self) {
        let waiting = std::mem::take(&mut self.state.waiting);
        self.state.waiting = waiting.into_iter().filter(|waiting| !self.proofs().is_passed(waiting, false)).collect();
        let Some(newest) = &self.newest else { return };
        rejections::touch(&mut self.state.rejected, newest);
        let by_hand = self.by_hand();
        let queue = Queue::of_advance((&mut self.state, by_hand.as_ref()), self.input.promotion.newer);
        queue.note(newest, |of, newest| !self.line.contains(of, newest));
    }

    /// The candidate that a person wrote into the sources past the gates. It keeps no other revision from moving, unless it is the next one itself.
    fn by_hand(&self) -> Option<Revision> {
        let current = self.state.current.as_ref().filter(|current| current.phase == CandidatePhase::Gated)?;
        let at = self.input.at.filter(|at| **at == current.revision)?;
        (self.newest.as_ref() != Some(at)).then(|| at.clone())
    }

    /// Whether the current move gives way to a newer revision.
    pub(super) fn gives_way(&self) -> bool {
        let Some(current) = &self.state.current else { return false };
        if self.is_taken_back(current) {
            return true;
        }
        // What a person requested gives way only when it fails.
        let is_requested = self.is_requested(&current.revision);
        let is_superseded = self.input.promotion.newer == Newer::Supersede && !is_requested;
        match current.phase {
            CandidatePhase::Stopped { .. } => true,
            // What a person wrote past the gates gives way to what comes through them.
            CandidatePhase::Gated => {
                let is_by_hand = self.input.at == Some(&current.revision);
                (is_superseded && !self.is_approved(current))
                    || is_by_hand
                    || self.is_lost()
                    || (self.is_manual() && !is_requested)
            }
            CandidatePhase::Entering { .. } => is_superseded && !self.is_approved(current),
            CandidatePhase::Proving { .. } => is_superseded || (self.proves_nothing() && !is_requested),
            CandidatePhase::RollingBack { .. } => false,
        }
    }

    /// Whether people have approved a candidate. An approval is for one revision, so it stays the candidate until they have decided.
    fn is_approved(&self, current: &Candidate) -> bool {
        let asks = self.input.promotion.gates.iter().any(|gate| gate.kind.is_approval());
        let is_about = self.input.about == Some(&current.revision);
        asks && (!current.approvals.is_empty() || (is_about && !self.input.approvals.is_empty()))
    }

    /// Whether the head takes back what moves. It does not revert what a person let in past a gate, and it does not contain.
    fn is_taken_back(&self, current: &Candidate) -> bool {
        let is_returning = matches!(current.phase, CandidatePhase::RollingBack { .. });
        let is_let_in = current.is_let_in_by_person();
        let takes_back =
            |head: &Revision| *head != current.revision && (!is_let_in || self.line.contains(head, &current.revision));
        !is_returning && self.proofs().revert().is_some_and(takes_back)
    }

    pub(super) fn is_manual(&self) -> bool {
        self.input.promotion.start == Start::Manual
    }

    pub(super) fn is_requested(&self, revision: &Revision) -> bool {
        self.state.requested.as_ref().is_some_and(|request| request.revision == *revision)
    }

    /// Whether the environment has no reconcilers, so it can never prove a revision.
    fn proves_nothing(&self) -> bool {
        let measured = self.input.to_measured.as_ref();
        self.to_settled().is_ok() && measured.is_ok_and(|measured| measured.expected == 0 && measured.unpublished == 0)
    }

    /// Whether the candidate can't pass the environments before any more. What a person wrote into the sources stays to be seen.
    pub(super) fn is_lost(&self) -> bool {
        let Some(current) = &self.state.current else { return false };
        self.input.at != Some(&current.revision)
            && self.proofs().revert() != Some(&current.revision)
            && !self.state.has_proved(&current.revision)
            && self.proofs().is_passed(&current.revision, self.is_requested(&current.revision))
    }

    /// Ends the move of a revision that can't be proved any more.
    pub(super) fn drop_lost(&mut self) -> bool {
        let Some(lost) = self.state.current.take() else { return false };
        self.forget(&lost.revision);
        let text = "the environments before have not proved it, and have another revision now".to_owned();
        self.emit(EventKind::Superseded, Some(lost.revision), text);
        true
    }

    /// Starts a requested revision, which replaces any other one.
    pub(super) fn start_requested(&mut self) -> bool {
        let Some(MoveRequest { revision, decision, is_retry }) = self.state.requested.clone() else { return false };
        let admitted = self.state.admitted.as_ref();
        if is_retry && admitted.is_some_and(|admitted| self.line.is_older(&revision, admitted)) {
            self.state.requested = None;
            return false;
        }
        let current = self.state.current.as_ref();
        if current.is_some_and(|current| matches!(current.phase, CandidatePhase::RollingBack { .. })) {
            return false;
        }
        let present = current.map(|current| &current.revision).or(self.state.admitted.as_ref());
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
        if self.state.stays.is_some() {
            return false;
        }
        let revert = self.proofs().revert().filter(|revert| self.state.admitted.as_ref() != Some(*revert)).cloned();
        if let Some(revert) = revert {
            if self.state.current.as_ref().is_some_and(|current| current.revision == revert) {
                return false;
            }
            self.state.waiting.clear();
            self.start(revert, "it returns the environment to its proved revision".to_owned());
            return true;
        }
        let by_hand = self.by_hand();
        let queue = Queue::of_advance((&mut self.state, by_hand.as_ref()), self.input.promotion.newer);
        let next = queue.take_next(self.newest.as_ref(), |present, next| !self.line.contains(present, next));
        let Some(revision) = next else { return false };
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
        Candidate::new(revision, self.input.now, phase)
    }
}
