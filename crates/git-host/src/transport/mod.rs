//! Sends calls to one host: only there, within limits, and repeated only where that is safe.

mod answer;
mod call;
mod counters;
mod gate;

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use model::secret::{Secret, SecretSource};
use reqwest::blocking::{Client, Response};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Method, StatusCode, Url};
use retry::{Jitter, RetryLimit, RetryPolicy};
use serde::de::DeserializeOwned;

use self::answer::BodyError;
pub(crate) use self::answer::{Answer, shown};
pub(crate) use self::call::Call;
use self::counters::CallCounters;
use self::gate::{Gate, Now};
use crate::calls::CallCounts;
use crate::error::HostError;
use crate::limits::{ANSWER_BYTES_MAX, LIST_BYTES_MAX, LOOK_PAUSE, LOOKS_MAX, PAGES_MAX, REDIRECTS_MAX, TIMEOUT};
use crate::rate_limit::RateLimit;
use crate::settings::{HostSettings, Patience};

/// The pauses after failures of the host.
const RETRY: RetryPolicy = RetryPolicy {
    first: Duration::from_millis(500),
    factor: 3,
    longest: Duration::from_secs(10),
    jitter: Jitter::HALF,
    limit: RetryLimit::None,
};

/// The variation of the pauses that a host names. They are never shortened.
const NAMED_PAUSE: Jitter = Jitter { from: 1.0, to: 1.1 };

/// Sends the calls to one host.
pub(crate) struct Transport {
    http: Client,
    base: Url,
    patience: Patience,
    gate: Mutex<Gate>,
    counters: CallCounters,
}

/// The header with which a request proves its rights.
#[derive(Clone)]
pub(crate) struct Authorization {
    name: &'static str,
    value: fn(&Secret) -> String,
    secret: SecretSource,
}

/// The header of one request.
struct Header {
    name: HeaderName,
    value: HeaderValue,
    secret: Secret,
}

/// The attempts of one call.
struct Attempts<'t> {
    transport: &'t Transport,
    call: &'t Call,
    failures: u32,
    waited: Duration,
}

impl Authorization {
    /// A header with a secret in its value. Each request contains the current secret.
    ///
    /// # Errors
    /// If the secret contains characters that no header can contain, such as a line break.
    pub(crate) fn new(
        name: &'static str,
        value: fn(&Secret) -> String,
        secret: SecretSource,
    ) -> Result<Self, HostError> {
        let authorization = Self { name, value, secret };
        authorization.header(authorization.secret.current())?;
        Ok(authorization)
    }

    fn header(&self, secret: Secret) -> Result<Header, HostError> {
        let wrong = |_| {
            HostError::Settings(
                "the token of the git host contains a line break or another control character".to_owned(),
            )
        };
        let mut value = HeaderValue::from_str(&(self.value)(&secret)).map_err(wrong)?;
        value.set_sensitive(true);
        Ok(Header { name: HeaderName::from_static(self.name), value, secret })
    }
}

impl fmt::Debug for Authorization {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Authorization({})", self.name)
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Transport({})", self.base)
    }
}

impl Transport {
    pub(crate) fn new(settings: &HostSettings) -> Result<Self, HostError> {
        // It fails only if a provider is already installed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let base = settings.api()?;
        let builder = Client::builder().user_agent(concat!("kalypso/", env!("CARGO_PKG_VERSION")));
        // Redirects are followed here, and only within the host.
        let builder = builder.redirect(reqwest::redirect::Policy::none());
        // A proxy can't reach a host on this machine.
        let builder = if is_loopback(&base) { builder.no_proxy() } else { builder };
        let http = builder.connect_timeout(TIMEOUT).timeout(TIMEOUT).build();
        let http = http.map_err(|error| HostError::Settings(answer::root_cause(&error)))?;
        Ok(Self {
            http,
            base,
            patience: settings.patience.clone(),
            gate: Mutex::default(),
            counters: CallCounters::default(),
        })
    }

    /// The address of the API.
    pub(crate) fn base(&self) -> &Url {
        &self.base
    }

    /// The calls so far.
    pub(crate) fn calls(&self) -> CallCounts {
        self.counters.counts()
    }

    pub(crate) fn rate_limit(&self) -> Option<RateLimit> {
        self.gate().limit
    }

    /// Sends a call, and reads its answer as JSON.
    pub(crate) fn read<T: DeserializeOwned>(
        &self,
        call: &Call,
        authorization: Option<&Authorization>,
    ) -> Result<T, HostError> {
        self.send(call, authorization)?.json()
    }

