//! The history of desired and reported content.

use axum::extract::State;
use axum::response::Response;
use hub_api::filter::Filter;
use hub_api::history::{History, HistorySelection};
use hub_api::page::Page;

use super::super::App;
use super::super::operations::{Routes, operations};
use super::super::problem::ProblemResponse;
use super::super::question_request::QuestionRequest;
use super::NotAnswered;
use crate::questions;

pub(super) fn routes(routes: Routes) -> Routes {
    operations!(routes; history)
}

/// Show the history
///
/// What became desired, what was reported, and what people and the controller decided about promotions, the newest first. Without a `kind`, the reasons why promotions
/// wait are left out. Tokens that are limited to workspaces get the decisions about their workloads. A workload, target or cluster type that was renamed also has what happened under
/// its earlier names, once they are published. A host that has the name of a renamed cluster also has what the host with the earlier name reported.
#[utoipa::path(
    get,
    path = "/api/v1/history",
    tag = "Questions",
    params(Filter, HistorySelection, Page),
    responses(
        (status = 200, description = "A page of what happened", body = History),
        NotAnswered,
    ),
)]
async fn history(
    State(app): State<App>,
    request: QuestionRequest<HistorySelection>,
) -> Result<Response, ProblemResponse> {
    let asked = (request.question(), &request.more);
    request.answer(questions::history(&app.database, asked, &request.page).await)
}
