//! The state of environments, and of their deployment targets.

use model::rollout::Counts;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::deployments::TargetNames;
use crate::publication::Role;
use crate::timestamp::Timestamp;

/// All environments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Environments {
    /// The environments, in the order in which changes reach them, as far as it is known; then by name.
    pub items: Vec<Environment>,
}

/// How an environment is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Environment {
    /// Its name.
    pub name: String,
    /// Its deployment targets.
    pub targets: i64,
    /// Its cluster types.
    pub cluster_types: i64,
    /// All its reconcilers.
    pub counts: Counts,
    /// Of these, those of workloads' manifests.
    pub applications: Counts,
    /// Of these, those of what the platform made: namespaces, configuration, reconcilers.
    pub platform: Counts,
}

/// A page of what an environment's targets should have, and do have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentTargets {
    /// The rows.
    pub items: Vec<EnvironmentTarget>,
    /// The cursor of the next page; none if this is the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// What a target should have at one folder, or at the folders of one cluster type, and how many do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentTarget {
    /// The environment.
    pub environment: String,
    /// The cluster type, where the folder is one's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_type: Option<String>,
    /// What is in the folder.
    pub role: Role,
    /// The target.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetNames>,
    /// The version that is desired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The version of the configuration that is desired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_version: Option<String>,
    /// The commit at which that became desired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desired_since: Option<Timestamp>,
    /// The states of reconcilers. At an earlier moment they are counted one by one; if they are too many for that, it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
}
