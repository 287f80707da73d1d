//! Writes a commit of the main branch into an environment: by a commit on the environment's branch, or by a pull request.

use std::collections::BTreeSet;

use git::publish::{AUTHOR_EMAIL, AUTHOR_NAME};
use git::{NewCommit, Person, Push, Pushed, Repositories, RepositoryError, Revision, opener, trailer};
use git_host::pull_request::{PullRequest, PullRequestChanges, PullRequestQuery, PullRequestState, PullRequestStates};
use git_host::{GitHost, HostError, HostRepository};
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::object::promotion::ChangeDelivery;
use model::progress::Progress;
use model::tree::Tree;

use crate::access::RepositoryAccess;
use crate::change_proposal::{self, ChangeProposal, ChangeProposalError};
use crate::promoted_commit::{PromotedCommit, PromotedCommitError};
use crate::pull_requests::{GitHosts, Proposal, PullRequestLink};

/// The trailer of a commit that moves an environment. Its value is the promoted commit.
const TRAILER: &str = "Kalypso-Promotion";

/// The label of a pull request that approves its commit. The account that added it counts.
pub const APPROVAL_LABEL: &str = "kalypso-approved";

/// The hidden lines around the promoted commit in the body of a pull request.
const MARKER: (&str, &str) = ("<!-- kalypso promotion ", " -->");

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

/// What was done.
#[derive(Debug)]
pub enum Moved {
    /// The environment has the commit now, or had it already.
    Written,
    /// The commit is on a branch that waits for its merge, with a pull request if there is a git host.
    Proposed {
        /// The branch.
        branch: String,
        /// The pull request.
        pull_request: Option<PullRequestLink>,
    },
    /// A person closed the pull request with this commit.
    Declined(PullRequestLink),
    /// The environment's branch moved meanwhile. The caller must read it again.
    LostRace,
}

