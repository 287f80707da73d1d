//! Each role, with each limit, tries each act in each environment, and about workloads of each workspace. What it may do follows from a table of its own.

use std::sync::Arc;

use hub_api::promotions::{
    PromotionAction, PromotionCommand, PromotionReceipt, PromotionRefusal, PromotionService, PromotionStatus, Wait,
};
use hub_api::syncs::{
    Confirmation, ConfirmationError, EnvironmentSync, EnvironmentSyncDetail, RefusedWebhook, SyncReceipt, SyncRequest,
    SyncService, UnknownEnvironment,
};
use hub_api::tokens::{Group, Reach, Scope};
use reqwest::StatusCode;
use serde_json::{Value, json};

use super::promotions::at_rest;
use super::{Hub, problem};

const ENVIRONMENTS: [&str; 2] = ["prod", "stage"];
/// The workloads with their workspaces. `both` is the name of a workload in each of them.
const WORKLOADS: [(&str, &[&str]); 3] = [("till", &["shop"]), ("site", &["web"]), ("both", &["shop", "web"])];

/// A service that does everything that it is asked for.
#[derive(Debug)]
struct Willing;

impl PromotionService for Willing {
    fn status(&self, environment: Option<&str>) -> Vec<PromotionStatus> {
        let subjects = [None, Some("till"), Some("site"), Some("application/till"), Some("both")];
        let status = |name: &str| PromotionStatus {
            environment: name.to_owned(),
            before: Vec::new(),
            after: vec!["stage".to_owned()],
            evaluated_on: None,
            problem: None,
            waiting_for: vec![Wait { what: "removals".to_owned(), ..Wait::default() }],
            subjects: subjects.map(at_rest).into(),
        };
        let asked = ENVIRONMENTS.iter().filter(|name| environment.is_none_or(|asked| asked == **name));
        asked.map(|name| status(name)).collect()
    }

    fn command(
        &self,
        environment: &str,
        command: &PromotionCommand,
        _by: &str,
    ) -> Result<PromotionReceipt, PromotionRefusal> {
        let (environment, subject) = (environment.to_owned(), command.subject.clone());
        Ok(PromotionReceipt { environment, subject, revision: None, text: "done".to_owned() })
    }
}

impl SyncService for Willing {
    fn states(&self) -> Vec<EnvironmentSync> {
        Vec::new()
    }

    fn detail(&self, _: &str) -> Option<EnvironmentSyncDetail> {
        None
    }

    fn request_sync(&self, _: &SyncRequest) -> Result<SyncReceipt, UnknownEnvironment> {
        Ok(SyncReceipt::default())
    }

    fn confirm(&self, _: &Confirmation, _: &str) -> Result<SyncReceipt, ConfirmationError> {
        Ok(SyncReceipt::default())
    }

    fn receive_webhook(
        &self,
        _: &str,
        _: &dyn Fn(&str) -> Option<String>,
        _: &[u8],
    ) -> Result<SyncReceipt, RefusedWebhook> {
        Ok(SyncReceipt::default())
    }

    fn metrics(&self) -> String {
        String::new()
    }

