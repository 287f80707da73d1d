//! The routes that receive reports: in the generic format, and in the formats of reconcilers.

use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::State;
use hub_api::report::ReportError;
use hub_api::report::batch::{Batch, BodyError, Refused, ReportPosition};
use hub_api::report::generic;
use hub_api::report::receipt::Receipt;
use hub_api::timestamp::Timestamp;
use tokio::time::timeout;

use super::App;
use super::metrics::Source;
use super::operations::{Routes, operations};
use super::problem::{ProblemResponse, ProblemType};
use super::submission::Submission;
use crate::authentication::tokens::{self, Identity};
use crate::ingest::ReportOutcome;
use crate::limits::SUBMIT_TIMEOUT;
use crate::report_formats;

/// The `Retry-After` of a request whose reports are not stored yet.
const LATE_RETRY: Duration = Duration::from_secs(5);

pub(super) fn routes(routes: Routes) -> Routes {
    operations!(routes; report, report_flux, report_argocd)
}

/// Report the state of reconcilers
///
/// The body is one report, a list of reports, or one report on each line (NDJSON). After the answer 200, all reports that are not in `refused` are stored
/// durably. A report that is sent twice is stored once. A token of hosts counts only at the places that its hosts are registered for: other reports are
/// in `apart`, and nothing counts them.
#[utoipa::path(
    post,
    path = "/api/v1/reports",
    tag = "Reports",
    request_body(content((serde_json::Value = "application/json"), (String = "application/x-ndjson")), description = "The reports, possibly with gzip"),
    responses(
        (status = 200, description = "Stored", body = Receipt),
        (status = 400, description = "It can't be read", body = hub_api::problem::Problem, content_type = "application/problem+json"),
        (status = 401, description = "The token is missing or not good", body = hub_api::problem::Problem, content_type = "application/problem+json"),
        (status = 403, description = "The token is not for these reports", body = hub_api::problem::Problem, content_type = "application/problem+json"),
        (status = 408, description = "The body took too long", body = hub_api::problem::Problem, content_type = "application/problem+json"),
        (status = 413, description = "The body is too large", body = hub_api::problem::Problem, content_type = "application/problem+json"),
        (status = 415, description = "The format is not supported", body = hub_api::problem::Problem, content_type = "application/problem+json"),
        (status = 422, description = "None of the reports can be right", body = hub_api::problem::Problem, content_type = "application/problem+json"),
        (status = 429, description = "Too many reports wait already; send it again after the time in `Retry-After`", body = hub_api::problem::Problem, content_type = "application/problem+json"),
        (status = 503, description = "It can't be stored now; send it again after the time in `Retry-After`", body = hub_api::problem::Problem, content_type = "application/problem+json"),
    ),
)]
async fn report(State(app): State<App>, submission: Submission) -> Result<Json<Receipt>, ProblemResponse> {
    submission.check_type(&["application/json", "application/x-ndjson", "application/ndjson", "application/jsonl"])?;
    let batch = generic::read(&submission.body, Timestamp::now())?;
    take(&app, Source::Generic, &submission.identity, batch).await.map(Receipt::from).map(Json)
}

/// Events of Flux' notification-controller
///
/// The body is what the providers `generic` and `generic-hmac` send.
#[utoipa::path(
    post,
    path = "/api/v1/reports/flux",
    tag = "Reports",
    params(("token" = Option<String>, Query, description = "The id of the token whose key signs the body")),
    request_body(content = serde_json::Value, content_type = "application/json", description = "One event"),
    security(("token" = []), ("signature" = [])),
    responses(
        (status = 200, description = "Stored, or no report at all", body = Receipt),
        ProblemResponse,
    ),
)]
async fn report_flux(State(app): State<App>, submission: Submission) -> Result<Json<Receipt>, ProblemResponse> {
    submission.check_type(&["application/json"])?;
    let batch = report_formats::flux::read(&submission.body, Timestamp::now())?;
    take(&app, Source::Flux, &submission.identity, batch).await.map(Receipt::from).map(Json)
}

