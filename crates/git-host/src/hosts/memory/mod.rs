//! A git host in memory, with the semantics of the real ones.

mod branches;
mod evidence;
mod protection;
mod state;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::git_id::GitId;

pub use self::branches::{BranchChanges, Branches, ChangedFile, MemoryBranches};
pub use self::state::{BranchRule, Denial, HostState, RepositoryState};
#[cfg(feature = "double")]
pub(crate) use self::state::{CommentRow, IssueRow, PullRequestRow};
use crate::error::HostError;
use crate::host::{GitHost, Issues, Merges, PullRequests, Reviews, Statuses, TextLimits};
use crate::issue::{Issue, IssueChanges, IssueLabel, NewIssue};
use crate::kind::HostKind;
use crate::new_repository::{NewRepository, RepositoryCreation};
use crate::protection::BranchProtection;
use crate::pull_request::{
    AutoMerge, Comment, Merge, MergeRefusal, MergeRequest, NewPullRequest, Opened, PullRequest, PullRequestChanges,
    PullRequestQuery, PullRequestState,
};
use crate::rate_limit::RateLimit;
use crate::repository::HostRepository;
use crate::review::ReviewApproval;
use crate::status::{CommitStatus, ReportedStatus};

/// The account of a new host's client.
const ACCOUNT: &str = "kalypso-bot";

/// A client of a host in memory. Copies are clients of the same host.
#[derive(Clone, Debug)]
pub struct MemoryHost {
    kind: HostKind,
    account: String,
    state: Arc<Mutex<HostState>>,
    failures: Arc<Mutex<VecDeque<Failure>>>,
}

/// A failure of the host.
#[derive(Clone, Debug)]
struct Failure {
    call: &'static str,
    error: HostError,
    is_done: bool,
}

impl MemoryHost {
    /// Creates a host that behaves like one of a kind. It has no repositories.
    pub fn new(kind: HostKind) -> Self {
        let state = Arc::new(Mutex::new(HostState::new(kind)));
        Self { kind, account: ACCOUNT.to_owned(), state, failures: Arc::default() }
    }

    /// A client of the same host with another account.
    #[must_use]
    pub fn with_account(&self, account: &str) -> Self {
        Self { account: account.to_owned(), ..self.clone() }
    }

    /// Adds a repository with a path, such as `acme/gitops`.
    pub fn add_repository(&self, path: &str, branches: Box<dyn Branches>) {
        self.state().add(path, branches);
    }

    /// The state of the host. Calls wait while it is held.
    pub fn state(&self) -> MutexGuard<'_, HostState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the next call of a method of [`GitHost`] fail. With `is_done`, the host does what is requested before.
    pub fn fail_next(&self, call: &'static str, error: HostError, is_done: bool) {
        self.failures().push_back(Failure { call, error, is_done });
    }

    fn failures(&self) -> MutexGuard<'_, VecDeque<Failure>> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does a call on a repository, unless it shall fail.
    fn call<T>(
        &self,
        call: &'static str,
        repository: &HostRepository,
        work: impl FnOnce(&mut RepositoryState) -> Result<T, Denial>,
    ) -> Result<T, HostError> {
        self.call_host(call, repository, |state| state.repository(&repository.to_string()).and_then(work))
    }

    /// Does a call on the host, unless it shall fail.
    fn call_host<T>(
        &self,
        call: &'static str,
        repository: &HostRepository,
        work: impl FnOnce(&mut HostState) -> Result<T, Denial>,
    ) -> Result<T, HostError> {
        let failure = {
            let mut failures = self.failures();
            let found = failures.iter().position(|failure| failure.call == call);
            found.and_then(|position| failures.remove(position))
        };
        if let Some(Failure { error, is_done: false, .. }) = &failure {
            return Err(error.clone());
        }
        let result = work(&mut self.state());
        if let Some(Failure { error, .. }) = failure {
            return Err(error);
        }
        result.map_err(|denial| refused(call, repository, &denial))
    }
}

fn refused(call: &str, repository: &HostRepository, denial: &Denial) -> HostError {
    let (status, message) = denial.answer();
    HostError::Refused { call: format!("{call} {repository}"), status, message }
}

