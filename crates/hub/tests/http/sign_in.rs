//! The sign-in at an identity provider, and attacks on it.

use reqwest::StatusCode;
use serde_json::{Value, json};

use super::browser::{Browser, SESSION, location};
use super::identity_provider::IdentityProvider;
use super::{Hub, problem};

/// The cookie of an attempt to sign in.
const ATTEMPT: &str = "__Host-kalypso-sign-in";

async fn start() -> (IdentityProvider, Hub, Browser) {
    let provider = IdentityProvider::start().await;
    let hub = Hub::start_with(|options| options.issuer = Some(provider.settings())).await;
    let browser = Browser::new(&hub);
    (provider, hub, browser)
}

#[tokio::test]
async fn people_return_to_the_address_where_they_began() {
    let (_provider, _hub, mut browser) = start().await;
    let methods: Value = browser.get("/api/v1/sign-in").await.json().await.unwrap();
    assert_eq!(methods, json!({"token": true, "oidc": true, "open": false}));
    assert_eq!(browser.sign_in_at_provider("/environments?at=a%20b&c=d").await, "/environments?at=a%20b&c=d");
    let state: Value = browser.get("/api/v1/session").await.json().await.unwrap();
    assert_eq!((&state["name"], &state["authentication"]), (&json!("ada"), &json!("session")));
    assert_eq!(browser.get("/api/v1/environments").await.status(), StatusCode::OK);
    assert_eq!(problem(browser.get("/api/v1/tokens").await).await.0, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn the_current_configuration_gives_the_permissions() {
    let (provider, hub, mut browser) = start().await;
    browser.sign_in_at_provider("/").await;
    let url = hub.database_url();
    let mut settings = provider.settings();
    settings.grants.retain(|grant| grant.value != "developers");
    let replica = Hub::replica(url.clone(), |options| options.issuer = Some(settings)).await;
    assert_eq!(problem(browser.at(&replica).get("/api/v1/environments").await).await.0, StatusCode::FORBIDDEN);
    let mut settings = provider.settings();
    settings.claim = "roles".to_owned();
    let replica = Hub::replica(url, |options| options.issuer = Some(settings)).await;
    assert_eq!(browser.at(&replica).person().await, None);
    assert_eq!(browser.person().await.as_deref(), Some("ada"));
}

#[tokio::test]
async fn replicas_share_attempts_and_sessions() {
    let (provider, hub, mut browser) = start().await;
    let replica = Hub::replica(hub.database_url(), |options| options.issuer = Some(provider.settings())).await;
    let back = browser.visit_provider("/a").await;
    let mut there = browser.at(&replica);
    assert_eq!(location(&there.get(&back).await), "/a");
    let mut here = there.at(&hub);
    assert_eq!(here.person().await.as_deref(), Some("ada"));
    here.post("/sign-out", &[]).await;
    assert_eq!(there.person().await, None);
}

#[tokio::test]
async fn refused_people_are_sent_to_the_page_with_the_reason() {
    let (provider, _hub, mut browser) = start().await;
    provider.claim("groups", json!(["others"]));
    assert_eq!(browser.sign_in_at_provider("/a").await, "/sign-in?error=no-permission&return=%2Fa");
    provider.refuse("access_denied");
    assert_eq!(browser.sign_in_at_provider("/a").await, "/sign-in?error=denied&return=%2Fa");
    provider.refuse("server_error");
    assert_eq!(browser.sign_in_at_provider("/a").await, "/sign-in?error=provider&return=%2Fa");
    assert!(!browser.cookies.contains_key(SESSION));
}

#[tokio::test]
async fn an_answer_is_accepted_once_and_only_in_its_browser() {
    let (_provider, hub, mut browser) = start().await;
    let back = browser.visit_provider("/a").await;
    let expired = "/sign-in?error=expired&return=%2F";
    let mut other = Browser::new(&hub);
    assert_eq!(location(&other.get(&back).await), expired);
    other.visit_provider("/b").await;
    assert_eq!(location(&other.get(&back).await), expired);
    for wrong in [
        "/sign-in/callback",
        "/sign-in/callback?code=x",
        "/sign-in/callback?code=x&state=y",
        "/sign-in/callback?state=%ff",
    ] {
        assert_eq!(location(&browser.get(wrong).await), expired, "{wrong}");
    }
    let forged = back.replace("state=", "state=A");
    assert_eq!(location(&browser.get(&forged).await), expired);
    // The attempts of others did not use it up.
    assert_eq!(location(&browser.get(&back).await), "/a");
    let secret = browser.cookies[SESSION].clone();
    assert_eq!(location(&browser.get(&back).await), expired);
    assert_eq!(browser.cookies[SESSION], secret);
}

#[tokio::test]
async fn a_code_is_bound_to_its_attempt() {
    let (_provider, hub, mut browser) = start().await;
    let code = |back: &str| back.split(['?', '&']).find(|pair| pair.starts_with("code=")).unwrap().to_owned();
    let mut thief = Browser::new(&hub);
    let (stolen, own) = (browser.visit_provider("/a").await, thief.visit_provider("/b").await);
    // The provider refuses the code: it belongs to another verifier.
    let back = own.replace(&code(&own), &code(&stolen));
    assert_eq!(location(&thief.get(&back).await), "/sign-in?error=provider&return=%2Fb");
    assert!(!thief.cookies.contains_key(SESSION));
}

#[tokio::test]
async fn several_tabs_sign_in_at_the_same_time() {
    let (_provider, _hub, mut browser) = start().await;
    let (first, second) = (browser.visit_provider("/first").await, browser.visit_provider("/second").await);
    assert_eq!(location(&browser.get(&first).await), "/first");
    assert_eq!(location(&browser.get(&second).await), "/second");
    assert!(browser.cookies.contains_key(ATTEMPT) && browser.person().await.is_some());
}

#[tokio::test]
async fn tokens_that_are_not_for_this_sign_in_are_refused() {
    for (claim, value) in [
        ("nonce", json!("other")),
        ("nonce", Value::Null),
        ("aud", json!("hub-api")),
        ("aud", json!(["hub", "other"])),
        ("azp", json!("other")),
        ("iss", json!("https://other.example")),
        ("exp", json!(1_000)),
        ("sub", json!("")),
        ("sub", json!("a\u{0}b")),
    ] {
        let (provider, _hub, mut browser) = start().await;
        provider.claim(claim, value.clone());
        let failed = browser.sign_in_at_provider("/a").await;
        assert_eq!(failed, "/sign-in?error=provider&return=%2Fa", "{claim} {value}");
        assert!(!browser.cookies.contains_key(SESSION));
    }
    let (provider, _hub, mut browser) = start().await;
    provider.stop_signing();
    assert_eq!(browser.sign_in_at_provider("/a").await, "/sign-in?error=provider&return=%2Fa");
}

#[tokio::test]
async fn answers_of_another_issuer_are_refused() {
    let (_provider, _hub, mut browser) = start().await;
    let back = browser.visit_provider("/a").await.replace("iss=http", "iss=https");
    assert_eq!(location(&browser.get(&back).await), "/sign-in?error=provider&return=%2Fa");
}

#[tokio::test]
async fn a_sign_in_at_the_provider_does_not_lead_to_another_site() {
    let (_provider, _hub, mut browser) = start().await;
    for wrong in ["//evil.example", "https://evil.example", "/\\evil.example", "/sign-in/oidc"] {
        assert_eq!(browser.sign_in_at_provider(wrong).await, "/", "{wrong}");
    }
}

#[tokio::test]
async fn an_old_attempt_can_not_be_finished() {
    let (_provider, hub, mut browser) = start().await;
    let back = browser.visit_provider("/a").await;
    let mut transaction = hub.database.begin().await.unwrap();
    let millis = i64::try_from(hub::limits::SIGN_IN_TIME_MAX.as_millis()).unwrap();
    transaction.execute("update sign_in_attempt set started_on = started_on - $1", vec![millis.into()]).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(location(&browser.get(&back).await), "/sign-in?error=expired&return=%2F");
}

#[tokio::test]
async fn a_token_of_the_provider_can_be_pasted() {
    let (provider, _hub, mut browser) = start().await;
    assert_eq!(browser.sign_in(&provider.token("other", None), "/").await, "/sign-in?error=wrong-token&return=%2F");
    assert_eq!(browser.sign_in(&provider.token("hub-api", None), "/a").await, "/a");
    let state: Value = browser.get("/api/v1/session").await.json().await.unwrap();
    assert_eq!(state["name"], "ada");
    // The session ends with the token, which is valid for five minutes.
    assert_eq!(state["idleExpiresOn"], state["expiresOn"]);
}

#[tokio::test]
async fn an_unreachable_provider_is_an_error_of_the_provider() {
    let provider = IdentityProvider::start().await;
    let mut settings = provider.settings();
    settings.issuer = "http://127.0.0.1:9".to_owned();
    let hub = Hub::start_with(|options| options.issuer = Some(settings)).await;
    let failed = location(&Browser::new(&hub).get("/sign-in/oidc?return=/a").await);
    assert_eq!(failed, "/sign-in?error=provider&return=%2Fa");
}

#[tokio::test]
async fn a_proxy_may_change_the_host_if_the_public_address_is_configured() {
    let (_provider, hub, _browser) = start().await;
    let change = async |origin: &str| hub.post("/sign-out").header("origin", origin).send().await.unwrap().status();
    assert_eq!(change("https://hub.example.evil.example").await, StatusCode::FORBIDDEN);
    let client = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let own = client.post(hub.url("/sign-out")).header("origin", "https://hub.example").send().await.unwrap();
    assert_eq!(location(&own), "/sign-in");
}
