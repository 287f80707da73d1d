//! Promotions: where changes stand on their way through environments, and decisions of people.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use hub_api::audit::Action;
use hub_api::limits::{MESSAGE_CHARACTERS_MAX, NAME_CHARACTERS_MAX};
use hub_api::promotions::{PromotionCommand, PromotionReceipt, PromotionRefusal, PromotionService, PromotionStatus};
use hub_api::tokens::Reach;
use serde_json::json;

use super::App;
use super::caller::{Decider, DecisionScope, LimitedReader, workload_of};
use super::extract::{Body, Path};
use super::operations::{Routes, operations};
use super::problem::{ProblemResponse, ProblemType};
use crate::management::audit::{self, AuditRecord};
use crate::questions::workspaces_of_workloads;
use crate::store::{Database, DatabaseError};

pub(super) fn routes(routes: Routes) -> Routes {
    operations!(routes; promotions, promotion, command)
}

/// Show the promotions of all environments
///
/// For each environment, in the order of the graph: which changes it has, which one moves into it and through its rings, and what the move waits for. Empty if the
/// process is only a hub.
#[utoipa::path(
    get,
    path = "/api/v1/promotions",
    tag = "Service",
    responses((status = 200, description = "The environments", body = Vec<PromotionStatus>), ProblemResponse),
)]
async fn promotions(
    State(app): State<App>,
    LimitedReader(identity): LimitedReader,
) -> Result<Json<Vec<PromotionStatus>>, ProblemResponse> {
    let found = app.promotions.as_ref().map(|service| service.status(None)).unwrap_or_default();
    Ok(Json(within(&app.database, identity.scope.reach(), found).await?))
}

/// Show the promotions into one environment
#[utoipa::path(
    get,
    path = "/api/v1/promotions/{environment}",
    tag = "Service",
    params(("environment" = String, Path, description = "The environment")),
    responses((status = 200, description = "The environment", body = PromotionStatus), ProblemResponse),
)]
async fn promotion(
    State(app): State<App>,
    LimitedReader(identity): LimitedReader,
    Path(environment): Path<String>,
) -> Result<Json<PromotionStatus>, ProblemResponse> {
    let found = app.promotions.as_ref().map(|service| service.status(Some(&environment))).unwrap_or_default();
    let found = within(&app.database, identity.scope.reach(), found).await?;
    let found = found.into_iter().find(|status| status.environment == environment);
    found.map(Json).ok_or_else(|| unknown(&app, identity.scope.reach(), environment))
}

/// The problem of an unknown environment, with the most similar name within the reach of the caller.
fn unknown(app: &App, reach: &Reach, environment: String) -> ProblemResponse {
    let known = environments(app, reach);
    let problem = ProblemResponse::from(PromotionRefusal::UnknownEnvironment(environment.clone()));
    problem.did_you_mean(&environment, known.iter().map(String::as_str))
}

/// The part of the promotions that a reader may see: in its environments, and if it is limited to workspaces, about their workloads.
async fn within(
    database: &Database,
    reach: &Reach,
    mut found: Vec<PromotionStatus>,
) -> Result<Vec<PromotionStatus>, DatabaseError> {
    found.retain(|status| reach.has_environment(&status.environment));
    for status in &mut found {
        status.before.retain(|name| reach.has_environment(name));
        status.after.retain(|name| reach.has_environment(name));
        if !reach.workspaces.is_empty() {
            let workspaces = workspaces_of_workloads(database, &status.environment).await?;
            let is_own = |workload: &str| workspaces.get(workload).is_some_and(|all| reach.has_workspaces(all));
            // What its whole output waits for names workloads of others.
            (status.problem, status.waiting_for) = (None, Vec::new());
            status.subjects.retain(|subject| subject.subject.as_deref().map(workload_of).is_some_and(is_own));
        }
    }
    Ok(found)
}

/// Decide about a move
///
/// `hold`, `resume`, `abort`, `retry`, `skip`, `approve`, `rollback` or `promote`, for one workload or for the commits of the platform. An approval without a subject is for
/// the only change that waits for approvals. It is refused if it does not count. The answer comes when the decision is stored, before anything moves.
#[utoipa::path(
    post,
    path = "/api/v1/promotions/{environment}/commands",
    tag = "Service",
    params(("environment" = String, Path, description = "The environment")),
    request_body = PromotionCommand,
    responses((status = 202, description = "The decision is stored", body = PromotionReceipt), ProblemResponse),
)]
async fn command(
    State(app): State<App>,
    decider: Decider,
    Path(environment): Path<String>,
    Body(command): Body<PromotionCommand>,
) -> Result<(StatusCode, Json<PromotionReceipt>), ProblemResponse> {
    check(&command)?;
    let subject = command.subject.clone();
    let scope = DecisionScope { environment: &environment, subject: subject.as_deref() };
    decider.check(&app, command.command.act(), scope).await?;
    let Decider(identity) = decider;
    let decision = Decision { environment: environment.clone(), command, by: identity.name };
    let work = decision.carry_out(Arc::clone(service(&app)?), app.database.clone());
    // A caller that does not wait for the answer must not keep the decision out of the audit log.
    let receipt = tokio::spawn(work).await;
    let receipt = receipt.map_err(|error| ProblemResponse::new(ProblemType::Mistake, error.to_string()))?;
    match receipt {
        Err(problem) if problem.what() == ProblemType::NotFound => {
            Err(with_known_names(&app, identity.scope.reach(), scope, problem).await?)
        }
        receipt => Ok((StatusCode::ACCEPTED, Json(receipt?))),
    }
}

