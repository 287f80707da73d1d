//! What became of reports that were sent.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::batch::Refused;

/// What became of reports that were sent. Those that are not refused are stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct Receipt {
    /// Reports that are in the history now.
    pub stored: usize,
    /// Reports that said what was so already, a little later.
    pub confirmed: usize,
    /// Reports that had arrived before.
    pub repeated: usize,
    /// What was no report, and not meant to be one.
    pub ignored: usize,
    /// Reports that were not taken.
    pub refused: Vec<RefusedReport>,
}

impl Receipt {
    /// Adds what became of a part of the reports: before it there were so many, and they stand on these lines.
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

/// A report that was not taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RefusedReport {
    /// How many were sent before it.
    pub index: usize,
    /// The line on which it stands, from 1, if reports are lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The field that is wrong.
    pub field: String,
    /// What is wrong with it.
    pub message: String,
}

impl From<Refused> for RefusedReport {
    fn from(refused: Refused) -> Self {
        let Refused { position, error } = refused;
        Self { index: position.index, line: position.line, field: error.field, message: error.message }
    }
}
