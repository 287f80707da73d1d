//! A git server without an API.

use model::git_id::GitId;

use crate::error::HostError;
use crate::host::{GitHost, Issues, Merges, PullRequests, Reviews, Statuses, TextLimits};
use crate::issue::{Issue, IssueChanges, IssueLabel, NewIssue};
use crate::kind::HostKind;
use crate::new_repository::{NewRepository, RepositoryCreation};
use crate::pull_request::{
    AutoMerge, Comment, Merge, MergeRequest, NewPullRequest, Opened, PullRequest, PullRequestChanges, PullRequestQuery,
};
use crate::rate_limit::RateLimit;
use crate::repository::HostRepository;
use crate::review::ReviewApproval;
use crate::status::{CommitStatus, ReportedStatus};

/// A git server that has branches only. It has no pull requests, so queries find none; everything else is not supported.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlainGit;

fn no<T>(what: &'static str) -> Result<T, HostError> {
    Err(HostError::NotSupported { kind: HostKind::Git, what })
}

impl GitHost for PlainGit {
    fn kind(&self) -> HostKind {
        HostKind::Git
    }

    fn text_limits(&self) -> TextLimits {
        TextLimits { title: 0, body: 0, comment: 0 }
    }

    fn account(&self, _: &HostRepository) -> Result<String, HostError> {
        no("accounts")
    }

    fn default_branch(&self, _: &HostRepository) -> Result<String, HostError> {
        no("API for the default branch")
    }

    fn create_repository(&self, _: &HostRepository, _: &NewRepository) -> Result<RepositoryCreation, HostError> {
        no("API to create repositories")
    }

    fn rate_limit(&self) -> Option<RateLimit> {
        None
    }
}

impl PullRequests for PlainGit {
    fn pull_requests(&self, _: &HostRepository, _: &PullRequestQuery) -> Result<Vec<PullRequest>, HostError> {
        Ok(Vec::new())
    }

    fn pull_request(&self, _: &HostRepository, _: u64) -> Result<PullRequest, HostError> {
        no("pull requests")
    }

    fn merged_pull_request(&self, _: &HostRepository, _: GitId, _: &str) -> Result<Option<PullRequest>, HostError> {
        Ok(None)
    }

    fn open(&self, _: &HostRepository, _: &NewPullRequest) -> Result<Opened, HostError> {
        no("pull requests")
    }

    fn update(&self, _: &HostRepository, _: u64, _: &PullRequestChanges) -> Result<(), HostError> {
        no("pull requests")
    }

    fn close(&self, _: &HostRepository, _: u64) -> Result<(), HostError> {
        no("pull requests")
    }

    fn label_author(&self, _: &HostRepository, _: u64, _: &str) -> Result<Option<String>, HostError> {
        no("labels")
    }
}

impl Merges for PlainGit {
    fn merge(&self, _: &HostRepository, _: u64, _: &MergeRequest) -> Result<Merge, HostError> {
        no("pull requests")
    }

    fn set_auto_merge(&self, _: &HostRepository, _: u64, _: &MergeRequest) -> Result<AutoMerge, HostError> {
        no("pull requests")
    }

    fn cancel_auto_merge(&self, _: &HostRepository, _: u64) -> Result<(), HostError> {
        no("pull requests")
    }
}

impl Reviews for PlainGit {
    fn approvals(&self, _: &HostRepository, _: u64) -> Result<Vec<ReviewApproval>, HostError> {
        no("reviews")
    }

    fn comments(&self, _: &HostRepository, _: u64) -> Result<Vec<Comment>, HostError> {
        no("comments")
    }

    fn create_comment(&self, _: &HostRepository, _: u64, _: &str) -> Result<Comment, HostError> {
        no("comments")
    }

    fn update_comment(&self, _: &HostRepository, _: u64, _: &Comment) -> Result<(), HostError> {
        no("comments")
    }
}

impl Statuses for PlainGit {
    fn set_status(&self, _: &HostRepository, _: GitId, _: &CommitStatus) -> Result<(), HostError> {
        no("commit statuses")
    }

    fn commit_statuses(&self, _: &HostRepository, _: GitId) -> Result<Vec<ReportedStatus>, HostError> {
        no("commit statuses")
    }
}

impl Issues for PlainGit {
    fn issues(&self, _: &HostRepository, _: &str) -> Result<Vec<Issue>, HostError> {
        no("issues")
    }

    fn create_issue(&self, _: &HostRepository, _: &NewIssue) -> Result<Issue, HostError> {
        no("issues")
    }

    fn update_issue(&self, _: &HostRepository, _: u64, _: &IssueChanges) -> Result<(), HostError> {
        no("issues")
    }

    fn ensure_label(&self, _: &HostRepository, _: &IssueLabel) -> Result<(), HostError> {
        no("labels")
    }
}
