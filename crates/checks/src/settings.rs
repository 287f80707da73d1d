//! The settings of a check, as the configuration of the service resolves them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use model::secret::{Secret, SecretSource};
use reqwest::Url;
use reqwest::header::{HeaderName, HeaderValue};

use crate::limits::{COMMAND_TIMEOUT_MAX, INTERVAL, INTERVAL_MIN, REQUEST_TIMEOUT_MAX, TIMEOUT};
use crate::placeholders;
use crate::subject::CheckSubject;

/// The part of an address that stands for a placeholder, to find out where it is.
const MARK: &str = "kalypso-placeholder";

/// A check.
#[derive(Clone, Debug)]
pub struct CheckSettings {
    /// What is measured.
    pub kind: CheckKind,
    /// The time limit of a measurement.
    pub timeout: Duration,
    /// How long a measurement is used before it is repeated.
    pub interval: Duration,
}

/// What a check measures.
#[derive(Clone, Debug)]
pub enum CheckKind {
    /// The answer of an HTTP server.
    Http(HttpSettings),
    /// The value of a query of Prometheus.
    Prometheus(PrometheusSettings),
    /// The end of a command.
    Command(CommandSettings),
}

/// An HTTP request.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// The address. The placeholders `{environment}`, `{workload}`, `{revision}` and `{ring}` can be in its path and its query.
    pub url: String,
    /// The secret that the request sends.
    pub credential: Option<RequestCredential>,
}

/// A query of Prometheus.
#[derive(Clone, Debug)]
pub struct PrometheusSettings {
    /// The address of Prometheus, without `/api/v1/query`.
    pub url: String,
    /// The secret that the request sends.
    pub credential: Option<RequestCredential>,
    /// The query. The placeholders can be in its strings.
    pub query: String,
}

/// A secret with its header.
#[derive(Clone, Debug)]
pub struct RequestCredential {
    /// The header. None: `Authorization`, as a bearer token.
    pub header: Option<String>,
    /// The secret. Each measurement sends the current one.
    pub secret: SecretSource,
}

/// A command of the service's own configuration.
#[derive(Clone, Debug)]
pub struct CommandSettings {
    /// The absolute path of the program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The folder in which it runs.
    pub directory: PathBuf,
    /// Its variables, besides those about the change. Their values are removed from its output, except for paths.
    pub variables: Vec<(String, OsString)>,
}

/// The reason why a check can't be used. Messages contain no value that may be a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The address is not valid.
    #[error("`{key}` is no address, such as https://smoke.example/health")]
    Url {
        /// The key.
        key: &'static str,
    },
    /// The address has a user or a password.
    #[error("`{key}` has a user or a password: name a token with `token-env` or `token-file`")]
    SecretInUrl {
        /// The key.
        key: &'static str,
    },
    /// A secret would be sent without encryption.
    #[error("`{key}` begins with http://, so the token would be readable on the way: use https://")]
    NotEncrypted {
        /// The key.
        key: &'static str,
    },
    /// A placeholder is in the wrong part of an address.
    #[error("`{key}` has a placeholder outside of its path and query")]
    PlaceholderInHost {
        /// The key.
        key: &'static str,
    },
    /// A placeholder is outside of a string.
    #[error("`query` has {placeholder} outside of a string in \" or ': write {{env=\"{placeholder}\"}}")]
    PlaceholderOutsideOfString {
        /// The placeholder.
        placeholder: &'static str,
    },
    /// The query is empty.
    #[error("`query` is empty")]
    NoQuery,
    /// A header is not valid.
    #[error("`header` is not the name of a header, such as X-Api-Key")]
    Header,
    /// A secret can't be sent in a header.
    #[error("the token contains a line break or another control character")]
    Secret,
    /// The program has no absolute path.
    #[error("`command` begins with the absolute path of a program, such as /usr/local/bin/load-test")]
    Program,
    /// The time limit is too long.
    #[error("`timeout` is zero, or more than {0:?}")]
    Timeout(Duration),
    /// The interval is too short.
    #[error("`interval` is less than {0:?}")]
    Interval(Duration),
    /// The HTTP client can't be made.
    #[error("requests can't be sent: {0}")]
    Client(String),
}

impl CheckSettings {
    /// Settings with the usual times: 10 seconds for a measurement, which is used for 30 seconds.
    pub fn new(kind: CheckKind) -> Self {
        Self { kind, timeout: TIMEOUT, interval: INTERVAL }
    }

    /// Whether the settings can be used. Requests are not sent.
    ///
    /// # Errors
    /// If an address, a header, a query, a program or a time is not valid.
    pub fn check(&self) -> Result<(), SettingsError> {
        let timeout_max = match &self.kind {
            CheckKind::Http(http) => {
                address("url", &http.url, http.credential.as_ref())?;
                REQUEST_TIMEOUT_MAX
            }
            CheckKind::Prometheus(prometheus) => {
                prometheus.check()?;
                REQUEST_TIMEOUT_MAX
            }
            CheckKind::Command(command) if !command.program.is_absolute() => return Err(SettingsError::Program),
            CheckKind::Command(_) => COMMAND_TIMEOUT_MAX,
        };
        if self.timeout.is_zero() || self.timeout > timeout_max {
            return Err(SettingsError::Timeout(timeout_max));
        }
        if self.interval < INTERVAL_MIN {
            return Err(SettingsError::Interval(INTERVAL_MIN));
        }
        Ok(())
    }
}

impl CheckKind {
    /// What it is, for messages.
    pub(crate) fn title(&self) -> &'static str {
        match self {
            Self::Http(_) => "an HTTP request",
            Self::Prometheus(_) => "a query of Prometheus",
            Self::Command(_) => "a command",
        }
    }
}

