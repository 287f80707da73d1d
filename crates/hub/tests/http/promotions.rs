//! The routes of promotions: answers, permissions, decisions.

use std::sync::Arc;

use hub_api::promotions::{
    GateProgress, GateProgressStatus, MovePhase, MoveStatus, PersonDecision, PromotionAction, PromotionCommand,
    PromotionReceipt, PromotionRefusal, PromotionService, PromotionStatus, ProvedStatus, RingCounts, RingProgress,
    RingState, SubjectKind, SubjectStatus, Wait,
};
use hub_api::timestamp::Timestamp;
use hub_api::tokens::{Reach, Scope};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::description::{check, description, strict};
use super::{Hub, problem};

/// A service with one environment, into which a workload moves.
#[derive(Debug)]
struct FixedPromotions;

fn at() -> Timestamp {
    Timestamp::from_millis(1_700_000_000_000)
}

fn status() -> PromotionStatus {
    let decision = PersonDecision { by: "ann".to_owned(), at: at(), reason: "an incident".to_owned() };
    let gate = GateProgress {
        name: "metrics".to_owned(),
        status: GateProgressStatus::Skipped,
        since: at(),
        text: "skipped".to_owned(),
        skipped: Some(decision.clone()),
    };
    let ring = RingProgress {
        name: "canary".to_owned(),
        state: RingState::Moving,
        since: Some(at()),
        places: 3,
        changed: 2,
        released: 1,
        counts: RingCounts { expected: 1, succeeded: 1, failed: 0, silent: 0 },
    };
    let moving = MoveStatus {
        revision: "r2".to_owned(),
        since: at(),
        phase: MovePhase::Moving,
        phase_since: at(),
        reason: None,
        rings: vec![ring],
        gates: vec![gate],
        waiting_for: vec![Wait { what: "hold".to_owned(), text: "ann holds it".to_owned(), since: Some(at()) }],
    };
    let workload = SubjectStatus {
        subject: Some("checkout".to_owned()),
        kind: SubjectKind::Workload,
        at: Some("r2".to_owned()),
        proved: Some(ProvedStatus { revision: "r1".to_owned(), on: at() }),
        moving: Some(moving),
        waiting_revisions: vec!["r3".to_owned()],
        rejected: Some("r0".to_owned()),
        hold: Some(decision),
    };
    let platform = SubjectStatus {
        subject: None,
        kind: SubjectKind::Platform,
        at: None,
        proved: None,
        moving: None,
        waiting_revisions: Vec::new(),
        rejected: None,
        hold: None,
    };
    PromotionStatus {
        environment: "prod".to_owned(),
        before: vec!["stage".to_owned()],
        after: Vec::new(),
        evaluated_on: Some(at()),
        problem: None,
        subjects: vec![platform, workload],
    }
}

impl PromotionService for FixedPromotions {
    fn status(&self, environment: Option<&str>) -> Vec<PromotionStatus> {
        if environment.is_none_or(|name| name == "prod") { vec![status()] } else { Vec::new() }
    }

    fn command(
        &self,
        environment: &str,
        command: &PromotionCommand,
        by: &str,
    ) -> Result<PromotionReceipt, PromotionRefusal> {
        if environment != "prod" {
            return Err(PromotionRefusal::UnknownEnvironment(environment.to_owned()));
        }
        match command.command {
            PromotionAction::Resume => Err(PromotionRefusal::NotPossible("nothing is held".to_owned())),
            PromotionAction::Approve => Err(PromotionRefusal::NotAllowed(format!("{by} is the author"))),
            PromotionAction::Retry => Err(PromotionRefusal::Unavailable("the push failed".to_owned())),
            _ => Ok(PromotionReceipt {
                environment: environment.to_owned(),
                subject: command.subject.clone(),
                revision: Some("r2".to_owned()),
                text: "held".to_owned(),
            }),
        }
    }
}

async fn promoting() -> Hub {
    Hub::start_server(|_| (), |server| server.promoting(Arc::new(FixedPromotions))).await
}

const COMMANDS: &str = "/api/v1/promotions/{environment}/commands";

#[tokio::test]
async fn answers_are_as_described() {
    let hub = promoting().await;
    let description = strict(description(&hub).await);
    for (path, rest, status) in [
        ("/api/v1/promotions", "", 200),
        ("/api/v1/promotions/{environment}", "prod", 200),
        ("/api/v1/promotions/{environment}", "stage", 404),
    ] {
        let response = hub.get(&format!("{}{rest}", path.split('{').next().unwrap())).send().await.unwrap();
        assert_eq!(check(&description, (Method::GET, path), response).await.1, status, "{path}{rest}");
    }
    for (environment, body, status) in [
        ("prod", json!({"command": "hold", "subject": "checkout", "reason": "an incident"}), 202),
        ("stage", json!({"command": "hold", "reason": "an incident"}), 404),
        ("prod", json!({"command": "hold"}), 422),
        ("prod", json!({"command": "promote", "revision": "r".repeat(254)}), 422),
        ("prod", json!({"command": "resume"}), 422),
        ("prod", json!({"command": "approve"}), 403),
        ("prod", json!({"command": "retry"}), 503),
    ] {
        let response = hub.post(&COMMANDS.replace("{environment}", environment)).json(&body).send().await.unwrap();
        assert_eq!(check(&description, (Method::POST, COMMANDS), response).await.1, status, "{environment} {body}");
    }
}

#[tokio::test]
async fn administrators_decide_and_the_audit_log_has_their_decisions() {
    let hub = promoting().await;
    let (reader, admin) =
        (hub.token("reader", Scope::Read(Reach::default())).await, hub.token("ann", Scope::Admin).await);
    let listed = hub.get("/api/v1/promotions").bearer_auth(reader.reveal()).send().await.unwrap();
    assert_eq!(listed.json::<Vec<PromotionStatus>>().await.unwrap(), [status()]);
    let command = json!({"command": "skip", "gate": "metrics", "reason": "an outage"});
    let post = |token: &str| hub.post("/api/v1/promotions/prod/commands").bearer_auth(token).json(&command).send();
    assert_eq!(post(&reader.reveal()).await.unwrap().status(), StatusCode::FORBIDDEN);
    assert_eq!(post(&admin.reveal()).await.unwrap().status(), StatusCode::ACCEPTED);
    let path = "/api/v1/audit?action=promotion";
    let audit: Value = hub.get(path).bearer_auth(admin.reveal()).send().await.unwrap().json().await.unwrap();
    let [entry] = audit["items"].as_array().unwrap().as_slice() else { panic!("{audit}") };
    let detail =
        json!({"command": "skip", "subject": null, "revision": "r2", "gate": "metrics", "reason": "an outage"});
    assert_eq!((&entry["actor"], &entry["subject"], &entry["detail"]), (&json!("ann"), &json!("prod"), &detail));
}

#[tokio::test]
async fn a_hub_alone_promotes_nothing() {
    let hub = Hub::start().await;
    assert_eq!(hub.get("/api/v1/promotions").send().await.unwrap().json::<Value>().await.unwrap(), json!([]));
    assert_eq!(problem(hub.get("/api/v1/promotions/prod").send().await.unwrap()).await.0, StatusCode::NOT_FOUND);
    let command = hub.post("/api/v1/promotions/prod/commands").json(&json!({"command": "retry"}));
    assert_eq!(problem(command.send().await.unwrap()).await.0, StatusCode::NOT_FOUND);
}
