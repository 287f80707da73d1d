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

/// Puts a rejected revision that the sources give to the end of the list: a retry is about it.
pub(in crate::promotion) fn touch(rejected: &mut [Rejection], revision: &Revision) {
    if let Some(position) = rejected.iter().position(|found| found.revision == *revision) {
        rejected.get_mut(position..).into_iter().for_each(|newer| newer.rotate_left(1));
    }
}
