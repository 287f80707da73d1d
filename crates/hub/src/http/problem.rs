//! Errors of requests, as `application/problem+json` (RFC 9457).

use std::collections::BTreeMap;
use std::time::Duration;

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use hub_api::problem::{self, CONTENT_TYPE};
use hub_api::report::batch::Refused;
use model::similar::nearest;
use utoipa::IntoResponses;
use utoipa::openapi::{self, RefOr};

use crate::authentication::authority::AccessRefusal;
use crate::store::DatabaseError;
use crate::writer::SubmitError;

/// The `Retry-After` of answers when the database is unavailable.
const DATABASE_RETRY: Duration = Duration::from_secs(5);

/// A problem: the body of the answer, its `Retry-After`, and its kind.
#[derive(Debug)]
pub struct ProblemResponse {
    body: problem::Problem,
    retry_after: Option<Duration>,
    what: ProblemType,
}

impl ProblemResponse {
    /// A problem of a kind. `detail` describes this occurrence.
    pub fn new(kind: ProblemType, detail: impl Into<String>) -> Self {
        let (status, word, title) = kind.parts();
        let kind_of_body = format!("urn:kalypso:problem:{word}");
        let body = problem::Problem {
            kind: kind_of_body,
            title: title.to_owned(),
            status: status.as_u16(),
            detail: detail.into(),
            ..problem::Problem::default()
        };
        Self { body, retry_after: None, what: kind }
    }

    /// The problem of a request that needs the service, which does not run in this process. `lack` says what the process does not do.
    pub(super) fn only_a_hub(lack: &str) -> Self {
        Self::new(ProblemType::NotFound, format!("this process is only a hub: {lack}"))
            .hint("`kalypso serve` runs the hub with the service")
    }

    /// Adds advice for the caller.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.body.hint = Some(hint.into());
        self
    }

    /// Adds the known name that is most similar to an unknown one, if one is similar.
    #[must_use]
    pub(super) fn did_you_mean<'k>(self, name: &str, known: impl IntoIterator<Item = &'k str>) -> Self {
        let similar = nearest(name, known).map(|name| format!("did you mean `{name}`?"));
        similar.into_iter().fold(self, Self::hint)
    }

    /// Adds the reports that were refused.
    #[must_use]
    pub fn refused(mut self, refused: Vec<Refused>) -> Self {
        self.body.refused = refused.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the header `Retry-After`: the time after which the same request may succeed.
    #[must_use]
    pub fn retry_after(mut self, retry_after: Duration) -> Self {
        self.retry_after = Some(retry_after);
        self
    }

    /// The description of this occurrence of the problem.
    pub fn detail(&self) -> &str {
        &self.body.detail
    }

    /// The kind of problem.
    pub fn what(&self) -> ProblemType {
        self.what
    }

    /// The HTTP status.
    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.body.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

/// The kinds of problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemType {
    /// The request can't be read.
    Malformed,
    /// The request has no credentials, or the hub does not accept them.
    Unauthenticated,
    /// The caller does not have the permission.
    Forbidden,
    /// No such object or route exists.
    NotFound,
    /// The name belongs to several objects, or it is already in use.
    Ambiguous,
    /// The route exists, but does not support the method.
    Method,
    /// The body took too long to arrive.
    Slow,
    /// The body is too large.
    TooLarge,
    /// The route does not support the format or the encoding of the body.
    MediaType,
    /// The request can be parsed, but its content is invalid.
    Unprocessable,
    /// The hub has too much work at the moment.
    Busy,
    /// An internal error of the hub.
    Mistake,
    /// The hub can't process the request at the moment.
    Unavailable,
}

impl ProblemType {
    fn parts(self) -> (StatusCode, &'static str, &'static str) {
        match self {
            Self::Malformed => (StatusCode::BAD_REQUEST, "malformed", "The request can't be read"),
            Self::Unauthenticated => (StatusCode::UNAUTHORIZED, "unauthenticated", "The caller is not authenticated"),
            Self::Forbidden => (StatusCode::FORBIDDEN, "forbidden", "The caller does not have the permission"),
            Self::NotFound => (StatusCode::NOT_FOUND, "not-found", "There is no such thing"),
            Self::Ambiguous => (StatusCode::CONFLICT, "ambiguous", "Several things are called so"),
            Self::Method => (StatusCode::METHOD_NOT_ALLOWED, "method", "The method is not possible here"),
            Self::Slow => (StatusCode::REQUEST_TIMEOUT, "slow", "The request took too long to arrive"),
            Self::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "too-large", "The request is too large"),
            Self::MediaType => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "media-type", "The format is not supported"),
            Self::Unprocessable => {
                (StatusCode::UNPROCESSABLE_ENTITY, "unprocessable", "The content of the request is not valid")
            }
            Self::Busy => (StatusCode::TOO_MANY_REQUESTS, "busy", "The hub is busy"),
            Self::Mistake => (StatusCode::INTERNAL_SERVER_ERROR, "mistake", "Internal error of the hub"),
            Self::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "unavailable", "The hub can't do it now"),
        }
    }
}

