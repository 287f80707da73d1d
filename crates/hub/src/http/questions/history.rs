//! The history of desired and reported content.

use axum::extract::State;
use axum::response::Response;
use hub_api::filter::Filter;
use hub_api::history::History;
use hub_api::page::Page;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::super::App;
use super::super::problem::ProblemResponse;
use super::super::question_request::QuestionRequest;
use super::{NotAnswered, Nothing};
use crate::questions;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(history))
}

/// Show the history
///
/// What became desired and what was reported, the newest first.
#[utoipa::path(
    get,
    path = "/api/v1/history",
    tag = "Questions",
    params(Filter, Page),
    responses(
        (status = 200, description = "A page of what happened", body = History),
        NotAnswered,
    ),
)]
async fn history(State(app): State<App>, request: QuestionRequest<Nothing>) -> Result<Response, ProblemResponse> {
    request.answer(questions::history(&app.database, request.question(), &request.page).await)
}
