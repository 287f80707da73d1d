//! The deployments: which version is on which host.

use axum::extract::State;
use axum::response::Response;
use hub_api::deployments::Deployments;
use hub_api::filter::Filter;
use hub_api::page::Page;

use super::super::App;
use super::super::operations::{Routes, operations};
use super::super::problem::ProblemResponse;
use super::super::question_request::QuestionRequest;
use super::{At, NotAnswered};
use crate::questions;

pub(super) fn routes(routes: Routes) -> Routes {
    operations!(routes; deployments)
}

/// List deployments
///
/// Which version of which workload, with which configuration, is on which host: with commit, status, message, and since when.
#[utoipa::path(
    get,
    path = "/api/v1/deployments",
    tag = "Questions",
    params(Filter, Page, At),
    responses(
        (status = 200, description = "A page of what is where", body = Deployments),
        NotAnswered,
    ),
)]
async fn deployments(State(app): State<App>, request: QuestionRequest<At>) -> Result<Response, ProblemResponse> {
    let answered = questions::deployments(&app.database, request.question(), &request.page, request.more.at).await;
    request.answer(answered)
}
