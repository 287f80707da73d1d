//! Sessions that begin with a token.

use std::time::Duration;

use hub::authentication::tokens::{self, NewToken};
use hub_api::client::Client;
use hub_api::sessions::SignInMethods;
use hub_api::timestamp::Timestamp;
use hub_api::tokens::{Group, Reach, Scope};
use reqwest::{StatusCode, header};
use serde_json::{Value, json};

use super::browser::{Browser, SESSION, location};
use super::{Hub, later, problem, report};

/// A hub, and a browser in which the owner of a token is signed in.
async fn signed_in(scope: Scope) -> (Hub, Browser) {
    let hub = Hub::start().await;
    let token = hub.token("ann", scope).await;
    let mut browser = Browser::new(&hub);
    assert_eq!(browser.sign_in(&token.reveal(), "/environments?a=b").await, "/environments?a=b");
    (hub, browser)
}

/// Changes all sessions in the database.
async fn update(hub: &Hub, change: &str, by: Duration) {
    let mut transaction = hub.database.begin().await.unwrap();
    let sql = format!("update session set {change}");
    transaction.execute(&sql, vec![i64::try_from(by.as_millis()).unwrap().into()]).await.unwrap();
    transaction.commit().await.unwrap();
}

#[tokio::test]
async fn a_session_has_the_permissions_of_its_token() {
    let (_hub, mut browser) = signed_in(Scope::Read(Reach::ALL)).await;
    let state: Value = browser.get("/api/v1/session").await.json().await.unwrap();
    assert_eq!((&state["name"], &state["authentication"]), (&json!("ann"), &json!("session")));
    assert_eq!(state["grants"], json!([{"role": "read", "workspaces": [], "environments": []}]));
    assert!(state["idleExpiresOn"].as_str().unwrap() < state["expiresOn"].as_str().unwrap());
    assert_eq!(browser.get("/api/v1/environments").await.status(), StatusCode::OK);
    assert_eq!(problem(browser.get("/api/v1/tokens").await).await.0, StatusCode::FORBIDDEN);
    assert_eq!(problem(browser.post("/api/v1/refresh", &[]).await).await.0, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn an_ended_session_ends_its_event_streams() {
    let (hub, mut browser) = signed_in(Scope::Read(Reach::ALL)).await;
    let admin = hub.token("admin", Scope::Admin).await;
    let mut stream = browser.get("/api/v1/events").await;
    assert_eq!(stream.status(), StatusCode::OK);
    stream.chunk().await.unwrap().unwrap();
    // While the session is valid, the stream goes on after a check.
    later(Duration::from_secs(6)).await;
    hub.report(&admin, &report("h", "before")).await;
    let mut text = String::new();
    while !text.contains("before") {
        text += std::str::from_utf8(&stream.chunk().await.unwrap().unwrap()).unwrap();
    }
    update(&hub, "ends_on = ends_on - $1", Duration::from_hours(24 * 8)).await;
    later(Duration::from_secs(6)).await;
    hub.report(&admin, &report("h", "after")).await;
    assert_eq!(stream.chunk().await.unwrap(), None);
}

#[tokio::test]
async fn the_ways_to_sign_in_are_shown_to_everyone() {
    let hub = Hub::start().await;
    let client = Client::new(&hub.url(""), None).unwrap();
    let methods = SignInMethods { token: true, oidc: false, open: true };
    assert_eq!(client.sign_in_methods().await.unwrap(), methods);
    assert_eq!(client.session().await.unwrap().name, "anybody on this machine");
    hub.token("t", Scope::Admin).await;
    assert_eq!(client.sign_in_methods().await.unwrap(), SignInMethods { open: false, ..methods });
    assert!(client.session().await.is_err());
    let mut browser = Browser::new(&hub);
    let failed = location(&browser.get("/sign-in/oidc?return=/a").await);
    assert_eq!(failed, "/sign-in?error=not-configured&return=%2Fa");
}

#[tokio::test]
async fn wrong_tokens_and_tokens_of_programs_do_not_sign_in() {
    let hub = Hub::start().await;
    let host = hub.token("host", Scope::host("berlin")).await;
    let group = hub.token("group", Scope::Group(Group { hosts: "*".into(), ..Group::default() })).await;
    let publisher = hub.token("ci", Scope::Publish(Reach::ALL)).await;
    let mut browser = Browser::new(&hub);
    for token in [host, group, publisher] {
        assert_eq!(browser.sign_in(&token.reveal(), "/a?b").await, "/sign-in?error=no-permission&return=%2Fa%3Fb");
    }
    for wrong in ["", "x", "kal_a_b", &hub_api::token::TokenText::random().unwrap().reveal()] {
        assert_eq!(browser.sign_in(wrong, "/").await, "/sign-in?error=wrong-token&return=%2F");
    }
    assert!(browser.cookies.is_empty());
    assert_eq!(
        problem(browser.post("/sign-in/token", &[("token", &"a".repeat(100_000))]).await).await.0,
        StatusCode::PAYLOAD_TOO_LARGE
    );
    assert_eq!(problem(browser.post("/sign-in/token", &[]).await).await.0, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn too_many_wrong_tokens_are_refused_for_a_minute() {
    let hub = Hub::start().await;
    let token = hub.token("ann", Scope::Admin).await.reveal();
    let mut browser = Browser::new(&hub);
    for _ in 0..hub::limits::WRONG_SIGN_INS_MAX {
        browser.sign_in("x", "/").await;
    }
    assert_eq!(browser.sign_in(&token, "/").await, "/sign-in?error=busy&return=%2F");
    later(Duration::from_mins(1)).await;
    assert_eq!(browser.sign_in(&token, "/").await, "/");
}

#[tokio::test]
async fn a_sign_in_does_not_lead_to_another_site() {
    let hub = Hub::start().await;
    let token = hub.token("ann", Scope::Admin).await.reveal();
    for wrong in ["//evil.example", "https://evil.example", "/\\evil.example", "/\t/evil.example", "/sign-in?error=x"] {
        assert_eq!(Browser::new(&hub).sign_in(&token, wrong).await, "/", "{wrong}");
        assert_eq!(Browser::new(&hub).sign_in("x", wrong).await, "/sign-in?error=wrong-token&return=%2F");
    }
}

#[tokio::test]
async fn each_sign_in_has_a_new_secret_and_ends_the_session_before() {
    let (hub, mut browser) = signed_in(Scope::Admin).await;
    let (mut before, token) = (browser.clone(), hub.token("eve", Scope::Admin).await);
    browser.sign_in(&token.reveal(), "/").await;
    assert_ne!(browser.cookies[SESSION], before.cookies[SESSION]);
    assert_eq!((browser.person().await.as_deref(), before.person().await), (Some("eve"), None));
    // A secret that the browser brings is never taken.
    let mut fixed = Browser::new(&hub);
    fixed.cookies.insert(SESSION.to_owned(), "A".repeat(43));
    fixed.sign_in(&token.reveal(), "/").await;
    assert_ne!(fixed.cookies[SESSION], "A".repeat(43));
}

#[tokio::test]
async fn a_revoked_or_rotated_token_ends_its_sessions() {
    let (hub, mut browser) = signed_in(Scope::Admin).await;
    let mut rotated = Browser::new(&hub);
    rotated.sign_in(&hub.token("bob", Scope::Admin).await.reveal(), "/").await;
    tokens::revoke(&hub.database, "ann", "test").await.unwrap();
    tokens::rotate(&hub.database, "bob", (Duration::ZERO, "test")).await.unwrap();
    later(hub::limits::TOKEN_CACHE).await;
    assert_eq!((browser.person().await, rotated.person().await), (None, None));
    let (status, _, detail) = problem(browser.get("/api/v1/environments").await).await;
    assert_eq!((status, detail.as_str()), (StatusCode::UNAUTHORIZED, "the session is not valid: the token is revoked"));
}

#[tokio::test]
async fn a_session_ends_with_its_token() {
    let hub = Hub::start().await;
    let expires_on = Timestamp::now().after(Duration::from_hours(1));
    let token = NewToken { name: "ann".into(), scope: Scope::Admin, signs: false, expires_on: Some(expires_on) };
    let token = tokens::create(&hub.database, &token, "test").await.unwrap();
    let mut browser = Browser::new(&hub);
    browser.sign_in(&token.reveal(), "/").await;
    let state: Value = browser.get("/api/v1/session").await.json().await.unwrap();
    assert_eq!(state["expiresOn"], expires_on.to_string());
}

#[tokio::test]
async fn idle_and_old_sessions_end() {
    let (hub, mut browser) = signed_in(Scope::Admin).await;
    update(
        &hub,
        "last_seen_on = last_seen_on - $1",
        hub::limits::SESSION_IDLE_MAX.saturating_sub(Duration::from_mins(1)),
    )
    .await;
    assert!(browser.person().await.is_some());
    update(&hub, "last_seen_on = last_seen_on - $1", Duration::from_mins(1)).await;
    assert_eq!(browser.person().await, None);
    let (hub, mut browser) = signed_in(Scope::Admin).await;
    update(&hub, "ends_on = ends_on - $1", hub::limits::SESSION_AGE_MAX).await;
    assert_eq!(browser.person().await, None);
}

#[tokio::test]
async fn only_one_readable_cookie_is_accepted() {
    let (hub, browser) = signed_in(Scope::Admin).await;
    let good = format!("{SESSION}={}", browser.cookies[SESSION]);
    let check = async |cookie: &str| {
        let request = hub.get("/api/v1/session").header(header::COOKIE, cookie);
        request.send().await.unwrap().status()
    };
    assert_eq!(check(&format!("a=b; {good}; c=d")).await, StatusCode::OK);
    let [other, broken] = ["A".repeat(43), "x".to_owned()].map(|value| format!("{SESSION}={value}"));
    for wrong in
        [&other, &broken, &format!("{good}; {other}"), &format!("{good}; {good}"), &good.replace("__Host-", "")]
    {
        assert_eq!(check(wrong).await, StatusCode::UNAUTHORIZED, "{wrong}");
    }
    // The header counts more than the cookie.
    let request = hub.get("/api/v1/session").header(header::COOKIE, &good).bearer_auth("x");
    assert_eq!(request.send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn an_open_hub_ignores_broken_cookies() {
    let hub = Hub::start().await;
    let request = hub.get("/api/v1/session").header(header::COOKIE, format!("{SESSION}=x"));
    let state: Value = request.send().await.unwrap().json().await.unwrap();
    assert_eq!(state["authentication"], "open");
}

#[tokio::test]
async fn people_sign_out_here_or_everywhere() {
    let (hub, mut first) = signed_in(Scope::Admin).await;
    let token = hub.token("bob", Scope::Admin).await.reveal();
    let [mut second, mut third, mut fourth] = [(); 3].map(|()| Browser::new(&hub));
    for browser in [&mut second, &mut third, &mut fourth] {
        browser.sign_in(&token, "/").await;
    }
    let mut stolen = second.clone();
    assert_eq!(location(&second.post("/sign-out", &[]).await), "/sign-in");
    assert!(second.cookies.is_empty() && stolen.person().await.is_none() && third.person().await.is_some());
    assert_eq!(location(&third.post("/sign-out/everywhere", &[]).await), "/sign-in");
    assert!(third.cookies.is_empty() && fourth.person().await.is_none());
    assert_eq!(first.person().await.as_deref(), Some("ann"));
    assert_eq!(location(&Browser::new(&hub).post("/sign-out", &[]).await), "/sign-in");
}

#[tokio::test]
async fn another_site_can_not_use_a_session() {
    let (hub, mut browser) = signed_in(Scope::Admin).await;
    let cookie = format!("{SESSION}={}", browser.cookies[SESSION]);
    for path in ["/sign-out", "/sign-out/everywhere", "/sign-in/token", "/api/v1/refresh"] {
        let request = hub.post(path).header(header::COOKIE, &cookie).header("sec-fetch-site", "cross-site");
        assert_eq!(problem(request.send().await.unwrap()).await.0, StatusCode::FORBIDDEN, "{path}");
    }
    assert!(browser.person().await.is_some());
}

#[tokio::test]
async fn administrators_see_and_end_the_sessions_of_people() {
    let (hub, mut ann) = signed_in(Scope::Read(Reach::ALL)).await;
    let admin = Client::new(&hub.url(""), Some(hub.token("root", Scope::Admin).await.reveal())).unwrap();
    assert_eq!(problem(ann.get("/api/v1/sessions").await).await.0, StatusCode::FORBIDDEN);
    let sessions = admin.sessions().await.unwrap().items;
    assert!(sessions.len() == 1 && sessions[0].name == "ann" && !sessions[0].oidc);
    assert!(admin.end_sessions("nobody").await.unwrap_err().to_string().contains("`nobody` has no session"));
    admin.end_sessions("ann").await.unwrap();
    assert_eq!((ann.person().await, admin.sessions().await.unwrap().items.len()), (None, 0));
    let entries = admin.audit(&hub_api::audit::AuditFilter::default()).await.unwrap().items;
    let acts: Vec<_> = entries.iter().map(|entry| format!("{} {}", entry.actor, entry.action.as_str())).collect();
    assert_eq!(acts[..3], ["root session.end", "test token.create", "ann session.sign-in"]);
}
