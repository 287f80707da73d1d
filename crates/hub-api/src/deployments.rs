//! The versions of workloads on hosts.

use model::rollout::ReconcilerState;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::report::Status;
use crate::timestamp::Timestamp;

/// A page of deployments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Deployments {
    /// The rows.
    pub items: Vec<Deployment>,
    /// The cursor of the next page. None: this is the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A workload or its configuration on a host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Deployment {
    /// The host.
    pub host: String,
    /// The reconciler on the host.
    pub reconciler: String,
    /// The kind of the reconciler.
    pub kind: String,
    /// The environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// The cluster type of the place, or else of the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_type: Option<String>,
    /// The deployment target. None if the hub knows no target for the content.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetNames>,
    /// The reported version of the workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The reported version of the configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_version: Option<String>,
    /// The commit of the reported content: the one that made it desired, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The desired commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desired_commit: Option<String>,
    /// The rollout state. None if nothing is desired at the place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<ReconcilerState>,
    /// The reported status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// The message of the report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The time since which the status is unchanged, by the clock of the reporter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// The time of the last report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_report_on: Option<Timestamp>,
    /// Whether a promised report is overdue.
    pub silent: bool,
    /// The reason why the deployment target is not known although the reports name a workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unplaced: Option<String>,
}

/// The names that identify a deployment target.
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
