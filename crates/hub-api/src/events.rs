//! Changes as they happen.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::deployments::TargetNames;
use crate::history::Reported;
use crate::report::Status;
use crate::rollouts::RolloutVersion;
use crate::timestamp::Timestamp;

/// Something that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Change {
    /// A place is to hold something else from now on.
    Desired(DesiredChange),
    /// A host reported something else than before.
    Report(ReportChange),
    /// A reconciler promised to report, and did not.
    Silent(SilenceChange),
    /// A reconciler that was silent has reported again.
    Heard(SilenceChange),
}

impl Change {
    /// The word for its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Desired(_) => "desired",
            Self::Report(_) => "report",
            Self::Silent(_) => "silent",
            Self::Heard(_) => "heard",
        }
    }

    /// Bytes of memory that it takes, about: only messages are long.
    pub fn bytes(&self) -> usize {
        let message = match self {
            Self::Report(report) => report.reported.message.as_deref().map_or(0, str::len),
            _ => 0,
        };
        size_of::<Self>() + message
    }
}

/// A place is to hold something else from now on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DesiredChange {
    /// When the commit was made.
    pub at: Timestamp,
    /// The commit.
    pub commit: String,
    /// The place, as `repository/branch/path`.
    pub place: String,
    /// Whether nothing is desired there any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_removed: bool,
    /// The environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// The cluster type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_type: Option<String>,
    /// The cluster whose own place it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// The version of the configuration in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_version: Option<String>,
    /// The versions that became desired with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<RolloutVersion>,
    /// The deployment targets that the place is for, where no versions are told of them: the first 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<TargetNames>,
}

/// A host reported something else than before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReportChange {
    /// What it reported.
    #[serde(flatten)]
    pub reported: Reported,
    /// The status before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_status: Option<Status>,
    /// The place that it applies, as `repository/branch/path`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The cluster type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_type: Option<String>,
    /// Whether a newer report is known already: this one came late, or the reader is behind.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_superseded: bool,
}

/// A reconciler has gone silent, or is so no more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SilenceChange {
    /// When the hub noticed.
    pub at: Timestamp,
    /// The host.
    pub host: String,
    /// The reconciler on it.
    pub reconciler: String,
    /// Until when it should have reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due: Option<Timestamp>,
    /// The environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// The cluster type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_type: Option<String>,
    /// The place that it applies, as `repository/branch/path`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}
