//! Each status that a response can have.

use hub::limits::SUBMIT_TIMEOUT;
use reqwest::StatusCode;
use serde_json::{Value, json};

use super::{Hub, later, problem, report};

async fn check(request: reqwest::RequestBuilder, status: StatusCode, kind: &str) -> String {
    let (found, found_kind, detail) = problem(request.send().await.unwrap()).await;
    assert_eq!((found, found_kind.as_str()), (status, kind), "{detail}");
    detail
}

fn json_body(hub: &Hub, body: &'static str) -> reqwest::RequestBuilder {
    hub.post("/api/v1/reports").header("content-type", "application/json").body(body)
}

#[tokio::test]
async fn acknowledged_reports_are_stored() {
    let hub = Hub::start().await;
    let body = json!([report("a", "one"), report("b", "two"), report("a", "one")]);
    let response = hub.post("/api/v1/reports").json(&body).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let receipt: Value = response.json().await.unwrap();
    assert_eq!(receipt["stored"], 2, "{receipt}");
    assert_eq!(hub.history().await, ["a/checkout: one", "b/checkout: two"]);
}

#[tokio::test]
async fn invalid_report_does_not_affect_the_others() {
    let hub = Hub::start().await;
    let body = format!("{}\n{{\"host\": \"b\"}}\n", report("a", "one"));
    let request = hub.post("/api/v1/reports").header("content-type", "application/x-ndjson").body(body);
    let receipt: Value = request.send().await.unwrap().json().await.unwrap();
    assert_eq!((&receipt["stored"], &receipt["refused"][0]["index"]), (&json!(1), &json!(1)), "{receipt}");
    assert_eq!(hub.history().await, ["a/checkout: one"]);
}

#[tokio::test]
async fn malformed_requests_are_400() {
    let hub = Hub::start().await;
    check(json_body(&hub, ""), StatusCode::BAD_REQUEST, "malformed").await;
    let not_gzip = json_body(&hub, "{}").header("content-encoding", "gzip");
    check(not_gzip, StatusCode::BAD_REQUEST, "malformed").await;
}

#[tokio::test]
async fn impossible_reports_are_422() {
    let hub = Hub::start().await;
    let body = r#"{"host": "a", "reconciler": "r", "status": "success", "observedAt": "2999-01-01T00:00:00Z"}"#;
    let detail = check(json_body(&hub, body), StatusCode::UNPROCESSABLE_ENTITY, "unprocessable").await;
    assert!(detail.contains("observedAt"), "{detail}");
}

#[tokio::test]
async fn unknown_paths_are_404_and_other_methods_405() {
    let hub = Hub::start().await;
    check(hub.get("/nothing"), StatusCode::NOT_FOUND, "not-found").await;
    check(hub.get("/api/v1/reports"), StatusCode::METHOD_NOT_ALLOWED, "method").await;
    let response = hub.get("/api/v1/reports").send().await.unwrap();
    assert_eq!(response.headers()["allow"], "POST");
}

#[tokio::test]
async fn other_formats_and_encodings_are_415() {
    let hub = Hub::start().await;
    let text = hub.post("/api/v1/reports").body("{}");
    check(text, StatusCode::UNSUPPORTED_MEDIA_TYPE, "media-type").await;
    let brotli = json_body(&hub, "{}").header("content-encoding", "br");
    check(brotli, StatusCode::UNSUPPORTED_MEDIA_TYPE, "media-type").await;
}

#[tokio::test]
async fn unavailable_database_is_503() {
    let hub = Hub::start().await;
    // Another process has the only write lock for longer than the hub waits for it.
    let mut lock = hub.database.begin().await.unwrap();
    lock.execute("update host set name = name", vec![]).await.unwrap();
    let request = tokio::spawn(hub.post("/api/v1/reports").json(&report("a", "one")).send());
    // When this second request has ended, the first one waits.
    hub.get("/metrics").send().await.unwrap();
    later(SUBMIT_TIMEOUT).await;
    let response = request.await.unwrap().unwrap();
    assert_eq!(response.headers()["retry-after"], "5");
    let (status, kind, detail) = problem(response).await;
    assert_eq!((status, kind.as_str()), (StatusCode::SERVICE_UNAVAILABLE, "unavailable"));
    assert!(!detail.contains("hub.db"), "{detail}");
}
