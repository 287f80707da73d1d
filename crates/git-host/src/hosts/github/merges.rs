//! The merges of pull requests on GitHub. Only its GraphQL API has automatic merges.

use serde_json::json;

use super::json::MergeJson;
use super::{GitHub, graphql, path};
use crate::error::HostError;
use crate::host::{Merges, PullRequests as _};
use crate::hosts::{commit, merge_result};
use crate::pull_request::{AutoMerge, Merge, MergeMethod, MergeRequest, PullRequestState};
use crate::repository::HostRepository;
use crate::transport::Call;

const ENABLE: &str = "mutation($id: ID!, $method: PullRequestMergeMethod!, $head: GitObjectID!) { \
    enablePullRequestAutoMerge(input: {pullRequestId: $id, mergeMethod: $method, expectedHeadOid: $head}) { \
    pullRequest { number } } }";
const DISABLE: &str =
    "mutation($id: ID!) { disablePullRequestAutoMerge(input: {pullRequestId: $id}) { pullRequest { number } } }";

fn method_name(method: MergeMethod) -> &'static str {
    match method {
        MergeMethod::Merge => "merge",
        MergeMethod::Squash => "squash",
        MergeMethod::Rebase => "rebase",
    }
}

impl Merges for GitHub {
    fn merge(&self, repository: &HostRepository, number: u64, request: &MergeRequest) -> Result<Merge, HostError> {
        let body = json!({ "sha": request.head_commit.to_string(), "merge_method": method_name(request.method) });
        let call = Call::put(&path(repository, &["pulls", &number.to_string(), "merge"]), body);
        match self.read(repository, call) {
            Ok(MergeJson { sha }) => Ok(Merge::Merged { commit: commit(sha.as_deref()) }),
            Err(HostError::Refused { status: 405 | 409 | 422, message, .. }) => {
                let found = self.read_settled(repository, number)?;
                let is_dirty = found.mergeable_state.as_deref() == Some("dirty");
                Ok(merge_result(request, &found.into_pull_request(), is_dirty, message))
            }
            Err(error) if error.may_be_done() || matches!(error.status(), Some(405 | 409 | 422)) => {
                match self.pull_request(repository, number)?.state {
                    PullRequestState::Merged { commit } => Ok(Merge::Merged { commit }),
                    _ => Err(error),
                }
            }
            Err(error) => Err(error),
        }
    }

    fn set_auto_merge(
        &self,
        repository: &HostRepository,
        number: u64,
        request: &MergeRequest,
    ) -> Result<AutoMerge, HostError> {
        let found = self.read_settled(repository, number)?;
        let is_clean = |state: Option<&str>| matches!(state, Some("clean" | "has_hooks"));
        // Checks that fail or run are not required.
        let is_mergeable = |state: Option<&str>| is_clean(state) || state == Some("unstable");
        let variables = json!({
            "id": found.node_id,
            "method": method_name(request.method).to_ascii_uppercase(),
            "head": request.head_commit.to_string(),
        });
        // A pull request that can be merged can't wait for it.
        if !is_clean(found.mergeable_state.as_deref()) {
            let (_, json) = self.graphql(repository, json!({ "query": ENABLE, "variables": variables }))?;
            if json.errors.is_empty() {
                return Ok(AutoMerge::Enabled);
            }
            // Its requirements may be met since the first look.
            if !is_mergeable(self.read_settled(repository, number)?.mergeable_state.as_deref()) {
                return Ok(AutoMerge::NotAvailable(graphql::messages(&json.errors)));
            }
        }
        Ok(match self.merge(repository, number, request)? {
            Merge::Merged { commit } => AutoMerge::Merged { commit },
            Merge::Refused { message, .. } => AutoMerge::NotAvailable(message),
        })
    }

    fn cancel_auto_merge(&self, repository: &HostRepository, number: u64) -> Result<(), HostError> {
        let found = self.read_pull_request(repository, number)?;
        let id = found.node_id.clone();
        if !found.into_pull_request().is_auto_merge {
            return Ok(());
        }
        let (answer, json) = self.graphql(repository, json!({ "query": DISABLE, "variables": { "id": id } }))?;
        if json.errors.is_empty() { Ok(()) } else { Err(answer.unexpected(graphql::messages(&json.errors))) }
    }
}
