//! What was done with an edit of a branch.

use git::checkout::Committed;

use super::ProposalResult;

/// The state of the working tree or repository after an edit.
pub enum EditResult {
    /// There was nothing to do.
    Nothing,
    /// The edit was only shown.
    Shown,
    /// Files were written.
    Written,
    /// Files were written and committed.
    Committed(Committed),
    /// The edit is on a branch of its own.
    Proposed(ProposalResult),
}

impl EditResult {
    /// Whether files of the working tree are changed.
    pub fn is_written(&self) -> bool {
        matches!(self, Self::Written | Self::Committed(_))
    }

    /// The id of the commit. None: nothing was committed.
    pub fn commit(&self) -> Option<String> {
        if let Self::Committed(committed) = self { Some(committed.id.to_string()) } else { None }
    }
}
