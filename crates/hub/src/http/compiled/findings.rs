//! What is wrong in an environment.

use axum::extract::Path;
use axum::response::Response;
use hub_api::compiled::{CompiledAnswer, CompiledFindings, FindingQuery};

use super::CompiledQuestion;
use crate::http::operations::{Routes, operations};
use crate::http::problem::ProblemResponse;
use crate::http::questions::NotAnswered;

pub(super) fn routes(routes: Routes) -> Routes {
    operations!(routes; findings)
}

/// List what is wrong in an environment
///
/// Errors first, each with its position, the lines there, advice, and the assignments that it affects. Also if not all of the environment can be read. A token for some workspaces gets what affects their assignments.
#[utoipa::path(
    get,
    path = "/api/v1/environments/{environment}/findings",
    tag = "Compiled environments",
    params(("environment" = String, Path, description = "The environment"), FindingQuery),
    responses((status = 200, description = "The findings", body = CompiledAnswer<CompiledFindings>), NotAnswered),
)]
async fn findings(
    Path(environment): Path<String>,
    question: CompiledQuestion<FindingQuery>,
) -> Result<Response, ProblemResponse> {
    question.ask(environment, |compiled, scope, query| compiled.findings(scope, &query)).await
}
