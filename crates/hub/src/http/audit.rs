//! The audit log over HTTP.

use axum::Json;
use axum::extract::State;
use hub_api::audit::{AuditEntries, AuditFilter};

use super::extract::Query;
use super::operations::{Routes, operations};
use super::problem::{ProblemResponse, ProblemType};
use super::{App, Manager};
use crate::management::audit::{self, AuditError};

pub(super) fn routes(routes: Routes) -> Routes {
    operations!(routes; entries)
}

/// Show the audit log
///
/// Who published, and who changed tokens and hosts: over the API and on command lines, the newest entries first.
#[utoipa::path(
    get,
    path = "/api/v1/audit",
    tag = "Management",
    params(AuditFilter),
    responses(
        (status = 200, description = "A page of what was done", body = AuditEntries),
        ProblemResponse,
    ),
)]
async fn entries(
    State(app): State<App>,
    _manager: Manager,
    Query(filter): Query<AuditFilter>,
) -> Result<Json<AuditEntries>, ProblemResponse> {
    Ok(Json(audit::entries(&app.database, &filter).await?))
}

impl From<AuditError> for ProblemResponse {
    fn from(error: AuditError) -> Self {
        match error {
            AuditError::Wrong(..) => Self::new(ProblemType::Malformed, error.to_string()),
            AuditError::Database(error) => error.into(),
        }
    }
}
