//! Reports with values that are computed once, when a report arrives, before the single writer gets it.

use std::ops::Deref;
use std::sync::Arc;

use hub_api::hosts::RegisteredBy;
use hub_api::report::Report;
use hub_api::timestamp::Timestamp;

use crate::ingest::speaker::Speaker;
use crate::report_formats;

/// A report that waits to be stored.
#[derive(Clone, Debug)]
pub(crate) struct Submitted {
    report: Report,
    /// The token of hosts that sent it; none if the sender speaks for the whole platform.
    speaker: Option<Arc<Speaker>>,
    /// The digest of the content of the report, without its timestamp.
    pub(super) digest: i64,
    /// The commit that the report names.
    pub(super) commit: String,
    /// Whether its sender sends its present state each time, and never an earlier report again.
    pub(super) is_present_state: bool,
    /// The digest of the report's data about its reconciler: [`Report::profile`].
    pub(super) profile: Option<i64>,
    /// The endpoint of the report, as text.
    pub(super) endpoint: Option<String>,
}

/// The reports of one reconciler, ordered by timestamp and arrival, each with its number in the batch.
pub(super) type Group<'a> = Vec<(usize, &'a Submitted)>;

impl Submitted {
    pub(crate) fn new(report: Report, speaker: Option<Arc<Speaker>>) -> Self {
        Self {
            speaker,
            digest: report.digest(),
            profile: report.profile(),
            commit: report.commit().to_owned(),
            is_present_state: report_formats::sends_present_state(&report.kind),
            endpoint: report.endpoint.as_ref().map(ToString::to_string),
            report,
        }
    }

    /// The token of hosts that sent it; none if the sender speaks for the whole platform.
    pub(super) fn speaker(&self) -> Option<&Speaker> {
        self.speaker.as_deref()
    }

    /// Who registers its reconciler for its place.
    pub(super) fn registered_by(&self) -> RegisteredBy {
        if self.speaker.is_some() { RegisteredBy::Token } else { RegisteredBy::Operator }
    }

    /// The host and the reconciler that the report is about.
    pub(super) fn subject(&self) -> (&str, &str) {
        (&self.report.host, &self.report.reconciler)
    }

    /// The host, the reconciler and the timestamp of the report.
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
