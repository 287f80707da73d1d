//! Differences of what is reported and what is desired.

use model::rollout::Counts;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::timestamp::Timestamp;

/// The differences of what is reported and what is desired.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Drift {
    /// The states of all selected reconcilers.
    pub counts: Counts,
    /// Silent reconcilers, whatever their state: a promised report is overdue.
    pub silent: i64,
    /// Reconcilers that report content that was never desired at their place.
    pub unknown_content: i64,
    /// Reconcilers that report places without a desired state: it was removed.
    pub removed_place: i64,
    /// Reconcilers that report places that the hub does not know; 0 with a filter by environment or target.
    pub unknown_place: i64,
    /// Whether there are more reconcilers with unknown places than were counted.
    pub unknown_place_is_more: bool,
    /// The commits that have not arrived everywhere, the oldest first.
    pub items: Vec<Drifting>,
    /// The cursor of the next page; none if this is the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A commit that has not arrived everywhere where it is desired.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Drifting {
    /// The environment; empty for places that belong to none.
    pub environment: String,
    /// The commit.
    pub commit: String,
    /// Since when it is desired.
    pub desired_since: Timestamp,
    /// The states of the reconcilers at whose places it is desired.
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
    /// Reconcilers that report places without a desired state: it was removed.
    RemovedPlace,
    /// Reconcilers that report places that the hub does not know.
    UnknownPlace,
}

impl DriftKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Silent, Self::UnknownContent, Self::RemovedPlace, Self::UnknownPlace];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Silent => "silent",
            Self::UnknownContent => "unknownContent",
            Self::RemovedPlace => "removedPlace",
            Self::UnknownPlace => "unknownPlace",
        }
    }

    /// The kind that is written like that.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}
