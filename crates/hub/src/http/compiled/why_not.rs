//! Why an assignment does not exist.

use axum::extract::Path;
use axum::response::Response;
use hub_api::compiled::{CompiledAnswer, WhyNotFields, WhyNotQuery};

use super::CompiledQuestion;
use crate::http::operations::{Routes, operations};
use crate::http::problem::ProblemResponse;
use crate::http::questions::NotAnswered;

pub(super) fn routes(routes: Routes) -> Routes {
    operations!(routes; why_not)
}

/// Explain why an assignment does not exist
///
/// Or why a `ConfigMap` or a schema does not apply to it: the requirements that are not met, the nearest policies, and changes after which it would. A name that does not exist is in `obstacles`, with the most similar one.
#[utoipa::path(
    get,
    path = "/api/v1/environments/{environment}/why-not",
    tag = "Compiled environments",
    params(("environment" = String, Path, description = "The environment"), WhyNotQuery),
    responses((status = 200, description = "The reasons", body = CompiledAnswer<WhyNotFields>), NotAnswered),
)]
async fn why_not(
    Path(environment): Path<String>,
    question: CompiledQuestion<WhyNotQuery>,
) -> Result<Response, ProblemResponse> {
    question.ask(environment, |compiled, scope, query| compiled.why_not(scope, &query)).await
}
