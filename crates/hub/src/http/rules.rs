//! The rules of the configuration.

use axum::Json;
use axum::extract::State;
use hub_api::rules::RuleState;

use super::operations::{Routes, operations};
use super::problem::ProblemResponse;
use super::{App, Reader};
use crate::rules;

pub(super) fn routes(routes: Routes) -> Routes {
    operations!(routes; rules)
}

/// Show the rules of the configuration
///
/// For each rule: its phase and since when, how many reconcilers it counted of how many, and its last notification.
#[utoipa::path(
    get,
    path = "/api/v1/rules",
    tag = "Questions",
    responses(
        (status = 200, description = "The rules", body = Vec<RuleState>),
        ProblemResponse,
    ),
)]
async fn rules(State(app): State<App>, _reader: Reader) -> Result<Json<Vec<RuleState>>, ProblemResponse> {
    Ok(Json(rules::states(&app.database, &app.rules.now()).await?))
}
