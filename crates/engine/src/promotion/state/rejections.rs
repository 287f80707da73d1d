//! The revisions that were rolled back or aborted, of a rollout or of a move between environments: the newest last.

use super::{Rejection, Revision};

/// The number of rejected revisions that a state keeps. Older ones are forgotten first.
const REJECTED_MAX: usize = 50;

/// Whether a revision was rejected.
pub(in crate::promotion) fn contains(all: &[Rejection], revision: &Revision) -> bool {
    all.iter().any(|rejected| rejected.revision == *revision)
}

/// Rejects a revision, also if it was rejected before.
pub(in crate::promotion) fn add(all: &mut Vec<Rejection>, rejection: Rejection) {
    remove(all, &rejection.revision);
    all.push(rejection);
    all.drain(..all.len().saturating_sub(REJECTED_MAX));
}

/// A rejected revision may move again.
pub(in crate::promotion) fn remove(all: &mut Vec<Rejection>, revision: &Revision) {
    all.retain(|rejected| rejected.revision != *revision);
}
