//! The endpoints for operators of the hub.

use reqwest::StatusCode;
use serde_json::{Value, json};

use super::{Hub, problem, report};

#[tokio::test]
async fn health_and_readiness_need_no_token() {
    let hub = Hub::start().await;
    hub.token("t", hub_api::tokens::Scope::Read(hub_api::tokens::Reach::ALL)).await;
    for path in ["/healthz", "/readyz", "/api/v1/openapi.json"] {
        assert_eq!(hub.get(path).send().await.unwrap().status(), StatusCode::OK, "{path}");
    }
    assert_eq!(problem(hub.get("/metrics").send().await.unwrap()).await.0, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn answers_are_safe_and_have_an_id() {
    let hub = Hub::start().await;
    let response = hub.get("/nothing").header("x-request-id", "from-the-proxy").send().await.unwrap();
    for (name, value) in [
        ("x-request-id", "from-the-proxy"),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("cache-control", "no-store"),
    ] {
        assert_eq!(response.headers()[name], value);
    }
    let response = hub.get("/healthz").header("x-request-id", "<script>").send().await.unwrap();
    assert_eq!(response.headers()["x-request-id"].len(), 16);
}

#[tokio::test]
async fn metrics_count_requests_and_reports() {
    let hub = Hub::start().await;
    hub.post("/api/v1/reports").json(&report("a", "one")).send().await.unwrap();
    hub.get("/nothing-like-this").send().await.unwrap();
    let text = hub.get("/metrics").send().await.unwrap().text().await.unwrap();
    for line in [
        "kalypso_hub_requests_total{route=\"/api/v1/reports\",status=\"200\"} 1",
        "kalypso_hub_requests_total{route=\"unknown\",status=\"404\"} 1",
        "kalypso_hub_reports_total{source=\"generic\",outcome=\"stored\"} 1",
        "kalypso_hub_store_duration_seconds_count 1",
        "kalypso_hub_reports_waiting 0",
        "kalypso_hub_database_up 1",
        "# EOF",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    assert!(!text.contains("nothing-like-this"));
}

const METRICS: &str = include_str!("../../../../docs/reference/metrics.md");

#[tokio::test]
async fn metrics_include_environments_and_are_in_the_reference() {
    let hub = Hub::start().await;
    let place =
        |path: &str| json!({"path": path, "tree": "a".repeat(40), "role": "application", "environment": "prod"});
    let publication = json!({"repository": "https://git.example/r", "branch": "prod", "commit": "c".repeat(40),
        "committedOn": "2026-11-01T00:00:00Z", "places": [place("a"), place("b")]});
    let published = hub.post("/api/v1/publications").json(&publication).send().await.unwrap();
    assert_eq!(published.status(), StatusCode::OK);
    for (host, path, status) in [("h-1", "a", "success"), ("h-2", "b", "failure")] {
        let place = json!({"repository": "https://git.example/r", "branch": "prod", "path": path});
        let report =
            json!({"host": host, "reconciler": path, "status": status, "revision": "c".repeat(40), "place": place});
        let reported = hub.post("/api/v1/reports").json(&report).send().await.unwrap();
        assert_eq!(reported.status(), StatusCode::OK);
    }
    let text = hub.get("/metrics").send().await.unwrap().text().await.unwrap();
    for line in [
        "kalypso_hub_environment_reconcilers{environment=\"prod\",state=\"succeeded\"} 1",
        "kalypso_hub_environment_reconcilers{environment=\"prod\",state=\"failed\"} 1",
        "kalypso_hub_environment_reconcilers{environment=\"prod\",state=\"outdated\"} 0",
        "kalypso_hub_environment_rollouts{environment=\"prod\",state=\"failed\"} 1",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    let oldest = text
        .lines()
        .find_map(|line| line.strip_prefix("kalypso_hub_environment_oldest_rollout_seconds{environment=\"prod\"} "));
    assert!(oldest.unwrap().parse::<i64>().unwrap() > 3_600, "{oldest:?}");
    // Series without a value have a type, too.
    for (name, kind) in text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' ')) {
        let name = if kind == "counter" { format!("{name}_total") } else { name.to_owned() };
        assert!(METRICS.contains(&format!("| `{name}` | {kind} |")), "{name} {kind}");
    }
}

#[tokio::test]
async fn http_2_works_without_tls() {
    let hub = Hub::start().await;
    let client = reqwest::Client::builder().no_proxy().http2_prior_knowledge().build().unwrap();
    let response = client.get(hub.url("/healthz")).send().await.unwrap();
    assert_eq!((response.version(), response.status()), (reqwest::Version::HTTP_2, StatusCode::OK));
}

#[tokio::test]
async fn the_description_is_openapi_3_1_and_complete() {
    let hub = Hub::start().await;
    let description: Value = hub.get("/api/v1/openapi.json").send().await.unwrap().json().await.unwrap();
    assert_eq!(description["openapi"], "3.1.0");
    let paths = description["paths"].as_object().unwrap();
    for (path, item) in paths {
        for (method, operation) in item.as_object().unwrap() {
            let described =
                ["summary", "operationId", "responses", "tags"].iter().all(|key| operation.get(key).is_some());
            assert!(described, "{method} {path}: {operation}");
        }
    }
    assert!(paths.contains_key("/api/v1/reports"));
}
