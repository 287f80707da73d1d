//! The progress of rollouts.

use model::rollout::Counts;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::deployments::{Deployment, TargetNames};
use crate::timestamp::Timestamp;

/// How far a rollout is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rollout {
    /// The name that was asked for.
    pub of: String,
    /// What that is.
    pub what: RolloutOf,
    /// The states of reconcilers, in all environments together.
    pub counts: Counts,
    /// Of the expected reconcilers: those at whose places other content is desired by now.
    pub superseded: i64,
    /// Whether all that are expected have it, and said that all is well.
    pub done: bool,
    /// The same by environment, in the order in which changes reach them, as far as it is known; then by name.
    pub environments: Vec<EnvironmentRollout>,
}

/// What a rollout is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum RolloutOf {
    /// A commit of a GitOps repository.
    Commit {
        /// All digits of the commit.
        commit: String,
        /// A repository that has it.
        repository: String,
        /// A branch of it that has it.
        branch: String,
    },
    /// A version of a workload.
    Version {
        /// The workspace.
        workspace: String,
        /// The application.
        application: String,
        /// The workload.
        workload: String,
        /// The version.
        version: String,
    },
    /// What of a workload is desired now.
    Workload {
        /// The workspace.
        workspace: String,
        /// The application.
        application: String,
        /// The workload.
        workload: String,
    },
}

impl Default for RolloutOf {
    fn default() -> Self {
        let [commit, repository, branch] = [const { String::new() }; 3];
        Self::Commit { commit, repository, branch }
    }
}

/// How far a rollout is in an environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentRollout {
    /// The environment; empty for places that belong to none.
    pub environment: String,
    /// The versions that it is about; of a commit none are told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<String>,
    /// Other versions of the workload that are desired there now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instead: Vec<String>,
    /// The states of reconcilers.
    pub counts: Counts,
    /// Of the expected reconcilers: those at whose places other content is desired by now.
    pub superseded: i64,
    /// Since when it is desired there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desired_since: Option<Timestamp>,
    /// Whether it is still desired at a place of the environment. With `desiredSince`, `false` says that it was superseded or removed there.
    #[serde(default)]
    pub desired: bool,
    /// The first 20 reconcilers that failed or are silent.
    pub attention: Vec<Deployment>,
}

/// A page of rollouts, the newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rollouts {
    /// The rollouts.
    pub items: Vec<ListedRollout>,
    /// The cursor of the next page; none if this is the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A commit that changed what places should hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedRollout {
    /// The commit.
    pub commit: String,
    /// The repository.
    pub repository: String,
    /// The branch.
    pub branch: String,
    /// When the commit was made.
    pub committed_on: Timestamp,
    /// How many places are to hold something else since.
    pub places: i64,
    /// How many places are to hold nothing since.
    #[serde(default)]
    pub removed: i64,
    /// The versions that became desired with it.
    pub versions: Vec<RolloutVersion>,
    /// The states of reconcilers.
    pub counts: Counts,
}

/// A version that became desired at a target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RolloutVersion {
    /// The target.
    #[serde(flatten)]
    pub target: TargetNames,
    /// The target's environment.
    pub environment: String,
    /// The version.
    pub version: String,
}
