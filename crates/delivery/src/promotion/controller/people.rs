//! What people said about a change on the git host: who wrote it, and who approved it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::promotion::evidence::{Approver, Authors};
use engine::promotion::state::Revision;
use git::Commit;
use git_host::error::HostError;
use git_host::pull_request::{PullRequest, PullRequestState, PullRequestStates};
use git_host::{GitHost, HostRepository};
use jiff::Timestamp;
use model::git_id::GitId;

use super::branch_move::{APPROVAL_LABEL, ProposingBranch, find_host};
use super::line;
use crate::access::RepositoryAccess;
use crate::pull_requests::GitHosts;

/// The number of commits of the main branch whose authors the git host is asked for.
const AUTHORED_MAX: usize = 100;

/// The authors of commits that are known already.
#[derive(Debug, Default)]
pub(super) struct KnownAuthors(BTreeMap<GitId, Option<Arc<str>>>);

impl KnownAuthors {
    /// Who wrote commits of the main branch. Those beyond [`AUTHORED_MAX`] are not known.
    pub(super) fn authors(
        &mut self,
        access: &RepositoryAccess,
        hosts: Option<&GitHosts>,
        commits: &[Revision],
    ) -> Authors {
        let (mut accounts, mut has_unknown) = (BTreeSet::new(), commits.is_empty() || commits.len() > AUTHORED_MAX);
        for commit in commits.iter().take(AUTHORED_MAX) {
            let author = line::commit(commit).and_then(|commit| self.author(access, hosts, commit));
            has_unknown |= author.is_none();
            accounts.extend(author);
        }
        Authors { accounts, has_unknown }
    }

    /// The account that opened the merged pull request which brought a commit to the main branch. None: there is none, or it is not known.
    fn author(&mut self, access: &RepositoryAccess, hosts: Option<&GitHosts>, commit: GitId) -> Option<Arc<str>> {
        if let Some(known) = self.0.get(&commit) {
            return known.clone();
        }
        let (host, repository) = find_host(hosts, access.settings.repo.as_str())?;
        // After an error the author is not known, which needs one more approval. The next step asks again.
        let found = host.merged_pull_request(&repository, commit, &access.settings.branch).ok()?;
        let author = found.map(|found| Arc::from(found.author));
        self.0.insert(commit, author.clone());
        author
    }
}

/// The authors and the approvals of a newer commit of a source, by the pull requests that brought the commits since the admitted one to its branch: only who approved
/// all of these pull requests, and opened none of them, approved the change. If a commit has no pull request, there are no approvals, and the authors are not known.
pub(super) fn of_source(
    hosts: Option<&GitHosts>,
    (commits, branch): (&[Commit], &str),
    now: Timestamp,
) -> (Authors, Vec<Approver>) {
    let none = (Authors::default(), Vec::new());
    let Some((host, repository)) = commits.first().and_then(|newest| find_host(hosts, newest.url.as_str())) else {
        return none;
    };
    let mut authors = BTreeSet::new();
    let mut all: Option<Vec<Approver>> = None;
    let mut seen = BTreeSet::new();
    for commit in commits {
        let Ok(Some(found)) = host.merged_pull_request(&repository, commit.id, branch) else { return none };
        if !seen.insert(found.number) {
            continue;
        }
        let approvals = reviews(host, &repository, &found, now).unwrap_or_default();
        let has_approved = |one: &Approver| approvals.iter().any(|other| other.account == one.account);
        all = Some(match all {
            Some(before) => before.into_iter().filter(has_approved).collect(),
            None => approvals,
        });
        authors.insert(Arc::from(found.author));
    }
    (Authors { accounts: authors, has_unknown: false }, all.unwrap_or_default())
}

/// The approvals of a revision on its pull request: reviews, and the label [`APPROVAL_LABEL`]. Empty if there is no such pull request, or if the git host does not
/// answer: then the gate waits.
pub(super) fn approvals(branch: ProposingBranch<'_>, revision: &str, now: Timestamp) -> Vec<Approver> {
    let Some((host, repository)) = branch.host() else { return Vec::new() };
    let Ok(all) = host.pull_requests(&repository, &branch.query(PullRequestStates::All)) else { return Vec::new() };
    // A merged one counts too: it may be merged before the next step sees its approvals.
    let is_about = |found: &PullRequest| found.state != PullRequestState::Closed && found.body.contains(revision);
    let Some(found) = all.into_iter().filter(is_about).max_by_key(|found| found.number) else {
        return Vec::new();
    };
    let mut approvals = reviews(host, &repository, &found, now).unwrap_or_default();
    if found.labels.contains(APPROVAL_LABEL)
        && let Ok(Some(account)) = host.label_author(&repository, found.number, APPROVAL_LABEL)
    {
        approvals.push(Approver { account: account.into(), at: now, by: "label".into(), gate: None });
    }
    approvals
}

fn reviews(
    host: &dyn GitHost,
    repository: &HostRepository,
    found: &PullRequest,
    now: Timestamp,
) -> Result<Vec<Approver>, HostError> {
    let reviews = host.approvals(repository, found.number)?;
    let approver = |review: git_host::review::ReviewApproval| Approver {
        account: review.account.into(),
        at: review.at.unwrap_or(now),
        by: "review".into(),
        gate: None,
    };
    Ok(reviews.into_iter().map(approver).collect())
}
