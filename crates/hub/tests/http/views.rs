//! The views of callers over HTTP.

use hub_api::client::{Client, ClientError};
use hub_api::tokens::{Reach, Scope};
use hub_api::views::{KeptView, ViewContent};
use reqwest::{Method, StatusCode, header};
use serde_json::json;

use super::browser::{Browser, SESSION};
use super::description::{self, description, strict};
use super::{Hub, problem};

fn client(hub: &Hub, token: &hub_api::token::TokenText) -> Client {
    Client::new(&hub.url(""), Some(token.reveal())).unwrap()
}

/// The status of a refusal, with what the hub says.
fn refused(answer: Result<(), ClientError>) -> (u16, String) {
    match answer {
        Err(ClientError::Refused { status, detail, .. }) => (status, detail),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn views_of_other_people_are_unknown() {
    let hub = Hub::start().await;
    let limited = Scope::Read(Reach { workspaces: vec!["shop".into()], ..Reach::ALL });
    let (ann, root) = (hub.token("ann", limited).await, hub.token("root", Scope::Admin).await);
    let (ann, root) = (client(&hub, &ann), client(&hub, &root));
    let content = ViewContent { address: "/drift?workload=a%2Fb".into(), favourite: true };
    ann.keep_view("a/b? \u{202e}é", &content).await.unwrap();
    let view = KeptView { name: "a/b? \u{202e}é".into(), address: content.address.clone(), favourite: true };
    assert_eq!(ann.views().await.unwrap().items, [view]);
    assert!(root.views().await.unwrap().items.is_empty());
    let [own, unknown] = ["a/b? \u{202e}é", "nothing"];
    let [own_answer, unknown_answer] = [root.remove_view(own).await, root.remove_view(unknown).await].map(refused);
    assert_eq!((own_answer.0, own_answer.1.replace(own, unknown)), unknown_answer);
    assert_eq!(unknown_answer, (404, "you have no view `nothing`".into()));
    ann.remove_view(own).await.unwrap();
    assert!(ann.views().await.unwrap().items.is_empty());
}

#[tokio::test]
async fn invalid_views_are_refused_with_the_reason() {
    let hub = Hub::start().await;
    let ann = client(&hub, &hub.token("ann", Scope::Read(Reach::ALL)).await);
    for (name, address, reason) in [
        ("a", "https://evil.example", "does not begin with a single `/`"),
        ("a", "//evil.example", "does not begin with a single `/`"),
        ("a", "/api/v1/tokens", "is a route of the API"),
        (" ", "/", "is empty"),
        (&"a".repeat(101), "/", "has more than 100 characters"),
    ] {
        let content = ViewContent { address: address.into(), favourite: false };
        let (status, detail) = refused(ann.keep_view(name, &content).await);
        assert!(status == 422 && detail.contains(reason), "{status} {detail}");
    }
}

#[tokio::test]
async fn a_session_has_the_views_of_its_token_and_other_sites_can_not_change_them() {
    let hub = Hub::start().await;
    let token = hub.token("ann", Scope::Read(Reach::ALL)).await;
    let mut browser = Browser::new(&hub);
    browser.sign_in(&token.reveal(), "/").await;
    client(&hub, &token).keep_view("a", &ViewContent { address: "/".into(), favourite: false }).await.unwrap();
    assert!(browser.get("/api/v1/views").await.text().await.unwrap().contains("\"a\""));
    let cookie = format!("{SESSION}={}", browser.cookies[SESSION]);
    for (method, site, expected) in [
        (Method::DELETE, "cross-site", StatusCode::FORBIDDEN),
        (Method::PUT, "cross-site", StatusCode::FORBIDDEN),
        (Method::DELETE, "same-origin", StatusCode::NO_CONTENT),
    ] {
        let request = hub.client.request(method, hub.url("/api/v1/views/a")).header(header::COOKIE, &cookie);
        let request = request.header("sec-fetch-site", site).json(&json!({"address": "/drift"}));
        assert_eq!(request.send().await.unwrap().status(), expected, "{site}");
    }
}

#[tokio::test]
async fn callers_that_may_not_read_have_no_views() {
    let hub = Hub::start().await;
    for (name, scope) in [("host", Scope::host("berlin")), ("ci", Scope::Publish(Reach::ALL)), ("m", Scope::Manage)] {
        let token = hub.token(name, scope).await;
        let answer = hub.get("/api/v1/views").bearer_auth(token.reveal()).send().await.unwrap();
        assert_eq!(problem(answer).await.0, StatusCode::FORBIDDEN, "{name}");
    }
    assert_eq!(problem(hub.get("/api/v1/views").send().await.unwrap()).await.0, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn views_are_as_described() {
    let hub = Hub::start().await;
    let description = strict(description(&hub).await);
    let path = "/api/v1/views/{name}";
    for body in [json!({"address": "/", "favourite": true}), json!({"address": "x"}), json!({"adress": "/"})] {
        let request = hub.client.put(hub.url("/api/v1/views/a")).json(&body);
        let answer = request.send().await.unwrap();
        if answer.status() != StatusCode::NO_CONTENT {
            description::check(&description, (Method::PUT, path), answer).await;
        }
    }
    let listed = hub.get("/api/v1/views").send().await.unwrap();
    description::check(&description, (Method::GET, "/api/v1/views"), listed).await;
    let unknown = hub.client.delete(hub.url("/api/v1/views/b")).send().await.unwrap();
    description::check(&description, (Method::DELETE, path), unknown).await;
}
