//! Evidence: what is known of a fleet and of checks when a gate is evaluated.

use std::sync::Arc;

use jiff::Timestamp;

/// The reconcilers of one place, for the content that the place is to have now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlaceState {
    /// The number of reconcilers that are expected to apply the content.
    pub expected: u32,
    /// The number of them that applied it.
    pub succeeded: u32,
    /// The number of them that failed to apply it.
    pub failed: u32,
    /// The number of them whose report is overdue.
    pub silent: u32,
    /// Whether reconcilers can see the content: the GitOps branch has it, and the hub knows. Otherwise, the other numbers are about earlier content, and do not count.
    pub is_published: bool,
}

/// The sum of the states of several places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// The number of places.
    pub places: u64,
    /// The number of places whose content is not published yet.
    pub unpublished: u64,
    /// The number of expected reconcilers of published places.
    pub expected: u64,
    /// The number of them that applied the content.
    pub succeeded: u64,
    /// The number of them that failed.
    pub failed: u64,
    /// The number of them that are silent.
    pub silent: u64,
}

impl Measured {
    /// Adds the state of a place.
    pub fn add(&mut self, place: PlaceState) {
        self.places += 1;
        if !place.is_published {
            self.unpublished += 1;
            return;
        }
        self.expected += u64::from(place.expected);
        self.succeeded += u64::from(place.succeeded);
        self.failed += u64::from(place.failed);
        self.silent += u64::from(place.silent);
    }

    /// Adds the sum of other places.
    pub fn add_all(&mut self, other: Self) {
        let Self { places, unpublished, expected, succeeded, failed, silent } = other;
        self.places += places;
        self.unpublished += unpublished;
        self.expected += expected;
        self.succeeded += succeeded;
        self.failed += failed;
        self.silent += silent;
    }
}

/// The last result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    /// When it was measured.
    pub at: Timestamp,
    /// The outcome.
    pub outcome: Outcome,
    /// What was measured, or why nothing was.
    pub text: Arc<str>,
}

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The result is as expected.
    Passed,
    /// The result is another one.
    Failed,
    /// There is no result.
    Unknown,
}

/// An approval of a change by a person.
#[derive(Clone, Debug, PartialEq, Eq)]
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
