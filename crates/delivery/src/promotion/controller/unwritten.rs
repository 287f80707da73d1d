//! Writes of promotions that were tried, and whose revisions the environment does not have yet.

use std::sync::Arc;

use engine::promotion::step::Subject;

use super::commit_move::Proposed;

/// These writes, by subject.
pub(super) type Unwritten = Vec<(Subject, UnwrittenMove)>;

/// Why the environment does not have a revision that was written.
#[derive(Clone, Debug)]
pub(super) enum UnwrittenMove {
    /// It waits for its merge.
    Proposed(Proposed),
    /// It can't be written, for this reason.
    Refused(Arc<str>),
}