    fn missing(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A service with workloads of two workspaces in both environments.
async fn company() -> Hub {
    let hub = Hub::start_server(|_| (), |server| server.promoting(Arc::new(Willing)).serving(Arc::new(Willing))).await;
    let admin = hub.token("publisher", Scope::Admin).await;
    for environment in ENVIRONMENTS {
        let targets = WORKLOADS.iter().flat_map(|(workload, workspaces)| {
            workspaces.iter().map(move |workspace| {
                json!({"workspace": workspace, "application": workspace, "workload": workload,
                       "name": format!("{workload}-{environment}"), "environment": environment, "version": {"version": "1.0"}})
            })
        });
        let place = json!({"path": "east", "tree": "a".repeat(40), "role": "application", "environment": environment,
                           "targets": targets.collect::<Vec<_>>()});
        let body = json!({"repository": "https://git.example/acme/apps", "branch": environment, "commit": "1".repeat(40),
                          "committedOn": "2026-11-01T00:00:00Z", "places": [place]});
        let sent = hub.post("/api/v1/publications").bearer_auth(admin.reveal()).json(&body).send().await.unwrap();
        assert_eq!(sent.status(), StatusCode::OK, "{}", sent.text().await.unwrap());
    }
    hub
}

/// The roles with the number of acts that they permit, of: read, approve, operate, administer.
fn roles(reach: &Reach) -> Vec<(Scope, usize)> {
    let own = || reach.clone();
    let limited = [(Scope::Read(own()), 1), (Scope::Approver(own()), 2), (Scope::Operator(own()), 3)];
    let others = [
        (Scope::host("berlin"), 0),
        (Scope::Group(Group { hosts: "b-*".into(), ..Group::default() }), 0),
        (Scope::Publish(own()), 0),
        (Scope::Manage, 0),
        (Scope::Admin, 4),
    ];
    limited.into_iter().chain(others).collect()
}

/// The rank of an act, by the table of the documentation.
fn rank(action: PromotionAction) -> usize {
    match action.as_str() {
        "approve" => 2,
        "promote" | "hold" | "resume" | "retry" | "abort" | "rollback" => 3,
        _ => 4,
    }
}

fn body(action: PromotionAction, subject: Option<&str>) -> Value {
    json!({"command": action, "subject": subject, "revision": "r", "gate": "g", "reason": "a reason"})
}

/// Whether limits permit something about a subject: nothing of them for `admin`, which has none.
fn is_within(reach: &Reach, environment: &str, subject: Option<&str>) -> bool {
    let workspaces = WORKLOADS.iter().find(|(name, _)| subject.is_some_and(|subject| subject.ends_with(name)));
    let is_own = workspaces.is_some_and(|(_, all)| all.iter().all(|one| reach.workspaces.contains(&(*one).to_owned())));
    (reach.environments.is_empty() || reach.environments.contains(&environment.to_owned()))
        && (reach.workspaces.is_empty() || is_own)
}

#[tokio::test]
async fn every_role_has_exactly_the_permissions_of_the_table() {
    let hub = company().await;
    let limit = |workspaces: &[&str], environments: &[&str]| {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        Reach { workspaces: names(workspaces), environments: names(environments) }
    };
    let limits = [limit(&[], &[]), limit(&[], &["prod"]), limit(&["shop"], &[]), limit(&["web"], &["stage"])];
    let subjects =
        [None, Some("till"), Some("site"), Some("both"), Some("application/till"), Some("values"), Some("new")];
    let mut tried = 0;
    for (number, reach) in limits.iter().enumerate() {
        for (scope, acts) in roles(reach) {
            let own = if scope == Scope::Admin { Reach::ALL } else { reach.clone() };
            let token = hub.token(&format!("{} {number}", scope.role()), scope.clone()).await.reveal();
            let post = async |path: &str, body: &Value| {
                hub.post(path).bearer_auth(&token).json(body).send().await.unwrap().status().is_success()
            };
            for environment in ENVIRONMENTS {
                for action in PromotionAction::ALL {
                    for subject in subjects {
                        let path = format!("/api/v1/promotions/{environment}/commands");
                        let expected = acts >= rank(action) && is_within(&own, environment, subject);
                        let found = post(&path, &body(action, subject)).await;
                        assert_eq!(found, expected, "{scope:?} {action:?} {environment} {subject:?}");
                        tried += 1;
                    }
                }
                let sync = post("/api/v1/sync", &json!({"environment": environment})).await;
                assert_eq!(sync, acts >= 3 && is_within(&own, environment, None), "{scope:?} sync {environment}");
                let confirmation = json!({"environment": environment, "word": "1f2e3d4c"});
                assert_eq!(post("/api/v1/confirmations", &confirmation).await, acts == 4, "{scope:?} confirm");
            }
            assert_eq!(post("/api/v1/sync", &json!({})).await, acts >= 3 && own.is_all(), "{scope:?} sync all");
            assert_eq!(post("/api/v1/refresh", &json!({})).await, acts >= 3 && own.is_all(), "{scope:?} refresh");
            let token = hub.get("/api/v1/promotions").bearer_auth(&token).send().await.unwrap();
            assert_eq!(token.status().is_success(), acts >= 1, "{scope:?} status");
            if acts >= 1 {
                let seen = token.json::<Vec<PromotionStatus>>().await.unwrap();
                check_seen(&seen, &own);
            }
        }
    }
    assert_eq!(tried, 4 * 8 * 2 * 8 * 7);
}

/// A reader sees the subjects within its limits, and no others.
fn check_seen(seen: &[PromotionStatus], reach: &Reach) {
    for environment in ENVIRONMENTS {
        let status = seen.iter().find(|status| status.environment == environment);
        let subjects = [None, Some("till"), Some("site"), Some("application/till"), Some("both")];
        let expected: Vec<_> = subjects.into_iter().filter(|subject| is_within(reach, environment, *subject)).collect();
        let found: Vec<_> = status.iter().flat_map(|one| &one.subjects).map(|one| one.subject.as_deref()).collect();
        assert_eq!(found, expected, "{reach:?} {environment}");
        let waits = status.map_or(0, |status| status.waiting_for.len());
        assert_eq!(waits == 1, is_within(reach, environment, None), "{reach:?} {environment}");
        let names = status.map(|status| status.after.clone()).unwrap_or_default();
        assert!(names.iter().all(|name| is_within(&Reach { workspaces: Vec::new(), ..reach.clone() }, name, None)));
    }
}

#[tokio::test]
async fn a_refusal_names_the_role_that_is_needed() {
    let hub = company().await;
    let prod = Reach { environments: vec!["prod".to_owned()], ..Reach::ALL };
    let ada = hub.token("ada", Scope::Operator(prod)).await.reveal();
    let refused = async |environment: &str, action| {
        let path = format!("/api/v1/promotions/{environment}/commands");
        let sent = hub.post(&path).bearer_auth(&ada).json(&body(action, None)).send().await.unwrap();
        problem(sent).await
    };
    let (status, _, detail) = refused("prod", PromotionAction::Skip).await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    assert_eq!(detail, "this needs the role `admin` of prod, and `ada` has the role operator (environments prod)");
    let (_, _, detail) = refused("stage", PromotionAction::Hold).await;
    assert_eq!(detail, "this needs the role `operator` of stage, and `ada` has the role operator (environments prod)");
}

#[tokio::test]
async fn managers_cannot_grant_deciding_roles() {
    let hub = company().await;
    let manager = hub.token("manager", Scope::Manage).await.reveal();
    let admin = hub.token("admin", Scope::Admin).await.reveal();
    let create = async |by: &str, role: &str| {
        let token = json!({"name": format!("{role} of {}", by.len()), "role": role});
        hub.post("/api/v1/tokens").bearer_auth(by).json(&token).send().await.unwrap().status()
    };
    for role in ["approver", "operator", "manage", "admin"] {
        assert_eq!(create(&manager, role).await, StatusCode::FORBIDDEN, "{role}");
        assert_eq!(create(&admin, role).await, StatusCode::CREATED, "{role}");
    }
    assert_eq!(create(&manager, "reader").await, StatusCode::CREATED);
    let listed: Value = hub.get("/api/v1/tokens").bearer_auth(&manager).send().await.unwrap().json().await.unwrap();
    let roles = listed["items"].as_array().unwrap().iter().map(|token| token["role"].as_str().unwrap());
    // Requests and answers keep the name that programs know.
    assert_eq!(roles.filter(|role| *role == "read").count(), 1, "{listed}");
}
