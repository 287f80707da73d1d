//! Tokens and hosts over HTTP, and the audit log of their changes.

use hub_api::audit::{Action, AuditFilter};
use hub_api::client::{Client, ClientError};
use hub_api::hosts::{HostPage, HostRegistration};
use hub_api::token::TokenText;
use hub_api::tokens::{Reach, Scope, TokenRequest};
use model::secret::SecretSource;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::{Hub, problem};

/// Sends a request such as `GET /api/v1/tokens`.
async fn call(hub: &Hub, token: &TokenText, request: &str, body: &Value) -> (u16, Value) {
    let (method, path) = request.split_once(' ').unwrap();
    let method: Method = method.parse().unwrap();
    let request = hub.client.request(method, hub.url(path)).bearer_auth(token.reveal());
    let request = if body.is_null() { request } else { request.json(body) };
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    (status, serde_json::from_str(&response.text().await.unwrap()).unwrap_or_default())
}

#[tokio::test]
async fn managers_create_list_and_revoke_tokens() {
    let hub = Hub::start().await;
    let manager = hub.token("manager", Scope::Manage).await;
    let create = async |body: Value| call(&hub, &manager, "POST /api/v1/tokens", &body).await;
    let body = json!({"name": "site", "role": "group", "hosts": "berlin-*", "signs": true, "expiresOn": "2099-01-01T00:00:00Z"});
    let (status, created) = create(body.clone()).await;
    assert_eq!((status, &created["name"]), (201, &"site".into()));
    assert!(created["signingKey"].is_string());
    let token: TokenText = created["token"].as_str().unwrap().parse().unwrap();
    assert!(token.signs() && token.id() == created["id"]);
    let report = json!({"host": "berlin-1", "reconciler": "a", "status": "success"});
    assert_eq!(hub.report(&token, &report).await.status(), StatusCode::OK);
    assert_eq!(create(body).await.0, 409);
    let (_, limited) = create(json!({"name": "web", "role": "read", "environments": ["dev"]})).await;
    assert!(limited.get("signingKey").is_none());
    let (_, listed) = call(&hub, &manager, "GET /api/v1/tokens", &Value::Null).await;
    let names: Vec<_> =
        listed["items"].as_array().unwrap().iter().map(|token| token["name"].as_str().unwrap()).collect();
    assert_eq!((names, &listed["items"][2]["environments"]), (vec!["manager", "site", "web"], &json!(["dev"])));
    assert!(!listed.to_string().contains(&token.digest().to_hex()));
    assert_eq!(call(&hub, &manager, "DELETE /api/v1/tokens/site", &Value::Null).await.0, 204);
    assert_eq!(call(&hub, &manager, "DELETE /api/v1/tokens/site", &Value::Null).await.0, 404);
}

#[tokio::test]
async fn managers_cannot_grant_higher_roles_or_invalid_tokens() {
    let hub = Hub::start().await;
    let (manager, admin) = (hub.token("manager", Scope::Manage).await, hub.token("admin", Scope::Admin).await);
    for role in ["admin", "manage"] {
        let body = json!({"name": role.to_owned() + "-2", "role": role});
        assert_eq!(call(&hub, &manager, "POST /api/v1/tokens", &body).await.0, 403, "{role}");
        assert_eq!(call(&hub, &admin, "POST /api/v1/tokens", &body).await.0, 201, "{role}");
    }
    assert_eq!(call(&hub, &manager, "DELETE /api/v1/tokens/admin", &Value::Null).await.0, 403);
    assert_eq!(call(&hub, &manager, &format!("DELETE /api/v1/tokens/{}", admin.id()), &Value::Null).await.0, 403);
    for (wrong, status) in [
        (json!({"name": "a", "role": "host"}), 422),
        (json!({"name": "a", "role": "read", "hosts": "*"}), 422),
        (json!({"name": "a", "role": "group", "hosts": "*", "workspaces": ["w"]}), 422),
        (json!({"name": "a", "role": "read", "signs": true}), 422),
        (json!({"name": " a", "role": "read"}), 422),
        (json!({"name": "a", "role": "root"}), 422),
        (json!({"name": "a", "role": "read", "enviroments": ["dev"]}), 422),
    ] {
        let (found, answer) = call(&hub, &manager, "POST /api/v1/tokens", &wrong).await;
        assert!(found == status || found == 400, "{wrong}: {found} {answer}");
    }
    // The scope `manage` allows neither queries nor reports.
    let response = hub.get("/api/v1/deployments").bearer_auth(manager.reveal()).send().await.unwrap();
    assert_eq!(problem(response).await.0, StatusCode::FORBIDDEN);
    let report = json!({"host": "h", "reconciler": "a", "status": "success"});
    assert_eq!(hub.report(&manager, &report).await.status(), StatusCode::FORBIDDEN);
    for scope in [Scope::Read(Reach::ALL), Scope::Publish(Reach::ALL), Scope::host("h")] {
        let other = hub.token(&format!("{scope:?}"), scope).await;
        for path in ["/api/v1/tokens", "/api/v1/hosts", "/api/v1/audit"] {
            assert_eq!(call(&hub, &other, &format!("GET {path}"), &Value::Null).await.0, 403, "{path}");
        }
    }
}

