//! The reports of one request: each is taken or refused by itself.

use serde::Serialize;

use super::{Report, ReportError};
use crate::limits::BATCH_REPORTS_MAX;

/// What one request brought: each report with its position, taken or refused. A bad one refuses only itself.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Batch {
    entries: Vec<(Position, Result<Report, ReportError>)>,
    ignored: usize,
}

/// Where in a request a report stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Position {
    /// How many stand before it.
    pub index: usize,
    /// The line on which it stands, from 1, if the request is made of lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}

/// A report that was not taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// Which one.
    #[serde(flatten)]
    pub position: Position,
    /// Why.
    #[serde(flatten)]
    pub error: ReportError,
}

/// Nothing of a request can be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// There is nothing in it.
    #[error("the body is empty")]
    Empty,
    /// It is not in the format that it should be in.
    #[error("the body is no {format}: {message}")]
    Syntax {
        /// The format.
        format: &'static str,
        /// What the parser says.
        message: String,
    },
    /// There are too many reports in it.
    #[error("the body has {0} reports; at most {BATCH_REPORTS_MAX} are possible: send them in several requests")]
    TooMany(usize),
    /// It is made of too many parts.
    #[error("the body has too many log records and attributes: send them in several requests")]
    TooManyParts,
}

impl Batch {
    /// Those that were taken so far go through `step` (who may report what; [`Report::check`]), which can refuse each.
    #[must_use]
    pub fn and_then(self, mut step: impl FnMut(Report) -> Result<Report, ReportError>) -> Self {
        let entries = self.entries.into_iter().map(|(position, entry)| (position, entry.and_then(&mut step)));
        Self { entries: entries.collect(), ignored: self.ignored }
    }

    /// The reports that were taken, and those that were not, each in the order of the request.
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

    /// How much of the request was no report at all, and not meant to be one: other log records, events about other things.
    pub fn ignored(&self) -> usize {
        self.ignored
    }

    /// Adds a report, or why it can't be read, at its position.
    pub fn push_at(&mut self, position: Position, entry: Result<Report, ReportError>) {
        self.entries.push((position, entry));
    }

    /// Counts a part of the request that is not meant to be a report.
    pub fn ignore(&mut self) {
        self.ignored += 1;
    }

    /// How many reports there are, those that can't be read included.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no report.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// A request with one report, or with something that is none.
    pub fn of_one(entry: Option<Result<Report, ReportError>>) -> Self {
        let ignored = usize::from(entry.is_none());
        Self { entries: entry.into_iter().map(|entry| (Position::default(), entry)).collect(), ignored }
    }

    /// Adds a report, or why it can't be read; with its line if the request is made of lines.
    pub fn push(&mut self, line: Option<usize>, entry: Result<Report, ReportError>) {
        self.entries.push((Position { index: self.entries.len(), line }, entry));
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
    fn what_is_refused_keeps_its_position() {
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
