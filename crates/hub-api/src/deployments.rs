//! Which versions of which workloads are on which hosts.

use model::rollout::RolloutState;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::report::Status;
use crate::timestamp::Timestamp;

/// A page of what is where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Deployments {
    /// The rows.
    pub items: Vec<Deployment>,
    /// The cursor of the next page; none if this is the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// What a host has of a workload.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Deployment {
    /// The host.
    pub host: String,
    /// The reconciler on it that says so.
    pub reconciler: String,
    /// What kind of reconciler that is.
    pub kind: String,
    /// The environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// The cluster type of the place, else of the host: the one for which the platform made what it applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_type: Option<String>,
    /// What it is that the host has; none if what the reconciler applies belongs to nothing that the hub knows.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetNames>,
    /// The version of the workload that the host has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The version of the configuration that the host has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_version: Option<String>,
    /// The commit that the host has: the one at which what it has became desired, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The commit that is desired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desired_commit: Option<String>,
    /// The rollout state; none if nothing is desired there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<RolloutState>,
    /// What the reconciler reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// The message of the report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Since when that has been so, by the reporter's clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// When the reconciler last reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_heard: Option<Timestamp>,
    /// Whether a promised report is overdue.
    pub silent: bool,
    /// Why the deployment target is not known, though the reports name a workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unplaced: Option<String>,
}

/// A workload's place in the organization: all names that make a deployment target one.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetNames {
    /// The workspace.
    pub workspace: String,
    /// The application.
    pub application: String,
    /// The workload.
    pub workload: String,
    /// The deployment target's own name.
    pub target: String,
}
