//! Proposes a change of a source branch: a branch with one commit, and a pull request if a git host is configured.

use std::collections::BTreeSet;
use std::sync::Arc;

use git::{
    Commit, Edit, Edits, NewCommit, Person, Push, Pushed, Repositories, RepositoryError, Revision, opener, trailer,
};
use git_host::HostError;
use git_host::pull_request::{NewPullRequest, PullRequestChanges, PullRequestQuery, PullRequestStates};
use git_host::sticky::{Put, is_same};
use model::excerpt;
use model::git_id::GitId;
use model::progress::Progress;
use model::tree::{Blob, Child, Entry, Mode, OpenError, Tree};

use crate::pull_requests::authorship::{self, Description};
use crate::pull_requests::{GitHosts, LABEL, Proposal, PullRequestLink};

/// The trailer of the commit. Its value is the id of the commit's tree, so that a commit that a person changed is not taken for ours.
const TRAILER: &str = "Kalypso-Proposal";

/// A change that is proposed.
#[derive(Clone, Copy)]
pub struct ChangeProposal<'a> {
    /// The head of the branch that is to be changed.
    pub base: &'a Commit,
    /// The new branch.
    pub branch: &'a str,
    /// The changes.
    pub edits: &'a Edits,
    /// Further trailers of the commit message.
    pub trailers: &'a [(&'a str, &'a str)],
    /// Further labels of the pull request.
    pub labels: &'a [&'a str],
    /// The first line of the commit message, and the title of the pull request.
    pub title: &'a str,
    /// The body of the pull request, in Markdown, of at most this number of characters.
    pub body: &'a dyn Fn(usize) -> String,
    /// The author of the commit.
    pub author: &'a Person,
    /// The time of the commit, in seconds since 1970.
    pub seconds: i64,
}

/// What was done.
#[derive(Debug)]
pub struct ProposedChange {
    /// The commit of the branch.
    pub commit: GitId,
    /// Whether the branch already had this change.
    pub is_known: bool,
    /// The pull request. None if no git host with pull requests is configured for the repository.
    pub pull_request: Option<Result<Proposal, HostError>>,
}

/// The reason why a change can't be proposed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeProposalError {
    /// The repository can't be read, or refuses the push.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// A folder of the branch can't be read.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The branch exists, and its commit is not one that this module made.
    #[error("branch `{branch}` of `{url}` exists, with commit {commit} of {author}", url = .url, commit = .commit.short())]
    Foreign {
        /// The repository.
        url: git::RepositoryUrl,
        /// The branch.
        branch: String,
        /// Its commit.
        commit: GitId,
        /// The author of the commit.
        author: Person,
    },
    /// The edits lead to the same files.
    #[error("there is nothing to propose: branch `{0}` has this content already")]
    Nothing(Arc<str>),
    /// Another program moved the branch.
    #[error("branch `{0}` moved in the meantime")]
    LostRace(String),
}

/// Proposes a change. A branch that exists from an earlier call is replaced; a branch of others is not.
///
/// # Errors
/// If the branch can't be pushed. An error of the git host is a part of the result, because the branch is pushed then.
pub fn propose(
    repositories: &dyn Repositories,
    hosts: Option<&GitHosts>,
    proposal: &ChangeProposal<'_>,
) -> Result<ProposedChange, ChangeProposalError> {
    let base = proposal.base;
    let open = opener(repositories, base);
    let before = repositories.tree(base)?;
    let tree = edited(before.clone(), proposal.edits, &open)?;
    if tree == before {
        return Err(ChangeProposalError::Nothing(base.revision.name()));
    }
    let existing = match repositories.resolve(&base.url, &Revision::branch(proposal.branch)) {
        Err(RepositoryError::NoRevision { .. }) => None,
        found => Some(found?),
    };
    let (commit, is_known) = match existing {
        Some(found) => {
            let info = repositories.info(&found)?;
            let is_ours =
                info.parents.len() == 1 && trailer::trailers(&info.message, TRAILER) == [info.tree.to_string()];
            // With the same files, such as after a merge of the base branch, nothing of others is lost.
            if !is_ours && info.tree != tree.id() {
                let (url, branch) = (base.url.clone(), proposal.branch.to_owned());
                return Err(ChangeProposalError::Foreign { url, branch, commit: found.id, author: info.author });
            }
            if is_ours && info.tree == tree.id() && info.parents == [base.id] {
                (found.id, true)
            } else {
                (
                    push(
                        repositories,
                        proposal,
                        PushedTree { tree: &tree, branch: proposal.branch, expected: Some(found.id) },
                    )?,
                    false,
                )
            }
        }
        None => {
            (push(repositories, proposal, PushedTree { tree: &tree, branch: proposal.branch, expected: None })?, false)
        }
    };
    let pull_request = hosts.and_then(|hosts| request(hosts, proposal));
    Ok(ProposedChange { commit, is_known, pull_request })
}

