//! A hub over HTTP: it is asked, and reports are sent to it.

mod events;
mod questions;

use std::time::{Duration, Instant};

use reqwest::{StatusCode, Url, header};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use self::events::{Followed, Following};
use crate::limits::EVENTS_KEEP_ALIVE;
use crate::problem::Problem;
use crate::publication::{Publication, PublicationReceipt};
use crate::report::receipt::{Receipt, RefusedReport};
use crate::retry::{Jitter, RetryLimit, RetryPolicy};

/// How long one answer may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The pauses after answers of a busy hub, unless it asks for another pause.
const RETRY: RetryPolicy = RetryPolicy {
    first: Duration::from_millis(500),
    factor: 2,
    longest: Duration::from_secs(30),
    jitter: Jitter::HALF,
    limit: RetryLimit::None,
};

/// The same for questions, which are asked a few times.
const ASK_AGAIN: RetryPolicy = RetryPolicy { jitter: Jitter::NONE, limit: RetryLimit::Attempts(5), ..RETRY };

/// Characters of an answer that is no answer of a hub, as they are shown.
const SHOWN_MAX: usize = 200;

/// A hub somewhere else.
#[derive(Clone, Debug)]
pub struct Client {
    url: Url,
    token: Option<String>,
    http: reqwest::Client,
    /// For answers that never end.
    endless: reqwest::Client,
}

/// The hub did not answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The URL is none of a hub.
    #[error("`{url}` is no URL of a hub: {reason}")]
    Url {
        /// As it was given.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Nobody answers there, or not in time.
    #[error("the hub at {url} can't be reached: {reason}")]
    Unreachable {
        /// The hub.
        url: String,
        /// Why.
        reason: String,
    },
    /// It answers that the question can't be answered.
    #[error("{detail}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// What is wrong, in the hub's words.
        detail: String,
        /// What to do about it.
        hint: Option<String>,
        /// The reports that were not taken, if reports were sent.
        refused: Vec<RefusedReport>,
    },
    /// What answers is no hub, or a later one.
    #[error("what answers at {url} does not answer as a hub: {reason}")]
    Strange {
        /// The hub.
        url: String,
        /// What is strange about it.
        reason: String,
    },
}

