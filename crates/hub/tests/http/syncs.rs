//! The routes of the service: answers, permissions, webhooks and readiness.

use std::sync::{Arc, Mutex};

use hub_api::audit::Action;
use hub_api::syncs::{
    Confirmation, ConfirmationError, EnvironmentSync, EnvironmentSyncDetail, RefusedWebhook, SyncDestination,
    SyncPhase, SyncPlan, SyncProblem, SyncPullRequest, SyncReceipt, SyncRequest, SyncResult, SyncService, SyncSource,
    UnknownEnvironment,
};
use hub_api::timestamp::Timestamp;
use hub_api::tokens::{Reach, Scope};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::description::{check, description, strict};
use super::{Hub, problem};

/// A service with one environment. Its webhooks have the header `x-good`.
#[derive(Debug, Default)]
pub(super) struct FixedService {
    missing: Mutex<Vec<String>>,
}

fn state() -> EnvironmentSync {
    let destination = SyncDestination {
        gitops_repo: "prod".to_owned(),
        repository: "https://git.example/acme/gitops".to_owned(),
        branch: "prod".to_owned(),
        description: "proposed in pull request 7".to_owned(),
        is_proposed: true,
        pull_request: Some(SyncPullRequest { number: 7, url: "https://git.example/acme/gitops/pulls/7".to_owned() }),
        changed: 1,
        added: 2,
        renamed: 6,
        removed: 3,
        unchanged: 4,
        failing: 5,
        confirmation: Some("1f2e3d4c".to_owned()),
        incomplete: vec!["a label".to_owned()],
    };
    let last = SyncResult {
        started_on: Timestamp::from_millis(1_700_000_000_000),
        took_ms: 160,
        reason: "poll".to_owned(),
        error: None,
        assignments: 10,
        recomputed: 1,
        errors: 1,
        warnings: 0,
        sources: vec![SyncSource {
            repository: "https://git.example/acme/control-plane".to_owned(),
            revision: "prod".to_owned(),
            commit: "1".repeat(40),
        }],
        destinations: vec![destination],
    };
    let next_on = Some(Timestamp::from_millis(1_700_000_300_000));
    EnvironmentSync {
        environment: "prod".to_owned(),
        phase: SyncPhase::Waiting,
        leader: Some("kalypso-0:8080".to_owned()),
        last: Some(last),
        failures: 0,
        next_on,
    }
}

fn receipt() -> SyncReceipt {
    SyncReceipt { environments: vec!["prod".to_owned()] }
}

impl SyncService for FixedService {
    fn states(&self) -> Vec<EnvironmentSync> {
        vec![state()]
    }

    fn detail(&self, environment: &str) -> Option<EnvironmentSyncDetail> {
        let plans = vec![SyncPlan { gitops_repo: "prod".to_owned(), markdown: "- **1 assignment** change".to_owned() }];
        let problems = vec![SyncProblem {
            code: "K0312".to_owned(),
            is_error: true,
            message: "wrong".to_owned(),
            place: Some("control-plane@prod:a.yaml:1".to_owned()),
            assignments: vec!["east/web".to_owned()],
            help: vec!["correct it".to_owned()],
        }];
        (environment == "prod").then(|| EnvironmentSyncDetail { state: state(), plans, problems })
    }

    fn request_sync(&self, request: &SyncRequest) -> Result<SyncReceipt, UnknownEnvironment> {
        match &request.environment {
            Some(name) if name != "prod" => Err(UnknownEnvironment(name.clone())),
            _ => Ok(receipt()),
        }
    }

    fn confirm(&self, confirmation: &Confirmation, _by: &str) -> Result<SyncReceipt, ConfirmationError> {
        let Confirmation { environment, word } = confirmation.clone();
        if word == "1f2e3d4c" { Ok(receipt()) } else { Err(ConfirmationError::OtherWord { environment, word }) }
    }

    fn receive_webhook(
        &self,
        kind: &str,
        header: &dyn Fn(&str) -> Option<String>,
        body: &[u8],
    ) -> Result<SyncReceipt, RefusedWebhook> {
        assert_eq!(body, b"{}");
        let refused = |status| RefusedWebhook { status, message: "no".to_owned(), retry_after: None };
        match (kind, header("x-good")) {
            ("github", Some(_)) => Ok(receipt()),
            ("github", None) => Err(refused(401)),
            _ => Err(refused(404)),
        }
    }

    fn metrics(&self) -> String {
        "# TYPE kalypso_environments gauge\nkalypso_environments 1\n".to_owned()
    }

    fn missing(&self) -> Vec<String> {
        self.missing.lock().unwrap().clone()
    }
}

async fn serving(service: &Arc<FixedService>) -> Hub {
    let service = Arc::clone(service) as Arc<dyn SyncService>;
    Hub::start_server(|_| (), |server| server.serving(service)).await
}

