//! The branches that the hub watches.

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use hub_api::tokens::Act;
use hub_api::watches::WatchState;

use super::caller::Decider;
use super::operations::{Routes, operations};
use super::problem::ProblemResponse;
use super::{App, Reader};

pub(super) fn routes(routes: Routes) -> Routes {
    operations!(routes; watches, refresh)
}

/// Show the watched branches
///
/// For each branch: the commit up to which it was read, and the diagnostics.
#[utoipa::path(
    get,
    path = "/api/v1/watches",
    tag = "Publications",
    responses(
        (status = 200, description = "The branches", body = Vec<WatchState>),
        (status = "4XX", description = "The caller does not have the permission", body = hub_api::problem::Problem, content_type = "application/problem+json"),
    ),
)]
async fn watches(State(app): State<App>, _reader: Reader) -> Json<Vec<WatchState>> {
    Json(app.watches.as_ref().map(|watches| watches.states()).unwrap_or_default())
}

/// Poll all branches now
///
/// For webhooks of git hosts: a push is visible without waiting for the next poll. The answer comes before the branches are polled.
#[utoipa::path(
    post,
    path = "/api/v1/refresh",
    tag = "Publications",
    responses(
        (status = 202, description = "The branches will be polled"),
        (status = "4XX", description = "The caller does not have the permission", body = hub_api::problem::Problem, content_type = "application/problem+json"),
    ),
)]
async fn refresh(State(app): State<App>, decider: Decider) -> Result<StatusCode, ProblemResponse> {
    decider.check_everywhere(Act::Operate)?;
    app.watches.iter().for_each(|watches| watches.refresh());
    Ok(StatusCode::ACCEPTED)
}