/// Adds the most similar environment to the problem of an unknown one; or the most similar subject of the environment. Only those within the reach of the caller.
async fn with_known_names(
    app: &App,
    reach: &Reach,
    DecisionScope { environment, subject }: DecisionScope<'_>,
    problem: ProblemResponse,
) -> Result<ProblemResponse, DatabaseError> {
    let known = app.promotions.as_ref().map(|service| service.status(None)).unwrap_or_default();
    let known = within(&app.database, reach, known).await?;
    Ok(match (known.iter().find(|status| status.environment == environment), subject) {
        (Some(status), Some(subject)) => {
            problem.did_you_mean(subject, status.subjects.iter().filter_map(|one| one.subject.as_deref()))
        }
        (Some(_), None) => problem,
        (None, _) => {
            let known = environments(app, reach);
            // The service has an environment without promotions: then the subject is unknown.
            let is_known = known.contains(environment);
            if is_known { problem } else { problem.did_you_mean(environment, known.iter().map(String::as_str)) }
        }
    })
}

/// The environments of the service within a reach: also those without promotions.
fn environments(app: &App, reach: &Reach) -> BTreeSet<String> {
    let promoted = app.promotions.as_ref().map(|service| service.status(None)).unwrap_or_default();
    let synced = app.service.as_ref().map(|service| service.states()).unwrap_or_default();
    let names = promoted.into_iter().map(|status| status.environment);
    let names = names.chain(synced.into_iter().map(|state| state.environment));
    names.filter(|name| reach.has_environment(name)).collect()
}

/// A command of a person in an environment.
struct Decision {
    environment: String,
    command: PromotionCommand,
    by: String,
}

impl Decision {
    /// Carries out the command, and notes it in the audit log.
    async fn carry_out(
        self,
        service: Arc<dyn PromotionService>,
        database: Database,
    ) -> Result<PromotionReceipt, ProblemResponse> {
        let Self { environment, command, by } = self;
        let (named, asked, asker) = (environment.clone(), command.clone(), by.clone());
        // Storing a decision pushes a commit, which takes seconds.
        let carried_out = tokio::task::spawn_blocking(move || service.command(&named, &asked, &asker)).await;
        let receipt = carried_out.map_err(|error| ProblemResponse::new(ProblemType::Mistake, error.to_string()))??;
        let PromotionCommand { subject, command, revision, to, with_values, gate, reason } = command;
        let revision = receipt.revision.clone().or(revision);
        let mut detail =
            json!({ "command": command, "subject": subject, "revision": revision, "gate": gate, "reason": reason });
        // Only a rollback has them.
        if let Some(fields) = detail.as_object_mut() {
            fields.extend(to.map(|to| ("to".to_owned(), to.into())));
            fields.extend(with_values.then(|| ("withValues".to_owned(), true.into())));
        }
        let action = Action::Promotion;
        let record = AuditRecord { actor: &by, action, subject: &environment, detail: Some(detail) };
        audit::note_done(&database, record).await?;
        Ok(receipt)
    }
}

/// Refuses a command that is incomplete, or whose texts are too long to be kept.
fn check(command: &PromotionCommand) -> Result<(), ProblemResponse> {
    if let Some(missing) = command.missing() {
        let detail = format!("`{}` needs `{missing}`", command.command.as_str());
        return Err(ProblemResponse::new(ProblemType::Unprocessable, detail));
    }
    let texts = [
        ("subject", &command.subject, NAME_CHARACTERS_MAX),
        ("revision", &command.revision, NAME_CHARACTERS_MAX),
        ("to", &command.to, NAME_CHARACTERS_MAX),
        ("gate", &command.gate, NAME_CHARACTERS_MAX),
        ("reason", &command.reason, MESSAGE_CHARACTERS_MAX),
    ];
    for (field, text, characters) in texts {
        let Some(text) = text else { continue };
        if text.chars().count() > characters || text.contains('\0') {
            let detail = format!("`{field}` has more than {characters} characters, or contains NUL");
            return Err(ProblemResponse::new(ProblemType::Unprocessable, detail));
        }
    }
    Ok(())
}

fn service(app: &App) -> Result<&Arc<dyn PromotionService>, ProblemResponse> {
    app.promotions.as_ref().ok_or_else(|| ProblemResponse::only_a_hub("it promotes nothing"))
}

impl From<PromotionRefusal> for ProblemResponse {
    fn from(refusal: PromotionRefusal) -> Self {
        let kind = match refusal {
            PromotionRefusal::UnknownEnvironment(_) | PromotionRefusal::UnknownSubject { .. } => ProblemType::NotFound,
            PromotionRefusal::NotPossible(_) => ProblemType::Unprocessable,
            PromotionRefusal::NotAllowed(_) => ProblemType::Forbidden,
            PromotionRefusal::Unavailable(_) => ProblemType::Unavailable,
        };
        let problem = Self::new(kind, refusal.to_string());
        match kind {
            ProblemType::NotFound => {
                problem.hint("GET /api/v1/promotions lists the environments and what moves into them")
            }
            _ => problem,
        }
    }
}
