//! The differences between two environments.

use model::rollout::Counts;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::timestamp::Timestamp;

/// The compared environments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct Compared {
    /// The first environment.
    pub from: String,
    /// The second environment. It may be the first one at another time.
    pub to: String,
    /// Show the first environment at this timestamp (RFC 3339). Without it: now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_at: Option<Timestamp>,
    /// Show the second environment at this timestamp (RFC 3339). Without it: now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_at: Option<Timestamp>,
    /// Pairs of targets with different names: `uat=production`, separated by commas. A pair can have a workload: `checkout/uat=production`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map: Option<String>,
    /// Only targets that differ.
    #[serde(default)]
    pub differing: bool,
}

/// A page of the differences between two environments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// The first environment.
    pub from: String,
    /// The second environment.
    pub to: String,
    /// The compared targets.
    pub items: Vec<ComparedTarget>,
    /// The counts of the first environment are those that the hub recorded at this time. None: they are exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_recorded_on: Option<Timestamp>,
    /// The same for the second environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_recorded_on: Option<Timestamp>,
    /// The cursor of the next page. None: this is the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A target in both environments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComparedTarget {
    /// The workspace.
    pub workspace: String,
    /// The application.
    pub application: String,
    /// The workload.
    pub workload: String,
    /// The target in the first environment. None if it does not exist there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<ComparedSide>,
    /// The target in the second environment. None if it does not exist there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<ComparedSide>,
    /// Whether the desired versions are equal.
    pub same_version: bool,
    /// The cluster types whose desired configuration has different versions, or exists in only one of the environments.
    pub config_differs: Vec<ComparedConfig>,
    /// The number of cluster types with equal versions of the configuration.
    pub config_same: usize,
}

/// A target in one environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComparedSide {
    /// The name of the target in this environment.
    pub target: String,
    /// The desired version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The commit that made it desired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The time since which it is desired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desired_since: Option<Timestamp>,
    /// The states of reconcilers.
    pub counts: Counts,
    /// The reported content, with the number of reconcilers. Of releases in platform folders, it is not known for earlier times.
    pub holding: Vec<Holding>,
}

/// Reported content, with the number of reconcilers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Holding {
    /// The version. None if the version of the commit is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The commit. None if the reconcilers have content that was never desired, or have not reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The number of reconcilers.
    pub reconcilers: i64,
}

/// The configuration of a cluster type in both environments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComparedConfig {
    /// The cluster type.
    pub cluster_type: String,
    /// The version in the first environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The version in the second environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}
