//! Events of Azure DevOps' service hooks.

use serde::Deserialize;

use super::{EventRepository, PullRequestEvent, WebhookError, WebhookEvent, parse, push};
use crate::hosts::commit;
use crate::kind::HostKind;

/// The prefix of branches.
const BRANCH_PREFIX: &str = "refs/heads/";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct KindJson {
    #[serde(default)]
    event_type: String,
}

#[derive(Deserialize)]
struct EventJson<T> {
    resource: T,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PushJson {
    ref_updates: Vec<UpdateJson>,
    repository: RepositoryJson,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UpdateJson {
    name: String,
    new_object_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PullRequestJson {
    pull_request_id: u64,
    status: String,
    source_ref_name: String,
    target_ref_name: String,
    last_merge_source_commit: Option<CommitJson>,
    fork_source: Option<serde::de::IgnoredAny>,
    repository: RepositoryJson,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CommitJson {
    commit_id: String,
}

#[derive(Deserialize)]
struct RepositoryJson {
    #[serde(rename = "remoteUrl")]
    remote: Option<String>,
    #[serde(rename = "sshUrl")]
    ssh: Option<String>,
    #[serde(rename = "webUrl")]
    web: Option<String>,
}

impl RepositoryJson {
    fn repository(self) -> EventRepository {
        EventRepository::new(HostKind::AzureDevOps, [self.remote, self.ssh, self.web], None)
    }
}

pub(super) fn events(body: &[u8]) -> Result<Vec<WebhookEvent>, WebhookError> {
    match parse::<KindJson>(body)?.event_type.as_str() {
        "git.push" => {
            let EventJson { resource: PushJson { ref_updates, repository } } = parse(body)?;
            let repository = repository.repository();
            Ok(ref_updates.iter().map(|update| push(&update.name, &update.new_object_id, repository.clone())).collect())
        }
        kind if kind.starts_with("git.pullrequest.") => {
            let EventJson { resource: found } = parse::<EventJson<PullRequestJson>>(body)?;
            let branch = |name: &str| name.strip_prefix(BRANCH_PREFIX).unwrap_or(name).to_owned();
            Ok(vec![WebhookEvent::PullRequest(PullRequestEvent {
                number: found.pull_request_id,
                head: branch(&found.source_ref_name),
                head_commit: commit(found.last_merge_source_commit.as_ref().map(|found| found.commit_id.as_str())),
                base: branch(&found.target_ref_name),
                is_from_fork: found.fork_source.is_some(),
                is_open: found.status == "active",
                repository: found.repository.repository(),
            })])
        }
        _ => Ok(vec![WebhookEvent::Other]),
    }
}
