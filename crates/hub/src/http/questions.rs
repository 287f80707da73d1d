//! What is asked of the hub: one file for each question.

mod compare;
mod deployments;
mod drift;
mod environments;
mod history;
mod rollouts;

use std::collections::BTreeMap;

use axum::body::Bytes;
use axum::extract::Query;
use axum::response::{IntoResponse as _, Response};
use data_encoding::HEXLOWER;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use hub_api::filter::Filter;
use hub_api::page::Page;
use hub_api::timestamp::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use utoipa::openapi::{self, RefOr};
use utoipa::{IntoParams, IntoResponses};
use utoipa_axum::router::OpenApiRouter;

use super::App;
use super::problem::{Kind, Problem};
use crate::limits::COUNT_WAIT;
use crate::questions::QuestionError;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .merge(deployments::routes())
        .merge(environments::routes())
        .merge(rollouts::routes())
        .merge(compare::routes())
        .merge(history::routes())
        .merge(drift::routes())
}

/// A question that needs nothing else.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Nothing {}

/// The answers of a question other than the answer itself, as the description of the API has them.
struct NotAnswered;

impl IntoResponses for NotAnswered {
    fn responses() -> BTreeMap<String, RefOr<openapi::Response>> {
        let unchanged = openapi::Response::new("It is as it was when `ETag` was given");
        let mut responses = Problem::responses();
        responses.insert("304".to_owned(), unchanged.into());
        responses
    }
}

/// The moment at which it was so.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct At {
    /// How it was at that moment (RFC 3339), and not how it is now.
    at: Option<Timestamp>,
}

/// Reads what the query of an address says.
pub(super) fn read<T: DeserializeOwned>(parts: &Parts) -> Result<T, Problem> {
    match Query::try_from_uri(&parts.uri) {
        Ok(Query(read)) => Ok(read),
        Err(rejection) => Err(rejection.into()),
    }
}

/// A parameter that is written wrongly must not select everything.
pub(super) fn refuse_unknown<T: IntoParams>(parts: &Parts) -> Result<(), Problem> {
    let given: Vec<(String, String)> = read(parts)?;
    let known = [Filter::into_params(|| None), Page::into_params(|| None), T::into_params(|| None)].concat();
    match given.iter().find(|(name, _)| known.iter().all(|known| known.name != *name)) {
        None => Ok(()),
        Some((name, _)) => {
            let known: Vec<_> = known.iter().map(|known| known.name.as_str()).collect();
            let problem = Problem::new(Kind::Malformed, format!("there is no parameter `{name}` here"));
            Err(problem.hint(format!("there are {}", known.join(", "))))
        }
    }
}

/// The answer as JSON, with its tag; nothing but the tag if the one who asks has it already.
pub(super) fn answer<T: Serialize>(headers: &HeaderMap, answer: Result<T, QuestionError>) -> Result<Response, Problem> {
    let body = serde_json::to_vec(&answer?).map_err(|error| Problem::new(Kind::Mistake, error.to_string()))?;
    let digest = Sha256::digest(&body);
    let tag = format!("\"{}\"", HEXLOWER.encode(digest.get(..16).unwrap_or_default()));
    let has_it = headers.get_all(header::IF_NONE_MATCH).iter().any(|tags| names(tags, &tag));
    let mut response = if has_it {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        ([(header::CONTENT_TYPE, "application/json")], Bytes::from(body)).into_response()
    };
    if let Ok(tag) = HeaderValue::try_from(tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    Ok(response)
}

/// Whether a header `If-None-Match` names the tag. Weak tags are compared too, as RFC 9110 has it: proxies that compress make tags weak.
fn names(tags: &HeaderValue, tag: &str) -> bool {
    let tags = tags.to_str().unwrap_or_default().split(',').map(str::trim);
    tags.map(|one| one.strip_prefix("W/").unwrap_or(one)).any(|one| one == tag || one == "*")
}

impl From<QuestionError> for Problem {
    fn from(error: QuestionError) -> Self {
        let text = error.to_string();
        match error {
            QuestionError::Wrong { .. } => Self::new(Kind::Malformed, text),
            QuestionError::Unknown { .. } => Self::new(Kind::NotFound, text),
            QuestionError::Outside { .. } => {
                Self::new(Kind::Forbidden, text).hint("ask without it, or use a token that may")
            }
            QuestionError::Ambiguous { ways, .. } => {
                let problem = Self::new(Kind::Ambiguous, text);
                ways.first().map(|way| format!("say `{way}`, for example")).into_iter().fold(problem, Self::hint)
            }
            QuestionError::Busy => Self::new(Kind::Busy, text)
                .hint("ask again after the time in `Retry-After`; questions about all hosts are answered at once")
                .retry_after(COUNT_WAIT),
            QuestionError::Database(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tags: &'static str) -> bool {
        names(&HeaderValue::from_static(tags), "\"a\"")
    }

    #[test]
    fn tags_are_found_in_lists() {
        assert!(["\"a\"", "W/\"a\"", "\"b\", \"a\"", "*"].into_iter().all(check));
        assert!(!["", "a", "\"b\"", "\"aa\""].into_iter().any(check));
    }
}