    /// Reads all pages of a list. `has_next` decides whether another page follows the given one.
    pub(crate) fn pages<T: DeserializeOwned>(
        &self,
        page: impl Fn(u32) -> Call,
        authorization: Option<&Authorization>,
        has_next: impl Fn(&Answer, &T) -> bool,
    ) -> Result<Vec<T>, HostError> {
        let (mut pages, mut bytes) = (Vec::new(), 0);
        for number in 1..=PAGES_MAX {
            let answer = self.send(&page(number), authorization)?;
            bytes += answer.body.len();
            if bytes > LIST_BYTES_MAX {
                break;
            }
            let content = answer.json()?;
            let is_last = !has_next(&answer, &content);
            pages.push(content);
            if is_last {
                return Ok(pages);
            }
        }
        Err(HostError::TooMany { call: page(1).shown(), pages: PAGES_MAX })
    }

    /// Reads something until the host has computed it in the background, or for the last time.
    pub(crate) fn read_settled<T>(
        &self,
        read: impl Fn() -> Result<T, HostError>,
        is_settled: impl Fn(&T) -> bool,
    ) -> Result<T, HostError> {
        for _ in 1..LOOKS_MAX {
            let found = read()?;
            if is_settled(&found) || !self.patience.wait.wait(LOOK_PAUSE) {
                return Ok(found);
            }
        }
        read()
    }

    /// The error of an answer whose body says that there were too many requests.
    pub(crate) fn limited(answer: &Answer) -> HostError {
        let retry_at = Gate::reset_of(&answer.headers, Now::read());
        HostError::RateLimited { call: answer.call.clone(), retry_at }
    }

    /// Sends a call, waits and repeats it within the patience. An answer without success is an error.
    pub(crate) fn send(&self, call: &Call, authorization: Option<&Authorization>) -> Result<Answer, HostError> {
        let mut attempts = Attempts { transport: self, call, failures: 0, waited: Duration::ZERO };
        loop {
            attempts.wait_at_gate()?;
            match self.attempt(call, authorization) {
                Ok(answer) => return Ok(answer),
                Err(error) => attempts.wait_after(error)?,
            }
        }
    }

    /// Sends a call once, and counts it.
    #[tracing::instrument(name = "git host call", skip_all, fields(call = call.shown(), status))]
    fn attempt(&self, call: &Call, authorization: Option<&Authorization>) -> Result<Answer, HostError> {
        let Some(authorization) = authorization else { return self.receive(call, None) };
        let used = authorization.header(authorization.secret.current())?;
        let result = self.receive(call, Some(&used));
        // Another attempt is worth it only if the secret was replaced since.
        let fresh = authorization.secret.replaced(&used.secret).filter(|_| is_unauthorized(&result));
        match fresh {
            Some(fresh) => self.receive(call, Some(&authorization.header(fresh)?)),
            None => result,
        }
    }

    fn receive(&self, call: &Call, header: Option<&Header>) -> Result<Answer, HostError> {
        let result = self.received(call, header);
        self.counters.count(&result);
        result
    }

    fn received(&self, call: &Call, header: Option<&Header>) -> Result<Answer, HostError> {
        let (response, shown) = (self.execute(call, header)?, call.shown());
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        tracing::Span::current().record("status", status);
        self.gate().observe(&headers, Now::read());
        let body = answer::read_body(response).map_err(|error| match error {
            BodyError::Ended(reason) => HostError::Unreachable { call: shown.clone(), reason, is_sent: true },
            BodyError::TooLarge => {
                let reason = format!("it has more than {} MiB", ANSWER_BYTES_MAX >> 20);
                HostError::Unexpected { call: shown.clone(), status, reason }
            }
        })?;
        let answer = Answer { call: shown, status, headers, body };
        if (200..300).contains(&status) {
            return Ok(answer);
        }
        let message = answer::message(&answer.body);
        let message = header.map_or(message.clone(), |header| header.secret.removed_from(&message));
        Err(self.refusal(answer, message))
    }

    /// The error of an answer without success.
    fn refusal(&self, Answer { call, status, headers, .. }: Answer, message: String) -> HostError {
        if gate::is_limited(status, &headers, &message) {
            let (mut gate, now) = (self.gate(), Now::read());
            gate.refuse(&headers, now);
            return HostError::RateLimited { call, retry_at: now.after(gate.pause(now).unwrap_or_default()) };
        }
        if status >= 500 {
            return HostError::Failed { call, status, message };
        }
        HostError::Refused { call, status, message }
    }

