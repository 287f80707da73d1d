//! The description of the API is a valid OpenAPI document, and the responses match it.

use std::collections::BTreeSet;

use jsonschema::{Validator, draft202012};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::Hub;

pub(super) async fn description(hub: &Hub) -> Value {
    hub.get("/api/v1/openapi.json").send().await.unwrap().json().await.unwrap()
}

/// The validation errors, each with its location.
fn problems(validator: &Validator, instance: &Value) -> Vec<String> {
    validator.iter_errors(instance).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// Visits each value of the description, with its location.
fn visit(value: &Value, place: &str, visitor: &mut impl FnMut(&str, &Value)) {
    visitor(place, value);
    let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| visit(value, &format!("{place}/{}", escaped(key)), visitor));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| visit(item, &format!("{place}/{index}"), visitor));
        }
        _ => {}
    }
}

/// The schema at a location of the description.
fn schema_at(description: &Value, place: &str) -> Validator {
    let mut root = description.clone();
    root["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    root["$ref"] = format!("#{}", place.replace('{', "%7B").replace('}', "%7D")).into();
    jsonschema::validator_for(&root).unwrap_or_else(|error| panic!("{place}: {error}"))
}

#[tokio::test]
async fn description_is_valid_openapi() {
    let schema = serde_json::from_str(include_str!("openapi-3.1/schema.json")).unwrap();
    let description = description(&Hub::start().await).await;
    assert_eq!(problems(&jsonschema::validator_for(&schema).unwrap(), &description), [""; 0]);
    let mut wrong = description;
    wrong["paths"]["/healthz"]["get"]["responses"]["200"]["describtion"] = "x".into();
    assert!(!problems(&jsonschema::validator_for(&schema).unwrap(), &wrong).is_empty());
}

#[tokio::test]
async fn its_schemas_are_json_schemas_and_their_examples_are_right() {
    let description = description(&Hub::start().await).await;
    let (mut schemas, mut examples) = (0, 0);
    let mut visitor = |place: &str, value: &Value| {
        let (parent, name) = place.rsplit_once('/').unwrap_or_default();
        if name == "schema" || parent == "/components/schemas" {
            draft202012::meta::validate(value).unwrap_or_else(|error| panic!("{place}: {error}"));
            schemas += 1;
        }
        if let Some(example) = value.get("example") {
            assert_eq!(problems(&schema_at(&description, place), example), [""; 0], "{place}");
            examples += 1;
        }
    };
    visit(&description, "", &mut visitor);
    assert!(schemas > 80 && examples > 3, "{schemas} schemas, {examples} examples");
}

/// The description with schemas that allow only the described fields, so that an undescribed field causes an error.
pub(super) fn strict(mut description: Value) -> Value {
    let mut parts = BTreeSet::new();
    visit(&description, "", &mut |place, value| {
        let of_all = place.rsplit('/').nth(1) == Some("allOf");
        if let (true, Some(whole)) = (of_all, value["$ref"].as_str()) {
            parts.insert(whole.trim_start_matches('#').to_owned());
        }
        if of_all {
            parts.insert(place.to_owned());
        }
    });
    let mut whole = Vec::new();
    visit(&description, "", &mut |place, value| {
        let has_fields = value["properties"].is_object() || value["allOf"].is_array();
        // A variant of a `oneOf` is a part if the `oneOf` is one.
        let is_part = parts.iter().any(|part| place == part || place.starts_with(&format!("{part}/oneOf/")));
        if has_fields && place.starts_with("/components/schemas/") && !is_part {
            whole.push(place.to_owned());
        }
    });
    for place in whole {
        if let Some(Value::Object(schema)) = description.pointer_mut(&place) {
            schema.insert("unevaluatedProperties".into(), false.into());
        }
    }
    description
}

/// A hub with data of each kind.
async fn filled() -> Hub {
    let hub = Hub::start().await;
    let target = |name: &str, version: &str| {
        json!({"workspace": "acme", "application": "shop", "workload": name, "name": "eu", "environment": "prod",
        "labels": {"region": "eu"}, "version": {"version": version}})
    };
    for (commit, version) in [("1", "1.0"), ("2", "1.1")] {
        for environment in ["stage", "prod"] {
            let mut web = target("web", version);
            web["environment"] = environment.into();
            let platform = json!({"path": "edge/web", "tree": commit.repeat(40), "role": "platform", "environment": environment,
                "clusterType": "edge", "configVersion": format!("c{version}"), "targets": [web]});
            let application = json!({"path": "web", "tree": commit.repeat(40), "role": "application", "environment": environment, "targets": [web]});
            for (repository, place) in [("platform", platform), ("application", application)] {
                let publication = json!({"repository": format!("https://git.example/{repository}"), "branch": environment,
                    "commit": commit.repeat(40), "committedOn": "2026-11-01T00:00:00Z", "places": [place]});
                let answer = hub.post("/api/v1/publications").json(&publication).send().await.unwrap();
                assert_eq!(answer.status(), StatusCode::OK, "{}", answer.text().await.unwrap());
            }
        }
    }
    let report = |host: &str, kind: &str, path: &str, (commit, status): (&str, &str)| {
        json!({"host": host, "reconciler": kind, "type": "flux", "status": status, "message": "so it is", "version": "1.1",
            "place": {"repository": format!("https://git.example/{kind}"), "branch": "prod", "path": path},
            "revision": format!("prod@sha1:{}", commit.repeat(40)), "heartbeatSeconds": 3600, "labels": {"region": "eu"}})
    };
    let reports = json!([
        report("a", "platform", "edge/web", ("2", "success")),
        report("a", "application", "web", ("2", "success")),
        report("b", "platform", "edge/web", ("1", "failure")),
        report("b", "application", "web", ("2", "in_progress")),
        report("c", "application", "elsewhere", ("9", "success")),
    ]);
    let answer = hub.post("/api/v1/reports").json(&reports).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK, "{}", answer.text().await.unwrap());
    hub
}

