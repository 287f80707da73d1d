//! Tokens over HTTP: list, create, revoke.

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use hub_api::tokens::{
    Act, Caller, CreatedToken, Group, HostScope, Reach, Scope, Token, TokenRequest, TokenRole, Tokens,
};

use super::caller::Anyone;
use super::extract::{Body, Path};
use super::operations::{Routes, operations};
use super::problem::{ProblemResponse, ProblemType};
use super::{App, Manager};
use crate::authentication::tokens::{self, Identity, NewToken, TokenError};

pub(super) fn routes(routes: Routes) -> Routes {
    operations!(routes; caller, list, create, revoke)
}

/// Show the caller
///
/// The name and the permissions of the token of this request.
#[utoipa::path(
    get,
    path = "/api/v1/caller",
    tag = "Management",
    responses(
        (status = 200, description = "The caller", body = Caller),
        ProblemResponse,
    ),
)]
async fn caller(Anyone(Identity { name, scope, .. }): Anyone) -> Json<Caller> {
    Json(Caller { name, scope })
}

/// List tokens
///
/// Without their secrets: the hub stores only digests of them.
#[utoipa::path(
    get,
    path = "/api/v1/tokens",
    tag = "Management",
    responses(
        (status = 200, description = "The tokens", body = Tokens),
        ProblemResponse,
    ),
)]
async fn list(State(app): State<App>, _manager: Manager) -> Result<Json<Tokens>, ProblemResponse> {
    Ok(Json(Tokens { items: tokens::list(&app.database).await? }))
}

/// Create a token
///
/// Only this answer contains the text of the token.
#[utoipa::path(
    post,
    path = "/api/v1/tokens",
    tag = "Management",
    request_body = TokenRequest,
    responses(
        (status = 201, description = "Created", body = CreatedToken),
        ProblemResponse,
    ),
)]
async fn create(
    State(app): State<App>,
    Manager(manager): Manager,
    Body(request): Body<TokenRequest>,
) -> Result<(StatusCode, Json<CreatedToken>), ProblemResponse> {
    let token = new_token(request)?;
    check_may_give(&manager, &token.scope)?;
    let text = tokens::create(&app.database, &token, &manager.name).await?;
    let signing_key = token.signs.then(|| text.signing_key().reveal().to_owned());
    let created = CreatedToken { id: text.id().to_owned(), name: token.name, token: text.reveal(), signing_key };
    Ok((StatusCode::CREATED, Json(created)))
}

/// Revoke a token
///
/// Within five seconds, no replica accepts it any more.
#[utoipa::path(
    delete,
    path = "/api/v1/tokens/{name}",
    tag = "Management",
    params(("name" = String, Path, description = "Its name or id")),
    responses(
        (status = 204, description = "Revoked"),
        ProblemResponse,
    ),
)]
async fn revoke(
    State(app): State<App>,
    Manager(manager): Manager,
    Path(name): Path<String>,
) -> Result<StatusCode, ProblemResponse> {
    let known = tokens::list(&app.database).await?;
    let is_named = |token: &&Token| token.revoked_on.is_none() && (token.name == name || token.id == name);
    known.iter().filter(is_named).try_for_each(|token| check_may_give(&manager, &token.scope))?;
    tokens::revoke(&app.database, &name, &manager.name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Refuses to create or revoke a token with more rights than the caller has.
fn check_may_give(manager: &Identity, scope: &Scope) -> Result<(), ProblemResponse> {
    let decides = scope.may(Act::Approve) || *scope == Scope::Manage;
    if manager.may_administer() || !decides {
        return Ok(());
    }
    let detail =
        "only administrators create and revoke tokens with the roles `approver`, `operator`, `manage` and `admin`";
    Err(ProblemResponse::new(ProblemType::Forbidden, detail))
}

fn new_token(request: TokenRequest) -> Result<NewToken, ProblemResponse> {
    let wrong = |detail: &str| Err(ProblemResponse::new(ProblemType::Unprocessable, detail));
    let is_of_group = !request.reconciler_types.is_empty() || !request.labels.is_empty();
    let is_of_hosts = matches!(request.role, TokenRole::Host | TokenRole::Group);
    let (places, environments) = (request.places, request.environments.clone());
    let reach = Reach { workspaces: request.workspaces, environments: request.environments };
    if request.host.is_some() != (request.role == TokenRole::Host) {
        return wrong("`host` belongs to the role `host`, and to no other");
    }
    if request.hosts.is_some() != (request.role == TokenRole::Group) || is_of_group && request.role != TokenRole::Group
    {
        return wrong("`hosts`, `reconcilerTypes` and `labels` belong to the role `group`, which needs `hosts`");
    }
    if !places.is_empty() && !is_of_hosts {
        return wrong("`places` belong to the roles `host` and `group`");
    }
    let is_limited =
        matches!(request.role, TokenRole::Read | TokenRole::Approver | TokenRole::Operator | TokenRole::Publish);
    if !reach.workspaces.is_empty() && !is_limited || !reach.environments.is_empty() && !is_limited && !is_of_hosts {
        return wrong(
            "`workspaces` belong to the roles `read`, `approver`, `operator` and `publish`, and `environments` to these, `host` and `group`",
        );
    }
    let scope = match request.role {
        TokenRole::Host => Scope::Host(HostScope { host: request.host.unwrap_or_default(), places, environments }),
        TokenRole::Group => Scope::Group(Group {
            hosts: request.hosts.unwrap_or_default(),
            reconciler_types: request.reconciler_types,
            places,
            labels: request.labels,
            environments,
        }),
        TokenRole::Read => Scope::Read(reach),
        TokenRole::Approver => Scope::Approver(reach),
        TokenRole::Operator => Scope::Operator(reach),
        TokenRole::Publish => Scope::Publish(reach),
        TokenRole::Manage => Scope::Manage,
        TokenRole::Admin => Scope::Admin,
    };
    Ok(NewToken { name: request.name, scope, signs: request.signs, expires_on: request.expires_on })
}

impl From<TokenError> for ProblemResponse {
    fn from(error: TokenError) -> Self {
        let text = error.to_string();
        match error {
            TokenError::Name(_) | TokenError::Signing | TokenError::Reach => {
                Self::new(ProblemType::Unprocessable, text)
            }
            TokenError::Taken(_) => {
                Self::new(ProblemType::Ambiguous, text).hint("revoke it first, or take another name")
            }
            TokenError::Unknown(_) => {
                Self::new(ProblemType::NotFound, text).hint("`GET /api/v1/tokens` lists the tokens")
            }
            TokenError::Random(_) => Self::new(ProblemType::Unavailable, text),
            TokenError::Database(error) => error.into(),
        }
    }
}
