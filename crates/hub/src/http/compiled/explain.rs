//! Why an assignment exists, and where its values come from.

use axum::extract::Path;
use axum::response::Response;
use hub_api::compiled::{CompiledAnswer, ExplainedAssignment};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{AssignmentPath, CompiledQuestion, names};
use crate::http::operations::{Routes, operations};
use crate::http::problem::ProblemResponse;
use crate::http::questions::NotAnswered;

pub(super) fn routes(routes: Routes) -> Routes {
    operations!(routes; explain)
}

/// What is explained.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Explained {
    /// Explain only the value with this key, and find the lines of the files that hold it.
    key: Option<String>,
}

/// Explain an assignment
///
/// The policies that make it, and for each value: what set it, what it overrides, and the schemas that check it, with files and lines.
#[utoipa::path(
    get,
    path = "/api/v1/environments/{environment}/assignments/{place}/{target}",
    tag = "Compiled environments",
    params(AssignmentPath, Explained),
    responses((status = 200, description = "The reasons", body = CompiledAnswer<ExplainedAssignment>), NotAnswered),
)]
async fn explain(
    path: Path<AssignmentPath>,
    question: CompiledQuestion<Explained>,
) -> Result<Response, ProblemResponse> {
    let (environment, name) = names(path);
    question.ask(environment, move |compiled, scope, of| compiled.explain(scope, &name, of.key.as_deref())).await
}
