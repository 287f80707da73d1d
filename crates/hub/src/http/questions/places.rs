//! The state of places.

use axum::extract::State;
use axum::response::Response;
use hub_api::filter::Filter;
use hub_api::places::{PlacePage, PlaceStates};

use super::super::App;
use super::super::operations::{Routes, operations};
use super::super::problem::ProblemResponse;
use super::super::question_request::QuestionRequest;
use super::{NotAnswered, Nothing};
use crate::questions;

pub(super) fn routes(routes: Routes) -> Routes {
    operations!(routes; place_states)
}

/// Show the state of places
///
/// For each folder of the platform's GitOps branches: the desired tree, and how many reconcilers have applied it. With a workload, the folders of its assignments:
/// a reconciler of the folder around it has its content if the commit that it holds has the same content there. The pages are large, so that the states of a
/// million places can be read in seconds.
#[utoipa::path(
    get,
    path = "/api/v1/places/states",
    tag = "Questions",
    params(Filter, PlacePage),
    responses(
        (status = 200, description = "A page of places", body = PlaceStates),
        NotAnswered,
    ),
)]
async fn place_states(State(app): State<App>, request: QuestionRequest<Nothing>) -> Result<Response, ProblemResponse> {
    request.answer(questions::place_states(&app.database, request.question(), &request.page).await)
}
