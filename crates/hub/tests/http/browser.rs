//! A browser: it keeps cookies, and shows each redirect.

use std::collections::BTreeMap;

use reqwest::{RequestBuilder, Response, StatusCode, Url, header};

use super::Hub;

/// The cookie of a session.
pub(crate) const SESSION: &str = "__Host-kalypso-session";

/// A browser at a hub.
#[derive(Clone)]
pub(crate) struct Browser {
    hub: String,
    client: reqwest::Client,
    pub(crate) cookies: BTreeMap<String, String>,
}

impl Browser {
    pub(crate) fn new(hub: &Hub) -> Self {
        hub_api::tls::install_provider();
        let client = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
        Self { hub: hub.url(""), client: client.build().unwrap(), cookies: BTreeMap::new() }
    }

    /// The same browser at another hub, as behind a load balancer.
    pub(crate) fn at(&self, hub: &Hub) -> Self {
        Self { hub: hub.url(""), ..self.clone() }
    }

    pub(crate) async fn get(&mut self, path: &str) -> Response {
        let request = self.client.get(format!("{}{path}", self.hub));
        self.send(request).await
    }

    /// Sends a form of one of the hub's pages.
    pub(crate) async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Response {
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let request = self.client.post(format!("{}{path}", self.hub)).header("sec-fetch-site", "same-origin");
        self.send(request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded").body(body)).await
    }

    async fn send(&mut self, request: RequestBuilder) -> Response {
        let cookies: Vec<_> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = if cookies.is_empty() { request } else { request.header(header::COOKIE, cookies.join("; ")) };
        let response = request.send().await.unwrap();
        for cookie in response.headers().get_all(header::SET_COOKIE) {
            let (pair, attributes) = cookie.to_str().unwrap().split_once("; ").unwrap();
            assert!(attributes.starts_with("Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age="), "{attributes}");
            let (name, value) = pair.split_once('=').unwrap();
            if attributes.ends_with("Max-Age=0") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        response
    }

    /// Signs in with a token. Returns where the browser is sent.
    pub(crate) async fn sign_in(&mut self, token: &str, return_to: &str) -> String {
        location(&self.post("/sign-in/token", &[("token", token), ("return", return_to)]).await)
    }

    /// Begins to sign in at the identity provider, and signs in there. Returns the path of the hub to which the provider sends the browser.
    pub(crate) async fn visit_provider(&mut self, return_to: &str) -> String {
        let query = form_urlencoded::Serializer::new(String::new()).append_pair("return", return_to).finish();
        let provider = location(&self.get(&format!("/sign-in/oidc?{query}")).await);
        assert!(provider.starts_with("http://127.0.0.1:"), "{provider}");
        let back: Url = location(&self.client.get(provider).send().await.unwrap()).parse().unwrap();
        assert_eq!(back.origin().ascii_serialization(), "https://hub.example");
        format!("{}?{}", back.path(), back.query().unwrap())
    }

    /// Signs in at the identity provider. Returns where the hub sends the browser.
    pub(crate) async fn sign_in_at_provider(&mut self, return_to: &str) -> String {
        let back = self.visit_provider(return_to).await;
        location(&self.get(&back).await)
    }

    /// The name of the person who is signed in; none if nobody is.
    pub(crate) async fn person(&mut self) -> Option<String> {
        let response = self.get("/api/v1/session").await;
        if response.status() == StatusCode::UNAUTHORIZED {
            return None;
        }
        let state: serde_json::Value = response.json().await.unwrap();
        Some(state["name"].as_str().unwrap().to_owned())
    }
}

/// Where a response sends the browser.
pub(crate) fn location(response: &Response) -> String {
    assert_eq!(response.status(), StatusCode::SEE_OTHER);
    response.headers()[header::LOCATION].to_str().unwrap().to_owned()
}
