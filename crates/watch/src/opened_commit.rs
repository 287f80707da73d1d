//! A commit with its metadata and files.

use git::{Commit, Repositories, RepositoryError};
use hub_api::timestamp::Timestamp;
use model::tree::Tree;

/// A commit with its files, message and time.
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
    /// If the repository no longer has the commit.
    pub(crate) fn open(repositories: &dyn Repositories, commit: Commit) -> Result<Self, RepositoryError> {
        let info = repositories.info(&commit)?;
        let tree = repositories.tree(&commit)?;
        let committed_on = Timestamp::from_millis(info.seconds.saturating_mul(1000));
        Ok(Self { commit, tree, message: info.message, committed_on })
    }
}
