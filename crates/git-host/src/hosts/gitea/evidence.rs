//! What Gitea knows of a change: its approvals, its statuses, and its pull request.

use model::git_id::GitId;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::json::PullRequestJson;
use super::{Gitea, get};
use crate::error::HostError;
use crate::hosts::json::{ReviewJson, UserJson, login};
use crate::hosts::{found, merged};
use crate::limits::PAGE_ITEMS;
use crate::pull_request::PullRequest;
use crate::repository::HostRepository;
use crate::review::{self, Approval, ReviewVerdict};
use crate::status::{self, CommitStatus, ReportedStatus, StatusState};
use crate::transport::{Answer, Call};

#[derive(Debug, Deserialize)]
struct StatusJson {
    id: u64,
    status: String,
    description: Option<String>,
    target_url: Option<String>,
    context: String,
    creator: Option<UserJson>,
}

impl Gitea {
    pub(super) fn read_approvals(&self, repository: &HostRepository, number: u64) -> Result<Vec<Approval>, HostError> {
        let head = self.read_pull_request(repository, number)?.into_pull_request().head_commit;
        let found: Vec<ReviewJson> =
            self.list_to_the_end(&get(repository, &["pulls", &number.to_string(), "reviews"]))?;
        Ok(review::approvals(found.into_iter().filter_map(|found| found.into_review(verdict)).collect(), head))
    }

    pub(super) fn read_merged(
        &self,
        repository: &HostRepository,
        commit: GitId,
        base: &str,
    ) -> Result<Option<PullRequest>, HostError> {
        let call = get(repository, &["commits", &commit.to_string(), "pull"]);
        let found: Option<PullRequestJson> = found(self.read(&call))?;
        Ok(merged(found.into_iter().map(PullRequestJson::into_pull_request).collect(), commit, base))
    }

    pub(super) fn read_statuses(
        &self,
        repository: &HostRepository,
        commit: GitId,
    ) -> Result<Vec<ReportedStatus>, HostError> {
        let found: Vec<StatusJson> =
            self.list_to_the_end(&get(repository, &["commits", &commit.to_string(), "statuses"]))?;
        Ok(status::latest(found.into_iter().map(|found| (found.id, found.into_status()))))
    }

    /// Reads pages until one is empty. Gitea's list of reviews names no next page, and a later one can withdraw an approval.
    fn list_to_the_end<T: DeserializeOwned>(&self, call: &Call) -> Result<Vec<T>, HostError> {
        let page = |number: u32| {
            let call = call.clone().query("limit", PAGE_ITEMS.to_string());
            call.query("page", number.to_string())
        };
        let has_next = |_: &Answer, page: &Vec<T>| !page.is_empty();
        let pages = self.transport.pages(page, self.authorization.as_ref(), has_next)?;
        Ok(pages.into_iter().flatten().collect())
    }
}

/// The verdict of a review. None if it was not submitted yet.
fn verdict(review: &ReviewJson) -> Option<ReviewVerdict> {
    match review.state.as_str() {
        "APPROVED" | "REQUEST_CHANGES" if review.dismissed => Some(ReviewVerdict::Dismissed),
        "APPROVED" if review.stale => Some(ReviewVerdict::Dismissed),
        "APPROVED" => Some(ReviewVerdict::Approved),
        "REQUEST_CHANGES" => Some(ReviewVerdict::ChangesRequested),
        "COMMENT" => Some(ReviewVerdict::Commented),
        _ => None,
    }
}

impl StatusJson {
    fn into_status(self) -> ReportedStatus {
        let state = match self.status.as_str() {
            "success" => StatusState::Success,
            "failure" | "warning" => StatusState::Failure,
            "pending" => StatusState::Pending,
            _ => StatusState::Error,
        };
        let (description, target_url) = (self.description.unwrap_or_default(), self.target_url);
        let target_url = target_url.filter(|url| !url.is_empty());
        let status = CommitStatus { context: self.context, state, description, target_url };
        ReportedStatus { status, account: login(self.creator) }
    }
}
