//! Queries over HTTP.

use hub_api::client::Client;
use hub_api::counts::{CountDimension, CountQuery};
use hub_api::filter::Filter;
use hub_api::page::Page;
use hub_api::search::SearchQuery;
use reqwest::StatusCode;
use reqwest::header::{ETAG, IF_NONE_MATCH};
use serde_json::json;

use super::{Hub, problem, report};

async fn with_a_report() -> Hub {
    let hub = Hub::start().await;
    hub.post("/api/v1/reports").json(&report("a&b=%", "one")).send().await.unwrap();
    hub
}

#[tokio::test]
async fn every_question_has_its_route() {
    let hub = with_a_report().await;
    for path in [
        "deployments",
        "environments",
        "counts?rows=environment",
        "targets",
        "rollouts",
        "history",
        "drift",
        "drift/silent",
        "search?q=one",
    ] {
        let response = hub.get(&format!("/api/v1/{path}")).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK, "{path}: {}", response.text().await.unwrap());
    }
    for path in ["rollouts/1.0", "rollouts/1.0/hosts", "compare?from=stage&to=prod", "deployments?environment=prod"] {
        let response = hub.get(&format!("/api/v1/{path}")).send().await.unwrap();
        assert_eq!(problem(response).await.0, StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test]
async fn an_answer_that_is_known_is_not_sent_again() {
    let hub = with_a_report().await;
    let first = hub.get("/api/v1/deployments").send().await.unwrap();
    let tag = first.headers()[ETAG].clone();
    let again = || hub.get("/api/v1/deployments").header(IF_NONE_MATCH, tag.clone()).send();
    assert_eq!(again().await.unwrap().status(), StatusCode::NOT_MODIFIED);
    hub.post("/api/v1/reports").json(&report("another", "one")).send().await.unwrap();
    assert_eq!(again().await.unwrap().status(), StatusCode::OK);
}

#[tokio::test]
async fn a_parameter_that_is_written_wrongly_is_refused() {
    let hub = with_a_report().await;
    let response = hub.get("/api/v1/deployments?at=soon").send().await.unwrap();
    assert!(problem(response).await.2.starts_with("at: `soon` is no time"));
    for query in ["enviroment=prod", "limit=0", "limit=many", "cursor=x", "selector=a+b", "at=soon", "status=good"] {
        let response = hub.get(&format!("/api/v1/deployments?{query}")).send().await.unwrap();
        assert_eq!(problem(response).await.0, StatusCode::BAD_REQUEST, "{query}");
    }
}

#[tokio::test]
async fn counts_by_a_wrong_dimension_are_refused() {
    let hub = with_a_report().await;
    let response = hub.get("/api/v1/counts?rows=region").send().await.unwrap();
    let (_, _, detail) = problem(response).await;
    assert!(detail.starts_with("rows: `region` is no dimension: there are environment, workspace, "), "{detail}");
    for query in ["", "rows=state&limit=3", "rows=state&rowLimit=101", "rows=state&columns=x", "rows=hostLabel:a%20b"] {
        let response = hub.get(&format!("/api/v1/counts?{query}")).send().await.unwrap();
        assert_eq!(problem(response).await.0, StatusCode::BAD_REQUEST, "{query}");
    }
    for query in ["rows=hostLabel:zone", "rows=state&columns=hostLabel:zone&at=2026-01-01T00:00:00Z"] {
        let response = hub.get(&format!("/api/v1/counts?{query}")).send().await.unwrap();
        assert_eq!(problem(response).await.0, StatusCode::NOT_FOUND, "{query}");
    }
}

#[tokio::test]
async fn reads_without_permission_are_refused() {
    let hub = with_a_report().await;
    let token = hub.token("t", hub_api::tokens::Scope::host("h")).await;
    let response = hub.get("/api/v1/deployments").bearer_auth(token.reveal()).send().await.unwrap();
    assert_eq!(problem(response).await.0, StatusCode::FORBIDDEN);
    let response = hub.post("/deployment_state").json(&json!({})).send().await.unwrap();
    assert_eq!(problem(response).await.0, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn microsoft_deployment_state_requests_are_accepted() {
    let hub = with_a_report().await;
    let response = hub.post("/deployment_state").json(&json!({"manifests_endpoint": "nothing", "commit_id": "1"}));
    assert_eq!(response.send().await.unwrap().text().await.unwrap(), "{}");
    // Its clients often send no content type.
    let body = r#"{"manifests_endpoint": "nothing", "commit_id": "1"}"#;
    let response = hub.post("/deployment_state").body(body).send().await.unwrap();
    assert_eq!((response.status(), response.text().await.unwrap()), (StatusCode::OK, "{}".to_owned()));
    let response = hub.post("/deployment_state").body("{").send().await.unwrap();
    assert!(problem(response).await.2.starts_with("the question can't be read: "));
}

#[tokio::test]
async fn client_sends_queries_and_reads_answers() {
    let hub = with_a_report().await;
    let client = Client::new(&hub.url(""), None).unwrap();
    let filter = Filter { host: Some("a&b=%".into()), ..Filter::default() };
    let answer = client.deployments(&filter, &Page::default(), None).await.unwrap();
    assert_eq!(answer.items.iter().map(|row| row.host.as_str()).collect::<Vec<_>>(), ["a&b=%"]);
    let answer = client.environments(&Filter::default(), None).await.unwrap();
    assert!(answer.items.is_empty());
    let query = CountQuery::by(CountDimension::HostLabel("a=b".into()));
    let error = client.counts(&filter, &query).await.unwrap_err();
    assert!(error.to_string().starts_with("`rows`: "), "{error}");
    let answer = client.counts(&filter, &CountQuery::by(CountDimension::Host)).await.unwrap();
    assert_eq!((answer.rows, answer.row_count), (Vec::new(), 0));
    let found = client.search(&SearchQuery { q: "A&b".into(), limit: None }).await.unwrap();
    assert_eq!(found.groups[0].hits[0].name, "a&b=%");
    let filter = Filter { host: Some("a&b".into()), ..Filter::default() };
    let error = client.deployments(&filter, &Page::default(), None).await.unwrap_err();
    assert_eq!(error.to_string(), "there is no host `a&b`; did you mean `a&b=%`?");
}