/// Commits a change to the base branch itself, without a pull request.
///
/// # Errors
/// If the branch has moved since its head was read, or if it can't be pushed.
pub fn commit(repositories: &dyn Repositories, proposal: &ChangeProposal<'_>) -> Result<GitId, ChangeProposalError> {
    let base = proposal.base;
    let open = opener(repositories, base);
    let before = repositories.tree(base)?;
    let tree = edited(before.clone(), proposal.edits, &open)?;
    let branch = base.revision.name();
    if tree == before {
        return Err(ChangeProposalError::Nothing(branch));
    }
    push(repositories, proposal, PushedTree { tree: &tree, branch: &branch, expected: Some(base.id) })
}

/// A tree with edits.
///
/// # Errors
/// If a folder of the tree can't be opened.
pub(crate) fn edited(mut tree: Tree, edits: &Edits, open: &model::tree::Open<'_>) -> Result<Tree, OpenError> {
    for (path, edit) in edits.iter() {
        match edit {
            Edit::Content(_, bytes) => {
                let mode = tree.file(path, open)?.map_or(Mode::File, |entry| entry.mode);
                let entry = Entry { mode, blob: Blob::new(Arc::clone(bytes)) };
                tree.put(path, Child::File(entry), open)?;
            }
            Edit::Removed | Edit::Link(_) => drop(tree.remove(path, open)?),
        }
    }
    Ok(tree)
}

/// A tree for a branch.
struct PushedTree<'a> {
    tree: &'a Tree,
    branch: &'a str,
    /// The head that the branch must have. None: it must not exist.
    expected: Option<GitId>,
}

fn push(
    repositories: &dyn Repositories,
    proposal: &ChangeProposal<'_>,
    pushed: PushedTree<'_>,
) -> Result<GitId, ChangeProposalError> {
    let PushedTree { tree, branch, expected } = pushed;
    let id = tree.id().to_string();
    let trailers: Vec<_> = proposal.trailers.iter().copied().chain([(TRAILER, id.as_str())]).collect();
    let message = trailer::with_trailers(proposal.title, &trailers);
    let open = opener(repositories, proposal.base);
    let commit = NewCommit {
        parents: &[proposal.base.id],
        tree,
        open: &open,
        message: &message,
        author: proposal.author,
        seconds: proposal.seconds,
        signer: None,
    };
    let progress = &Progress::default();
    let push = Push { branch, expected, commit: Some(commit), progress };
    match repositories.push(&proposal.base.url, &push)? {
        Pushed::Moved(id) => Ok(id),
        Pushed::Removed | Pushed::LostRace => Err(ChangeProposalError::LostRace(branch.to_owned())),
    }
}

/// Opens or updates the pull request. The title and text of a person stay, and a comment has what they should be. None if the repository is on no configured host with pull requests.
fn request(hosts: &GitHosts, proposal: &ChangeProposal<'_>) -> Option<Result<Proposal, HostError>> {
    let (settings, repository) =
        hosts.find(proposal.base.url.as_str()).filter(|(found, _)| found.has_pull_requests())?;
    let host = &*settings.host;
    let limits = host.text_limits();
    let title = excerpt::first(proposal.title, limits.title);
    let body_max = limits.body.saturating_sub(authorship::MARKER_CHARACTERS);
    let body = authorship::marked(&excerpt::first(&(proposal.body)(body_max), body_max));
    let (head, base) = (proposal.branch.to_owned(), proposal.base.revision.name().to_string());
    let query =
        PullRequestQuery { head: Some(head.clone()), base: Some(base.clone()), states: PullRequestStates::Open };
    let work = || {
        let Some(found) = host.pull_requests(&repository, &query)?.pop() else {
            let labels: BTreeSet<_> = [LABEL].iter().chain(proposal.labels).map(|label| (*label).to_owned()).collect();
            let new = NewPullRequest { head, base, title, body, labels, reviewers: settings.reviewers.clone() };
            let opened = host.open(&repository, &new)?.pull_request;
            return Ok(Proposal::Opened(PullRequestLink { number: opened.number, url: opened.url }));
        };
        let link = PullRequestLink { number: found.number, url: found.url.clone() };
        if !authorship::is_ours((host, &repository), &found)? {
            let description = Description { title: &title, body: &body };
            return Ok(match authorship::comment((host, &repository), &found, description)? {
                Put::Unchanged => Proposal::Unchanged(link),
                Put::Created | Put::Updated => Proposal::Updated(link),
            });
        }
        let changes = PullRequestChanges {
            title: Some(title).filter(|title| *title != found.title),
            body: Some(body).filter(|body| !is_same(body, &found.body)),
            ..PullRequestChanges::default()
        };
        if changes == PullRequestChanges::default() {
            return Ok(Proposal::Unchanged(link));
        }
        host.update(&repository, found.number, &changes)?;
        Ok(Proposal::Updated(link))
    };
    Some(work())
}
