//! The differences of two environments.

use model::rollout::Counts;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::timestamp::Timestamp;

/// Which environments are compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct Compared {
    /// The one.
    pub from: String,
    /// The other.
    pub to: String,
    /// Targets that correspond though their names differ: `uat=production`, several with commas; with a workload, `checkout/uat=production`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map: Option<String>,
    /// Only targets that differ.
    #[serde(default)]
    pub differing: bool,
}

/// A page of how two environments differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// The one environment.
    pub from: String,
    /// The other.
    pub to: String,
    /// The targets.
    pub items: Vec<ComparedTarget>,
    /// The cursor of the next page; none if this is the last one.
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
    /// What is in the one environment; none if the target is not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<ComparedSide>,
    /// What is in the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<ComparedSide>,
    /// Whether the desired versions are the same.
    pub same_version: bool,
    /// Cluster types for which the desired configuration has another version, or is in one of the environments only.
    pub config_differs: Vec<ComparedConfig>,
    /// On how many cluster types the configuration has the same version.
    pub config_same: usize,
}

/// A target in one environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComparedSide {
    /// The target's name there.
    pub target: String,
    /// The version that is desired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The commit at which that became desired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desired_since: Option<Timestamp>,
    /// The states of reconcilers with that.
    pub counts: Counts,
    /// The content that reconcilers really have.
    pub holding: Vec<Holding>,
}

/// A version, and how many reconcilers have it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Holding {
    /// The version; none if the version of the commit is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The commit; none if the reconcilers hold something that was never desired, or have not reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// How many reconcilers have it.
    pub reconcilers: i64,
}

/// The configuration of a cluster type in both environments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComparedConfig {
    /// The cluster type.
    pub cluster_type: String,
    /// Its version in the one environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// In the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}