#[tokio::test]
async fn hosts_are_registered_listed_retired_and_restored() {
    let hub = Hub::start().await;
    let manager = hub.token("manager", Scope::Manage).await;
    let call = async |request: &str, body: Value| call(&hub, &manager, request, &body).await;
    let place = json!({"repository": "https://git.example/r", "branch": "prod", "path": "edge"});
    let host = json!({"labels": {"site": "berlin"}, "reconciler": {"name": "flux", "type": "flux", "place": place}});
    assert_eq!(call("PUT /api/v1/hosts/berlin-1", host).await.0, 204);
    assert_eq!(call("PUT /api/v1/hosts/berlin%202", json!({})).await.0, 204);
    assert_eq!(call("PUT /api/v1/hosts/berlin-3", json!({"label": {}})).await.0, 400);
    let (_, page) = call("GET /api/v1/hosts?limit=1", Value::Null).await;
    assert_eq!((&page["items"][0]["name"], &page["next"]), (&"berlin 2".into(), &"berlin 2".into()));
    let (_, page) = call("GET /api/v1/hosts?after=berlin%202", Value::Null).await;
    assert_eq!((&page["items"][0]["labels"]["site"], page.get("next")), (&"berlin".into(), None));
    assert_eq!(page["items"][0]["reconcilers"][0]["place"], "https://git.example/r/prod/edge");
    assert_eq!(call("POST /api/v1/hosts/berlin-1/retire", Value::Null).await.0, 204);
    assert_eq!(call("GET /api/v1/hosts", Value::Null).await.1["items"].as_array().unwrap().len(), 1);
    let (_, all) = call("GET /api/v1/hosts?retired=true", Value::Null).await;
    assert!(all["items"].as_array().unwrap().len() == 2 && all["items"][1]["retiredOn"].is_string());
    assert_eq!(call("POST /api/v1/hosts/berlin-1/restore", Value::Null).await.0, 204);
    assert_eq!(call("POST /api/v1/hosts/berlin-1/retire?reconciler=none", Value::Null).await.0, 404);
    assert_eq!(call("GET /api/v1/hosts?limit=0", Value::Null).await.0, 400);
}

#[tokio::test]
async fn publications_and_decisions_are_audited() {
    let hub = Hub::start().await;
    let (manager, ci) = (hub.token("manager", Scope::Manage).await, hub.token("ci", Scope::Publish(Reach::ALL)).await);
    let place = json!({"path": "web", "tree": "a".repeat(40), "role": "application", "environment": "prod"});
    let publication = json!({"repository": "https://git.example/r", "branch": "prod", "commit": "c".repeat(40),
        "committedOn": "2026-11-01T00:00:00Z", "places": [place]});
    for _ in 0..2 {
        // A request that changes nothing is not logged again.
        assert_eq!(call(&hub, &ci, "POST /api/v1/publications", &publication).await.0, 200);
    }
    call(&hub, &manager, "PUT /api/v1/hosts/h-1", &json!({})).await;
    call(&hub, &manager, "POST /api/v1/hosts/h-1/retire", &Value::Null).await;
    call(&hub, &manager, "POST /api/v1/tokens", &json!({"name": "web", "role": "read"})).await;
    call(&hub, &manager, "DELETE /api/v1/tokens/web", &Value::Null).await;
    let audit = async |query: &str| {
        let (status, answer) = call(&hub, &manager, &format!("GET /api/v1/audit{query}"), &Value::Null).await;
        assert_eq!(status, 200, "{answer}");
        let row = |row: &Value| format!("{} {} {}", row["actor"], row["action"], row["subject"]).replace('"', "");
        let rows: Vec<_> = answer["items"].as_array().unwrap().iter().map(row).collect();
        (rows, answer)
    };
    let (rows, answer) = audit("").await;
    assert_eq!(
        rows,
        [
            "manager token.revoke web",
            "manager token.create web",
            "manager host.retire h-1",
            "manager host.register h-1",
            "ci publish https://git.example/r prod",
            "test token.create ci",
            "test token.create manager",
        ]
    );
    let detail = &answer["items"][4]["detail"];
    assert_eq!((&detail["changed"], &detail["environments"]), (&1.into(), &json!(["prod"])));
    assert_eq!(answer["items"][1]["detail"]["role"], "read");
    assert_eq!(audit("?actor=ci").await.0, ["ci publish https://git.example/r prod"]);
    assert_eq!(audit("?action=host.retire").await.0, ["manager host.retire h-1"]);
    assert_eq!(audit("?since=2099-01-01T00:00:00Z").await.0, [""; 0]);
    let (first, answer) = audit("?limit=2").await;
    let (second, _) = audit(&format!("?limit=2&cursor={}", answer["next"].as_str().unwrap())).await;
    assert_eq!([first, second].concat(), rows[..4]);
    assert_eq!(call(&hub, &manager, "GET /api/v1/audit?action=nothing", &Value::Null).await.0, 400);
}

