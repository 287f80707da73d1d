//! Tokens are made, recognized, rotated and revoked.

use super::*;
use crate::store::DatabaseUrl;

async fn database() -> Database {
    Database::open(&DatabaseUrl::Memory).await.unwrap()
}

fn new(name: &str) -> NewToken {
    NewToken { name: name.to_owned(), scope: Scope::Read, signs: true, expires_on: None }
}

/// What the hub says to a token at a moment.
async fn check(database: &Database, text: &TokenText, now: Moment) -> Result<String, Invalid> {
    let token = find(database, text.id()).await.unwrap().ok_or(Invalid::Secret)?;
    let recognized = token.recognize(text, now).map(|identity| identity.name);
    let signature = text.signing_key().sign(b"body");
    assert_eq!(token.recognize_signature(b"body", &signature, now).map(|identity| identity.name), recognized);
    recognized
}

#[tokio::test]
async fn is_known_by_its_secret_and_by_what_it_signs() {
    let database = database().await;
    let text = create(&database, &new("grafana")).await.unwrap();
    assert_eq!(check(&database, &text, Moment::now()).await, Ok("grafana".to_owned()));
    let forged = TokenText::renewed(text.id()).unwrap();
    assert_eq!(check(&database, &forged, Moment::now()).await, Err(Invalid::Secret));
    assert_eq!(check(&database, &TokenText::random().unwrap(), Moment::now()).await, Err(Invalid::Secret));
}

#[tokio::test]
async fn signs_only_if_it_was_made_for_it() {
    let database = database().await;
    let text = create(&database, &NewToken { signs: false, ..new("grafana") }).await.unwrap();
    let token = find(&database, text.id()).await.unwrap().unwrap();
    let signature = text.signing_key().sign(b"body");
    assert_eq!(token.recognize_signature(b"body", &signature, Moment::now()), Err(Invalid::Secret));
}

#[tokio::test]
async fn ends_when_it_expires_or_is_revoked() {
    let database = database().await;
    let end = Moment::now().after(Duration::from_mins(1));
    let text = create(&database, &NewToken { expires_on: Some(end), ..new("grafana") }).await.unwrap();
    assert!(check(&database, &text, Moment::now()).await.is_ok());
    assert_eq!(check(&database, &text, end).await, Err(Invalid::Expired));
    revoke(&database, "grafana").await.unwrap();
    assert_eq!(check(&database, &text, Moment::now()).await, Err(Invalid::Revoked));
    assert!(matches!(revoke(&database, "grafana").await, Err(TokenError::Unknown(_))));
    assert!(any(&database).await.unwrap());
}

#[tokio::test]
async fn rotates_with_a_grace_time() {
    let database = database().await;
    let old = create(&database, &new("grafana")).await.unwrap();
    let new = rotate(&database, "grafana", Duration::from_mins(1)).await.unwrap();
    let later = Moment::now().after(Duration::from_mins(2));
    assert!(check(&database, &old, Moment::now()).await.is_ok());
    assert_eq!(check(&database, &old, later).await, Err(Invalid::Secret));
    assert!(check(&database, &new, later).await.is_ok());
}

#[tokio::test]
async fn has_a_name_of_its_own() {
    let database = database().await;
    create(&database, &new("grafana")).await.unwrap();
    assert!(matches!(create(&database, &new("grafana")).await, Err(TokenError::Taken(_))));
    revoke(&database, "grafana").await.unwrap();
    create(&database, &new("grafana")).await.unwrap();
    for wrong in ["", " a", "a\nb", &"x".repeat(254)] {
        assert!(matches!(create(&database, &new(wrong)).await, Err(TokenError::Name(_))), "{wrong:?}");
    }
}

#[tokio::test]
async fn is_listed_with_its_scope_and_last_use_but_without_its_secret() {
    let database = database().await;
    let group = Group { hosts: "chicago-*".into(), reconciler_types: vec!["flux".into()], ..Group::default() };
    let text = create(&database, &NewToken { scope: Scope::Group(group.clone()), ..new("chicago") }).await.unwrap();
    let used_on = Moment::from_millis(1_000);
    touch(&database, vec![(text.id().to_owned(), used_on)]).await.unwrap();
    let listed = list(&database).await.unwrap().remove(0);
    assert_eq!((&listed.scope, listed.last_used_on), (&Scope::Group(group), Some(used_on)));
    let shown = serde_json::to_string(&listed).unwrap();
    assert!(shown.contains(r#""role":"group","hosts":"chicago-*""#), "{shown}");
    assert!(!shown.contains(&text.digest().to_hex()), "{shown}");
}
