//! The description of the API.

use std::collections::BTreeSet;

use hub::authentication::authority::Authority;
use hub::http::{App, router};
use hub::writer::Writer;
use reqwest::{Method, StatusCode};
use serde_json::Value;

use super::Hub;

/// Routes that OpenAPI cannot or need not describe: the description itself, the service of gRPC, webhooks, whose payloads the git hosts define, and the
/// redirects for browsers.
const NOT_DESCRIBED: [&str; 8] = [
    "/api/v1/openapi.json",
    "/opentelemetry.proto.collector.logs.v1.LogsService/{*rest}",
    "/webhooks/{kind}",
    "/sign-in/callback",
    "/sign-in/oidc",
    "/sign-in/token",
    "/sign-out",
    "/sign-out/everywhere",
];

async fn description() -> Value {
    Hub::start().await.get("/api/v1/openapi.json").send().await.unwrap().json().await.unwrap()
}

#[tokio::test]
async fn every_question_describes_its_errors() {
    let description = description().await;
    let questions =
        ["deployments", "environments", "targets", "rollouts", "rollouts/{of}", "compare", "history", "drift"];
    for question in questions {
        let responses = &description["paths"][format!("/api/v1/{question}")]["get"]["responses"];
        let statuses: Vec<_> = responses.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(statuses, ["200", "304", "4XX", "5XX"], "{question}");
        let schema = &responses["4XX"]["content"]["application/problem+json"]["schema"]["$ref"];
        assert_eq!(schema, "#/components/schemas/Problem", "{question}");
    }
}

#[tokio::test]
async fn every_reference_resolves() {
    let description = description().await;
    assert!(description["openapi"].as_str().unwrap().starts_with("3.1."));
    let text = description.to_string();
    let references = text.split("\"$ref\":\"#").skip(1).filter_map(|rest| rest.split('"').next());
    let mut count = 0;
    for reference in references {
        assert!(description.pointer(reference).is_some(), "{reference}");
        count += 1;
    }
    assert!(count > 20);
}

/// The paths of all routes. A router shows them only in its debug format.
fn routes(hub: &Hub) -> BTreeSet<String> {
    let (ingest, _writer) = Writer::start(hub.database.clone());
    let authority = Authority::new(hub.database.clone(), None, true);
    let shown = format!("{:?}", router(App::new(hub.database.clone(), ingest, authority), None));
    let of_paths = shown.split("fallback_router").next().unwrap();
    let paths = of_paths.split("\"/").skip(1).filter_map(|rest| rest.split('"').next());
    paths.map(|path| format!("/{path}")).collect()
}

#[tokio::test]
async fn every_route_is_described_and_everything_that_is_described_has_a_route() {
    let description = description().await;
    let described = description["paths"].as_object().unwrap().keys().cloned();
    let expected: BTreeSet<_> = described.chain(NOT_DESCRIBED.map(str::to_owned)).collect();
    assert_eq!(routes(&Hub::start().await), expected);
}

#[tokio::test]
async fn a_route_takes_the_methods_that_are_described_and_no_others() {
    let hub = Hub::start().await;
    for (path, operations) in description().await["paths"].as_object().unwrap() {
        let refused = hub.client.request(Method::TRACE, hub.url(&path.replace(['{', '}'], "")));
        let refused = refused.send().await.unwrap();
        assert_eq!(refused.status(), StatusCode::METHOD_NOT_ALLOWED, "{path}");
        let allowed = refused.headers()["allow"].to_str().unwrap().to_lowercase();
        // Each route with `GET` also accepts `HEAD`.
        let allowed: BTreeSet<_> = allowed.split(',').filter(|method| *method != "head").collect();
        assert_eq!(allowed, operations.as_object().unwrap().keys().map(String::as_str).collect(), "{path}");
    }
}
