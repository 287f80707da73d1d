//! Rules: conditions that send notifications, such as more than 5 % of an environment failing for ten minutes.
//!
//! A rule is evaluated every few seconds, from the tallies, at the same cost for any size of the fleet. The reconcilers of a rule about some hosts are
//! counted: if that takes long, the rule is evaluated less often. The state of a rule and its notifications are changed in one transaction. So one replica
//! decides, a restart loses nothing, and each notification is made once. A notification is sent until the receiver accepts it, or it is too old.

mod evaluation;
mod formats;
mod metrics;
mod notifications;
mod options;
mod receiver;
mod run;
mod secret;
mod send;
mod state;

use std::time::Duration;

use hub_api::filter::Filter;
use hub_api::rules::Condition;

pub use self::evaluation::{evaluate, states};
pub use self::formats::{IncidentSeverity, PagerDuty};
pub use self::metrics::RuleMetrics;
pub use self::notifications::{Deliveries, deliver};
pub use self::options::{RuleError, RuleOptions};
pub use self::receiver::{NotificationFormat, Receiver};
pub use self::run::run;
pub use self::secret::{SecretError, WebhookSecret};
pub use self::send::{SendError, client, test};

/// A condition that sends notifications.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its name, unique among the rules.
    pub name: String,
    /// The reconcilers that it counts.
    pub filter: Filter,
    /// The condition for a reconciler to count.
    pub condition: Condition,
    /// The threshold of the rule.
    pub above: Threshold,
    /// For how long the threshold must be exceeded without interruption.
    pub lasting: Duration,
    /// For drift: for how long the missing content must have been desired.
    pub longer_than: Duration,
    /// Where notifications are sent.
    pub receiver: Receiver,
}

/// A threshold. It is exceeded by a larger number, not by an equal one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// A number of reconcilers.
    Count(i64),
    /// A share of all expected reconcilers, in thousandths of a percent.
    Share(i64),
}

impl Threshold {
    /// Whether the number of matching reconcilers exceeds the threshold. Without expected reconcilers, a share is never exceeded.
    pub fn is_exceeded(self, matching: i64, expected: i64) -> bool {
        match self {
            Self::Count(count) => matching > count,
            // The product of two numbers of 64 bits fits into 128 bits.
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
    fn only_more_than_the_threshold_exceeds_it() {
        let share = Threshold::Share(5_000);
        assert_eq!(
            [(5, 100), (6, 100), (0, 0), (1, 1)].map(|(some, all)| share.is_exceeded(some, all)),
            [false, true, false, true]
        );
        assert_eq!([3, 4].map(|some| Threshold::Count(3).is_exceeded(some, 4)), [false, true]);
        assert!(!Threshold::Share(100_000).is_exceeded(i64::MAX, i64::MAX));
    }

    #[test]
    fn thresholds_are_displayed_as_configured() {
        let check = |share| Threshold::Share(share).to_string();
        assert_eq!(
            [check(5_000), check(500), check(100_000), check(0), check(12_345)],
            ["5 %", "0.5 %", "100 %", "0 %", "12.345 %"]
        );
        assert_eq!(Threshold::Count(3).to_string(), "3");
    }
}
