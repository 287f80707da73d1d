//! Webhooks as each kind of host sends them.

use data_encoding::{BASE64, HEXLOWER};
use hmac::{Hmac, KeyInit as _, Mac as _};
use model::git_id::GitId;
use model::secret::Secret;
use serde_json::{Value, json};
use sha2::Sha256;

use crate::kind::HostKind;
use crate::pull_request::PullRequest;

/// A webhook that is to be sent: its headers, with names in lower case, and its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentWebhook {
    /// The headers.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: String,
}

/// The webhooks of a repository.
#[derive(Clone, Copy, Debug)]
pub struct RepositoryWebhooks<'a> {
    /// The kind of the host.
    pub kind: HostKind,
    /// The secret that signs them.
    pub secret: &'a Secret,
    /// The HTTPS URL of the repository.
    pub url: &'a str,
}

impl RepositoryWebhooks<'_> {
    /// The webhook of a branch that moved to a commit, or was deleted.
    pub fn push(&self, branch: &str, commit: Option<GitId>) -> SentWebhook {
        let Self { kind, url, .. } = *self;
        let reference = format!("refs/heads/{branch}");
        let after = commit.map_or_else(|| "0".repeat(40), |commit| commit.to_string());
        let body = match kind {
            // Gitea has another event for a deletion.
            HostKind::Gitea if commit.is_none() => {
                let body = json!({ "ref": branch, "ref_type": "branch", "repository": { "clone_url": url } });
                return self.sent("delete", &body);
            }
            HostKind::GitLab => {
                json!({ "object_kind": "push", "ref": reference, "after": after, "project": { "git_http_url": url } })
            }
            HostKind::AzureDevOps => json!({
                "eventType": "git.push",
                "resource": {
                    "refUpdates": [{ "name": reference, "newObjectId": after }],
                    "repository": { "remoteUrl": url },
                },
            }),
            _ => json!({ "ref": reference, "after": after, "repository": { "clone_url": url } }),
        };
        self.sent("push", &body)
    }

    /// The webhook of a pull request that changed.
    pub fn pull_request(&self, shown: &PullRequest) -> SentWebhook {
        let Self { kind, url, .. } = *self;
        let commit = shown.head_commit.map(|commit| commit.to_string());
        let body = match kind {
            HostKind::GitLab => json!({
                "object_kind": "merge_request",
                "project": { "git_http_url": url },
                "object_attributes": {
                    "iid": shown.number, "source_branch": shown.head, "target_branch": shown.base,
                    "source_project_id": if shown.is_from_fork { 2 } else { 1 }, "target_project_id": 1,
                    "state": if shown.is_open() { "opened" } else { "closed" },
                    "last_commit": commit.map(|commit| json!({ "id": commit })),
                },
            }),
            HostKind::AzureDevOps => json!({
                "eventType": "git.pullrequest.updated",
                "resource": {
                    "pullRequestId": shown.number, "status": if shown.is_open() { "active" } else { "abandoned" },
                    "sourceRefName": format!("refs/heads/{}", shown.head), "targetRefName": format!("refs/heads/{}", shown.base),
                    "lastMergeSourceCommit": commit.map(|commit| json!({ "commitId": commit })),
                    "forkSource": shown.is_from_fork.then(|| json!({})),
                    "repository": { "remoteUrl": url },
                },
            }),
            _ => json!({
                "action": "synchronize", "number": shown.number,
                "pull_request": {
                    "number": shown.number, "state": if shown.is_open() { "open" } else { "closed" },
                    "head": {
                        "ref": shown.head, "sha": commit.unwrap_or_default(),
                        "repo": { "full_name": if shown.is_from_fork { "fork" } else { "own" } },
                    },
                    "base": { "ref": shown.base, "sha": "", "repo": { "full_name": "own" } },
                },
                "repository": { "clone_url": url },
            }),
        };
        self.sent("pull_request", &body)
    }

    /// A webhook with the headers of the kind, signed with the secret.
    fn sent(&self, event: &str, body: &Value) -> SentWebhook {
        let Self { kind, secret, .. } = *self;
        let body = body.to_string();
        let signature = || {
            // HMAC takes keys of every length.
            let mac = Hmac::<Sha256>::new_from_slice(secret.reveal().as_bytes());
            mac.map(|mac| HEXLOWER.encode(&mac.chain_update(&body).finalize().into_bytes())).unwrap_or_default()
        };
        let headers = match kind {
            HostKind::GitHub => {
                vec![("x-github-event", event.to_owned()), ("x-hub-signature-256", format!("sha256={}", signature()))]
            }
            HostKind::Gitea => vec![("x-gitea-event", event.to_owned()), ("x-gitea-signature", signature())],
            HostKind::GitLab => vec![("x-gitlab-token", secret.reveal().to_owned())],
            HostKind::AzureDevOps => {
                let user = format!("webhook:{}", secret.reveal());
                vec![("authorization", format!("Basic {}", BASE64.encode(user.as_bytes())))]
            }
            HostKind::Git => Vec::new(),
        };
        SentWebhook { headers, body }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pull_request::{NewPullRequest, PullRequestState};
    use crate::repository::HostRepository;
    use crate::webhook::{self, EventRepository, PullRequestEvent, PushEvent, WebhookEvent};

    const URL: &str = "https://git.example/acme/fleet.git";
    const KINDS: [HostKind; 4] = [HostKind::GitHub, HostKind::GitLab, HostKind::Gitea, HostKind::AzureDevOps];

    fn webhooks(kind: HostKind, secret: &Secret) -> RepositoryWebhooks<'_> {
        RepositoryWebhooks { kind, secret, url: URL }
    }

    fn received(kind: HostKind, sent: &SentWebhook) -> Vec<WebhookEvent> {
        let header =
            |name: &str| sent.headers.iter().find(|(given, _)| *given == name).map(|(_, value)| value.as_str());
        webhook::receive(kind, &[Secret::new("s3cret")], header, sent.body.as_bytes()).unwrap()
    }

    fn event_repository(kind: HostKind) -> EventRepository {
        let path = (kind != HostKind::AzureDevOps).then(|| HostRepository::from_path(&["acme", "fleet"]));
        EventRepository { urls: vec![URL.to_owned()], path }
    }

    #[test]
    fn a_push_is_received_as_it_was_sent() {
        for kind in KINDS {
            for commit in [GitId::from_hex("4fb8c440e19eca604bbdc14dbba63e5fb98b2c52"), None] {
                let sent = webhooks(kind, &Secret::new("s3cret")).push("team/dev", commit);
                let expected = PushEvent { repository: event_repository(kind), branch: "team/dev".to_owned(), commit };
                assert_eq!(received(kind, &sent), [WebhookEvent::Push(expected)], "{kind}");
            }
        }
    }

    #[test]
    fn a_pull_request_is_received_as_it_was_sent() {
        let host = crate::hosts::memory::MemoryHost::new(HostKind::GitHub);
        host.add_repository("acme/fleet", Box::new(crate::hosts::memory::MemoryBranches::new()));
        let new = NewPullRequest { head: "dev".to_owned(), base: "main".to_owned(), ..NewPullRequest::default() };
        let mut state = host.state();
        let repository = state.repository("acme/fleet").unwrap();
        let number = repository.open_from_fork("mallory", &new);
        let shown = repository.pull_request(number).unwrap().clone();
        for kind in KINDS {
            for state in [PullRequestState::Open, PullRequestState::Closed] {
                let shown = PullRequest { state, ..shown.clone() };
                let sent = webhooks(kind, &Secret::new("s3cret")).pull_request(&shown);
                let expected = PullRequestEvent {
                    repository: event_repository(kind),
                    number,
                    head: "dev".to_owned(),
                    head_commit: shown.head_commit,
                    base: "main".to_owned(),
                    is_from_fork: true,
                    is_open: state == PullRequestState::Open,
                };
                assert_eq!(received(kind, &sent), [WebhookEvent::PullRequest(expected)], "{kind}");
            }
        }
    }
}
