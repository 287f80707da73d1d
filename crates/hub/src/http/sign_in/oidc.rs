//! The sign-in at the OIDC issuer: the way there, and the way back.

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use http::HeaderMap;
use hub_api::sessions::SignInFailure;
use serde::Deserialize;

use super::{failed, redirect, welcome, with_cookie};
use crate::authentication::random_secret::RandomSecret;
use crate::authentication::sign_in::IssuerAnswer;
use crate::http::return_path::return_path;
use crate::http::{App, cookies};
use crate::limits::SIGN_IN_TIME_MAX;

/// The parameters of the way there.
#[derive(Default, Deserialize)]
pub(super) struct Begin {
    #[serde(rename = "return")]
    return_to: Option<String>,
}

/// The parameters of the way back (RFC 6749, section 4.1.2).
#[derive(Default, Deserialize)]
pub(super) struct Callback {
    state: Option<String>,
    code: Option<String>,
    error: Option<String>,
    iss: Option<String>,
}

/// Parameters that can't be read are missing.
type BeginQuery = Result<Query<Begin>, QueryRejection>;
type CallbackQuery = Result<Query<Callback>, QueryRejection>;

/// Sends the browser to the OIDC issuer.
pub(super) async fn begin(State(app): State<App>, headers: HeaderMap, query: BeginQuery) -> Response {
    let Query(Begin { return_to }) = query.unwrap_or_default();
    let return_to = return_path(return_to.as_deref());
    let browser = cookies::secret(&headers, cookies::SIGN_IN);
    match app.authority.begin_sign_in(browser, return_to.to_owned()).await {
        Ok((attempt, url)) => {
            let cookie = cookies::set(cookies::SIGN_IN, &attempt.browser, SIGN_IN_TIME_MAX);
            with_cookie(redirect(url.as_str()), cookie)
        }
        Err(failure) => failed(failure, return_to),
    }
}

/// Receives the browser with the answer of the OIDC issuer.
pub(super) async fn finish(State(app): State<App>, headers: HeaderMap, query: CallbackQuery) -> Response {
    let Query(Callback { state, code, error, iss }) = query.unwrap_or_default();
    let state = state.as_deref().and_then(RandomSecret::parse);
    let Some((state, browser)) = state.zip(cookies::secret(&headers, cookies::SIGN_IN)) else {
        return failed(SignInFailure::Expired, "/");
    };
    let attempt = match app.authority.take_sign_in(&state, &browser).await {
        Ok(attempt) => attempt,
        Err(failure) => return failed(failure, "/"),
    };
    let replaced = cookies::secret(&headers, cookies::SESSION);
    let answer = IssuerAnswer { code, error, issuer: iss };
    match app.authority.finish_sign_in(&answer, &attempt, replaced.as_ref()).await {
        Ok(signed_in) => welcome(&signed_in, return_path(Some(&attempt.return_path))),
        Err(failure) => failed(failure, return_path(Some(&attempt.return_path))),
    }
}
