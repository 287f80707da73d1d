//! The progress of rollouts.

use model::rollout::Counts;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::deployments::{Deployment, TargetNames};
use crate::timestamp::Timestamp;

/// The progress of a rollout.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rollout {
    /// The requested name.
    pub of: String,
    /// The subject of the rollout.
    pub what: RolloutOf,
    /// The states of reconcilers in all environments.
    pub counts: Counts,
    /// The number of expected reconcilers whose places now have other desired content.
    pub superseded: i64,
    /// Whether all expected reconcilers have reported success with this content. A version must be desired at all places of an environment in which it is
    /// desired, except at pinned ones.
    pub done: bool,
    /// The progress in each environment, in the order of promotion as far as it is known, and then by name.
    pub environments: Vec<EnvironmentRollout>,
    /// The counts are those that the hub recorded at this time. None: they are exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_on: Option<Timestamp>,
}

/// The subject of a rollout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum RolloutOf {
    /// A commit of a GitOps repository.
    Commit {
        /// The full id of the commit.
        commit: String,
        /// A repository that contains it.
        repository: String,
        /// A branch of that repository that contains it.
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
    /// The desired versions of a workload.
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

/// The progress of a rollout in an environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentRollout {
    /// The environment. Empty for places without an environment.
    pub environment: String,
    /// The versions in the rollout. Empty for the rollout of a commit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<String>,
    /// Other versions of the workload that are desired in the environment now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instead: Vec<String>,
    /// The states of reconcilers.
    pub counts: Counts,
    /// The number of expected reconcilers whose places now have other desired content.
    pub superseded: i64,
    /// The number of reconcilers, not expected, whose places have another desired version. Pinned places are not counted.
    #[serde(default)]
    pub elsewhere: i64,
    /// The number of reconcilers at places that a person pinned. Of a version: those at places that are pinned to another one, which are not expected.
    #[serde(default)]
    pub pinned: i64,
    /// The time since which it is desired in the environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desired_since: Option<Timestamp>,
    /// Whether it is still desired at a place of the environment. `false` with a `desiredSince` means that it was superseded or removed.
    #[serde(default)]
    pub desired: bool,
    /// The first 20 reconcilers that failed or are silent.
    pub attention: Vec<Deployment>,
}

/// The progress of a rollout since it became desired.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RolloutCurve {
    /// The requested name.
    pub of: String,
    /// When it became desired in the first environment. None: that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// The recorded progress, the earliest first. The first point can be before `since`.
    pub points: Vec<CurvePoint>,
}

/// The progress of a rollout at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CurvePoint {
    /// The time at which the hub recorded it.
    pub on: Timestamp,
    /// The states of reconcilers in all selected environments.
    pub counts: Counts,
}

impl Rollout {
    /// Whether the version is desired in an environment, but not yet at all of its places. Pinned places do not count.
    pub fn is_partial(&self) -> bool {
        self.environments.iter().any(|one| one.desired && one.elsewhere > 0)
    }
}

/// A page of rollouts, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rollouts {
    /// The rollouts.
    pub items: Vec<ListedRollout>,
    /// The cursor of the next page. None: this is the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The counts are those that the hub recorded at this time. None: they are exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_on: Option<Timestamp>,
}

/// A commit that changed the desired content of places.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedRollout {
    /// The commit.
    pub commit: String,
    /// The repository.
    pub repository: String,
    /// The branch.
    pub branch: String,
    /// The time of the commit.
    pub committed_on: Timestamp,
    /// The number of places whose desired content it changed.
    pub places: i64,
    /// The number of places that it removed.
    #[serde(default)]
    pub removed: i64,
    /// The versions that became desired with the commit.
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
