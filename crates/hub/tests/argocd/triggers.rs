//! The triggers for Argo CD in `deploy/argocd` send each change that the hub must know of.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "these are tests")]

use std::collections::BTreeSet;

use hub::report_formats::argocd;
use hub_api::report::Status;
use hub_api::timestamp::Timestamp;
use model::yaml::{Node, YamlOptions, read};
use serde_json::{Value, json};

const CONFIG_MAP: &str = include_str!("../../../../deploy/argocd/notifications.yaml");

/// A condition of a trigger.
struct Condition {
    when: String,
    once_per: Option<String>,
}

/// Sends notifications like the engine of Argo CD: a condition sends once when it becomes true, or once for each value of `oncePer`.
struct Engine {
    conditions: Vec<Condition>,
    /// The conditions that are true, and were sent, with the values of `oncePer`.
    sent: BTreeSet<(usize, Option<String>)>,
    /// The status of the last notification.
    last: Option<Status>,
}

impl Engine {
    fn new() -> Self {
        let document = |yaml: &str| read(yaml, &YamlOptions::OBJECTS).documents.remove(0).root;
        let text =
            |node: &Node, key: &str| node.get(key).and_then(Node::as_scalar).map(|scalar| scalar.text.to_string());
        let config_map = document(CONFIG_MAP);
        let trigger = document(&text(config_map.get("data").unwrap(), "trigger.kalypso").unwrap());
        let condition = |node: &Node| Condition { when: text(node, "when").unwrap(), once_per: text(node, "oncePer") };
        let conditions = trigger.as_sequence().unwrap().iter().map(condition).collect();
        Self { conditions, sent: BTreeSet::new(), last: None }
    }

    fn see(&mut self, application: &Value) {
        for (number, Condition { when, once_per }) in self.conditions.iter().enumerate() {
            let once_per = once_per.as_ref().map(|path| value(application, path).to_string());
            if !holds(application, when) {
                if once_per.is_none() {
                    self.sent.remove(&(number, None));
                }
            } else if self.sent.insert((number, once_per)) {
                self.last = Some(status(application));
            }
        }
    }
}

fn status(application: &Value) -> Status {
    let (reports, refused) = argocd::read(application.to_string().as_bytes(), Timestamp::MIN).unwrap().into_parts();
    assert_eq!(refused, []);
    reports[0].status
}

/// The value at a path such as `app.status.operationState?.startedAt`.
fn value<'a>(application: &'a Value, path: &str) -> &'a Value {
    let names = path.trim().split('.').skip(1).map(|name| name.trim_end_matches('?'));
    names.fold(application, |value, name| &value[name])
}

/// Evaluates the part of the expression language that the triggers use. `and` binds stronger than `or`.
fn holds(application: &Value, expression: &str) -> bool {
    expression.split(" or ").any(|all| all.split(" and ").all(|term| term_holds(application, term.trim())))
}

fn term_holds(application: &Value, term: &str) -> bool {
    let literal = |text: &str| match text.trim() {
        "nil" => Value::Null,
        text => json!(text.trim_matches('\'')),
    };
    let of_list = |list: &str| list.trim_matches(['[', ']']).split(',').map(literal).collect::<Vec<_>>();
    let call = |name: &str| term.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(", {.type endsWith 'Error'})");
    let has_error = |path: &str| {
        let conditions = value(application, path).as_array().expect("a call on nil is an error of the trigger");
        conditions.iter().any(|condition| condition["type"].as_str().unwrap().ends_with("Error"))
    };
    if let Some(path) = call("any") {
        has_error(path)
    } else if let Some(path) = call("none") {
        !has_error(path)
    } else if let Some((path, right)) = term.split_once(" == ") {
        *value(application, path) == literal(right)
    } else if let Some((path, right)) = term.split_once(" != ") {
        *value(application, path) != literal(right)
    } else if let Some((path, list)) = term.split_once(" in ") {
        of_list(list).contains(value(application, path))
    } else {
        panic!("`{term}` is not understood")
    }
}

/// Applications after a finished operation, without the times that older versions of Argo CD do not set.
fn applications() -> Vec<Value> {
    let mut all = Vec::new();
    for health in ["Healthy", "Progressing", "Degraded", "Missing", "Suspended", "Unknown"] {
        for sync in ["Synced", "OutOfSync", "Unknown"] {
            for condition in [None, Some("OrphanedResourceWarning"), Some("ComparisonError")] {
                let conditions = condition.map(|kind| json!([{"type": kind, "message": "m"}]));
                all.push(json!({"metadata": {"name": "a"}, "status": {
                    "sync": {"status": sync}, "health": {"status": health}, "conditions": conditions,
                    "operationState": {"phase": "Succeeded", "startedAt": "2026-11-21T13:44:01Z", "finishedAt": "2026-11-21T13:44:05Z"},
                }}));
            }
        }
    }
    all
}

#[test]
fn the_last_notification_has_the_present_status() {
    let all = applications();
    for first in &all {
        for second in &all {
            let mut engine = Engine::new();
            for application in [first, second, first] {
                engine.see(application);
                assert_eq!(engine.last, Some(status(application)), "{first}\n{second}");
            }
        }
    }
}

#[test]
fn each_operation_is_sent() {
    let mut application = applications().remove(0);
    let mut engine = Engine::new();
    for (minute, phase) in ["Running", "Failed", "Running", "Error", "Running", "Succeeded"].into_iter().enumerate() {
        let state = &mut application["status"]["operationState"];
        state["phase"] = json!(phase);
        state[if phase == "Running" { "startedAt" } else { "finishedAt" }] =
            json!(format!("2026-11-21T13:{minute:02}:00Z"));
        engine.see(&application);
        assert_eq!(engine.last, Some(status(&application)), "{phase}");
    }
}