/// The reason why a commit can't be written.
#[derive(Debug, thiserror::Error)]
pub enum CommitMoveError {
    /// The object can't be edited.
    #[error(transparent)]
    Edit(#[from] PromotedCommitError),
    /// The change can't be pushed.
    #[error(transparent)]
    Push(#[from] ChangeProposalError),
    /// The git host fails or refuses.
    #[error(transparent)]
    Host(#[from] HostError),
}

impl From<RepositoryError> for CommitMoveError {
    fn from(error: RepositoryError) -> Self {
        Self::Push(error.into())
    }
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
    match change.delivery {
        ChangeDelivery::Direct => commit(&*access.repositories, change),
        ChangeDelivery::PullRequest => propose(access, hosts, change),
    }
}

fn commit(repositories: &dyn Repositories, change: &CommitMove<'_>) -> Result<Moved, CommitMoveError> {
    let head = &change.promoted.head;
    let open = opener(repositories, head);
    let tree = edited_tree(repositories, change.promoted, change.to)?;
    let message = trailer::with_trailers(change.title, &[(TRAILER, &change.to.to_string())]);
    let author = &author();
    let commit =
        NewCommit { parents: &[head.id], tree: &tree, open: &open, message: &message, author, seconds: change.seconds };
    let progress = &Progress::default();
    let branch = head.revision.name();
    let push = Push { branch: &branch, expected: Some(head.id), commit: Some(commit), progress };
    Ok(match repositories.push(&head.url, &push)? {
        Pushed::Moved(_) => Moved::Written,
        Pushed::Removed | Pushed::LostRace => Moved::LostRace,
    })
}

/// The files of an environment's branch with another commit.
fn edited_tree(repositories: &dyn Repositories, promoted: &PromotedCommit, to: GitId) -> Result<Tree, CommitMoveError> {
    let (edits, open) = (promoted.edits(to)?, opener(repositories, &promoted.head));
    let tree = repositories.tree(&promoted.head)?;
    Ok(change_proposal::edited(tree, &edits, &open).map_err(ChangeProposalError::from)?)
}

fn propose(
    access: &RepositoryAccess,
    hosts: Option<&GitHosts>,
    change: &CommitMove<'_>,
) -> Result<Moved, CommitMoveError> {
    let branch = proposing_branch(change.environment);
    let newest = hosts.map(|hosts| newest(hosts, (change.environment, change.promoted))).transpose()?;
    match newest.flatten() {
        Some((_, _, found)) if is_declined(&found, change.to) => {
            return Ok(Moved::Declined(PullRequestLink { number: found.number, url: found.url }));
        }
        Some((host, repository, found)) => withdraw_approval(host, &repository, (&found, change.to))?,
        None => {}
    }
    let body = format!("{}\n\n{}", change.body, marker(change.to));
    let proposal = ChangeProposal {
        base: &change.promoted.head,
        branch: &branch,
        edits: &change.promoted.edits(change.to)?,
        title: change.title,
        body: &body,
        author: &author(),
        seconds: change.seconds,
    };
    match change_proposal::propose(&*access.repositories, hosts, &proposal) {
        Ok(proposed) => {
            let pull_request = proposed.pull_request.transpose()?.and_then(|proposal| match proposal {
                Proposal::Opened(link) | Proposal::Updated(link) | Proposal::Unchanged(link) => Some(link),
                _ => None,
            });
            Ok(Moved::Proposed { branch, pull_request })
        }
        Err(ChangeProposalError::LostRace(_)) => Ok(Moved::LostRace),
        Err(error) => Err(error.into()),
    }
}

/// The open pull request of an environment, or else the newest one.
fn newest<'h>(
    hosts: &'h GitHosts,
    (environment, promoted): (&EnvironmentName, &PromotedCommit),
) -> Result<Option<(&'h dyn GitHost, HostRepository, PullRequest)>, HostError> {
    let (head, branch) = (&promoted.head, proposing_branch(environment));
    let Some((settings, repository)) = hosts.find(head.url.as_str()).filter(|(found, _)| found.has_pull_requests())
    else {
        return Ok(None);
    };
    let query = PullRequestQuery {
        head: Some(branch),
        base: Some(head.revision.name().to_string()),
        states: PullRequestStates::All,
    };
    let all = settings.host.pull_requests(&repository, &query)?;
    let newest = all.into_iter().max_by_key(|found| (found.is_open(), found.number));
    Ok(newest.map(|found| (&*settings.host, repository, found)))
}

fn marker(to: GitId) -> String {
    format!("{}{to}{}", MARKER.0, MARKER.1)
}

/// Whether a person closed a pull request with this commit without a merge.
fn is_declined(found: &PullRequest, to: GitId) -> bool {
    found.state == PullRequestState::Closed && found.body.contains(&marker(to))
}

/// Removes the label that approves another commit, before the pull request gets this one. Hosts relate reviews to commits, but not labels.
fn withdraw_approval(
    host: &dyn GitHost,
    repository: &HostRepository,
    (found, to): (&PullRequest, GitId),
) -> Result<(), HostError> {
    if !found.is_open() || !found.labels.contains(APPROVAL_LABEL) || found.body.contains(&marker(to)) {
        return Ok(());
    }
    let remove_labels = BTreeSet::from([APPROVAL_LABEL.to_owned()]);
    host.update(repository, found.number, &PullRequestChanges { remove_labels, ..PullRequestChanges::default() })
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
    let (url, branch) = (&promoted.head.url, proposing_branch(environment));
    let repositories = &*access.repositories;
    let found = match repositories.resolve(url, &Revision::branch(&branch)) {
        Err(RepositoryError::NoRevision { .. } | RepositoryError::Empty { .. }) => return Ok(false),
        found => found?,
    };
    if let Some(keep) = keep {
        let tree = edited_tree(repositories, promoted, keep)?;
        if repositories.info(&found)?.tree == tree.id() {
            return Ok(false);
        }
    }
    if let Some((settings, repository)) =
        hosts.and_then(|hosts| hosts.find(url.as_str())).filter(|(found, _)| found.has_pull_requests())
    {
        let base = Some(promoted.head.revision.name().to_string());
        let query = PullRequestQuery { head: Some(branch.clone()), base, states: PullRequestStates::Open };
        for open in settings.host.pull_requests(&repository, &query)? {
            // Otherwise, the closed pull request would look like the answer of a person when the commit moves again.
            settle(&*settings.host, &repository, &open)?;
            settings.host.close(&repository, open.number)?;
        }
    }
    let push = Push { branch: &branch, expected: Some(found.id), commit: None, progress: &Progress::default() };
    repositories.push(url, &push)?;
    Ok(true)
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
    let Some(hosts) = hosts else { return Ok(()) };
    match newest(hosts, (environment, promoted))? {
        Some((host, repository, found)) if is_declined(&found, to) => settle(host, &repository, &found),
        _ => Ok(()),
    }
}

/// Removes the promoted commit from the body of a pull request, so that it is no answer about the commit any more.
fn settle(host: &dyn GitHost, repository: &HostRepository, found: &PullRequest) -> Result<(), HostError> {
    let body = found.body.replace(MARKER.0, "<!-- kalypso ended promotion ");
    if body == found.body {
        return Ok(());
    }
    host.update(repository, found.number, &PullRequestChanges { body: Some(body), ..PullRequestChanges::default() })
}

fn author() -> Person {
    Person { name: AUTHOR_NAME.to_owned(), email: AUTHOR_EMAIL.to_owned() }
}
