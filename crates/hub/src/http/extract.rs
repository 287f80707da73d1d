//! Extractors for handlers: if a part of a request can't be read, the answer is a problem.

use axum::extract::rejection::{BytesRejection, JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts};

use super::problem::{ProblemResponse, ProblemType};

/// A segment of the URL's path, decoded.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Path), rejection(ProblemResponse))]
pub(super) struct Path<T>(pub(super) T);

/// The query of the URL.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Query), rejection(ProblemResponse))]
pub(super) struct Query<T>(pub(super) T);

/// A body in JSON.
#[derive(FromRequest)]
#[from_request(via(axum::Json), rejection(ProblemResponse))]
pub(super) struct Body<T>(pub(super) T);

/// The beginning of axum's messages about queries.
const READING: &str = "Failed to deserialize query string: ";

impl From<PathRejection> for ProblemResponse {
    fn from(rejection: PathRejection) -> Self {
        Self::new(ProblemType::Malformed, rejection.body_text())
    }
}

impl From<QueryRejection> for ProblemResponse {
    fn from(rejection: QueryRejection) -> Self {
        // The name of the deserialization step does not help the caller.
        Self::new(ProblemType::Malformed, rejection.body_text().trim_start_matches(READING))
    }
}

impl From<JsonRejection> for ProblemResponse {
    fn from(rejection: JsonRejection) -> Self {
        Self::new(ProblemType::Malformed, rejection.body_text())
    }
}

impl From<BytesRejection> for ProblemResponse {
    fn from(rejection: BytesRejection) -> Self {
        Self::new(ProblemType::Malformed, rejection.body_text())
    }
}
