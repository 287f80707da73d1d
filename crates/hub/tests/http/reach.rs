//! Tokens that are limited to workspaces and environments: the responses of each route to them.

use std::collections::{BTreeMap, BTreeSet};

use Expected::{Limited, Open, Refused};
use hub_api::token::TokenText;
use hub_api::tokens::{Reach, Scope};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::Hub;

/// The behaviour of a route with a token that may read one workspace in one environment. Each new route must be added here.
enum Expected {
    /// The route answers these paths, without data of other workspaces and environments.
    Limited(&'static [&'static str]),
    /// The route is about everything, or is not a query.
    Refused,
    /// The route requires no permission.
    Open,
}

const ROUTES: &[(&str, &str, Expected)] = &[
    ("get", "/api/v1/deployments", Limited(&["/api/v1/deployments", "/api/v1/deployments?status=succeeded,failed"])),
    ("get", "/api/v1/environments", Limited(&["/api/v1/environments"])),
    // What a limited token gets of them is tested with the program that answers.
    ("get", "/api/v1/environments/{environment}/assignments", Limited(&[])),
    ("get", "/api/v1/environments/{environment}/assignments/{place}/{target}", Limited(&[])),
    ("get", "/api/v1/environments/{environment}/assignments/{place}/{target}/difference", Limited(&[])),
    ("get", "/api/v1/environments/{environment}/assignments/{place}/{target}/files", Limited(&[])),
    ("get", "/api/v1/environments/{environment}/contract", Limited(&[])),
    ("get", "/api/v1/environments/{environment}/findings", Limited(&[])),
    ("get", "/api/v1/environments/{environment}/values", Limited(&[])),
    ("get", "/api/v1/environments/{environment}/why-not", Limited(&[])),
    (
        "get",
        "/api/v1/counts",
        Limited(&[
            "/api/v1/counts?rows=workload&columns=environment",
            "/api/v1/counts?rows=workspace&columns=version",
            "/api/v1/counts?rows=target&columns=host",
            "/api/v1/counts?rows=target&columns=clusterType&at=2026-12-01T00:00:00Z",
        ]),
    ),
    ("get", "/api/v1/targets", Limited(&["/api/v1/targets"])),
    ("get", "/api/v1/places/states", Limited(&["/api/v1/places/states", "/api/v1/places/states?workload=web"])),
    ("get", "/api/v1/rollouts", Limited(&["/api/v1/rollouts"])),
    ("get", "/api/v1/rollouts/{of}", Limited(&["/api/v1/rollouts/web", "/api/v1/rollouts/1.0"])),
    ("get", "/api/v1/rollouts/{of}/curve", Limited(&["/api/v1/rollouts/web/curve"])),
    ("get", "/api/v1/rollouts/{of}/hosts", Limited(&["/api/v1/rollouts/web/hosts"])),
    ("get", "/api/v1/compare", Limited(&["/api/v1/compare?from=stage&to=stage"])),
    ("get", "/api/v1/history", Limited(&["/api/v1/history", "/api/v1/history?host=shared"])),
    ("get", "/api/v1/drift", Limited(&["/api/v1/drift"])),
    ("get", "/api/v1/drift/{kind}", Limited(&["/api/v1/drift/unknownPlace", "/api/v1/drift/unknownContent"])),
    (
        "get",
        "/api/v1/search",
        Limited(&[
            "/api/v1/search?q=hidden",
            "/api/v1/search?q=web",
            "/api/v1/search?q=h",
            "/api/v1/search?q=cccc",
            "/api/v1/search?q=dddd",
        ]),
    ),
    ("get", "/api/v1/events", Limited(&[])),
    ("get", "/api/v1/caller", Limited(&["/api/v1/caller"])),
    ("get", "/api/v1/session", Limited(&["/api/v1/session"])),
    ("get", "/api/v1/sign-in", Open),
    // They are of the caller alone, whatever its reach.
    ("get", "/api/v1/views", Limited(&["/api/v1/views"])),
    ("put", "/api/v1/views/{name}", Limited(&[])),
    ("delete", "/api/v1/views/{name}", Limited(&[])),
    ("get", "/api/v1/sessions", Refused),
    ("delete", "/api/v1/sessions", Refused),
    ("get", "/api/v1/rules", Refused),
    ("get", "/api/v1/watches", Refused),
    ("get", "/metrics", Refused),
    ("get", "/api/v1/audit", Refused),
    ("get", "/api/v1/hosts", Refused),
    ("get", "/api/v1/apart-reports", Refused),
    ("get", "/api/v1/tokens", Refused),
    ("delete", "/api/v1/tokens/{name}", Refused),
    ("post", "/api/v1/tokens", Refused),
    ("post", "/api/v1/hosts/{name}/restore", Refused),
    ("post", "/api/v1/hosts/{name}/retire", Refused),
    ("put", "/api/v1/hosts/{name}", Refused),
    ("get", "/api/v1/publications", Refused),
    ("post", "/api/v1/publications", Refused),
    ("post", "/api/v1/refresh", Refused),
    ("get", "/api/v1/syncs", Limited(&["/api/v1/syncs"])),
    ("get", "/api/v1/syncs/{environment}", Refused),
    ("post", "/api/v1/sync", Refused),
    ("get", "/api/v1/promotion-events", Limited(&["/api/v1/promotion-events"])),
    ("post", "/api/v1/promotion-events", Refused),
    ("get", "/api/v1/promotions", Limited(&["/api/v1/promotions"])),
    ("get", "/api/v1/promotions/{environment}", Limited(&[])),
    ("post", "/api/v1/promotions/{environment}/commands", Refused),
    ("post", "/api/v1/confirmations", Refused),
    ("post", "/api/v1/reports", Refused),
    ("post", "/api/v1/reports/argocd", Refused),
    ("post", "/api/v1/reports/flux", Refused),
    ("post", "/deployment_state", Refused),
    ("post", "/v1/logs", Refused),
    ("get", "/healthz", Open),
    ("get", "/livez", Open),
    ("get", "/readyz", Open),
];

