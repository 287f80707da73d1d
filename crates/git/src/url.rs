//! URLs of repositories: which URLs are allowed, and which parts of them are never shown.

use std::fmt;
use std::sync::Arc;

/// The maximum length of a URL, in bytes. The limits of git hosts are much lower.
const URL_BYTES_MAX: usize = 2_048;

/// The URL of a repository, or the path of a local one, as objects or the configuration write it, but without a credential.
///
/// It identifies the repository, and messages show it. Git may connect to another address: [`Settings`](crate::Settings) can rewrite URLs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepositoryUrl(Arc<str>);

/// The reason why a text is not a valid repository URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// The text is empty.
    #[error("it is empty")]
    Empty,
    /// The text is longer than 2,048 bytes.
    #[error("it is longer than {URL_BYTES_MAX} bytes")]
    TooLong,
    /// The text contains a blank, a control character or a backslash.
    #[error("it contains a blank, a control character or a backslash")]
    Character,
    /// The URL, its user, its host or its path begins with a dash. A program could read it as an option.
    #[error("a part of it begins with a dash")]
    Dash,
    /// The URL names a transport helper. Git would run it as a program.
    #[error("it names a transport helper")]
    TransportHelper,
    /// The scheme is not allowed. Objects may use only `https` and `ssh`.
    #[error("only `https` and `ssh` are allowed")]
    Scheme,
    /// The text is a path of this machine.
    #[error("it is a path, not a URL")]
    Local,
    /// The URL begins with `file://`.
    #[error("`file://` leads to a path of this machine; only `https` and `ssh` are allowed")]
    File,
    /// The URL has no host, or the host has invalid characters or an invalid port.
    #[error("it has no host, or an invalid one")]
    Host,
    /// The URL has no path.
    #[error("it names no repository on its host")]
    NoPath,
    /// The path contains a segment `..` or `.`.
    #[error("its path contains `..` or `.`")]
    Upwards,
    /// The URL contains a password or token.
    #[error("it contains a password or token")]
    Credential,
    /// The URL has a query or a fragment.
    #[error("it has a query or a fragment")]
    Query,
}

impl RepositoryUrl {
    /// Checks a URL of an object: `https://…`, `ssh://…` or `user@host:path`.
    ///
    /// The user name of an `https` URL is removed: it does not identify the repository, and may be a token.
    ///
    /// # Errors
    /// If the text has any other form, in particular that of a local path or a transport helper.
    pub fn from_object(text: &str) -> Result<Self, UrlError> {
        match Parts::parse(text)? {
            parts if matches!(parts.scheme, Scheme::Https | Scheme::Ssh) => Ok(parts.url()),
            parts if parts.scheme == Scheme::Local => {
                let is_url = text.get(.."file://".len()).is_some_and(|begin| begin.eq_ignore_ascii_case("file://"));
                Err(if is_url { UrlError::File } else { UrlError::Local })
            }
            _ => Err(UrlError::Scheme),
        }
    }

    /// Checks a URL or path of the configuration. `http://`, `file://` and local paths are also allowed.
    ///
    /// # Errors
    /// If the text is empty or too long, has a forbidden character, begins with a dash, names a transport helper, contains a credential, or is
    /// malformed.
    pub fn from_configuration(text: &str) -> Result<Self, UrlError> {
        Parts::parse(text).map(|parts| parts.url())
    }

    /// The URL as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The short name for messages: the last part of the path, without `.git`.
    pub fn label(&self) -> Arc<str> {
        let path = self.0.trim_end_matches(['/', '\\']);
        let last = path.rsplit(['/', '\\', ':']).next().unwrap_or(path);
        last.strip_suffix(".git").filter(|name| !name.is_empty()).unwrap_or(last).into()
    }
}

/// The URL of a repository as an object writes it, but without a credential, for output.
pub fn without_credential(text: &str) -> String {
    if model::credential::ranges_of_url(text).is_empty() {
        return text.to_owned();
    }
    match RepositoryUrl::from_configuration(text) {
        Ok(url) => url.as_str().to_owned(),
        Err(_) => model::credential::without_in_url(text).into_owned(),
    }
}

