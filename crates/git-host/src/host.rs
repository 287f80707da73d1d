//! The seam to git hosts.

use std::fmt;

use model::git_id::GitId;
use model::secret::Secret;

use crate::calls::CallCounts;
use crate::error::HostError;
use crate::issue::{Issue, IssueChanges, IssueLabel, NewIssue};
use crate::kind::HostKind;
use crate::new_repository::{NewRepository, RepositoryCreation};
use crate::protection::BranchProtection;
use crate::pull_request::{
    AutoMerge, Comment, Merge, MergeRequest, NewPullRequest, Opened, PullRequest, PullRequestChanges, PullRequestQuery,
};
use crate::rate_limit::RateLimit;
use crate::repository::HostRepository;
use crate::review::ReviewApproval;
use crate::status::{CommitStatus, ReportedStatus};

/// The maximum lengths of texts on a host, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextLimits {
    /// The title of a pull request or an issue.
    pub title: usize,
    /// The body of a pull request.
    pub body: usize,
    /// The body of a comment or an issue.
    pub comment: usize,
}

/// One git host with one credential.
///
/// All calls block, and must not be made on a thread that runs asynchronous tasks. They wait for rate limits and repeat requests, within the [`Patience`](crate::settings::Patience) of the settings. A request is repeated only
/// where that is safe: if it reads, if it sets a state, if the host did not accept it, or if a look shows that nothing was created.
pub trait GitHost: PullRequests + Merges + Reviews + Statuses + Issues + Send + Sync + fmt::Debug {
    /// The kind of the host.
    fn kind(&self) -> HostKind;

    /// The maximum lengths of texts. The host refuses longer ones.
    fn text_limits(&self) -> TextLimits;

    /// The name of the credential's account, as it appears as an author in a repository.
    ///
    /// # Errors
    /// If the host refuses, fails or can't be reached. The same is true for all other methods, also those of the other traits.
    fn account(&self, repository: &HostRepository) -> Result<String, HostError>;

    /// A token for git over HTTPS that the host makes for a repository, such as GitHub for an App. It is valid for a short time. None if the App is not
    /// installed for the repository. Also none if the credential is itself a token: then the user configures the credentials of git.
    ///
    /// # Errors
    /// As in [`Self::account`].
    fn git_token(&self, _: &HostRepository) -> Result<Option<Secret>, HostError> {
        Ok(None)
    }

    /// The default branch of a repository.
    ///
    /// # Errors
    /// As in [`Self::account`].
    fn default_branch(&self, repository: &HostRepository) -> Result<String, HostError>;

    /// The protection of a branch. None if the host does not tell it: the credential is not sufficient, the host has no such API, or the branch does not exist.
    ///
    /// # Errors
    /// As in [`Self::account`].
    fn protection(&self, _: &HostRepository, _: &str) -> Result<Option<BranchProtection>, HostError> {
        Ok(None)
    }

    /// Creates a repository without branches, unless it exists. Looks for it first, so an account that may not create any can use one that exists.
    ///
    /// # Errors
    /// As in [`Self::account`], if the owner does not exist, or if the account may not create repositories there.
    fn create_repository(
        &self,
        repository: &HostRepository,
        new: &NewRepository,
    ) -> Result<RepositoryCreation, HostError>;

    /// The rate limit, as the last answer described it. None if the host does not describe it, or before the first answer.
    fn rate_limit(&self) -> Option<RateLimit>;

    /// The calls of its API so far.
    fn calls(&self) -> CallCounts {
        CallCounts::default()
    }
}

/// The pull requests of a git host.
pub trait PullRequests {
    /// The pull requests that a query selects, by number. Reads all pages.
    ///
    /// # Errors
    /// As in [`GitHost::account`], and if there are more pages than [`PAGES_MAX`](crate::limits::PAGES_MAX).
    fn pull_requests(
        &self,
        repository: &HostRepository,
        query: &PullRequestQuery,
    ) -> Result<Vec<PullRequest>, HostError>;

    /// One pull request.
    ///
    /// # Errors
    /// As in [`GitHost::account`], and if it does not exist.
    fn pull_request(&self, repository: &HostRepository, number: u64) -> Result<PullRequest, HostError>;

    /// The merged pull request that brought a commit into a branch, as far as the host knows it. Gitea knows it only for the commit of the merge itself.
    /// None without one, such as for a pushed commit.
    ///
    /// # Errors
    /// As in [`GitHost::account`].
    fn merged_pull_request(
        &self,
        repository: &HostRepository,
        commit: GitId,
        base: &str,
    ) -> Result<Option<PullRequest>, HostError>;

    /// Opens a pull request. If an open one with the same branches exists, returns that one.
    ///
    /// # Errors
    /// As in [`GitHost::account`], and if a branch does not exist or they do not differ.
    fn open(&self, repository: &HostRepository, new: &NewPullRequest) -> Result<Opened, HostError>;