/// Notifications of Argo CD
///
/// The body is made with the template in `deploy/argocd`.
#[utoipa::path(
    post,
    path = "/api/v1/reports/argocd",
    tag = "Reports",
    request_body(content = serde_json::Value, content_type = "application/json", description = "One notification"),
    responses(
        (status = 200, description = "Stored", body = Receipt),
        ProblemResponse,
    ),
)]
async fn report_argocd(State(app): State<App>, submission: Submission) -> Result<Json<Receipt>, ProblemResponse> {
    submission.check_type(&["application/json"])?;
    let batch = report_formats::argocd::read(&submission.body, Timestamp::now())?;
    take(&app, Source::Argocd, &submission.identity, batch).await.map(Receipt::from).map(Json)
}

impl From<BodyError> for ProblemResponse {
    fn from(error: BodyError) -> Self {
        let kind = if matches!(error, BodyError::TooMany(_)) { ProblemType::TooLarge } else { ProblemType::Malformed };
        Self::new(kind, error.to_string())
    }
}

/// The result of storing the reports of a request.
#[derive(Debug, Default)]
pub(super) struct Taken {
    outcomes: Vec<ReportOutcome>,
    ignored: usize,
    /// The reports that were refused.
    pub(super) refused: Vec<Refused>,
    /// The reports that are kept apart, with the reasons.
    pub(super) apart: Vec<Refused>,
}

/// Stores the reports that are valid and that the caller has the permission to send. Returns the result for each. If no report is left, the result is
/// a problem.
pub(super) async fn take(
    app: &App,
    source: Source,
    identity: &Identity,
    batch: Batch,
) -> Result<Taken, ProblemResponse> {
    let started = Instant::now();
    let now = Timestamp::now();
    let ignored = batch.ignored();
    let (mut claimed, mut forbidden) = (0, 0);
    let batch = batch.and_then(|report| {
        claimed += 1;
        tokens::claim(identity, report).inspect_err(|_| forbidden += 1)
    });
    let batch = batch.and_then(|report| report.check(now));
    let positions = batch.accepted_positions();
    let (reports, refused) = batch.into_parts();
    app.metrics.refused(source, refused.len());
    if let (true, Some(first)) = (reports.is_empty(), refused.first()) {
        let kind =
            if forbidden > 0 && forbidden == claimed { ProblemType::Forbidden } else { ProblemType::Unprocessable };
        return Err(ProblemResponse::new(kind, first.error.to_string()).refused(refused));
    }
    if reports.is_empty() {
        return Ok(Taken { ignored, ..Taken::default() });
    }
    let sent = reports.len();
    let stored = timeout(SUBMIT_TIMEOUT, app.ingest.submit_from(identity, reports)).await;
    let stored = stored.map_err(|_| late())?;
    app.metrics.submitted(source, sent, &stored);
    app.metrics.stored(started.elapsed());
    let outcomes = stored?.outcomes;
    let apart = apart(&outcomes, &positions);
    if let Some(first) = apart.first() {
        let (token, reports) = (&identity.name, apart.len());
        tracing::warn!(token, reports, reason = first.error.message, "reports are kept apart and not counted");
    }
    Ok(Taken { outcomes, ignored, refused, apart })
}

/// The reports that are kept apart, with the reasons.
fn apart(outcomes: &[ReportOutcome], positions: &[ReportPosition]) -> Vec<Refused> {
    let apart = |(outcome, position): (&ReportOutcome, &ReportPosition)| match outcome {
        ReportOutcome::Apart(reason) => {
            Some(Refused { position: *position, error: ReportError::new("place", reason.message()) })
        }
        ReportOutcome::Stored | ReportOutcome::Confirmed | ReportOutcome::Repeated => None,
    };
    outcomes.iter().zip(positions).filter_map(apart).collect()
}

fn late() -> ProblemResponse {
    let detail = format!("storing takes longer than {} s, and may still succeed", SUBMIT_TIMEOUT.as_secs());
    ProblemResponse::new(ProblemType::Unavailable, detail)
        .hint("send it again: a repeated report is stored once")
        .retry_after(LATE_RETRY)
}

impl From<Taken> for Receipt {
    fn from(taken: Taken) -> Self {
        let count = |outcome| taken.outcomes.iter().filter(|other| **other == outcome).count();
        Self {
            stored: count(ReportOutcome::Stored),
            confirmed: count(ReportOutcome::Confirmed),
            repeated: count(ReportOutcome::Repeated),
            ignored: taken.ignored,
            refused: taken.refused.into_iter().map(Into::into).collect(),
            apart: taken.apart.into_iter().map(Into::into).collect(),
        }
    }
}
