//! A client of a hub over HTTP: for queries, reports, publications and management.

mod compiled;
mod events;
mod management;
mod promotions;
mod queries;
mod syncs;

use std::time::{Duration, Instant};

use model::secret::{Secret, SecretSource};
use reqwest::{StatusCode, Url, header};
use retry::{Jitter, RetryLimit, RetryPolicy};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use self::events::{EventStream, StreamItem};
use crate::limits::EVENTS_KEEP_ALIVE;
use crate::problem::Problem;
use crate::publication::{Publication, PublicationQuery, PublicationReceipt, PublicationState};
use crate::report::receipt::{Receipt, RefusedReport};

/// The time limit for one answer.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The pauses after answers of a busy hub, unless the answer names a pause.
const RETRY: RetryPolicy = RetryPolicy {
    first: Duration::from_millis(500),
    factor: 2,
    longest: Duration::from_secs(30),
    jitter: Jitter::HALF,
    limit: RetryLimit::None,
};

/// The retry policy of queries.
const QUERY_RETRY: RetryPolicy = RetryPolicy { jitter: Jitter::NONE, limit: RetryLimit::Attempts(5), ..RETRY };

/// The maximum number of shown characters of an unexpected answer.
const SHOWN_MAX: usize = 200;

/// The media type of a body in JSON.
const JSON: &str = "application/json";

/// A client of one hub.
#[derive(Clone, Debug)]
pub struct Client {
    url: Url,
    token: Option<SecretSource>,
    http: reqwest::Client,
    /// For event streams, which have no time limit.
    streaming: reqwest::Client,
}

/// The reason why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The URL can't be the URL of a hub.
    #[error("`{url}` is no URL of a hub: {reason}")]
    Url {
        /// The URL, without a credential.
        url: String,
        /// The reason.
        reason: String,
    },
    /// There is no answer, or not in time.
    #[error("the hub at {url} can't be reached: {reason}")]
    Unreachable {
        /// The URL of the hub.
        url: String,
        /// The reason.
        reason: String,
    },
    /// The hub refuses the request.
    #[error("{detail}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The message of the hub.
        detail: String,
        /// The advice of the hub.
        hint: Option<String>,
        /// The refused reports, if reports were sent.
        refused: Vec<RefusedReport>,
    },
    /// The server is not a hub, or has an unknown version.
    #[error("the server at {url} does not answer like a hub: {reason}")]
    Unexpected {
        /// The URL of the hub.
        url: String,
        /// The reason.
        reason: String,
    },
}

