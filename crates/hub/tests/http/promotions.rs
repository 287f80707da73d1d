//! The routes of promotions: answers, permissions, decisions.

use std::sync::Arc;
use std::time::Duration;

use hub_api::client::Client;
use hub_api::evidence::{PlaceEvidence as _, PromotionEvents as _};
use hub_api::limits::PROMOTION_EVENTS_MAX;
use hub_api::promotions::{
    GateProgress, GateProgressStatus, MovePhase, MoveStatus, PersonDecision, PromotionAction, PromotionCommand,
    PromotionEvent, PromotionEventFilter, PromotionReceipt, PromotionRefusal, PromotionService, PromotionStatus,
    ProvedStatus, RingCounts, RingProgress, RingState, SubjectKind, SubjectStatus, Wait,
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

/// A subject that has nothing yet: a workload, or the commits of the platform.
pub(super) fn at_rest(subject: Option<&str>) -> SubjectStatus {
    SubjectStatus::new(subject, if subject.is_some() { SubjectKind::Workload } else { SubjectKind::Platform })
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
        counts: RingCounts { expected: 1, succeeded: 1, ..RingCounts::default() },
    };
    let moving = MoveStatus {
        revision: "r2".to_owned(),
        since: at(),
        phase: MovePhase::Moving,
        phase_since: at(),
        reason: None,
        rings: vec![ring],
        gates: vec![gate],
        waiting_for: vec![Wait {
            what: "hold".to_owned(),
            text: "ann holds it".to_owned(),
            since: Some(at()),
            command: Some("kalypso resume -e prod".to_owned()),
            role: Some("operator".to_owned()),
            url: None,
        }],
    };
    let workload = SubjectStatus {
        subject: Some("checkout".to_owned()),
        kind: SubjectKind::Workload,
        at: Some("r2".to_owned()),
        proved: Some(ProvedStatus { revision: "r1".to_owned(), on: at() }),
        moving: Some(moving),
        waiting_for: Vec::new(),
        waiting_revisions: vec!["r3".to_owned()],
        rejected: Some("r0".to_owned()),
        rejected_because: Some("rollback by ann: slow".to_owned()),
        hold: Some(decision),
        overridden: None,
    };
    let platform = at_rest(None);
    PromotionStatus {
        environment: "prod".to_owned(),
        before: vec!["stage".to_owned()],
        after: Vec::new(),
        evaluated_on: Some(at()),
        problem: None,
        waiting_for: Vec::new(),
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
async fn a_decision_about_an_unknown_environment_is_refused_with_the_nearest() {
    let hub = promoting().await;
    let command = json!({"command": "hold", "reason": "an outage"});
    let refused = hub.post("/api/v1/promotions/prodd/commands").json(&command).send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::NOT_FOUND);
    assert_eq!(refused.json::<Value>().await.unwrap()["hint"], "did you mean `prod`?");
}

#[tokio::test]
async fn a_hub_alone_promotes_nothing() {
    let hub = Hub::start().await;
    assert_eq!(hub.get("/api/v1/promotions").send().await.unwrap().json::<Value>().await.unwrap(), json!([]));
    assert_eq!(problem(hub.get("/api/v1/promotions/prod").send().await.unwrap()).await.0, StatusCode::NOT_FOUND);
    let command = hub.post("/api/v1/promotions/prod/commands").json(&json!({"command": "retry"}));
    assert_eq!(problem(command.send().await.unwrap()).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn publishers_append_events_about_their_environments() {
    let hub = Hub::start().await;
    let admin = hub.token("ann", Scope::Admin).await;
    let stage = Reach { environments: vec!["stage".to_owned()], ..Reach::ALL };
    let publisher = hub.token("ci", Scope::Publish(stage.clone())).await;
    let reader = hub.token("reader", Scope::Read(stage)).await;
    let event = |id: &str, environment: &str| json!({"id": id, "at": "2026-11-01T00:00:00Z", "environment": environment, "kind": "held", "text": "held", "by": "bob"});
    let post = async |token: &str, events: Value| {
        hub.post("/api/v1/promotion-events").bearer_auth(token).json(&events).send().await.unwrap().status()
    };
    let (own, other) = (event("e-1", "stage"), event("e-2", "prod"));
    assert_eq!(post(&publisher.reveal(), json!([own, other])).await, StatusCode::FORBIDDEN);
    assert_eq!(post(&reader.reveal(), json!([own])).await, StatusCode::FORBIDDEN);
    assert_eq!(post(&publisher.reveal(), json!([own])).await, StatusCode::OK);
    assert_eq!(post(&publisher.reveal(), json!([own])).await, StatusCode::OK);
    assert_eq!(post(&admin.reveal(), json!([other])).await, StatusCode::OK);
    let get = async |token: &str, path: &str| -> Value {
        hub.get(path).bearer_auth(token).send().await.unwrap().json().await.unwrap()
    };
    let seen = get(&reader.reveal(), "/api/v1/promotion-events").await;
    assert_eq!(seen["items"].as_array().unwrap().len(), 1, "{seen}");
    let audit = get(&admin.reveal(), "/api/v1/audit?action=promotion&actor=ci").await;
    let [entry] = audit["items"].as_array().unwrap().as_slice() else { panic!("{audit}") };
    assert_eq!((&entry["subject"], &entry["detail"]["by"]), (&json!("stage"), &json!("bob")), "each decision once");
}

#[tokio::test]
async fn threads_of_the_process_query_and_record_events() {
    let mut asking = None;
    let hub = Hub::start_server(
        |_| (),
        |server| {
            let (server, local) = server.answering_promotions();
            asking = Some(local);
            server
        },
    )
    .await;
    let local = asking.unwrap();
    let event = PromotionEvent {
        id: "e".to_owned(),
        environment: "prod".to_owned(),
        kind: "started".to_owned(),
        ..PromotionEvent::default()
    };
    let ask = move || {
        local.record(std::slice::from_ref(&event)).unwrap();
        let wrong = local.record(&[PromotionEvent::default()]).unwrap_err();
        (wrong.to_string(), local.place_states("nowhere", None).unwrap_err().to_string())
    };
    let (wrong, unknown) = tokio::task::spawn_blocking(ask).await.unwrap();
    assert_eq!(wrong, "`id` of the event `` is empty, or contains control characters");
    assert_eq!(unknown, "there is no environment `nowhere`");
    let client = Client::new(&hub.url(""), None).unwrap();
    let page = client.promotion_events(&PromotionEventFilter::default()).await.unwrap();
    assert_eq!(page.items.len(), 1);
}

#[tokio::test]
async fn a_client_reads_all_pages_and_sends_all_events() {
    let hub = Hub::start().await;
    let place = |number: usize| json!({"path": format!("type-{number}"), "tree": "a".repeat(40), "role": "platform", "environment": "prod", "clusterType": "t"});
    let publication = json!({"repository": "https://git.example/acme/gitops", "branch": "prod", "commit": "1".repeat(40),
        "places": (0..3).map(place).collect::<Vec<_>>()});
    assert_eq!(hub.post("/api/v1/publications").json(&publication).send().await.unwrap().status(), StatusCode::OK);
    let client = Client::new(&hub.url(""), None).unwrap();
    assert_eq!(client.all_place_states("prod", None).await.unwrap().len(), 3);
    let event = |number: usize| PromotionEvent {
        id: number.to_string(),
        environment: "prod".to_owned(),
        kind: "started".to_owned(),
        ..PromotionEvent::default()
    };
    let events: Vec<_> = (0..=PROMOTION_EVENTS_MAX).map(event).collect();
    let too_many = hub.post("/api/v1/promotion-events").json(&events).send().await.unwrap();
    assert_eq!(too_many.status(), StatusCode::PAYLOAD_TOO_LARGE);
    client.record_all(&events, Duration::ZERO).await.unwrap();
    let last = PromotionEventFilter { limit: Some(1), ..PromotionEventFilter::default() };
    let page = client.promotion_events(&last).await.unwrap();
    assert_eq!(page.items[0].id, PROMOTION_EVENTS_MAX.to_string());
    let refused = client.command_promotion("prod", &serde_json::from_value(json!({"command": "retry"})).unwrap()).await;
    assert!(
        refused.is_err() && client.promotions().await.unwrap().is_empty() && client.promotion("prod").await.is_err()
    );
}
