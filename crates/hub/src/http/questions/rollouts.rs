//! The progress of rollouts.

use axum::Json;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::response::Response;
use bytes::Bytes;
use hub_api::deployments::Deployments;
use hub_api::filter::Filter;
use hub_api::page::Page;
use hub_api::rollouts::{Rollout, RolloutCurve, Rollouts};

use super::super::App;
use super::super::caller::Reader;
use super::super::extract::Path;
use super::super::operations::{Routes, operations};
use super::super::problem::{ProblemResponse, ProblemType};
use super::super::question_request::QuestionRequest;
use super::{At, NotAnswered, Nothing};
use crate::questions::{self, DeploymentState, DeploymentStateRequest};

pub(super) fn routes(routes: Routes) -> Routes {
    operations!(routes; rollouts, rollout, rollout_curve, rollout_hosts, deployment_state)
}

/// List the commits that changed desired content, the newest first
#[utoipa::path(
    get,
    path = "/api/v1/rollouts",
    tag = "Questions",
    params(Filter, Page, At),
    responses(
        (status = 200, description = "A page of rollouts", body = Rollouts),
        NotAnswered,
    ),
)]
async fn rollouts(State(app): State<App>, request: QuestionRequest<At>) -> Result<Response, ProblemResponse> {
    request.answer(questions::rollouts(&app.database, request.question(), &request.page, request.more.at).await)
}

/// Show the progress of the rollout of a workload, of a version of it, or of a commit
///
/// How many reconcilers are expected to hold it, and how many of them succeeded, failed, are in progress, or are silent: in all environments, and in each.
/// A host with several reconcilers at such places counts once for each. With `at`: what was desired and reported then.
#[utoipa::path(
    get,
    path = "/api/v1/rollouts/{of}",
    tag = "Questions",
    params(("of" = String, Path, description = "A workload (what of it is desired now), `workload@version`, a version, or a commit in any form that reconcilers write. Where several workloads have one name: `workspace/application/workload`"), Filter, At),
    responses(
        (status = 200, description = "The rollout", body = Rollout),
        NotAnswered,
    ),
)]
async fn rollout(
    State(app): State<App>,
    Path(of): Path<String>,
    request: QuestionRequest<At>,
) -> Result<Response, ProblemResponse> {
    request.answer(questions::rollout(&app.database, &of, request.question(), request.more.at).await)
}

/// Show the progress of a rollout since it became desired
///
/// At most 60 points, at times at which the hub recorded the counts: every ten seconds in the last hour if they changed, and less often before. Reports count from their
/// arrival on. Releases in platform folders have no points.
#[utoipa::path(
    get,
    path = "/api/v1/rollouts/{of}/curve",
    tag = "Questions",
    params(("of" = String, Path, description = "A workload (what of it is desired now), `workload@version`, a version, or a commit in any form that reconcilers write. Where several workloads have one name: `workspace/application/workload`"), Filter),
    responses(
        (status = 200, description = "The curve", body = RolloutCurve),
        NotAnswered,
    ),
)]
async fn rollout_curve(
    State(app): State<App>,
    Path(of): Path<String>,
    request: QuestionRequest<Nothing>,
) -> Result<Response, ProblemResponse> {
    request.answer(questions::rollout_curve(&app.database, &of, request.question()).await)
}

/// List the reconcilers of a rollout, with their rollout states
///
/// With `status`, only the reconcilers in these states.
#[utoipa::path(
    get,
    path = "/api/v1/rollouts/{of}/hosts",
    tag = "Questions",
    params(("of" = String, Path, description = "A workload (what of it is desired now), `workload@version`, a version, or a commit in any form that reconcilers write. Where several workloads have one name: `workspace/application/workload`"), Filter, Page),
    responses(
        (status = 200, description = "A page of them", body = Deployments),
        NotAnswered,
    ),
)]
async fn rollout_hosts(
    State(app): State<App>,
    Path(of): Path<String>,
    request: QuestionRequest<Nothing>,
) -> Result<Response, ProblemResponse> {
    request.answer(questions::rollout_hosts(&app.database, &of, request.question(), &request.page).await)
}

/// Count the reconcilers of an endpoint that have a commit, with the request of Microsoft's hub
///
/// The answer omits fields that are zero or empty.
#[utoipa::path(
    post,
    path = "/deployment_state",
    tag = "Questions",
    request_body = DeploymentStateRequest,
    responses(
        (status = 200, description = "The state", body = DeploymentState),
        ProblemResponse,
    ),
)]
async fn deployment_state(
    State(app): State<App>,
    _: Reader,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<DeploymentState>, ProblemResponse> {
    let body = body?;
    // Microsoft's hub does not check the `Content-Type` of the body.
    let request: DeploymentStateRequest = serde_json::from_slice(&body).map_err(|error| {
        ProblemResponse::new(ProblemType::Malformed, format!("the question can't be read: {error}"))
    })?;
    Ok(Json(questions::deployment_state(&app.database, &request).await?))
}
