//! Authentication and permissions of callers. A handler that has one of these types as a parameter runs only for callers with that permission.

use axum::extract::FromRequestParts;
use http::request::Parts;
use http::{HeaderMap, header};
use hub_api::tokens::{Act, Scope};

use super::problem::{ProblemResponse, ProblemType};
use super::{App, cookies};
use crate::authentication::authority::{Authentication, Credentials, Proof};
use crate::authentication::tokens::Identity;
use crate::management::views::ViewOwner;
use crate::questions::workspaces_of_workloads;

/// A caller with any permission.
#[derive(Clone, Debug)]
pub(super) struct Anyone(pub(super) Identity);

/// A caller with any permission, and how it is authenticated.
#[derive(Clone, Debug)]
pub(super) struct Authenticated(pub(super) Authentication);

/// A caller that may read everything. Routes whose answers can be limited to workspaces and environments take `LimitedReader` instead.
#[derive(Clone, Debug)]
pub struct Reader(pub Identity);

/// A caller that may read, possibly only some workspaces and environments: the handler has to apply that limit.
#[derive(Clone, Debug)]
pub(super) struct LimitedReader(pub(super) Identity);

/// A caller that may read, as the owner of views.
#[derive(Clone, Debug)]
pub(super) struct Viewer(pub(super) ViewOwner);

/// A caller that may change all data of the hub.
#[derive(Clone, Debug)]
pub struct Administrator(pub Identity);

/// A caller that may decide about changes, possibly only in some environments and workspaces: the handler has to check it with [`Decider::check`].
#[derive(Clone, Debug)]
pub(super) struct Decider(pub(super) Identity);

/// A caller that may publish, possibly only for some environments: the handler has to apply that limit.
#[derive(Clone, Debug)]
pub(super) struct Publisher(pub(super) Identity);

/// A caller that may manage tokens and hosts.
#[derive(Clone, Debug)]
pub struct Manager(pub Identity);

impl FromRequestParts<App> for Anyone {
    type Rejection = ProblemResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ProblemResponse> {
        identify(app, parts).await.map(Self)
    }
}

impl FromRequestParts<App> for Authenticated {
    type Rejection = ProblemResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ProblemResponse> {
        authenticate(app, parts).await.map(Self)
    }
}

impl FromRequestParts<App> for Manager {
    type Rejection = ProblemResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ProblemResponse> {
        let identity = identify(app, parts).await?;
        if !identity.may_manage() {
            let hint = "`kalypso hub token create NAME --role manage` makes one";
            return Err(ProblemResponse::new(
                ProblemType::Forbidden,
                "this token is not for managing tokens and hosts",
            )
            .hint(hint));
        }
        Ok(Self(identity))
    }
}

impl FromRequestParts<App> for Publisher {
    type Rejection = ProblemResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ProblemResponse> {
        let identity = identify(app, parts).await?;
        check_publisher(&identity)?;
        Ok(Self(identity))
    }
}

/// Checks that a caller may publish.
pub(super) fn check_publisher(identity: &Identity) -> Result<(), ProblemResponse> {
    if identity.may_publish() {
        return Ok(());
    }
    let hint = "`kalypso hub token create NAME --role publish` makes a token for it";
    Err(ProblemResponse::new(ProblemType::Forbidden, "this token is not for publications").hint(hint))
}

impl FromRequestParts<App> for Reader {
    type Rejection = ProblemResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ProblemResponse> {
        let LimitedReader(identity) = LimitedReader::from_request_parts(parts, app).await?;
        if !identity.may_read_all() {
            let reach = identity.scope.reach();
            let detail = format!("this token is limited to {reach}, and this query is about everything");
            return Err(ProblemResponse::new(ProblemType::Forbidden, detail)
                .hint("use a token without limits, or another query"));
        }
        Ok(Self(identity))
    }
}

impl FromRequestParts<App> for LimitedReader {
    type Rejection = ProblemResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ProblemResponse> {
        let identity = identify(app, parts).await?;
        check_reader(&identity)?;
        Ok(Self(identity))
    }
}

/// Checks that a caller may read.
fn check_reader(identity: &Identity) -> Result<(), ProblemResponse> {
    if identity.may_read() {
        return Ok(());
    }
    let hint = "`kalypso hub token create NAME --role reader` makes one";
    Err(ProblemResponse::new(ProblemType::Forbidden, "this token has no permission to read").hint(hint))
}

impl FromRequestParts<App> for Viewer {
    type Rejection = ProblemResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ProblemResponse> {
        let authentication = authenticate(app, parts).await?;
        check_reader(&authentication.identity)?;
        Ok(Self(authentication.view_owner()))
    }
}

impl FromRequestParts<App> for Decider {
    type Rejection = ProblemResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ProblemResponse> {
        let identity = identify(app, parts).await?;
        if !identity.may_somewhere(Act::Approve) {
            return Err(not_permitted(&identity, Act::Approve, "of any environment"));
        }
        Ok(Self(identity))
    }
}

/// What a decision is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct DecisionScope<'a> {
    pub(super) environment: &'a str,
    /// A subject of the environment. None: the whole environment.
    pub(super) subject: Option<&'a str>,
}

