//! HTTP requests with a question.

use axum::body::Bytes;
use axum::extract::{FromRequestParts, Query};
use axum::response::{IntoResponse as _, Response};
use data_encoding::HEXLOWER;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use hub_api::filter::Filter;
use hub_api::page::Page;
use hub_api::tokens::Reach;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use utoipa::IntoParams;
use utoipa::openapi::path::Parameter;

use super::App;
use super::caller::LimitedReader;
use super::problem::{ProblemResponse, ProblemType};
use crate::authentication::tokens::prune;
use crate::questions::{EarlierNames, Question, QuestionError};

/// A request with a question: the filter, the reach of the token, the page, and the other parameters of the question.
///
/// Handlers can read the filter only as a [`Question`], which contains the reach.
pub(super) struct QuestionRequest<T> {
    filter: Filter,
    reach: Reach,
    pub(super) page: Page,
    pub(super) more: T,
    pub(super) headers: HeaderMap,
}

impl<T: DeserializeOwned + IntoParams> FromRequestParts<App> for QuestionRequest<T> {
    type Rejection = ProblemResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ProblemResponse> {
        let LimitedReader(identity) = LimitedReader::from_request_parts(parts, app).await?;
        refuse_unknown::<T>(parts)?;
        let headers = parts.headers.clone();
        let reach = identity.scope.reach().clone();
        Ok(Self { filter: read(parts)?, reach, page: read(parts)?, more: read(parts)?, headers })
    }
}

impl<T> QuestionRequest<T> {
    /// The question: the filter, and the reach that limits it.
    pub(super) fn question(&self) -> Question<'_> {
        Question { filter: &self.filter, reach: &self.reach, earlier: EarlierNames::NONE }
    }

    /// The filter and the reach, for a stream that outlives the request.
    pub(super) fn into_parts(self) -> (Filter, Reach) {
        (self.filter, self.reach)
    }

    /// The HTTP response for an answer, without the parts that are outside of the reach of the token.
    pub(super) fn answer<A: Serialize>(&self, answer: Result<A, QuestionError>) -> Result<Response, ProblemResponse> {
        let reach = &self.reach;
        if reach.is_all() {
            return self::answer(&self.headers, answer);
        }
        // Whether a name is unknown or outside of the reach can't be told apart, so the hint is the same.
        let with_limit = |problem: ProblemResponse| match problem.what() {
            ProblemType::NotFound => problem.hint(format!("this token is limited to {reach}")),
            _ => problem,
        };
        let answer = answer.map_err(ProblemResponse::from).map_err(with_limit)?;
        let mut pruned = serde_json::to_value(answer)
            .map_err(|error| ProblemResponse::new(ProblemType::Mistake, error.to_string()))?;
        if !prune(reach, &mut pruned) {
            return Err(with_limit(ProblemResponse::new(ProblemType::NotFound, "there is no such thing")));
        }
        self::answer(&self.headers, Ok::<_, QuestionError>(pruned))
    }
}

/// Parses the query of the URL.
pub(super) fn read<T: DeserializeOwned>(parts: &Parts) -> Result<T, ProblemResponse> {
    match Query::try_from_uri(&parts.uri) {
        Ok(Query(read)) => Ok(read),
        Err(rejection) => Err(rejection.into()),
    }
}

/// Refuses unknown parameters: a misspelled filter must not select everything.
fn refuse_unknown<T: IntoParams>(parts: &Parts) -> Result<(), ProblemResponse> {
    refuse_other(parts, &[Filter::into_params(|| None), Page::into_params(|| None), T::into_params(|| None)].concat())
}

/// Refuses all parameters except the known ones.
pub(super) fn refuse_other(parts: &Parts, known: &[Parameter]) -> Result<(), ProblemResponse> {
    let given: Vec<(String, String)> = read(parts)?;
    match given.iter().find(|(name, _)| known.iter().all(|known| known.name != *name)) {
        None => Ok(()),
        Some((name, _)) => {
            let known: Vec<_> = known.iter().map(|known| known.name.as_str()).collect();
            let problem = ProblemResponse::new(ProblemType::Malformed, format!("there is no parameter `{name}` here"));
            let hint =
                if known.is_empty() { "there are none".to_owned() } else { format!("there are {}", known.join(", ")) };
            Err(problem.hint(hint))
        }
    }
}

/// The answer as JSON, with its `ETag`. The status is 304, without a body, if `If-None-Match` names that tag.
pub(super) fn answer<T: Serialize, E: Into<ProblemResponse>>(
    headers: &HeaderMap,
    answer: Result<T, E>,
) -> Result<Response, ProblemResponse> {
    let body = serde_json::to_vec(&answer.map_err(Into::into)?)
        .map_err(|error| ProblemResponse::new(ProblemType::Mistake, error.to_string()))?;
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

/// Whether a header `If-None-Match` names the tag. The comparison is weak, as RFC 9110 specifies: proxies that compress make tags weak.
fn names(tags: &HeaderValue, tag: &str) -> bool {
    let tags = tags.to_str().unwrap_or_default().split(',').map(str::trim);
    tags.map(|one| one.strip_prefix("W/").unwrap_or(one)).any(|one| one == tag || one == "*")
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
