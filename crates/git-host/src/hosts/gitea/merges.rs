//! The merges of pull requests on Gitea and Forgejo.

use serde_json::{Value, json};

use super::json::PullRequestJson;
use super::{Gitea, post, with_path};
use crate::error::HostError;
use crate::host::Merges;
use crate::hosts::{found, merge_result};
use crate::pull_request::{AutoMerge, Merge, MergeMethod, MergeRefusal, MergeRequest, PullRequestState};
use crate::repository::HostRepository;
use crate::transport::{Answer, Call};

impl Gitea {
    /// Merges now or later. The commit in the request makes a repetition harmless. An error that says that it can't be merged is an answer here.
    fn request_merge(
        &self,
        repository: &HostRepository,
        number: u64,
        body: Value,
    ) -> Result<Result<Answer, HostError>, HostError> {
        let call = post(repository, &["pulls", &number.to_string(), "merge"], body);
        match self.send(&call.repeatable()) {
            // 404: it is closed.
            Err(error) if !error.may_be_done() && !matches!(error.status(), Some(404 | 405 | 409 | 422)) => Err(error),
            result => Ok(result),
        }
    }
}

/// The body of a request to merge now, or later.
fn merge_body(request: &MergeRequest, is_automatic: bool) -> Value {
    let method = match request.method {
        MergeMethod::Merge => "merge",
        MergeMethod::Squash => "squash",
        MergeMethod::Rebase => "rebase",
    };
    json!({
        "Do": method,
        "head_commit_id": request.head_commit.to_string(),
        "merge_when_checks_succeed": is_automatic,
    })
}

/// The result of a request to merge, whether it succeeded or not, by the state afterwards.
fn after_merge(
    json: PullRequestJson,
    request: &MergeRequest,
    result: Result<(), HostError>,
) -> Result<Merge, HostError> {
    let is_conflicting = json.is_conflicting();
    let found = json.into_pull_request();
    let message = match result {
        Err(HostError::Refused { message, .. }) => message,
        Err(error) if !matches!(found.state, PullRequestState::Merged { .. }) => return Err(error),
        _ => "not merged yet".to_owned(),
    };
    Ok(merge_result(request, &found, is_conflicting, message))
}

impl Merges for Gitea {
    fn merge(&self, repository: &HostRepository, number: u64, request: &MergeRequest) -> Result<Merge, HostError> {
        let result = self.request_merge(repository, number, merge_body(request, false))?.map(drop);
        after_merge(self.read_pull_request(repository, number)?, request, result)
    }

    fn set_auto_merge(
        &self,
        repository: &HostRepository,
        number: u64,
        request: &MergeRequest,
    ) -> Result<AutoMerge, HostError> {
        let result = match self.request_merge(repository, number, merge_body(request, true))? {
            // 201: it waits for the checks. 200: it is merged.
            Ok(Answer { status: 201, .. }) => return Ok(AutoMerge::Enabled),
            result => result.map(drop),
        };
        let is_conflict = matches!(result, Err(HostError::Refused { status: 409, .. }));
        Ok(match after_merge(self.read_pull_request(repository, number)?, request, result)? {
            Merge::Merged { commit } => AutoMerge::Merged { commit },
            // It waits for the checks already.
            Merge::Refused { reason: MergeRefusal::Blocked, .. } if is_conflict => AutoMerge::Enabled,
            Merge::Refused { message, .. } => AutoMerge::NotAvailable(message),
        })
    }

    fn cancel_auto_merge(&self, repository: &HostRepository, number: u64) -> Result<(), HostError> {
        let call = with_path(repository, &["pulls", &number.to_string(), "merge"], Call::delete);
        // There may have been no request.
        found(self.send(&call)).map(drop)
    }
}
