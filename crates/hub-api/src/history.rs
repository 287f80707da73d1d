//! Changes of the past: commits and reports.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::deployments::TargetNames;
use crate::report::Status;
use crate::rollouts::RolloutVersion;
use crate::timestamp::Timestamp;

/// A page of what happened, the newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct History {
    /// What happened.
    pub items: Vec<Event>,
    /// The cursor of the next page; none if this is the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Event {
    /// A commit changed what is desired.
    Published(Published),
    /// A host reported something else than before.
    Reported(Reported),
}

/// A commit changed what is desired.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Published {
    /// When the commit was made.
    pub at: Timestamp,
    /// The commit.
    pub commit: String,
    /// The repository.
    pub repository: String,
    /// The branch.
    pub branch: String,
    /// How many places are to hold something else since.
    pub places: i64,
    /// How many places are to hold nothing since.
    #[serde(default)]
    pub removed: i64,
    /// The versions that became desired with it.
    pub versions: Vec<RolloutVersion>,
}

/// A host reported something else than before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reported {
    /// Since when it was so, by the reporter's clock.
    pub at: Timestamp,
    /// When the hub received it.
    pub received: Timestamp,
    /// The host.
    pub host: String,
    /// The reconciler on it.
    pub reconciler: String,
    /// The environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// Which workload it is about, if it is about one.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetNames>,
    /// Of a report of a cluster type's or a cluster's folder: the deployment targets whose folders in it changed with the commit, if they are several; the
    /// first 20 of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<TargetNames>,
    /// The version that the host had from then on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The commit that the host had from then on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The reported status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// The message of the report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}
