//! The middleware of all routes.

use std::any::Any;
use std::time::Instant;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use data_encoding::HEXLOWER;
use http::{HeaderName, HeaderValue, Method, Uri, header};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::decompression::RequestDecompressionLayer;
use tracing::{Instrument as _, field};

use super::problem::{ProblemResponse, ProblemType};
use super::{App, forged_requests};
use crate::authentication::oidc::Issuer;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Maximum number of characters of a request id that comes from outside.
const REQUEST_ID_CHARACTERS_MAX: usize = 64;

/// Headers that restrict what browsers do with answers. Pages set their own values.
const HEADERS: [(HeaderName, HeaderValue); 5] = [
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
];

/// Adds the middleware to routes: metrics, request ids, security headers, compression of requests and answers, refusal of changes that another site sends. A
/// panic ends only its own request.
pub(super) fn around(routes: Router, app: App) -> Router {
    let client = app.authority.issuer().and_then(Issuer::client);
    let forged_requests = forged_requests::layer(client.map(|client| client.public_url.origin()));
    routes
        .layer(forged_requests)
        .layer(RequestDecompressionLayer::new().pass_through_unaccepted(true))
        .layer(CompressionLayer::new())
        .layer(from_fn(refuse_unreadable))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(app, observe))
}

async fn observe(State(app): State<App>, matched: Option<MatchedPath>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = request_id(&request);
    let method = request.method().clone();
    // Metrics and log lines have the route, never the path: paths come from outside.
    let route = matched.as_ref().map_or("unknown", MatchedPath::as_str).to_owned();
    let span =
        tracing::info_span!("request", %method, route, status = field::Empty, otel.name = format!("{method} {route}"));
    let mut response = next.run(request).instrument(span.clone()).await;
    let (status, duration) = (response.status().as_u16(), started.elapsed());
    span.record("status", status);
    app.metrics.request(&route, status, duration);
    let (shown_id, took_ms) = (id.to_str().unwrap_or_default(), duration.as_millis() as u64);
    if status >= 500 {
        tracing::warn!(request = shown_id, %method, route, status, took_ms, "answered");
    } else {
        tracing::debug!(request = shown_id, %method, route, status, took_ms, "answered");
    }
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, id);
    for (name, value) in HEADERS {
        headers.entry(name).or_insert(value);
    }
    response
}

/// Refuses URLs with the character U+0000: no name contains it, and PostgreSQL stores no text that contains it.
async fn refuse_unreadable(request: Request, next: Next) -> Response {
    if is_readable(request.uri()) {
        return next.run(request).await;
    }
    let detail = "the address has the character U+0000 (`%00`) in it, which is in no name";
    ProblemResponse::new(ProblemType::Malformed, detail).into_response()
}

/// Whether the path and the query are without the character U+0000.
pub(super) fn is_readable(uri: &Uri) -> bool {
    [Some(uri.path()), uri.query()].into_iter().flatten().all(|text| !text.contains("%00"))
}

/// The id that a proxy gave the request, or a new one.
fn request_id(request: &Request) -> HeaderValue {
    let is_harmless = |text: &str| {
        (1..=REQUEST_ID_CHARACTERS_MAX).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    let given = request.headers().get(REQUEST_ID).filter(|value| value.to_str().is_ok_and(is_harmless));
    given.cloned().unwrap_or_else(|| {
        let mut bytes = [0; 8];
        // Without random numbers all ids are equal. The requests are processed nevertheless.
        let _ = getrandom::fill(&mut bytes);
        HeaderValue::from_str(&HEXLOWER.encode(&bytes)).unwrap_or(HeaderValue::from_static("0"))
    })
}

fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let text =
        panic.downcast_ref::<&str>().map(ToString::to_string).or_else(|| panic.downcast_ref::<String>().cloned());
    tracing::error!(panic = text.unwrap_or_default(), "internal error of the hub in a request");
    ProblemResponse::new(ProblemType::Mistake, "the log of the hub has the details").into_response()
}

pub(super) async fn not_found(uri: Uri) -> ProblemResponse {
    let path: String = uri.path().chars().take(128).collect();
    ProblemResponse::new(ProblemType::NotFound, format!("there is nothing at `{path}`"))
        .hint("/api/v1/openapi.json lists all routes")
}

pub(super) async fn method_not_allowed(method: Method, uri: Uri) -> ProblemResponse {
    let path: String = uri.path().chars().take(128).collect();
    let detail = format!("`{path}` is not for {}", method.as_str().chars().take(16).collect::<String>());
    ProblemResponse::new(ProblemType::Method, detail).hint("the header `Allow` lists the supported methods")
}
