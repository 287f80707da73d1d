//! Authentication with an OIDC issuer: bearer tokens as RFC 7519 specifies them, with the issuer's keys (`OpenID` Connect Discovery 1.0, RFC 7517).

mod code_flow;
mod public_url;
mod signatures;

use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use hub_api::timestamp::Timestamp;
use hub_api::tokens::Scope;
use jsonwebtoken::jwk::{AlgorithmParameters, Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use reqwest::Url;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::Mutex;

use self::code_flow::Endpoints;
pub use self::code_flow::OidcClient;
pub(super) use self::code_flow::shown_code;
pub use self::public_url::{PublicUrl, PublicUrlError};
use crate::authentication::sessions::{ClaimValues, SessionBasis};
use crate::authentication::tokens::Identity;
use crate::limits::{
    OIDC_BYTES_MAX, OIDC_FETCHES_MAX, OIDC_KEYS_AGE, OIDC_TIMEOUT, RSA_BITS_MIN, SESSION_VALUES_MAX,
    SUBJECT_CHARACTERS_MAX,
};

/// Algorithms with public keys. Never `none`, and never HMAC: with HMAC, the public key would be the secret.
const ALGORITHMS: [Algorithm; 9] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];

/// Maximum difference between clocks, in seconds.
const LEEWAY_SECONDS: u64 = 30;

/// The settings of the OIDC issuer that the hub trusts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssuerSettings {
    /// The issuer's URL, equal to `iss` in its tokens.
    pub issuer: String,
    /// The audience of tokens for the hub (`aud`).
    pub audience: String,
    /// The claim with the roles of a caller: a name, or a path with dots (`realm_access.roles`).
    pub claim: String,
    /// The permissions that values of the claim give.
    pub grants: Vec<Grant>,
    /// The hub as a client of the issuer, with which people sign in with a browser; none if they can't.
    pub client: Option<OidcClient>,
}

/// The permissions that a value of the claim gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The value, such as the name of a group.
    pub value: String,
    /// The permissions.
    pub scope: Scope,
}

/// The account of the issuer that a valid token is of.
#[derive(Clone, Debug)]
pub(super) struct OidcAccount {
    /// Its subject (`sub`).
    name: String,
    /// The values of the claim.
    values: Vec<String>,
    /// When the token expires, if a session must not outlive it.
    pub(super) expires_on: Option<Timestamp>,
}

/// The caller is refused.
#[derive(Debug, thiserror::Error)]
pub enum OidcError {
    /// The token is invalid, expired, or for another audience.
    #[error("the token of the OIDC issuer is not valid: {0}")]
    Token(String),
    /// The token is valid, but gives no permission in the hub.
    #[error("`{0}` is a user of the OIDC issuer, but has no permission here")]
    NoRole(String),
    /// The keys or endpoints of the issuer can't be fetched.
    #[error("the OIDC issuer can't be used: {0}")]
    Unreachable(String),
}

/// The settings are invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the OIDC issuer `{0}` has to be an https:// URL (http:// only on this machine)")]
pub struct IssuerError(String);

/// An issuer, with a cache of what it publishes.
#[derive(Debug)]
pub struct Issuer {
    settings: IssuerSettings,
    http: reqwest::Client,
    published: Mutex<Published>,
}

/// The keys and endpoints that the issuer publishes.
#[derive(Debug, Default)]
struct Published {
    keys: Vec<Jwk>,
    /// None: the issuer does not offer the authorization code flow.
    endpoints: Option<Endpoints>,
    fetched: Option<Instant>,
    attempts: Vec<Instant>,
}

#[derive(Deserialize)]
struct Discovery {
    issuer: String,
    jwks_uri: String,
    authorization_endpoint: Option<String>,
    token_endpoint: Option<String>,
    #[serde(default)]
    token_endpoint_auth_methods_supported: Vec<String>,
}

impl Issuer {
    /// An issuer. Its keys are fetched when the first token arrives.
    ///
    /// # Errors
    /// The URL is not safe.
    pub fn new(settings: IssuerSettings) -> Result<Self, IssuerError> {
        let error = || IssuerError(settings.issuer.clone());
        if !is_safe(&settings.issuer) {
            return Err(error());
        }
        hub_api::tls::install_provider();
        signatures::install_provider();
        let http = reqwest::Client::builder().timeout(OIDC_TIMEOUT).redirect(reqwest::redirect::Policy::none());
        let http = http.build().map_err(|_| error())?;
        Ok(Self { settings, http, published: Mutex::default() })
    }

