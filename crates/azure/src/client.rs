//! Sends requests to Azure with retries, and limits the size of answers.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use hub_api::timestamp::Timestamp;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{RequestBuilder, Response};
use retry::{Jitter, RetryLimit, RetryPolicy};
use serde::Deserialize;

use crate::limits::{ANSWER_BYTES_MAX, ATTEMPTS, TIMEOUT, WAIT_MAX};
use crate::secret::Secret;

/// The pauses between attempts, unless Azure names another pause.
const RETRY: RetryPolicy = RetryPolicy {
    first: Duration::from_secs(1),
    factor: 2,
    longest: WAIT_MAX,
    // Hubs that were refused at the same time must not retry at the same time.
    jitter: Jitter { from: 1.0, to: 1.5 },
    limit: RetryLimit::Attempts(ATTEMPTS),
};
/// The maximum length of an error message of Azure, in characters.
const MESSAGE_CHARACTERS_MAX: usize = 300;

/// Waits for a time. Tests replace it.
pub type Pause = Arc<dyn Fn(Duration) -> BoxFuture<'static, ()> + Send + Sync>;

/// Sends requests.
#[derive(Clone)]
pub(crate) struct Client {
    remote: reqwest::Client,
    local: reqwest::Client,
    pause: Pause,
}

/// A successful answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// The reason why a request failed.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// Azure refuses the request.
    #[error("Azure returned status {status}: {message}")]
    Refused {
        /// The HTTP status.
        status: u16,
        headers: Box<HeaderMap>,
        message: String,
    },
    /// Azure can't be reached, or the connection is lost.
    #[error("the server can't be reached: {0}")]
    Unreachable(String),
    /// The answer is too large.
    #[error("its answer has more than {ANSWER_BYTES_MAX} bytes")]
    TooLarge,
    /// The answer has an unexpected format.
    #[error("{0}")]
    Malformed(String),
    /// A problem on this machine.
    #[error("{0}")]
    Local(String),
}

impl Failure {
    /// Removes a secret from the message, in case the answer repeats it.
    pub(crate) fn without(self, secret: &Secret) -> Self {
        match self {
            Self::Refused { status, headers, message } if !secret.expose().is_empty() => {
                Self::Refused { status, headers, message: message.replace(secret.expose(), "***") }
            }
            other => other,
        }
    }

    /// The HTTP status. None if there is no answer.
    pub(crate) fn status(&self) -> Option<u16> {
        match self {
            Self::Refused { status, .. } => Some(*status),
            _ => None,
        }
    }
}

impl Client {
    /// Creates a client that waits with `pause`.
    pub(crate) fn new(pause: Pause) -> Result<Self, Failure> {
        hub_api::tls::install_provider();
        let builder = || {
            reqwest::Client::builder()
                .timeout(TIMEOUT)
                .connect_timeout(TIMEOUT / 6)
                .redirect(reqwest::redirect::Policy::none())
                .user_agent(concat!("kalypso/", env!("CARGO_PKG_VERSION")))
        };
        let wrong = |error: reqwest::Error| Failure::Local(error.to_string());
        let remote = builder().build().map_err(wrong)?;
        let local = builder().no_proxy().build().map_err(wrong)?;
        Ok(Self { remote, local, pause })
    }

    /// The client for the cloud.
    pub(crate) fn remote(&self) -> &reqwest::Client {
        &self.remote
    }

    /// The client for this machine. It uses no proxy.
    pub(crate) fn local(&self) -> &reqwest::Client {
        &self.local
    }

    /// Waits for a time.
    pub(crate) async fn wait(&self, duration: Duration) {
        (self.pause)(duration).await;
    }

    /// Sends a request. Repeats it until it succeeds, fails permanently, or reaches the maximum number of attempts.
    pub(crate) async fn send(&self, request: impl Fn() -> RequestBuilder) -> Result<Answer, Failure> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            let (failure, wait) = match attempt_once(request()).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => {
                    let wait = wait(&failure, attempt);
                    (failure, wait)
                }
            };
            let wait = wait.and_then(|wait| RETRY.next(attempt, Duration::ZERO, Some(wait)));
            match wait.filter(|wait| *wait <= WAIT_MAX) {
                Some(wait) => self.wait(wait).await,
                None => return Err(failure),
            }
        }
    }
}

async fn attempt_once(request: RequestBuilder) -> Result<Answer, Failure> {
    let unreachable = |error: reqwest::Error| Failure::Unreachable(cause(&error.without_url()));
    let response = request.send().await.map_err(unreachable)?;
    let (status, headers) = (response.status(), response.headers().clone());
    let body = body(response).await?;
    if status.is_success() {
        return Ok(Answer { headers, body });
    }
    Err(Failure::Refused { status: status.as_u16(), headers: Box::new(headers), message: message(&body) })
}

