//! The search for objects by words of their names.

use axum::extract::State;
use axum::response::Response;
use http::HeaderMap;
use hub_api::search::{SearchAnswer, SearchQuery};

use super::super::App;
use super::super::caller::LimitedReader;
use super::super::extract::Query;
use super::super::operations::{Routes, operations};
use super::super::problem::ProblemResponse;
use super::super::question_request::answer;
use super::NotAnswered;
use crate::questions;

pub(super) fn routes(routes: Routes) -> Routes {
    operations!(routes; search)
}

/// Search by name
///
/// Environments, workspaces, workloads, deployment targets, cluster types, hosts, versions and commits whose names match all words: the first ones of each kind.
#[utoipa::path(
    get,
    path = "/api/v1/search",
    tag = "Questions",
    params(SearchQuery),
    responses(
        (status = 200, description = "What was found", body = SearchAnswer),
        NotAnswered,
    ),
)]
async fn search(
    State(app): State<App>,
    LimitedReader(identity): LimitedReader,
    headers: HeaderMap,
    Query(query): Query<SearchQuery>,
) -> Result<Response, ProblemResponse> {
    answer(&headers, questions::search(&app.database, identity.scope.reach(), &query).await)
}
