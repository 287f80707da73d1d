//! The tokens of one source. They are cached until shortly before they expire. Sources share no tokens.

use std::path::PathBuf;
use std::time::Duration;

use hub_api::timestamp::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use crate::client::{Client, Failure};
use crate::identity::Identity;
use crate::limits::TOKEN_LEEWAY;
use crate::secret::Secret;

/// The place of a secret.
#[derive(Clone, Debug)]
pub(crate) enum SecretPlace {
    /// The value of an environment variable.
    Given(Secret),
    /// A file. It is read for each token, because it may be replaced.
    File(PathBuf),
}

/// The credential for tokens.
#[derive(Clone, Debug)]
pub(crate) enum Credential {
    /// The managed identity of the machine.
    ManagedIdentity {
        /// The identity.
        identity: Identity,
    },
    /// The secret of a registered application.
    ClientSecret {
        /// The URL for tokens.
        token_url: String,
        /// The id of the application.
        client_id: String,
        /// Its secret.
        secret: SecretPlace,
    },
}

/// Gets and caches the tokens of one credential.
#[derive(Debug)]
pub(crate) struct Tokens {
    credential: Credential,
    /// The resource of the tokens: the base URL of Azure Resource Manager.
    resource: String,
    cached: Option<(Secret, Timestamp)>,
}

#[derive(Deserialize)]
struct TokenAnswer {
    access_token: String,
    /// Seconds: a number, or a string from managed identities.
    expires_in: Option<Value>,
    /// Seconds since 1970, in the same formats. App Service returns only this field.
    expires_on: Option<Value>,
}

impl Tokens {
    /// Creates an empty cache.
    pub(crate) fn new(credential: Credential, resource: &str) -> Self {
        Self { credential, resource: resource.to_owned(), cached: None }
    }

    /// A token that is valid for at least some minutes.
    pub(crate) async fn get(&mut self, client: &Client, now: Timestamp) -> Result<Secret, Failure> {
        if let Some((token, _)) = self.cached.as_ref().filter(|(_, until)| now < *until) {
            return Ok(token.clone());
        }
        let answer = match &self.credential {
            Credential::ManagedIdentity { identity } => {
                identity.request_token(client, &format!("{}/", self.resource)).await?
            }
            Credential::ClientSecret { token_url, client_id, secret } => {
                let secret = secret.read().await.map_err(Failure::Local)?;
                let scope = format!("{}/.default", self.resource);
                let fields = [
                    ("grant_type", "client_credentials"),
                    ("client_id", client_id.as_str()),
                    ("client_secret", secret.expose()),
                    ("scope", scope.as_str()),
                ];
                let body = form(&fields);
                let request = || client.remote().post(token_url).header("content-type", FORM).body(body.clone());
                client.send(request).await.map_err(|failure| failure.without(&secret))?
            }
        };
        let read = serde_json::from_slice::<TokenAnswer>(&answer.body);
        // The message of serde may contain the body, and so the token.
        let answer = read.map_err(|_| Failure::Malformed("the answer holds no token".to_owned()))?;
        let until = answer.until(now);
        let token = Secret::new(answer.access_token);
        self.cached = Some((token.clone(), until));
        Ok(token)
    }

    /// Removes the token from the cache, because Azure did not accept it.
    pub(crate) fn invalidate(&mut self) {
        self.cached = None;
    }
}

const FORM: &str = "application/x-www-form-urlencoded";

/// Encodes fields as a form.
fn form(fields: &[(&str, &str)]) -> String {
    reqwest::Url::parse_with_params("x:", fields)
        .ok()
        .and_then(|url| url.query().map(str::to_owned))
        .unwrap_or_default()
}

impl SecretPlace {
    async fn read(&self) -> Result<Secret, String> {
        match self {
            Self::Given(secret) => Ok(secret.clone()),
            Self::File(file) => {
                let text = tokio::fs::read_to_string(file).await;
                let text =
                    text.map_err(|error| format!("the secret in `{}` can't be read: {error}", file.display()))?;
                Ok(Secret::new(text))
            }
        }
    }
}

impl TokenAnswer {
    /// The end of its use: shortly before it expires, or after half of its lifetime if that is short.
    fn until(&self, now: Timestamp) -> Timestamp {
        let seconds = |value: &Option<Value>| match value {
            Some(Value::Number(number)) => number.as_u64(),
            Some(Value::String(text)) => text.trim().parse().ok(),
            _ => None,
        };
        let on = seconds(&self.expires_on).and_then(|seconds| i64::try_from(seconds.saturating_mul(1_000)).ok());
        let lifetime = match seconds(&self.expires_in) {
            Some(seconds) => Duration::from_secs(seconds),
            None => on.map_or(Duration::ZERO, |on| Timestamp::from_millis(on).since(now)),
        };
        now.after(lifetime.saturating_sub(TOKEN_LEEWAY).max(lifetime / 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(answer: &str) -> u64 {
        let answer: TokenAnswer = serde_json::from_str(answer).unwrap();
        let now = Timestamp::from_millis(1_000_000_000);
        answer.until(now).since(now).as_secs()
    }

    #[test]
    fn tokens_are_used_until_shortly_before_they_expire() {
        assert_eq!(check(r#"{"access_token": "t", "expires_in": 3599}"#), 3_299);
        assert_eq!(check(r#"{"access_token": "t", "expires_in": "86399", "expires_on": "1"}"#), 86_099);
        assert_eq!(check(r#"{"access_token": "t", "expires_on": "1003600"}"#), 3_300);
        assert_eq!(check(r#"{"access_token": "t", "expires_in": 400}"#), 200);
        assert_eq!(check(r#"{"access_token": "t", "expires_on": "2026-11-21 13:44:01 +00:00"}"#), 0);
        assert_eq!(check(r#"{"access_token": "t"}"#), 0);
    }

    #[test]
    fn secrets_are_form_encoded() {
        assert_eq!(form(&[("client_secret", "a b+c&d=é~")]), "client_secret=a+b%2Bc%26d%3D%C3%A9%7E");
        assert_eq!(format!("{:?}", Secret::new("hush\n".to_owned())), "Secret");
    }
}
