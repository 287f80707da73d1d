//! The merges of merge requests on GitLab.

use serde_json::{Value, json};

use super::json::MergeRequestJson;
use super::{GitLab, Resource};
use crate::error::HostError;
use crate::host::Merges;
use crate::hosts::merge_result;
use crate::pull_request::{AutoMerge, Merge, MergeMethod, MergeRefusal, MergeRequest, PullRequest, PullRequestState};
use crate::repository::HostRepository;

impl GitLab {
    /// Merges now or later. An error that says that it can't be merged is an answer here.
    fn request_merge(
        &self,
        repository: &HostRepository,
        number: u64,
        body: Value,
    ) -> Result<Result<PullRequest, HostError>, HostError> {
        // GitLab refuses to merge what it has not checked yet.
        self.read_settled(repository, number)?;
        let resource = Resource::of_merge_request(repository, number, &["merge"]);
        match self.read(&resource.put(body)) {
            Ok(found) => Ok(Ok(MergeRequestJson::into_pull_request(found))),
            Err(error) if error.may_be_done() || matches!(error.status(), Some(405 | 406 | 409 | 422)) => {
                Ok(Err(error))
            }
            Err(error) => Err(error),
        }
    }
}

/// The body of a request to merge now, or later.
fn merge_body(request: &MergeRequest, is_automatic: bool) -> Value {
    let mut body = json!({
        "sha": request.head_commit.to_string(),
        "squash": request.method == MergeMethod::Squash,
    });
    if is_automatic {
        // The second name is that of GitLab 17.11 and later.
        body["merge_when_pipeline_succeeds"] = json!(true);
        body["auto_merge"] = json!(true);
    }
    body
}

/// The result of a merge that the host refused, or whose answer was lost, by the state afterwards.
fn after_merge(json: MergeRequestJson, request: &MergeRequest, error: HostError) -> Result<Merge, HostError> {
    let has_conflicts = json.has_conflicts;
    match merge_result(request, &json.into_pull_request(), has_conflicts, refusal_message(&error)) {
        Merge::Refused { .. } if error.may_be_done() => Err(error),
        merge => Ok(merge),
    }
}

/// The host's own words in an error.
fn refusal_message(error: &HostError) -> String {
    match error {
        HostError::Refused { message, .. } => message.clone(),
        other => other.to_string(),
    }
}

impl Merges for GitLab {
    fn merge(&self, repository: &HostRepository, number: u64, request: &MergeRequest) -> Result<Merge, HostError> {
        match self.request_merge(repository, number, merge_body(request, false))? {
            Ok(PullRequest { state: PullRequestState::Merged { commit }, .. }) => Ok(Merge::Merged { commit }),
            Ok(_) => Ok(Merge::Refused { reason: MergeRefusal::Blocked, message: "not merged yet".to_owned() }),
            Err(error) => after_merge(self.read_settled(repository, number)?, request, error),
        }
    }

    fn set_auto_merge(
        &self,
        repository: &HostRepository,
        number: u64,
        request: &MergeRequest,
    ) -> Result<AutoMerge, HostError> {
        let refusal = match self.request_merge(repository, number, merge_body(request, true))? {
            Ok(PullRequest { state: PullRequestState::Merged { commit }, .. }) => {
                return Ok(AutoMerge::Merged { commit });
            }
            Ok(found) if found.is_auto_merge => return Ok(AutoMerge::Enabled),
            Ok(_) => "GitLab did not accept it".to_owned(),
            Err(error) => match after_merge(self.read_settled(repository, number)?, request, error)? {
                Merge::Merged { commit } => return Ok(AutoMerge::Merged { commit }),
                Merge::Refused { message, .. } => message,
            },
        };
        // Without a running pipeline, GitLab accepts only an immediate merge.
        if !self.read_settled(repository, number)?.is_mergeable() {
            return Ok(AutoMerge::NotAvailable(refusal));
        }
        Ok(match self.merge(repository, number, request)? {
            Merge::Merged { commit } => AutoMerge::Merged { commit },
            Merge::Refused { message, .. } => AutoMerge::NotAvailable(message),
        })
    }

    fn cancel_auto_merge(&self, repository: &HostRepository, number: u64) -> Result<(), HostError> {
        let resource = Resource::of_merge_request(repository, number, &["cancel_merge_when_pipeline_succeeds"]);
        match self.send(&resource.post(json!({})).repeatable()) {
            // There was no request.
            Err(HostError::Refused { status: 405 | 406, .. }) => Ok(()),
            result => result.map(drop),
        }
    }
}
