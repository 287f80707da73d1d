//! The assignments of an environment.

use axum::extract::Path;
use axum::response::Response;
use hub_api::compiled::{AssignmentQuery, CompiledAnswer, CompiledAssignments};

use super::CompiledQuestion;
use crate::http::operations::{Routes, operations};
use crate::http::problem::ProblemResponse;
use crate::http::questions::NotAnswered;

pub(super) fn routes(routes: Routes) -> Routes {
    operations!(routes; assignments)
}

/// List the assignments of an environment
///
/// What runs where, and what fails, by cluster type or cluster, or by target. `total` counts all that match, `all` those of the environment.
#[utoipa::path(
    get,
    path = "/api/v1/environments/{environment}/assignments",
    tag = "Compiled environments",
    params(("environment" = String, Path, description = "The environment"), AssignmentQuery),
    responses((status = 200, description = "The assignments", body = CompiledAnswer<CompiledAssignments>), NotAnswered),
)]
async fn assignments(
    Path(environment): Path<String>,
    question: CompiledQuestion<AssignmentQuery>,
) -> Result<Response, ProblemResponse> {
    question.ask(environment, |compiled, scope, query| compiled.assignments(scope, &query)).await
}
