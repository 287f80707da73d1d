//! Permissions of tokens.

use std::time::Duration;

use hub::authentication::tokens::{self, NewToken};
use hub_api::timestamp::Timestamp;
use hub_api::token::TokenText;
use hub_api::tokens::{Group, Reach, Scope};
use reqwest::StatusCode;
use serde_json::{Value, json};

use super::{Hub, later, problem, report};

fn host(name: &str) -> Scope {
    Scope::host(name)
}

/// The status of the response to a report by the token's owner, and the error.
async fn check(hub: &Hub, token: &TokenText) -> (StatusCode, String) {
    let response = hub.report(token, &report("chicago-1", "one")).await;
    if response.status().is_success() {
        return (response.status(), String::new());
    }
    let (status, _, detail) = problem(response).await;
    (status, detail)
}

#[tokio::test]
async fn requests_without_a_token_are_refused_once_a_token_exists() {
    let hub = Hub::start().await;
    hub.token("t", Scope::Read(Reach::ALL)).await;
    let response = hub.post("/api/v1/reports").json(&report("a", "one")).send().await.unwrap();
    assert_eq!(response.headers()["www-authenticate"], "Bearer realm=\"kalypso\"");
    assert_eq!(problem(response).await.0, StatusCode::UNAUTHORIZED);
    assert_eq!(hub.history().await, [""; 0]);
}