/// Queries that are answered, and queries that are refused.
const QUESTIONS: [(&str, &str); 61] = [
    ("/api/v1/deployments", "?limit=2"),
    ("/api/v1/deployments", "?status=failed"),
    ("/api/v1/deployments", "?at=2026-11-20T00:00:00Z"),
    ("/api/v1/deployments", "?host=nobody"),
    ("/api/v1/deployments", "?limit=none"),
    ("/api/v1/environments", ""),
    ("/api/v1/environments", "?selector=region%3Deu"),
    ("/api/v1/counts", "?rows=workload"),
    ("/api/v1/counts", "?rows=hostLabel:region&columns=version&sort=name&rowLimit=1"),
    ("/api/v1/counts", "?rows=environment&columns=state&at=2026-11-20T00:00:00Z"),
    ("/api/v1/counts", "?rows=nothing"),
    ("/api/v1/targets", "?environment=prod"),
    ("/api/v1/targets", "?at=2026-11-20T00:00:00Z"),
    ("/api/v1/rollouts", ""),
    ("/api/v1/places/states", "?limit=10000"),
    ("/api/v1/places/states", "?workload=web&limit=1"),
    ("/api/v1/places/states", "?limit=10001"),
    ("/api/v1/rollouts/{of}", "web"),
    ("/api/v1/rollouts/{of}", "web@1.1"),
    ("/api/v1/rollouts/{of}", "1.1"),
    ("/api/v1/rollouts/{of}", "2222222222222222222222222222222222222222"),
    ("/api/v1/rollouts/{of}", "nothing"),
    ("/api/v1/rollouts/{of}/curve", "web/curve"),
    ("/api/v1/rollouts/{of}/curve", "nothing/curve"),
    ("/api/v1/rollouts/{of}/hosts", "web/hosts"),
    ("/api/v1/rollouts/{of}/hosts", "1.1/hosts?status=failed"),
    ("/api/v1/compare", "?from=stage&to=prod"),
    ("/api/v1/compare", "?from=stage&to=nowhere"),
    ("/api/v1/history", ""),
    ("/api/v1/history", "?host=a&limit=1"),
    ("/api/v1/drift", ""),
    ("/api/v1/drift/{kind}", "unknownContent"),
    ("/api/v1/drift/{kind}", "unknownPlace"),
    ("/api/v1/drift/{kind}", "removedPlace"),
    ("/api/v1/drift/{kind}", "silent"),
    ("/api/v1/drift/{kind}", "nothing"),
    ("/api/v1/search", "?q=web"),
    ("/api/v1/search", "?q=2222&limit=1"),
    ("/api/v1/search", "?q="),
    ("/api/v1/watches", ""),
    ("/api/v1/rules", ""),
    ("/api/v1/audit", ""),
    ("/api/v1/audit", "?limit=0"),
    ("/api/v1/hosts", ""),
    ("/api/v1/hosts", "?limit=0"),
    ("/api/v1/apart-reports", ""),
    ("/api/v1/apart-reports", "?limit=0"),
    ("/api/v1/tokens", ""),
    ("/api/v1/caller", ""),
    ("/api/v1/session", ""),
    ("/api/v1/sessions", ""),
    ("/api/v1/views", ""),
    ("/api/v1/sign-in", ""),
    ("/healthz", ""),
    ("/livez", ""),
    ("/api/v1/syncs", ""),
    ("/api/v1/promotions", ""),
    ("/api/v1/promotion-events", ""),
    ("/api/v1/promotion-events", "?limit=0"),
    ("/readyz", ""),
    ("/metrics", ""),
];

