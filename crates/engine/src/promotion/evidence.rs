//! Evidence: what is known of a fleet and of checks when a gate is evaluated.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use model::object::promotion::Silent;
use model::rollout::Counts;
use serde::{Deserialize, Serialize};

use super::absent_field::is_default;

/// The reconcilers of one place, for the content that the place is to have now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlaceReports {
    /// The number of reconcilers that are expected to apply the content.
    pub expected: u32,
    /// The number of them that applied it, and are not silent.
    pub succeeded: u32,
    /// The number of them that failed to apply it.
    pub failed: u32,
    /// The number of them that did not fail, and whose report is overdue, also if they applied the content before.
    pub silent: u32,
    /// The number of those in `succeeded` without a heartbeat, announced or required: they never become silent.
    pub without_heartbeat: u32,
    /// Whether reconcilers can see the content: the GitOps branch has it, and the hub knows. Otherwise, the other numbers are about earlier content, and do not count.
    pub is_published: bool,
}

impl PlaceReports {
    /// The state of the reconcilers of a place, as the hub counts them. Those that applied the content and fell silent afterwards are silent. Those that failed stay
    /// failed.
    pub fn reported(counts: &Counts, is_published: bool) -> Self {
        let number = |count: i64| u32::try_from(count.max(0)).unwrap_or(u32::MAX);
        Self {
            expected: number(counts.expected),
            succeeded: number(counts.succeeded - counts.succeeded_but_silent),
            failed: number(counts.failed),
            silent: number(counts.silent + counts.succeeded_but_silent),
            without_heartbeat: number(counts.succeeded_without_heartbeat),
            is_published,
        }
    }
}

/// The sum of the states of several places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Measured {
    /// The number of places.
    pub places: u64,
    /// The number of places whose content is not published yet.
    pub unpublished: u64,
    /// The number of expected reconcilers of published places.
    pub expected: u64,
    /// The number of them that applied the content, and are not silent.
    pub succeeded: u64,
    /// The number of them that failed.
    pub failed: u64,
    /// The number of them that did not fail, and are silent, also if they applied the content before.
    pub silent: u64,
    /// The number of those in `succeeded` without a heartbeat, announced or required: they never become silent.
    #[serde(default, skip_serializing_if = "is_default")]
    pub without_heartbeat: u64,
}

/// How the reconcilers count for the gates of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The number of reconcilers of which a share must be compliant.
    pub expected: u64,
    /// The number of them that are compliant: they applied the content, and are alive.
    pub applied: u64,
    /// The number of reconcilers that failed.
    pub failed: u64,
    /// The number of reconcilers that applied the content and whose liveness is unknown.
    pub unknown: u64,
}

impl Measured {
    /// Adds the state of a place.
    pub fn add(&mut self, place: PlaceReports) {
        self.places += 1;
        if !place.is_published {
            self.unpublished += 1;
            return;
        }
        self.expected += u64::from(place.expected);
        self.succeeded += u64::from(place.succeeded);
        self.failed += u64::from(place.failed);
        self.silent += u64::from(place.silent);
        self.without_heartbeat += u64::from(place.without_heartbeat);
    }

    /// How the reconcilers count for gates that treat silent ones in this way. A silent reconciler is never compliant, whatever it applied before. Where silent ones
    /// fail, one without a heartbeat is not compliant either, because it would never fail.
    pub fn counted(&self, silent: Silent) -> Counted {
        let Self { expected, succeeded, failed, silent: overdue, without_heartbeat: unknown, .. } = *self;
        let all = Counted { expected, applied: succeeded, failed, unknown: 0 };
        match silent {
            Silent::Wait => all,
            Silent::Ignore => Counted { expected: expected.saturating_sub(overdue), ..all },
            Silent::Fail => {
                Counted { applied: succeeded.saturating_sub(unknown), failed: failed + overdue, unknown, ..all }
            }
        }
    }

    /// Adds the sum of other places.
    pub fn add_all(&mut self, other: Self) {
        let Self { places, unpublished, expected, succeeded, failed, silent, without_heartbeat } = other;
        self.places += places;
        self.unpublished += unpublished;
        self.expected += expected;
        self.succeeded += succeeded;
        self.failed += failed;
        self.silent += silent;
        self.without_heartbeat += without_heartbeat;
    }
}

/// The last result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    /// When it was measured.
    pub at: Timestamp,
    /// The outcome.
    pub outcome: CheckOutcome,
    /// What was measured, or why nothing was.
    pub text: Arc<str>,
}

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckOutcome {
    /// The result is as expected.
    Passed,
    /// The result is another one.
    Failed,
    /// There is no result.
    Unknown,
}

/// An approval of a change by a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approver {
    /// The account on the git host.
    pub account: Arc<str>,
    /// When.
    pub at: Timestamp,
    /// Where: by command, a review or a label.
    pub by: Arc<str>,
    /// The gate that it is for. None: each gate that waits for approvals.
    pub gate: Option<Arc<str>>,
}

/// Who wrote what a change brings: all of it since what is there now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Authors {
    /// Their accounts on the git host.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub accounts: BTreeSet<Arc<str>>,
    /// Whether others may have written some of it. Then, one more approval is needed: enough people other than the author have approved each part of the change.
    #[serde(rename = "others", default, skip_serializing_if = "is_default")]
    pub has_unknown: bool,
}

/// The authors of a change of which no author is known.
pub static UNKNOWN_AUTHORS: Authors = Authors { accounts: BTreeSet::new(), has_unknown: true };

impl Authors {
    /// The only author. None: it is not known who it is.
    pub fn one(account: Option<Arc<str>>) -> Self {
        account.map_or_else(Self::default, |account| Self { accounts: BTreeSet::from([account]), has_unknown: false })
    }

    /// Whether an account is one of them. Account names are compared without case.
    pub fn contains(&self, account: &str) -> bool {
        self.accounts.iter().any(|author| author.to_lowercase() == account.to_lowercase())
    }
}

impl Default for Authors {
    fn default() -> Self {
        UNKNOWN_AUTHORS.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reconcilers_that_fell_silent_after_success_are_silent() {
        let counts = Counts {
            expected: 10,
            succeeded: 7,
            failed: 1,
            silent: 1,
            outdated: 1,
            succeeded_but_silent: 2,
            succeeded_without_heartbeat: 4,
            ..Counts::default()
        };
        let PlaceReports { expected, succeeded, failed, silent, without_heartbeat, .. } =
            PlaceReports::reported(&counts, true);
        assert_eq!((expected, succeeded, failed, silent, without_heartbeat), (10, 5, 1, 3, 4));
    }
}
