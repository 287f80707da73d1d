//! The URLs of repositories: which are allowed, and what is never shown of them.

use std::fmt;
use std::sync::Arc;

/// The most bytes that a URL may have. Git hosts refuse much shorter ones.
const URL_BYTES_MAX: usize = 2_048;

/// The URL of a repository, or the path of one on this machine, as objects or configuration write it but without a credential.
///
/// It is an identity and a name for messages. Where the repository really is, after rewriting, only [`Settings`](crate::Settings) know.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepositoryUrl(Arc<str>);

/// Why a text is not the URL of a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// Nothing is there.
    #[error("it is empty")]
    Empty,
    /// It is longer than any host allows.
    #[error("it is longer than {URL_BYTES_MAX} bytes")]
    TooLong,
    /// It holds a blank, a control character or a backslash.
    #[error("it holds a blank, a control character or a backslash")]
    Character,
    /// It, its user, host or path begins with a dash, which a program could take for an option.
    #[error("a part of it begins with a dash")]
    Dash,
    /// It names a transport helper, which is a program to run.
    #[error("it names a transport helper")]
    TransportHelper,
    /// Its scheme is neither `https` nor `ssh`.
    #[error("only `https` and `ssh` are allowed")]
    Scheme,
    /// It is a path of this machine.
    #[error("it is a path, not a URL")]
    Local,
    /// It is a `file://` URL.
    #[error("`file://` leads to a path of this machine; only `https` and `ssh` are allowed")]
    File,
    /// It has no host.
    #[error("it has no host, or one that can't be")]
    Host,
    /// It has no path.
    #[error("it names no repository on its host")]
    NoPath,
    /// Its path leads upwards.
    #[error("its path holds `..` or `.`")]
    Upwards,
    /// It holds a password or token.
    #[error("it holds a password or token")]
    Credential,
    /// It has a query or a fragment.
    #[error("it has a query or a fragment")]
    Query,
}

impl RepositoryUrl {
    /// Checks a URL that an object names: `https://…`, `ssh://…` or `user@host:path`.
    ///
    /// A user name in an `https` URL is left out: it says nothing about the repository, and may be a token.
    ///
    /// # Errors
    /// If it is anything else, above all a local path or a transport helper.
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

    /// Checks a URL or path that the person who runs Kalypso configured: `http://`, `file://` and local paths as well.
    ///
    /// # Errors
    /// If it is empty, begins with a dash, names a transport helper or holds a credential.
    pub fn from_configuration(text: &str) -> Result<Self, UrlError> {
        Parts::parse(text).map(|parts| parts.url())
    }

    /// The URL as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The short name that messages use: the last part, without `.git`.
    pub fn label(&self) -> Arc<str> {
        let path = self.0.trim_end_matches(['/', '\\']);
        let last = path.rsplit(['/', '\\', ':']).next().unwrap_or(path);
        last.strip_suffix(".git").filter(|name| !name.is_empty()).unwrap_or(last).into()
    }
}

/// The URL of a repository as an object writes it, for those who may read it: without a credential.
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

/// Where a repository is, whatever is spoken there and however its URL is written: `git@git.example:acme/app.git` and `https://git.example/acme/app/` are at
/// one place.
pub(crate) fn whereabouts(text: &str) -> Option<String> {
    let parts = Parts::parse(text).ok()?;
    let path = parts.path.trim_end_matches('/').trim_end_matches(".git");
    Some(match parts.port {
        22 | 80 | 443 => format!("{}/{}", parts.host, path.trim_start_matches('/')),
        0 => path.to_owned(),
        port => format!("{}:{port}/{path}", parts.host),
    })
}

/// What a URL speaks.
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

/// A URL taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parts<'a> {
    /// What it speaks.
    pub(crate) scheme: Scheme,
    /// The user of `ssh`; empty if there is none.
    user: &'a str,
    /// The host, lower case; empty for paths.
    pub(crate) host: String,
    /// The port as written, or that of the scheme.
    pub(crate) port: u16,
    /// The path without the slash at its beginning and end; a local path is kept as it is.
    pub(crate) path: &'a str,
    is_scp: bool,
}

impl<'a> Parts<'a> {
    /// Takes a URL or path apart.
    ///
    /// # Errors
    /// If it is none that may be given to git.
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

    /// `user@host:path`, or a path.
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
        // A host may decode `%2e` before it looks.
        let path = self.path.to_ascii_lowercase().replace("%2e", ".").replace("%2f", "/");
        if path.split('/').any(|segment| matches!(segment, "." | "..")) {
            return Err(UrlError::Upwards);
        }
        Ok(self)
    }

    /// The URL without what may be a credential.
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

    /// Whether `self` is `other` or lies below it: same scheme, host and port, and whole path segments.
    pub(crate) fn is_at_or_below(&self, other: &Parts<'_>) -> bool {
        let plain = |path: &str| path.strip_suffix(".git").unwrap_or(path).to_owned();
        let (own, above) = (plain(self.path), plain(other.path));
        let is_below = above.is_empty() || own == above || own.starts_with(&format!("{}/", other.path));
        let is_same = (self.scheme, &self.host, self.port) == (other.scheme, &other.host, other.port);
        self.scheme != Scheme::Local && is_same && is_below
    }

    /// A prefix of URLs: like a URL, but the path may be empty.
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

/// What holds for every URL and path.
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

/// `host`, `host:port`, `[::1]:port`
fn split_port(host: &str) -> Result<(&str, Option<u16>), UrlError> {
    let after_bracket = host.rfind(']').map_or(0, |bracket| bracket + 1);
    let tail = host.get(after_bracket..).unwrap_or_default();
    let Some(colon) = tail.find(':') else { return Ok((host, None)) };
    let (name, port) =
        (host.get(..after_bracket + colon).unwrap_or_default(), tail.get(colon + 1..).unwrap_or_default());
    let port = port.parse::<u16>().ok().filter(|port| *port > 0).ok_or(UrlError::Host)?;
    Ok((name, Some(port)))
}

/// Takes apart whatever is given, as an object's URL, as a configured one, and as a prefix; nothing is expected but that it ends without panic,
/// and that what is accepted is shown without a credential and is accepted again.
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
