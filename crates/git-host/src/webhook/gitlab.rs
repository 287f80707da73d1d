//! Events of GitLab.

use serde::Deserialize;

use super::{EventRepository, PullRequestEvent, WebhookError, WebhookEvent, parse, push};
use crate::hosts::commit;
use crate::kind::HostKind;
use crate::repository::HostRepository;

#[derive(Deserialize)]
struct KindJson {
    #[serde(default)]
    object_kind: String,
}

#[derive(Deserialize)]
struct PushJson {
    #[serde(rename = "ref")]
    reference: String,
    after: String,
    project: ProjectJson,
}

#[derive(Deserialize)]
struct MergeRequestJson {
    project: ProjectJson,
    object_attributes: AttributesJson,
}

#[derive(Deserialize)]
struct AttributesJson {
    iid: u64,
    source_branch: String,
    target_branch: String,
    source_project_id: Option<u64>,
    target_project_id: Option<u64>,
    #[serde(default)]
    state: String,
    last_commit: Option<CommitJson>,
}

#[derive(Deserialize)]
struct CommitJson {
    id: String,
}

#[derive(Deserialize)]
struct ProjectJson {
    #[serde(rename = "git_http_url")]
    git_http: Option<String>,
    #[serde(rename = "git_ssh_url")]
    git_ssh: Option<String>,
    #[serde(rename = "web_url")]
    web: Option<String>,
    path_with_namespace: Option<String>,
}

impl ProjectJson {
    fn repository(self) -> EventRepository {
        let path = self.path_with_namespace.as_deref().and_then(HostRepository::from_full_name);
        EventRepository::new(HostKind::GitLab, [self.git_http, self.git_ssh, self.web], path)
    }
}

pub(super) fn events(body: &[u8]) -> Result<Vec<WebhookEvent>, WebhookError> {
    let event = match parse::<KindJson>(body)?.object_kind.as_str() {
        "push" => {
            let PushJson { reference, after, project } = parse(body)?;
            push(&reference, &after, project.repository())
        }
        "merge_request" => {
            let MergeRequestJson { project, object_attributes: attributes } = parse(body)?;
            WebhookEvent::PullRequest(PullRequestEvent {
                repository: project.repository(),
                number: attributes.iid,
                head: attributes.source_branch,
                head_commit: commit(attributes.last_commit.as_ref().map(|commit| commit.id.as_str())),
                base: attributes.target_branch,
                is_from_fork: attributes.source_project_id != attributes.target_project_id,
                is_open: attributes.state == "opened",
            })
        }
        _ => WebhookEvent::Other,
    };
    Ok(vec![event])
}
