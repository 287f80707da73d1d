//! The routes of questions about compiled environments: one file for each question.

mod assignments;
mod contract;
mod explain;
mod files;
mod findings;
mod values;
mod why_not;

use std::sync::Arc;

use axum::extract::{FromRequestParts, Path};
use axum::response::Response;
use http::HeaderMap;
use http::request::Parts;
use hub_api::compiled::{AssignmentName, CompiledAnswer, CompiledEnvironments, CompiledRefusal, CompiledScope};
use hub_api::tokens::Reach;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use utoipa::IntoParams;

use super::App;
use super::caller::LimitedReader;
use super::operations::Routes;
use super::problem::{ProblemResponse, ProblemType};
use super::question_request::{answer, read, refuse_other};
use crate::limits::{COMPILED_AT_ONCE, COMPILED_RETRY, COMPILED_TIMEOUT, COMPILED_WAIT};

pub(super) fn routes(routes: Routes) -> Routes {
    let routes = assignments::routes(routes);
    let routes = explain::routes(routes);
    let routes = files::routes(routes);
    let routes = values::routes(routes);
    let routes = why_not::routes(routes);
    let routes = contract::routes(routes);
    findings::routes(routes)
}

/// The room for questions.
pub(super) fn room() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(COMPILED_AT_ONCE))
}

/// A question about a compiled environment: its parameters, and the reach of the token.
struct CompiledQuestion<T> {
    app: App,
    reach: Reach,
    headers: HeaderMap,
    parameters: T,
}

impl<T: DeserializeOwned + IntoParams> FromRequestParts<App> for CompiledQuestion<T> {
    type Rejection = ProblemResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ProblemResponse> {
        let LimitedReader(identity) = LimitedReader::from_request_parts(parts, app).await?;
        refuse_other(parts, &T::into_params(|| None))?;
        let reach = identity.scope.reach().clone();
        Ok(Self { app: app.clone(), reach, headers: parts.headers.clone(), parameters: read(parts)? })
    }
}

/// The result of a question to the program.
type Asked<A> = Result<CompiledAnswer<A>, CompiledRefusal>;

impl<T: Send + 'static> CompiledQuestion<T> {
    /// Asks the program in a thread that may block. If it takes too long, the thread goes on, and keeps its turn.
    async fn ask<A: Serialize + Send + 'static>(
        self,
        environment: String,
        ask: impl FnOnce(&dyn CompiledEnvironments, CompiledScope<'_>, T) -> Asked<A> + Send + 'static,
    ) -> Result<Response, ProblemResponse> {
        let Self { app, reach, headers, parameters } = self;
        let Some(compiled) = app.compiled else {
            return Err(ProblemResponse::only_a_hub("it compiles no environment"));
        };
        let turn = timeout(COMPILED_WAIT, app.compiled_room.acquire_owned()).await;
        let Ok(Ok(turn)) = turn else { return Err(busy("too many questions about compiled environments at once")) };
        let running = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            ask(&*compiled, CompiledScope { environment: &environment, reach: &reach }, parameters)
        });
        let Ok(ended) = timeout(COMPILED_TIMEOUT, running).await else {
            return Err(busy("the environment is still being read and compiled"));
        };
        let asked = ended.map_err(|error| ProblemResponse::new(ProblemType::Mistake, error.to_string()))?;
        answer(&headers, asked)
    }
}

fn busy(detail: &str) -> ProblemResponse {
    ProblemResponse::new(ProblemType::Unavailable, detail).hint("ask again").retry_after(COMPILED_RETRY)
}

/// The environment and the assignment of a path.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
struct AssignmentPath {
    /// The environment
    environment: String,
    /// The cluster type or cluster
    place: String,
    /// The deployment target
    target: String,
}

fn names(Path(AssignmentPath { environment, place, target }): Path<AssignmentPath>) -> (String, AssignmentName) {
    (environment, AssignmentName { place, target })
}

impl From<CompiledRefusal> for ProblemResponse {
    fn from(refusal: CompiledRefusal) -> Self {
        let (text, hints) = (refusal.to_string(), |hint: Option<String>| hint.into_iter());
        match refusal {
            CompiledRefusal::UnknownEnvironment { similar, .. } => {
                let similar = similar.map(|name| format!("did you mean `{name}`?"));
                let hint = similar.unwrap_or_else(|| "GET /api/v1/syncs lists the environments of the service".into());
                Self::new(ProblemType::NotFound, text).hint(hint)
            }
            CompiledRefusal::Unknown { hint, .. } => {
                hints(hint).fold(Self::new(ProblemType::NotFound, text), Self::hint)
            }
            CompiledRefusal::Wrong { hint, .. } => {
                hints(hint).fold(Self::new(ProblemType::Malformed, text), Self::hint)
            }
            CompiledRefusal::Unreadable { .. } => Self::new(ProblemType::Unavailable, text).retry_after(COMPILED_RETRY),
        }
    }
}
