//! The results of sent reports.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::batch::Refused;

/// The results of sent reports. All reports that are not refused are stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct Receipt {
    /// The number of reports that were added to the history.
    pub stored: usize,
    /// The number of reports that confirmed the current status.
    pub confirmed: usize,
    /// The number of reports that had arrived before.
    pub repeated: usize,
    /// The number of parts that were no reports.
    pub ignored: usize,
    /// The refused reports.
    pub refused: Vec<RefusedReport>,
}

impl Receipt {
    /// Adds the results of a part of the reports. `before` is the number of reports before this part, and `lines` are the lines of its reports.
    pub fn add(&mut self, part: Self, before: usize, lines: Option<&[usize]>) {
        self.stored += part.stored;
        self.confirmed += part.confirmed;
        self.repeated += part.repeated;
        self.ignored += part.ignored;
        self.refused.extend(part.refused.into_iter().map(|refused| {
            let line = lines.and_then(|lines| lines.get(refused.index).copied()).or(refused.line);
            RefusedReport { index: before + refused.index, line, ..refused }
        }));
    }
}

/// A refused report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RefusedReport {
    /// The number of reports before it.
    pub index: usize,
    /// Its line, from 1, if reports are lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The invalid field.
    pub field: String,
    /// The problem.
    pub message: String,
}

impl From<Refused> for RefusedReport {
    fn from(refused: Refused) -> Self {
        let Refused { position, error } = refused;
        Self { index: position.index, line: position.line, field: error.field, message: error.message }
    }
}
