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
    /// The environments in the order of promotion, as far as it is known, and then by name.
    pub items: Vec<Environment>,
    /// The counts are those that the hub recorded at this time. None: they are exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_on: Option<Timestamp>,
}

/// The state of an environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Environment {
    /// Its name.
    pub name: String,
    /// The number of its deployment targets.
    pub targets: i64,
    /// The number of its cluster types.
    pub cluster_types: i64,
    /// The states of all its reconcilers.
    pub counts: Counts,
    /// The states of the reconcilers of workloads' manifests.
    pub applications: Counts,
    /// The states of the reconcilers of Kalypso's output: namespaces, configuration, reconcilers.
    pub platform: Counts,
}

/// A page of the desired and reported content of deployment targets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentTargets {
    /// The rows.
    pub items: Vec<EnvironmentTarget>,
    /// The cursor of the next page. None: this is the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The counts are those that the hub recorded at this time. None: they are exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_on: Option<Timestamp>,
}

/// The desired content of a target in one folder, or in the folders of one cluster type, with the states of reconcilers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentTarget {
    /// The environment.
    pub environment: String,
    /// The cluster type of the folder, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_type: Option<String>,
    /// The role of the folder.
    pub role: Role,
    /// The target.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetNames>,
    /// The desired version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The desired version of the configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_version: Option<String>,
    /// The commit that made it desired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The time since which it is desired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desired_since: Option<Timestamp>,
    /// The states of reconcilers. None if the query is about an earlier time, and there are too many reconcilers to count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
}