impl GitHost for MemoryHost {
    fn kind(&self) -> HostKind {
        self.kind
    }

    fn text_limits(&self) -> TextLimits {
        TextLimits { title: 255, body: 4_000, comment: 65_536 }
    }

    fn account(&self, _: &HostRepository) -> Result<String, HostError> {
        Ok(self.account.clone())
    }

    fn default_branch(&self, repository: &HostRepository) -> Result<String, HostError> {
        self.call("default_branch", repository, |state| Ok(state.default_branch.clone()))
    }

    fn protection(&self, repository: &HostRepository, branch: &str) -> Result<Option<BranchProtection>, HostError> {
        self.call("protection", repository, |state| Ok(state.protection(branch)))
    }

    fn create_repository(
        &self,
        repository: &HostRepository,
        _: &NewRepository,
    ) -> Result<RepositoryCreation, HostError> {
        self.call_host("create_repository", repository, |state| {
            let path = repository.to_string();
            if state.repository(&path).is_ok() {
                return Ok(RepositoryCreation::Existed);
            }
            state.create(&path).map(|()| RepositoryCreation::Created)
        })
    }

    fn rate_limit(&self) -> Option<RateLimit> {
        None
    }
}

impl PullRequests for MemoryHost {
    fn pull_requests(
        &self,
        repository: &HostRepository,
        query: &PullRequestQuery,
    ) -> Result<Vec<PullRequest>, HostError> {
        let selected = |state: &mut RepositoryState| {
            Ok(state.pull_requests().into_iter().filter(|pull_request| query.selects(pull_request)).collect())
        };
        self.call("pull_requests", repository, selected)
    }

    fn pull_request(&self, repository: &HostRepository, number: u64) -> Result<PullRequest, HostError> {
        self.call("pull_request", repository, |state| state.pull_request(number).cloned())
    }

    fn merged_pull_request(
        &self,
        repository: &HostRepository,
        commit: GitId,
        base: &str,
    ) -> Result<Option<PullRequest>, HostError> {
        self.call("merged_pull_request", repository, |state| {
            Ok(super::merged(state.pull_requests_with(commit), commit, base))
        })
    }

    fn open(&self, repository: &HostRepository, new: &NewPullRequest) -> Result<Opened, HostError> {
        self.call("open", repository, |state| {
            let opened = match state.open(&self.account, new) {
                Err(Denial::Exists(_)) => {
                    let query = PullRequestQuery::between(&new.head, &new.base);
                    let existing = state.pull_requests().into_iter().find(|existing| query.selects(existing));
                    return existing
                        .map(|pull_request| Opened { pull_request, is_new: false, incomplete: Vec::new() })
                        .ok_or(Denial::NotFound);
                }
                opened => opened?,
            };
            state.ensure_labels(&new.labels);
            let changes = PullRequestChanges { add_labels: new.labels.clone(), ..PullRequestChanges::default() };
            state.update_as(&self.account, opened, &changes)?;
            state.request_reviews(opened, &new.reviewers)?;
            let pull_request = state.pull_request(opened)?.clone();
            Ok(Opened { pull_request, is_new: true, incomplete: Vec::new() })
        })
    }

    fn update(&self, repository: &HostRepository, number: u64, changes: &PullRequestChanges) -> Result<(), HostError> {
        self.call("update", repository, |state| {
            state.ensure_labels(&changes.add_labels);
            state.update_as(&self.account, number, changes)
        })
    }

    fn close(&self, repository: &HostRepository, number: u64) -> Result<(), HostError> {
        self.call("close", repository, |state| state.close(number))
    }

    fn label_author(&self, repository: &HostRepository, number: u64, label: &str) -> Result<Option<String>, HostError> {
        self.call("label_author", repository, |state| state.label_author(number, label))
    }
}

