//! Sessions over HTTP: the caller's own one, and those of all people.

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use hub_api::sessions::{AuthenticationMethod, SessionOwner, SessionState, Sessions};
use hub_api::timestamp::Timestamp;

use super::caller::Authenticated;
use super::extract::Query;
use super::operations::{Routes, operations};
use super::problem::{ProblemResponse, ProblemType};
use super::{Administrator, App};
use crate::authentication::authority::{Authentication, Proof};
use crate::authentication::sessions;

pub(super) fn routes(routes: Routes) -> Routes {
    operations!(routes; state, list, end)
}

/// Show the caller's session
///
/// The name and all permissions of the caller, and when the session ends.
#[utoipa::path(
    get,
    path = "/api/v1/session",
    tag = "Management",
    responses(
        (status = 200, description = "The caller", body = SessionState),
        ProblemResponse,
    ),
)]
async fn state(Authenticated(Authentication { identity, proof }): Authenticated) -> Json<SessionState> {
    let (authentication, session) = match proof {
        Proof::Token(_) => (AuthenticationMethod::Token, None),
        Proof::Session(session) => (AuthenticationMethod::Session, Some(session)),
        Proof::Open => (AuthenticationMethod::Open, None),
    };
    Json(SessionState {
        name: identity.name,
        authentication,
        grants: identity.grants,
        idle_expires_on: session.as_ref().map(|session| session.idle_end()),
        expires_on: session.map(|session| session.ends_on),
    })
}

/// List sessions
///
/// Of all people who are signed in with a browser. For administrators.
#[utoipa::path(
    get,
    path = "/api/v1/sessions",
    tag = "Management",
    responses(
        (status = 200, description = "The sessions", body = Sessions),
        ProblemResponse,
    ),
)]
async fn list(State(app): State<App>, _administrator: Administrator) -> Result<Json<Sessions>, ProblemResponse> {
    Ok(Json(Sessions { items: sessions::list(&app.database, Timestamp::now()).await? }))
}

/// End the sessions of a person
///
/// At once, in every replica. For administrators. The person can sign in again: revoke the token, or close the account, too.
#[utoipa::path(
    delete,
    path = "/api/v1/sessions",
    tag = "Management",
    params(SessionOwner),
    responses(
        (status = 204, description = "Ended"),
        ProblemResponse,
    ),
)]
async fn end(
    State(app): State<App>,
    Administrator(administrator): Administrator,
    Query(SessionOwner { name }): Query<SessionOwner>,
) -> Result<StatusCode, ProblemResponse> {
    match sessions::end_of(&app.database, &name, &administrator.name).await? {
        0 => Err(ProblemResponse::new(ProblemType::NotFound, format!("`{name}` has no session"))
            .hint("`GET /api/v1/sessions` lists the sessions")),
        _ => Ok(StatusCode::NO_CONTENT),
    }
}
