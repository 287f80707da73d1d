//! Sends notifications: in the receiver's format, with a limit on everything, without following redirects.

use std::time::Duration;

use data_encoding::HEXLOWER;
use hub_api::timestamp::Timestamp;
use reqwest::{RequestBuilder, StatusCode, header, redirect};
use serde_json::{Value as Json, json};

use super::formats::{self, Notice};
use super::{NotificationFormat, Receiver, Rule};
use crate::limits::{NOTIFICATION_PAUSE_MAX, NOTIFICATION_TIMEOUT};

/// A notification was not accepted. The messages never contain the path and the query of the URL: these are a secret that gives the permission to send.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The receiver can't be reached, or did not answer in time.
    #[error("{host} can't be reached: {reason}")]
    Unreachable {
        /// The host of the receiver.
        host: String,
        /// The reason.
        reason: String,
    },
    /// The receiver did not accept the message.
    #[error("{host} answered {status}")]
    Refused {
        /// The host of the receiver.
        host: String,
        /// The HTTP status.
        status: StatusCode,
        /// The receiver's header `Retry-After`.
        retry_after: Option<Duration>,
    },
    /// The stored JSON is not a notification of this version: another version of the hub made it.
    #[error("the notification was made by another version of the hub: {reason}")]
    Unreadable {
        /// The error of the parser.
        reason: String,
    },
}

impl SendError {
    /// Whether another attempt is useless: the receiver no longer exists, or it can't read the message, which would be the same again.
    pub(super) fn is_final(&self) -> bool {
        let hopeless = [StatusCode::GONE, StatusCode::BAD_REQUEST, StatusCode::PAYLOAD_TOO_LARGE];
        matches!(self, Self::Refused { status, .. } if hopeless.contains(status))
    }

    /// The minimum pause before the next attempt.
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
    /// The receiver did not accept the message.
    pub(super) async fn send(&self, client: &reqwest::Client, id: &str, body: &str) -> Result<(), SendError> {
        match &self.format {
            NotificationFormat::Signed(secret) => {
                let timestamp = Timestamp::now().millis() / 1_000;
                let request = client
                    .post(self.url.clone())
                    .header("webhook-id", id)
                    .header("webhook-timestamp", timestamp)
                    .header("webhook-signature", secret.sign(id, timestamp, body));
                self.post(request, body.to_owned()).await
            }
            NotificationFormat::Slack => self.send_as(client, body, formats::slack).await,
            NotificationFormat::Teams => self.send_as(client, body, formats::teams).await,
            NotificationFormat::PagerDuty(service) => {
                self.send_as(client, body, |notice| service.event(notice)).await?;
                // An incident of a test is resolved at once, so that it alerts people only for a short time.
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
        // The body of the answer is not read: the status is enough.
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

/// The HTTP client for notifications.
///
/// # Errors
/// TLS can't be initialized on this machine.
pub fn client() -> reqwest::Result<reqwest::Client> {
    hub_api::tls::install_provider();
    let builder = reqwest::Client::builder().user_agent(concat!("kalypso/", env!("CARGO_PKG_VERSION")));
    // No redirects: only the configuration decides where notifications are sent.
    builder.timeout(NOTIFICATION_TIMEOUT).redirect(redirect::Policy::none()).build()
}

/// A unique id for a message.
pub(super) fn message_id() -> String {
    let mut bytes = [0; 16];
    // Without random numbers, the id is made from the timestamp.
    if getrandom::fill(&mut bytes).is_err() {
        bytes[..8].copy_from_slice(&Timestamp::now().millis().to_be_bytes());
    }
    format!("msg_{}", HEXLOWER.encode(&bytes))
}

/// Sends a test message once.
///
/// # Errors
/// The receiver did not accept the message.
pub async fn test(rule: &Rule) -> Result<(), SendError> {
    let client = client().map_err(|error| rule.receiver.unreachable(error))?;
    let body = json!({"type": "rule.test", "timestamp": Timestamp::now(), "data": {"rule": rule.name}});
    rule.receiver.send(&client, &message_id(), &body.to_string()).await
}