impl fmt::Display for RepositoryUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The host and path of a repository, independent of the protocol and the notation. The result is equal for `git@git.example:acme/app.git` and
/// `https://git.example/acme/app/`. None if the text is not a valid URL.
pub(crate) fn host_and_path(text: &str) -> Option<String> {
    let parts = Parts::parse(text).ok()?;
    let path = parts.path.trim_end_matches('/').trim_end_matches(".git");
    // Names of hosts do not differ in upper and lower case.
    let host = parts.host.to_lowercase();
    Some(match parts.port {
        22 | 80 | 443 => format!("{host}/{}", path.trim_start_matches('/')),
        0 => path.to_owned(),
        port => format!("{host}:{port}/{path}"),
    })
}

/// The protocol of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scheme {
    /// `https://`
    Https,
    /// `http://`
    Http,
    /// `ssh://`, or `user@host:path`
    Ssh,
    /// `file://`, or a path
    Local,
}

/// The parts of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parts<'a> {
    /// The protocol.
    pub(crate) scheme: Scheme,
    /// The user of an `ssh` URL; empty if there is none.
    user: &'a str,
    /// The host in lower case; empty for paths.
    pub(crate) host: String,
    /// The port of the URL, or the default port of the scheme. 0 for local paths.
    pub(crate) port: u16,
    /// The path without leading and trailing slashes. A local path is not changed.
    pub(crate) path: &'a str,
    is_scp: bool,
}

impl<'a> Parts<'a> {
    /// Splits a URL or path into its parts.
    ///
    /// # Errors
    /// If the URL is not safe to pass to git.
    pub(crate) fn parse(text: &'a str) -> Result<Self, UrlError> {
        check_characters(text)?;
        match text.split_once("://") {
            Some((scheme, rest)) if !scheme.contains([':', '/']) => {
                let scheme = match scheme.to_ascii_lowercase().as_str() {
                    "https" => Scheme::Https,
                    "http" => Scheme::Http,
                    "ssh" | "git+ssh" | "ssh+git" => Scheme::Ssh,
                    "file" => return Ok(Self::local(rest)),
                    _ => return Err(UrlError::Scheme),
                };
                Self::with_authority(scheme, rest)
            }
            _ => Self::without_scheme(text),
        }
    }

    fn local(path: &'a str) -> Self {
        Self { scheme: Scheme::Local, user: "", host: String::new(), port: 0, path, is_scp: false }
    }

    fn with_authority(scheme: Scheme, rest: &'a str) -> Result<Self, UrlError> {
        let (authority, path) = rest.split_once('/').ok_or(UrlError::NoPath)?;
        let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        if user.contains(':') {
            return Err(UrlError::Credential);
        }
        let (host, port) = split_port(host)?;
        let default = match scheme {
            Scheme::Https => 443,
            Scheme::Http => 80,
            Scheme::Ssh | Scheme::Local => 22,
        };
        let user = if scheme == Scheme::Ssh { user } else { "" };
        let parts = Self {
            scheme,
            user,
            host: host.to_ascii_lowercase(),
            port: port.unwrap_or(default),
            path: path.trim_matches('/'),
            is_scp: false,
        };
        parts.checked()
    }

    /// Parses `user@host:path`, or a path.
    fn without_scheme(text: &'a str) -> Result<Self, UrlError> {
        let is_drive = |host: &str| host.len() == 1;
        let Some((host, path)) = text.split_once(':').filter(|(host, _)| !host.contains('/') && !is_drive(host)) else {
            return Ok(Self::local(text));
        };
        if path.starts_with(':') {
            return Err(UrlError::TransportHelper);
        }
        let (user, host) = host.split_once('@').ok_or(UrlError::Scheme)?;
        let parts = Self {
            scheme: Scheme::Ssh,
            user,
            host: host.to_ascii_lowercase(),
            port: 22,
            path: path.trim_end_matches('/'),
            is_scp: true,
        };
        parts.checked()
    }

