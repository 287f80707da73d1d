//! Writes a commit of the main branch into an environment: by a commit on the environment's branch, or by a pull request.

use engine::promotion::state::Revision;
use git_host::HostError;
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::object::promotion::ChangeDelivery;

use super::branch_move::{self, BranchMove, ProposingBranch};
pub use super::branch_move::{APPROVAL_LABEL, CommitMoveError, Moved, Proposed};
use crate::access::RepositoryAccess;
use crate::pull_requests::GitHosts;
use crate::states::promoted_commit::PromotedCommit;

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

/// An environment's branch, with what is proposed for it.
#[derive(Clone, Copy)]
pub struct CommitProposals<'a> {
    /// The git hosts. None: there are no pull requests.
    pub hosts: Option<&'a GitHosts>,
    /// The environment.
    pub environment: &'a EnvironmentName,
    /// The environment's branch, as it was read.
    pub promoted: &'a PromotedCommit,
}

impl CommitProposals<'_> {
    /// The open pull request with a commit. None: there is none, or the git host gives no answer.
    pub(super) fn proposed(&self, to: &Revision) -> Option<Proposed> {
        self.branch(&proposing_branch(self.environment)).proposed(&to.0)
    }

    /// Closes the pull request and deletes its branch, if there is one. The commit in it does not move any longer. `keep` is a commit whose pull request stays.
    ///
    /// # Errors
    /// If the repository or the git host can't be reached.
    pub fn withdraw(&self, access: &RepositoryAccess, keep: Option<GitId>) -> Result<bool, CommitMoveError> {
        let keep = keep.map(|keep| self.promoted.edits(keep)).transpose()?;
        self.branch(&proposing_branch(self.environment)).withdraw(&*access.repositories, keep.as_ref())
    }

    /// Takes the answer of a person who closed the pull request: the move ended. When its commit moves again, there is a new pull request.
    ///
    /// # Errors
    /// If the git host can't be reached.
    pub fn settle_declined(&self, to: GitId) -> Result<(), HostError> {
        self.branch(&proposing_branch(self.environment)).settle_declined(&to.to_string())
    }

    fn branch<'b>(&'b self, name: &'b str) -> ProposingBranch<'b> {
        ProposingBranch { hosts: self.hosts, into: &self.promoted.head, name }
    }
}
