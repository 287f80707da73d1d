//! An identity provider on this machine: discovery, keys, a page that signs everyone in at once, and the token endpoint with all its checks.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::extract::{Form, Query, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use data_encoding::{BASE64, BASE64URL_NOPAD};
use hub::authentication::oidc::{Grant, IssuerSettings, OidcClient};
use hub_api::tokens::{Reach, Scope};
use model::secret::Secret;
use reqwest::{StatusCode, header};
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// The redirect URI that is registered.
const REDIRECT_URI: &str = "https://hub.example/sign-in/callback";

type Fields = BTreeMap<String, String>;

/// An identity provider.
#[derive(Clone)]
pub(crate) struct IdentityProvider {
    url: String,
    key: Arc<Ed25519KeyPair>,
    state: Arc<Mutex<ProviderState>>,
}

#[derive(Default)]
struct ProviderState {
    /// The requests of the codes that are not used yet.
    codes: BTreeMap<String, Fields>,
    /// Claims that replace those of the next tokens.
    claims: Vec<(String, Value)>,
    /// The error that the page returns instead of a code.
    error: Option<String>,
    /// Whether the tokens are not signed (`"alg": "none"`).
    is_unsigned: bool,
}

impl IdentityProvider {
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let key = Arc::new(Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap());
        let provider = Self { url, key, state: Arc::default() };
        let routes = Router::new()
            .route("/.well-known/openid-configuration", get(discovery))
            .route("/keys", get(keys))
            .route("/authorize", get(authorize))
            .route("/token", post(token))
            .with_state(provider.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        provider
    }

    /// The settings of a hub that is its client.
    pub(crate) fn settings(&self) -> IssuerSettings {
        let grants = [("developers", Scope::Read(Reach::ALL)), ("platform", Scope::Admin)];
        let public_url = "https://hub.example".parse().unwrap();
        let secret = Some(Secret::new("s3cret with/odd:characters").into());
        IssuerSettings {
            issuer: self.url.clone(),
            audience: "hub-api".to_owned(),
            claim: "groups".to_owned(),
            grants: grants.map(|(value, scope)| Grant { value: value.to_owned(), scope }).to_vec(),
            client: Some(OidcClient { id: "hub".to_owned(), secret, scopes: vec!["groups".to_owned()], public_url }),
        }
    }

    /// Replaces a claim of the next tokens. Null removes it.
    pub(crate) fn claim(&self, name: &str, value: Value) {
        self.state.lock().unwrap().claims.push((name.to_owned(), value));
    }

    /// Makes the page return an error.
    pub(crate) fn refuse(&self, error: &str) {
        self.state.lock().unwrap().error = Some(error.to_owned());
    }

    /// Stops to sign tokens.
    pub(crate) fn stop_signing(&self) {
        self.state.lock().unwrap().is_unsigned = true;
    }

    /// A token for an audience.
    pub(crate) fn token(&self, audience: &str, nonce: Option<&str>) -> String {
        let state = self.state.lock().unwrap();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        let mut claims =
            json!({"iss": self.url, "aud": audience, "sub": "ada", "exp": now + 300, "groups": ["developers"]});
        if let Some(nonce) = nonce {
            claims["nonce"] = nonce.into();
        }
        let fields = claims.as_object_mut().unwrap();
        for (name, value) in &state.claims {
            fields.insert(name.clone(), value.clone());
        }
        fields.retain(|_, value| !value.is_null());
        let algorithm = if state.is_unsigned { "none" } else { "EdDSA" };
        let part = |value: &Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
        let message = format!("{}.{}", part(&json!({"alg": algorithm, "kid": "1"})), part(&claims));
        let signature = if state.is_unsigned {
            String::new()
        } else {
            BASE64URL_NOPAD.encode(self.key.sign(message.as_bytes()).as_ref())
        };
        format!("{message}.{signature}")
    }
}

async fn discovery(State(IdentityProvider { url, .. }): State<IdentityProvider>) -> Json<Value> {
    Json(json!({"issuer": url, "jwks_uri": format!("{url}/keys"),
        "authorization_endpoint": format!("{url}/authorize?tenant=acme"), "token_endpoint": format!("{url}/token")}))
}

async fn keys(State(provider): State<IdentityProvider>) -> Json<Value> {
    let x = BASE64URL_NOPAD.encode(provider.key.public_key().as_ref());
    Json(json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "kid": "1", "use": "sig", "x": x}]}))
}

/// The page that signs everyone in.
async fn authorize(State(provider): State<IdentityProvider>, Query(request): Query<Fields>) -> Response {
    let expected = [
        ("tenant", "acme"),
        ("response_type", "code"),
        ("client_id", "hub"),
        ("redirect_uri", REDIRECT_URI),
        ("scope", "openid groups"),
        ("code_challenge_method", "S256"),
    ];
    assert!(expected.iter().all(|(name, value)| request[*name] == *value), "{request:?}");
    let mut state = provider.state.lock().unwrap();
    let code = format!("code-{}", &request["nonce"][..8]);
    let mut query = form_urlencoded::Serializer::new(String::new());
    match &state.error {
        Some(error) => query.append_pair("error", error),
        None => query.append_pair("code", &code).append_pair("iss", &provider.url),
    };
    let location = format!("{REDIRECT_URI}?{}", query.append_pair("state", &request["state"]).finish());
    state.codes.insert(code, request);
    (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response()
}

/// The token endpoint: the client, the code, the redirect URI and the verifier must be right.
async fn token(
    State(provider): State<IdentityProvider>,
    headers: axum::http::HeaderMap,
    Form(form): Form<Fields>,
) -> Result<Json<Value>, (StatusCode, Json<Value>)> {
    let refuse = |error: &str| (StatusCode::BAD_REQUEST, Json(json!({"error": error})));
    let client = BASE64.encode(b"hub:s3cret+with%2Fodd%3Acharacters");
    if headers.get(header::AUTHORIZATION).is_none_or(|header| header != &format!("Basic {client}")) {
        return Err(refuse("invalid_client"));
    }
    let request = provider.state.lock().unwrap().codes.remove(&form["code"]).ok_or_else(|| refuse("invalid_grant"))?;
    let challenge = BASE64URL_NOPAD.encode(&Sha256::digest(form["code_verifier"].as_bytes()));
    let is_right = form["grant_type"] == "authorization_code"
        && form["redirect_uri"] == REDIRECT_URI
        && form["code_verifier"].len() >= 43
        && request["code_challenge"] == challenge;
    if !is_right {
        return Err(refuse("invalid_grant"));
    }
    let id_token = provider.token("hub", Some(&request["nonce"]));
    Ok(Json(json!({"access_token": "secret", "token_type": "Bearer", "id_token": id_token})))
}
