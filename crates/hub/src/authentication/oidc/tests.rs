//! Tests with an issuer on this machine that rotates its keys.

use std::sync::Arc;
use std::sync::Mutex as StdMutex;

use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use jsonwebtoken::{EncodingKey, Header, encode, get_current_timestamp};
use serde_json::json;

use hub_api::tokens::{Act, Reach};

use super::*;

/// The keys that the issuer publishes, and the number of requests for them.
#[derive(Clone, Default)]
struct Published(Arc<StdMutex<(Vec<Value>, usize)>>);

struct LocalIssuer {
    url: String,
    published: Published,
}

async fn keys(State((_, published)): State<(String, Published)>) -> Json<Value> {
    let mut published = published.0.lock().unwrap();
    published.1 += 1;
    Json(json!({"keys": published.0}))
}

async fn discovery(State((url, _)): State<(String, Published)>) -> Json<Value> {
    Json(json!({"issuer": url, "jwks_uri": format!("{url}/keys")}))
}

impl LocalIssuer {
    async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let published = Published::default();
        let routes = Router::new()
            .route("/.well-known/openid-configuration", get(discovery))
            .route("/keys", get(keys))
            .with_state((url.clone(), published.clone()));
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Self { url, published }
    }

    /// The content of the hub's database.
    fn known(&self) -> Issuer {
        let prod = Reach { environments: vec!["prod".to_owned()], ..Reach::ALL };
        let grants = [
            ("developers", Scope::Read(Reach::ALL)),
            ("on-call", Scope::Operator(prod)),
            ("release-managers", Scope::Approver(Reach::ALL)),
            ("platform", Scope::Admin),
        ];
        let grants = grants.map(|(value, scope)| Grant { value: value.to_owned(), scope }).to_vec();
        let (issuer, audience, claim) = (self.url.clone(), "hub".to_owned(), "realm.roles".to_owned());
        Issuer::new(IssuerSettings { issuer, audience, claim, grants, client: None }).unwrap()
    }

    /// Makes a new key, and publishes it instead of all others.
    fn rotate(&self, id: &str) -> EncodingKey {
        // An Ed25519 key in the format of RFC 8410: this prefix, and 32 random bytes.
        let mut der = data_encoding::HEXLOWER.decode(b"302e020100300506032b657004220420").unwrap();
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).unwrap();
        der.extend(seed);
        let key = EncodingKey::from_ed_der(&der);
        let mut jwk = Jwk::from_encoding_key(&key, Algorithm::EdDSA).unwrap();
        jwk.common.key_id = Some(id.to_owned());
        let unknown = json!({"kty": "of tomorrow", "kid": "x"});
        self.published.0.lock().unwrap().0 = vec![unknown, serde_json::to_value(jwk).unwrap()];
        key
    }

    fn claims(&self) -> Value {
        let (now, roles) = (get_current_timestamp(), ["platform"]);
        json!({"iss": self.url, "aud": "hub", "sub": "ada", "exp": now + 300, "realm": {"roles": roles}})
    }
}

impl Issuer {
    async fn identify(&self, token: &str) -> Result<Identity, OidcError> {
        self.identity(&self.account(token).await?)
    }
}

fn token(key: &EncodingKey, id: &str, claims: &Value) -> String {
    encode(&Header { kid: Some(id.to_owned()), ..Header::new(Algorithm::EdDSA) }, claims, key).unwrap()
}

/// Authenticates with a token whose claims were changed.
async fn check(change: impl FnOnce(&mut Value)) -> Result<Identity, OidcError> {
    let issuer = LocalIssuer::start().await;
    let key = issuer.rotate("1");
    let mut claims = issuer.claims();
    change(&mut claims);
    issuer.known().identify(&token(&key, "1", &claims)).await
}