    /// The account that a token for the hub is of.
    ///
    /// # Errors
    /// The token is invalid; the issuer's keys can't be fetched.
    pub(super) async fn account(&self, token: &str) -> Result<OidcAccount, OidcError> {
        let claims = self.verify(token, &self.settings.audience).await?;
        let expires_on = claims.get("exp").and_then(Value::as_f64);
        let expires_on = expires_on.map(|seconds| Timestamp::from_millis((seconds * 1_000.0) as i64));
        Ok(OidcAccount { expires_on, ..self.account_of(&claims)? })
    }

    /// The permissions of an account.
    ///
    /// # Errors
    /// It has none.
    pub(super) fn identity(&self, account: &OidcAccount) -> Result<Identity, OidcError> {
        self.identity_of(&account.name, &account.values)
    }

    /// The permissions that the configuration gives to an account with these values of the claim.
    ///
    /// # Errors
    /// It gives none.
    pub(super) fn identity_of(&self, name: &str, values: &[String]) -> Result<Identity, OidcError> {
        let given = self.settings.grants.iter().filter(|grant| values.contains(&grant.value));
        let given = given.map(|grant| grant.scope.clone()).collect();
        Identity::of_grants(name, given).ok_or_else(|| OidcError::NoRole(name.to_owned()))
    }

    /// What a session of an account refers to: the values of the claim, those that give permissions now first.
    pub(super) fn basis(&self, account: OidcAccount) -> SessionBasis {
        let gives = |value: &String| self.settings.grants.iter().any(|grant| grant.value == *value);
        let (mut values, others): (Vec<_>, Vec<_>) = account.values.into_iter().partition(gives);
        values.extend(others);
        values.truncate(SESSION_VALUES_MAX);
        let IssuerSettings { issuer, claim, .. } = self.settings.clone();
        SessionBasis::Claims(ClaimValues { issuer, claim, values })
    }

    /// Whether values are of this issuer and of the claim that is configured now.
    pub(super) fn is_of(&self, values: &ClaimValues) -> bool {
        values.issuer == self.settings.issuer && values.claim == self.settings.claim
    }

    /// Whether this is the issuer's URL.
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.settings.issuer == name
    }

    /// The claims of a valid token for an audience. This is the only function that checks tokens of the issuer.
    async fn verify(&self, token: &str, audience: &str) -> Result<Value, OidcError> {
        let wrong = |error: jsonwebtoken::errors::Error| OidcError::Token(error.to_string());
        let header = decode_header(token).map_err(wrong)?;
        if !ALGORITHMS.contains(&header.alg) {
            return Err(OidcError::Token(format!("it is signed with {:?}", header.alg)));
        }
        let key = self.key(header.kid.as_deref(), header.alg).await?;
        let mut validation = Validation::new(header.alg);
        validation.set_audience(&[audience]);
        validation.set_issuer(&[&self.settings.issuer]);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        validation.validate_nbf = true;
        validation.leeway = LEEWAY_SECONDS;
        if is_weak(&key) {
            return Err(OidcError::Token(format!("its key has fewer than {RSA_BITS_MIN} bits")));
        }
        let key = DecodingKey::from_jwk(&key).map_err(wrong)?;
        Ok(decode::<Value>(token, &key, &validation).map_err(wrong)?.claims)
    }

    fn account_of(&self, claims: &Value) -> Result<OidcAccount, OidcError> {
        let name = claims.get("sub").and_then(Value::as_str).unwrap_or_default().to_owned();
        let length = name.chars().count();
        if !(1..=SUBJECT_CHARACTERS_MAX).contains(&length) || name.chars().any(char::is_control) {
            return Err(OidcError::Token("its subject can't be the name of an account".to_owned()));
        }
        let values = roles(claims, &self.settings.claim).into_iter().map(str::to_owned).collect();
        Ok(OidcAccount { name, values, expires_on: None })
    }

    /// The key with an id. For an unknown id, the keys are fetched again: the key may be new.
    async fn key(&self, id: Option<&str>, algorithm: Algorithm) -> Result<Jwk, OidcError> {
        let mut published = self.published.lock().await;
        if published.is_old() || published.find(id, algorithm).is_none() {
            self.refresh(&mut published).await?;
        }
        let found = published.find(id, algorithm).cloned();
        found.ok_or_else(|| OidcError::Token("the issuer has no such key".to_owned()))
    }

    /// Fetches what the issuer publishes. What is known stays valid while the issuer is unavailable.
    async fn refresh(&self, published: &mut Published) -> Result<(), OidcError> {
        let may = published.may_request();
        let fetched = if may { self.fetch().await } else { Err("too many requests to it".to_owned()) };
        match fetched {
            Ok((keys, endpoints)) => {
                (published.keys, published.endpoints, published.fetched) = (keys, endpoints, Some(Instant::now()));
            }
            Err(error) if published.fetched.is_none() => return Err(OidcError::Unreachable(error)),
            Err(error) => tracing::warn!(%error, "the OIDC issuer's keys are not up to date"),
        }
        Ok(())
    }

    async fn fetch(&self) -> Result<(Vec<Jwk>, Option<Endpoints>), String> {
        let issuer = self.settings.issuer.trim_end_matches('/');
        let discovery = self.get(&format!("{issuer}/.well-known/openid-configuration")).await?;
        let discovery: Discovery = serde_json::from_slice(&discovery).map_err(|error| error.to_string())?;
        if discovery.issuer != self.settings.issuer {
            return Err(format!("it calls itself `{}`", discovery.issuer));
        }
        if !is_safe(&discovery.jwks_uri) {
            return Err("the URL of its keys is not https".to_owned());
        }
        let set: Value =
            serde_json::from_slice(&self.get(&discovery.jwks_uri).await?).map_err(|error| error.to_string())?;
        // A key of an unknown type must not prevent the use of the other keys.
        let keys = set.get("keys").and_then(Value::as_array).into_iter().flatten();
        let keys = keys.filter_map(|key| serde_json::from_value(key.clone()).ok()).collect();
        Ok((keys, Endpoints::of(&discovery)))
    }

    async fn get(&self, url: &str) -> Result<Vec<u8>, String> {
        let response = self.http.get(url).send().await.and_then(reqwest::Response::error_for_status);
        read(response.map_err(|error| error.without_url().to_string())?).await
    }
}

