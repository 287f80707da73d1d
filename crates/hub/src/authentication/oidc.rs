//! Authentication with an OIDC issuer: bearer tokens as RFC 7519 specifies them, with the issuer's keys (`OpenID` Connect Discovery 1.0, RFC 7517).

mod signatures;

use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use hub_api::tokens::Scope;
use jsonwebtoken::jwk::{AlgorithmParameters, Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::Mutex;

use crate::authentication::tokens::Identity;
use crate::limits::{OIDC_BYTES_MAX, OIDC_FETCHES_MAX, OIDC_KEYS_AGE, OIDC_TIMEOUT, RSA_BITS_MIN};

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
}

/// The permissions that a value of the claim gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The value, such as the name of a group.
    pub value: String,
    /// The permissions.
    pub scope: Scope,
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
    /// The keys of the issuer can't be fetched.
    #[error("the keys of the OIDC issuer can't be read: {0}")]
    Unreachable(String),
}

/// The settings are invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the OIDC issuer `{0}` has to be an https:// URL (http:// only on this machine)")]
pub struct IssuerError(String);

/// An issuer, with a cache of its keys.
#[derive(Debug)]
pub struct Issuer {
    settings: IssuerSettings,
    client: reqwest::Client,
    keys: Mutex<Keys>,
}

#[derive(Debug, Default)]
struct Keys {
    set: Vec<Jwk>,
    fetched: Option<Instant>,
    attempts: Vec<Instant>,
}

#[derive(Deserialize)]
struct Discovery {
    issuer: String,
    jwks_uri: String,
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
        let client = reqwest::Client::builder().timeout(OIDC_TIMEOUT).redirect(reqwest::redirect::Policy::none());
        let client = client.build().map_err(|_| error())?;
        Ok(Self { settings, client, keys: Mutex::default() })
    }

    /// The identity of the owner of a token.
    ///
    /// # Errors
    /// The token is invalid or gives no permission; the issuer's keys can't be fetched.
    pub async fn identify(&self, token: &str) -> Result<Identity, OidcError> {
        let wrong = |error: jsonwebtoken::errors::Error| OidcError::Token(error.to_string());
        let header = decode_header(token).map_err(wrong)?;
        if !ALGORITHMS.contains(&header.alg) {
            return Err(OidcError::Token(format!("it is signed with {:?}", header.alg)));
        }
        let key = self.key(header.kid.as_deref(), header.alg).await?;
        let mut validation = Validation::new(header.alg);
        validation.set_audience(&[&self.settings.audience]);
        validation.set_issuer(&[&self.settings.issuer]);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        validation.validate_nbf = true;
        validation.leeway = LEEWAY_SECONDS;
        if is_weak(&key) {
            return Err(OidcError::Token(format!("its key has fewer than {RSA_BITS_MIN} bits")));
        }
        let key = DecodingKey::from_jwk(&key).map_err(wrong)?;
        let claims = decode::<Value>(token, &key, &validation).map_err(wrong)?.claims;
        self.identity(&claims)
    }

    fn identity(&self, claims: &Value) -> Result<Identity, OidcError> {
        let name = claims.get("sub").and_then(Value::as_str).unwrap_or_default().to_owned();
        let roles = roles(claims, &self.settings.claim);
        let given = self.settings.grants.iter().filter(|grant| roles.contains(&grant.value.as_str()));
        let given = given.map(|grant| grant.scope.clone()).collect();
        Identity::of_grants(&name, given).ok_or(OidcError::NoRole(name))
    }

    /// The key with an id. For an unknown id, the keys are fetched again: the key may be new.
    async fn key(&self, id: Option<&str>, algorithm: Algorithm) -> Result<Jwk, OidcError> {
        let mut keys = self.keys.lock().await;
        let is_old = keys.fetched.is_none_or(|fetched| fetched.elapsed() > OIDC_KEYS_AGE);
        if is_old || keys.find(id, algorithm).is_none() {
            let fetched =
                if keys.may_request() { self.fetch().await } else { Err("too many requests for keys".to_owned()) };
            match fetched {
                Ok(set) => (keys.set, keys.fetched) = (set, Some(Instant::now())),
                // The cached keys stay valid while the issuer is unavailable.
                Err(error) if keys.fetched.is_none() => return Err(OidcError::Unreachable(error)),
                Err(error) => tracing::warn!(%error, "the OIDC issuer's keys are not up to date"),
            }
        }
        keys.find(id, algorithm).cloned().ok_or_else(|| OidcError::Token("the issuer has no such key".to_owned()))
    }

    async fn fetch(&self) -> Result<Vec<Jwk>, String> {
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
        Ok(keys.filter_map(|key| serde_json::from_value(key.clone()).ok()).collect())
    }

    async fn get(&self, url: &str) -> Result<Vec<u8>, String> {
        let text = |error: reqwest::Error| error.without_url().to_string();
        let response = self.client.get(url).send().await.and_then(reqwest::Response::error_for_status).map_err(text)?;
        let mut body = Vec::new();
        let mut chunks = response.bytes_stream();
        while let Some(chunk) = chunks.next().await {
            body.extend_from_slice(&chunk.map_err(text)?);
            if body.len() > OIDC_BYTES_MAX {
                return Err(format!("its answer has more than {OIDC_BYTES_MAX} bytes"));
            }
        }
        Ok(body)
    }
}

impl Keys {
    fn find(&self, id: Option<&str>, algorithm: Algorithm) -> Option<&Jwk> {
        let is_for = |key: &&Jwk| {
            let named = key.common.key_algorithm.is_none_or(|named| named.to_string() == format!("{algorithm:?}"));
            let signs = !matches!(key.common.public_key_use, Some(PublicKeyUse::Encryption));
            named && signs && id.is_none_or(|id| key.common.key_id.as_deref() == Some(id))
        };
        let mut found = self.set.iter().filter(is_for);
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
    let Ok(url) = reqwest::Url::parse(url) else { return false };
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
