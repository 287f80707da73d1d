//! The differences between two environments.

use axum::extract::State;
use axum::response::Response;
use hub_api::compare::{Compared, Comparison};
use hub_api::filter::Filter;
use hub_api::page::Page;

use super::super::App;
use super::super::operations::{Routes, operations};
use super::super::problem::ProblemResponse;
use super::super::question_request::QuestionRequest;
use super::NotAnswered;
use crate::questions;

pub(super) fn routes(routes: Routes) -> Routes {
    operations!(routes; compare)
}

/// Compare two environments
///
/// Versions and configuration, target by target: what is desired, and what hosts hold. With `fromAt` and `toAt`, as it was then: one environment can be compared with
/// itself at two times.
#[utoipa::path(
    get,
    path = "/api/v1/compare",
    tag = "Questions",
    params(Compared, Filter, Page),
    responses(
        (status = 200, description = "A page of targets in both environments", body = Comparison),
        NotAnswered,
    ),
)]
async fn compare(State(app): State<App>, request: QuestionRequest<Compared>) -> Result<Response, ProblemResponse> {
    request.answer(questions::compare(&app.database, &request.more, request.question(), &request.page).await)
}
