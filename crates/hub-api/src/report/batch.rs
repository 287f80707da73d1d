//! The reports of one request. Each one is accepted or refused separately.

use serde::Serialize;

use super::{Report, ReportError};
use crate::limits::BATCH_REPORTS_MAX;

/// The reports of one request, each with its position, accepted or refused.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Batch {
    entries: Vec<(ReportPosition, Result<Report, ReportError>)>,
    ignored: usize,
}

/// The position of a report in a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReportPosition {
    /// The number of reports before it.
    pub index: usize,
    /// Its line, from 1, if the request consists of lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}

/// A refused report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// Its position.
    #[serde(flatten)]
    pub position: ReportPosition,
    /// The reason.
    #[serde(flatten)]
    pub error: ReportError,
}

/// The reason why a whole request can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// The body is empty.
    #[error("the body is empty")]
    Empty,
    /// The body does not have the expected format.
    #[error("the body is no {format}: {message}")]
    Syntax {
        /// The expected format.
        format: &'static str,
        /// The message of the parser.
        message: String,
    },
    /// The body has too many reports.
    #[error("the body has {0} reports; at most {BATCH_REPORTS_MAX} are possible: send them in several requests")]
    TooMany(usize),
    /// The body has too many parts.
    #[error("the body has too many log records and attributes: send them in several requests")]
    TooManyParts,
}

impl Batch {
    /// Applies `step`, for example [`Report::check`], to each accepted report. It can refuse the report.
    #[must_use]
    pub fn and_then(self, mut step: impl FnMut(Report) -> Result<Report, ReportError>) -> Self {
        let entries = self.entries.into_iter().map(|(position, entry)| (position, entry.and_then(&mut step)));
        Self { entries: entries.collect(), ignored: self.ignored }
    }

    /// The positions of the accepted reports, in the order of the request.
    pub fn accepted_positions(&self) -> Vec<ReportPosition> {
        self.entries.iter().filter(|(_, entry)| entry.is_ok()).map(|(position, _)| *position).collect()
    }

    /// The accepted and the refused reports, both in the order of the request.
    pub fn into_parts(self) -> (Vec<Report>, Vec<Refused>) {
        let (mut taken, mut refused) = (Vec::with_capacity(self.entries.len()), Vec::new());
        for (position, entry) in self.entries {
            match entry {
                Ok(report) => taken.push(report),
                Err(error) => refused.push(Refused { position, error }),
            }
        }
        (taken, refused)
    }

    /// The number of parts of the request that are no reports, such as other log records and other events.
    pub fn ignored(&self) -> usize {
        self.ignored
    }

    /// Adds a report, or the reason why it can't be read, with its position.
    pub fn push_at(&mut self, position: ReportPosition, entry: Result<Report, ReportError>) {
        self.entries.push((position, entry));
    }

    /// Counts a part of the request that is no report.
    pub fn ignore(&mut self) {
        self.ignored += 1;
    }

    /// The number of reports, including refused ones.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no report.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// A request with one report. None: the request contains no report, and is counted as ignored.
    pub fn of_one(entry: Option<Result<Report, ReportError>>) -> Self {
        let ignored = usize::from(entry.is_none());
        Self { entries: entry.into_iter().map(|entry| (ReportPosition::default(), entry)).collect(), ignored }
    }

    /// Adds a report, or the reason why it can't be read, with its line if the request consists of lines.
    pub fn push(&mut self, line: Option<usize>, entry: Result<Report, ReportError>) {
        self.entries.push((ReportPosition { index: self.entries.len(), line }, entry));
    }
}

impl BodyError {
    /// The error of a JSON parser.
    pub fn json(error: &serde_json::Error) -> Self {
        Self::Syntax { format: "JSON", message: error.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example::report;

    #[test]
    fn refused_reports_keep_their_position() {
        let mut batch = Batch::default();
        for name in ["a", "b", "c"] {
            batch.push(None, Ok(Report { reconciler: name.into(), ..report() }));
        }
        let refuse = |report: Report| match report.reconciler.as_str() {
            "b" => Err(ReportError::new("reconciler", "is b")),
            _ => Ok(report),
        };
        let (taken, refused) = batch.and_then(refuse).into_parts();
        assert_eq!(taken.len(), 2);
        assert_eq!(serde_json::to_string(&refused).unwrap(), r#"[{"index":1,"field":"reconciler","message":"is b"}]"#);
    }
}