/// The body of a response, at most [`OIDC_BYTES_MAX`].
async fn read(response: reqwest::Response) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        body.extend_from_slice(&chunk.map_err(|error| error.without_url().to_string())?);
        if body.len() > OIDC_BYTES_MAX {
            return Err(format!("its answer has more than {OIDC_BYTES_MAX} bytes"));
        }
    }
    Ok(body)
}

impl Published {
    fn is_old(&self) -> bool {
        self.fetched.is_none_or(|fetched| fetched.elapsed() > OIDC_KEYS_AGE)
    }

    fn find(&self, id: Option<&str>, algorithm: Algorithm) -> Option<&Jwk> {
        let is_for = |key: &&Jwk| {
            let named = key.common.key_algorithm.is_none_or(|named| named.to_string() == format!("{algorithm:?}"));
            let signs = !matches!(key.common.public_key_use, Some(PublicKeyUse::Encryption));
            named && signs && id.is_none_or(|id| key.common.key_id.as_deref() == Some(id))
        };
        let mut found = self.keys.iter().filter(is_for);
        // Without an id in the token, exactly one key must match.
        found.next().filter(|_| id.is_some() || found.next().is_none())
    }

    fn may_request(&mut self) -> bool {
        self.attempts.retain(|attempt| attempt.elapsed() < Duration::from_mins(1));
        let may = self.attempts.len() < OIDC_FETCHES_MAX;
        if may {
            self.attempts.push(Instant::now());
        }
        may
    }
}

/// Whether a key is an RSA key with fewer bits than [`RSA_BITS_MIN`].
fn is_weak(key: &Jwk) -> bool {
    let AlgorithmParameters::RSA(parameters) = &key.algorithm else { return false };
    let modulus =
        data_encoding::BASE64URL_NOPAD.decode(parameters.n.trim_end_matches('=').as_bytes()).unwrap_or_default();
    let mut bytes = modulus.iter().skip_while(|byte| **byte == 0);
    let first = bytes.next().map_or(0, |byte| 8 - byte.leading_zeros() as usize);
    first + bytes.count() * 8 < RSA_BITS_MIN
}

/// Whether a URL is safe from changes on the network: `https`, or a host on this machine.
fn is_safe(url: &str) -> bool {
    let Ok(url) = Url::parse(url) else { return false };
    let is_here = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    url.scheme() == "https" || (url.scheme() == "http" && is_here)
}

/// The values of a claim: a list, or a text with blanks between the values, like `scope`.
fn roles<'a>(claims: &'a Value, claim: &str) -> Vec<&'a str> {
    // The name of a claim can be a URL with dots: the whole name is tried before the path.
    let found = claims.get(claim).or_else(|| claim.split('.').try_fold(claims, |value, key| value.get(key)));
    match found {
        Some(Value::String(text)) => text.split_whitespace().collect(),
        Some(Value::Array(values)) => values.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
