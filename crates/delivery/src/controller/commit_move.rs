//! Writes a commit of the main branch into an environment: by a commit on the environment's branch, or by a pull request.

use engine::promotion::state::Revision;
use git_host::HostError;
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::object::promotion::ChangeDelivery;

use super::branch_move::{self, BranchMove};
pub use super::branch_move::{APPROVAL_LABEL, CommitMoveError, Moved, Proposed};
use crate::access::RepositoryAccess;
use crate::promoted_commit::PromotedCommit;
use crate::pull_requests::GitHosts;

/// A commit to write into an environment.
#[derive(Clone, Copy)]
pub struct CommitMove<'a> {
    /// The environment.
    pub environment: &'a EnvironmentName,
    /// The environment's branch, as it was read.
    pub promoted: &'a PromotedCommit,
    /// The commit.
    pub to: GitId,
    /// How it is written.
    pub delivery: ChangeDelivery,
    /// The first line of the commit message, and the title of the pull request.
    pub title: &'a str,
    /// Why it moves, in Markdown.
    pub body: &'a str,
    /// The time of the commit, in seconds since 1970.
    pub seconds: i64,
}

/// The branch on which commits are proposed for an environment.
pub fn proposing_branch(environment: &EnvironmentName) -> String {
    format!("kalypso-promote/{environment}")
}

/// Writes a commit into an environment. The same call again changes nothing. A pull request with another commit is replaced.
///
/// # Errors
/// If the object can't be edited, or the change can't be pushed or proposed.
pub fn write(
    access: &RepositoryAccess,
    hosts: Option<&GitHosts>,
    change: &CommitMove<'_>,
) -> Result<Moved, CommitMoveError> {
    if change.promoted.commit == Some(change.to) {
        return Ok(Moved::Written);
    }
    let change = BranchMove {
        head: &change.promoted.head,
        edits: &change.promoted.edits(change.to)?,
        revision: &change.to.to_string(),
        proposing_branch: &proposing_branch(change.environment),
        delivery: change.delivery,
        title: change.title,
        body: change.body,
        seconds: change.seconds,
    };
    branch_move::write(&*access.repositories, hosts, &change)
}

/// The open pull request of an environment with a commit. None: there is none, or the git host gives no answer.
pub(super) fn proposed(
    hosts: Option<&GitHosts>,
    (environment, promoted): (&EnvironmentName, &PromotedCommit),
    to: &Revision,
) -> Option<Proposed> {
    branch_move::proposed(hosts, (&promoted.head, &proposing_branch(environment)), &to.0)
}

/// Closes the pull request of an environment and deletes its branch, if there is one. The commit in it does not move any longer. `keep` is a commit whose pull request
/// stays.
///
/// # Errors
/// If the repository or the git host can't be reached.
pub fn withdraw(
    access: &RepositoryAccess,
    hosts: Option<&GitHosts>,
    (environment, promoted): (&EnvironmentName, &PromotedCommit),
    keep: Option<GitId>,
) -> Result<bool, CommitMoveError> {
    let keep = keep.map(|keep| promoted.edits(keep)).transpose()?;
    let branch = proposing_branch(environment);
    branch_move::withdraw(&*access.repositories, hosts, (&promoted.head, &branch), keep.as_ref())
}

/// Takes the answer of a person who closed the pull request of an environment: the move ended. When its commit moves again, there is a new pull request.
///
/// # Errors
/// If the git host can't be reached.
pub fn settle_declined(
    hosts: Option<&GitHosts>,
    (environment, promoted): (&EnvironmentName, &PromotedCommit),
    to: GitId,
) -> Result<(), HostError> {
    branch_move::settle_declined(hosts, (&promoted.head, &proposing_branch(environment)), &to.to_string())
}
