//! The state of environments.

use axum::extract::State;
use axum::response::Response;
use hub_api::environments::{EnvironmentTargets, Environments};
use hub_api::filter::Filter;
use hub_api::page::Page;

use super::super::App;
use super::super::operations::{Routes, operations};
use super::super::problem::ProblemResponse;
use super::super::question_request::QuestionRequest;
use super::{At, NotAnswered};
use crate::questions;

pub(super) fn routes(routes: Routes) -> Routes {
    operations!(routes; environments, environment_targets)
}

/// Show the state of all environments
///
/// How many reconcilers have desired content, and how many hold it.
#[utoipa::path(
    get,
    path = "/api/v1/environments",
    tag = "Questions",
    params(Filter, At),
    responses(
        (status = 200, description = "The environments", body = Environments),
        NotAnswered,
    ),
)]
async fn environments(State(app): State<App>, request: QuestionRequest<At>) -> Result<Response, ProblemResponse> {
    request.answer(questions::environments(&app.database, request.question(), request.more.at).await)
}

/// Show the desired state of targets, and how many reconcilers hold it
///
/// For each deployment target, and for each cluster type: the desired version, configuration and commit, and the number of reconcilers in each
/// rollout state.
#[utoipa::path(
    get,
    path = "/api/v1/targets",
    tag = "Questions",
    params(Filter, Page, At),
    responses(
        (status = 200, description = "A page of targets", body = EnvironmentTargets),
        NotAnswered,
    ),
)]
async fn environment_targets(
    State(app): State<App>,
    request: QuestionRequest<At>,
) -> Result<Response, ProblemResponse> {
    let answered =
        questions::environment_targets(&app.database, request.question(), &request.page, request.more.at).await;
    request.answer(answered)
}
