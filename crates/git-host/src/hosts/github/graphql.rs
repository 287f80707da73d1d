//! GitHub's GraphQL API: the account of any kind of token, and mutations.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{GitHub, bearer};
use crate::error::HostError;
use crate::repository::HostRepository;
use crate::transport::{Answer, Authorization, Call, Transport, shown};

const VIEWER: &str = "query { viewer { login } }";

#[derive(Deserialize)]
pub(super) struct GraphQlJson {
    data: Option<Value>,
    #[serde(default)]
    pub(super) errors: Vec<GraphQlErrorJson>,
}

#[derive(Deserialize)]
pub(super) struct GraphQlErrorJson {
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

pub(super) fn messages(errors: &[GraphQlErrorJson]) -> String {
    let messages: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
    if messages.is_empty() { "it contains no data".to_owned() } else { shown(&messages.join(", ")) }
}

impl GitHub {
    /// Sends a mutation, which sets a state.
    pub(super) fn graphql(&self, repository: &HostRepository, body: Value) -> Result<(Answer, GraphQlJson), HostError> {
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
