//! Sends notifications: in the receiver's format, with a limit on everything, without following redirects.

use std::time::Duration;

use data_encoding::HEXLOWER;
use hub_api::timestamp::Timestamp;
use reqwest::{RequestBuilder, StatusCode, header, redirect};
use serde_json::{Value as Json, json};

use super::formats::{self, Notice};
use super::{Format, Receiver, Rule};
use crate::limits::{NOTIFICATION_PAUSE_MAX, NOTIFICATION_TIMEOUT};

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
    /// What is stored is no notification: another version of the hub made it.
    #[error("the notification was made by another version of the hub: {reason}")]
    Unreadable {
        /// What is wrong with it.
        reason: String,
    },
}

impl SendError {
    /// Whether it is not worth another attempt: the receiver is gone, or can't read what will be the same the next time.
    pub(super) fn is_final(&self) -> bool {
        let hopeless = [StatusCode::GONE, StatusCode::BAD_REQUEST, StatusCode::PAYLOAD_TOO_LARGE];
        matches!(self, Self::Refused { status, .. } if hopeless.contains(status))
    }

    /// How long to wait at least.
    pub(super) fn retry_after(&self) -> Duration {
        match self {
            Self::Refused { retry_after, .. } => retry_after.unwrap_or_default().min(NOTIFICATION_PAUSE_MAX),
            Self::Unreachable { .. } | Self::Unreadable { .. } => Duration::ZERO,
        }
    }
}

impl Receiver {
    /// Sends a message once: the JSON that is stored, in the receiver's format.
    ///
    /// # Errors
    /// It was not taken.
    pub(super) async fn send(&self, client: &reqwest::Client, id: &str, body: &str) -> Result<(), SendError> {
        match &self.format {
            Format::Signed(secret) => {
                let timestamp = Timestamp::now().millis() / 1_000;
                let request = client
                    .post(self.url.clone())
                    .header("webhook-id", id)
                    .header("webhook-timestamp", timestamp)
                    .header("webhook-signature", secret.sign(id, timestamp, body));
                self.post(request, body.to_owned()).await
            }
            Format::Slack => self.send_as(client, body, formats::slack).await,
            Format::Teams => self.send_as(client, body, formats::teams).await,
            Format::PagerDuty(service) => {
                self.send_as(client, body, |notice| service.event(notice)).await?;
                // A test must not wake anybody for long.
                let is_test = Notice::read(body).is_ok_and(|notice| notice.is_test());
                if is_test { self.send_as(client, body, |notice| service.resolve(notice)).await } else { Ok(()) }
            }
        }
    }

    async fn send_as(
        &self,
        client: &reqwest::Client,
        body: &str,
        format: impl Fn(&Notice) -> Json,
    ) -> Result<(), SendError> {
        let notice = Notice::read(body).map_err(|error| SendError::Unreadable { reason: error.to_string() })?;
        self.post(client.post(self.url.clone()), format(&notice).to_string()).await
    }

    async fn post(&self, request: RequestBuilder, body: String) -> Result<(), SendError> {
        let request = request.header(header::CONTENT_TYPE, "application/json").body(body);
        // The body of the answer is not read: the status says all.
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
    hub_api::tls::install_provider();
    let builder = reqwest::Client::builder().user_agent(concat!("kalypso/", env!("CARGO_PKG_VERSION")));
    // Who is told is what the configuration says, not what somebody there says.
    builder.timeout(NOTIFICATION_TIMEOUT).redirect(redirect::Policy::none()).build()
}

/// A name for a message that nobody else has.
pub(super) fn message_id() -> String {
    let mut bytes = [0; 16];
    // Without random numbers the timestamp is a name, too.
    if getrandom::fill(&mut bytes).is_err() {
        bytes[..8].copy_from_slice(&Timestamp::now().millis().to_be_bytes());
    }
    format!("msg_{}", HEXLOWER.encode(&bytes))
}

/// Sends a message that says nothing but that it is a test, once.
///
/// # Errors
/// It was not taken.
pub async fn test(rule: &Rule) -> Result<(), SendError> {
    let client = client().map_err(|error| rule.receiver.unreachable(error))?;
    let body = json!({"type": "rule.test", "timestamp": Timestamp::now(), "data": {"rule": rule.name}});
    rule.receiver.send(&client, &message_id(), &body.to_string()).await
}