    /// Sends a request, and follows redirects within the host.
    fn execute(&self, call: &Call, header: Option<&Header>) -> Result<Response, HostError> {
        let mut url = call.url(&self.base);
        for _ in 0..=REDIRECTS_MAX {
            let response = self.request(call, url.clone(), header)?;
            let is_redirect = matches!(response.status().as_u16(), 301 | 302 | 307 | 308);
            let location = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
            let Some(to) = location.filter(|_| is_redirect).and_then(|to| url.join(to).ok()) else {
                return Ok(response);
            };
            if to.origin() != self.base.origin() {
                let to = answer::shown(&to.origin().ascii_serialization());
                return Err(HostError::Redirected { call: call.shown(), to });
            }
            // A 302 after a request that changes something has no common meaning.
            if response.status() == StatusCode::FOUND && call.method != Method::GET {
                return Ok(response);
            }
            url = to;
        }
        let reason = format!("more than {REDIRECTS_MAX} redirects");
        Err(HostError::Unexpected { call: call.shown(), status: 302, reason })
    }

    fn request(&self, call: &Call, url: Url, header: Option<&Header>) -> Result<Response, HostError> {
        let mut request = self.http.request(call.method.clone(), url).header(ACCEPT, "application/json");
        for (name, value) in &call.headers {
            // A header of the call replaces the usual one.
            let headers = HeaderMap::from_iter([(HeaderName::from_static(name), HeaderValue::from_static(value))]);
            request = request.headers(headers);
        }
        if let Some(Header { name, value, .. }) = header {
            request = request.header(name, value);
        }
        if let Some(body) = &call.body {
            let has_type = call.headers.iter().any(|(name, _)| *name == CONTENT_TYPE.as_str());
            request = if has_type { request } else { request.header(CONTENT_TYPE, "application/json") };
            request = request.body(body.to_string());
        }
        request.send().map_err(|error| HostError::Unreachable {
            call: call.shown(),
            reason: answer::root_cause(&error),
            is_sent: !error.is_connect() && !error.is_builder(),
        })
    }

    fn gate(&self) -> MutexGuard<'_, Gate> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a host did not accept the secret. Azure DevOps answers with 203 or with a redirect to a page for people then.
fn is_unauthorized(result: &Result<Answer, HostError>) -> bool {
    match result {
        Ok(answer) => answer.status == StatusCode::NON_AUTHORITATIVE_INFORMATION.as_u16(),
        Err(HostError::Refused { status, .. }) => matches!(status, 302 | 401 | 403),
        Err(error) => matches!(error, HostError::Redirected { .. }),
    }
}

/// Whether the host of a URL is this machine.
fn is_loopback(url: &Url) -> bool {
    url.host_str().is_some_and(model::network::is_loopback)
}

impl Attempts<'_> {
    /// Waits until the host accepts requests again.
    fn wait_at_gate(&mut self) -> Result<(), HostError> {
        let now = Now::read();
        let closed = self.transport.gate().pause(now);
        let Some(named) = closed else { return Ok(()) };
        let pause = NAMED_PAUSE.vary(named);
        if self.waited + pause > self.transport.patience.wait_max {
            return Err(HostError::RateLimited { call: self.call.shown(), retry_at: now.after(named) });
        }
        self.wait(pause)?;
        self.transport.gate().open((now, named));
        Ok(())
    }

    /// Waits before the next attempt. Returns the error if there is none.
    fn wait_after(&mut self, error: HostError) -> Result<(), HostError> {
        self.failures += 1;
        let patience = &self.transport.patience;
        if self.failures >= patience.attempts {
            return Err(error);
        }
        if matches!(error, HostError::RateLimited { .. }) {
            // The gate is closed; the wait is there.
            return Ok(());
        }
        let is_unsent = matches!(error, HostError::Unreachable { is_sent: false, .. });
        let is_safe = is_unsent || (self.call.is_repeatable && error.is_temporary());
        let pause = RETRY.pause(self.failures);
        if !is_safe || self.waited + pause > patience.wait_max {
            return Err(error);
        }
        self.wait(pause)
    }

    fn wait(&mut self, pause: Duration) -> Result<(), HostError> {
        self.waited += pause;
        let is_continued = self.transport.patience.wait.wait(pause);
        if is_continued { Ok(()) } else { Err(HostError::Stopped { call: self.call.shown() }) }
    }
}
