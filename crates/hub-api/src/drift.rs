//! Differences of what is reported and what is desired.

use model::rollout::Counts;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::timestamp::Timestamp;

/// Where what is reported is not what is desired.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Drift {
    /// Where all reconcilers stand that the filter selects.
    pub counts: Counts,
    /// Those who promised to report, and did not, wherever they stand.
    pub silent: i64,
    /// Those that report content that was never desired there.
    pub unknown_content: i64,
    /// Those who report of places at which nothing is desired any more.
    pub removed_place: i64,
    /// Those who report of places that the hub has never heard of; only without a filter by environment or target.
    pub unknown_place: i64,
    /// Whether there are more of these than were counted.
    pub unknown_place_is_more: bool,
    /// What is not there yet everywhere, by what has been desired for the longest time.
    pub items: Vec<Drifting>,
    /// The cursor of the next page; none if this is the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A commit that is not everywhere where it is desired.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Drifting {
    /// The environment; empty for places that belong to none.
    pub environment: String,
    /// The commit.
    pub commit: String,
    /// Since when it is desired.
    pub desired_since: Timestamp,
    /// Where those stand at whose places it is desired.
    pub counts: Counts,
}

/// Whom a list is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum DriftKind {
    /// Those who promised to report, and did not.
    Silent,
    /// Those that report content that was never desired there.
    UnknownContent,
    /// Those who report of places at which nothing is desired any more.
    RemovedPlace,
    /// Those who report of places that the hub has never heard of.
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