/// The words in names and messages of the other environment, and of the other workspace.
const OTHERS: [&str; 2] = ["hidden-env", "hidden-team"];

fn reach(workspaces: &[&str], environments: &[&str]) -> Reach {
    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    Reach { workspaces: names(workspaces), environments: names(environments) }
}

fn place(path: &str, environment: &str, workspaces: &[&str]) -> Value {
    let target = |workspace: &&str| {
        let (application, workload) =
            if *workspace == "open-team" { ("site", "web") } else { ("hidden-team-app", "hidden-team-load") };
        json!({"workspace": workspace, "application": application, "workload": workload, "name": format!("{workload}-{environment}"),
               "environment": environment, "version": {"version": if *workspace == "open-team" { "1.0" } else { "hidden-team-9" }}})
    };
    let targets: Vec<_> = workspaces.iter().map(target).collect();
    let mut place = json!({"path": path, "tree": "a".repeat(40), "role": "application", "environment": environment, "targets": targets});
    if let Some(name) = path.strip_suffix("-platform") {
        place["role"] = "platform".into();
        place["clusterType"] = format!("{name}-type").into();
    }
    place
}

fn publication(branch: &str, digit: &str, places: &[Value]) -> Value {
    json!({"repository": "https://git.example/acme/apps", "branch": branch, "commit": digit.repeat(40),
           "committedOn": "2026-11-01T00:00:00Z", "places": places})
}

