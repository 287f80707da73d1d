//! Liveness and readiness of the hub.

use std::time::Duration;

use axum::extract::State;

use super::App;
use super::operations::{Routes, operations};
use super::problem::{ProblemResponse, ProblemType};

/// How long the database may take to answer before the hub counts as not ready.
const DATABASE_TIMEOUT: Duration = Duration::from_secs(2);

pub(super) fn routes(routes: Routes) -> Routes {
    operations!(routes; healthz, livez, readyz)
}

/// Check that the process is alive
///
/// This does not check the database: a hub must not be restarted because its database is unavailable.
#[utoipa::path(get, path = "/healthz", tag = "Operation", security(()), responses((status = 200, description = "It lives", body = str)))]
async fn healthz() -> &'static str {
    "ok\n"
}

/// Check that the process is alive
///
/// The same as `/healthz`, with the name that Kubernetes uses.
#[utoipa::path(get, path = "/livez", tag = "Operation", security(()), responses((status = 200, description = "It lives", body = str)))]
async fn livez() -> &'static str {
    "ok\n"
}

/// Check that the hub is ready for requests
///
/// The hub is ready if the database answers and the hub is not being stopped. The tables are migrated before the hub listens. If the service has not synced all
/// environments, the answer contains the reasons.
#[utoipa::path(
    get,
    path = "/readyz",
    tag = "Operation",
    security(()),
    responses((status = 200, description = "They can", body = str), (status = 503, description = "Not now", body = hub_api::problem::Problem, content_type = "application/problem+json")),
)]
async fn readyz(State(app): State<App>) -> Result<String, ProblemResponse> {
    if app.is_stopping() {
        return Err(ProblemResponse::new(ProblemType::Unavailable, "the hub is being stopped"));
    }
    if !database_answers(&app).await {
        return Err(ProblemResponse::new(ProblemType::Unavailable, "the database does not answer"));
    }
    // What a git host does not answer must not take away the hub and the webhooks.
    let missing = app.service.as_ref().map(|service| service.missing()).unwrap_or_default();
    Ok(if missing.is_empty() { "ok\n".to_owned() } else { format!("ok, but {}\n", missing.join("; ")) })
}

/// Whether the database answers within [`DATABASE_TIMEOUT`].
pub(super) async fn database_answers(app: &App) -> bool {
    let answered = tokio::time::timeout(DATABASE_TIMEOUT, app.database.exists("select 1", vec![])).await;
    answered.is_ok_and(|answer| answer.is_ok())
}