#[tokio::test]
async fn claims_decide_the_permissions() {
    let identity = check(|_| ()).await.unwrap();
    assert_eq!((identity.name.as_str(), identity.scope), ("ada", Scope::Admin));
    let roles = |roles: Value| check(move |claims| claims["realm"]["roles"] = roles);
    assert_eq!(roles(json!("openid developers")).await.unwrap().scope, Scope::Read(Reach::ALL));
    // Each value gives its own permissions. What is asked for is answered within the widest of them.
    let both = roles(json!(["developers", "on-call"])).await.unwrap();
    assert!(both.may(Act::Operate, "prod", &[]) && !both.may(Act::Approve, "dev", &[]) && both.may_read_all());
    let on_call = roles(json!(["on-call"])).await.unwrap();
    assert!(on_call.may_read() && !on_call.may_read_all() && !on_call.may(Act::Administer, "prod", &[]));
    let managers = roles(json!(["release-managers"])).await.unwrap();
    assert!(managers.may(Act::Approve, "dev", &[]) && !managers.may(Act::Operate, "dev", &[]));
    assert!(matches!(roles(json!(["others"])).await, Err(OidcError::NoRole(_))));
    assert!(matches!(roles(json!(7)).await, Err(OidcError::NoRole(_))));
}

#[tokio::test]
async fn tokens_with_wrong_audience_issuer_or_time_are_refused() {
    for (claim, value) in [
        ("aud", json!("others")),
        ("iss", json!("https://others.example")),
        ("exp", json!(get_current_timestamp() - 60)),
        ("nbf", json!(get_current_timestamp() + 600)),
    ] {
        let refused = check(|claims| claims[claim] = value).await;
        assert!(matches!(refused, Err(OidcError::Token(_))), "{claim}");
    }
    for claim in ["aud", "iss", "exp", "sub"] {
        let refused = check(|claims| drop(claims.as_object_mut().unwrap().remove(claim))).await;
        assert!(matches!(refused, Err(OidcError::Token(_))), "{claim}");
    }
}

#[tokio::test]
async fn rotated_keys_are_fetched_and_old_keys_refused() {
    let issuer = LocalIssuer::start().await;
    let known = issuer.known();
    let (first, claims) = (issuer.rotate("1"), issuer.claims());
    assert!(known.identify(&token(&first, "1", &claims)).await.is_ok());
    let second = issuer.rotate("2");
    assert!(known.identify(&token(&second, "2", &claims)).await.is_ok());
    assert!(matches!(known.identify(&token(&first, "1", &claims)).await, Err(OidcError::Token(_))));
    assert!(matches!(known.identify(&token(&first, "2", &claims)).await, Err(OidcError::Token(_))));
}

#[tokio::test]
async fn forged_tokens_do_not_make_the_hub_flood_the_issuer() {
    let issuer = LocalIssuer::start().await;
    let known = issuer.known();
    let key = issuer.rotate("1");
    for number in 0..50 {
        assert!(known.identify(&token(&key, &format!("forged-{number}"), &issuer.claims())).await.is_err());
    }
    assert!(known.identify(&token(&key, "1", &issuer.claims())).await.is_ok());
    assert_eq!(issuer.published.0.lock().unwrap().1, OIDC_FETCHES_MAX);
}

#[tokio::test]
async fn public_keys_and_no_algorithm_sign_no_tokens() {
    let issuer = LocalIssuer::start().await;
    issuer.rotate("1");
    let public = issuer.published.0.lock().unwrap().0[1]["x"].as_str().unwrap().to_owned();
    let header = Header { kid: Some("1".to_owned()), ..Header::new(Algorithm::HS256) };
    let forged = encode(&header, &issuer.claims(), &EncodingKey::from_secret(public.as_bytes())).unwrap();
    assert!(matches!(issuer.known().identify(&forged).await, Err(OidcError::Token(_))));
    let none = format!("eyJhbGciOiJub25lIn0.{}.", forged.split('.').nth(1).unwrap());
    assert!(matches!(issuer.known().identify(&none).await, Err(OidcError::Token(_))));
}

/// An EC key of the curve P-256 in the format of RFC 5958: a prefix, and 32 random bytes.
fn ec_key() -> EncodingKey {
    let before = b"3041020100301306072a8648ce3d020106082a8648ce3d030107042730250201010420";
    let mut der = data_encoding::HEXLOWER.decode(before).unwrap();
    let mut secret = [0; 32];
    getrandom::fill(&mut secret).unwrap();
    der.extend(secret);
    EncodingKey::from_ec_der(&der)
}

