//! A question as it arrives over HTTP.

use axum::extract::FromRequestParts;
use axum::response::Response;
use http::HeaderMap;
use http::request::Parts;
use hub_api::filter::Filter;
use hub_api::page::Page;
use hub_api::tokens::Reach;
use serde::Serialize;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;

use super::App;
use super::caller::LimitedReader;
use super::problem::{Kind, Problem};
use super::questions::{self, read, refuse_unknown};
use crate::questions::{Question, QuestionError};
use crate::tokens::prune;

/// What somebody who may ask asks: with the filter, the reach of the token, the page, and what else the question needs.
///
/// Handlers get the filter as a [`Question`] only, with the reach.
pub(super) struct Asked<T> {
    filter: Filter,
    reach: Reach,
    pub(super) page: Page,
    pub(super) more: T,
    pub(super) headers: HeaderMap,
}

impl<T: DeserializeOwned + IntoParams> FromRequestParts<App> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let LimitedReader(identity) = LimitedReader::from_request_parts(parts, app).await?;
        refuse_unknown::<T>(parts)?;
        let headers = parts.headers.clone();
        let reach = identity.scope.reach().clone();
        Ok(Self { filter: read(parts)?, reach, page: read(parts)?, more: read(parts)?, headers })
    }
}

impl<T> Asked<T> {
    /// The question: what is asked about, and what may be asked about.
    pub(super) fn question(&self) -> Question<'_> {
        Question { filter: &self.filter, reach: &self.reach }
    }

    /// The filter and the reach, for a stream that outlives the request.
    pub(super) fn into_parts(self) -> (Filter, Reach) {
        (self.filter, self.reach)
    }

    /// The answer, without what who asks may not ask about.
    pub(super) fn answer<A: Serialize>(&self, answer: Result<A, QuestionError>) -> Result<Response, Problem> {
        let reach = &self.reach;
        if reach.is_all() {
            return questions::answer(&self.headers, answer);
        }
        let mut pruned =
            serde_json::to_value(answer?).map_err(|error| Problem::new(Kind::Mistake, error.to_string()))?;
        if !prune(reach, &mut pruned) {
            return Err(Problem::new(Kind::Forbidden, format!("this token is limited to {reach}")));
        }
        questions::answer(&self.headers, Ok(pruned))
    }
}
