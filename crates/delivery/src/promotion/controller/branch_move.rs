//! Writes a revision into a branch: by a commit, or by a pull request with a branch of its own.

use std::collections::BTreeSet;

use git::publish::{AUTHOR_EMAIL, AUTHOR_NAME};
use git::{Commit, Edits, NewCommit, Person, Push, Pushed, Repositories, RepositoryError, Revision, opener, trailer};
use git_host::pull_request::{PullRequest, PullRequestChanges, PullRequestQuery, PullRequestState, PullRequestStates};
use git_host::{GitHost, HostError, HostRepository};
use model::object::promotion::ChangeDelivery;
use model::progress::Progress;
use model::tree::Tree;

use crate::pull_requests::change_proposal::{self, ChangeProposal, ChangeProposalError};
use crate::pull_requests::{GitHosts, PullRequestLink};
use crate::states::promoted_commit::PromotedCommitError;

/// The trailer of a commit that moves a revision. Its value is the revision.
const TRAILER: &str = "Kalypso-Promotion";

/// The label of a pull request that approves its revision. The account that added it counts.
pub const APPROVAL_LABEL: &str = "kalypso-approved";

/// The hidden lines around the revision in the body of a pull request.
const MARKER: (&str, &str) = ("<!-- kalypso promotion ", " -->");

/// A branch on which revisions are proposed for another branch.
#[derive(Clone, Copy)]
pub(super) struct ProposingBranch<'a> {
    /// The git hosts. None: there are no pull requests.
    pub(super) hosts: Option<&'a GitHosts>,
    /// The head of the branch into which it is merged, as it was read.
    pub(super) into: &'a Commit,
    /// Its name.
    pub(super) name: &'a str,
}

/// A revision to write into a branch.
#[derive(Clone, Copy)]
pub(super) struct BranchMove<'a> {
    /// The head of the branch, as it was read.
    pub(super) head: &'a Commit,
    /// The edits that write the revision.
    pub(super) edits: &'a Edits,
    /// The revision.
    pub(super) revision: &'a str,
    /// The branch on which it is proposed.
    pub(super) proposing_branch: &'a str,
    /// How it is written.
    pub(super) delivery: ChangeDelivery,
    /// The first line of the commit message, and the title of the pull request.
    pub(super) title: &'a str,
    /// Why it moves, in Markdown.
    pub(super) body: &'a str,
    /// The time of the commit, in seconds since 1970.
    pub(super) seconds: i64,
}

/// What was done.
#[derive(Debug)]
pub enum Moved {
    /// The environment has the commit now, or had it already.
    Written,
    /// The commit is on a branch that waits for its merge, with a pull request if there is a git host.
    Proposed(Proposed),
    /// A person closed the pull request with this commit.
    Declined(PullRequestLink),
    /// The environment's branch moved meanwhile. The caller must read it again.
    LostRace,
}

/// A revision on a branch that waits for its merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposed {
    /// The branch.
    pub branch: String,
    /// The pull request. None: there is no git host for it.
    pub pull_request: Option<PullRequestLink>,
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

impl CommitMoveError {
    /// The error with what a person can do.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Push(ChangeProposalError::Foreign { branch, .. }) => format!(
                "{self}, which Kalypso did not create: merge it, or move it to another branch and delete `{branch}`"
            ),
            _ => self.to_string(),
        }
    }

    /// Whether a person has to end the cause: a repository or git host refuses the write, or it can't be made. Otherwise, a connection failed.
    pub(super) fn needs_person(&self) -> bool {
        match self {
            Self::Push(ChangeProposalError::Repository(error)) => {
                use RepositoryError::{Empty, NoRevision, NotGit, NotOwned, Refused, Rewrite, Unsupported, Url};
                matches!(
                    error,
                    Refused { .. }
                        | NotOwned { .. }
                        | Unsupported { .. }
                        | NotGit { .. }
                        | NoRevision { .. }
                        | Empty { .. }
                        | Url { .. }
                        | Rewrite { .. }
                )
            }
            Self::Push(ChangeProposalError::LostRace(_)) => false,
            Self::Push(_) | Self::Edit(_) => true,
            Self::Host(error) => matches!(
                error,
                HostError::Refused { .. }
                    | HostError::Settings(_)
                    | HostError::Url(_)
                    | HostError::Redirected { .. }
                    | HostError::NotSupported { .. }
            ),
        }
    }
}

