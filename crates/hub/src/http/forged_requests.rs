//! Refuses changes that another site makes a browser send (cross-site request forgery).
//!
//! The browser says where a request comes from: `Sec-Fetch-Site`, or `Origin` in older ones. Reconcilers, command lines and webhooks send neither, and no
//! browser adds their credentials, so their requests pass. Questions (`GET`) pass, too: they change nothing.

use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use tower_http::csrf::{CsrfLayer, ProtectionError};

use super::problem::{ProblemResponse, ProblemType};

/// Makes the response of a refused request.
type Refusal = fn(ProtectionError) -> Response<Body>;

/// The middleware. `public_origin` is the origin under which browsers reach the hub. With it, requests of old browsers also pass if a proxy changes `Host`;
/// all others are recognized by `Sec-Fetch-Site`, whatever a proxy does.
pub(super) fn layer(public_origin: Option<&str>) -> CsrfLayer<Refusal> {
    let trusting = |origin: &str| CsrfLayer::new().add_trusted_origin(origin).ok();
    let layer = public_origin.and_then(trusting).unwrap_or_default();
    layer.with_rejection_response(refuse)
}

fn refuse(error: ProtectionError) -> Response<Body> {
    tracing::info!(%error, "a change that another site sent is refused");
    ProblemResponse::new(ProblemType::Forbidden, "another site sent this request: changes must come from the hub's own pages")
        .hint("a proxy in front of the hub has to forward `Host` and `Origin` unchanged; programs send a token and no `Origin`")
        .into_response()
}
