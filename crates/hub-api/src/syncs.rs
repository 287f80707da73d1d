//! The environments of the service: their last sync, plans, pull requests and problems.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::timestamp::Timestamp;

/// The service that syncs environments, in the process of the hub.
pub trait SyncService: std::fmt::Debug + Send + Sync {
    /// The state of each environment, by name.
    fn states(&self) -> Vec<EnvironmentSync>;

    /// The plans and problems of an environment. None if there is no such environment.
    fn detail(&self, environment: &str) -> Option<EnvironmentSyncDetail>;

    /// Requests a sync, and does not wait for it.
    ///
    /// # Errors
    /// If the environment is not known.
    fn request_sync(&self, request: &SyncRequest) -> Result<SyncReceipt, UnknownEnvironment>;

    /// Confirms exactly the removals with a word, and requests a sync.
    ///
    /// # Errors
    /// If the environment is not known, its last plan needs another word, or the configuration does not allow it to the caller.
    fn confirm(&self, confirmation: &Confirmation, by: &str) -> Result<SyncReceipt, ConfirmationError>;

    /// Verifies a webhook of a git host, and requests the syncs of the environments that read the changed branch. `header` returns the value of a header by its
    /// name in lower case.
    ///
    /// # Errors
    /// If the webhook is not accepted.
    fn receive_webhook(
        &self,
        kind: &str,
        header: &dyn Fn(&str) -> Option<String>,
        body: &[u8],
    ) -> Result<SyncReceipt, RefusedWebhook>;

    /// The metrics in the format `OpenMetrics`, without the line at the end.
    fn metrics(&self) -> String;

    /// The reasons why the service is not ready. Empty if it is.
    fn missing(&self) -> Vec<String>;
}

/// The state of an environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentSync {
    /// The environment.
    pub environment: String,
    /// What the service does with it.
    pub phase: SyncPhase,
    /// The replica that leads the environment: only this one syncs it. None: there is only one replica, or none leads at the moment.
    pub leader: Option<String>,
    /// The last sync that ended. None before the first one.
    pub last: Option<SyncResult>,
    /// The number of syncs that failed since the last good one.
    pub failures: u32,
    /// When the next sync starts. None: with the next change.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub next_on: Option<Timestamp>,
}

/// What the service does with an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SyncPhase {
    /// It waits for a change.
    Waiting,
    /// A change arrived, and others may follow.
    Settling,
    /// A sync is running.
    Syncing,
}

/// The result of a sync.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SyncResult {
    /// When it started.
    #[schema(value_type = String, format = DateTime)]
    pub started_on: Timestamp,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// What requested it: `start`, `takeover`, `poll`, `webhook`, `api`, `confirmation`, `retry` or `resync`.
    pub reason: String,
    /// Why it failed. None if it succeeded.
    pub error: Option<String>,
    /// The number of assignments.
    pub assignments: usize,
    /// The number of assignments that were computed again.
    pub recomputed: usize,
    /// The number of errors.
    pub errors: usize,
    /// The number of warnings.
    pub warnings: usize,
    /// The commits of the sources.
    pub sources: Vec<SyncSource>,
    /// The destinations of the output.
    pub destinations: Vec<SyncDestination>,
}

/// A commit of a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SyncSource {
    /// The repository's URL.
    pub repository: String,
    /// The branch, tag or commit.
    pub revision: String,
    /// The commit.
    pub commit: String,
}

/// A destination of an environment's output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SyncDestination {
    /// The name of its `GitOpsRepo`.
    pub gitops_repo: String,
    /// The repository's URL.
    pub repository: String,
    /// The branch that clusters pull.
    pub branch: String,
    /// What happened, in one line for people.
    pub description: String,
    /// Whether a change waits for its merge.
    pub is_proposed: bool,
    /// The pull request. None if there is none.
    pub pull_request: Option<SyncPullRequest>,
    /// The number of assignments that change.
    pub changed: usize,
    /// The number of assignments that are added.
    pub added: usize,
    /// The number of assignments that get another name.
    #[serde(default)]
    pub renamed: usize,
    /// The number of assignments that are removed.
    pub removed: usize,
    /// The number of assignments that stay as they are.
    pub unchanged: usize,
    /// The number of assignments with errors.
    pub failing: usize,
    /// The word that confirms the removals. None if no confirmation is needed.
    pub confirmation: Option<String>,
    /// Labels, reviewers or an automatic merge that could not be set.
    pub incomplete: Vec<String>,
}

/// A pull request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SyncPullRequest {
    /// The number.
    pub number: u64,
    /// Its page.
    pub url: String,
}

/// An environment with its plans and problems.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentSyncDetail {
    /// The state.
    #[serde(flatten)]
    pub state: EnvironmentSync,
    /// The last plan of each destination, in Markdown.
    pub plans: Vec<SyncPlan>,
    /// The problems of the last sync, errors first. If there are many, only the first ones.
    pub problems: Vec<SyncProblem>,
}

/// The plan of a destination.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SyncPlan {
    /// The name of its `GitOpsRepo`.
    pub gitops_repo: String,
    /// The plan, in Markdown.
    pub markdown: String,
}

/// A problem of an environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SyncProblem {
    /// The code, such as `K0312`.
    pub code: String,
    /// Whether it is an error. Otherwise, it is a warning.
    pub is_error: bool,
    /// The message.
    pub message: String,
    /// The file and line.
    pub place: Option<String>,
    /// The assignments that it affects. If there are many, only the first ones.
    pub assignments: Vec<String>,
    /// The advice.
    pub help: Vec<String>,
}

/// A request of a sync.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SyncRequest {
    /// The environment. None: all.
    #[serde(default)]
    pub environment: Option<String>,
}

/// A confirmation of removals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Confirmation {
    /// The environment.
    pub environment: String,
    /// The word of the removals, as the plan shows it.
    pub word: String,
}

/// The environments that will be synced.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SyncReceipt {
    /// Their names. Empty if no environment reads what changed.
    pub environments: Vec<String>,
}

/// The service has no environment of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no environment `{0}`")]
pub struct UnknownEnvironment(pub String);

/// The reason why a confirmation is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfirmationError {
    /// The service has no environment of this name.
    #[error(transparent)]
    Unknown(#[from] UnknownEnvironment),
    /// The last plan needs no confirmation, or another word.
    #[error("`{word}` confirms nothing in {environment}")]
    OtherWord {
        /// The environment.
        environment: String,
        /// The word.
        word: String,
    },
    /// The configuration does not allow the caller to confirm.
    #[error("`{by}` may not confirm removals")]
    NotAllowed {
        /// The name of the caller's token, or the subject of an identity provider.
        by: String,
    },
}

/// The reason why a webhook is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RefusedWebhook {
    /// The HTTP status.
    pub status: u16,
    /// The reason.
    pub message: String,
    /// When to try again, if there are too many.
    pub retry_after: Option<Duration>,
}
