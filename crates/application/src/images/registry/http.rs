//! Sends requests to registries: within limits, and with redirects that get no credential of another server.

use std::io::Read as _;
use std::time::{Duration, Instant};

use model::network::{self, root_cause};
use reqwest::blocking::{Client, Response};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use reqwest::{Method, StatusCode, Url};

use super::RegistryError;
use crate::limits::REGISTRY_REDIRECTS_MAX;

/// The number of bytes that are read at a time.
const CHUNK_BYTES: usize = 16 << 10;

/// Clients for other machines and for this one.
#[derive(Debug)]
pub(super) struct RegistryClients {
    remote: Client,
    /// Uses no proxy: it can't reach this machine.
    local: Client,
}

/// The time in which an image must have its digest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline {
    end: Instant,
    limit: Duration,
}

/// A request.
#[derive(Clone, Debug)]
pub(super) struct RegistryRequest {
    pub(super) method: Method,
    pub(super) url: Url,
    /// The media types that the answer may have.
    pub(super) accept: &'static str,
    /// Goes only to the server of `url`.
    pub(super) authorization: Option<HeaderValue>,
    /// The fields of a form. A request with a form follows no redirect.
    pub(super) form: Option<String>,
    /// The maximum size of the answer, in bytes.
    pub(super) bytes_max: u64,
}

/// An answer.
#[derive(Debug)]
pub(super) struct RegistryAnswer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

impl Deadline {
    pub(super) fn after(limit: Duration) -> Self {
        Self { end: Instant::now() + limit, limit }
    }

    /// The time that is left.
    fn left(self) -> Result<Duration, RegistryError> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(self.error()) } else { Ok(left) }
    }

    fn error(self) -> RegistryError {
        RegistryError::TimedOut(self.limit)
    }
}

impl RegistryClients {
    pub(super) fn new() -> Result<Self, RegistryError> {
        // It fails only if a provider is already installed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = || {
            // Redirects are followed here, because they could lead a credential to another host.
            let builder = Client::builder().redirect(reqwest::redirect::Policy::none());
            builder.user_agent(concat!("kalypso/", env!("CARGO_PKG_VERSION")))
        };
        let wrong = |error: reqwest::Error| RegistryError::Settings(root_cause(&error.without_url()));
        Ok(Self { remote: builder().build().map_err(wrong)?, local: builder().no_proxy().build().map_err(wrong)? })
    }

    /// Sends a request, follows redirects, and reads the answer.
    pub(super) fn send(&self, request: &RegistryRequest, deadline: Deadline) -> Result<RegistryAnswer, RegistryError> {
        let mut request = request.clone();
        for _ in 0..=REGISTRY_REDIRECTS_MAX {
            let response = self.sent(&request, deadline)?;
            if !response.status().is_redirection() || request.form.is_some() {
                return received(response, request.bytes_max, deadline);
            }
            let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
            let to = to.and_then(|to| request.url.join(to).ok()).ok_or(RegistryError::Redirected)?;
            let is_same = to.origin() == request.url.origin();
            if to.scheme() != "https" && !is_same {
                return Err(RegistryError::Redirected);
            }
            request.authorization = request.authorization.filter(|_| is_same);
            request.url = to;
        }
        Err(RegistryError::Redirected)
    }

    fn sent(&self, request: &RegistryRequest, deadline: Deadline) -> Result<Response, RegistryError> {
        let RegistryRequest { method, url, accept, authorization, form, .. } = request;
        let client = if is_loopback(url) { &self.local } else { &self.remote };
        let mut builder = client.request(method.clone(), url.clone()).timeout(deadline.left()?).header(ACCEPT, *accept);
        if let Some(authorization) = authorization {
            builder = builder.header(AUTHORIZATION, authorization);
        }
        if let Some(form) = form {
            builder = builder.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(form.clone());
        }
        builder.send().map_err(|error| {
            let is_late = error.is_timeout();
            if is_late { deadline.error() } else { RegistryError::Unreachable(root_cause(&error.without_url())) }
        })
    }
}

fn received(mut response: Response, bytes_max: u64, deadline: Deadline) -> Result<RegistryAnswer, RegistryError> {
    let (status, headers) = (response.status(), response.headers().clone());
    let (mut body, mut chunk) = (Vec::new(), vec![0; CHUNK_BYTES]);
    // The body of an error is not used.
    while status.is_success() {
        deadline.left()?;
        match response.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => body.extend_from_slice(chunk.get(..read).unwrap_or_default()),
            Err(error) => {
                deadline.left()?;
                return Err(RegistryError::Unreachable(root_cause(&error)));
            }
        }
        if body.len() as u64 > bytes_max {
            return Err(RegistryError::TooMuch(bytes_max));
        }
    }
    Ok(RegistryAnswer { status, headers, body })
}

/// Whether the host of a URL is this machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    url.host_str().is_some_and(network::is_loopback)
}
