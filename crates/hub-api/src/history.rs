//! The history of commits and reports.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::deployments::TargetNames;
use crate::report::Status;
use crate::rollouts::RolloutVersion;
use crate::timestamp::Timestamp;

/// A page of the history, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct History {
    /// The events.
    pub items: Vec<Event>,
    /// The cursor of the next page. None: this is the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// An event of the history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Event {
    /// A commit changed the desired state.
    Published(Published),
    /// A host reported a change.
    Reported(Reported),
}

/// A commit changed the desired state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Published {
    /// The time of the commit.
    pub at: Timestamp,
    /// The commit.
    pub commit: String,
    /// The repository.
    pub repository: String,
    /// The branch.
    pub branch: String,
    /// The number of places whose desired content it changed.
    pub places: i64,
    /// The number of places that it removed.
    #[serde(default)]
    pub removed: i64,
    /// The versions that became desired with the commit.
    pub versions: Vec<RolloutVersion>,
}

/// A host reported a change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reported {
    /// The time of the change, by the clock of the reporter.
    pub at: Timestamp,
    /// The time at which the hub received the report.
    pub received: Timestamp,
    /// The host.
    pub host: String,
    /// The reconciler on the host.
    pub reconciler: String,
    /// The environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// The deployment target, if the report is about one.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetNames>,
    /// For a report about the folder of a cluster type or a cluster: the deployment targets whose folders in it changed with the commit, if there are several.
    /// Only the first 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<TargetNames>,
    /// The version that the host has since then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The commit that the host has since then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The reported status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// The message of the report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}