    fn checked(self) -> Result<Self, UrlError> {
        if [self.user, &self.host, self.path].iter().any(|part| part.starts_with('-')) {
            return Err(UrlError::Dash);
        }
        let is_host = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '[' | ']' | ':');
        if self.host.is_empty() || !self.host.chars().all(is_host) {
            return Err(UrlError::Host);
        }
        if self.path.is_empty() {
            return Err(UrlError::NoPath);
        }
        if self.path.contains(['?', '#']) {
            return Err(UrlError::Query);
        }
        // A server may decode `%2e` before it resolves the path.
        let path = self.path.to_ascii_lowercase().replace("%2e", ".").replace("%2f", "/");
        if path.split('/').any(|segment| matches!(segment, "." | "..")) {
            return Err(UrlError::Upwards);
        }
        Ok(self)
    }

    /// The URL without the parts that may be a credential.
    pub(crate) fn url(&self) -> RepositoryUrl {
        let Self { user, host, path, .. } = self;
        let scheme = match self.scheme {
            Scheme::Local => return RepositoryUrl((*path).into()),
            Scheme::Ssh if self.is_scp => return RepositoryUrl(format!("{user}@{host}:{path}").into()),
            Scheme::Https => "https",
            Scheme::Http => "http",
            Scheme::Ssh => "ssh",
        };
        let at = if user.is_empty() { "" } else { "@" };
        let is_usual =
            matches!((self.scheme, self.port), (Scheme::Https, 443) | (Scheme::Http, 80) | (Scheme::Ssh, 22));
        let port = if is_usual { String::new() } else { format!(":{}", self.port) };
        RepositoryUrl(format!("{scheme}://{user}{at}{host}{port}/{path}").into())
    }

    /// Whether `self` equals `other` or is below it: same scheme, host and port, and `other`'s path is a prefix by whole segments.
    pub(crate) fn is_at_or_below(&self, other: &Parts<'_>) -> bool {
        let plain = |path: &str| path.strip_suffix(".git").unwrap_or(path).to_owned();
        let (own, above) = (plain(self.path), plain(other.path));
        let is_below = above.is_empty() || own == above || own.starts_with(&format!("{}/", other.path));
        let is_same = (self.scheme, &self.host, self.port) == (other.scheme, &other.host, other.port);
        self.scheme != Scheme::Local && is_same && is_below
    }

    /// Parses a URL prefix. It is a URL whose path may be empty.
    pub(crate) fn parse_prefix(text: &'a str) -> Result<Self, UrlError> {
        match Self::parse(text) {
            Err(UrlError::NoPath) => {
                let (scheme, host) = text.split_once("://").ok_or(UrlError::Scheme)?;
                let scheme = match scheme.to_ascii_lowercase().as_str() {
                    "https" => Scheme::Https,
                    "http" => Scheme::Http,
                    _ => return Err(UrlError::Scheme),
                };
                let (host, port) = split_port(host.trim_end_matches('/'))?;
                let port = port.unwrap_or(if scheme == Scheme::Https { 443 } else { 80 });
                Ok(Self { scheme, user: "", host: host.to_ascii_lowercase(), port, path: "", is_scp: false })
            }
            other => other,
        }
    }
}

/// Checks the rules for all URLs and paths: length, first character, forbidden characters.
fn check_characters(text: &str) -> Result<(), UrlError> {
    if text.is_empty() {
        return Err(UrlError::Empty);
    }
    if text.len() > URL_BYTES_MAX {
        return Err(UrlError::TooLong);
    }
    if text.starts_with('-') {
        return Err(UrlError::Dash);
    }
    let is_drive = text.get(1..3) == Some(":\\");
    let is_local = is_drive || !text.contains(':');
    let is_bad = |c: char| c.is_control() || (!is_local && (c.is_whitespace() || c == '\\'));
    if text.chars().any(is_bad) { Err(UrlError::Character) } else { Ok(()) }
}

/// Splits `host`, `host:port` and `[::1]:port`.
fn split_port(host: &str) -> Result<(&str, Option<u16>), UrlError> {
    let after_bracket = host.rfind(']').map_or(0, |bracket| bracket + 1);
    let tail = host.get(after_bracket..).unwrap_or_default();
    let Some(colon) = tail.find(':') else { return Ok((host, None)) };
    let (name, port) =
        (host.get(..after_bracket + colon).unwrap_or_default(), tail.get(colon + 1..).unwrap_or_default());
    let port = port.parse::<u16>().ok().filter(|port| *port > 0).ok_or(UrlError::Host)?;
    Ok((name, Some(port)))
}

/// Fuzz target: parses the text as an object's URL, as a configured URL and as a prefix. It must not panic. An accepted URL must be shown without a
/// credential, and must be accepted again.
#[cfg(feature = "fuzz")]
pub fn fuzz(text: &str) {
    let _ = Parts::parse_prefix(text);
    let _ = RepositoryUrl::from_configuration(text);
    if let Ok(url) = RepositoryUrl::from_object(text) {
        let again = RepositoryUrl::from_object(url.as_str());
        assert_eq!(again.as_ref(), Ok(&url), "{text:?}");
        let after_scheme = url.as_str().trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "+-.".contains(c));
        assert!(!url.as_str().starts_with('-') && !after_scheme.starts_with("::"), "{text:?}");
        let _ = url.label();
    }
}

#[cfg(test)]
mod tests;
