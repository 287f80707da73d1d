//! The order of revisions.

use std::collections::HashMap;

use crate::promotion::state::Revision;

/// The order of revisions.
pub(super) struct Line<'a> {
    /// The position of each revision. 0 is the newest.
    positions: HashMap<&'a Revision, usize>,
}

impl<'a> Line<'a> {
    pub(super) fn new(line: &'a [Revision]) -> Self {
        Self { positions: line.iter().enumerate().map(|(position, revision)| (revision, position)).collect() }
    }

    /// Whether a revision contains another one: it is the same, or newer.
    pub(super) fn contains(&self, newer: &Revision, older: &Revision) -> bool {
        let positions = self.positions.get(newer).zip(self.positions.get(older));
        newer == older || positions.is_some_and(|(newer, older)| newer < older)
    }

    /// Whether a revision is older than another one.
    pub(super) fn is_older(&self, older: &Revision, newer: &Revision) -> bool {
        older != newer && self.contains(newer, older)
    }

    /// The position of a revision, the newest first. Revisions that are not on the line come last.
    pub(super) fn position(&self, revision: &Revision) -> usize {
        self.positions.get(revision).copied().unwrap_or(usize::MAX)
    }
}
