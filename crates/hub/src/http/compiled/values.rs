//! Values of an environment, found by their keys and texts.

use axum::extract::Path;
use axum::response::Response;
use hub_api::compiled::{CompiledAnswer, CompiledValues, ValueQuery};

use super::CompiledQuestion;
use crate::http::operations::{Routes, operations};
use crate::http::problem::ProblemResponse;
use crate::http::questions::NotAnswered;

pub(super) fn routes(routes: Routes) -> Routes {
    operations!(routes; values)
}

/// Find values of an environment
///
/// By a part of the key or of the value: what sets each, where that is written, and the assignments that have it. Hidden values are found only by their keys.
#[utoipa::path(
    get,
    path = "/api/v1/environments/{environment}/values",
    tag = "Compiled environments",
    params(("environment" = String, Path, description = "The environment"), ValueQuery),
    responses((status = 200, description = "The values", body = CompiledAnswer<CompiledValues>), NotAnswered),
)]
async fn values(
    Path(environment): Path<String>,
    question: CompiledQuestion<ValueQuery>,
) -> Result<Response, ProblemResponse> {
    question.ask(environment, |compiled, scope, query| compiled.values(scope, &query)).await
}
