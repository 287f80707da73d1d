//! The rules of the configuration, and their state.

use model::rollout::Counts;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::filter::Filter;
use crate::timestamp::Timestamp;

/// Where a rule stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleState {
    /// Its name.
    pub name: String,
    /// Whom it counts.
    #[serde(flatten)]
    pub filter: Filter,
    /// What it counts of them.
    pub condition: Condition,
    /// How much is too much: more than that many, or more than that share.
    #[schema(example = "5 %")]
    pub above: String,
    /// For how many seconds.
    pub for_seconds: u64,
    /// Of drift: for more than how many seconds what is not there must have been desired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longer_than_seconds: Option<u64>,
    /// Where notifications go: the host of the URL.
    pub receiver: String,
    /// Their format: `signed`, `slack`, `teams` or `pagerduty`.
    pub format: String,
    /// Where it stands; none if nobody has looked yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// Since when: since when it is too much, or since when it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// When somebody last looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub looked: Option<Timestamp>,
    /// How many were counted then.
    pub matching: i64,
    /// Of how many.
    pub expected: i64,
    /// Why it could not be looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// What was last told of it, and what became of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notification: Option<LastNotification>,
}

/// What a rule counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Condition {
    /// Those who tried what is desired, and could not.
    Failed,
    /// Those who promised to report and did not, whatever they had said before.
    Silent,
    /// Those who hold something else than what is desired.
    Outdated,
    /// Those that do not have what has been desired for longer than a time, whatever the reason.
    Drifting,
    /// Those that are registered and have never reported.
    NeverReported,
}

impl Condition {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Silent => "silent",
            Self::Outdated => "outdated",
            Self::Drifting => "drifting",
            Self::NeverReported => "neverReported",
        }
    }

    /// How many it counts; of drift, all that do not have what is desired.
    pub fn count(self, counts: &Counts, silent: i64) -> i64 {
        match self {
            Self::Failed => counts.failed,
            Self::Silent => silent,
            Self::Outdated => counts.outdated,
            Self::Drifting => counts.expected - counts.succeeded,
            Self::NeverReported => counts.never_reported,
        }
    }

    /// The statuses of those that it counts, as lists are selected by them; none if they are not selected by status.
    pub fn statuses(self) -> Option<&'static str> {
        match self {
            Self::Failed => Some("failed"),
            Self::Silent => None,
            Self::Outdated => Some("outdated"),
            Self::Drifting => Some("failed,silent,outdated,inProgress,neverReported"),
            Self::NeverReported => Some("neverReported"),
        }
    }
}

/// Where a rule stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Phase {
    /// It is not too much.
    #[default]
    Ok,
    /// It is too much, but not yet for long enough.
    Pending,
    /// It is too much for long enough: somebody is told.
    Firing,
}

impl Phase {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Pending => "pending",
            Self::Firing => "firing",
        }
    }

    /// The phase that is written like that.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Ok, Self::Pending, Self::Firing].into_iter().find(|phase| phase.as_str() == text)
    }
}

/// What was last told of a rule, and what became of that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LastNotification {
    /// The header `webhook-id` that it has.
    pub id: String,
    /// What was told: `firing` or `resolved`.
    pub kind: String,
    /// When it was made.
    pub created: Timestamp,
    /// How often it was sent.
    pub attempts: i64,
    /// When it was taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered: Option<Timestamp>,
    /// When it was given up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given_up: Option<Timestamp>,
    /// When it is sent the next time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due: Option<Timestamp>,
    /// Why it was not taken the last time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}
