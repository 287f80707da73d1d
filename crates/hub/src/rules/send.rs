//! Sending a notification: signed, with a limit on everything, and without following anybody elsewhere.

use std::time::Duration;

use data_encoding::HEXLOWER;
use reqwest::{StatusCode, Url, header, redirect};
use serde_json::json;

use super::{Rule, Secret};
use crate::limits::{NOTIFICATION_PAUSE_MAX, NOTIFICATION_TIMEOUT};
use crate::moment::Moment;

/// Who is told.
#[derive(Clone, Debug)]
pub struct Receiver {
    url: Url,
    secret: Secret,
}

/// A notification was not taken. The words never name the path and the query of the URL: who knows them may send notifications, too.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// Nobody is there, or not in time.
    #[error("{host} can't be reached: {reason}")]
    Unreachable {
        /// Who.
        host: String,
        /// Why.
        reason: String,
    },
    /// It was not taken.
    #[error("{host} answered {status}")]
    Refused {
        /// Who.
        host: String,
        /// The HTTP status.
        status: StatusCode,
        /// How long to wait, in its words.
        retry_after: Option<Duration>,
    },
}

impl SendError {
    /// Whether nobody wants it any more: 410 says so.
    pub(super) fn is_final(&self) -> bool {
        matches!(self, Self::Refused { status: StatusCode::GONE, .. })
    }

    /// How long to wait at least.
    pub(super) fn retry_after(&self) -> Duration {
        match self {
            Self::Refused { retry_after, .. } => retry_after.unwrap_or_default().min(NOTIFICATION_PAUSE_MAX),
            Self::Unreachable { .. } => Duration::ZERO,
        }
    }
}

impl Receiver {
    /// Whoever is at a URL, who knows the secret.
    ///
    /// # Errors
    /// It is no URL of a web server, or has a user or a password in it.
    pub fn new(url: &str, secret: Secret) -> Result<Self, String> {
        let url: Url = url.parse().map_err(|_| "it is no URL, such as https://chat.example/hook".to_owned())?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err("it does not begin with https:// or http://".to_owned());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("it has a user or a password in it; the signature says who sends".to_owned());
        }
        Ok(Self { url, secret })
    }

    /// The host, as it is shown.
    pub fn host(&self) -> String {
        self.url.host_str().unwrap_or_default().to_owned()
    }

    /// Sends a message once.
    ///
    /// # Errors
    /// It was not taken.
    pub(super) async fn send(&self, client: &reqwest::Client, id: &str, body: &str) -> Result<(), SendError> {
        let timestamp = Moment::now().millis() / 1_000;
        let request = client
            .post(self.url.clone())
            .header(header::CONTENT_TYPE, "application/json")
            .header("webhook-id", id)
            .header("webhook-timestamp", timestamp)
            .header("webhook-signature", self.secret.sign(id, timestamp, body))
            .body(body.to_owned());
        // What is answered is not read: the status says all.
        let response = request.send().await.map_err(|error| self.unreachable(error))?;
        if response.status().is_success() {
            return Ok(());
        }
        let seconds = response.headers().get(header::RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        Err(SendError::Refused {
            host: self.host(),
            status: response.status(),
            retry_after: seconds.map(Duration::from_secs),
        })
    }

    fn unreachable(&self, error: reqwest::Error) -> SendError {
        let error = error.without_url();
        let mut reason = error.to_string();
        let mut cause = std::error::Error::source(&error);
        while let Some(error) = cause {
            reason = error.to_string();
            cause = error.source();
        }
        SendError::Unreachable { host: self.host(), reason }
    }
}

/// What sends notifications.
///
/// # Errors
/// There is no TLS on this machine.
pub fn client() -> reqwest::Result<reqwest::Client> {
    crate::tls::install_provider();
    let builder = reqwest::Client::builder().user_agent(concat!("kalypso/", env!("CARGO_PKG_VERSION")));
    // Who is told is what the configuration says, not what somebody there says.
    builder.timeout(NOTIFICATION_TIMEOUT).redirect(redirect::Policy::none()).build()
}

/// A name for a message that nobody else has.
pub(super) fn message_id() -> String {
    let mut bytes = [0; 16];
    // Without random numbers the moment is a name, too.
    if getrandom::fill(&mut bytes).is_err() {
        bytes[..8].copy_from_slice(&Moment::now().millis().to_be_bytes());
    }
    format!("msg_{}", HEXLOWER.encode(&bytes))
}

/// Sends a message that says nothing but that it is a test, once.
///
/// # Errors
/// It was not taken.
pub async fn test(rule: &Rule) -> Result<(), SendError> {
    let client = client().map_err(|error| rule.receiver.unreachable(error))?;
    let body = json!({"type": "rule.test", "timestamp": Moment::now(), "data": {"rule": rule.name}});
    rule.receiver.send(&client, &message_id(), &body.to_string()).await
}
