//! What GitHub knows of a change: its approvals, its statuses, and its pull request.

use model::git_id::GitId;
use serde::Deserialize;

use super::json::PullRequestJson;
use super::{GitHub, path};
use crate::error::HostError;
use crate::hosts::json::{ReviewJson, UserJson, login};
use crate::hosts::merged;
use crate::pull_request::PullRequest;
use crate::repository::HostRepository;
use crate::review::{self, Approval, ReviewVerdict};
use crate::status::{self, CommitStatus, ReportedStatus, StatusState};
use crate::transport::Call;

#[derive(Debug, Deserialize)]
struct StatusJson {
    id: u64,
    state: String,
    description: Option<String>,
    target_url: Option<String>,
    context: String,
    creator: Option<UserJson>,
}

impl GitHub {
    pub(super) fn read_approvals(&self, repository: &HostRepository, number: u64) -> Result<Vec<Approval>, HostError> {
        let head = self.read_pull_request(repository, number)?.into_pull_request().head_commit;
        let call = Call::get(&path(repository, &["pulls", &number.to_string(), "reviews"]));
        let found: Vec<ReviewJson> = self.list(repository, &call)?;
        Ok(review::approvals(found.into_iter().filter_map(|found| found.into_review(verdict)).collect(), head))
    }

    pub(super) fn read_merged(
        &self,
        repository: &HostRepository,
        commit: GitId,
        base: &str,
    ) -> Result<Option<PullRequest>, HostError> {
        let call = Call::get(&path(repository, &["commits", &commit.to_string(), "pulls"]));
        let found: Vec<PullRequestJson> = match self.list(repository, &call) {
            // GitHub does not know the commit.
            Err(HostError::Refused { status: 404 | 422, .. }) => return Ok(None),
            found => found?,
        };
        Ok(merged(found.into_iter().map(PullRequestJson::into_pull_request).collect(), commit, base))
    }

    pub(super) fn read_statuses(
        &self,
        repository: &HostRepository,
        commit: GitId,
    ) -> Result<Vec<ReportedStatus>, HostError> {
        let call = Call::get(&path(repository, &["commits", &commit.to_string(), "statuses"]));
        let found: Vec<StatusJson> = self.list(repository, &call)?;
        Ok(status::latest(found.into_iter().map(|found| (found.id, found.into_status()))))
    }
}

/// The verdict of a review. None if it was not submitted yet.
fn verdict(review: &ReviewJson) -> Option<ReviewVerdict> {
    match review.state.as_str() {
        "APPROVED" => Some(ReviewVerdict::Approved),
        "CHANGES_REQUESTED" => Some(ReviewVerdict::ChangesRequested),
        "DISMISSED" => Some(ReviewVerdict::Dismissed),
        "COMMENTED" => Some(ReviewVerdict::Commented),
        _ => None,
    }
}

impl StatusJson {
    fn into_status(self) -> ReportedStatus {
        let state = match self.state.as_str() {
            "success" => StatusState::Success,
            "failure" => StatusState::Failure,
            "pending" => StatusState::Pending,
            _ => StatusState::Error,
        };
        let (description, target_url) = (self.description.unwrap_or_default(), self.target_url);
        let status = CommitStatus { context: self.context, state, description, target_url };
        ReportedStatus { status, account: login(self.creator) }
    }
}
