//! The merges of pull requests on Azure DevOps.

use serde_json::{Value, json};

use super::AzureDevOps;
use super::json::{NO_IDENTITY, PullRequestJson};
use crate::error::HostError;
use crate::host::{GitHost as _, Merges, PullRequests as _};
use crate::hosts::merge_result;
use crate::pull_request::{AutoMerge, Merge, MergeMethod, MergeRefusal, MergeRequest, PullRequestState};
use crate::repository::HostRepository;

fn merge_options(method: MergeMethod) -> Value {
    let strategy = match method {
        MergeMethod::Merge => "noFastForward",
        MergeMethod::Squash => "squash",
        MergeMethod::Rebase => "rebase",
    };
    json!({ "mergeStrategy": strategy, "deleteSourceBranch": false })
}

impl Merges for AzureDevOps {
    fn merge(&self, repository: &HostRepository, number: u64, request: &MergeRequest) -> Result<Merge, HostError> {
        let body = json!({
            "status": "completed",
            "lastMergeSourceCommit": { "commitId": request.head_commit.to_string() },
            "completionOptions": merge_options(request.method),
        });
        let (refusal, lost) = match self.change(repository, number, body) {
            Ok(_) => (None, None),
            Err(HostError::Refused { status: 400 | 403 | 409, message, .. }) => (Some(message), None),
            Err(error) if error.may_be_done() => (None, Some(error)),
            Err(error) => return Err(error),
        };
        // The merge runs in the background.
        let is_settled = |json: &PullRequestJson| {
            let is_final = matches!(json.merge_status.as_deref(), Some("conflicts" | "rejectedByPolicy"));
            refusal.is_some() || is_final || !json.is_active() || json.head_commit() != Some(request.head_commit)
        };
        let json = self.transport.read_settled(|| self.read_pull_request(repository, number), is_settled)?;
        let status = json.merge_status.clone().unwrap_or_default();
        let (found, is_conflicting) = (json.into_pull_request(""), status == "conflicts");
        match (merge_result(request, &found, is_conflicting, refusal.unwrap_or(status)), lost) {
            (Merge::Refused { reason: MergeRefusal::Blocked, .. }, Some(error)) => Err(error),
            (merge, _) => Ok(merge),
        }
    }

    fn set_auto_merge(
        &self,
        repository: &HostRepository,
        number: u64,
        request: &MergeRequest,
    ) -> Result<AutoMerge, HostError> {
        // The request itself can't name a commit.
        let before = self.pull_request(repository, number)?;
        if before.head_commit != Some(request.head_commit) && before.is_open() {
            return Ok(AutoMerge::NotAvailable("the source branch has another commit".to_owned()));
        }
        let body = json!({
            "autoCompleteSetBy": { "id": self.account(repository)? },
            "completionOptions": merge_options(request.method),
        });
        let after = match self.change(repository, number, body) {
            Ok(json) => json.into_pull_request(""),
            Err(HostError::Refused { status: 400 | 403 | 409, message, .. }) => {
                return Ok(AutoMerge::NotAvailable(message));
            }
            Err(error) => return Err(error),
        };
        Ok(match after.state {
            PullRequestState::Merged { commit } => AutoMerge::Merged { commit },
            PullRequestState::Closed => AutoMerge::NotAvailable("the pull request is abandoned".to_owned()),
            PullRequestState::Open if after.is_auto_merge => AutoMerge::Enabled,
            PullRequestState::Open => AutoMerge::NotAvailable("Azure DevOps did not accept it".to_owned()),
        })
    }

    fn cancel_auto_merge(&self, repository: &HostRepository, number: u64) -> Result<(), HostError> {
        if !self.pull_request(repository, number)?.is_auto_merge {
            return Ok(());
        }
        self.change(repository, number, json!({ "autoCompleteSetBy": { "id": NO_IDENTITY } })).map(drop)
    }
}
