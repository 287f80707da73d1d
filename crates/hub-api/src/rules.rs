//! The rules of the configuration, and their state.

use model::rollout::Counts;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::filter::Filter;
use crate::timestamp::Timestamp;

/// The state of a rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleState {
    /// Its name.
    pub name: String,
    /// The reconcilers that it counts.
    #[serde(flatten)]
    pub filter: Filter,
    /// The condition of the reconcilers that it counts.
    pub condition: Condition,
    /// The threshold: more reconcilers than this number, or than this share.
    #[schema(example = "5 %")]
    pub above: String,
    /// For how many seconds the count must stay above the threshold.
    pub for_seconds: u64,
    /// Of drift: for more than how many seconds the missing content must have been desired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longer_than_seconds: Option<u64>,
    /// Where notifications go: the host of the URL.
    pub receiver: String,
    /// Their format: `signed`, `slack`, `teams` or `pagerduty`.
    pub format: String,
    /// Its phase; none before the first evaluation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// Since when the count is above the threshold, or is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// When it was last evaluated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub looked: Option<Timestamp>,
    /// How many reconcilers were counted then.
    pub matching: i64,
    /// Of how many reconcilers.
    pub expected: i64,
    /// Why it could not be evaluated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Its last notification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notification: Option<LastNotification>,
}

/// What a rule counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Condition {
    /// Reconcilers that tried to apply the desired content, and failed.
    Failed,
    /// Silent reconcilers, whatever their last report says.
    Silent,
    /// Reconcilers with other content than the desired content.
    Outdated,
    /// Reconcilers without content that has been desired for longer than a time, whatever the reason.
    Drifting,
    /// Reconcilers that are registered and have never reported.
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

/// The state of a rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Phase {
    /// The count is not above the threshold.
    #[default]
    Ok,
    /// The count is above the threshold, but not yet for long enough.
    Pending,
    /// The count is above the threshold for long enough: a notification is sent.
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

/// The last notification of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LastNotification {
    /// The header `webhook-id` that it has.
    pub id: String,
    /// What it says: `firing` or `resolved`.
    pub kind: String,
    /// When it was made.
    pub created: Timestamp,
    /// How often it was sent.
    pub attempts: i64,
    /// When it was delivered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered: Option<Timestamp>,
    /// When it was given up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given_up: Option<Timestamp>,
    /// When it is sent the next time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due: Option<Timestamp>,
    /// Why the last attempt failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}
