//! Tokens are created, recognized, rotated and revoked.

use std::time::Duration;

use hub::authentication::authority::{Authority, Credentials};
use hub::authentication::tokens::{Invalid, NewToken, TokenError, any, create, find, list, revoke, rotate};
use hub::store::Database;
use hub_api::timestamp::Timestamp;
use hub_api::token::TokenText;
use hub_api::tokens::{Group, Reach, Scope};

use crate::twins::Ground;

twins![
    tokens_are_recognized_by_their_secret,
    only_signing_tokens_can_sign,
    tokens_end_when_expired_or_revoked,
    tokens_rotate_with_a_grace_time,
    token_names_are_unique_and_valid,
    listed_tokens_have_scope_and_last_use_but_no_secret,
    a_limit_that_can_not_be_read_is_an_error,
    a_role_that_is_not_known_is_an_error,
];

fn new(name: &str) -> NewToken {
    NewToken { name: name.to_owned(), scope: Scope::Admin, signs: true, expires_on: None }
}

/// The result of checking a token at a timestamp.
async fn check(database: &Database, text: &TokenText, now: Timestamp) -> Result<String, Invalid> {
    let token = find(database, text.id()).await.unwrap().ok_or(Invalid::Secret)?;
    let recognized = token.recognize(text, now).map(|identity| identity.name);
    let signature = text.signing_key().sign(b"body");
    assert_eq!(token.recognize_signature(b"body", &signature, now).map(|identity| identity.name), recognized);
    recognized
}

async fn tokens_are_recognized_by_their_secret(Ground { database, .. }: Ground) {
    let text = create(&database, &new("grafana"), "test").await.unwrap();
    assert_eq!(check(&database, &text, Timestamp::now()).await, Ok("grafana".to_owned()));
    let other = TokenText::random().unwrap();
    let forged = other.reveal().replace(other.id(), text.id()).parse().unwrap();
    assert_eq!(check(&database, &forged, Timestamp::now()).await, Err(Invalid::Secret));
    assert_eq!(check(&database, &other, Timestamp::now()).await, Err(Invalid::Secret));
}

async fn only_signing_tokens_can_sign(Ground { database, .. }: Ground) {
    let text = create(&database, &NewToken { signs: false, ..new("grafana") }, "test").await.unwrap();
    let token = find(&database, text.id()).await.unwrap().unwrap();
    let signature = text.signing_key().sign(b"body");
    assert_eq!(token.recognize_signature(b"body", &signature, Timestamp::now()), Err(Invalid::Secret));
    // The text of a token shows whether it can sign, independent of its secret.
    let signing = create(&database, &new("site"), "test").await.unwrap();
    let rotated = rotate(&database, "site", (Duration::ZERO, "test")).await.unwrap();
    assert_eq!([text.signs(), signing.signs(), rotated.signs()], [false, true, true]);
    let reads = NewToken { scope: Scope::Read(Reach::ALL), ..new("reads") };
    assert!(matches!(create(&database, &reads, "test").await, Err(TokenError::Signing)));
}

async fn tokens_end_when_expired_or_revoked(Ground { database, .. }: Ground) {
    let end = Timestamp::now().after(Duration::from_mins(1));
    let text = create(&database, &NewToken { expires_on: Some(end), ..new("grafana") }, "test").await.unwrap();
    assert!(check(&database, &text, Timestamp::now()).await.is_ok());
    assert_eq!(check(&database, &text, end).await, Err(Invalid::Expired));
    revoke(&database, "grafana", "test").await.unwrap();
    assert_eq!(check(&database, &text, Timestamp::now()).await, Err(Invalid::Revoked));
    assert!(matches!(revoke(&database, "grafana", "test").await, Err(TokenError::Unknown(_))));
    assert!(any(&database).await.unwrap());
}

async fn tokens_rotate_with_a_grace_time(Ground { database, .. }: Ground) {
    let old = create(&database, &new("grafana"), "test").await.unwrap();
    let new = rotate(&database, "grafana", (Duration::from_mins(1), "test")).await.unwrap();
    let later = Timestamp::now().after(Duration::from_mins(2));
    assert!(check(&database, &old, Timestamp::now()).await.is_ok());
    assert_eq!(check(&database, &old, later).await, Err(Invalid::Secret));
    assert!(check(&database, &new, later).await.is_ok());
}

async fn token_names_are_unique_and_valid(Ground { database, .. }: Ground) {
    create(&database, &new("grafana"), "test").await.unwrap();
    assert!(matches!(create(&database, &new("grafana"), "test").await, Err(TokenError::Taken(_))));
    revoke(&database, "grafana", "test").await.unwrap();
    create(&database, &new("grafana"), "test").await.unwrap();
    for wrong in ["", " a", "a\nb", &"x".repeat(254)] {
        assert!(matches!(create(&database, &new(wrong), "test").await, Err(TokenError::Name(_))), "{wrong:?}");
    }
}

async fn listed_tokens_have_scope_and_last_use_but_no_secret(Ground { database, .. }: Ground) {
    let group = Group { hosts: "chicago-*".into(), reconciler_types: vec!["flux".into()], ..Group::default() };
    let text =
        create(&database, &NewToken { scope: Scope::Group(group.clone()), ..new("chicago") }, "test").await.unwrap();
    assert_eq!(list(&database).await.unwrap()[0].last_used_on, None);
    let (authority, before) = (Authority::new(database.clone(), None, false), Timestamp::now());
    let authorization = format!("Bearer {}", text.reveal());
    let credentials = Credentials { authorization: Some(&authorization), ..Credentials::default() };
    authority.authenticate(&credentials).await.unwrap();
    authority.write_uses().await.unwrap();
    let listed = list(&database).await.unwrap().remove(0);
    assert_eq!(listed.scope, Scope::Group(group));
    assert!((before..=Timestamp::now()).contains(&listed.last_used_on.unwrap()));
    let shown = serde_json::to_string(&listed).unwrap();
    assert!(shown.contains(r#""role":"group","hosts":"chicago-*""#), "{shown}");
    assert!(!shown.contains(&text.digest().to_hex()), "{shown}");
}

async fn a_limit_that_can_not_be_read_is_an_error(Ground { database, .. }: Ground) {
    let reach = Reach { workspaces: vec!["shop".into()], ..Reach::ALL };
    let token = NewToken { scope: Scope::Read(reach), signs: false, ..new("shop") };
    let text = create(&database, &token, "test").await.unwrap();
    let mut transaction = database.begin().await.unwrap();
    transaction.run("update token set workspaces = 'shop'").await.unwrap();
    transaction.commit().await.unwrap();
    // Without its limit, the token could read everything.
    let error = find(&database, text.id()).await.unwrap_err().to_string();
    assert!(error.starts_with("column 16 holds a text instead of a list or labels as JSON"), "{error}");
}

async fn a_role_that_is_not_known_is_an_error(Ground { database, .. }: Ground) {
    let text = create(&database, &new("shop"), "test").await.unwrap();
    let mut transaction = database.begin().await.unwrap();
    transaction.run("update token set role = 'administrator'").await.unwrap();
    transaction.commit().await.unwrap();
    let error = find(&database, text.id()).await.unwrap_err().to_string();
    assert!(error.starts_with("column 3 holds a text instead of the role of a token"), "{error}");
}