/// A hub with two environments and two workspaces, and hosts in all of them.
async fn company() -> (Hub, TokenText) {
    let hub = Hub::start().await;
    let admin = hub.token("admin", Scope::Admin).await;
    let stage = [
        place("web", "stage", &["open-team"]),
        place("hidden-team", "stage", &["hidden-team"]),
        place("both", "stage", &["open-team", "hidden-team"]),
        place("hidden-team-platform", "stage", &["hidden-team"]),
    ];
    let other = [
        place("hidden-env-web", "hidden-env", &["open-team"]),
        place("hidden-env-platform", "hidden-env", &["open-team"]),
    ];
    for body in [publication("stage", "c", &stage), publication("hidden-env", "d", &other)] {
        let published = hub.post("/api/v1/publications").bearer_auth(admin.reveal()).json(&body).send().await.unwrap();
        assert_eq!(published.status(), StatusCode::OK, "{}", published.text().await.unwrap());
    }
    let reports = [
        ("h-1", "web", "stage", "web"),
        ("shared", "web", "stage", "both"),
        ("hidden-team-host", "hidden-team-load", "stage", "hidden-team"),
        ("shared", "hidden-team-load", "stage", "hidden-team"),
        ("hidden-env-host", "web", "hidden-env", "hidden-env-web"),
        ("hidden-env-hidden-team-lost", "x", "nowhere", "hidden"),
    ];
    for (host, reconciler, branch, path) in reports {
        let message =
            if host == "h-1" || path == "both" { "fine".to_owned() } else { format!("of {host}, hidden-team") };
        let message = if branch == "hidden-env" { "hidden-env".to_owned() } else { message };
        let revision = if branch == "hidden-env" { "d" } else { "c" }.repeat(40);
        let report = json!({"host": host, "reconciler": reconciler, "status": "success", "revision": revision, "message": message,
            "place": {"repository": "https://git.example/acme/apps", "branch": branch, "path": path}});
        assert_eq!(hub.report(&admin, &report).await.status(), StatusCode::OK);
    }
    let events = [("stage", "web"), ("stage", "hidden-team-load"), ("hidden-env", "web"), ("stage", "")];
    let event = |(environment, workload): (&str, &str)| {
        let text = if environment == "stage" { workload } else { environment };
        json!({"id": format!("{environment} {workload}"), "at": "2026-11-29T00:00:00Z", "environment": environment,
            "subject": Some(workload).filter(|workload| !workload.is_empty()),
            "kind": "held", "by": "ann", "text": text})
    };
    let events: Vec<_> = events.into_iter().map(event).collect();
    let sent =
        hub.post("/api/v1/promotion-events").bearer_auth(admin.reveal()).json(&json!(events)).send().await.unwrap();
    assert_eq!(sent.status(), StatusCode::OK, "{}", sent.text().await.unwrap());
    (hub, admin)
}

async fn get(hub: &Hub, token: &TokenText, path: &str) -> (StatusCode, String) {
    let response = hub.get(path).bearer_auth(token.reveal()).send().await.unwrap();
    (response.status(), response.text().await.unwrap())
}

#[tokio::test]
async fn limited_token_sees_only_its_reach_on_every_route() {
    let (hub, _) = company().await;
    let description: Value = hub.get("/api/v1/openapi.json").send().await.unwrap().json().await.unwrap();
    let described = description["paths"].as_object().unwrap().iter().flat_map(|(path, operations)| {
        operations.as_object().unwrap().keys().map(move |method| (method.clone(), path.clone()))
    });
    let expected: BTreeMap<_, _> =
        ROUTES.iter().map(|(method, path, expected)| (((*method).to_owned(), (*path).to_owned()), expected)).collect();
    let described: Vec<_> = described.collect();
    assert!(described.iter().all(|route| expected.contains_key(route)), "{described:?}");
    assert_eq!(described.len(), expected.len());
    let token = hub.token("both", Scope::Read(reach(&["open-team"], &["stage"]))).await;
    for ((method, path), expected) in &expected {
        let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
        match expected {
            Limited(paths) => {
                for path in *paths {
                    let (status, body) = get(&hub, &token, path).await;
                    assert_eq!(status, StatusCode::OK, "{path}: {body}");
                    assert!(OTHERS.iter().all(|other| !body.contains(other)), "{path}: {body}");
                }
            }
            Refused => {
                let request = hub.client.request(method, hub.url(path)).bearer_auth(token.reveal()).json(&json!({}));
                assert_eq!(request.send().await.unwrap().status(), StatusCode::FORBIDDEN, "{path}");
            }
            Open => assert_eq!(get(&hub, &token, path).await.0, StatusCode::OK, "{path}"),
        }
    }
}

