//! The pages about compiled environments, over an API that answers with hostile texts.

#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::routing::any;
use http::StatusCode;
use serde_json::{Value as Json, json};
use tower::ServiceExt as _;

/// Markup, quotes, and a character that changes the direction of text.
const HOSTILE: &str = "\"><script>alert('1')</script>&\u{202e}txt";

fn hostile() -> String {
    format!("{HOSTILE}{}", "x".repeat(253 - HOSTILE.chars().count()))
}

/// An API with these answers, by path. It refuses other paths as unknown names.
struct FakeApi(BTreeMap<String, Json>);

impl FakeApi {
    fn new(answers: impl IntoIterator<Item = (&'static str, Json)>) -> Self {
        let answers = answers.into_iter().map(|(path, answer)| {
            let sources = json!([{"repository": hostile(), "revision": hostile(), "commit": hostile()}]);
            let answer = json!({"environment": "prod", "sources": sources, "notes": [hostile()], "answer": answer});
            (format!("/api/v1/environments/prod/{path}"), answer)
        });
        let caller = json!({"name": "ann", "authentication": "token", "grants": []});
        let session = ("/api/v1/session".to_owned(), caller);
        Self(answers.chain([session]).collect())
    }

    /// The same API with an answer at another path below `/api/v1`.
    fn with(mut self, path: &str, answer: Json) -> Self {
        self.0.insert(format!("/api/v1/{path}"), answer);
        self
    }

    /// The page at an address: its status, and its HTML.
    async fn page(self, address: &str) -> (StatusCode, String) {
        let answers = Arc::new(self.0);
        let answer = move |request: Request| {
            let answer = answers.get(request.uri().path()).cloned();
            async move {
                let unknown = || json!({"detail": format!("prod has no such name: {}", request.uri().path())});
                let status = if answer.is_some() { StatusCode::OK } else { StatusCode::NOT_FOUND };
                (status, answer.unwrap_or_else(unknown).to_string())
            }
        };
        let api = Router::new().route("/api/{*path}", any(answer));
        let request = http::Request::get(address).body(Body::empty()).unwrap();
        let response = web::with_pages(api, true).oneshot(request).await.unwrap();
        let status = response.status();
        (status, String::from_utf8(to_bytes(response.into_body(), usize::MAX).await.unwrap().to_vec()).unwrap())
    }
}

/// Asserts that a page shows the hostile text, and only as text.
#[track_caller]
fn check_escaped((status, page): &(StatusCode, String)) {
    assert_eq!(*status, StatusCode::OK, "{page}");
    assert!(page.contains("&#60;script&#62;alert(&#39;1&#39;)"), "{page}");
    assert!(!page.contains("<script>") && !page.contains('\u{202e}'), "{page}");
    assert!(page.contains("\\u{202e}txt"), "{page}");
}

fn position() -> Json {
    json!({"repository": "https://github.com/acme/control-plane", "revision": "prod", "commit": "c0ffee", "path": hostile(), "line": 9, "column": 3})
}

fn source() -> Json {
    json!({"configMap": hostile(), "place": position(), "value": hostile(), "matches": [hostile()]})
}

fn finding() -> Json {
    let text = format!("a: 1\nb: {}\n", hostile());
    let excerpt = json!({"firstLine": 14, "text": text, "markStart": 8, "markEnd": text.len() - 1});
    json!({"code": "K0312", "severity": "error", "message": hostile(), "object": hostile(),
        "places": [{"text": hostile(), "position": position(), "excerpt": excerpt}], "notes": [hostile()], "help": [hostile()],
        "assignmentCount": 1, "assignments": [{"place": hostile(), "target": hostile()}]})
}

fn findings() -> Json {
    json!({"items": [finding()], "total": 1, "errors": 1, "warnings": 0, "next": hostile()})
}

#[tokio::test]
async fn assignments_are_listed_with_their_conditions() {
    let item = json!({"place": hostile(), "clusterType": hostile(), "cluster": null, "target": hostile(), "workload": hostile(),
        "workspace": hostile(), "folder": null, "configVersion": null, "release": hostile(), "isFailing": true, "findings": 2,
        "policies": [hostile()], "releasePins": []});
    let answer = json!({"items": [item], "total": 1, "all": 1, "failing": 1, "next": null});
    let page = FakeApi::new([("assignments", answer)]).page("/environments/prod/assignments?policy=large").await;
    check_escaped(&page);
    assert!(
        page.1.contains("Only what has errors") && page.1.contains("name=\"policy\" value=\"large\""),
        "{}",
        page.1
    );
}

fn assignments(place: &str, target: &str) -> Json {
    let item = json!({"place": place, "clusterType": "large", "cluster": place, "target": target, "workload": "till",
        "workspace": hostile(), "folder": null, "configVersion": null, "release": null, "isFailing": false, "findings": 0,
        "policies": [], "releasePins": []});
    json!({"items": [item], "total": 1, "all": 1, "failing": 0, "next": null})
}

#[tokio::test]
async fn a_workload_leads_to_its_contract_and_assignments_in_each_environment() {
    let counts = json!({"expected": 1, "succeeded": 0, "failed": 1, "inProgress": 0, "silent": 0, "outdated": 0,
        "neverReported": 0, "succeededButSilent": 0, "succeededWithoutHeartbeat": 0});
    let group = |value: &str| json!({"value": value, "counts": counts});
    let table = json!({"rows": [group("prod"), group(&hostile())], "columns": [group("prod")],
        "cells": [{"row": 0, "column": 0, "counts": counts}], "total": counts, "rowCount": 2, "columnCount": 1,
        "otherRows": counts, "otherColumns": counts});
    let nothing = json!({"items": []});
    let api = FakeApi::new([]).with("counts", table).with("targets", nothing.clone()).with("deployments", nothing);
    let page = api.page("/workloads/till?workspace=shop").await;
    check_escaped(&page);
    for link in [
        "/environments/prod/contract?workspace=shop&#38;workload=till",
        "/environments/prod/assignments?workspace=shop&#38;workload=till",
    ] {
        assert!(page.1.contains(&format!("href=\"{link}\"")), "{link}: {}", page.1);
    }
}

#[tokio::test]
async fn a_cluster_that_has_not_reported_is_known_by_its_assignments() {
    let api = || FakeApi::new([("assignments", assignments("dallas", "till-eu"))]);
    let page = api().page("/places/dallas?environment=prod").await;
    check_escaped(&page);
    for text in ["<h1>dallas in prod</h1>", "href=\"/environments/prod/assignments/dallas/till-eu\"", "place=dallas"] {
        assert!(page.1.contains(text), "{text}: {}", page.1);
    }
    // Without an environment, there is nothing to ask.
    let (status, html) = api().page("/places/dallas").await;
    assert!(status == StatusCode::NOT_FOUND && html.contains("Not found, or not permitted"), "{html}");
}

#[tokio::test]
async fn an_assignment_is_shown_with_its_reasons_and_files() {
    let value = json!({"key": hostile(), "value": hostile(), "setBy": source(), "composedOf": [], "overrides": [source()],
        "notUsed": [{"configMap": hostile(), "place": position(), "because": [hostile()]}],
        "checks": [{"place": position(), "demands": hostile()}], "endsUpIn": []});
    let policy = json!({"policy": hostile(), "place": position(), "target": [hostile()], "clusterType": [hostile()]});
    let explained = json!({"clusterType": "large", "cluster": null, "target": "shop", "workload": hostile(), "workspace": hostile(),
        "registration": hostile(), "place": position(), "policies": [policy], "mappedLabels": [], "releasePins": [],
        "templates": [hostile()], "configVersion": hostile(), "values": [value], "held": [], "rollout": null});
    let publication = json!({"repository": "https://github.com/acme/gitops", "branch": "prod", "commit": "a".repeat(40),
        "committedOn": "2026-11-21T13:44:01.000Z"});
    let file = json!({"path": hostile(), "bytes": 3, "content": hostile(), "notShown": null});
    let binary = json!({"path": "logo.png", "bytes": 3, "content": null, "notShown": "binary"});
    let files = json!({"at": null, "folder": hostile(), "files": [file, binary], "more": 2, "publications": [publication.clone()]});
    let change = json!({"path": hostile(), "change": "changed", "difference": hostile(), "notShown": null});
    let difference = json!({"from": publication, "to": null, "files": [change], "more": 0});
    let api = FakeApi::new([
        ("assignments/large/shop", explained),
        ("assignments/large/shop/files", files),
        ("assignments/large/shop/difference", difference),
        ("findings", findings()),
    ]);
    let from = "a".repeat(40);
    let page = api.page(&format!("/environments/prod/assignments/large/shop?from={from}")).await;
    check_escaped(&page);
    let page = page.1;
    for text in [
        "Managed in git",
        "https://github.com/acme/control-plane/blob/c0ffee/",
        "Not shown: it is not text",
        "And 2 more files",
        "id=\"difference\"",
        &format!("?publication={from}"),
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
}

#[tokio::test]
async fn findings_have_their_lines_with_a_mark() {
    let page = FakeApi::new([("findings", findings())]).page("/environments/prod/findings").await;
    check_escaped(&page);
    assert!(page.1.contains("<mark>&#34;&#62;") && page.1.contains("<span class=\"number\">15</span>"), "{}", page.1);
    assert!(page.1.contains("Reaches 1 assignment"), "{}", page.1);
}

#[tokio::test]
async fn reasons_for_a_missing_assignment_have_the_smallest_changes() {
    let requirement =
        |met| json!({"requirement": hostile(), "met": met, "place": position(), "label": null, "advice": hostile()});
    let edit = json!({"kind": "ClusterType", "object": hostile(), "field": "labels", "place": position(), "action": "setLabel",
        "key": hostile(), "before": hostile(), "after": hostile(), "registration": null});
    let change = json!({"edits": [edit], "answers": 1, "adds": 3, "removes": 0, "reconfigures": 1});
    let policy = json!({"policy": hostile(), "place": position(), "missing": 1, "target": {"selected": 1, "requirements": [requirement(true)]},
        "clusterType": {"selected": 0, "requirements": [requirement(false)]}, "changes": [change], "problem": null});
    let answer = json!({"environment": "prod", "clusterTypeOrCluster": hostile(), "clusterType": null, "target": hostile(),
        "assignments": 0, "assignedBy": [], "problems": [], "obstacles": [], "otherEnvironments": [], "nearestCount": 1,
        "policyCount": 1, "policiesThatSelectTarget": 1, "policiesThatSelectClusterType": 0, "nearPolicies": [policy],
        "applied": null, "value": null});
    let api = FakeApi::new([("why-not", json!({"answers": [answer]}))]);
    let page = api.page("/environments/prod/why-not?target=a&place=b").await;
    check_escaped(&page);
    for text in [
        "1 policy could have put it there, and would need 1 more thing",
        "adds 1 assignment, adds 3 other assignments, changes the values of 1 other assignment",
    ] {
        assert!(page.1.contains(text), "{text}: {}", page.1);
    }
    let (status, form) = FakeApi::new([]).page("/environments/prod/why-not").await;
    assert!(status == StatusCode::OK && form.contains("name=\"target\""), "{form}");
}

#[tokio::test]
async fn contracts_say_what_is_missing() {
    let places = json!({"clusterTypes": 1, "clusters": 0});
    let given = json!({"key": hostile(), "container": hostile(), "conditions": [hostile()], "place": position(), "value": hostile(),
        "places": places, "more": 0});
    let reach = |number: u64| json!({"assignments": number, "places": places});
    let value = json!({"key": hostile(), "isRequired": true, "isSensitive": false,
        "asks": [{"place": position(), "isRequired": true, "demands": hostile(), "default": null, "description": hostile(), "places": places}],
        "asked": reach(3), "given": reach(1), "missing": {"assignments": 2, "isEnforced": true, "places": places, "examples": [hostile()]},
        "wrong": [], "givenBy": [given], "givenByMore": 0, "advice": []});
    let workload = json!({"workload": hostile(), "workspace": hostile(), "registration": null, "targets": 1, "isAssigned": true,
        "assignments": 3, "places": places, "counts": {"asked": 1, "given": 0, "missing": 1, "wrong": 0}, "values": [value],
        "notAskedFor": [given], "unassigned": [], "unusableSchemas": [], "notChecked": 0});
    let environment = json!({"environment": "prod", "workloads": [workload], "unused": [given], "unusedCount": 1});
    let api = FakeApi::new([("contract", json!({"environments": [environment]}))]);
    let page = api.page("/environments/prod/contract").await;
    check_escaped(&page);
    assert!(page.1.contains("missing in 2 of 3") && page.1.contains("1 values are used nowhere"), "{}", page.1);
}

const PAGES: [&str; 6] =
    ["assignments", "assignments/large/shop", "findings", "contract", "why-not?target=a&place=b", "why-not?workload=a"];

#[tokio::test]
async fn unknown_names_are_answered_with_the_words_of_the_api() {
    for page in PAGES {
        let (status, html) = FakeApi::new([]).page(&format!("/environments/prod/{page}")).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{html}");
        assert!(html.contains("Not found, or not permitted") && html.contains("prod has no such name"), "{html}");
    }
}

#[tokio::test]
async fn earlier_times_are_not_pretended() {
    let page =
        FakeApi::new([("findings", findings())]).page("/environments/prod/findings?at=2026-11-21T13:44:01Z").await;
    assert!(page.0 == StatusCode::OK && page.1.contains("it shows the present"), "{}", page.1);
}
