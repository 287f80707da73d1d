//! Hosts over HTTP: list, register, retire, restore.

use axum::Json;
use axum::extract::{FromRequestParts, State};
use http::StatusCode;
use http::request::Parts;
use hub_api::endpoint::Endpoint;
use hub_api::hosts::{ApartFilter, ApartReports, HostPage, HostRegistration, Hosts, ReconcilerOfHost};
use hub_api::limits::{PAGE_DEFAULT, PAGE_MAX};
use serde::Deserialize;
use utoipa::IntoParams;

use super::extract::{Body, Path, Query};
use super::operations::{Routes, operations};
use super::problem::{ProblemResponse, ProblemType};
use super::{App, Manager};
use crate::management::hosts::{
    self, HostFilter, HostPart, HostRegistrationError, ReconcilerRegistration, Registration,
};

pub(super) fn routes(routes: Routes) -> Routes {
    operations!(routes; list, register, retire, restore, apart)
}

/// The parameters of requests that retire or restore.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct OfHost {
    /// Only this reconciler of the host. Without it, the whole host.
    reconciler: Option<String>,
}

/// The host, or the reconciler of a host, that a manager retires or restores.
struct Subject {
    manager: String,
    host: String,
    reconciler: Option<String>,
}

impl Subject {
    fn part(&self) -> HostPart<'_> {
        HostPart { host: &self.host, reconciler: self.reconciler.as_deref() }
    }
}

impl FromRequestParts<App> for Subject {
    type Rejection = ProblemResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ProblemResponse> {
        let Manager(manager) = Manager::from_request_parts(parts, app).await?;
        let Path(host) = Path::from_request_parts(parts, app).await?;
        let Query(OfHost { reconciler }) = Query::from_request_parts(parts, app).await?;
        Ok(Self { manager: manager.name, host, reconciler })
    }
}

/// List hosts
///
/// With their reconcilers and labels, sorted by name.
#[utoipa::path(
    get,
    path = "/api/v1/hosts",
    tag = "Management",
    params(HostPage),
    responses(
        (status = 200, description = "A page of hosts", body = Hosts),
        ProblemResponse,
    ),
)]
async fn list(
    State(app): State<App>,
    _manager: Manager,
    Query(HostPage { after, retired, limit }): Query<HostPage>,
) -> Result<Json<Hosts>, ProblemResponse> {
    let limit = checked(limit)?;
    let filter = HostFilter { after, with_retired: retired, limit: limit + 1 };
    let mut items = hosts::list(&app.database, &filter).await?;
    let is_more = items.len() > limit;
    items.truncate(limit);
    let next = items.last().filter(|_| is_more).map(|host| host.name.clone());
    Ok(Json(Hosts { items, next }))
}

/// List reports that are kept apart
///
/// Tokens of hosts sent them about places that their hosts are not registered for. Nothing counts them. The newest come first.
#[utoipa::path(
    get,
    path = "/api/v1/apart-reports",
    tag = "Management",
    params(ApartFilter),
    responses(
        (status = 200, description = "The reports", body = ApartReports),
        ProblemResponse,
    ),
)]
async fn apart(
    State(app): State<App>,
    _manager: Manager,
    Query(ApartFilter { limit }): Query<ApartFilter>,
) -> Result<Json<ApartReports>, ProblemResponse> {
    let items = crate::management::apart::list(&app.database, checked(limit)?).await?;
    Ok(Json(ApartReports { items }))
}

/// The requested number of items of a list.
fn checked(limit: Option<usize>) -> Result<usize, ProblemResponse> {
    let limit = limit.unwrap_or(PAGE_DEFAULT);
    if (1..=PAGE_MAX).contains(&limit) {
        return Ok(limit);
    }
    Err(ProblemResponse::new(ProblemType::Malformed, format!("`limit`: {limit}; 1 to {PAGE_MAX} are possible")))
}

/// Register a host
///
/// Register a host before it reports, change its labels, or add a reconciler. A retired host stays retired.
#[utoipa::path(
    put,
    path = "/api/v1/hosts/{name}",
    tag = "Management",
    params(("name" = String, Path, description = "The host")),
    request_body = HostRegistration,
    responses(
        (status = 204, description = "Registered"),
        ProblemResponse,
    ),
)]
async fn register(
    State(app): State<App>,
    Manager(manager): Manager,
    Path(host): Path<String>,
    Body(HostRegistration { kind, labels, reconciler }): Body<HostRegistration>,
) -> Result<StatusCode, ProblemResponse> {
    let reconciler = reconciler.map(reconciler_registration).transpose()?;
    let registration = Registration { host, kind, labels, reconciler };
    hosts::register(&app.database, &registration, &manager.name).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn reconciler_registration(of_host: ReconcilerOfHost) -> Result<ReconcilerRegistration, ProblemResponse> {
    let place = of_host.place.map(|place| Endpoint::new(&place.repository, &place.branch, &place.path)).transpose();
    let place = place.map_err(|error| ProblemResponse::new(ProblemType::Unprocessable, error.to_string()))?;
    let kind = of_host.kind.unwrap_or_else(|| "generic".to_owned());
    Ok(ReconcilerRegistration { name: of_host.name, kind, place })
}

/// Take a host out of service
///
/// Or one of its reconcilers. It no longer counts in totals, but it stays in the history.
#[utoipa::path(
    post,
    path = "/api/v1/hosts/{name}/retire",
    tag = "Management",
    params(("name" = String, Path, description = "The host"), OfHost),
    responses(
        (status = 204, description = "Out of service"),
        ProblemResponse,
    ),
)]
async fn retire(State(app): State<App>, subject: Subject) -> Result<StatusCode, ProblemResponse> {
    hosts::retire(&app.database, subject.part(), &subject.manager).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Bring a host back into service
///
/// Or one of its reconcilers.
#[utoipa::path(
    post,
    path = "/api/v1/hosts/{name}/restore",
    tag = "Management",
    params(("name" = String, Path, description = "The host"), OfHost),
    responses(
        (status = 204, description = "In service"),
        ProblemResponse,
    ),
)]
async fn restore(State(app): State<App>, subject: Subject) -> Result<StatusCode, ProblemResponse> {
    hosts::restore(&app.database, subject.part(), &subject.manager).await?;
    Ok(StatusCode::NO_CONTENT)
}

impl From<HostRegistrationError> for ProblemResponse {
    fn from(error: HostRegistrationError) -> Self {
        let text = error.to_string();
        match error {
            HostRegistrationError::Text(_) => Self::new(ProblemType::Unprocessable, text),
            HostRegistrationError::Unknown { .. } => {
                Self::new(ProblemType::NotFound, text).hint("`GET /api/v1/hosts?retired=true` lists the hosts")
            }
            HostRegistrationError::Database(error) => error.into(),
        }
    }
}