#[tokio::test]
async fn each_reach_limit_works_alone_and_shows_its_own_rows() {
    let (hub, admin) = company().await;
    let paths = ROUTES.iter().filter_map(|(_, _, expected)| match expected {
        Limited(paths) => Some(paths.iter()),
        _ => None,
    });
    let of_environment = hub.token("e", Scope::Read(reach(&[], &["stage"]))).await;
    let of_workspace = hub.token("w", Scope::Read(reach(&["open-team"], &[]))).await;
    for path in paths.flatten() {
        for (token, hidden) in [(&of_environment, OTHERS[0]), (&of_workspace, OTHERS[1])] {
            let (status, body) = get(&hub, token, path).await;
            // The report of the folder that serves both workspaces contains neither of these words.
            assert!(status == StatusCode::OK && !body.contains(hidden), "{path}: {body}");
        }
    }
    let counted = async |token: &TokenText| {
        let (_, body) = get(&hub, token, "/api/v1/environments").await;
        let answer: Value = serde_json::from_str(&body).unwrap();
        let row =
            |row: &Value| format!("{} {} {}", row["name"].as_str().unwrap(), row["targets"], row["counts"]["expected"]);
        answer["items"].as_array().unwrap().iter().map(row).collect::<Vec<_>>()
    };
    assert_eq!(counted(&admin).await, ["hidden-env 1 1", "stage 2 4"]);
    assert_eq!(counted(&of_environment).await, ["stage 2 4"]);
    assert_eq!(counted(&of_workspace).await, ["hidden-env 1 1", "stage 1 2"]);
    let events = async |token: &TokenText| {
        let (_, body) = get(&hub, token, "/api/v1/promotion-events").await;
        let answer: Value = serde_json::from_str(&body).unwrap();
        let id = |row: &Value| row["id"].as_str().unwrap().to_owned();
        answer["items"].as_array().unwrap().iter().map(id).collect::<BTreeSet<_>>()
    };
    let [all, web, hidden] = ["stage ", "stage web", "hidden-env web"].map(str::to_owned);
    let of_others = "stage hidden-team-load".to_owned();
    assert_eq!(events(&of_environment).await, BTreeSet::from([all, web.clone(), of_others]));
    assert_eq!(events(&of_workspace).await, BTreeSet::from([web, hidden]));
    let hosts = async |token: &TokenText| {
        let (_, body) = get(&hub, token, "/api/v1/deployments").await;
        let answer: Value = serde_json::from_str(&body).unwrap();
        answer["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["host"].as_str().unwrap().to_owned())
            .collect::<BTreeSet<_>>()
    };
    let expected = ["h-1", "hidden-env-host", "shared"].map(str::to_owned);
    assert_eq!(hosts(&of_workspace).await, BTreeSet::from(expected));
}

#[tokio::test]
async fn names_outside_the_reach_are_not_found() {
    let (hub, _) = company().await;
    let token = hub.token("both", Scope::Read(reach(&["open-team"], &["stage"]))).await;
    // Names of the other environment and workspace are not found, and are not suggested.
    for path in [
        "rollouts/hidden-team-load",
        "rollouts/hidden-team-9",
        &format!("rollouts/{}", "d".repeat(40)),
        "rollouts/hidden-team-loaf",
    ] {
        let (status, body) = get(&hub, &token, &format!("/api/v1/{path}")).await;
        assert!(status == StatusCode::NOT_FOUND && !body.contains("did you mean"), "{path}: {body}");
    }
}

/// The queries that can name something outside of the reach, with `NAME` instead of the name, and the names that exist in the other environment or workspace.
const NAMING: &[(&str, &[&str])] = &[
    ("deployments?environment=NAME", &["hidden-env"]),
    ("deployments?workspace=NAME", &["hidden-team"]),
    ("deployments?workload=NAME", &["hidden-team-load"]),
    ("deployments?application=NAME", &["hidden-team-app"]),
    ("deployments?target=NAME", &["hidden-team-load-stage", "web-hidden-env"]),
    ("deployments?host=NAME", &["hidden-team-host", "hidden-env-host"]),
    ("deployments?host=NAME&status=failed", &["hidden-team-host", "hidden-env-host"]),
    ("deployments?clusterType=NAME", &["hidden-team-type", "hidden-env-type"]),
    ("drift?host=NAME", &["hidden-team-host", "hidden-env-host"]),
    ("history?host=NAME", &["hidden-team-host", "hidden-env-host"]),
    ("targets?host=NAME", &["hidden-team-host", "hidden-env-host"]),
    ("targets?clusterType=NAME", &["hidden-team-type", "hidden-env-type"]),
    ("environments?environment=NAME", &["hidden-env"]),
    ("environments?workspace=NAME", &["hidden-team"]),
    ("counts?rows=workload&environment=NAME", &["hidden-env"]),
    ("counts?rows=workload&workspace=NAME", &["hidden-team"]),
    ("counts?rows=hostLabel:region&workload=NAME", &["hidden-team-load"]),
    ("targets?environment=NAME", &["hidden-env"]),
    ("targets?workspace=NAME", &["hidden-team"]),
    ("places/states?environment=NAME", &["hidden-env"]),
    ("places/states?workspace=NAME", &["hidden-team"]),
    ("places/states?workload=NAME", &["hidden-team-load"]),
    ("rollouts?environment=NAME", &["hidden-env"]),
    ("rollouts?workspace=NAME", &["hidden-team"]),
    ("rollouts?workload=NAME", &["hidden-team-load"]),
    ("rollouts/NAME", &["hidden-team-load", "hidden-team-9", "hidden-team", "hidden-env"]),
    ("rollouts/NAME/hosts", &["hidden-team-load", "hidden-team-9"]),
    ("rollouts/web?environment=NAME", &["hidden-env"]),
    ("rollouts/web?workspace=NAME", &["hidden-team"]),
    ("compare?from=stage&to=NAME", &["hidden-env"]),
    ("compare?from=NAME&to=stage", &["hidden-env"]),
    ("compare?from=stage&to=stage&workspace=NAME", &["hidden-team"]),
    ("history?environment=NAME", &["hidden-env"]),
    ("history?workspace=NAME", &["hidden-team"]),
    ("history?workload=NAME", &["hidden-team-load"]),
    ("drift?environment=NAME", &["hidden-env"]),
    ("drift?workspace=NAME", &["hidden-team"]),
    ("drift/silent?environment=NAME", &["hidden-env"]),
    ("drift/silent?workspace=NAME", &["hidden-team"]),
    ("events?environment=NAME", &["hidden-env"]),
    ("events?workspace=NAME", &["hidden-team"]),
    ("promotion-events?environment=NAME", &["hidden-env"]),
    ("promotions/NAME", &["hidden-env"]),
    ("syncs/NAME", &["hidden-env"]),
];

/// The status and the problem of a query about a name, in which the name is replaced.
async fn refusal(hub: &Hub, token: &TokenText, path: &str, name: &str) -> (StatusCode, String) {
    let (status, body) = get(hub, token, &format!("/api/v1/{}", path.replace("NAME", name))).await;
    (status, body.replace(name, "NAME"))
}

#[tokio::test]
async fn unknown_names_and_names_outside_the_reach_can_not_be_told_apart() {
    let (hub, _) = company().await;
    let both = hub.token("both", Scope::Read(reach(&["open-team"], &["stage"]))).await;
    let of_environment = hub.token("e", Scope::Read(reach(&[], &["stage"]))).await;
    let of_workspace = hub.token("w", Scope::Read(reach(&["open-team"], &[]))).await;
    for (path, names) in NAMING {
        for name in *names {
            let hiding = if name.contains("env") { &of_environment } else { &of_workspace };
            for token in [&both, hiding] {
                let hidden = refusal(&hub, token, path, name).await;
                assert_eq!(hidden, refusal(&hub, token, path, "unknown-name").await, "{path} {name}");
                let is_of_everything = *path == "syncs/NAME";
                let expected = if is_of_everything { StatusCode::FORBIDDEN } else { StatusCode::NOT_FOUND };
                assert_eq!(hidden.0, expected, "{path} {name}: {}", hidden.1);
            }
        }
    }
}

#[tokio::test]
async fn events_outside_the_reach_are_not_sent() {
    let (hub, admin) = company().await;
    let token = hub.token("both", Scope::Read(reach(&["open-team"], &["stage"]))).await;
    // From the first event on, up to a report that is made after all other changes were read.
    let path = "/api/v1/events?after=ZXZlbnRzIDAgMCAw";
    let mut stream = hub.get(path).bearer_auth(token.reveal()).send().await.unwrap();
    let last = json!({"host": "last", "reconciler": "web", "status": "failure", "revision": "c".repeat(40),
        "place": {"repository": "https://git.example/acme/apps", "branch": "stage", "path": "web"}});
    hub.report(&admin, &last).await;
    let mut text = String::new();
    while !text.contains("\"last\"") {
        text += std::str::from_utf8(&stream.chunk().await.unwrap().unwrap()).unwrap();
    }
    assert!(text.contains("\"h-1\"") && text.contains("\"workspace\":\"open-team\""), "{text}");
    assert!(OTHERS.iter().all(|other| !text.contains(other)), "{text}");
}

#[tokio::test]
async fn limited_publisher_changes_only_its_reach() {
    let (hub, _) = company().await;
    let publish = async |token: &TokenText, body: &Value| {
        let response = hub.post("/api/v1/publications").bearer_auth(token.reveal()).json(body).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    let of_environment = hub.token("e", Scope::Publish(reach(&[], &["stage"]))).await;
    let of_workspace = hub.token("w", Scope::Publish(reach(&["open-team"], &[]))).await;
    let gone = |path: &str| json!({"path": path, "tree": null, "role": "application"});
    let on = |branch: &str, place: Value| publication(branch, "e", &[place]);
    let mut ordered = on("stage", place("web", "stage", &["open-team"]));
    ordered["environments"] = json!(["stage", "hidden-env"]);
    let mut range = on("hidden-env", place("new", "stage", &["open-team"]));
    range["range"] = json!({"below": ""});
    // The publication, and whether the token of an environment, and the token of a workspace, may make it.
    for (what, body, allowed) in [
        ("the removal of another environment's", on("hidden-env", gone("hidden-env-web")), [false, true]),
        ("the removal of another workspace's", on("stage", gone("hidden-team")), [true, false]),
        ("all of another environment's branch", range, [false, true]),
        ("their own", on("stage", place("web", "stage", &["open-team"])), [true, true]),
        ("another environment", on("new", place("new", "hidden-env", &["open-team"])), [false, true]),
        ("another workspace", on("new", place("new-2", "stage", &["hidden-team"])), [true, false]),
        (
            "a folder of another environment",
            on("hidden-env", place("hidden-env-web", "stage", &["open-team"])),
            [false, true],
        ),
        ("a folder of another workspace", on("stage", place("hidden-team", "stage", &["open-team"])), [true, false]),
        ("a folder of several workspaces", on("stage", place("both", "stage", &["open-team"])), [true, false]),
        ("no owner", on("new", json!({"path": "x", "tree": "a".repeat(40), "role": "platform"})), [false, false]),
        ("the order of environments", ordered, [false, false]),
    ] {
        // A permitted publication may change the owner of a folder. So the token without permission comes first.
        let mut tokens = [(allowed[0], &of_environment), (allowed[1], &of_workspace)];
        tokens.sort_by_key(|(allowed, _)| *allowed);
        for (allowed, token) in tokens {
            // A publication without a commit is checked in the same way.
            let mut body = body.clone();
            if body.get("range").is_none() {
                body.as_object_mut().unwrap().retain(|key, _| key != "commit" && key != "committedOn");
            }
            let (status, answer) = publish(token, &body).await;
            assert_eq!(status, if allowed { 200 } else { 403 }, "{what}: {answer}");
        }
    }
}
