//! The sign-in of people with a browser. The pages are in another place: these routes only answer with redirects.

mod oidc;

use std::time::Duration;

use axum::extract::rejection::FormRejection;
use axum::extract::{DefaultBodyLimit, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Form, Json, Router};
use form_urlencoded::Serializer;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use hub_api::sessions::{SignInFailure, SignInMethods};
use hub_api::timestamp::Timestamp;
use serde::Deserialize;

use super::operations::{Routes, operations};
use super::problem::{ProblemResponse, ProblemType};
use super::return_path::return_path;
use super::{App, cookies};
use crate::authentication::oidc::Issuer;
use crate::authentication::sessions;
use crate::authentication::sign_in::SignedIn;
use crate::limits::SIGN_IN_BYTES_MAX;

/// The page to sign in.
const PAGE: &str = "/sign-in";

pub(super) fn routes(routes: Routes) -> Routes {
    operations!(routes; methods)
}

/// The routes for browsers, which are not part of the API.
pub(super) fn of_browsers() -> Router<App> {
    Router::new()
        .route("/sign-in/token", post(with_token))
        .route("/sign-in/oidc", get(oidc::begin))
        .route("/sign-in/callback", get(oidc::finish))
        .route("/sign-out", post(sign_out))
        .route("/sign-out/everywhere", post(sign_out_everywhere))
        .layer(DefaultBodyLimit::max(SIGN_IN_BYTES_MAX))
}

/// Show the ways to sign in
///
/// With a browser. No token is necessary to ask.
#[utoipa::path(
    get,
    path = "/api/v1/sign-in",
    tag = "Management",
    security(()),
    responses(
        (status = 200, description = "The ways to sign in", body = SignInMethods),
        ProblemResponse,
    ),
)]
async fn methods(State(app): State<App>) -> Result<Json<SignInMethods>, ProblemResponse> {
    let oidc = app.authority.issuer().and_then(Issuer::client).is_some();
    Ok(Json(SignInMethods { token: true, oidc, open: app.authority.is_open().await? }))
}

/// The form to sign in with a token.
#[derive(Deserialize)]
struct TokenForm {
    token: String,
    #[serde(rename = "return")]
    return_to: Option<String>,
}

/// Signs a person in with a pasted token.
async fn with_token(
    State(app): State<App>,
    headers: HeaderMap,
    form: Result<Form<TokenForm>, FormRejection>,
) -> Result<Response, ProblemResponse> {
    let Form(form) = form?;
    let return_to = return_path(form.return_to.as_deref());
    if !app.wrong_sign_ins.may_try() {
        return Ok(failed(SignInFailure::Busy, return_to));
    }
    let replaced = cookies::secret(&headers, cookies::SESSION);
    match app.authority.sign_in_with_token(form.token.trim(), replaced.as_ref()).await {
        Ok(signed_in) => Ok(welcome(&signed_in, return_to)),
        Err(failure) => {
            if failure == SignInFailure::WrongToken {
                app.wrong_sign_ins.note();
            }
            Ok(failed(failure, return_to))
        }
    }
}

/// Ends the session of the browser.
async fn sign_out(State(app): State<App>, headers: HeaderMap) -> Result<Response, ProblemResponse> {
    if let Some(secret) = cookies::secret(&headers, cookies::SESSION) {
        sessions::end(&app.database, &secret).await?;
    }
    Ok(signed_out())
}

/// Ends all sessions of the person whose browser it is.
async fn sign_out_everywhere(State(app): State<App>, headers: HeaderMap) -> Result<Response, ProblemResponse> {
    if let Some(secret) = cookies::secret(&headers, cookies::SESSION) {
        sessions::end_everywhere(&app.database, &secret).await?;
    }
    Ok(signed_out())
}

/// The redirect to where the sign-in began, with the cookie of the new session.
fn welcome((secret, session): &SignedIn, return_to: &str) -> Response {
    let age = Duration::from_millis(session.ends_on.since(Timestamp::now()).as_millis() as u64);
    with_cookie(redirect(return_to), cookies::set(cookies::SESSION, secret, age))
}

/// The redirect to the page to sign in, which says why it failed.
fn failed(failure: SignInFailure, return_to: &str) -> Response {
    let mut query = Serializer::new(String::new());
    query.append_pair("error", failure.as_str()).append_pair("return", return_to);
    redirect(&format!("{PAGE}?{}", query.finish()))
}

fn signed_out() -> Response {
    with_cookie(redirect(PAGE), cookies::remove(cookies::SESSION))
}

/// The status 303: the browser follows with `GET`, whatever the method of the request was.
fn redirect(to: &str) -> Response {
    let location = HeaderValue::from_str(to).unwrap_or(HeaderValue::from_static("/"));
    (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response()
}

fn with_cookie(mut response: Response, cookie: HeaderValue) -> Response {
    response.headers_mut().append(header::SET_COOKIE, cookie);
    response
}

impl From<FormRejection> for ProblemResponse {
    fn from(rejection: FormRejection) -> Self {
        let kind = match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => ProblemType::TooLarge,
            StatusCode::UNSUPPORTED_MEDIA_TYPE => ProblemType::MediaType,
            _ => ProblemType::Malformed,
        };
        // The message of the rejection can repeat a part of the form, which has a token in it.
        Self::new(kind, "the form to sign in has the fields `token` and `return`")
    }
}