impl Decider {
    /// Checks that the caller may decide something.
    pub(super) async fn check(
        &self,
        app: &App,
        act: Act,
        DecisionScope { environment, subject }: DecisionScope<'_>,
    ) -> Result<(), ProblemResponse> {
        let Self(identity) = self;
        let is_limited = identity.grants.iter().any(|scope| !scope.reach().workspaces.is_empty());
        let workload = subject.filter(|_| is_limited).map(workload_of);
        let workspaces: Vec<_> = match workload {
            Some(workload) => {
                let mut known = workspaces_of_workloads(&app.database, environment).await?;
                known.remove(workload).unwrap_or_default().into_iter().collect()
            }
            None => Vec::new(),
        };
        if identity.may(act, environment, &workspaces) {
            return Ok(());
        }
        let about = match subject {
            Some(subject) => format!("of `{subject}` in {environment}"),
            None => format!("of {environment}"),
        };
        Err(not_permitted(identity, act, &about))
    }

    /// Checks that the caller may do something about everything.
    pub(super) fn check_everywhere(&self, act: Act) -> Result<(), ProblemResponse> {
        let Self(identity) = self;
        if identity.may_everywhere(act) {
            return Ok(());
        }
        Err(not_permitted(identity, act, "of all environments and workspaces"))
    }
}

/// The workload of a subject of promotions: its releases and its rollout have its name, and the source of its application a name with a prefix.
pub(super) fn workload_of(subject: &str) -> &str {
    subject.strip_prefix("application/").unwrap_or(subject)
}

fn not_permitted(identity: &Identity, act: Act, about: &str) -> ProblemResponse {
    let has = |scope: &Scope| {
        let reach = scope.reach();
        if reach.is_all() { scope.role().to_owned() } else { format!("{} ({reach})", scope.role()) }
    };
    let roles: Vec<_> = identity.grants.iter().map(has).collect();
    let (needed, roles) = (act.role(), roles.join(", "));
    let detail = format!("this needs the role `{needed}` {about}, and `{}` has the role {roles}", identity.name);
    let hint = format!("`kalypso hub token create NAME --role {needed}` makes a token with it");
    ProblemResponse::new(ProblemType::Forbidden, detail).hint(hint)
}

impl FromRequestParts<App> for Administrator {
    type Rejection = ProblemResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ProblemResponse> {
        let identity = identify(app, parts).await?;
        if !identity.may_administer() {
            let hint = "`kalypso hub token create NAME --role admin` makes one";
            return Err(ProblemResponse::new(ProblemType::Forbidden, "that is for administrators").hint(hint));
        }
        Ok(Self(identity))
    }
}

/// Authenticates the sender of a request, as [`authenticate`].
pub(super) async fn identify(app: &App, parts: &Parts) -> Result<Identity, ProblemResponse> {
    Ok(authenticate(app, parts).await?.identity)
}

/// Authenticates the sender of a request by its header, or else by its session. Without both, the request must name this machine as its host.
async fn authenticate(app: &App, parts: &Parts) -> Result<Authentication, ProblemResponse> {
    let authentication = app.authority.authenticate(&credentials(&parts.headers)?).await?;
    if matches!(authentication.proof, Proof::Open) && !names_this_machine(parts) {
        // Without this check, a web page whose name resolves to this machine (DNS rebinding) could send requests from the browser of its visitor.
        let detail = "without tokens the hub is open to this machine only, and the request is for another name";
        return Err(ProblemResponse::new(ProblemType::Forbidden, detail)
            .hint("use http://127.0.0.1 or http://localhost, or make a token"));
    }
    Ok(authentication)
}

/// The header `Authorization`, and the cookies of sessions.
pub(super) fn credentials(headers: &HeaderMap) -> Result<Credentials<'_>, ProblemResponse> {
    Ok(Credentials { authorization: authorization(headers)?, cookies: cookies::values(headers, cookies::SESSION) })
}

/// The header `Authorization`.
fn authorization(headers: &HeaderMap) -> Result<Option<&str>, ProblemResponse> {
    let text = headers.get(header::AUTHORIZATION).map(http::HeaderValue::to_str).transpose();
    text.map_err(|_| ProblemResponse::new(ProblemType::Malformed, "the header `Authorization` is not ASCII"))
}

pub(super) fn names_this_machine(parts: &Parts) -> bool {
    let named = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let Some(named) = named.or(parts.uri.authority().map(http::uri::Authority::as_str)) else { return false };
    let Ok(authority) = named.parse::<http::uri::Authority>() else { return false };
    model::network::is_loopback(authority.host())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(host: &str) -> bool {
        let request = http::Request::builder().uri("/").header(header::HOST, host).body(()).unwrap();
        names_this_machine(&request.into_parts().0)
    }

    #[test]
    fn names_of_this_machine_are_known() {
        for host in ["localhost", "LOCALHOST:8080", "127.0.0.1:8080", "127.0.0.2", "[::1]:8080"] {
            assert!(check(host), "{host}");
        }
        for host in ["", "evil.example", "localhost.evil.example:8080", "10.0.0.1", "[::2]", "127.0.0.1@evil.example"] {
            assert!(!check(host), "{host}");
        }
    }
}
