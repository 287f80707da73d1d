//! Reports with what is computed of them once, where they come in, before the one writer gets them.

use std::ops::Deref;

use hub_api::report::Report;
use hub_api::timestamp::Timestamp;

/// A report that waits to be stored.
#[derive(Clone, Debug)]
pub(crate) struct Submitted {
    report: Report,
    /// What it says, without when.
    pub(super) digest: i64,
    /// The commit that it names.
    pub(super) commit: String,
    /// What it says of its reconciler: [`Report::profile`].
    pub(super) profile: Option<i64>,
    /// Its endpoint, as a text.
    pub(super) endpoint: Option<String>,
}

/// The reports of one reconciler, in the order of their timestamps, with their numbers.
pub(super) type Group<'a> = Vec<(usize, &'a Submitted)>;

impl Submitted {
    pub(crate) fn new(report: Report) -> Self {
        Self {
            digest: report.digest(),
            profile: report.profile(),
            commit: report.commit().to_owned(),
            endpoint: report.endpoint.as_ref().map(ToString::to_string),
            report,
        }
    }

    /// Whom it speaks of.
    pub(super) fn subject(&self) -> (&str, &str) {
        (&self.report.host, &self.report.reconciler)
    }

    /// Whom it speaks of, and when.
    pub(super) fn order(&self) -> (&str, &str, Timestamp) {
        (&self.report.host, &self.report.reconciler, self.report.observed_on)
    }
}

impl Deref for Submitted {
    type Target = Report;

    fn deref(&self) -> &Report {
        &self.report
    }
}
