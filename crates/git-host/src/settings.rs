//! The settings of one git host.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;

use crate::credential::Credential;
use crate::error::HostError;
use crate::kind::HostKind;

/// The settings of one git host.
#[derive(Clone)]
pub struct HostSettings {
    /// The kind.
    pub kind: HostKind,
    /// The address of the host's pages, such as `https://github.com` or `https://git.example/gitea`.
    pub url: String,
    /// The address of its API. None: the usual one of the kind.
    pub api_url: Option<String>,
    /// The credential. It is sent only to the address of the API.
    pub credential: Credential,
    /// How long calls wait.
    pub patience: Patience,
}

/// How long a call waits for a host that limits requests or fails.
#[derive(Clone, Debug)]
pub struct Patience {
    /// The maximum sum of all waits of one call. A host that requires more is an error that names the time.
    pub wait_max: Duration,
    /// The maximum number of attempts of one request.
    pub attempts: u32,
    /// Waits.
    pub wait: Waiter,
}

/// Waits for a duration. Returns false if the wait was ended early, and the call shall end.
#[derive(Clone)]
pub struct Waiter(Arc<dyn Fn(Duration) -> bool + Send + Sync>);

/// The address of the public host of a kind. None for kinds without one.
pub fn public_url(kind: HostKind) -> Option<&'static str> {
    match kind {
        HostKind::GitHub => Some("https://github.com"),
        HostKind::GitLab => Some("https://gitlab.com"),
        HostKind::AzureDevOps => Some("https://dev.azure.com"),
        HostKind::Gitea | HostKind::Git => None,
    }
}

/// The usual address of the pages of the host on which a repository is. None if the URL has no host.
///
/// Git over ssh often has another host name than the pages; those of the public hosts are known.
pub fn usual_url(repository_url: &str) -> Option<String> {
    let (scheme, authority) = match repository_url.split_once("://") {
        Some((scheme, rest)) => (scheme, rest.split('/').next()?),
        None => ("ssh", repository_url.split_once(':').map(|(authority, _)| authority)?),
    };
    let host = authority.rsplit('@').next()?.to_ascii_lowercase();
    let name = host.split(':').next()?;
    let host = match (scheme, name) {
        (_, "ssh.dev.azure.com") => "dev.azure.com",
        _ if name.ends_with(".visualstudio.com") => "dev.azure.com",
        (_, "ssh.github.com") => "github.com",
        (_, "altssh.gitlab.com") => "gitlab.com",
        // The port is that of ssh.
        ("ssh", name) => name,
        _ => &host,
    };
    let is_local = scheme == "file" || host.is_empty();
    let scheme = if scheme == "http" { "http" } else { "https" };
    (!is_local).then(|| format!("{scheme}://{host}"))
}

impl HostSettings {
    /// Settings with the usual API address and the default patience.
    pub fn new(kind: HostKind, url: &str, credential: Credential) -> Self {
        Self { kind, url: url.to_owned(), api_url: None, credential, patience: Patience::default() }
    }

    /// The address of the API, which ends with a slash.
    ///
    /// # Errors
    /// If an address is not an HTTP URL, or contains a user, a password, a query or a fragment.
    pub(crate) fn api(&self) -> Result<Url, HostError> {
        let url = match &self.api_url {
            Some(url) => parsed(url)?,
            None => self.usual_api()?,
        };
        Ok(with_slash(url))
    }

    fn usual_api(&self) -> Result<Url, HostError> {
        let url = with_slash(parsed(&self.url)?);
        let host = url.host_str().unwrap_or_default();
        let path = match self.kind {
            HostKind::GitHub if host == "github.com" => return parsed("https://api.github.com"),
            HostKind::GitHub if host.ends_with(".ghe.com") => return parsed(&format!("https://api.{host}")),
            HostKind::GitHub => "api/v3",
            HostKind::GitLab => "api/v4",
            HostKind::Gitea => "api/v1",
            HostKind::AzureDevOps | HostKind::Git => "",
        };
        url.join(path).map_err(|error| HostError::Settings(format!("`{url}`: {error}")))
    }
}

