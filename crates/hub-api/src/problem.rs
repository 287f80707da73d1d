//! Problems of requests, as `application/problem+json` (RFC 9457).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::report::receipt::RefusedReport;

/// The media type of a problem (RFC 9457).
pub const CONTENT_TYPE: &str = "application/problem+json";

/// An error answer, with advice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// The kind of the problem, for programs: `urn:kalypso:problem:` and a word.
    #[serde(rename = "type", default)]
    #[schema(example = "urn:kalypso:problem:busy", required = true)]
    pub kind: String,
    /// The kind, for people.
    #[serde(default)]
    #[schema(example = "The hub is busy", required = true)]
    pub title: String,
    /// The HTTP status.
    #[serde(default)]
    #[schema(example = 429, required = true)]
    pub status: u16,
    /// The problem of this request.
    pub detail: String,
    /// The advice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The refused reports, if reports were sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedReport>,
}