impl From<RepositoryError> for CommitMoveError {
    fn from(error: RepositoryError) -> Self {
        Self::Push(error.into())
    }
}

/// Writes a revision into a branch. The same call again changes nothing. A pull request with another revision is replaced.
pub(super) fn write(
    repositories: &dyn Repositories,
    hosts: Option<&GitHosts>,
    change: &BranchMove<'_>,
) -> Result<Moved, CommitMoveError> {
    match change.delivery {
        ChangeDelivery::Direct => commit(repositories, change),
        ChangeDelivery::PullRequest => propose(repositories, hosts, change),
    }
}

fn commit(repositories: &dyn Repositories, change: &BranchMove<'_>) -> Result<Moved, CommitMoveError> {
    let head = change.head;
    let open = opener(repositories, head);
    let tree = edited_tree(repositories, head, change.edits)?;
    let message = trailer::with_trailers(change.title, &[(TRAILER, change.revision)]);
    let author = &author();
    let commit = NewCommit {
        parents: &[head.id],
        tree: &tree,
        open: &open,
        message: &message,
        author,
        seconds: change.seconds,
        signer: None,
    };
    let progress = &Progress::default();
    let branch = head.revision.name();
    let push = Push { branch: &branch, expected: Some(head.id), commit: Some(commit), progress };
    Ok(match repositories.push(&head.url, &push)? {
        Pushed::Moved(_) => Moved::Written,
        Pushed::Removed | Pushed::LostRace => Moved::LostRace,
    })
}

/// The files of a branch with edits.
fn edited_tree(repositories: &dyn Repositories, head: &Commit, edits: &Edits) -> Result<Tree, CommitMoveError> {
    let open = opener(repositories, head);
    Ok(change_proposal::edited(repositories.tree(head)?, edits, &open).map_err(ChangeProposalError::from)?)
}

fn propose(
    repositories: &dyn Repositories,
    hosts: Option<&GitHosts>,
    change: &BranchMove<'_>,
) -> Result<Moved, CommitMoveError> {
    let branch = ProposingBranch { hosts, into: change.head, name: change.proposing_branch };
    match branch.newest()? {
        Some((_, _, found)) if is_declined(&found, change.revision) => {
            return Ok(Moved::Declined(PullRequestLink { number: found.number, url: found.url }));
        }
        // It was merged after the branch was read. What is merged already is not proposed again.
        Some((_, _, found)) if is_merged(&found) && has_moved(repositories, change.head)? => {
            return Ok(Moved::LostRace);
        }
        Some((host, repository, found)) => withdraw_approval(host, &repository, (&found, change.revision))?,
        None => {}
    }
    let body = format!("{}\n\n{}", change.body, marker(change.revision));
    let proposal = ChangeProposal {
        trailers: &[],
        labels: &[],
        base: change.head,
        branch: change.proposing_branch,
        edits: change.edits,
        title: change.title,
        body: &|_| body.clone(),
        author: &author(),
        seconds: change.seconds,
    };
    match change_proposal::propose(repositories, hosts, &proposal) {
        Ok(proposed) => {
            let pull_request = proposed.pull_request.transpose()?.and_then(|proposal| proposal.open().cloned());
            Ok(Moved::Proposed(Proposed { branch: change.proposing_branch.to_owned(), pull_request }))
        }
        Err(ChangeProposalError::LostRace(_)) => Ok(Moved::LostRace),
        Err(error) => Err(error.into()),
    }
}

fn marker(revision: &str) -> String {
    format!("{}{revision}{}", MARKER.0, MARKER.1)
}

impl<'a> ProposingBranch<'a> {
    /// The git host, if it has pull requests.
    pub(super) fn host(&self) -> Option<(&'a dyn GitHost, HostRepository)> {
        find_host(self.hosts, self.into.url.as_str())
    }

    /// The pull requests between both branches.
    pub(super) fn query(&self, states: PullRequestStates) -> PullRequestQuery {
        let base = Some(self.into.revision.name().to_string());
        PullRequestQuery { head: Some(self.name.to_owned()), base, states }
    }

    /// The open pull request, or else the newest one.
    fn newest(&self) -> Result<Option<(&'a dyn GitHost, HostRepository, PullRequest)>, HostError> {
        let Some((host, repository)) = self.host() else { return Ok(None) };
        let all = host.pull_requests(&repository, &self.query(PullRequestStates::All))?;
        let newest = all.into_iter().max_by_key(|found| (found.is_open(), found.number));
        Ok(newest.map(|found| (host, repository, found)))
    }

