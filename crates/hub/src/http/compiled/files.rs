//! The rendered files of an assignment, and their differences.

use axum::extract::Path;
use axum::response::Response;
use hub_api::compiled::{AssignmentDifference, AssignmentFiles, CompiledAnswer, DifferenceQuery, FilesQuery};

use super::{AssignmentPath, CompiledQuestion, names};
use crate::http::operations::{Routes, operations};
use crate::http::problem::ProblemResponse;
use crate::http::questions::NotAnswered;

pub(super) fn routes(routes: Routes) -> Routes {
    let routes = operations!(routes; files);
    operations!(routes; difference)
}

/// Show the files of an assignment
///
/// As they are compiled now, or at a publication: a commit of the GitOps repository. Hidden values are not shown. Files that are not text, and large ones, are
/// named only.
#[utoipa::path(
    get,
    path = "/api/v1/environments/{environment}/assignments/{place}/{target}/files",
    tag = "Compiled environments",
    params(AssignmentPath, FilesQuery),
    responses((status = 200, description = "The files", body = CompiledAnswer<AssignmentFiles>), NotAnswered),
)]
async fn files(
    path: Path<AssignmentPath>,
    question: CompiledQuestion<FilesQuery>,
) -> Result<Response, ProblemResponse> {
    let (environment, name) = names(path);
    question.ask(environment, move |compiled, scope, query| compiled.files(scope, &name, &query)).await
}

/// Compare the files of an assignment
///
/// Between two publications, or between one and what is compiled now. Each file that differs has its difference in the format of `diff -u`.
#[utoipa::path(
    get,
    path = "/api/v1/environments/{environment}/assignments/{place}/{target}/difference",
    tag = "Compiled environments",
    params(AssignmentPath, DifferenceQuery),
    responses((status = 200, description = "The differences", body = CompiledAnswer<AssignmentDifference>), NotAnswered),
)]
async fn difference(
    path: Path<AssignmentPath>,
    question: CompiledQuestion<DifferenceQuery>,
) -> Result<Response, ProblemResponse> {
    let (environment, name) = names(path);
    question.ask(environment, move |compiled, scope, query| compiled.difference(scope, &name, &query)).await
}
