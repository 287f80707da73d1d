//! Drift: the reported content is not the desired content.

use axum::extract::State;
use axum::response::Response;
use hub_api::deployments::Deployments;
use hub_api::drift::Drift;
use hub_api::filter::Filter;
use hub_api::page::Page;

use super::super::App;
use super::super::extract::Path;
use super::super::operations::{Routes, operations};
use super::super::problem::ProblemResponse;
use super::super::question_request::QuestionRequest;
use super::{At, NotAnswered, Nothing};
use crate::questions;

pub(super) fn routes(routes: Routes) -> Routes {
    operations!(routes; drift, drift_hosts)
}

/// Show where the reported content is not the desired content
///
/// The content that has been desired for the longest time comes first. The answer also has the number of silent reconcilers, and the number of
/// reconcilers whose reports match no desired content.
#[utoipa::path(
    get,
    path = "/api/v1/drift",
    tag = "Questions",
    params(Filter, Page, At),
    responses(
        (status = 200, description = "The drift", body = Drift),
        NotAnswered,
    ),
)]
async fn drift(State(app): State<App>, request: QuestionRequest<At>) -> Result<Response, ProblemResponse> {
    request.answer(questions::drift(&app.database, request.question(), &request.page, request.more.at).await)
}

/// List reconcilers that are silent, or whose reports match no desired content
///
/// The kind is `silent`, `unknownContent`, `removedPlace` or `unknownPlace`.
#[utoipa::path(
    get,
    path = "/api/v1/drift/{kind}",
    tag = "Questions",
    params(("kind" = String, Path, description = "Whom it is about"), Filter, Page),
    responses(
        (status = 200, description = "A page of them", body = Deployments),
        NotAnswered,
    ),
)]
async fn drift_hosts(
    State(app): State<App>,
    Path(kind): Path<String>,
    request: QuestionRequest<Nothing>,
) -> Result<Response, ProblemResponse> {
    let kind = questions::drift_kind(&kind)?;
    request.answer(questions::drift_hosts(&app.database, kind, request.question(), &request.page).await)
}