/// A stored key, used only in tests: generating one takes seconds.
fn rsa_key() -> EncodingKey {
    let text = include_str!("rsa-key-of-tests.txt");
    EncodingKey::from_rsa_der(&data_encoding::BASE64.decode(text.as_bytes()).unwrap())
}

#[tokio::test]
async fn keys_of_every_family_are_understood() {
    for (key, algorithm, other) in [
        (ec_key(), Algorithm::ES256, rsa_key()),
        (rsa_key(), Algorithm::RS256, ec_key()),
        (rsa_key(), Algorithm::RS384, ec_key()),
        (rsa_key(), Algorithm::RS512, ec_key()),
        (rsa_key(), Algorithm::PS256, ec_key()),
        (rsa_key(), Algorithm::PS384, ec_key()),
        (rsa_key(), Algorithm::PS512, ec_key()),
    ] {
        let issuer = LocalIssuer::start().await;
        let mut jwk = Jwk::from_encoding_key(&key, algorithm).unwrap();
        jwk.common.key_id = Some("1".to_owned());
        issuer.published.0.lock().unwrap().0 = vec![serde_json::to_value(jwk).unwrap()];
        let of = |algorithm| Header { kid: Some("1".to_owned()), ..Header::new(algorithm) };
        let good = encode(&of(algorithm), &issuer.claims(), &key).unwrap();
        assert_eq!(issuer.known().identify(&good).await.unwrap().name, "ada", "{algorithm:?}");
        let family = if algorithm == Algorithm::ES256 { Algorithm::RS256 } else { Algorithm::ES256 };
        let forged = encode(&of(family), &issuer.claims(), &other).unwrap();
        assert!(matches!(issuer.known().identify(&forged).await, Err(OidcError::Token(_))), "{algorithm:?}");
        let expired = json!({"iss": issuer.url, "aud": "hub", "sub": "ada", "exp": get_current_timestamp() - 600});
        let expired = encode(&of(algorithm), &expired, &key).unwrap();
        assert!(matches!(issuer.known().identify(&expired).await, Err(OidcError::Token(_))), "{algorithm:?}");
    }
}

/// The error for a token with an RSA key whose modulus has this number of bits. The token is not signed.
async fn check_bits(bits: usize) -> String {
    let issuer = LocalIssuer::start().await;
    // A leading zero byte, which some implementations write, does not make the number longer.
    let mut modulus = vec![0; 1 + bits.div_ceil(8)];
    modulus[1] = 1 << ((bits - 1) % 8);
    *modulus.last_mut().unwrap() |= 1;
    let n = data_encoding::BASE64URL_NOPAD.encode(&modulus);
    issuer.published.0.lock().unwrap().0 = vec![json!({"kty": "RSA", "kid": "1", "alg": "RS256", "n": n, "e": "AQAB"})];
    let part = |value: &Value| data_encoding::BASE64URL_NOPAD.encode(value.to_string().as_bytes());
    let token = format!("{}.{}.AAAA", part(&json!({"alg": "RS256", "kid": "1"})), part(&issuer.claims()));
    issuer.known().identify(&token).await.unwrap_err().to_string()
}

#[tokio::test]
async fn rsa_keys_that_are_too_short_are_refused() {
    for bits in [1_024, 2_047] {
        let refused = check_bits(bits).await;
        assert!(refused.contains("its key has fewer than 2048 bits"), "{bits}: {refused}");
    }
    let refused = check_bits(2_048).await;
    assert!(!refused.contains("bits"), "{refused}");
}

#[tokio::test]
async fn unreachable_issuer_is_an_error() {
    let issuer = LocalIssuer { url: "http://127.0.0.1:9".to_owned(), published: Published::default() };
    let key = issuer.rotate("1");
    let refused = issuer.known().identify(&token(&key, "1", &issuer.claims())).await;
    assert!(matches!(refused, Err(OidcError::Unreachable(_))));
}

#[test]
fn issuer_urls_require_tls_except_on_localhost() {
    for (url, is_good) in [
        ("https://login.example/realms/acme", true),
        ("http://localhost:8080", true),
        ("http://login.example", false),
        ("http://127.0.0.1@login.example", false),
        ("ftp://login.example", false),
        ("login.example", false),
    ] {
        assert_eq!(is_safe(url), is_good, "{url}");
    }
}
