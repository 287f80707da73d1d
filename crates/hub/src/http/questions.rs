//! The routes of questions: one file for each question.

mod compare;
mod counts;
mod deployments;
mod drift;
mod environments;
mod history;
mod places;
mod rollouts;
mod search;

use std::collections::BTreeMap;

use hub_api::timestamp::Timestamp;
use serde::Deserialize;
use utoipa::openapi::{self, RefOr};
use utoipa::{IntoParams, IntoResponses};

use super::operations::Routes;
use super::problem::{ProblemResponse, ProblemType};
use crate::limits::COUNT_WAIT;
use crate::questions::{QuestionError, labels_hint};

pub(super) fn routes(routes: Routes) -> Routes {
    let routes = deployments::routes(routes);
    let routes = environments::routes(routes);
    let routes = counts::routes(routes);
    let routes = rollouts::routes(routes);
    let routes = compare::routes(routes);
    let routes = history::routes(routes);
    let routes = drift::routes(routes);
    let routes = places::routes(routes);
    search::routes(routes)
}

/// The parameters of a question that has none of its own.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Nothing {}

/// All responses of a question except 200, for the description of the API.
pub(super) struct NotAnswered;

impl IntoResponses for NotAnswered {
    fn responses() -> BTreeMap<String, RefOr<openapi::Response>> {
        let unchanged = openapi::Response::new("It is as it was when `ETag` was given");
        let mut responses = ProblemResponse::responses();
        responses.insert("304".to_owned(), unchanged.into());
        responses
    }
}

/// The timestamp that a question is about.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct At {
    /// Answer with the state at this timestamp (RFC 3339). Without it, the answer is the current state. The counts of more than 5000 reconcilers are those that the hub recorded then (`recordedOn`).
    at: Option<Timestamp>,
}

impl From<QuestionError> for ProblemResponse {
    fn from(error: QuestionError) -> Self {
        let text = error.to_string();
        match error {
            QuestionError::Wrong { .. } => Self::new(ProblemType::Malformed, text),
            QuestionError::Unknown { what, .. } => {
                let problem = Self::new(ProblemType::NotFound, text);
                labels_hint(what).into_iter().fold(problem, Self::hint)
            }
            QuestionError::Ambiguous { ways, .. } => {
                let problem = Self::new(ProblemType::Ambiguous, text);
                ways.first().map(|way| format!("use `{way}`, for example")).into_iter().fold(problem, Self::hint)
            }
            QuestionError::Busy => Self::new(ProblemType::Busy, text)
                .hint("query again after the time in `Retry-After`; queries about all hosts are answered at once")
                .retry_after(COUNT_WAIT),
            QuestionError::Database(error) => error.into(),
        }
    }
}