/// The bodies of requests, with their paths.
fn bodies() -> [(&'static str, Value); 9] {
    let report = json!({"host": "d", "reconciler": "web", "status": "success"});
    let mut flux: Value = serde_json::from_str(include_str!("../payloads/flux-validation-failed.json")).unwrap();
    flux["metadata"]["host"] = "d".into();
    let event = json!({"id": "e", "at": "2026-11-01T00:00:00Z", "environment": "prod", "subject": "web", "revision": "r", "kind": "held",
        "ring": "canary", "text": "ann holds it", "by": "ann", "evidence": {"gates": []}});
    [
        ("/api/v1/reports", json!([report, {"host": "d"}])),
        ("/api/v1/reports", json!({"host": "d"})),
        ("/api/v1/reports/flux", flux),
        ("/api/v1/reports/argocd", serde_json::from_str(include_str!("../payloads/argocd-deployed.json")).unwrap()),
        ("/v1/logs", serde_json::from_str(include_str!("../payloads/otlp-logs.json")).unwrap()),
        ("/api/v1/publications", serde_json::from_str(include_str!("../payloads/publication.json")).unwrap()),
        ("/api/v1/promotion-events", json!([event])),
        ("/api/v1/promotion-events", json!([{"id": "", "at": "2026-11-01T00:00:00Z"}])),
        (
            "/deployment_state",
            json!({"manifests_endpoint": "https://git.example/application/prod/web", "commit_id": "2".repeat(40)}),
        ),
    ]
}

/// Checks that the status, the content type and the fields of a response are described. Returns the path and the status.
pub(super) async fn check(
    description: &Value,
    (method, path): (Method, &str),
    response: reqwest::Response,
) -> (String, u16) {
    let status = response.status().as_u16();
    let media_type = response.headers()["content-type"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let body = response.text().await.unwrap();
    let escaped = path.replace('/', "~1");
    let responses = format!("/paths/{escaped}/{}/responses", method.as_str().to_lowercase());
    let described = [status.to_string(), format!("{}XX", status / 100)];
    let described = described.iter().find(|name| description.pointer(&format!("{responses}/{name}")).is_some());
    let described = described.unwrap_or_else(|| panic!("{method} {path} answers {status}: {body}"));
    let place = format!("{responses}/{described}/content/{}/schema", media_type.replace('/', "~1"));
    assert!(description.pointer(&place).is_some(), "{method} {path} answers {status} with {media_type}");
    let body = if media_type.ends_with("json") { serde_json::from_str(&body).unwrap() } else { Value::String(body) };
    let wrong = problems(&schema_at(description, &place), &body);
    assert_eq!(wrong, [""; 0], "{method} {path} answers {status}: {body:#}");
    (path.to_owned(), status)
}

#[tokio::test]
async fn answers_are_as_described_and_have_no_other_fields() {
    let hub = filled().await;
    let description = strict(description(&hub).await);
    let mut seen = BTreeSet::new();
    for (path, rest) in QUESTIONS {
        let url = format!("{}{rest}", path.split('{').next().unwrap());
        let response = hub.get(&url).send().await.unwrap();
        seen.insert(check(&description, (Method::GET, path), response).await);
    }
    for (path, body) in bodies() {
        let response = hub.post(path).json(&body).send().await.unwrap();
        seen.insert(check(&description, (Method::POST, path), response).await);
    }
    let events = hub.get("/api/v1/promotion-events").send().await.unwrap();
    check(&description, (Method::GET, "/api/v1/promotion-events"), events).await;
    let answered: BTreeSet<_> = seen.iter().filter(|(_, status)| *status == 200).map(|(path, _)| &**path).collect();
    let paths: BTreeSet<_> = description["paths"].as_object().unwrap().keys().map(String::as_str).collect();
    // The remaining paths take no body in this test, or their responses do not end, or they need the service.
    // Questions about compiled environments are tested with the program that answers them.
    let of_compiled = |path: &&str| path.starts_with("/api/v1/environments/");
    let left: Vec<_> = paths.difference(&answered).copied().filter(|path| !of_compiled(path)).collect();
    let of_hosts = ["/api/v1/hosts/{name}", "/api/v1/hosts/{name}/restore", "/api/v1/hosts/{name}/retire"];
    let promotions = ["/api/v1/promotions/{environment}", "/api/v1/promotions/{environment}/commands"];
    let of_service = ["/api/v1/sync", "/api/v1/syncs/{environment}"];
    let first = ["/api/v1/confirmations", "/api/v1/events"];
    let expected = [
        &first[..],
        &of_hosts[..],
        &promotions,
        &["/api/v1/refresh"],
        &of_service[..],
        &["/api/v1/tokens/{name}", "/api/v1/views/{name}"],
    ]
    .concat();
    assert_eq!(left, expected);
}

#[tokio::test]
async fn tokens_are_as_described() {
    let hub = Hub::start().await;
    let description = strict(description(&hub).await);
    let admin = hub.token("admin", hub_api::tokens::Scope::Admin).await;
    for request in [
        json!({"name": "h", "role": "host", "host": "berlin", "expiresOn": "2099-01-01T00:00:00Z"}),
        json!({"name": "g", "role": "group", "hosts": "*", "labels": {"a": "b"}, "places": ["https://a"], "signs": true}),
        json!({"name": "r", "role": "read", "workspaces": ["web"]}),
        json!({"name": "p", "role": "publish", "environments": ["dev"]}),
        json!({"name": "m", "role": "manage"}),
        json!({"name": "m", "role": "manage"}),
    ] {
        let created = hub.post("/api/v1/tokens").bearer_auth(admin.reveal()).json(&request).send().await.unwrap();
        check(&description, (Method::POST, "/api/v1/tokens"), created).await;
    }
    let listed = hub.get("/api/v1/tokens").bearer_auth(admin.reveal()).send().await.unwrap();
    check(&description, (Method::GET, "/api/v1/tokens"), listed).await;
}

#[tokio::test]
async fn events_are_as_described() {
    let hub = filled().await;
    let event = json!([{"id": "e", "at": "2026-11-01T00:00:00Z", "environment": "prod", "kind": "started", "text": "it moves"}]);
    assert_eq!(hub.post("/api/v1/promotion-events").json(&event).send().await.unwrap().status(), StatusCode::OK);
    let description = strict(description(&hub).await);
    let path = "/paths/~1api~1v1~1events/get/responses/200/content/text~1event-stream/schema";
    let schema = schema_at(&description, path);
    // From the first event on.
    let mut stream = hub.get("/api/v1/events?after=ZXZlbnRzIDAgMCAw").send().await.unwrap();
    let (mut text, mut kinds) = (String::new(), BTreeSet::new());
    while kinds.len() < 3 {
        text.push_str(std::str::from_utf8(&stream.chunk().await.unwrap().unwrap()).unwrap());
        while let Some((event, rest)) = text.split_once("\n\n") {
            if let Some(data) = event.lines().find_map(|line| line.strip_prefix("data: ")) {
                let change: Value = serde_json::from_str(data).unwrap();
                assert_eq!(problems(&schema, &change), [""; 0], "{change:#}");
                kinds.insert(change["kind"].to_string());
            }
            text = rest.to_owned();
        }
    }
}