impl From<AccessRefusal> for ProblemResponse {
    fn from(refusal: AccessRefusal) -> Self {
        let detail = refusal.to_string();
        match refusal {
            AccessRefusal::Missing => Self::new(ProblemType::Unauthenticated, detail)
                .hint("send a header `Authorization: Bearer TOKEN`; `kalypso hub token create` makes tokens"),
            AccessRefusal::Invalid(_) => Self::new(ProblemType::Unauthenticated, detail)
                .hint("`kalypso hub token list` shows the tokens and when they expire"),
            AccessRefusal::Session(_) => {
                Self::new(ProblemType::Unauthenticated, detail).hint("sign in again, at `/sign-in` of the hub")
            }
            AccessRefusal::Forbidden(_) => Self::new(ProblemType::Forbidden, detail),
            AccessRefusal::Unavailable(_) => unavailable(&detail),
        }
    }
}

impl From<DatabaseError> for ProblemResponse {
    fn from(error: DatabaseError) -> Self {
        of_database(&error)
    }
}

impl From<SubmitError> for ProblemResponse {
    fn from(error: SubmitError) -> Self {
        match error {
            SubmitError::Busy { retry_after } => {
                Self::new(ProblemType::Busy, "more reports wait to be stored than the hub can keep")
                    .hint("send them again after the time in `Retry-After`; nothing of this request was stored")
                    .retry_after(retry_after)
            }
            SubmitError::Stopped => unavailable("the hub is being stopped"),
            SubmitError::Database(error) => of_database(&error),
        }
    }
}

fn of_database(error: &DatabaseError) -> ProblemResponse {
    match error {
        DatabaseError::Full(_) => {
            tracing::error!(%error, "nothing can be stored");
            ProblemResponse::new(
                ProblemType::Unavailable,
                "the disk of the hub's database is full; nothing of this request was stored",
            )
            .hint("the administrator of the hub has to free disk space; then send it again")
            .retry_after(DATABASE_RETRY)
        }
        error if error.is_passing() => unavailable(&error.to_string()),
        error => mistake(error),
    }
}

/// Error messages of databases name files and servers. They go to the log, not into the answer.
fn unavailable(reason: &str) -> ProblemResponse {
    tracing::warn!(reason, "a request can't be answered now");
    ProblemResponse::new(ProblemType::Unavailable, "the hub's database can't be used at the moment")
        .hint("try again later; the hub's log contains the reason")
        .retry_after(DATABASE_RETRY)
}

fn mistake(error: &DatabaseError) -> ProblemResponse {
    tracing::error!(%error, "a request can't be answered");
    ProblemResponse::new(ProblemType::Mistake, "the log of the hub has the details")
}

impl IntoResponses for ProblemResponse {
    fn responses() -> BTreeMap<String, RefOr<openapi::Response>> {
        let response = |description: &str| {
            let schema = openapi::Ref::from_schema_name("Problem");
            let content = openapi::ContentBuilder::new().schema(Some(schema)).build();
            let response = openapi::ResponseBuilder::new().description(description);
            response.content(CONTENT_TYPE, content).build().into()
        };
        let (refused, failed) = ("The request is refused", "The hub can't answer it now");
        BTreeMap::from([("4XX".to_owned(), response(refused)), ("5XX".to_owned(), response(failed))])
    }
}

impl IntoResponse for ProblemResponse {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self.body).unwrap_or_default();
        let mut response = (self.status(), body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(CONTENT_TYPE));
        if let Some(retry_after) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(retry_after.as_secs().max(1)));
        }
        if self.body.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"kalypso\""));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::ColumnError;

    #[test]
    fn a_column_of_another_type_is_a_mistake_of_the_hub() {
        let column = ColumnError { column: 2, expected: "an integer", found: "null" };
        let problem = ProblemResponse::from(DatabaseError::Column { column, statement: "select 1".to_owned() });
        assert_eq!(
            (problem.status(), problem.detail()),
            (StatusCode::INTERNAL_SERVER_ERROR, "the log of the hub has the details")
        );
    }
}