/// The names of the tokens that are not revoked.
async fn valid_tokens(client: &Client) -> Vec<String> {
    let tokens = client.tokens().await.unwrap().items.into_iter();
    tokens.filter(|token| token.revoked_on.is_none()).map(|token| token.name).collect()
}

#[tokio::test]
async fn the_client_manages_tokens() {
    let hub = Hub::start().await;
    let client = Client::new(&hub.url(""), Some(hub.token("admin", Scope::Admin).await.reveal())).unwrap();
    let request = json!({"name": "a/b", "role": "read", "host": null, "hosts": null, "expiresOn": null});
    let request: TokenRequest = serde_json::from_value(request).unwrap();
    let created = client.create_token(&request).await.unwrap();
    assert_eq!(created.token.parse::<TokenText>().unwrap().id(), created.id);
    assert!(matches!(client.create_token(&request).await, Err(ClientError::Refused { status: 409, .. })));
    assert_eq!(valid_tokens(&client).await, ["a/b", "admin"]);
    client.revoke_token("a/b").await.unwrap();
    assert!(matches!(client.revoke_token("a/b").await, Err(ClientError::Refused { status: 404, .. })));
    assert_eq!(valid_tokens(&client).await, ["admin"]);
    client.refresh_watches().await.unwrap();
}

#[tokio::test]
async fn the_client_tries_again_with_a_replaced_token() {
    let hub = Hub::start().await;
    let new = hub.token("new", Scope::Admin).await.reveal();
    let client = |token| Client::new(&hub.url(""), None).unwrap().with_token(token);
    let refused = client(SecretSource::sequence(&["old"])).tokens().await;
    assert!(matches!(refused, Err(ClientError::Refused { status: 401, .. })), "{refused:?}");
    assert_eq!(valid_tokens(&client(SecretSource::sequence(&["old", &new]))).await, ["new"]);
}

#[tokio::test]
async fn the_client_manages_hosts() {
    let hub = Hub::start().await;
    let client = Client::new(&hub.url(""), Some(hub.token("manager", Scope::Manage).await.reveal())).unwrap();
    let registration = json!({"type": "edge", "labels": {"site": "berlin"}, "reconciler": {"name": "flux"}});
    let registration: HostRegistration = serde_json::from_value(registration).unwrap();
    client.register_host("a/b", &registration).await.unwrap();
    let hosts = async |retired| {
        let page = HostPage { after: None, retired, limit: Some(10) };
        let hosts = client.hosts(&page).await.unwrap().items.into_iter();
        hosts.map(|host| (host.name, host.retired_on.is_some(), host.reconcilers.len())).collect::<Vec<_>>()
    };
    assert_eq!(hosts(false).await, [("a/b".to_owned(), false, 1)]);
    client.retire_host("a/b", Some("flux")).await.unwrap();
    client.retire_host("a/b", None).await.unwrap();
    assert_eq!((hosts(false).await, hosts(true).await), (vec![], vec![("a/b".to_owned(), true, 1)]));
    client.restore_host("a/b", None).await.unwrap();
    client.restore_host("a/b", Some("flux")).await.unwrap();
    assert_eq!(hosts(false).await, [("a/b".to_owned(), false, 1)]);
    assert!(matches!(client.retire_host("c", None).await, Err(ClientError::Refused { status: 404, .. })));
    let audit = client.audit(&AuditFilter { subject: Some("a/b".into()), ..AuditFilter::default() }).await.unwrap();
    let actions: Vec<_> = audit.items.iter().map(|entry| entry.action).collect();
    let expected = [
        Action::HostRestore, // of the reconciler
        Action::HostRestore,
        Action::HostRetire,
        Action::HostRetire, // of the reconciler
        Action::HostRegister,
    ];
    assert_eq!(actions, expected);
    let refused = client.refresh_watches().await.unwrap_err();
    assert!(matches!(refused, ClientError::Refused { status: 403, .. }), "{refused}");
}
