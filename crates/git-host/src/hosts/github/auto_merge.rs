//! What only GitHub's GraphQL API has: automatic merges, and the account of any kind of token.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{GitHub, bearer, method_name};
use crate::error::HostError;
use crate::host::GitHost as _;
use crate::pull_request::{AutoMerge, Merge, MergeRequest};
use crate::repository::HostRepository;
use crate::transport::{Answer, Authorization, Call, Transport, shown};

const ENABLE: &str = "mutation($id: ID!, $method: PullRequestMergeMethod!, $head: GitObjectID!) { \
    enablePullRequestAutoMerge(input: {pullRequestId: $id, mergeMethod: $method, expectedHeadOid: $head}) { \
    pullRequest { number } } }";
const DISABLE: &str =
    "mutation($id: ID!) { disablePullRequestAutoMerge(input: {pullRequestId: $id}) { pullRequest { number } } }";
const VIEWER: &str = "query { viewer { login } }";

#[derive(Deserialize)]
struct GraphQlJson {
    data: Option<Value>,
    #[serde(default)]
    errors: Vec<GraphQlErrorJson>,
}

#[derive(Deserialize)]
struct GraphQlErrorJson {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    message: String,
}

/// The login of a token's account. Also tokens of apps and of GitHub Actions have one.
pub(super) fn viewer(transport: &Transport, authorization: &Authorization) -> Result<String, HostError> {
    let call = graphql(transport, json!({ "query": VIEWER })).repeatable();
    let answer = transport.send(&call, Some(authorization))?;
    let json: GraphQlJson = answer.json()?;
    let login = json.data.as_ref().and_then(|data| data.pointer("/viewer/login")?.as_str());
    login.map(str::to_owned).ok_or_else(|| answer.unexpected(messages(&json.errors)))
}

/// A call of the GraphQL API. On Enterprise Server it is beside the REST API.
fn graphql(transport: &Transport, body: Value) -> Call {
    let base = transport.base().path().trim_end_matches('/');
    let path = match base.strip_suffix("/v3") {
        Some(api) => format!("{api}/graphql"),
        None => format!("{base}/graphql"),
    };
    Call::post(&[], body).at_root(path)
}

fn messages(errors: &[GraphQlErrorJson]) -> String {
    let messages: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
    if messages.is_empty() { "it contains no data".to_owned() } else { shown(&messages.join(", ")) }
}

impl GitHub {
    pub(super) fn enable_auto_merge(
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
                return Ok(AutoMerge::NotAvailable(messages(&json.errors)));
            }
        }
        Ok(match self.merge(repository, number, request)? {
            Merge::Merged { commit } => AutoMerge::Merged { commit },
            Merge::Refused { message, .. } => AutoMerge::NotAvailable(message),
        })
    }

    pub(super) fn disable_auto_merge(&self, repository: &HostRepository, number: u64) -> Result<(), HostError> {
        let found = self.read_pull_request(repository, number)?;
        let id = found.node_id.clone();
        if !found.into_pull_request().is_auto_merge {
            return Ok(());
        }
        let (answer, json) = self.graphql(repository, json!({ "query": DISABLE, "variables": { "id": id } }))?;
        if json.errors.is_empty() { Ok(()) } else { Err(answer.unexpected(messages(&json.errors))) }
    }

    /// Sends a mutation, which sets a state.
    fn graphql(&self, repository: &HostRepository, body: Value) -> Result<(Answer, GraphQlJson), HostError> {
        let header = self.token(repository)?.map(|token| bearer(&token)).transpose()?;
        let answer = self.transport.send(&graphql(&self.transport, body).repeatable(), header.as_ref())?;
        let json: GraphQlJson = answer.json()?;
        if json.errors.iter().any(|error| error.kind == "RATE_LIMITED") {
            return Err(Transport::limited(&answer));
        }
        // These are errors of the whole request, not of the pull request's state.
        let is_denied =
            |error: &GraphQlErrorJson| matches!(error.kind.as_str(), "FORBIDDEN" | "INSUFFICIENT_SCOPES" | "NOT_FOUND");
        if json.errors.iter().any(is_denied) {
            let message = messages(&json.errors);
            return Err(HostError::Refused { call: answer.call, status: 403, message });
        }
        Ok((answer, json))
    }
}
