//! Sessions are created, found, used and ended.

use std::time::Duration;

use hub::authentication::authority::{Authority, Credentials};
use hub::authentication::random_secret::RandomSecret;
use hub::authentication::sessions::attempts::{self, SignInAttempt};
use hub::authentication::sessions::{
    ClaimValues, NewSession, SessionBasis, create, delete_ended, end, end_everywhere, end_of, find, list,
};
use hub::authentication::tokens::{self, NewToken};
use hub::limits::{SESSION_CLOCK_SKEW, SESSION_IDLE_MAX, SESSIONS_PER_PERSON_MAX, SIGN_IN_TIME_MAX};
use hub::store::Database;
use hub::store::backup::back_up;
use hub_api::timestamp::Timestamp;
use hub_api::tokens::Scope;

use crate::twins::Ground;

twins![
    sessions_are_found_by_their_secret_only,
    each_use_of_a_session_counts_in_all_replicas,
    people_end_their_own_sessions,
    administrators_end_the_sessions_of_a_name,
    ended_sessions_are_deleted,
    a_person_has_a_limited_number_of_sessions,
    attempts_are_taken_once_and_by_their_browser,
    a_backup_has_no_sessions,
];

/// A session of an account with a value of its claim.
fn of_account(name: &str, issuer: &str) -> NewSession {
    let claims =
        ClaimValues { issuer: issuer.into(), claim: "groups".into(), values: vec!["a \"b\"".into(), "ü".into()] };
    NewSession { name: name.into(), basis: SessionBasis::Claims(claims), expires_on: None }
}

async fn sign_in(database: &Database, name: &str, issuer: &str) -> RandomSecret {
    create(database, &of_account(name, issuer), None).await.unwrap().0
}

/// A token, and a session of its owner.
async fn of_token(database: &Database, name: &str) -> (NewSession, RandomSecret) {
    let token = NewToken { name: name.into(), scope: Scope::Admin, signs: false, expires_on: None };
    let text = tokens::create(database, &token, "test").await.unwrap();
    let basis = SessionBasis::Token { id: text.id().into(), secret: text.digest() };
    let session = NewSession { name: name.into(), basis, expires_on: None };
    let (secret, _) = create(database, &session, None).await.unwrap();
    (session, secret)
}

/// Whether each of these sessions exists.
async fn check<const N: usize>(database: &Database, secrets: [&RandomSecret; N]) -> [bool; N] {
    let mut found = [false; N];
    for (found, secret) in found.iter_mut().zip(secrets) {
        *found = find(database, secret).await.unwrap().is_some();
    }
    found
}

async fn sessions_are_found_by_their_secret_only(Ground { database, .. }: Ground) {
    let secret = sign_in(&database, "ada", "https://login.example").await;
    let session = find(&database, &secret).await.unwrap().unwrap();
    let SessionBasis::Claims(claims) = &session.basis else { panic!("it is of an account") };
    assert_eq!((session.name.as_str(), claims.values.as_slice()), ("ada", &["a \"b\"".to_owned(), "ü".to_owned()][..]));
    assert_eq!(check(&database, [&RandomSecret::random().unwrap()]).await, [false]);
    let listed = list(&database, Timestamp::now()).await.unwrap();
    assert!(listed.len() == 1 && listed[0].oidc && !format!("{listed:?}").contains(&session.id));
}

async fn each_use_of_a_session_counts_in_all_replicas(Ground { database, .. }: Ground) {
    let (_, secret) = of_token(&database, "ann").await;
    let long_ago = "update session set last_seen_on = last_seen_on - ";
    let long_ago = match database.dialect() {
        hub::store::Dialect::Sqlite => format!("{long_ago} 36000000"),
        hub::store::Dialect::Postgres => format!("{long_ago} interval '10 hours'"),
    };
    let mut transaction = database.begin().await.unwrap();
    transaction.run(&long_ago).await.unwrap();
    transaction.commit().await.unwrap();
    let before = find(&database, &secret).await.unwrap().unwrap();
    let of_stream = Authority::new(database.clone(), None, false);
    let credentials = Credentials { authorization: None, cookies: vec![secret.reveal()] };
    assert_eq!(of_stream.check_again(&credentials).await.unwrap().name, "ann");
    of_stream.write_uses().await.unwrap();
    let seen = find(&database, &secret).await.unwrap().unwrap().last_seen_on;
    assert_eq!(seen, before.last_seen_on, "an open stream is no use of the session");
    for _ in 0..2 {
        let replica = Authority::new(database.clone(), None, false);
        let credentials = Credentials { authorization: None, cookies: vec![secret.reveal()] };
        assert_eq!(replica.authenticate(&credentials).await.unwrap().identity.name, "ann");
        replica.write_uses().await.unwrap();
    }
    let after = find(&database, &secret).await.unwrap().unwrap();
    assert!(after.last_seen_on.since(before.last_seen_on) >= Duration::from_hours(10));
    assert_eq!((after.ends_on, after.created_on), (before.ends_on, before.created_on));
    assert!(tokens::list(&database).await.unwrap()[0].last_used_on.is_some());
}

