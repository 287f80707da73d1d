//! The values that workloads ask for, and the values that the platform gives.

use axum::extract::Path;
use axum::response::Response;
use hub_api::compiled::{CompiledAnswer, ContractFields, ContractQuery};

use super::CompiledQuestion;
use crate::http::operations::{Routes, operations};
use crate::http::problem::ProblemResponse;
use crate::http::questions::NotAnswered;

pub(super) fn routes(routes: Routes) -> Routes {
    operations!(routes; contract)
}

/// Show the values that workloads ask for
///
/// For each value: the schemas that ask for it, the assignments that get it or miss it, and the `ConfigMap`s that give it.
#[utoipa::path(
    get,
    path = "/api/v1/environments/{environment}/contract",
    tag = "Compiled environments",
    params(("environment" = String, Path, description = "The environment"), ContractQuery),
    responses((status = 200, description = "The contract", body = CompiledAnswer<ContractFields>), NotAnswered),
)]
async fn contract(
    Path(environment): Path<String>,
    question: CompiledQuestion<ContractQuery>,
) -> Result<Response, ProblemResponse> {
    question.ask(environment, |compiled, scope, query| compiled.contract(scope, &query)).await
}
