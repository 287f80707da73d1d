//! Changes that another site makes a browser send.

use hub_api::token::TokenText;
use hub_api::tokens::Scope;
use reqwest::StatusCode;
use serde_json::json;

use super::{Hub, problem};

/// The status of a change with these headers, with a token that may make it.
async fn check(hub: &Hub, token: &TokenText, headers: &[(&str, &str)]) -> StatusCode {
    let request = hub.client.put(hub.url("/api/v1/hosts/berlin-1")).bearer_auth(token.reveal()).json(&json!({}));
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    let response = request.send().await.unwrap();
    if response.status().is_success() { response.status() } else { problem(response).await.0 }
}

#[tokio::test]
async fn programs_and_own_pages_may_change() {
    let hub = Hub::start().await;
    let token = hub.token("admin", Scope::Admin).await;
    let own = format!("http://{}", hub.address);
    for headers in [
        &[][..],
        &[("sec-fetch-site", "same-origin"), ("origin", "https://hub.example")],
        &[("sec-fetch-site", "same-origin"), ("origin", "null")],
        &[("sec-fetch-site", "none")],
        &[("origin", own.as_str())],
    ] {
        assert_eq!(check(&hub, &token, headers).await, StatusCode::NO_CONTENT, "{headers:?}");
    }
}

#[tokio::test]
async fn changes_of_other_sites_are_refused() {
    let hub = Hub::start().await;
    let token = hub.token("admin", Scope::Admin).await;
    for headers in [
        &[("sec-fetch-site", "cross-site")][..],
        &[("sec-fetch-site", "same-site"), ("origin", "https://other.example")],
        &[("origin", "https://evil.example")],
        &[("origin", "null")],
    ] {
        assert_eq!(check(&hub, &token, headers).await, StatusCode::FORBIDDEN, "{headers:?}");
    }
    let question = hub.get("/api/v1/environments").bearer_auth(token.reveal()).header("sec-fetch-site", "cross-site");
    assert_eq!(question.send().await.unwrap().status(), StatusCode::OK);
}
