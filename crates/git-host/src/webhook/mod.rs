//! Webhooks: events that git hosts send. They are verified before they are parsed.

mod azure_devops;
mod github;
mod gitlab;
mod repository;
mod verify;

use model::git_id::GitId;
use model::secret::Secret;
use serde::de::DeserializeOwned;

pub use self::repository::{EventRepository, RepositoryMatcher, Sender};
use crate::kind::HostKind;
use crate::limits::WEBHOOK_BYTES_MAX;

/// An event of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebhookEvent {
    /// A branch moved.
    Push(PushEvent),
    /// A pull request changed.
    PullRequest(PullRequestEvent),
    /// The host tests the address.
    Ping,
    /// Something else, such as a tag.
    Other,
}

/// A branch that moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushEvent {
    /// The repository.
    pub repository: EventRepository,
    /// The name of the branch.
    pub branch: String,
    /// Its new commit. None if it was deleted.
    pub commit: Option<GitId>,
}

/// A pull request that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRequestEvent {
    /// The repository.
    pub repository: EventRepository,
    /// The number.
    pub number: u64,
    /// The source branch.
    pub head: String,
    /// The commit of the source branch.
    pub head_commit: Option<GitId>,
    /// The target branch.
    pub base: String,
    /// Whether the source branch is in another repository.
    pub is_from_fork: bool,
    /// Whether it is open.
    pub is_open: bool,
}

/// The reason why a webhook is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WebhookError {
    /// The body is larger than the limit.
    #[error("the body has more than {WEBHOOK_BYTES_MAX} bytes")]
    TooLarge,
    /// There is no signature, token or password.
    #[error("there is no `{0}`: give the webhook a secret")]
    NotSigned(&'static str),
    /// The signature, token or password is wrong.
    #[error("the signature is wrong: the webhook has another secret")]
    WrongSignature,
    /// The body is not an event of this kind of host.
    #[error("the body is no event of the git host: {0}")]
    Malformed(String),
    /// Hosts of this kind send no webhooks.
    #[error("{} sends no webhooks", .0.title())]
    NotSupported(HostKind),
}

impl WebhookEvent {
    /// The repository whose change the event announces. None if it announces none that counts, such as that of a fork.
    pub fn repository(&self) -> Option<&EventRepository> {
        match self {
            Self::Push(push) => Some(&push.repository),
            Self::PullRequest(event) if !event.is_from_fork => Some(&event.repository),
            Self::PullRequest(_) | Self::Ping | Self::Other => None,
        }
    }
}

impl PushEvent {
    /// Whether the branch was deleted.
    pub fn is_deleted(&self) -> bool {
        self.commit.is_none()
    }
}

impl WebhookError {
    /// The HTTP status of the answer.
    pub fn status(&self) -> u16 {
        match self {
            Self::TooLarge => 413,
            Self::NotSigned(_) | Self::WrongSignature => 401,
            Self::Malformed(_) => 400,
            Self::NotSupported(_) => 404,
        }
    }
}

/// Verifies and parses a webhook. `header` returns the value of a header by its name in lower case.
///
/// During a change of the secret, several secrets are valid. Without a secret, nothing is accepted. On Azure DevOps, the secret is the password of the basic
/// authentication, and the user does not matter.
///
/// # Errors
/// If the body is too large, is not signed with one of the secrets, or can't be parsed.
pub fn receive<'h>(
    kind: HostKind,
    secrets: &[Secret],
    header: impl Fn(&str) -> Option<&'h str>,
    body: &[u8],
) -> Result<Vec<WebhookEvent>, WebhookError> {
    if body.len() > WEBHOOK_BYTES_MAX {
        return Err(WebhookError::TooLarge);
    }
    match kind {
        HostKind::GitHub => {
            let signature = header("x-hub-signature-256").ok_or(WebhookError::NotSigned("X-Hub-Signature-256"))?;
            let digits = signature.strip_prefix("sha256=").unwrap_or_default();
            verify::signature(secrets, digits, body)?;
            github::events(kind, header("x-github-event").unwrap_or_default(), body)
        }
        HostKind::Gitea => {
            let signature = header("x-forgejo-signature").or_else(|| header("x-gitea-signature"));
            verify::signature(secrets, signature.ok_or(WebhookError::NotSigned("X-Gitea-Signature"))?, body)?;
            let event = header("x-forgejo-event").or_else(|| header("x-gitea-event"));
            github::events(kind, event.unwrap_or_default(), body)
        }
        HostKind::GitLab => {
            verify::token(secrets, header("x-gitlab-token").ok_or(WebhookError::NotSigned("X-Gitlab-Token"))?)?;
            gitlab::events(body)
        }
        HostKind::AzureDevOps => {
            verify::basic(secrets, header("authorization").ok_or(WebhookError::NotSigned("Authorization"))?)?;
            azure_devops::events(body)
        }
        HostKind::Git => Err(WebhookError::NotSupported(kind)),
    }
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, WebhookError> {
    serde_json::from_slice(body).map_err(|error| {
        let is_form = body.starts_with(b"payload=");
        let advice = "it is a form: choose `application/json` as the content type of the webhook";
        WebhookError::Malformed(if is_form { advice.to_owned() } else { crate::transport::shown(&error.to_string()) })
    })
}

/// The event of a reference that moved to the commit with these digits. Only zeros mean that it was deleted.
fn push(reference: &str, digits: &str, repository: EventRepository) -> WebhookEvent {
    let Some(branch) = reference.strip_prefix("refs/heads/") else { return WebhookEvent::Other };
    let commit = GitId::from_hex(digits).filter(|_| digits.bytes().any(|digit| digit != b'0'));
    WebhookEvent::Push(PushEvent { repository, branch: branch.to_owned(), commit })
}

#[cfg(test)]
mod tests;