impl Client {
    /// Creates a client for the hub at a URL. With a token, all requests contain it.
    ///
    /// # Errors
    /// If the URL is not valid, or contains a user or a password.
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
            // A redirect must not send the token to another server.
            let builder = builder.redirect(reqwest::redirect::Policy::none());
            // A proxy can't reach a hub on this machine.
            if is_loopback(&parsed) { builder.no_proxy() } else { builder }
        };
        let http = builder().timeout(TIMEOUT).build().map_err(|error| wrong(&error.to_string()))?;
        let streaming = builder().connect_timeout(TIMEOUT).read_timeout(3 * EVENTS_KEEP_ALIVE).build();
        let streaming = streaming.map_err(|error| wrong(&error.to_string()))?;
        let token = token.map(|token| Secret::new(&token).into());
        Ok(Self { url: parsed, token, http, streaming })
    }

    /// The same client with a token that may be replaced. Each request contains the current one.
    #[must_use]
    pub fn with_token(self, token: SecretSource) -> Self {
        Self { token: Some(token), ..self }
    }

    /// Sends a query to a path below `/api/v1`. If the hub is busy, the query is repeated a few times.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the query.
    async fn get<T: DeserializeOwned>(&self, path: &[&str], parameters: &[(String, String)]) -> Result<T, ClientError> {
        let url = self.url_of(path, parameters)?;
        let mut attempts = 0;
        loop {
            let response = self.send(self.http.get(url.clone())).await?;
            attempts += 1;
            let requested = retry_after(&response).map(|pause| pause.min(QUERY_RETRY.longest));
            let pause = QUERY_RETRY.next(attempts, Duration::ZERO, requested).filter(|_| is_busy(&response));
            let Some(pause) = pause else { return self.read(response).await };
            tokio::time::sleep(pause).await;
        }
    }

    /// Sends reports: one, a list, or with `are_lines` one on each line. If the hub is busy or can't be reached, the request is repeated for at most
    /// `retry_time`, after the pause that the hub names or after growing pauses. Sending the same reports again is harmless.
    ///
    /// # Errors
    /// If the hub can't be reached in that time, or refuses the whole request. Refused reports are no error, but part of the receipt.
    pub async fn report(&self, body: Vec<u8>, are_lines: bool, retry_time: Duration) -> Result<Receipt, ClientError> {
        let media_type = if are_lines { "application/x-ndjson" } else { JSON };
        self.receipt(self.post("reports", Body { media_type, bytes: body }, retry_time).await?).await
    }

    /// Sends a publication: the content of a branch at a commit, or the content that a proposed change will bring. At most
    /// [`PUBLICATION_PLACES_MAX`](crate::limits::PUBLICATION_PLACES_MAX) places at a time. The request is repeated as in [`Self::report`]. Sending the same
    /// publication again is harmless.
    ///
    /// # Errors
    /// If the hub can't be reached in that time, or refuses the publication.
    pub async fn publish(
        &self,
        publication: &Publication,
        retry_time: Duration,
    ) -> Result<PublicationReceipt, ClientError> {
        let body = self.json(publication)?;
        self.read(self.post("publications", body, retry_time).await?).await
    }

    /// The last commit of which all places of an output were published.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the query. An earlier version of the hub does not know it, with the status 404 or 405.
    pub async fn publication_state(&self, query: &PublicationQuery) -> Result<PublicationState, ClientError> {
        let PublicationQuery { repository, branch, environment, folder } = query;
        let parameters =
            [("repository", repository), ("branch", branch), ("environment", environment), ("folder", folder)];
        let parameters = parameters.map(|(name, value)| (name.to_owned(), value.clone()));
        self.get(&["publications"], &parameters).await
    }

    async fn post(
        &self,
        path: &str,
        Body { media_type, bytes }: Body,
        retry_time: Duration,
    ) -> Result<reqwest::Response, ClientError> {
        let url = self.url_of(&[path], &[])?;
        let policy = RetryPolicy { limit: RetryLimit::Time(retry_time), ..RETRY };
        let (started, mut attempts) = (Instant::now(), 0);
        loop {
            let request = self.http.post(url.clone()).header(header::CONTENT_TYPE, media_type).body(bytes.clone());
            let answer = self.send(request).await;
            attempts += 1;
            let requested = answer.as_ref().ok().and_then(retry_after);
            let is_over = answer.as_ref().is_ok_and(|response| !is_busy(response));
            let pause = policy.next(attempts, started.elapsed(), requested).filter(|_| !is_over);
            let Some(pause) = pause else { return answer };
            tokio::time::sleep(pause).await;
        }
    }

    fn json(&self, value: &(impl Serialize + ?Sized)) -> Result<Body, ClientError> {
        let bytes = serde_json::to_vec(value).map_err(|error| self.unexpected(&error.to_string()))?;
        Ok(Body { media_type: JSON, bytes })
    }

    /// Sends a message in the format of a reconciler to a path of the hub, with these headers. It is sent only once.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the message.
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
        let Some(token) = &self.token else { return self.send_once(request).await };
        let (used, again) = (token.current(), request.try_clone());
        let response = self.send_once(request.bearer_auth(used.reveal())).await?;
        let fresh = token.replaced(&used).filter(|_| response.status() == StatusCode::UNAUTHORIZED);
        match fresh.zip(again) {
            Some((fresh, again)) => self.send_once(again.bearer_auth(fresh.reveal())).await,
            None => Ok(response),
        }
    }

    async fn send_once(&self, request: reqwest::RequestBuilder) -> Result<reqwest::Response, ClientError> {
        request.send().await.map_err(|error| self.unreachable(&error))
    }

    /// Reads the receipt. If all reports are refused, the status is an error, but the answer lists the reports.
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
            .map_err(|()| self.unexpected("its URL has no path"))?
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
            return serde_json::from_slice(&body).map_err(|error| self.unexpected(&error.to_string()));
        }
        match serde_json::from_slice::<Problem>(&body) {
            Ok(Problem { detail, hint, refused, .. }) => {
                Err(ClientError::Refused { status: status.as_u16(), detail, hint, refused })
            }
            Err(_) => Err(self.unexpected(&format!("{status}: {}", shown(&String::from_utf8_lossy(&body))))),
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

    fn unexpected(&self, reason: &str) -> ClientError {
        ClientError::Unexpected { url: self.url.to_string(), reason: reason.to_owned() }
    }
}

/// The body of a request.
struct Body {
    media_type: &'static str,
    bytes: Vec<u8>,
}

/// Whether the host of a URL is this machine.
fn is_loopback(url: &Url) -> bool {
    url.host_str().is_some_and(model::network::is_loopback)
}

/// Whether the same request may succeed later.
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

/// The pause that the answer names.
fn retry_after(response: &reqwest::Response) -> Option<Duration> {
    let seconds = response.headers().get(header::RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// The beginning of a text, without control characters, which a terminal would execute.
fn shown(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).take(SHOWN_MAX).collect()
}

/// Converts a value, such as a filter, to parameters of a query. Fields without a value are left out.
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
    fn a_hub_on_this_machine_has_a_loopback_address() {
        let check = |url: &str| is_loopback(&url.parse().unwrap());
        assert_eq!(["http://127.0.0.1:1", "http://[::1]:1", "http://localhost"].map(check), [true; 3]);
        assert_eq!(["http://10.0.0.1:1", "https://hub.example", "http://localhost.example"].map(check), [false; 3]);
    }

    #[test]
    fn invalid_hub_urls_are_refused() {
        let check = |url: &str| Client::new(url, None).unwrap_err().to_string();
        assert!(check("hub.example").ends_with("it is no URL, such as https://hub.example:8443"));
        assert!(check("ftp://hub.example").ends_with("it does not begin with https:// or http://"));
        assert!(check("https://me:secret@hub.example").ends_with("tokens don't belong into a URL"));
    }
}
