//! The environments that the service syncs, and the webhooks that request it.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, Request, State};
use axum::routing::post;
use http::StatusCode;
use http::request::Parts;
use hub_api::audit::Action;
use hub_api::limits::WEBHOOK_BYTES_MAX;
use hub_api::syncs::{
    Confirmation, ConfirmationError, EnvironmentSync, EnvironmentSyncDetail, RefusedWebhook, SyncReceipt, SyncRequest,
    SyncService, UnknownEnvironment,
};
use hub_api::tokens::Act;
use serde_json::json;
use tokio::sync::Semaphore;

use super::caller::{Decider, DecisionScope, LimitedReader};
use super::operations::{Routes, operations};
use super::problem::{ProblemResponse, ProblemType};
use super::{Administrator, App, Reader};
use crate::management::audit::{self, AuditRecord};

pub(super) fn routes(routes: Routes) -> Routes {
    operations!(routes; syncs, sync_detail, request_sync, confirm)
}

/// The number of webhooks that are received at the same time. Git hosts repeat a webhook that is refused, and polling finds the change anyway.
const WEBHOOKS_AT_ONCE: usize = 32;
/// How long the body of a webhook may take.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// When a refused webhook may come again.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The room for webhooks.
pub(super) fn room() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(WEBHOOKS_AT_ONCE))
}

/// The route of the webhooks. It is not in the description: each git host defines its own payload.
pub(super) fn webhooks() -> axum::Router<App> {
    axum::Router::new().route("/webhooks/{kind}", post(webhook))
}

/// Show all environments of the service
///
/// For each environment: the last sync with its sources, destinations and pull requests. Empty if the process is only a hub.
#[utoipa::path(
    get,
    path = "/api/v1/syncs",
    tag = "Service",
    responses((status = 200, description = "The environments", body = Vec<EnvironmentSync>), ProblemResponse),
)]
async fn syncs(State(app): State<App>, LimitedReader(identity): LimitedReader) -> Json<Vec<EnvironmentSync>> {
    let reach = identity.scope.reach();
    let mut found = app.service.as_ref().map(|service| service.states()).unwrap_or_default();
    found.retain(|state| reach.has_environment(&state.environment));
    if !reach.workspaces.is_empty() {
        // What a sync read and wrote is about all workspaces.
        found.iter_mut().for_each(|state| state.last = None);
    }
    Json(found)
}

/// Show one environment of the service
///
/// With the last plan of each destination, and with the problems.
#[utoipa::path(
    get,
    path = "/api/v1/syncs/{environment}",
    tag = "Service",
    params(("environment" = String, Path, description = "The environment")),
    responses((status = 200, description = "The environment", body = EnvironmentSyncDetail), ProblemResponse),
)]
async fn sync_detail(
    State(app): State<App>,
    _reader: Reader,
    Path(environment): Path<String>,
) -> Result<Json<EnvironmentSyncDetail>, ProblemResponse> {
    let Some(found) = app.service.as_ref().and_then(|service| service.detail(&environment)) else {
        let known = app.service.as_ref().map(|service| service.states()).unwrap_or_default();
        let known = known.iter().map(|state| state.environment.as_str());
        return Err(ProblemResponse::from(UnknownEnvironment(environment.clone())).did_you_mean(&environment, known));
    };
    Ok(Json(found))
}

/// Sync now
///
/// One environment, or all of them. The answer comes before the sync ends.
#[utoipa::path(
    post,
    path = "/api/v1/sync",
    tag = "Service",
    request_body = SyncRequest,
    responses((status = 202, description = "They will be synced", body = SyncReceipt), ProblemResponse),
)]
async fn request_sync(
    State(app): State<App>,
    decider: Decider,
    body: Bytes,
) -> Result<(StatusCode, Json<SyncReceipt>), ProblemResponse> {
    let request = if body.is_empty() { SyncRequest::default() } else { parsed(&body)? };
    match &request.environment {
        Some(environment) => {
            decider.check(&app, Act::Operate, DecisionScope { environment, subject: None }).await?;
        }
        None => decider.check_everywhere(Act::Operate)?,
    }
    Ok((StatusCode::ACCEPTED, Json(service(&app)?.request_sync(&request)?)))
}

