//! Problems of requests, as `application/problem+json` (RFC 9457).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::report::receipt::RefusedReport;

/// The media type of a problem (RFC 9457).
pub const CONTENT_TYPE: &str = "application/problem+json";

/// An answer that says what is wrong, and what to do about it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// What kind of problem it is: `urn:kalypso:problem:` and a word. Programs go by it.
    #[serde(rename = "type", default)]
    #[schema(example = "urn:kalypso:problem:busy", required = true)]
    pub kind: String,
    /// The kind in words.
    #[serde(default)]
    #[schema(example = "The hub is busy", required = true)]
    pub title: String,
    /// The HTTP status.
    #[serde(default)]
    #[schema(example = 429, required = true)]
    pub status: u16,
    /// What is wrong with this request.
    pub detail: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The reports that were refused, where reports were sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedReport>,
}