impl Merges for MemoryHost {
    fn merge(&self, repository: &HostRepository, number: u64, request: &MergeRequest) -> Result<Merge, HostError> {
        self.call("merge", repository, |state| {
            if let PullRequestState::Merged { commit } = state.pull_request(number)?.state {
                return Ok(Merge::Merged { commit });
            }
            match state.merge(number, request.head_commit) {
                Ok(commit) => Ok(Merge::Merged { commit: Some(commit) }),
                Err(Denial::Merge(reason)) => Ok(Merge::Refused { reason, message: reason.message().to_owned() }),
                Err(denial) => Err(denial),
            }
        })
    }

    fn set_auto_merge(
        &self,
        repository: &HostRepository,
        number: u64,
        request: &MergeRequest,
    ) -> Result<AutoMerge, HostError> {
        self.call("set_auto_merge", repository, |state| match state.merge(number, request.head_commit) {
            Ok(commit) => Ok(AutoMerge::Merged { commit: Some(commit) }),
            Err(Denial::Merge(MergeRefusal::Blocked | MergeRefusal::Conflict)) => {
                match state.set_auto_merge(number, Some(&self.account)) {
                    Ok(()) => Ok(AutoMerge::Enabled),
                    Err(Denial::Invalid(message)) => Ok(AutoMerge::NotAvailable(message)),
                    Err(denial) => Err(denial),
                }
            }
            Err(Denial::Merge(reason)) => Ok(AutoMerge::NotAvailable(reason.message().to_owned())),
            Err(denial) => Err(denial),
        })
    }

    fn cancel_auto_merge(&self, repository: &HostRepository, number: u64) -> Result<(), HostError> {
        self.call("cancel_auto_merge", repository, |state| state.set_auto_merge(number, None))
    }
}

impl Reviews for MemoryHost {
    fn approvals(&self, repository: &HostRepository, number: u64) -> Result<Vec<ReviewApproval>, HostError> {
        self.call("approvals", repository, |state| state.approvals(number))
    }

    fn comments(&self, repository: &HostRepository, number: u64) -> Result<Vec<Comment>, HostError> {
        self.call("comments", repository, |state| state.comments(number, &self.account))
    }

    fn create_comment(&self, repository: &HostRepository, number: u64, body: &str) -> Result<Comment, HostError> {
        self.call("create_comment", repository, |state| state.create_comment(number, (&self.account, body)))
    }

    fn update_comment(&self, repository: &HostRepository, _: u64, comment: &Comment) -> Result<(), HostError> {
        let Comment { id, body, .. } = comment;
        self.call("update_comment", repository, |state| state.update_comment(&id.0, (&self.account, body)).map(drop))
    }
}

impl Statuses for MemoryHost {
    fn set_status(&self, repository: &HostRepository, commit: GitId, status: &CommitStatus) -> Result<(), HostError> {
        let status = CommitStatus { description: status.short_description(), ..status.clone() };
        self.call("set_status", repository, |state| state.set_status_as(&self.account, commit, status))
    }

    fn commit_statuses(&self, repository: &HostRepository, commit: GitId) -> Result<Vec<ReportedStatus>, HostError> {
        self.call("commit_statuses", repository, |state| Ok(state.reported_statuses(commit)))
    }
}

impl Issues for MemoryHost {
    fn issues(&self, repository: &HostRepository, label: &str) -> Result<Vec<Issue>, HostError> {
        self.call("issues", repository, |state| Ok(state.issues(label, &self.account)))
    }

    fn create_issue(&self, repository: &HostRepository, new: &NewIssue) -> Result<Issue, HostError> {
        self.call("create_issue", repository, |state| {
            state.ensure_labels(&new.labels);
            state.create_issue(&self.account, new)
        })
    }

    fn update_issue(&self, repository: &HostRepository, number: u64, changes: &IssueChanges) -> Result<(), HostError> {
        self.call("update_issue", repository, |state| state.update_issue(number, changes).map(drop))
    }

    fn ensure_label(&self, repository: &HostRepository, label: &IssueLabel) -> Result<(), HostError> {
        self.call("ensure_label", repository, |state| match state.create_label(label) {
            Ok(_) | Err(Denial::Exists(_)) => Ok(()),
            Err(denial) => Err(denial),
        })
    }
}