/// Confirm removals
///
/// Exactly the removals with this word, which the plan shows. Other removals need another confirmation.
#[utoipa::path(
    post,
    path = "/api/v1/confirmations",
    tag = "Service",
    request_body = Confirmation,
    responses((status = 202, description = "The environment will be synced", body = SyncReceipt), ProblemResponse),
)]
async fn confirm(
    State(app): State<App>,
    Administrator(identity): Administrator,
    body: Bytes,
) -> Result<(StatusCode, Json<SyncReceipt>), ProblemResponse> {
    let confirmation: Confirmation = parsed(&body)?;
    let receipt = service(&app)?.confirm(&confirmation, &identity.name)?;
    let detail = Some(json!({ "word": confirmation.word }));
    let record =
        AuditRecord { actor: &identity.name, action: Action::Confirm, subject: &confirmation.environment, detail };
    audit::note_done(&app.database, record).await?;
    Ok((StatusCode::ACCEPTED, Json(receipt)))
}

async fn webhook(
    State(app): State<App>,
    Path(kind): Path<String>,
    request: Request,
) -> Result<(StatusCode, Json<SyncReceipt>), ProblemResponse> {
    let busy = || ProblemResponse::new(ProblemType::Busy, "too many webhooks at once").retry_after(RETRY_AFTER);
    let _permit = app.webhook_room.try_acquire().map_err(|_| busy())?;
    let (Parts { headers, .. }, body) = request.into_parts();
    let body = tokio::time::timeout(BODY_TIMEOUT, axum::body::to_bytes(body, WEBHOOK_BYTES_MAX)).await;
    let body = body.map_err(|_| ProblemResponse::new(ProblemType::Slow, "the body did not arrive in time"))?;
    let too_large = |_| ProblemResponse::new(ProblemType::TooLarge, "the body is too large, or ended early");
    let body = body.map_err(too_large)?;
    let header = |name: &str| headers.get(name)?.to_str().ok().map(str::to_owned);
    let receipt = service(&app)?.receive_webhook(&kind, &header, &body)?;
    Ok((StatusCode::ACCEPTED, Json(receipt)))
}

fn service(app: &App) -> Result<&Arc<dyn SyncService>, ProblemResponse> {
    app.service.as_ref().ok_or_else(|| ProblemResponse::only_a_hub("it syncs no environment"))
}

fn parsed<T: serde::de::DeserializeOwned>(body: &[u8]) -> Result<T, ProblemResponse> {
    serde_json::from_slice(body)
        .map_err(|error| ProblemResponse::new(ProblemType::Malformed, format!("the request can't be read: {error}")))
}

impl From<UnknownEnvironment> for ProblemResponse {
    fn from(error: UnknownEnvironment) -> Self {
        Self::new(ProblemType::NotFound, error.to_string())
            .hint("GET /api/v1/syncs lists the environments of the service")
    }
}

impl From<ConfirmationError> for ProblemResponse {
    fn from(error: ConfirmationError) -> Self {
        match error {
            ConfirmationError::Unknown(error) => error.into(),
            ConfirmationError::OtherWord { .. } => Self::new(ProblemType::Unprocessable, error.to_string())
                .hint("GET /api/v1/syncs/ENVIRONMENT shows the removals and their word"),
            ConfirmationError::NotAllowed { .. } => Self::new(ProblemType::Forbidden, error.to_string())
                .hint("`service.confirm` of kalypso.toml lists who may"),
        }
    }
}

impl From<RefusedWebhook> for ProblemResponse {
    fn from(error: RefusedWebhook) -> Self {
        let kind = match error.status {
            401 => ProblemType::Unauthenticated,
            404 => ProblemType::NotFound,
            413 => ProblemType::TooLarge,
            429 => ProblemType::Busy,
            _ => ProblemType::Malformed,
        };
        Self::new(kind, error.to_string())
    }
}
