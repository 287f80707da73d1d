//! The order of revisions, and the newest one that the environments before have.

use std::collections::HashMap;

use model::object::promotion::Require;

use super::{AdvanceInput, FromEnvironment};
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
}

/// The newest revision that can move: that the environments before have, or the head.
pub(super) fn candidate<'a>(input: &AdvanceInput<'a>, line: &Line<'_>) -> Option<&'a Revision> {
    if input.promotion.from.is_empty() {
        return input.head;
    }
    let mut present = input.from.iter().filter_map(|from| from.has.as_ref());
    match input.promotion.require {
        Require::All => {
            let first = present.next().filter(|_| has_all(input))?;
            // The oldest one of a line is contained in all others. Without an order, no revision is.
            present.try_fold(first, |oldest, next| {
                if line.contains(oldest, next) { Some(next) } else { line.contains(next, oldest).then_some(oldest) }
            })
        }
        Require::Any => present.reduce(|newest, next| if line.contains(next, newest) { next } else { newest }),
    }
}

fn has_all(input: &AdvanceInput<'_>) -> bool {
    let has = |from: &FromEnvironment| from.has.is_some();
    input.from.iter().all(has) && input.from.len() >= input.promotion.from.len()
}
