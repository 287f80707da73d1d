//! Finds the commits of a branch that were not read yet.

use git::{Commit, Repositories, RepositoryError, Revision};
use model::git_id::GitId;

use crate::limits::COMMITS_MAX;

/// The commits of a branch that were not read yet.
pub(crate) struct UnreadCommits {
    /// The last commit that was read. None if there is none, or if it is no longer in the repository.
    pub(crate) base: Option<Commit>,
    /// The commits after it, oldest first. Only the head of the branch, if the branch was never read, was reset, or has too many new commits.
    pub(crate) commits: Vec<Commit>,
}

/// Finds the commits since the last read commit, along the first parents.
///
/// # Errors
/// If the repository can't be read.
pub(crate) fn unread_commits(
    repositories: &dyn Repositories,
    head: Commit,
    read: Option<GitId>,
) -> Result<UnreadCommits, RepositoryError> {
    let Some(read) = read else { return Ok(UnreadCommits { base: None, commits: vec![head] }) };
    let mut history = repositories.history(&head, COMMITS_MAX + 1)?;
    if let Some(position) = history.iter().position(|commit| commit.id == read) {
        let base = history.get(position).cloned();
        history.truncate(position);
        history.reverse();
        return Ok(UnreadCommits { base, commits: history });
    }
    // The branch was reset, or has too many new commits. The difference of the two trees is still correct.
    let revision = Revision::Commit { id: read, branch: None };
    let base = repositories.resolve(&head.url, &revision).ok();
    Ok(UnreadCommits { base, commits: vec![head] })
}