#[tokio::test]
async fn open_hub_refuses_foreign_host_headers() {
    let hub = Hub::start().await;
    let request = hub.post("/api/v1/reports").header("host", "evil.example").json(&report("a", "one"));
    assert_eq!(problem(request.send().await.unwrap()).await.0, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn token_overrides_the_host_in_the_body() {
    let hub = Hub::start().await;
    let token = hub.token("t", host("berlin")).await;
    assert_eq!(check(&hub, &token).await.0, StatusCode::OK);
    assert_eq!(hub.history().await, ["berlin/checkout: one"]);
}

#[tokio::test]
async fn a_group_reports_for_the_hosts_of_its_pattern() {
    let hub = Hub::start().await;
    let group = |hosts: &str| Scope::Group(Group { hosts: hosts.into(), ..Group::default() });
    let chicago = hub.token("chicago", group("chicago-*")).await;
    let berlin = hub.token("berlin", group("berlin-*")).await;
    assert_eq!(check(&hub, &chicago).await.0, StatusCode::OK);
    let (status, detail) = check(&hub, &berlin).await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    assert!(detail.contains("`chicago-1` is not one of the hosts"), "{detail}");
    assert_eq!(hub.history().await, ["chicago-1/checkout: one"]);
}

#[tokio::test]
async fn forged_tokens_and_schemes_are_refused() {
    let hub = Hub::start().await;
    let token = hub.token("t", host("berlin")).await;
    let forged =
        format!("kals_{}_{}", token.id(), TokenText::random().unwrap().reveal().split('_').next_back().unwrap());
    assert_eq!(
        check(&hub, &forged.parse().unwrap()).await,
        (StatusCode::UNAUTHORIZED, "the token is not known".into())
    );
    assert_eq!(check(&hub, &TokenText::random().unwrap()).await.0, StatusCode::UNAUTHORIZED);
    let basic = hub.post("/api/v1/reports").basic_auth("me", Some(token.reveal())).json(&report("a", "one"));
    assert_eq!(problem(basic.send().await.unwrap()).await.0, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn revoked_token_is_refused_after_five_seconds() {
    let hub = Hub::start().await;
    let token = hub.token("t", host("berlin")).await;
    assert_eq!(check(&hub, &token).await.0, StatusCode::OK);
    tokens::revoke(&hub.database, "t", "test").await.unwrap();
    later(hub::limits::TOKEN_CACHE).await;
    assert_eq!(check(&hub, &token).await, (StatusCode::UNAUTHORIZED, "the token is revoked".into()));
}

#[tokio::test]
async fn an_expired_token_is_refused() {
    let hub = Hub::start().await;
    let expires_on = Some(Timestamp::now().before(Duration::from_secs(1)));
    let token = NewToken { name: "t".into(), scope: host("berlin"), signs: false, expires_on };
    let token = tokens::create(&hub.database, &token, "test").await.unwrap();
    assert_eq!(check(&hub, &token).await, (StatusCode::UNAUTHORIZED, "the token has expired".into()));
}

#[tokio::test]
async fn a_rotated_token_has_a_grace_time() {
    let hub = Hub::start().await;
    let old = hub.token("t", host("berlin")).await;
    let second = tokens::rotate(&hub.database, "t", (Duration::from_mins(1), "test")).await.unwrap();
    assert_eq!([check(&hub, &old).await.0, check(&hub, &second).await.0], [StatusCode::OK; 2]);
    let third = tokens::rotate(&hub.database, "t", (Duration::ZERO, "test")).await.unwrap();
    later(hub::limits::TOKEN_CACHE).await;
    assert_eq!([check(&hub, &old).await.0, check(&hub, &second).await.0], [StatusCode::UNAUTHORIZED; 2]);
    assert_eq!(check(&hub, &third).await.0, StatusCode::OK);
}

#[tokio::test]
async fn readers_cannot_report_and_reporters_cannot_read() {
    let hub = Hub::start().await;
    let reader = hub.token("reader", Scope::Read(Reach::ALL)).await;
    let reporter = hub.token("reporter", host("berlin")).await;
    assert_eq!(check(&hub, &reader).await.0, StatusCode::FORBIDDEN);
    let metrics = |token: &TokenText| hub.get("/metrics").bearer_auth(token.reveal()).send();
    assert_eq!(metrics(&reader).await.unwrap().status(), StatusCode::OK);
    assert_eq!(problem(metrics(&reporter).await.unwrap()).await.0, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn reports_about_other_places_are_kept_apart_in_every_format() {
    let hub = Hub::start().await;
    let (token, manager) = (hub.token("t", host("berlin")).await, hub.token("manager", Scope::Manage).await);
    let publisher = hub.token("publisher", Scope::Publish(Reach::ALL)).await;
    let place =
        json!({"path": "paris", "tree": "a".repeat(40), "role": "platform", "environment": "prod", "cluster": "paris"});
    let commit = "c".repeat(40);
    let publication =
        json!({"repository": "https://git.example/r", "branch": "prod", "commit": commit, "places": [place]});
    let sent =
        hub.post("/api/v1/publications").bearer_auth(publisher.reveal()).json(&publication).send().await.unwrap();
    assert_eq!(sent.status(), StatusCode::OK);
    let place = json!({"repository": "https://git.example/r", "branch": "prod", "path": "paris"});
    let about = json!({"host": "paris", "reconciler": "generic", "status": "failure", "place": place});
    let elsewhere = json!([{"reconciler": "own", "status": "success"}, about]);
    let answer: Value = hub.report(&token, &elsewhere).await.json().await.unwrap();
    assert_eq!((&answer["stored"], &answer["apart"][0]["index"]), (&json!(1), &json!(1)), "{answer}");
    assert!(answer["apart"][0]["message"].as_str().unwrap().contains("kept apart and not counted"), "{answer}");
    let mut event: Value =
        serde_json::from_str(include_str!("../payloads/flux-reconciliation-succeeded.json")).unwrap();
    event["metadata"] =
        json!({"host": "paris", "repository": "https://git.example/r", "branch": "prod", "path": "paris"});
    let attribute = |key: &str, value: &str| json!({"key": format!("kalypso.{key}"), "value": {"stringValue": value}});
    let attributes = json!([
        attribute("reconciler", "otlp"),
        attribute("status", "success"),
        attribute("place.repository", "https://git.example/r"),
        attribute("place.branch", "prod"),
        attribute("place.path", "paris")
    ]);
    let logs = json!({"resourceLogs": [{"scopeLogs": [{"logRecords": [{"attributes": attributes}]}]}]});
    for (path, body) in [("/api/v1/reports/flux", event), ("/v1/logs", logs)] {
        let response = hub.post(path).bearer_auth(token.reveal()).json(&body).send().await.unwrap();
        let text = response.text().await.unwrap();
        assert!(text.contains("kept apart and not counted"), "{path}: {text}");
    }
    let listed = hub.get("/api/v1/apart-reports").bearer_auth(manager.reveal()).send().await.unwrap();
    let listed: Value = listed.json().await.unwrap();
    let items: Vec<_> =
        listed["items"].as_array().unwrap().iter().map(|item| (&item["host"], &item["reason"])).collect();
    assert_eq!(items, [(&json!("berlin"), &json!("place")); 3], "{listed}");
    assert_eq!(hub.history().await, ["berlin/own: "]);
}
