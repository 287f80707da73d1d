//! The git hosts: a module for each kind, and one in memory.

pub(crate) mod azure_devops;
pub(crate) mod creation;
mod gitea;
mod github;
mod gitlab;
mod json;
pub mod memory;
mod plain_git;

use std::collections::BTreeMap;
use std::sync::Arc;

use model::git_id::GitId;
use model::secret::SecretSource;
use serde_json::Value;

use crate::credential::Credential;
use crate::error::HostError;
use crate::host::GitHost;
use crate::kind::HostKind;
use crate::pull_request::{Merge, MergeRefusal, MergeRequest, PullRequest, PullRequestState};
use crate::repository::HostRepository;
use crate::settings::HostSettings;
use crate::transport::Answer;

/// Creates the client of a git host. No request is sent.
///
/// # Errors
/// If the settings contradict each other, an address is not valid, or the key of a GitHub App can't be read.
pub fn connect(settings: &HostSettings) -> Result<Arc<dyn GitHost>, HostError> {
    Ok(match settings.kind {
        HostKind::GitHub => Arc::new(github::GitHub::new(settings)?),
        HostKind::GitLab => Arc::new(gitlab::GitLab::new(settings)?),
        HostKind::Gitea => Arc::new(gitea::Gitea::new(settings)?),
        HostKind::AzureDevOps => Arc::new(azure_devops::AzureDevOps::new(settings)?),
        HostKind::Git => Arc::new(plain_git::PlainGit),
    })
}

/// The token of a host that knows no apps. None without a credential.
fn token(settings: &HostSettings) -> Result<Option<&SecretSource>, HostError> {
    match &settings.credential {
        Credential::None => Ok(None),
        Credential::Token(token) => Ok(Some(token)),
        Credential::GitHubApp { .. } => {
            let message = format!("{} has no GitHub Apps: use a token", settings.kind.title());
            Err(HostError::Settings(message))
        }
    }
}

/// The commit with these digits. Hosts leave the digits out, or empty, if there is no commit.
pub(crate) fn commit(digits: Option<&str>) -> Option<GitId> {
    digits.and_then(GitId::from_hex)
}

/// The result of a search. That the object does not exist is no error.
fn found<T>(result: Result<T, HostError>) -> Result<Option<T>, HostError> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

/// The result of a question that some accounts may not ask, and some hosts do not answer. Both is no error.
fn told<T>(result: Result<T, HostError>) -> Result<Option<T>, HostError> {
    match found(result) {
        Err(HostError::Refused { status: 403, .. }) => Ok(None),
        found => found,
    }
}

/// Pull requests by number, each once. Pages can overlap when pull requests are opened meanwhile.
fn sorted(pull_requests: impl Iterator<Item = PullRequest>) -> Vec<PullRequest> {
    pull_requests.map(|found| (found.number, found)).collect::<BTreeMap<_, _>>().into_values().collect()
}

/// The pull request that brought a commit into a branch, among those with the commit. If several were merged into the branch, the first one brought it,
/// unless the commit is the merge of another one.
fn merged(pull_requests: Vec<PullRequest>, commit: GitId, base: &str) -> Option<PullRequest> {
    let is_merged = |found: &PullRequest| found.base == base && matches!(found.state, PullRequestState::Merged { .. });
    let found = sorted(pull_requests.into_iter().filter(is_merged));
    let is_its_merge = |found: &&PullRequest| found.state == PullRequestState::Merged { commit: Some(commit) };
    found.iter().find(is_its_merge).or_else(|| found.first()).cloned()
}

/// The errors among the results of the steps after a creation.
fn errors<const N: usize>(results: [Result<(), HostError>; N]) -> Vec<HostError> {
    results.into_iter().filter_map(Result::err).collect()
}

/// A body with the fields that have a new value. None if none has.
fn changed<const N: usize>(fields: [(&str, Option<String>); N]) -> Option<Value> {
    let fields = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), Value::String(value?))));
    let fields: serde_json::Map<String, Value> = fields.collect();
    (!fields.is_empty()).then_some(Value::Object(fields))
}

/// The result of closing a pull request. A host's refusal is no error if the pull request is not open.
fn closed(
    host: &dyn GitHost,
    repository: &HostRepository,
    number: u64,
    result: Result<(), HostError>,
) -> Result<(), HostError> {
    match result {
        Err(error @ HostError::Refused { .. }) if !error.is_not_found() => {
            if host.pull_request(repository, number)?.is_open() { Err(error) } else { Ok(()) }
        }
        result => result,
    }
}

/// The result of a merge that was requested, by the state of the pull request afterwards. `message` is what the host says if it is not merged.
fn merge_result(request: &MergeRequest, found: &PullRequest, is_conflicting: bool, message: String) -> Merge {
    let reason = match found.state {
        PullRequestState::Merged { commit } => return Merge::Merged { commit },
        PullRequestState::Closed => MergeRefusal::Closed,
        PullRequestState::Open if found.head_commit != Some(request.head_commit) => MergeRefusal::HeadMoved,
        PullRequestState::Open if is_conflicting => MergeRefusal::Conflict,
        PullRequestState::Open => MergeRefusal::Blocked,
    };
    Merge::Refused { reason, message }
}

/// Whether a link in the answer names another page.
fn next_by_link<T>(answer: &Answer, _: &T) -> bool {
    answer.has_next()
}