impl PrometheusSettings {
    fn check(&self) -> Result<(), SettingsError> {
        if placeholders::has_any(&self.url) {
            return Err(SettingsError::PlaceholderInHost { key: "prometheus" });
        }
        address("prometheus", &self.url, self.credential.as_ref())?;
        if self.query.trim().is_empty() {
            return Err(SettingsError::NoQuery);
        }
        match placeholders::outside_of_strings(&self.query) {
            Some(placeholder) => Err(SettingsError::PlaceholderOutsideOfString { placeholder }),
            None => Ok(()),
        }
    }
}

impl RequestCredential {
    /// The header with the secret, which no log shows.
    pub(crate) fn to_header(&self, secret: &Secret) -> Result<(HeaderName, HeaderValue), SettingsError> {
        let secret = secret.reveal();
        let (name, value) = match &self.header {
            Some(name) => (name.parse().map_err(|_| SettingsError::Header)?, HeaderValue::from_str(secret)),
            None => (reqwest::header::AUTHORIZATION, HeaderValue::from_str(&format!("Bearer {secret}"))),
        };
        let mut value = value.map_err(|_| SettingsError::Secret)?;
        value.set_sensitive(true);
        Ok((name, value))
    }
}

/// Checks an address. A secret is sent with TLS only, except on this machine.
fn address(key: &'static str, text: &str, credential: Option<&RequestCredential>) -> Result<(), SettingsError> {
    let marked =
        CheckSubject::default().placeholders().iter().fold(text.to_owned(), |text, (name, _)| text.replace(name, MARK));
    let url: Url = marked.parse().map_err(|_| SettingsError::Url { key })?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(SettingsError::Url { key });
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(SettingsError::SecretInUrl { key });
    }
    if url.host_str().is_some_and(|host| host.contains(MARK)) {
        return Err(SettingsError::PlaceholderInHost { key });
    }
    let Some(credential) = credential else { return Ok(()) };
    if url.scheme() == "http" && !is_loopback(&url) {
        return Err(SettingsError::NotEncrypted { key });
    }
    credential.to_header(&credential.secret.current()).map(drop)
}

/// Whether the host of a URL is this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    url.host_str().is_some_and(model::network::is_loopback)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An address, with a secret in a header. An empty header is the usual one.
    fn http(url: &str, header: Option<&str>) -> Result<(), SettingsError> {
        let (secret, named) = (Secret::new("t0ken"), |name: &str| (!name.is_empty()).then(|| name.to_owned()));
        let credential = header.map(|header| RequestCredential { header: named(header), secret: secret.into() });
        CheckSettings::new(CheckKind::Http(HttpSettings { url: url.to_owned(), credential })).check()
    }

    fn prometheus(query: &str) -> Result<(), SettingsError> {
        let (url, query) = ("https://prom.example/prometheus".to_owned(), query.to_owned());
        CheckSettings::new(CheckKind::Prometheus(PrometheusSettings { url, credential: None, query })).check()
    }

    #[test]
    fn an_address_is_an_http_address_without_a_secret() {
        assert_eq!(http("http://smoke.example/{environment}?r={ring}", None), Ok(()));
        for wrong in ["smoke", "file:///etc/passwd", "ftp://smoke.example", ""] {
            assert_eq!(http(wrong, None), Err(SettingsError::Url { key: "url" }), "{wrong}");
        }
        assert_eq!(http("https://a:b@smoke.example", None), Err(SettingsError::SecretInUrl { key: "url" }));
        for wrong in ["https://{environment}.example", "https://smoke.example{ring}/"] {
            assert_eq!(http(wrong, None), Err(SettingsError::PlaceholderInHost { key: "url" }), "{wrong}");
        }
    }

    #[test]
    fn a_secret_is_sent_encrypted_or_to_this_machine() {
        for good in ["https://smoke.example", "http://127.0.0.1:9", "http://localhost/a", "http://[::1]:9/"] {
            assert_eq!(http(good, Some("")), Ok(()), "{good}");
        }
        assert_eq!(http("http://smoke.example", Some("")), Err(SettingsError::NotEncrypted { key: "url" }));
        assert_eq!(http("https://smoke.example", Some("X-Api-Key")), Ok(()));
        assert_eq!(http("https://smoke.example", Some("a b")), Err(SettingsError::Header));
    }

    #[test]
    fn a_query_has_placeholders_in_strings_only() {
        assert_eq!(prometheus("up{env=\"{environment}\"}"), Ok(()));
        assert_eq!(prometheus(" "), Err(SettingsError::NoQuery));
        let error = prometheus("{workload}:errors").unwrap_err().to_string();
        assert_eq!(error, "`query` has {workload} outside of a string in \" or ': write {env=\"{workload}\"}");
    }

    #[test]
    fn times_have_limits() {
        let kind = CheckKind::Command(CommandSettings {
            program: "/bin/true".into(),
            arguments: Vec::new(),
            directory: "/".into(),
            variables: Vec::new(),
        });
        let check = |timeout: u64, interval: u64| {
            let (timeout, interval) = (Duration::from_secs(timeout), Duration::from_secs(interval));
            CheckSettings { kind: kind.clone(), timeout, interval }.check().map_err(|error| error.to_string())
        };
        assert_eq!(check(1_800, 1), Ok(()));
        assert_eq!(check(1_801, 1), Err("`timeout` is zero, or more than 1800s".to_owned()));
        assert_eq!(check(0, 1), Err("`timeout` is zero, or more than 1800s".to_owned()));
        assert_eq!(check(1, 0), Err("`interval` is less than 1s".to_owned()));
    }
}
