//! Whether the hub lives, and whether it can do its work.

use std::time::Duration;

use axum::extract::State;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::problem::{Kind, ProblemResponse};

/// How long the database may take to answer before the hub counts as not ready.
const DATABASE_TIMEOUT: Duration = Duration::from_secs(2);

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(healthz)).routes(routes!(readyz))
}

/// Whether the process lives
///
/// It says nothing of the database: a hub whose database is away must not be restarted for that.
#[utoipa::path(get, path = "/healthz", tag = "Operation", security(()), responses((status = 200, description = "It lives", body = str)))]
async fn healthz() -> &'static str {
    "ok\n"
}

/// Whether requests can be answered
///
/// The tables are up to date before the hub listens; what is answered for here is that the database answers, and that the hub is not being stopped.
#[utoipa::path(
    get,
    path = "/readyz",
    tag = "Operation",
    security(()),
    responses((status = 200, description = "They can", body = str), (status = 503, description = "Not now", body = hub_api::problem::Problem, content_type = "application/problem+json")),
)]
async fn readyz(State(app): State<App>) -> Result<&'static str, ProblemResponse> {
    if app.is_stopping() {
        return Err(ProblemResponse::new(Kind::Unavailable, "the hub is being stopped"));
    }
    if !database_answers(&app).await {
        return Err(ProblemResponse::new(Kind::Unavailable, "the database does not answer"));
    }
    Ok("ok\n")
}

/// Whether the database answers, soon.
pub(super) async fn database_answers(app: &App) -> bool {
    let answered = tokio::time::timeout(DATABASE_TIMEOUT, app.database.exists("select 1", vec![])).await;
    answered.is_ok_and(|answer| answer.is_ok())
}
