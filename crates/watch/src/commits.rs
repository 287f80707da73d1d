//! Which commits of a branch are to be read.

use git::{Commit, Repositories, RepositoryError, Revision};
use model::git_id::GitId;

use crate::limits::COMMITS_MAX;

/// The commits of a branch that were not read yet.
pub(crate) struct Unread {
    /// The commit up to which the branch was read, if that can still be had.
    pub(crate) base: Option<Commit>,
    /// The commits after it, the oldest first. Only the last one of the branch, if it never was read, was reset, or has gone too far.
    pub(crate) commits: Vec<Commit>,
}

/// Finds what was committed since the branch was read, following first parents.
///
/// # Errors
/// The repository can't be read.
pub(crate) fn unread(
    repositories: &dyn Repositories,
    head: Commit,
    read: Option<GitId>,
) -> Result<Unread, RepositoryError> {
    let Some(read) = read else { return Ok(Unread { base: None, commits: vec![head] }) };
    let mut history = repositories.history(&head, COMMITS_MAX + 1)?;
    if let Some(position) = history.iter().position(|commit| commit.id == read) {
        let base = history.get(position).cloned();
        history.truncate(position);
        history.reverse();
        return Ok(Unread { base, commits: history });
    }
    // It was reset, or has gone far: what is different is seen all the same.
    let revision = Revision::Commit { id: read, branch: None };
    let base = repositories.resolve(&head.url, &revision).ok();
    Ok(Unread { base, commits: vec![head] })
}
