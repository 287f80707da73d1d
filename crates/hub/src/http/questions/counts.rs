//! The counts of reconcilers by the values of one or two dimensions.

use axum::extract::State;
use axum::response::Response;
use hub_api::counts::{CountQuery, CountTable};
use hub_api::filter::Filter;
use hub_api::page::Page;

use super::super::App;
use super::super::operations::{Routes, operations};
use super::super::problem::{ProblemResponse, ProblemType};
use super::super::question_request::QuestionRequest;
use super::NotAnswered;
use crate::questions;

pub(super) fn routes(routes: Routes) -> Routes {
    operations!(routes; counts)
}

/// Count reconcilers by one or two dimensions
///
/// How many reconcilers are in each rollout state, for each value of the dimension of the rows, and for each value of that of the columns: for example versions
/// in environments, or workloads in regions. At most `rowLimit` rows and `columnLimit` columns come; the answer also has their number, and what the others add up
/// to. To count by hosts or by their labels, hosts are counted one by one, and only some of such queries at a time: the status is 429 if they are too many. By `host`,
/// at most 5000 selected hosts or 50000 reconcilers are counted.
#[utoipa::path(
    get,
    path = "/api/v1/counts",
    tag = "Questions",
    params(Filter, CountQuery),
    responses(
        (status = 200, description = "The counts", body = CountTable),
        NotAnswered,
    ),
)]
async fn counts(State(app): State<App>, request: QuestionRequest<CountQuery>) -> Result<Response, ProblemResponse> {
    if request.page != Page::default() {
        let problem = ProblemResponse::new(ProblemType::Malformed, "there is no parameter `cursor` or `limit` here");
        return Err(problem.hint("counts have no pages; `rowLimit` and `columnLimit` set how many there are"));
    }
    request.answer(questions::counts(&app.database, request.question(), &request.more).await)
}
