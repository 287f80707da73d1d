//! The page to sign in: by an identity provider, or with a token.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use http::request::Parts;
use http::{StatusCode, Uri};
use hub_api::client::Client;
use hub_api::sessions::{SignInFailure, SignInMethods};

use crate::Site;
use crate::address::Address;
use crate::client::InProcess;
use crate::refusal::{Refusal, RefusalPage};
use crate::respond::respond;

/// The page to sign in.
#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage {
    methods: SignInMethods,
    /// Where the sign-in began, and leads back to.
    return_to: String,
    failure: Option<&'static str>,
}

pub(crate) async fn page(State(site): State<Site>, uri: Uri, parts: Parts) -> Response {
    let address = Address::from_encoded(uri.path(), uri.query().unwrap_or_default());
    let api = Client::over(InProcess::new(site.api, &parts.headers));
    match api.sign_in_methods().await {
        Ok(methods) => {
            let return_to = address.get("return").unwrap_or("/").to_owned();
            let failure = address.get("error").and_then(SignInFailure::parse).map(advice);
            respond(StatusCode::OK, &SignInPage { methods, return_to, failure })
        }
        Err(error) => RefusalPage::new(&Refusal::from(error)).response(),
    }
}

impl SignInPage {
    /// The address that begins the sign-in at the identity provider.
    fn provider(&self) -> String {
        Address::of(["sign-in", "oidc"]).with("return", &self.return_to).to_string()
    }
}

/// Why the last attempt failed, and what to do.
fn advice(failure: SignInFailure) -> &'static str {
    match failure {
        SignInFailure::WrongToken => {
            "This token is not valid: it is misspelled, revoked or expired. Paste it again, or ask for another."
        }
        SignInFailure::NoPermission => {
            "You are known, but have no permission to read anything here. An administrator can give you a role."
        }
        SignInFailure::Busy => "Too many attempts failed in a short time. Try again in a minute.",
        SignInFailure::Expired => "The sign-in took too long, or was begun in another browser. Begin again.",
        SignInFailure::Denied => "The identity provider refused the sign-in.",
        SignInFailure::Provider => {
            "The identity provider did not answer as expected. The log of the hub has the details. Try again later, or use a token."
        }
        SignInFailure::NotConfigured => "No identity provider is configured here. Use a token.",
        SignInFailure::Unavailable => "The sign-in can't be checked at the moment. Try again later.",
    }
}
