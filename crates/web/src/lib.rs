//! The page: what the API answers, as HTML that is rendered on the server.
//!
//! It is one more client of the API. Each page sends its queries to the API's router in the same process, with the credentials of the browser's request, so
//! that a page shows exactly what its reader may query. Pages work without scripts: the modules in `assets` only keep an open page up to date, and add keys.

mod address;
mod assets;
mod client;
mod conditions;
mod curve;
mod fact;
mod grid;
mod list;
mod pages;
mod part;
mod past;
mod refusal;
mod respond;
mod source_link;
mod text;
mod visit;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get, post};
use http::{Method, StatusCode, header};
use tower::ServiceExt as _;

use self::refusal::Refusal;
use self::visit::Visit;

/// What browsers may do with a page: its own scripts, styles and images, and nothing from elsewhere.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The state that all pages share.
#[derive(Clone, Debug)]
struct Site {
    /// The API, which answers all queries.
    api: Router,
    /// Whether it answers from compiled environments. Otherwise no page links to those about them.
    compiles: bool,
}

/// The routes of the API with those of the pages. The API answers what is not a page. `compiles`: it answers from compiled environments, too.
pub fn with_pages(api: Router, compiles: bool) -> Router {
    let pages = Router::new()
        .route("/", get(pages::overview::page))
        .route("/environments/{environment}", get(pages::environment::page))
        .route("/environments/{environment}/targets", get(pages::targets::page))
        .route("/environments/{environment}/promotion", get(pages::promotion::page))
        .route("/environments/{environment}/assignments", get(pages::assignments::page))
        .route("/environments/{environment}/assignments/{place}/{target}", get(pages::assignment::page))
        .route("/environments/{environment}/contract", get(pages::contract::page))
        .route("/environments/{environment}/findings", get(pages::findings::page))
        .route("/environments/{environment}/why-not", get(pages::why_not::page))
        .route("/workloads/{workload}", get(pages::workload::page))
        .route("/places/{place}", get(pages::place::page))
        .route("/deployments", get(pages::deployments::page))
        .route("/hosts/{host}", get(pages::host::page))
        .route("/rollouts", get(pages::rollouts::page))
        .route("/rollouts/{*of}", get(pages::rollout::page))
        .route("/drift", get(pages::drift::page))
        .route("/history", get(pages::history::page))
        .route("/compare", get(pages::compare::page))
        .route("/search", get(pages::search::page))
        .route("/audit", get(pages::audit::page))
        .route("/account", get(pages::account::page))
        .route("/views/keep", post(pages::views::keep))
        .route("/views/change", post(pages::views::change))
        .route("/views/remove", post(pages::views::remove))
        .route("/sign-in", get(pages::sign_in::page))
        .route("/assets/{digest}/{name}", get(assets::asset))
        .layer(middleware::from_fn(unchanged))
        .route("/{*path}", any(elsewhere))
        .with_state(Site { api: api.clone(), compiles });
    api.merge(pages)
}

/// Answers without a page if the browser has it already.
async fn unchanged(request: Request, next: Next) -> Response {
    let known = request.headers().get(header::IF_NONE_MATCH).cloned();
    let response = next.run(request).await;
    let is_known = known.is_some() && response.headers().get(header::ETAG) == known.as_ref();
    if !is_known || response.status() != StatusCode::OK {
        return response;
    }
    let (mut parts, _) = response.into_parts();
    parts.status = StatusCode::NOT_MODIFIED;
    for name in [header::CONTENT_TYPE, header::CONTENT_LENGTH] {
        parts.headers.remove(name);
    }
    Response::from_parts(parts, Body::empty())
}

/// What is neither a page nor a route of the API. A browser gets a page that says so; a program gets the API's answer.
async fn elsewhere(State(site): State<Site>, request: Request) -> Response {
    let accept = request.headers().get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    let is_read = [Method::GET, Method::HEAD].contains(request.method());
    if is_read && accept.contains("text/html") && !request.uri().path().starts_with("/api/") {
        let (parts, _) = request.into_parts();
        return match Visit::new(&parts, site).await {
            Ok(visit) => visit.refuse(Refusal::not_found()),
            Err(response) => response,
        };
    }
    // The error of a router can't exist.
    site.api.oneshot(request).await.into_response()
}