    /// The open pull request with this revision. None: there is none, or the git host gives no answer.
    pub(super) fn proposed(&self, revision: &str) -> Option<Proposed> {
        let (_, _, found) = self.newest().ok()??;
        let is_it = found.is_open() && found.body.contains(&marker(revision));
        let link = is_it.then_some(PullRequestLink { number: found.number, url: found.url })?;
        Some(Proposed { branch: self.name.to_owned(), pull_request: Some(link) })
    }

    /// Takes the answer of a person who closed the pull request of a revision: the move ended. When it moves again, there is a new pull request.
    pub(super) fn settle_declined(&self, revision: &str) -> Result<(), HostError> {
        match self.newest()? {
            Some((host, repository, found)) if is_declined(&found, revision) => settle(host, &repository, &found),
            _ => Ok(()),
        }
    }

    /// Closes the pull request and deletes the branch, if there is one. What it has does not move any longer. `keep` is the edit whose pull request stays.
    pub(super) fn withdraw(
        &self,
        repositories: &dyn Repositories,
        keep: Option<&Edits>,
    ) -> Result<bool, CommitMoveError> {
        let url = &self.into.url;
        let found = match repositories.resolve(url, &Revision::branch(self.name)) {
            Err(RepositoryError::NoRevision { .. } | RepositoryError::Empty { .. }) => return Ok(false),
            found => found?,
        };
        if let Some(keep) = keep
            && repositories.info(&found)?.tree == edited_tree(repositories, self.into, keep)?.id()
        {
            return Ok(false);
        }
        if let Some((host, repository)) = self.host() {
            for open in host.pull_requests(&repository, &self.query(PullRequestStates::Open))? {
                // Otherwise, the closed pull request would look like the answer of a person when the revision moves again.
                settle(host, &repository, &open)?;
                host.close(&repository, open.number)?;
            }
        }
        let push = Push { branch: self.name, expected: Some(found.id), commit: None, progress: &Progress::default() };
        repositories.push(url, &push)?;
        Ok(true)
    }
}

/// Whether a person closed a pull request with this revision without a merge.
fn is_declined(found: &PullRequest, revision: &str) -> bool {
    found.state == PullRequestState::Closed && found.body.contains(&marker(revision))
}

fn is_merged(found: &PullRequest) -> bool {
    matches!(found.state, PullRequestState::Merged { .. })
}

/// Whether a branch has another head than the one that was read.
fn has_moved(repositories: &dyn Repositories, read: &Commit) -> Result<bool, RepositoryError> {
    Ok(repositories.resolve(&read.url, &read.revision)?.id != read.id)
}

/// Removes the label that approves another revision, before the pull request gets this one. Hosts relate reviews to commits, but not labels.
fn withdraw_approval(
    host: &dyn GitHost,
    repository: &HostRepository,
    (found, revision): (&PullRequest, &str),
) -> Result<(), HostError> {
    if !found.is_open() || !found.labels.contains(APPROVAL_LABEL) || found.body.contains(&marker(revision)) {
        return Ok(());
    }
    let remove_labels = BTreeSet::from([APPROVAL_LABEL.to_owned()]);
    host.update(repository, found.number, &PullRequestChanges { remove_labels, ..PullRequestChanges::default() })
}

/// Removes the revision from the body of a pull request, so that it is no answer about the revision any more.
fn settle(host: &dyn GitHost, repository: &HostRepository, found: &PullRequest) -> Result<(), HostError> {
    let body = found.body.replace(MARKER.0, "<!-- kalypso ended promotion ");
    if body == found.body {
        return Ok(());
    }
    host.update(repository, found.number, &PullRequestChanges { body: Some(body), ..PullRequestChanges::default() })
}

/// The git host of a repository, if it has pull requests.
pub(super) fn find_host<'a>(hosts: Option<&'a GitHosts>, url: &str) -> Option<(&'a dyn GitHost, HostRepository)> {
    let (settings, repository) = hosts?.find(url).filter(|(found, _)| found.has_pull_requests())?;
    Some((&*settings.host, repository))
}

fn author() -> Person {
    Person { name: AUTHOR_NAME.to_owned(), email: AUTHOR_EMAIL.to_owned() }
}
