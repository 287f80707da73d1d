//! Sends one request: without redirects, and within limits.

use std::io::Read as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use model::secret::Secret;
use reqwest::blocking::Client;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{StatusCode, Url};

use crate::limits::ANSWER_BYTES_MAX;
use crate::measurement::{HttpAnswer, Measured, Measurement};
use crate::settings::{HttpSettings, RequestCredential, SettingsError, is_loopback};
use crate::text::{root_cause, shown};

/// The number of bytes that are read at a time.
const CHUNK_BYTES: usize = 16 << 10;

/// Clients for other machines and for this one.
#[derive(Clone, Debug)]
pub(crate) struct Clients {
    remote: Client,
    /// Uses no proxy: it can't reach this machine.
    local: Client,
}

impl Clients {
    pub(crate) fn new() -> Result<Self, SettingsError> {
        // It fails only if a provider is already installed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = || {
            // A redirect could send the secret to another host.
            let builder = Client::builder().redirect(reqwest::redirect::Policy::none());
            builder.user_agent(concat!("kalypso/", env!("CARGO_PKG_VERSION")))
        };
        let wrong = |error: reqwest::Error| SettingsError::Client(root_cause(&error.without_url()));
        Ok(Self { remote: builder().build().map_err(wrong)?, local: builder().no_proxy().build().map_err(wrong)? })
    }

    /// Sends a request, and reads the answer. The error says why there is none, without the address, which may contain a secret.
    pub(crate) fn get(
        &self,
        url: Url,
        credential: Option<&RequestCredential>,
        timeout: Duration,
    ) -> Result<HttpAnswer, String> {
        let Some(credential) = credential else { return self.send(url, None, timeout) };
        let send = |secret: &Secret| {
            let header = credential.to_header(secret).map_err(|error| error.to_string())?;
            let sent = self.send(url.clone(), Some(header), timeout);
            sent.map(|answer| answer.without(secret)).map_err(|reason| secret.removed_from(&reason))
        };
        let used = credential.secret.current();
        let answer = send(&used)?;
        let fresh = credential.secret.replaced(&used).filter(|_| answer.status == StatusCode::UNAUTHORIZED.as_u16());
        fresh.map_or(Ok(answer), |fresh| send(&fresh))
    }

    fn send(
        &self,
        url: Url,
        header: Option<(HeaderName, HeaderValue)>,
        timeout: Duration,
    ) -> Result<HttpAnswer, String> {
        let end = Instant::now() + timeout;
        let client = if is_loopback(&url) { &self.local } else { &self.remote };
        let request = client.get(url).timeout(timeout).header(ACCEPT, "application/json, */*;q=0.5");
        let request = match header {
            Some((name, value)) => request.header(name, value),
            None => request,
        };
        let mut response = request.send().map_err(|error| reason(error, timeout))?;
        let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).map(shown);
        let (status, mut body, mut chunk) = (response.status().as_u16(), Vec::new(), vec![0; CHUNK_BYTES]);
        let body = loop {
            match response.read(&mut chunk) {
                Ok(0) => break Ok(Arc::from(body)),
                Ok(read) => body.extend_from_slice(chunk.get(..read).unwrap_or_default()),
                Err(_) if Instant::now() >= end => break Err(timed_out(timeout)),
                Err(error) => break Err(format!("the answer is not complete: {}", root_cause(&error))),
            }
            if body.len() > ANSWER_BYTES_MAX {
                break Err(format!("the answer has more than {} MiB", ANSWER_BYTES_MAX >> 20));
            }
            if Instant::now() >= end {
                break Err(timed_out(timeout));
            }
        };
        Ok(HttpAnswer { status, content_type, body })
    }
}

/// Measures a check.
pub(crate) fn measure(clients: &Clients, settings: &HttpSettings, url: &str, timeout: Duration) -> Measured {
    let url = url.parse().map_err(|_| "its address is not valid with the names of this change".to_owned())?;
    clients.get(url, settings.credential.as_ref(), timeout).map(Measurement::Http)
}

pub(crate) fn timed_out(timeout: Duration) -> String {
    format!("timed out after {}", seconds(timeout))
}

/// A duration in the largest unit that divides it.
fn seconds(duration: Duration) -> String {
    match (duration.as_secs(), duration.subsec_millis()) {
        (0, millis) => format!("{millis} ms"),
        (secs, 0) if secs % 60 == 0 => format!("{} min", secs / 60),
        (secs, 0) => format!("{secs} s"),
        (secs, millis) => format!("{secs}.{millis:03} s"),
    }
}

fn reason(error: reqwest::Error, timeout: Duration) -> String {
    if error.is_timeout() {
        return timed_out(timeout);
    }
    let cause = root_cause(&error.without_url());
    format!("the server can't be reached: {cause}")
}
