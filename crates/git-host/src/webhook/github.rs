//! Events of GitHub, Gitea and Forgejo, which have the same format.

use serde::Deserialize;

use super::{EventRepository, PullRequestEvent, WebhookError, WebhookEvent, parse, push};
use crate::hosts::commit;
use crate::kind::HostKind;
use crate::repository::HostRepository;

#[derive(Deserialize)]
struct PushJson {
    #[serde(rename = "ref")]
    reference: String,
    after: String,
    repository: RepositoryJson,
}

/// A branch or a tag that was deleted. Gitea sends no push for it.
#[derive(Deserialize)]
struct DeleteJson {
    #[serde(rename = "ref")]
    name: String,
    ref_type: String,
    repository: RepositoryJson,
}

#[derive(Deserialize)]
struct PullRequestEventJson {
    pull_request: PullRequestJson,
    repository: RepositoryJson,
}

#[derive(Deserialize)]
struct PullRequestJson {
    number: u64,
    state: String,
    head: BranchJson,
    base: BranchJson,
}

#[derive(Deserialize)]
struct BranchJson {
    #[serde(rename = "ref")]
    name: String,
    sha: String,
    repo: Option<FullNameJson>,
}

#[derive(Deserialize)]
struct FullNameJson {
    full_name: String,
}

#[derive(Deserialize)]
struct RepositoryJson {
    #[serde(rename = "clone_url")]
    clone: Option<String>,
    #[serde(rename = "ssh_url")]
    ssh: Option<String>,
    #[serde(rename = "html_url")]
    html: Option<String>,
    full_name: Option<String>,
}

impl RepositoryJson {
    fn repository(self, kind: HostKind) -> EventRepository {
        let path = self.full_name.as_deref().and_then(HostRepository::from_full_name);
        EventRepository::new(kind, [self.clone, self.ssh, self.html], path)
    }
}

pub(super) fn events(kind: HostKind, event: &str, body: &[u8]) -> Result<Vec<WebhookEvent>, WebhookError> {
    let event = match event {
        "push" => {
            let PushJson { reference, after, repository } = parse(body)?;
            push(&reference, &after, repository.repository(kind))
        }
        "delete" => {
            let DeleteJson { name, ref_type, repository } = parse(body)?;
            let reference = if ref_type == "branch" { format!("refs/heads/{name}") } else { name };
            push(&reference, "", repository.repository(kind))
        }
        "pull_request" => {
            let PullRequestEventJson { pull_request, repository } = parse(body)?;
            let PullRequestJson { number, state, head, base } = pull_request;
            let name = |branch: &BranchJson| branch.repo.as_ref().map(|repository| repository.full_name.clone());
            WebhookEvent::PullRequest(PullRequestEvent {
                repository: repository.repository(kind),
                number,
                is_from_fork: name(&head).is_none() || name(&head) != name(&base),
                head_commit: commit(Some(&head.sha)),
                head: head.name,
                base: base.name,
                is_open: state == "open",
            })
        }
        "ping" => WebhookEvent::Ping,
        _ => WebhookEvent::Other,
    };
    Ok(vec![event])
}
