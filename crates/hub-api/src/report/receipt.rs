//! The results of sent reports.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::batch::Refused;

/// The results of sent reports. All reports that are neither refused nor kept apart are stored.
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
    /// The reports that are kept apart, with the reasons: the host is not registered for their places, so nothing counts them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub apart: Vec<RefusedReport>,
}

impl Receipt {
    /// Adds the results of a part of the reports. `before` is the number of reports before this part, and `lines` are the lines of its reports.
    pub fn add(&mut self, part: Self, before: usize, lines: Option<&[usize]>) {
        self.stored += part.stored;
        self.confirmed += part.confirmed;
        self.repeated += part.repeated;
        self.ignored += part.ignored;
        let in_whole = |refused: RefusedReport| {
            let line = lines.and_then(|lines| lines.get(refused.index).copied()).or(refused.line);
            RefusedReport { index: before + refused.index, line, ..refused }
        };
        self.refused.extend(part.refused.into_iter().map(in_whole));
        self.apart.extend(part.apart.into_iter().map(in_whole));
    }
}

/// A report that was refused or is kept apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RefusedReport {
    /// The number of reports before it.
    pub index: usize,
    /// Its line, from 1, if reports are lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The field that is the reason.
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
