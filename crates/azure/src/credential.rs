//! As whom Azure is asked: tokens of one source, kept until shortly before they expire. Nothing of it is shared with other sources.

use std::path::PathBuf;
use std::time::Duration;

use hub_api::timestamp::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use crate::client::{Client, Failure};
use crate::identity::Identity;
use crate::limits::TOKEN_LEEWAY;
use crate::secret::Secret;

/// Where a secret is.
#[derive(Clone, Debug)]
pub(crate) enum SecretPlace {
    /// It came with the environment.
    Given(Secret),
    /// In a file, which may be replaced.
    File(PathBuf),
}

/// Whose token it is.
#[derive(Clone, Debug)]
pub(crate) enum Credential {
    /// The machine's own.
    ManagedIdentity {
        /// Where it is offered.
        identity: Identity,
    },
    /// A registered application's.
    ClientSecret {
        /// Where tokens are given for the secret.
        token_url: String,
        /// The application.
        client_id: String,
        /// Its secret.
        secret: SecretPlace,
    },
}

/// The token of one credential.
#[derive(Debug)]
pub(crate) struct Tokens {
    credential: Credential,
    /// What the token is for: the base URL of Azure Resource Manager.
    resource: String,
    cached: Option<(Secret, Timestamp)>,
}

#[derive(Deserialize)]
struct TokenAnswer {
    access_token: String,
    /// Seconds; a number, or a text from managed identities.
    expires_in: Option<Value>,
    /// Seconds since 1970, likewise; App Service gives only this.
    expires_on: Option<Value>,
}

impl Tokens {
    /// No token yet.
    pub(crate) fn new(credential: Credential, resource: &str) -> Self {
        Self { credential, resource: resource.to_owned(), cached: None }
    }

    /// A token that is good for some minutes at least.
    pub(crate) async fn get(&mut self, client: &Client, now: Timestamp) -> Result<Secret, Failure> {
        if let Some((token, _)) = self.cached.as_ref().filter(|(_, until)| now < *until) {
            return Ok(token.clone());
        }
        let answer = match &self.credential {
            Credential::ManagedIdentity { identity } => identity.ask(client, &format!("{}/", self.resource)).await?,
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
                let ask = || client.remote().post(token_url).header("content-type", FORM).body(body.clone());
                client.send(ask).await.map_err(|failure| failure.without(&secret))?
            }
        };
        let read = serde_json::from_slice::<TokenAnswer>(&answer.body);
        // What serde says may quote the body, and with it the token.
        let answer = read.map_err(|_| Failure::Malformed("the answer holds no token".to_owned()))?;
        let until = answer.until(now);
        let token = Secret::new(answer.access_token);
        self.cached = Some((token.clone(), until));
        Ok(token)
    }

    /// The token was not taken: the next one is asked for.
    pub(crate) fn forget(&mut self) {
        self.cached = None;
    }
}

const FORM: &str = "application/x-www-form-urlencoded";

/// Fields as forms send them.
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
    /// How long to use it: until shortly before it expires, or half its time if that is short.
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
    fn secrets_go_through_forms_unharmed() {
        assert_eq!(form(&[("client_secret", "a b+c&d=é~")]), "client_secret=a+b%2Bc%26d%3D%C3%A9%7E");
        assert_eq!(format!("{:?}", Secret::new("hush\n".to_owned())), "Secret");
    }
}