impl fmt::Debug for HostSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |url: &String| model::credential::without_in_url(url).into_owned();
        formatter
            .debug_struct("HostSettings")
            .field("kind", &self.kind)
            .field("url", &shown(&self.url))
            .field("api_url", &self.api_url.as_ref().map(shown))
            .field("credential", &self.credential)
            .field("patience", &self.patience)
            .finish()
    }
}

impl Default for Patience {
    fn default() -> Self {
        Self { wait_max: Duration::from_secs(30), attempts: 4, wait: Waiter::default() }
    }
}

impl Waiter {
    /// Waits with a function. It returns false if the call shall end.
    pub fn new(wait: impl Fn(Duration) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(wait))
    }

    pub(crate) fn wait(&self, pause: Duration) -> bool {
        (self.0)(pause)
    }
}

impl Default for Waiter {
    /// Sleeps.
    fn default() -> Self {
        Self::new(|pause| {
            std::thread::sleep(pause);
            true
        })
    }
}

impl fmt::Debug for Waiter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Waiter")
    }
}

fn parsed(text: &str) -> Result<Url, HostError> {
    let shown = model::credential::without_in_url(text);
    let wrong = |reason: &str| HostError::Settings(format!("`{shown}` is no address of a git host: {reason}"));
    let url: Url = text.parse().map_err(|_| wrong("it is no URL, such as https://git.example"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(wrong("it does not begin with https:// or http://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("tokens don't belong into a URL: use an environment variable or a file"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("it has a query or a fragment"));
    }
    Ok(url)
}

fn with_slash(mut url: Url) -> Url {
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: HostKind, url: &str) -> String {
        HostSettings::new(kind, url, Credential::None)
            .api()
            .map_or_else(|error| error.to_string(), |url| url.to_string())
    }

    #[test]
    fn each_kind_has_its_usual_api() {
        assert_eq!(check(HostKind::GitHub, "https://github.com"), "https://api.github.com/");
        assert_eq!(check(HostKind::GitHub, "https://acme.ghe.com/"), "https://api.acme.ghe.com/");
        assert_eq!(check(HostKind::GitHub, "https://github.example"), "https://github.example/api/v3/");
        assert_eq!(check(HostKind::GitLab, "https://gitlab.com"), "https://gitlab.com/api/v4/");
        assert_eq!(check(HostKind::Gitea, "https://git.example/gitea"), "https://git.example/gitea/api/v1/");
        assert_eq!(check(HostKind::AzureDevOps, "https://dev.azure.com"), "https://dev.azure.com/");
    }

    #[test]
    fn the_usual_address_of_a_repository_s_host() {
        let check = |url| usual_url(url).unwrap_or_default();
        assert_eq!(check("git@github.com:acme/gitops.git"), "https://github.com");
        assert_eq!(check("ssh://git@ssh.github.com:443/acme/gitops.git"), "https://github.com");
        assert_eq!(check("https://me@git.example:8443/acme/gitops"), "https://git.example:8443");
        assert_eq!(check("http://localhost:3000/acme/gitops"), "http://localhost:3000");
        assert_eq!(check("git@ssh.dev.azure.com:v3/acme/fleet/gitops"), "https://dev.azure.com");
        assert_eq!(check("https://acme.visualstudio.com/fleet/_git/gitops"), "https://dev.azure.com");
        assert_eq!(check("ssh://git@git.example:2222/acme/gitops"), "https://git.example");
        assert_eq!(["/srv/git/a", "file:///srv/git/a", ""].map(check), [""; 3].map(str::to_owned));
    }

    #[test]
    fn an_address_is_an_http_url_without_a_credential() {
        assert!(check(HostKind::Gitea, "git.example").contains("it is no URL"));
        assert!(check(HostKind::Gitea, "ftp://git.example").contains("does not begin with https://"));
        let credential = check(HostKind::Gitea, "https://me:s3cret@git.example");
        assert!(
            credential.contains("tokens don't belong into a URL") && !credential.contains("s3cret"),
            "{credential}"
        );
        assert!(check(HostKind::Gitea, "https://git.example/?a=b").contains("a query"));
        let settings = HostSettings::new(HostKind::Gitea, "https://me:s3cret@git.example", Credential::None);
        assert!(!format!("{settings:?}").contains("s3cret"), "{settings:?}");
    }
}