#[tokio::test]
async fn answers_of_the_service_are_as_described() {
    let hub = serving(&Arc::default()).await;
    let description = strict(description(&hub).await);
    for (path, rest, status) in [
        ("/api/v1/syncs", "", 200),
        ("/api/v1/syncs/{environment}", "prod", 200),
        ("/api/v1/syncs/{environment}", "stage", 404),
    ] {
        let response = hub.get(&format!("{}{rest}", path.split('{').next().unwrap())).send().await.unwrap();
        assert_eq!(check(&description, (Method::GET, path), response).await.1, status, "{path}{rest}");
    }
    for (path, body, status) in [
        ("/api/v1/sync", json!({}), 202),
        ("/api/v1/sync", json!({"environment": "prod"}), 202),
        ("/api/v1/sync", json!({"environment": "stage"}), 404),
        ("/api/v1/sync", json!({"enviroment": "prod"}), 400),
        ("/api/v1/confirmations", json!({"environment": "prod", "word": "1f2e3d4c"}), 202),
        ("/api/v1/confirmations", json!({"environment": "prod", "word": "x"}), 422),
    ] {
        let response = hub.post(path).json(&body).send().await.unwrap();
        assert_eq!(check(&description, (Method::POST, path), response).await.1, status, "{path} {body}");
    }
    let all = hub.post("/api/v1/sync").send().await.unwrap();
    assert_eq!(all.status(), StatusCode::ACCEPTED, "no body means all environments");
}

#[tokio::test]
async fn readers_may_list_syncs_and_only_administrators_may_act() {
    let hub = serving(&Arc::default()).await;
    let (reader, admin) =
        (hub.token("reader", Scope::Read(Reach::default())).await, hub.token("ann", Scope::Admin).await);
    let listed = hub.get("/api/v1/syncs").bearer_auth(reader.reveal()).send().await.unwrap();
    assert_eq!(listed.status(), StatusCode::OK);
    assert_eq!(hub.get("/api/v1/syncs").send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
    let confirmation = json!({"environment": "prod", "word": "1f2e3d4c"});
    for (path, body) in [("/api/v1/sync", json!({})), ("/api/v1/confirmations", confirmation.clone())] {
        let refused = hub.post(path).bearer_auth(reader.reveal()).json(&body).send().await.unwrap();
        assert_eq!(refused.status(), StatusCode::FORBIDDEN, "{path}");
    }
    let done = hub.post("/api/v1/confirmations").bearer_auth(admin.reveal()).json(&confirmation).send().await.unwrap();
    assert_eq!(done.status(), StatusCode::ACCEPTED);
    let audit: Value = hub.get("/api/v1/audit").bearer_auth(admin.reveal()).send().await.unwrap().json().await.unwrap();
    let entries = audit["items"].as_array().unwrap();
    let confirmed = entries.iter().find(|entry| entry["action"] == Action::Confirm.as_str()).unwrap();
    assert_eq!((&confirmed["actor"], &confirmed["subject"]), (&json!("ann"), &json!("prod")), "{confirmed}");
}

#[tokio::test]
async fn webhooks_need_no_token_and_have_a_limit() {
    let hub = serving(&Arc::default()).await;
    hub.token("ann", Scope::Admin).await;
    let send = |kind: &str, body: Vec<u8>| hub.post(&format!("/webhooks/{kind}")).body(body);
    let good = send("github", b"{}".to_vec()).header("X-Good", "1").send().await.unwrap();
    assert_eq!(good.status(), StatusCode::ACCEPTED);
    assert_eq!(good.json::<SyncReceipt>().await.unwrap(), receipt());
    assert_eq!(problem(send("github", b"{}".to_vec()).send().await.unwrap()).await.0, StatusCode::UNAUTHORIZED);
    assert_eq!(problem(send("svn", b"{}".to_vec()).send().await.unwrap()).await.0, StatusCode::NOT_FOUND);
    let large = send("github", vec![b'x'; hub_api::limits::WEBHOOK_BYTES_MAX + 1]).send().await.unwrap();
    assert_eq!(problem(large).await.0, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn a_hub_alone_has_no_environments_to_sync() {
    let hub = Hub::start().await;
    assert_eq!(hub.get("/api/v1/syncs").send().await.unwrap().json::<Value>().await.unwrap(), json!([]));
    assert_eq!(problem(hub.post("/api/v1/sync").send().await.unwrap()).await.0, StatusCode::NOT_FOUND);
    assert_eq!(problem(hub.post("/webhooks/github").send().await.unwrap()).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn missing_syncs_do_not_make_the_hub_unready() {
    let service = Arc::new(FixedService::default());
    let hub = serving(&service).await;
    let ready = async || hub.get("/readyz").send().await.unwrap().text().await.unwrap();
    assert_eq!(ready().await, "ok\n");
    *service.missing.lock().unwrap() = vec!["environment prod is not synced yet".to_owned()];
    assert_eq!(ready().await, "ok, but environment prod is not synced yet\n");
    let metrics = hub.get("/metrics").send().await.unwrap().text().await.unwrap();
    assert!(metrics.starts_with("# TYPE kalypso_environments gauge") && metrics.ends_with("# EOF\n"), "{metrics}");
}
