//! Tokens of a GitHub App: a signed request for an installation's token, which is used until shortly before its end.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use data_encoding::{BASE64, BASE64URL_NOPAD};
use jiff::Timestamp;
use model::secret::{Secret, SecretSource};
use ring::rand::SystemRandom;
use ring::rsa::KeyPair;
use ring::signature::RSA_PKCS1_SHA256;
use serde::Deserialize;
use serde_json::json;

use crate::error::HostError;
use crate::limits::{MISSING_INSTALLATION_PAUSE, TOKEN_REST_MIN};
use crate::repository::HostRepository;
use crate::transport::{Authorization, Call, Transport};

/// How long a signed request is valid. GitHub allows at most ten minutes.
const VALIDITY: Duration = Duration::from_mins(9);

/// How far in the past a signed request begins, for clocks that differ.
const CLOCK_DIFFERENCE: Duration = Duration::from_mins(1);

/// A GitHub App with its key.
pub(super) struct App {
    id: String,
    installation: Option<u64>,
    key: SecretSource,
    cache: Mutex<Cache>,
}

#[derive(Default)]
struct Cache {
    /// The installations by the path of their repositories.
    installations: BTreeMap<String, u64>,
    tokens: BTreeMap<u64, InstallationToken>,
    /// When GitHub last said that the App is not installed for a repository, by the path of the repository.
    missing: BTreeMap<String, Instant>,
}

#[derive(Clone)]
struct InstallationToken {
    token: Secret,
    expires_at: Timestamp,
}

#[derive(Deserialize)]
struct InstallationJson {
    id: u64,
}

#[derive(Deserialize)]
struct TokenJson {
    token: String,
    expires_at: String,
}

#[derive(Deserialize)]
struct AppJson {
    slug: String,
}

impl fmt::Debug for App {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "App({})", self.id)
    }
}

impl App {
    /// An app with its private key as PEM: PKCS#1, as GitHub creates it, or PKCS#8.
    pub(super) fn new(id: &str, installation: Option<u64>, key: SecretSource) -> Result<Self, HostError> {
        read_key(&key.current())?;
        Ok(Self { id: id.to_owned(), installation, key, cache: Mutex::default() })
    }

    /// The token for a repository.
    pub(super) fn token(&self, transport: &Transport, repository: &HostRepository) -> Result<Secret, HostError> {
        // Other threads wait for the token instead of requesting their own.
        let mut cache = self.cache();
        let installation = self.installation(transport, repository, &mut cache)?;
        let now = Timestamp::now();
        let is_valid = |token: &&InstallationToken| token.expires_at > now.checked_add(TOKEN_REST_MIN).unwrap_or(now);
        if let Some(valid) = cache.tokens.get(&installation).filter(is_valid) {
            return Ok(valid.token.clone());
        }
        let call = Call::post(&["app", "installations", &installation.to_string(), "access_tokens"], json!({}));
        // A token that was lost with its answer ends by itself.
        let call = super::versioned(call.repeatable());
        let answer = transport.send(&call, Some(&self.signed(now)?))?;
        let TokenJson { token, expires_at } = answer.json()?;
        let expires_at = expires_at.parse().map_err(|_| answer.unexpected("`expires_at` is no time"))?;
        let token = Secret::new(&token);
        cache.tokens.insert(installation, InstallationToken { token: token.clone(), expires_at });
        Ok(token)
    }

    /// The token for git. None if the App is not installed for the repository: public ones can be read without it. Git reads a repository often, so the
    /// next look for an installation is only after [`MISSING_INSTALLATION_PAUSE`].
    pub(super) fn git_token(
        &self,
        transport: &Transport,
        repository: &HostRepository,
    ) -> Result<Option<Secret>, HostError> {
        let path = repository.to_string();
        if self.cache().missing.get(&path).is_some_and(|at| at.elapsed() < MISSING_INSTALLATION_PAUSE) {
            return Ok(None);
        }
        match self.token(transport, repository) {
            // A configured installation that does not exist is a mistake of the configuration.
            Err(HostError::Refused { status: 404, .. }) if self.installation.is_none() => {
                self.cache().missing.insert(path, Instant::now());
                Ok(None)
            }
            token => token.map(Some),
        }
    }

    /// Removes the cached tokens, after the host refused one.
    pub(super) fn forget(&self) {
        *self.cache() = Cache::default();
    }

    /// The login of the app's account.
    pub(super) fn account(&self, transport: &Transport) -> Result<String, HostError> {
        let call = super::versioned(Call::get(&["app"]));
        let app: AppJson = transport.read(&call, Some(&self.signed(Timestamp::now())?))?;
        Ok(format!("{}[bot]", app.slug))
    }

    fn installation(
        &self,
        transport: &Transport,
        repository: &HostRepository,
        cache: &mut Cache,
    ) -> Result<u64, HostError> {
        let path = repository.to_string();
        if let Some(known) = self.installation.or_else(|| cache.installations.get(&path).copied()) {
            return Ok(known);
        }
        let call = super::versioned(Call::get(&["repos", &repository.owner(), repository.name(), "installation"]));
        let found: InstallationJson = transport.read(&call, Some(&self.signed(Timestamp::now())?))?;
        cache.installations.insert(path, found.id);
        Ok(found.id)
    }

    /// The header with a JSON Web Token (RFC 7519) that the app's key signed.
    fn signed(&self, now: Timestamp) -> Result<Authorization, HostError> {
        let seconds = |duration: Duration| duration.as_secs() as i64;
        let claims = json!({
            "iat": now.as_second() - seconds(CLOCK_DIFFERENCE),
            "exp": now.as_second() + seconds(VALIDITY),
            "iss": self.id,
        });
        let encoded = |value: &str| BASE64URL_NOPAD.encode(value.as_bytes());
        let signed = format!("{}.{}", encoded(r#"{"alg":"RS256","typ":"JWT"}"#), encoded(&claims.to_string()));
        let key = read_key(&self.key.current())?;
        let mut signature = vec![0; key.public().modulus_len()];
        key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), signed.as_bytes(), &mut signature)
            .map_err(|_| HostError::Settings("the key of the GitHub App can't sign".to_owned()))?;
        let token = format!("{signed}.{}", BASE64URL_NOPAD.encode(&signature));
        super::bearer(&Secret::new(&token).into())
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The key of an app.
fn read_key(private_key: &Secret) -> Result<KeyPair, HostError> {
    parse_key(private_key.reveal()).ok_or_else(|| {
        HostError::Settings("the private key of the GitHub App is no RSA key of at least 2,048 bits as PEM".to_owned())
    })
}

/// Parses a private key as PEM (RFC 7468).
fn parse_key(pem: &str) -> Option<KeyPair> {
    let content = |label: &str| {
        let (_, rest) = pem.split_once(&format!("-----BEGIN {label}-----"))?;
        let (text, _) = rest.split_once(&format!("-----END {label}-----"))?;
        let text: String = text.split_whitespace().collect();
        BASE64.decode(text.as_bytes()).ok()
    };
    match content("RSA PRIVATE KEY") {
        Some(key) => KeyPair::from_der(&key).ok(),
        None => KeyPair::from_pkcs8(&content("PRIVATE KEY")?).ok(),
    }
}
