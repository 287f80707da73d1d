//! Tokens over HTTP: listed, created, revoked.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use hub_api::timestamp::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Body, Path};
use super::problem::{Kind, Problem};
use super::{App, Manager};
use crate::tokens::{self, Group, Identity, NewToken, Reach, Scope, Token, TokenError};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(create)).routes(routes!(revoke))
}

/// The tokens, by name; revoked ones too.
#[derive(Serialize, ToSchema)]
struct Tokens {
    /// They, without their secrets.
    items: Vec<Token>,
}

/// What a token is to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TokenRequest {
    /// Its name, unique among those that are not revoked.
    name: String,
    /// `host`, `group`, `read`, `publish`, `manage` or `admin`. Only administrators create the last two.
    role: Role,
    /// With `host`: the host that it reports for.
    host: Option<String>,
    /// With `group`: the pattern of the hosts that it reports for; `*` stands for any characters.
    hosts: Option<String>,
    /// With `group`: the types of reconcilers that may report; all if there is none.
    #[serde(default)]
    reconciler_types: Vec<String>,
    /// With `group`: what the endpoints of the reported places begin with; all if there is none.
    #[serde(default)]
    places: Vec<String>,
    /// With `group`: labels that the hosts get.
    #[serde(default)]
    labels: BTreeMap<String, String>,
    /// With `read` and `publish`: only what is of these workspaces; all if there is none.
    #[serde(default)]
    workspaces: Vec<String>,
    /// With `read` and `publish`: only what is of these environments; all if there is none.
    #[serde(default)]
    environments: Vec<String>,
    /// Whether signatures are accepted, besides the token itself.
    #[serde(default)]
    signs: bool,
    /// Until when it is good; for ever if nothing is said.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_on: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = TokenRole)]
enum Role {
    Host,
    Group,
    Read,
    Publish,
    Manage,
    Admin,
}

/// A token that was created. Its text is shown this once.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CreatedToken {
    /// The public part of its text.
    id: String,
    /// Its name.
    name: String,
    /// Its text: what is sent as `Authorization: Bearer TOKEN`.
    token: String,
    /// The key with which its owner signs, if it is for signing.
    #[serde(skip_serializing_if = "Option::is_none")]
    signing_key: Option<String>,
}

/// List tokens
///
/// Without their secrets, of which the hub knows only digests.
#[utoipa::path(
    get,
    path = "/api/v1/tokens",
    tag = "Management",
    responses(
        (status = 200, description = "The tokens", body = Tokens),
        Problem,
    ),
)]
async fn list(State(app): State<App>, _manager: Manager) -> Result<Json<Tokens>, Problem> {
    Ok(Json(Tokens { items: tokens::list(&app.database).await? }))
}

/// Create a token
///
/// The answer is the only time that its text is shown.
#[utoipa::path(
    post,
    path = "/api/v1/tokens",
    tag = "Management",
    request_body = TokenRequest,
    responses(
        (status = 201, description = "Created", body = CreatedToken),
        Problem,
    ),
)]
async fn create(
    State(app): State<App>,
    Manager(manager): Manager,
    Body(request): Body<TokenRequest>,
) -> Result<(StatusCode, Json<CreatedToken>), Problem> {
    let token = request.read()?;
    check_may_give(&manager, &token.scope)?;
    let text = tokens::create(&app.database, &token, &manager.name).await?;
    let signing_key = token.signs.then(|| text.signing_key().reveal().to_owned());
    let created = CreatedToken { id: text.id().to_owned(), name: token.name, token: text.reveal(), signing_key };
    Ok((StatusCode::CREATED, Json(created)))
}

/// Revoke a token
///
/// Within five seconds no replica takes it any more.
#[utoipa::path(
    delete,
    path = "/api/v1/tokens/{name}",
    tag = "Management",
    params(("name" = String, Path, description = "Its name or id")),
    responses(
        (status = 204, description = "Revoked"),
        Problem,
    ),
)]
async fn revoke(
    State(app): State<App>,
    Manager(manager): Manager,
    Path(name): Path<String>,
) -> Result<StatusCode, Problem> {
    let known = tokens::list(&app.database).await?;
    let is_meant = |token: &&Token| token.revoked_on.is_none() && (token.name == name || token.id == name);
    known.iter().filter(is_meant).try_for_each(|token| check_may_give(&manager, &token.scope))?;
    tokens::revoke(&app.database, &name, &manager.name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Who manages gives, and takes, no right that is more than his own.
fn check_may_give(manager: &Identity, scope: &Scope) -> Result<(), Problem> {
    if manager.may_administer() || !matches!(scope, Scope::Admin | Scope::Manage) {
        return Ok(());
    }
    let detail = "only administrators create and revoke tokens with the roles `admin` and `manage`";
    Err(Problem::new(Kind::Forbidden, detail))
}

impl TokenRequest {
    fn read(self) -> Result<NewToken, Problem> {
        let wrong = |detail: &str| Err(Problem::new(Kind::Unprocessable, detail));
        let group = !self.reconciler_types.is_empty() || !self.places.is_empty() || !self.labels.is_empty();
        let reach = Reach { workspaces: self.workspaces, environments: self.environments };
        if self.host.is_some() != (self.role == Role::Host) {
            return wrong("`host` belongs to the role `host`, and to no other");
        }
        if self.hosts.is_some() != (self.role == Role::Group) || group && self.role != Role::Group {
            return wrong(
                "`hosts`, `reconcilerTypes`, `places` and `labels` belong to the role `group`, which needs `hosts`",
            );
        }
        if !reach.is_all() && !matches!(self.role, Role::Read | Role::Publish) {
            return wrong("`workspaces` and `environments` belong to the roles `read` and `publish`");
        }
        let scope = match self.role {
            Role::Host => Scope::Host { host: self.host.unwrap_or_default() },
            Role::Group => Scope::Group(Group {
                hosts: self.hosts.unwrap_or_default(),
                reconciler_types: self.reconciler_types,
                places: self.places,
                labels: self.labels,
            }),
            Role::Read => Scope::Read(reach),
            Role::Publish => Scope::Publish(reach),
            Role::Manage => Scope::Manage,
            Role::Admin => Scope::Admin,
        };
        Ok(NewToken { name: self.name, scope, signs: self.signs, expires_on: self.expires_on })
    }
}

impl From<TokenError> for Problem {
    fn from(error: TokenError) -> Self {
        let text = error.to_string();
        match error {
            TokenError::Name(_) | TokenError::Signing | TokenError::Reach => Self::new(Kind::Unprocessable, text),
            TokenError::Taken(_) => Self::new(Kind::Ambiguous, text).hint("revoke it first, or take another name"),
            TokenError::Unknown(_) => Self::new(Kind::NotFound, text).hint("`GET /api/v1/tokens` says which there are"),
            TokenError::Random(_) => Self::new(Kind::Unavailable, text),
            TokenError::Database(error) => error.into(),
        }
    }
}