impl Client {
    /// The hub at a URL, which is asked with a token, if there is one.
    ///
    /// # Errors
    /// It is no URL of a hub, or has a user or a password in it.
    pub fn new(url: &str, token: Option<String>) -> Result<Self, ClientError> {
        let url_shown = shown(&model::credential::without_in_url(url));
        let wrong = |reason: &str| ClientError::Url { url: url_shown.clone(), reason: reason.to_owned() };
        let parsed: Url = url.parse().map_err(|_| wrong("it is no URL, such as https://hub.example:8443"))?;
        if !matches!(parsed.scheme(), "http" | "https") || parsed.cannot_be_a_base() {
            return Err(wrong("it does not begin with https:// or http://"));
        }
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return Err(wrong("tokens don't belong into a URL"));
        }
        crate::tls::install_provider();
        let builder = || {
            let builder = reqwest::Client::builder().user_agent(concat!("kalypso/", env!("CARGO_PKG_VERSION")));
            // A token must not go where another server sends it.
            let builder = builder.redirect(reqwest::redirect::Policy::none());
            // No proxy leads back to this machine.
            if is_here(&parsed) { builder.no_proxy() } else { builder }
        };
        let http = builder().timeout(TIMEOUT).build().map_err(|error| wrong(&error.to_string()))?;
        let endless = builder().connect_timeout(TIMEOUT).read_timeout(3 * EVENTS_KEEP_ALIVE).build();
        let endless = endless.map_err(|error| wrong(&error.to_string()))?;
        Ok(Self { url: parsed, token, http, endless })
    }

    /// Asks a question: the words of its path below `/api/v1`, and its parameters. A hub that is busy is asked again, a few times.
    ///
    /// # Errors
    /// Nobody answers, or the answer is that the question can't be answered.
    async fn ask<T: DeserializeOwned>(&self, path: &[&str], parameters: &[(String, String)]) -> Result<T, ClientError> {
        let url = self.url_of(path, parameters)?;
        let mut attempts = 0;
        loop {
            let response = self.send(self.http.get(url.clone())).await?;
            attempts += 1;
            let asked = retry_after(&response).map(|asked| asked.min(ASK_AGAIN.longest));
            let pause = ASK_AGAIN.next(attempts, Duration::ZERO, asked).filter(|_| is_busy(&response));
            let Some(pause) = pause else { return self.read(response).await };
            tokio::time::sleep(pause).await;
        }
    }

    /// Sends reports: one, a list, or with `are_lines` one on each line. A hub that is busy or away is tried again, as long as `patience` lasts: after the pause
    /// that it asks for, or after longer and longer ones. Sending the same reports again is harmless.
    ///
    /// # Errors
    /// Nobody answers in that time, or nothing of it is taken and it is not the reports that are wrong.
    pub async fn report(&self, body: Vec<u8>, are_lines: bool, patience: Duration) -> Result<Receipt, ClientError> {
        let media_type = if are_lines { "application/x-ndjson" } else { "application/json" };
        self.receipt(self.post("reports", (media_type, body), patience).await?).await
    }

    /// Sends a publication: the content of a branch at a commit, or the content that a proposed change will bring. At most
    /// [`PUBLICATION_PLACES_MAX`](crate::limits::PUBLICATION_PLACES_MAX) places at a time. A hub that is busy or away is tried again, as with reports;
    /// sending the same again is harmless.
    ///
    /// # Errors
    /// Nobody answers in that time, or the hub does not take it.
    pub async fn publish(
        &self,
        publication: &Publication,
        patience: Duration,
    ) -> Result<PublicationReceipt, ClientError> {
        let body = serde_json::to_vec(publication).map_err(|error| self.strange(&error.to_string()))?;
        self.read(self.post("publications", ("application/json", body), patience).await?).await
    }

    async fn post(
        &self,
        path: &str,
        (media_type, body): (&str, Vec<u8>),
        patience: Duration,
    ) -> Result<reqwest::Response, ClientError> {
        let url = self.url_of(&[path], &[])?;
        let policy = RetryPolicy { limit: RetryLimit::Time(patience), ..RETRY };
        let (started, mut attempts) = (Instant::now(), 0);
        loop {
            let request = self.http.post(url.clone()).header(header::CONTENT_TYPE, media_type).body(body.clone());
            let answer = self.send(request).await;
            attempts += 1;
            let asked = answer.as_ref().ok().and_then(retry_after);
            let is_over = answer.as_ref().is_ok_and(|response| !is_busy(response));
            let pause = policy.next(attempts, started.elapsed(), asked).filter(|_| !is_over);
            let Some(pause) = pause else { return answer };
            tokio::time::sleep(pause).await;
        }
    }

    /// Sends what a reconciler sends in a format of its own: to that path of the hub, with these headers. It is not tried again.
    ///
    /// # Errors
    /// Nobody answers, or it is not taken.
    pub async fn relay(
        &self,
        path: &str,
        headers: &[(&'static str, String)],
        body: Vec<u8>,
    ) -> Result<(), ClientError> {
        let mut url = self.url.clone();
        url.set_path(path);
        let request = headers.iter().fold(self.http.post(url), |request, (name, value)| request.header(*name, value));
        let response = self.send(request.body(body)).await?;
        if response.status().is_success() { Ok(()) } else { self.read(response).await }
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Result<reqwest::Response, ClientError> {
        let request = match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        };
        request.send().await.map_err(|error| self.unreachable(&error))
    }

    /// A hub that took no report at all says so with another status, but names them as well.
    async fn receipt(&self, response: reqwest::Response) -> Result<Receipt, ClientError> {
        match self.read(response).await {
            Err(ClientError::Refused { refused, .. }) if !refused.is_empty() => {
                Ok(Receipt { refused, ..Receipt::default() })
            }
            other => other,
        }
    }

    fn url_of(&self, path: &[&str], parameters: &[(String, String)]) -> Result<Url, ClientError> {
        let mut url = self.url.clone();
        url.path_segments_mut()
            .map_err(|()| self.strange("its URL has no path"))?
            .pop_if_empty()
            .extend(["api", "v1"].iter().chain(path));
        if !parameters.is_empty() {
            url.query_pairs_mut().extend_pairs(parameters);
        }
        Ok(url)
    }

    async fn read<T: DeserializeOwned>(&self, response: reqwest::Response) -> Result<T, ClientError> {
        let status = response.status();
        let body = response.bytes().await.map_err(|error| self.unreachable(&error))?;
        if status.is_success() {
            return serde_json::from_slice(&body).map_err(|error| self.strange(&error.to_string()));
        }
        match serde_json::from_slice::<Problem>(&body) {
            Ok(Problem { detail, hint, refused, .. }) => {
                Err(ClientError::Refused { status: status.as_u16(), detail, hint, refused })
            }
            Err(_) => Err(self.strange(&format!("{status}: {}", shown(&String::from_utf8_lossy(&body))))),
        }
    }

    fn unreachable(&self, error: &reqwest::Error) -> ClientError {
        let mut reason = error.to_string();
        let mut cause = std::error::Error::source(error);
        while let Some(error) = cause {
            reason = error.to_string();
            cause = error.source();
        }
        ClientError::Unreachable { url: self.url.to_string(), reason }
    }

    fn strange(&self, reason: &str) -> ClientError {
        ClientError::Strange { url: self.url.to_string(), reason: reason.to_owned() }
    }
}

/// Whether that is on this machine.
fn is_here(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Whether the hub may take the same later.
fn is_busy(response: &reqwest::Response) -> bool {
    matches!(
        response.status(),
        StatusCode::TOO_MANY_REQUESTS
            | StatusCode::REQUEST_TIMEOUT
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT
    )
}

/// How long it asks to wait.
fn retry_after(response: &reqwest::Response) -> Option<Duration> {
    let seconds = response.headers().get(header::RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// The beginning of a text, without what terminals take for commands.
fn shown(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).take(SHOWN_MAX).collect()
}

/// The parameters of a question that a value stands for, such as a filter: its fields that are not none.
fn parameters(of: &impl Serialize) -> Vec<(String, String)> {
    let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(of) else { return Vec::new() };
    let text = |value: serde_json::Value| match value {
        serde_json::Value::Null => None,
        serde_json::Value::String(text) => Some(text),
        other => Some(other.to_string()),
    };
    fields.into_iter().filter_map(|(name, value)| Some((name, text(value)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kept_whatever_is_in_them() {
        let client = Client::new("https://hub.example/kalypso/", None).unwrap();
        let filter = serde_json::json!({"workload": "a&b=c/%", "host": null});
        let page = serde_json::json!({"limit": 7});
        let url =
            client.url_of(&["rollouts", "main@sha1:1/2"], &[parameters(&filter), parameters(&page)].concat()).unwrap();
        let expected = "https://hub.example/kalypso/api/v1/rollouts/main@sha1:1%2F2?workload=a%26b%3Dc%2F%25&limit=7";
        assert_eq!(url.as_str(), expected);
    }

    #[test]
    fn a_hub_on_this_machine_is_known_by_its_address() {
        let check = |url: &str| is_here(&url.parse().unwrap());
        assert_eq!(["http://127.0.0.1:1", "http://[::1]:1", "http://localhost"].map(check), [true; 3]);
        assert_eq!(["http://10.0.0.1:1", "https://hub.example", "http://localhost.example"].map(check), [false; 3]);
    }

    #[test]
    fn what_is_no_hub_is_refused() {
        let check = |url: &str| Client::new(url, None).unwrap_err().to_string();
        assert!(check("hub.example").ends_with("it is no URL, such as https://hub.example:8443"));
        assert!(check("ftp://hub.example").ends_with("it does not begin with https:// or http://"));
        assert!(check("https://me:secret@hub.example").ends_with("tokens don't belong into a URL"));
    }
}
