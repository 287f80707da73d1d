//! The history of promotions.

use axum::Json;
use axum::extract::State;
use hub_api::limits::PROMOTION_EVENTS_MAX;
use hub_api::promotions::{PromotionEvent, PromotionEventFilter, PromotionEventPage, PromotionEventReceipt};

use super::App;
use super::caller::LimitedReader;
use super::extract::Query;
use super::operations::{Routes, operations};
use super::problem::{ProblemResponse, ProblemType};
use super::submission::Submission;
use crate::promotions::{RecordError, record};
use crate::questions;

pub(super) fn routes(routes: Routes) -> Routes {
    operations!(routes; record_events, list_events)
}

/// Append events to the history of promotions
///
/// A list of at most 1,000 events, for tokens that may publish. The sender makes the ids: an event that is stored already is left out, so that a request can be
/// repeated. All events are stored, or none. The audit log has the decisions of people among them.
#[utoipa::path(
    post,
    path = "/api/v1/promotion-events",
    tag = "Publications",
    request_body = Vec<PromotionEvent>,
    responses(
        (status = 200, description = "Stored: how many events are new", body = PromotionEventReceipt),
        ProblemResponse,
    ),
)]
async fn record_events(
    State(app): State<App>,
    submission: Submission,
) -> Result<Json<PromotionEventReceipt>, ProblemResponse> {
    submission.check_type(&["application/json"])?;
    let identity = &submission.identity;
    if !identity.may_publish() {
        let hint = "`kalypso hub token create NAME --role publish` makes a token for it";
        return Err(
            ProblemResponse::new(ProblemType::Forbidden, "this token is not for events of promotions").hint(hint)
        );
    }
    let events: Vec<PromotionEvent> = serde_json::from_slice(&submission.body)
        .map_err(|error| ProblemResponse::new(ProblemType::Malformed, format!("the events can't be read: {error}")))?;
    if events.len() > PROMOTION_EVENTS_MAX {
        let detail = format!("a request has at most {PROMOTION_EVENTS_MAX} events");
        return Err(ProblemResponse::new(ProblemType::TooLarge, detail).hint("send them in several requests"));
    }
    let reach = identity.scope.reach();
    if !reach.workspaces.is_empty() {
        let detail = format!("this token is limited to {reach}, and an event names no workspace");
        let hint = "use a token that is limited to environments only";
        return Err(ProblemResponse::new(ProblemType::Forbidden, detail).hint(hint));
    }
    if let Some(event) = events.iter().find(|event| !reach.has_environment(&event.environment)) {
        let detail =
            format!("this token is limited to {reach}: the event `{}` is about `{}`", event.id, event.environment);
        return Err(ProblemResponse::new(ProblemType::Forbidden, detail).hint("nothing was stored"));
    }
    Ok(Json(record(&app.database, &events, Some(&identity.name)).await?))
}

/// Show the history of promotions
///
/// Each decision of the controller and of people, with its evidence, the latest first. Tokens that are limited to workspaces get those about their workloads.
#[utoipa::path(
    get,
    path = "/api/v1/promotion-events",
    tag = "Questions",
    params(PromotionEventFilter),
    responses(
        (status = 200, description = "A page of events", body = PromotionEventPage),
        ProblemResponse,
    ),
)]
async fn list_events(
    State(app): State<App>,
    LimitedReader(identity): LimitedReader,
    Query(filter): Query<PromotionEventFilter>,
) -> Result<Json<PromotionEventPage>, ProblemResponse> {
    let reach = identity.scope.reach();
    Ok(Json(questions::promotion_events(&app.database, &filter, reach).await?))
}

impl From<RecordError> for ProblemResponse {
    fn from(error: RecordError) -> Self {
        match error {
            RecordError::Invalid(error) => Self::new(ProblemType::Unprocessable, error.to_string()),
            RecordError::Database(error) => error.into(),
        }
    }
}
