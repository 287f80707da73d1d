//! Proposes edits: a new branch in the control plane's repository, and a pull request.

use delivery::access::RepositoryAccess;
use delivery::pull_requests::change_proposal::{self, ChangeProposal, ChangeProposalError, ProposedChange};
use delivery::pull_requests::{GitHosts, Proposal};
use git::publish::{AUTHOR_EMAIL, AUTHOR_NAME};
use git::{Commit, Edits, Person};

use super::ControlPlaneBranch;
use crate::Failure;

/// What is proposed.
#[derive(Clone, Copy)]
pub struct NewProposal<'a> {
    /// The edits of files.
    pub edits: &'a Edits,
    /// The name of the new branch, such as `add/cluster-type-west`.
    pub branch: &'a str,
    /// The first line of the commit message, and the title of the pull request.
    pub title: &'a str,
    /// The body of the pull request, in Markdown, of at most this number of characters.
    pub body: &'a dyn Fn(usize) -> String,
}

/// The result of a proposal.
pub struct ProposalResult {
    /// The new branch.
    pub branch: String,
    /// The branch that it is to be merged into.
    pub base: String,
    /// What was done.
    pub change: ProposedChange,
}

impl ControlPlaneBranch {
    /// Proposes edits of this branch: see [`propose`]. No working tree is changed.
    ///
    /// # Errors
    /// As in [`propose`]. If uncommitted changes of a working tree are edited: open the branch with [`EditPlace::Head`](super::EditPlace::Head).
    pub fn propose(&self, proposal: NewProposal<'_>, hosts: Option<&GitHosts>) -> Result<ProposalResult, Failure> {
        if self.is_in_working_tree {
            return Err(Failure::refused("a proposal is made from the head of the branch, not from a working tree"));
        }
        propose((&self.access, &self.head), proposal, hosts)
    }
}

/// Pushes a branch with one commit on top of a head, and opens a pull request if one of the git hosts is that of the repository. The same call again updates both.
///
/// # Errors
/// If the branch exists and is not from an earlier proposal, or if it can't be pushed.
pub fn propose(
    (access, base): (&RepositoryAccess, &Commit),
    proposal: NewProposal<'_>,
    hosts: Option<&GitHosts>,
) -> Result<ProposalResult, Failure> {
    let author = author(&access.settings.git);
    let NewProposal { edits, branch, title, body } = proposal;
    let seconds = jiff::Timestamp::now().as_second();
    let proposal =
        ChangeProposal { base, branch, edits, trailers: &[], labels: &[], title, body, author: &author, seconds };
    let change = change_proposal::propose(&*access.repositories, hosts, &proposal).map_err(proposal_failure)?;
    Ok(ProposalResult { branch: branch.to_owned(), base: base.revision.name().to_string(), change })
}

/// The user of git, and how the history of decisions names this person.
pub fn decider(access: &RepositoryAccess) -> (Person, String) {
    let author = author(&access.settings.git);
    let by = if author.email == AUTHOR_EMAIL { author.name.clone() } else { author.to_string() };
    (author, by)
}

/// The user as the author of commits: as git knows the user here, or Kalypso.
pub fn author(settings: &git::Settings) -> Person {
    let ours = || Person { name: AUTHOR_NAME.to_owned(), email: AUTHOR_EMAIL.to_owned() };
    git::checkout::identity(settings, &settings.current_dir).unwrap_or_else(ours)
}

impl ProposalResult {
    /// What was done and what to do next, for people.
    pub fn text(&self) -> String {
        let Self { branch, base, change } = self;
        let again = if change.is_known { " already" } else { "" };
        let commit = change.commit.short();
        let merge = format!("Merge {branch} into {base} to apply it.");
        let next = match &change.pull_request {
            Some(Ok(Proposal::Opened(link))) => format!("Opened pull request {}: {}", link.number, link.url),
            Some(Ok(Proposal::Updated(link))) => format!("Updated pull request {}: {}", link.number, link.url),
            Some(Ok(Proposal::Unchanged(link))) => format!("Pull request {} is open: {}", link.number, link.url),
            Some(Ok(_)) | None => merge,
            Some(Err(error)) => format!("The pull request could not be opened: {error}\n{merge}"),
        };
        format!("Proposed for {base} on branch {branch} ({commit}){again}\n{next}\n")
    }
}

/// The failure for a change that can't be proposed.
pub fn proposal_failure(error: ChangeProposalError) -> Failure {
    let text = error.to_string();
    match error {
        ChangeProposalError::Repository(_) | ChangeProposalError::Open(_) => Failure::outside(text),
        ChangeProposalError::Foreign { branch, .. } => Failure::refused(text)
            .help(format!("merge or delete branch `{branch}` first; Kalypso replaces only its own commits")),
        ChangeProposalError::Nothing(_) => Failure::refused(text),
        ChangeProposalError::LostRace(_) => Failure::outside(text).help("try again"),
    }
}
