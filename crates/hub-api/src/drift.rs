//! Differences between the reported and the desired state.

use model::rollout::Counts;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::timestamp::Timestamp;

/// The differences between the reported and the desired state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Drift {
    /// The states of all selected reconcilers.
    pub counts: Counts,
    /// The number of silent reconcilers in any state: a promised report is overdue.
    pub silent: i64,
    /// The number of reconcilers that report content that was never desired at their place.
    pub unknown_content: i64,
    /// The number of reconcilers that report places whose desired state was removed.
    pub removed_place: i64,
    /// The number of reconcilers that report unknown places. 0 with a filter by environment or target, and for an earlier time, of
    /// which it is not known.
    pub unknown_place: i64,
    /// Whether there are more reconcilers with unknown places than were counted.
    pub unknown_place_is_more: bool,
    /// The commits that are not applied everywhere, oldest first.
    pub items: Vec<Drifting>,
    /// The cursor of the next page. None: this is the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The counts are those that the hub recorded at this time. None: they are exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_on: Option<Timestamp>,
}

/// A commit that is not applied at all places where it is desired.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Drifting {
    /// The environment. Empty for places without an environment.
    pub environment: String,
    /// The commit.
    pub commit: String,
    /// The time since which it is desired.
    pub desired_since: Timestamp,
    /// The states of the reconcilers of the places where it is desired.
    pub counts: Counts,
}

/// A kind of drift.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum DriftKind {
    /// Silent reconcilers: a promised report is overdue.
    Silent,
    /// Reconcilers that report content that was never desired at their place.
    UnknownContent,
    /// Reconcilers that report places whose desired state was removed.
    RemovedPlace,
    /// Reconcilers that report unknown places.
    UnknownPlace,
}

impl DriftKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Silent, Self::UnknownContent, Self::RemovedPlace, Self::UnknownPlace];

    /// The text of the kind in paths.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Silent => "silent",
            Self::UnknownContent => "unknownContent",
            Self::RemovedPlace => "removedPlace",
            Self::UnknownPlace => "unknownPlace",
        }
    }

    /// Parses the text of a kind.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}