async fn people_end_their_own_sessions(Ground { database, .. }: Ground) {
    let (session, of_token) = of_token(&database, "ada").await;
    let second = create(&database, &session, None).await.unwrap().0;
    let here = sign_in(&database, "ada", "https://a.example").await;
    let there = sign_in(&database, "ada", "https://a.example").await;
    let elsewhere = sign_in(&database, "ada", "https://b.example").await;
    end(&database, &here).await.unwrap();
    assert_eq!(check(&database, [&here, &there, &elsewhere, &of_token]).await, [false, true, true, true]);
    end_everywhere(&database, &there).await.unwrap();
    assert_eq!(check(&database, [&there, &elsewhere, &of_token, &second]).await, [false, true, true, true]);
    end_everywhere(&database, &second).await.unwrap();
    assert_eq!(check(&database, [&elsewhere, &of_token, &second]).await, [true, false, false]);
    end_everywhere(&database, &RandomSecret::random().unwrap()).await.unwrap();
    assert_eq!(check(&database, [&elsewhere]).await, [true]);
}

async fn administrators_end_the_sessions_of_a_name(Ground { database, .. }: Ground) {
    let (_, of_token) = of_token(&database, "ada").await;
    let (ada, bob) = (sign_in(&database, "ada", "i").await, sign_in(&database, "bob", "i").await);
    assert_eq!(end_of(&database, "ada", "root").await.unwrap(), 2);
    assert_eq!(end_of(&database, "ada", "root").await.unwrap(), 0);
    assert_eq!(check(&database, [&of_token, &ada, &bob]).await, [false, false, true]);
}

async fn ended_sessions_are_deleted(Ground { database, .. }: Ground) {
    let now = Timestamp::now();
    let (_, of_token) = of_token(&database, "ann").await;
    let ada = sign_in(&database, "ada", "i").await;
    let short = NewSession { expires_on: Some(now.after(Duration::from_mins(1))), ..of_account("bob", "i") };
    let bob = create(&database, &short, None).await.unwrap().0;
    delete_ended(&database, now).await.unwrap();
    assert_eq!(check(&database, [&of_token, &ada, &bob]).await, [true; 3]);
    tokens::revoke(&database, "ann", "test").await.unwrap();
    delete_ended(&database, now.after(Duration::from_mins(1))).await.unwrap();
    assert_eq!(check(&database, [&of_token, &ada, &bob]).await, [false, true, false]);
    delete_ended(&database, now.after(SESSION_IDLE_MAX + Duration::from_mins(1))).await.unwrap();
    assert_eq!(check(&database, [&ada]).await, [false]);
    // The clock was set back.
    let ada = sign_in(&database, "ada", "i").await;
    delete_ended(&database, now.before(SESSION_CLOCK_SKEW + Duration::from_mins(1))).await.unwrap();
    assert_eq!(check(&database, [&ada]).await, [false]);
}

async fn a_person_has_a_limited_number_of_sessions(Ground { database, .. }: Ground) {
    let other = sign_in(&database, "bob", "i").await;
    for _ in 0..SESSIONS_PER_PERSON_MAX + 2 {
        sign_in(&database, "ada", "i").await;
    }
    let sessions = list(&database, Timestamp::now()).await.unwrap();
    assert_eq!(sessions.iter().filter(|session| session.name == "ada").count(), SESSIONS_PER_PERSON_MAX);
    assert_eq!(check(&database, [&other]).await, [true]);
}

async fn attempts_are_taken_once_and_by_their_browser(Ground { database, .. }: Ground) {
    let attempt = SignInAttempt::new(None, "/a".into()).unwrap();
    attempts::begin(&database, &attempt).await.unwrap();
    let take = async |browser: &RandomSecret| attempts::take(&database, &attempt.state, browser).await.unwrap();
    assert!(take(&RandomSecret::random().unwrap()).await.is_none());
    let taken = take(&attempt.browser).await.unwrap();
    assert_eq!((taken.return_path.as_str(), taken.nonce.as_str()), ("/a", attempt.nonce.reveal()));
    assert!(take(&attempt.browser).await.is_none());
    attempts::begin(&database, &attempt).await.unwrap();
    attempts::delete_old(&database, Timestamp::now().after(SIGN_IN_TIME_MAX)).await.unwrap();
    assert!(take(&attempt.browser).await.is_none());
}

async fn a_backup_has_no_sessions(Ground { database, .. }: Ground) {
    let secret = sign_in(&database, "ada", "i").await;
    attempts::begin(&database, &SignInAttempt::new(None, "/a".into()).unwrap()).await.unwrap();
    let mut backup = Vec::new();
    back_up(&database, &mut backup).await.unwrap();
    let text = String::from_utf8(backup).unwrap();
    assert!(!text.contains(&secret.digest()) && !text.contains("sign_in_attempt"), "{text}");
}
