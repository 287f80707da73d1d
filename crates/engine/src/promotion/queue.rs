//! The revisions that wait while another one moves: all of them, or only the newest one, by the policy of the promotion.

use model::object::promotion::Newer;

use super::state::{AdvanceState, Rejection, Revision, RolloutState, rejections};

/// The waiting revisions of a move, with what decides about them.
pub(super) struct Queue<'a> {
    /// The waiting revisions, oldest first.
    waiting: &'a mut Vec<Revision>,
    policy: Newer,
    /// The revisions that were rolled back or aborted. They do not start again by themselves.
    rejected: &'a [Rejection],
    /// The revision that moves now.
    moving: Option<&'a Revision>,
    /// The revision that is there.
    proved: Option<&'a Revision>,
}

impl<'a> Queue<'a> {
    /// The queue of a subject on its way into an environment. A candidate that a person wrote `by_hand` does not count as moving.
    pub(super) fn of_advance((state, by_hand): (&'a mut AdvanceState, Option<&Revision>), policy: Newer) -> Self {
        Self {
            waiting: &mut state.waiting,
            policy,
            rejected: &state.rejected,
            moving: state.current.as_ref().map(|current| &current.revision).filter(|moving| by_hand != Some(*moving)),
            proved: state.admitted.as_ref(),
        }
    }

    pub(super) fn of_rollout(state: &'a mut RolloutState, policy: Newer) -> Self {
        let stable = state.stable.as_ref().map(|stable| &stable.revision);
        let is_rolled_back = state.rolled_back.is_some();
        Self {
            waiting: &mut state.waiting,
            policy,
            rejected: &state.rejected,
            // Newer revisions also wait after a rollback by a person.
            moving: state.current.as_ref().map(|current| &current.revision).or(stable.filter(|_| is_rolled_back)),
            proved: stable,
        }
    }

    /// Remembers the newest revision while another one moves. With the policy `queue`, also during a hold. `is_ahead` says whether its second revision has
    /// something that the first one lacks.
    pub(super) fn note(self, newest: &Revision, is_ahead: impl Fn(&Revision, &Revision) -> bool) {
        let is_ahead_of = |of: &Revision| is_ahead(of, newest);
        let is_new = !rejections::contains(self.rejected, newest);
        if self.policy != Newer::Queue {
            let is_newer = self.moving.is_some_and(is_ahead_of) && is_new;
            self.waiting.clear();
            self.waiting.extend(is_newer.then(|| newest.clone()));
            return;
        }
        self.waiting.retain(|waiting| !rejections::contains(self.rejected, waiting));
        let last = self.waiting.last().or(self.moving).or(self.proved);
        if last.is_none_or(is_ahead_of) && is_new {
            self.waiting.push(newest.clone());
        }
    }

    /// Takes the revision that moves next: one that the places neither have nor get now. With the policy `queue`, it and all that waited before it leave the queue.
    pub(super) fn take_next(
        self,
        newest: Option<&Revision>,
        is_ahead: impl Fn(&Revision, &Revision) -> bool,
    ) -> Option<Revision> {
        let present = self.moving.or(self.proved);
        let is_next = |revision: &Revision| {
            !rejections::contains(self.rejected, revision) && present.is_none_or(|present| is_ahead(present, revision))
        };
        if self.policy != Newer::Queue {
            self.waiting.clear();
            return newest.filter(|newest| is_next(newest)).cloned();
        }
        let position = self.waiting.iter().position(is_next);
        let end = position.map_or(self.waiting.len(), |position| position + 1);
        self.waiting.drain(..end).next_back().filter(|_| position.is_some())
    }
}
