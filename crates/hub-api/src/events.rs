//! The events of the event stream.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::deployments::TargetNames;
use crate::history::Reported;
use crate::promotions::PromotionChange;
use crate::report::Status;
use crate::rollouts::RolloutVersion;
use crate::timestamp::Timestamp;

/// A change of the desired or reported state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum FleetChange {
    /// The desired content of a place has changed.
    Desired(DesiredChange),
    /// A host reported a change.
    Report(ReportChange),
    /// A promised report of a reconciler is overdue.
    Silent(SilenceChange),
    /// A silent reconciler has reported again.
    Resumed(SilenceChange),
    /// Something happened in a promotion.
    Promotion(PromotionChange),
}

impl FleetChange {
    /// The name of its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Desired(_) => "desired",
            Self::Report(_) => "report",
            Self::Silent(_) => "silent",
            Self::Resumed(_) => "resumed",
            Self::Promotion(_) => "promotion",
        }
    }

    /// Its approximate size in memory, in bytes. Only messages and evidence are long.
    pub fn bytes(&self) -> usize {
        let message = match self {
            Self::Report(report) => report.reported.message.as_deref().map_or(0, str::len),
            Self::Promotion(promotion) => promotion.event.bytes(),
            _ => 0,
        };
        size_of::<Self>() + message
    }
}

/// The desired content of a place has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DesiredChange {
    /// The time of the commit.
    pub at: Timestamp,
    /// The commit.
    pub commit: String,
    /// The place, as `repository/branch/path`.
    pub place: String,
    /// Whether the desired content was removed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_removed: bool,
    /// The environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// The cluster type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_type: Option<String>,
    /// The cluster, if the place is the place of a cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// The version of its configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_version: Option<String>,
    /// The versions that became desired with the commit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<RolloutVersion>,
    /// The deployment targets of the place that have no versions. Only the first 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<TargetNames>,
}

/// A host reported a change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReportChange {
    /// The report.
    #[serde(flatten)]
    pub reported: Reported,
    /// The status before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_status: Option<Status>,
    /// The place that the reconciler applies, as `repository/branch/path`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The cluster type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_type: Option<String>,
    /// Whether a newer report already exists: this one arrived late, or the reader is behind.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_superseded: bool,
}

/// A reconciler has become silent, or has reported again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SilenceChange {
    /// The time at which the hub detected it.
    pub at: Timestamp,
    /// The host.
    pub host: String,
    /// The reconciler on the host.
    pub reconciler: String,
    /// The time until which the report was promised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due: Option<Timestamp>,
    /// The environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// The cluster type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_type: Option<String>,
    /// The place that the reconciler applies, as `repository/branch/path`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}
