//! What handlers read from requests: what can't be read is answered with a problem.

use axum::extract::rejection::{BytesRejection, JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts};

use super::problem::{Kind, ProblemResponse};

/// A part of an address's path, decoded.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Path), rejection(ProblemResponse))]
pub(super) struct Path<T>(pub(super) T);

/// The query of an address.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Query), rejection(ProblemResponse))]
pub(super) struct Query<T>(pub(super) T);

/// A body in JSON.
#[derive(FromRequest)]
#[from_request(via(axum::Json), rejection(ProblemResponse))]
pub(super) struct Body<T>(pub(super) T);

/// How axum's messages about queries begin.
const READING: &str = "Failed to deserialize query string: ";

impl From<PathRejection> for ProblemResponse {
    fn from(rejection: PathRejection) -> Self {
        Self::new(Kind::Malformed, rejection.body_text())
    }
}

impl From<QueryRejection> for ProblemResponse {
    fn from(rejection: QueryRejection) -> Self {
        // How it was read does not help the caller.
        Self::new(Kind::Malformed, rejection.body_text().trim_start_matches(READING))
    }
}

impl From<JsonRejection> for ProblemResponse {
    fn from(rejection: JsonRejection) -> Self {
        Self::new(Kind::Malformed, rejection.body_text())
    }
}

impl From<BytesRejection> for ProblemResponse {
    fn from(rejection: BytesRejection) -> Self {
        Self::new(Kind::Malformed, rejection.body_text())
    }
}