    /// Changes a pull request.
    ///
    /// # Errors
    /// As in [`GitHost::account`], and if it does not exist.
    fn update(&self, repository: &HostRepository, number: u64, changes: &PullRequestChanges) -> Result<(), HostError>;

    /// Closes a pull request without a merge. A closed or merged one stays as it is.
    ///
    /// # Errors
    /// As in [`GitHost::account`], and if it does not exist.
    fn close(&self, repository: &HostRepository, number: u64) -> Result<(), HostError>;

    /// The account that added a label of a pull request last. None if it is not known.
    ///
    /// # Errors
    /// As in [`GitHost::account`], if the pull request does not exist, and if the host does not say who adds labels.
    fn label_author(&self, repository: &HostRepository, number: u64, label: &str) -> Result<Option<String>, HostError>;
}

/// The merges of pull requests on a git host.
pub trait Merges {
    /// Merges a pull request, if its requirements are met and its head is the given commit.
    ///
    /// # Errors
    /// As in [`GitHost::account`]. A refusal of the merge is no error.
    fn merge(&self, repository: &HostRepository, number: u64, request: &MergeRequest) -> Result<Merge, HostError>;

    /// Requests that the host merges a pull request as soon as its requirements are met. If they are met, merges it.
    ///
    /// # Errors
    /// As in [`GitHost::account`]. A host or repository without this is no error.
    fn set_auto_merge(
        &self,
        repository: &HostRepository,
        number: u64,
        request: &MergeRequest,
    ) -> Result<AutoMerge, HostError>;

    /// Withdraws the request of an automatic merge. Without such a request, does nothing.
    ///
    /// # Errors
    /// As in [`GitHost::account`].
    fn cancel_auto_merge(&self, repository: &HostRepository, number: u64) -> Result<(), HostError>;
}

/// The reviews of pull requests on a git host: approvals and comments.
pub trait Reviews {
    /// The current approvals of a pull request, by account: the latest verdict of the account is an approval that was not withdrawn. Where the host says
    /// what was approved, approvals of an older head of the source branch are left out.
    ///
    /// # Errors
    /// As in [`GitHost::account`], if the pull request does not exist, and if the host has no reviews.
    fn approvals(&self, repository: &HostRepository, number: u64) -> Result<Vec<ReviewApproval>, HostError>;

    /// The comments of a pull request, oldest first, without those of the host itself.
    ///
    /// # Errors
    /// As in [`GitHost::account`], and if the pull request does not exist.
    fn comments(&self, repository: &HostRepository, number: u64) -> Result<Vec<Comment>, HostError>;

    /// Creates a comment on a pull request. It is not repeated after an error that leaves open whether it was created.
    ///
    /// # Errors
    /// As in [`GitHost::account`], and if the pull request does not exist.
    fn create_comment(&self, repository: &HostRepository, number: u64, body: &str) -> Result<Comment, HostError>;

    /// Replaces the text of the comment with the same id by the text of this one.
    ///
    /// # Errors
    /// As in [`GitHost::account`], and if the comment does not exist.
    fn update_comment(&self, repository: &HostRepository, number: u64, comment: &Comment) -> Result<(), HostError>;
}

/// The statuses of commits on a git host.
pub trait Statuses {
    /// Sets the status of a commit. A status with the same context is replaced.
    ///
    /// # Errors
    /// As in [`GitHost::account`], and if the commit does not exist.
    fn set_status(&self, repository: &HostRepository, commit: GitId, status: &CommitStatus) -> Result<(), HostError>;

    /// The statuses of a commit, by context and account: the last one that each account reported with each context. GitLab also lists its jobs, whose account
    /// is that of the person or program that started the pipeline.
    ///
    /// # Errors
    /// As in [`GitHost::account`]. A commit that does not exist may have no statuses instead.
    fn commit_statuses(&self, repository: &HostRepository, commit: GitId) -> Result<Vec<ReportedStatus>, HostError>;
}

/// The issues of a git host, and the labels of issues and pull requests.
pub trait Issues {
    /// The open and closed issues with a label, by number.
    ///
    /// # Errors
    /// As in [`GitHost::account`], and if the repository has no issues.
    fn issues(&self, repository: &HostRepository, label: &str) -> Result<Vec<Issue>, HostError>;

    /// Creates an issue. It is not repeated after an error that leaves open whether it was created.
    ///
    /// # Errors
    /// As in [`GitHost::account`], and if the repository has no issues.
    fn create_issue(&self, repository: &HostRepository, new: &NewIssue) -> Result<Issue, HostError>;

    /// Changes an issue.
    ///
    /// # Errors
    /// As in [`GitHost::account`], and if it does not exist.
    fn update_issue(&self, repository: &HostRepository, number: u64, changes: &IssueChanges) -> Result<(), HostError>;

    /// Creates a label with its color and description, unless a label of this name exists.
    ///
    /// # Errors
    /// As in [`GitHost::account`].
    fn ensure_label(&self, repository: &HostRepository, label: &IssueLabel) -> Result<(), HostError>;
}
