//! A commit with what is needed of it.

use git::{Commit, Repositories, RepositoryError};
use hub_api::timestamp::Timestamp;
use model::tree::Tree;

/// A commit with its message, its date and its files.
pub(crate) struct OpenedCommit {
    pub(crate) commit: Commit,
    pub(crate) tree: Tree,
    pub(crate) message: String,
    pub(crate) committed_on: Timestamp,
}

impl OpenedCommit {
    /// Reads a commit.
    ///
    /// # Errors
    /// The repository does not have it any more.
    pub(crate) fn open(repositories: &dyn Repositories, commit: Commit) -> Result<Self, RepositoryError> {
        let info = repositories.info(&commit)?;
        let tree = repositories.tree(&commit)?;
        let committed_on = Timestamp::from_millis(info.seconds.saturating_mul(1000));
        Ok(Self { commit, tree, message: info.message, committed_on })
    }
}
