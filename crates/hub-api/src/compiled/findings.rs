//! What is wrong in an environment.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::assignment_name::AssignmentName;
use super::position::SourcePosition;

/// Selects findings that match all fields, and a page of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct FindingQuery {
    /// The severity.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(inline)]
    pub severity: Option<FindingSeverity>,
    /// The code, such as `K0312`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The workload of an affected assignment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    /// The cluster type or cluster of an affected assignment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The deployment target of an affected assignment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The `next` of the previous page. None: the first page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The maximum number of findings. Default 100, at most 1000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(minimum = 1, maximum = 1000, default = 100)]
    pub limit: Option<usize>,
}

/// How severe a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum FindingSeverity {
    /// The affected assignments are not published with it.
    Error,
    /// The result is probably not what the author expects.
    Warning,
}

/// A page of findings, errors first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CompiledFindings {
    /// The findings of the page.
    pub items: Vec<CompiledFinding>,
    /// The number of findings that match, on all pages.
    pub total: usize,
    /// The number of errors of the environment.
    pub errors: usize,
    /// The number of its warnings. Acknowledged ones do not count.
    pub warnings: usize,
    /// The cursor of the next page. None: this is the last one.
    pub next: Option<String>,
}

/// An error or a warning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CompiledFinding {
    /// The code, such as `K0312`. The reference of diagnostics describes it.
    pub code: String,
    /// How severe it is.
    pub severity: FindingSeverity,
    /// What is wrong.
    pub message: String,
    /// The object that it is about: its kind and name.
    pub object: Option<String>,
    /// The positions in files, the most important one first.
    pub places: Vec<FindingPlace>,
    /// Facts beside the message.
    pub notes: Vec<String>,
    /// Advice.
    pub help: Vec<String>,
    /// The number of affected assignments.
    pub assignment_count: usize,
    /// The first ones of them.
    pub assignments: Vec<AssignmentName>,
}

/// A position of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindingPlace {
    /// A short text about the position. May be empty.
    pub text: String,
    /// The position; `null` if it is in no file. The line and the column are 0 if it is a whole file.
    pub position: Option<SourcePosition>,
    /// The lines there, without hidden values; `null` for a whole file, and for files that are not text.
    pub excerpt: Option<FindingExcerpt>,
}

/// Lines of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindingExcerpt {
    /// The number of the first line, from 1.
    pub first_line: usize,
    /// The lines.
    pub text: String,
    /// Where the marked part begins, in bytes of the text.
    pub mark_start: usize,
    /// Where it ends.
    pub mark_end: usize,
}
