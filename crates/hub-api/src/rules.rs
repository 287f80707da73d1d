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
    /// The number of seconds for which the count must stay above the threshold.
    pub for_seconds: u64,
    /// For drift: the number of seconds for which the missing content must have been desired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longer_than_seconds: Option<u64>,
    /// The receiver of notifications: the host of the URL.
    pub receiver: String,
    /// Their format: `signed`, `slack`, `teams` or `pagerduty`.
    pub format: String,
    /// Its phase. None before the first evaluation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// The time since which the count is above the threshold, or is not above it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// The time of the last evaluation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluated_on: Option<Timestamp>,
    /// The number of reconcilers that matched in the last evaluation.
    pub matching: i64,
    /// The number of all selected reconcilers.
    pub expected: i64,
    /// The reason why it could not be evaluated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Its last notification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notification: Option<LastNotification>,
}

/// The condition of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Condition {
    /// Reconcilers that tried to apply the desired content, and failed.
    Failed,
    /// Silent reconcilers, with any reported status.
    Silent,
    /// Reconcilers with other content than the desired content.
    Outdated,
    /// Reconcilers without content that has been desired for longer than a time, for any reason.
    Drifting,
    /// Reconcilers that are registered and have never reported.
    NeverReported,
}

impl Condition {
    /// The text in configurations and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Silent => "silent",
            Self::Outdated => "outdated",
            Self::Drifting => "drifting",
            Self::NeverReported => "neverReported",
        }
    }

    /// The number of reconcilers that match. For drift: all reconcilers without the desired content.
    pub fn count(self, counts: &Counts, silent: i64) -> i64 {
        match self {
            Self::Failed => counts.failed,
            Self::Silent => silent,
            Self::Outdated => counts.outdated,
            Self::Drifting => counts.expected - counts.succeeded,
            Self::NeverReported => counts.never_reported,
        }
    }

    /// The rollout states that match, for the filter of lists. None if the condition is not a rollout state.
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

/// The phase of a rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Phase {
    /// The count is not above the threshold.
    #[default]
    Ok,
    /// The count is above the threshold, but not yet for long enough.
    Pending,
    /// The count has been above the threshold for long enough. A notification is sent.
    Firing,
}

impl Phase {
    /// The text in configurations and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Pending => "pending",
            Self::Firing => "firing",
        }
    }

    /// Parses the text of a phase.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Ok, Self::Pending, Self::Firing].into_iter().find(|phase| phase.as_str() == text)
    }
}

/// The last notification of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LastNotification {
    /// Its header `webhook-id`.
    pub id: String,
    /// Its kind: `firing` or `resolved`.
    pub kind: String,
    /// The time at which it was created.
    pub created: Timestamp,
    /// The number of attempts to send it.
    pub attempts: i64,
    /// The time at which it was delivered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered: Option<Timestamp>,
    /// The time at which the attempts were given up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given_up: Option<Timestamp>,
    /// The time of the next attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due: Option<Timestamp>,
    /// The reason why the last attempt failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}