async fn body(response: Response) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|error| Failure::Unreachable(cause(&error.without_url())))?;
        if body.len() + chunk.len() > ANSWER_BYTES_MAX {
            return Err(Failure::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The innermost cause of an error, which has the most precise message.
fn cause(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

/// The pause before the next attempt. None if a retry is useless.
fn wait(failure: &Failure, attempt: u32) -> Option<Duration> {
    let backoff = || RETRY.pause(attempt);
    match failure {
        Failure::Refused { status: 408 | 410 | 429 | 500 | 502 | 503 | 504, headers, .. } => {
            Some(retry_after(headers, Timestamp::now()).or_else(|| quota_reset(headers)).unwrap_or_else(backoff))
        }
        Failure::Unreachable(_) => Some(backoff()),
        _ => None,
    }
}

/// The pause of the header `Retry-After`: seconds, or a date (RFC 9110, 10.2.3).
fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = jiff::fmt::rfc2822::parse(text).ok()?;
    Some(Timestamp::from_millis(date.timestamp().as_millisecond()).since(now))
}

/// The time until Resource Graph accepts queries again (`hh:mm:ss`). None if the quota is not used up.
/// <https://learn.microsoft.com/azure/governance/resource-graph/concepts/guidance-for-throttled-requests>
pub(crate) fn quota_reset(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if text("x-ms-user-quota-remaining")?.parse() != Ok(0u64) {
        return None;
    }
    let mut seconds = 0u64;
    for part in text("x-ms-user-quota-resets-after")?.split(':') {
        seconds = seconds.saturating_mul(60).saturating_add(part.parse().ok()?);
    }
    Some(Duration::from_secs(seconds))
}

/// The message of an error of Azure. Resource Manager and Microsoft Entra have different formats.
pub(crate) fn message(body: &[u8]) -> String {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Body {
        Manager { error: ManagerError },
        Login { error: String, error_description: Option<String> },
    }
    #[derive(Deserialize)]
    struct ManagerError {
        code: String,
        message: Option<String>,
        #[serde(default)]
        details: Vec<ManagerError>,
    }
    let text = match serde_json::from_slice(body) {
        Ok(Body::Manager { error }) => {
            let parts = std::iter::once(&error).chain(&error.details);
            let part =
                |error: &ManagerError| format!("{} ({})", error.message.as_deref().unwrap_or_default(), error.code);
            parts.map(part).collect::<Vec<_>>().join(" ")
        }
        // The lines after the first one only contain ids of the request.
        Ok(Body::Login { error, error_description }) => {
            let description = error_description.unwrap_or_default();
            format!("{} ({error})", description.lines().next().unwrap_or_default())
        }
        Err(_) => "no reason".to_owned(),
    };
    text.chars().filter(|character| !character.is_control()).take(MESSAGE_CHARACTERS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-11-21T13:44:00Z";

    fn check(headers: &[(&'static str, &str)]) -> Option<u64> {
        let headers = headers.iter().map(|(name, value)| ((*name).parse().unwrap(), value.parse().unwrap()));
        let headers: HeaderMap = headers.collect();
        retry_after(&headers, NOW.parse().unwrap()).or_else(|| quota_reset(&headers)).map(|wait| wait.as_secs())
    }

    #[test]
    fn retry_delay_is_read_from_headers() {
        assert_eq!(check(&[("retry-after", "17")]), Some(17));
        assert_eq!(check(&[("retry-after", "Sat, 21 Nov 2026 13:44:30 GMT")]), Some(30));
        assert_eq!(check(&[("retry-after", "Sat, 21 Nov 2026 13:43:30 GMT")]), Some(0));
        let resets = ("x-ms-user-quota-resets-after", "00:01:05");
        assert_eq!(check(&[("x-ms-user-quota-remaining", "0"), resets]), Some(65));
        assert_eq!(check(&[("x-ms-user-quota-remaining", "1"), resets]), None);
        assert_eq!(check(&[("retry-after", "soon")]), None);
    }

    #[test]
    fn error_messages_include_the_reason() {
        let manager = br#"{"error": {"code": "BadRequest", "message": "Please provide", "details": [{"code": "NoValidSubscriptionsInQueryRequest", "message": "There must be at least one subscription"}]}}"#;
        assert_eq!(
            message(manager),
            "Please provide (BadRequest) There must be at least one subscription (NoValidSubscriptionsInQueryRequest)"
        );
        let login = br#"{"error": "invalid_client", "error_description": "AADSTS7000215: Invalid client secret provided.\r\nTrace ID: 1"}"#;
        assert_eq!(message(login), "AADSTS7000215: Invalid client secret provided. (invalid_client)");
        assert_eq!(message(b"<html>"), "no reason");
    }

    #[test]
    fn permanent_failures_are_not_retried() {
        let refused = |status| Failure::Refused { status, headers: Box::default(), message: "secret: hush".to_owned() };
        assert_eq!(wait(&refused(403), 1), None);
        assert!(wait(&refused(503), 3).is_some_and(|wait| wait >= RETRY.first * 4 && wait <= RETRY.first * 6));
        let without = refused(401).without(&Secret::new("hush".to_owned()));
        assert_eq!(without.to_string(), "Azure returned status 401: secret: ***");
    }
}
