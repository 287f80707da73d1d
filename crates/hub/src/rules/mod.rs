//! Rules: what somebody wants to be told of, such as more than 5 % of an environment failing for ten minutes.
//!
//! A rule is looked at every few seconds, at the tallies, which costs the same for any fleet; one about some hosts, which are counted, less often if that takes
//! long. Where it stands and what is to be sent is in the database,
//! changed together: so one replica decides, a restart forgets nothing, and each notification is made once. It is sent until somebody takes it.

mod formats;
mod look;
mod metrics;
mod notifications;
mod options;
mod receiver;
mod run;
mod secret;
mod send;
mod state;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use self::formats::{PagerDuty, Severity};
pub use self::look::{RuleState, look, states};
pub use self::metrics::RuleMetrics;
pub use self::notifications::{Deliveries, LastNotification, deliver};
pub use self::options::{RuleError, RuleOptions};
pub use self::receiver::{Format, Receiver};
pub use self::run::run;
pub use self::secret::{Secret, SecretError};
pub use self::send::{SendError, client, test};
pub use self::state::Phase;
use crate::questions::{Counts, Filter};

/// What somebody wants to be told of.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its name, unique among the rules.
    pub name: String,
    /// Whom it counts.
    pub filter: Filter,
    /// What it counts of them.
    pub condition: Condition,
    /// How much of it is too much.
    pub above: Threshold,
    /// For how long it has to be too much without a break.
    pub lasting: Duration,
    /// Of drift: for how long what is not there must have been wanted.
    pub longer_than: Duration,
    /// Who is told.
    pub receiver: Receiver,
}

/// What a rule counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// Those who tried what is wanted, and could not.
    Failing,
    /// Those who promised to report and did not, whatever they had said before.
    Silent,
    /// Those who hold something else than what is wanted.
    Outdated,
    /// Those that do not have what has been wanted for longer than a time, whatever the reason.
    Drifting,
    /// Those that are registered and have never reported.
    NeverReported,
}

impl Condition {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Failing => "failing",
            Self::Silent => "silent",
            Self::Outdated => "outdated",
            Self::Drifting => "drifting",
            Self::NeverReported => "never_reported",
        }
    }

    /// How many it counts; of drift, all that do not have what is wanted.
    pub fn count(self, counts: &Counts, silent: i64) -> i64 {
        match self {
            Self::Failing => counts.failed,
            Self::Silent => silent,
            Self::Outdated => counts.outdated,
            Self::Drifting => counts.expected - counts.succeeded,
            Self::NeverReported => counts.never_reported,
        }
    }

    /// The statuses of those that it counts, as lists are selected by them; none if they are not selected by status.
    fn statuses(self) -> Option<&'static str> {
        match self {
            Self::Failing => Some("failed"),
            Self::Silent => None,
            Self::Outdated => Some("outdated"),
            Self::Drifting => Some("failed,silent,outdated,in_progress,never_reported"),
            Self::NeverReported => Some("never_reported"),
        }
    }
}

/// How much is too much: more than this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// More reconcilers than this.
    Count(i64),
    /// More than this part of all that are expected, in thousandths of a percent.
    Share(i64),
}

impl Threshold {
    /// Whether that many of all are too many. Of none, none are.
    pub fn is_exceeded(self, matching: i64, expected: i64) -> bool {
        match self {
            Self::Count(count) => matching > count,
            // 128 bits hold whatever two numbers of 64 bits give.
            Self::Share(share) => i128::from(matching) * 100_000 > i128::from(expected) * i128::from(share),
        }
    }
}

impl std::fmt::Display for Threshold {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Count(count) => write!(formatter, "{count}"),
            Self::Share(share) => {
                let text = format!("{}.{:03}", share / 1_000, share % 1_000);
                write!(formatter, "{} %", text.trim_end_matches('0').trim_end_matches('.'))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_the_threshold_is_too_much() {
        let share = Threshold::Share(5_000);
        assert_eq!(
            [(5, 100), (6, 100), (0, 0), (1, 1)].map(|(some, all)| share.is_exceeded(some, all)),
            [false, true, false, true]
        );
        assert_eq!([3, 4].map(|some| Threshold::Count(3).is_exceeded(some, 4)), [false, true]);
        assert!(!Threshold::Share(100_000).is_exceeded(i64::MAX, i64::MAX));
    }

    #[test]
    fn thresholds_are_written_as_they_are_read() {
        let check = |share| Threshold::Share(share).to_string();
        assert_eq!(
            [check(5_000), check(500), check(100_000), check(0), check(12_345)],
            ["5 %", "0.5 %", "100 %", "0 %", "12.345 %"]
        );
        assert_eq!(Threshold::Count(3).to_string(), "3");
    }
}
