//! Connections to a hub over HTTP.

use std::time::{Duration, Instant};

use model::secret::{Secret, SecretSource};
use reqwest::{Method, StatusCode, Url, header};
use retry::{Jitter, RetryLimit, RetryPolicy};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::transport::{Transport, TransportAnswer};
use super::{ClientError, shown};
use crate::limits::EVENTS_KEEP_ALIVE;

/// The time limit for one answer.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The pauses after answers of a busy hub, unless the answer names a pause.
pub(super) const RETRY: RetryPolicy = RetryPolicy {
    first: Duration::from_millis(500),
    factor: 2,
    longest: Duration::from_secs(30),
    jitter: Jitter::HALF,
    limit: RetryLimit::None,
};

/// The retry policy of queries.
const QUERY_RETRY: RetryPolicy = RetryPolicy { jitter: Jitter::NONE, limit: RetryLimit::Attempts(5), ..RETRY };

/// The media type of a body in JSON.
pub(super) const JSON: &str = "application/json";

/// A connection to a hub over HTTP. With a token, all requests contain it.
#[derive(Clone, Debug)]
pub struct HttpTransport {
    pub(super) url: Url,
    pub(super) token: Option<SecretSource>,
    pub(super) client: reqwest::Client,
    /// For event streams, which have no time limit.
    pub(super) streaming: reqwest::Client,
}

impl HttpTransport {
    /// A connection to the hub at a URL. The error: the URL is not valid, or contains a user or a password.
    pub(super) fn new(url: &str, token: Option<String>) -> Result<Self, ClientError> {
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
        let client = builder().timeout(TIMEOUT).build().map_err(|error| wrong(&error.to_string()))?;
        let streaming = builder().connect_timeout(TIMEOUT).read_timeout(3 * EVENTS_KEEP_ALIVE).build();
        let streaming = streaming.map_err(|error| wrong(&error.to_string()))?;
        let token = token.map(|token| Secret::new(&token).into());
        Ok(Self { url: parsed, token, client, streaming })
    }

    /// Sends a body to a path. If the hub is busy or can't be reached, the request is repeated for at most `retry_time`.
    pub(super) async fn post(
        &self,
        path: &str,
        Body { media_type, bytes }: Body,
        retry_time: Duration,
    ) -> Result<reqwest::Response, ClientError> {
        let url = self.url_of(&[path], &[])?;
        let policy = RetryPolicy { limit: RetryLimit::Time(retry_time), ..RETRY };
        let (started, mut attempts) = (Instant::now(), 0);
        loop {
            let request = self.client.post(url.clone()).header(header::CONTENT_TYPE, media_type).body(bytes.clone());
            let answer = self.send(request).await;
            attempts += 1;
            let requested = answer.as_ref().ok().and_then(retry_after);
            let is_over = answer.as_ref().is_ok_and(|response| !is_busy(response));
            let pause = policy.next(attempts, started.elapsed(), requested).filter(|_| !is_over);
            let Some(pause) = pause else { return answer };
            tokio::time::sleep(pause).await;
        }
    }

    pub(super) fn json(&self, value: &(impl Serialize + ?Sized)) -> Result<Body, ClientError> {
        let bytes = serde_json::to_vec(value).map_err(|error| self.unexpected(&error.to_string()))?;
        Ok(Body { media_type: JSON, bytes })
    }

    pub(super) async fn send(&self, request: reqwest::RequestBuilder) -> Result<reqwest::Response, ClientError> {
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

    /// The URL of a path below `/api/v1`.
    pub(super) fn url_of(&self, path: &[&str], parameters: &[(String, String)]) -> Result<Url, ClientError> {
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

    /// Reads the value of an answer.
    pub(super) async fn read<T: DeserializeOwned>(&self, response: reqwest::Response) -> Result<T, ClientError> {
        self.answer(response).await?.read(|| self.url())
    }

    async fn answer(&self, response: reqwest::Response) -> Result<TransportAnswer, ClientError> {
        let status = response.status().as_u16();
        let body = response.bytes().await.map_err(|error| self.unreachable(&error))?;
        Ok(TransportAnswer { status, body: body.to_vec() })
    }

    pub(super) fn unreachable(&self, error: &reqwest::Error) -> ClientError {
        let mut reason = error.to_string();
        let mut cause = std::error::Error::source(error);
        while let Some(error) = cause {
            reason = error.to_string();
            cause = error.source();
        }
        ClientError::Unreachable { url: self.url.to_string(), reason }
    }

    pub(super) fn unexpected(&self, reason: &str) -> ClientError {
        ClientError::Unexpected { url: self.url.to_string(), reason: reason.to_owned() }
    }
}

impl Transport for HttpTransport {
    /// If the hub is busy, the query is repeated a few times.
    async fn query(&self, path: &[&str], parameters: &[(String, String)]) -> Result<TransportAnswer, ClientError> {
        let url = self.url_of(path, parameters)?;
        let mut attempts = 0;
        loop {
            let response = self.send(self.client.get(url.clone())).await?;
            attempts += 1;
            let requested = retry_after(&response).map(|pause| pause.min(QUERY_RETRY.longest));
            let pause = QUERY_RETRY.next(attempts, Duration::ZERO, requested).filter(|_| is_busy(&response));
            let Some(pause) = pause else { return self.answer(response).await };
            tokio::time::sleep(pause).await;
        }
    }

    async fn change(
        &self,
        method: Method,
        path: &[&str],
        body: Option<Vec<u8>>,
    ) -> Result<TransportAnswer, ClientError> {
        let request = self.client.request(method, self.url_of(path, &[])?);
        let request = match body {
            Some(body) => request.header(header::CONTENT_TYPE, JSON).body(body),
            None => request,
        };
        self.answer(self.send(request).await?).await
    }

    fn url(&self) -> String {
        self.url.to_string()
    }
}

/// The body of a request.
pub(super) struct Body {
    pub(super) media_type: &'static str,
    pub(super) bytes: Vec<u8>,
}

/// Whether the host of a URL is this machine.
fn is_loopback(url: &Url) -> bool {
    url.host_str().is_some_and(model::network::is_loopback)
}

/// Whether the same request may succeed later.
pub(super) fn is_busy(response: &reqwest::Response) -> bool {
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
pub(super) fn retry_after(response: &reqwest::Response) -> Option<Duration> {
    let seconds = response.headers().get(header::RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kept_whatever_is_in_them() {
        let client = HttpTransport::new("https://hub.example/kalypso/", None).unwrap();
        let filter = serde_json::json!({"workload": "a&b=c/%", "host": null});
        let page = serde_json::json!({"limit": 7});
        let parameters = [super::super::parameters(&filter), super::super::parameters(&page)].concat();
        let url = client.url_of(&["rollouts", "main@sha1:1/2"], &parameters).unwrap();
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
        let check = |url: &str| HttpTransport::new(url, None).unwrap_err().to_string();
        assert!(check("hub.example").ends_with("it is no URL, such as https://hub.example:8443"));
        assert!(check("ftp://hub.example").ends_with("it does not begin with https:// or http://"));
        assert!(check("https://me:secret@hub.example").ends_with("tokens don't belong into a URL"));
    }
}
