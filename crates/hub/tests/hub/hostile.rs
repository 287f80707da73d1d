//! Texts that a database may refuse, in each field of a request: the hub refuses them with a reason, and never with an internal error.

use hub_api::limits::{LABELS_MAX, NAME_CHARACTERS_MAX};
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::faults::Process;
use crate::sample;
use crate::twins::Ground;

twins![questions_with_any_character, publications_with_any_text, reports_with_any_text];

/// Characters with a special meaning for databases or patterns, and unusual characters.
const TEXTS: [&str; 9] = ["\0", "a\0b", "'; drop table host; --", "%", "_", "\\", "\u{feff}", "\u{10ffff}", "$1"];

async fn questions_with_any_character(ground: Ground) {
    sample::fill(&ground.database).await;
    let hub = Process::start(&ground.url);
    for text in TEXTS {
        let text = text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
        let parameters = [
            "host",
            "environment",
            "workspace",
            "application",
            "workload",
            "target",
            "clusterType",
            "status",
            "cursor",
        ];
        let selectors = [format!("selector={text}%3D{text}"), format!("targetSelector=a%3D{text}")];
        let queries = parameters.map(|name| format!("{name}={text}")).into_iter().chain(selectors);
        let mut paths = vec![format!("rollouts/{text}"), format!("rollouts/{text}/hosts"), format!("drift/{text}")];
        paths.push(format!("compare?from={text}&to=dev&map={text}%3D{text}"));
        for query in queries {
            let questions =
                ["deployments", "targets", "history", "drift", "drift/silent", "rollouts", "environments", "events"];
            paths.extend(questions.iter().map(|question| format!("{question}?{query}")));
        }
        for path in paths {
            let status = hub.door.get(&format!("/api/v1/{path}")).await;
            assert!(status == StatusCode::OK || status.is_client_error(), "{path}: {status}");
        }
    }
}

/// The status and the text of the response to a body.
async fn send(hub: &Process, path: &str, body: &Value) -> (StatusCode, String) {
    let response = hub.door.post(path).json(body).send().await.unwrap();
    (response.status(), response.text().await.unwrap())
}

async fn publications_with_any_text(ground: Ground) {
    let hub = Process::start(&ground.url);
    let long = "x".repeat(NAME_CHARACTERS_MAX + 1);
    let many: serde_json::Map<_, _> = (0..=LABELS_MAX).map(|number| (format!("l{number}"), "".into())).collect();
    for text in TEXTS.into_iter().chain([&*long]) {
        for labels in [json!({text: "eu"}), json!({"region": text}), Value::Object(many.clone())] {
            let target = json!({"workspace": text, "application": text, "workload": text, "name": text, "environment": text,
                "labels": labels, "sourceEndpoint": text, "version": {"version": text, "build": text, "commit": text}});
            for name in target.as_object().unwrap().keys() {
                let mut one =
                    json!({"workspace": "s", "application": "a", "workload": "w", "name": "n", "environment": "e"});
                one[name] = target[name].clone();
                let place = json!({"path": "a", "tree": "4".repeat(40), "role": "platform", "targets": [one]});
                let body = json!({"repository": "r", "branch": "b", "commit": "4".repeat(40), "places": [place]});
                let (status, said) = send(&hub, "/api/v1/publications", &body).await;
                let is_refused = status == StatusCode::UNPROCESSABLE_ENTITY;
                assert!(is_refused || status == StatusCode::OK, "{name} {text:?}: {status} {said}");
                assert!(is_refused || !text.contains('\0'), "{name} {text:?}: {said}");
            }
        }
        let body = json!({"manifests_endpoint": text, "commit_id": text});
        let (status, said) = send(&hub, "/deployment_state", &body).await;
        assert!(status == StatusCode::OK || status == StatusCode::BAD_REQUEST, "{text:?}: {status} {said}");
    }
}

async fn reports_with_any_text(ground: Ground) {
    let hub = Process::start(&ground.url);
    for text in TEXTS {
        let place = json!({"repository": text, "branch": text, "path": text});
        let report = json!({"host": text, "reconciler": text, "type": text, "status": "success", "revision": text, "version": text,
            "message": text, "labels": {text: text}, "place": place});
        for name in report.as_object().unwrap().keys() {
            let mut one = json!({"host": "h", "reconciler": "r", "status": "success"});
            one[name] = report[name].clone();
            let (status, said) = send(&hub, "/api/v1/reports", &one).await;
            let expected = [StatusCode::OK, StatusCode::UNPROCESSABLE_ENTITY];
            assert!(expected.contains(&status), "{name} {text:?}: {status} {said}");
        }
    }
}
