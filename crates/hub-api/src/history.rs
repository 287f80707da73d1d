//! The history of commits, reports and decisions about promotions.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::deployments::TargetNames;
use crate::promotions::PromotionChange;
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

/// What of the history is selected.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct HistorySelection {
    /// Only decisions of this person: an account, or the name or the email address of a git user. Case does not matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Only what happened at or after this time (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>, format = DateTime)]
    pub since: Option<Timestamp>,
    /// Only what happened before this time (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>, format = DateTime)]
    pub until: Option<Timestamp>,
    /// Only events of this kind: `decision`, `promotion`, `publication` or `report`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>)]
    pub kind: Option<HistoryKind>,
}

/// A kind of events of the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HistoryKind {
    /// Decisions of people about promotions.
    Decision,
    /// All events of promotions, also the reasons why they wait.
    Promotion,
    /// Changes of the desired state.
    Publication,
    /// Changes that hosts reported.
    Report,
}

impl HistoryKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Decision, Self::Promotion, Self::Publication, Self::Report];

    /// The name in queries.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Decision => "decision",
            Self::Promotion => "promotion",
            Self::Publication => "publication",
            Self::Report => "report",
        }
    }
}

impl HistorySelection {
    /// Whether events of this kind are selected.
    pub fn has(&self, kind: HistoryKind) -> bool {
        let is_of_people = matches!(kind, HistoryKind::Decision | HistoryKind::Promotion);
        (self.by.is_none() || is_of_people) && self.kind.is_none_or(|selected| selected == kind)
    }
}

/// An event of the history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Event {
    /// A commit changed the desired state.
    Published(Published),
    /// A host reported a change.
    Reported(Reported),
    /// A person or the controller decided about a promotion.
    Promotion(PromotionChange),
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
