//! The settings of one git host.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;

use crate::credential::Credential;
use crate::error::HostError;
use crate::kind::HostKind;

/// The settings of one git host.
#[derive(Clone, Debug)]
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
    pub wait: Wait,
}

/// Waits for a duration. Returns false if the wait was ended early, and the call shall end.
#[derive(Clone)]
pub struct Wait(Arc<dyn Fn(Duration) -> bool + Send + Sync>);

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

impl Default for Patience {
    fn default() -> Self {
        Self { wait_max: Duration::from_secs(30), attempts: 4, wait: Wait::default() }
    }
}

impl Wait {
    /// Waits with a function. It returns false if the call shall end.
    pub fn new(wait: impl Fn(Duration) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(wait))
    }

    pub(crate) fn wait(&self, pause: Duration) -> bool {
        (self.0)(pause)
    }
}

impl Default for Wait {
    /// Sleeps.
    fn default() -> Self {
        Self::new(|pause| {
            std::thread::sleep(pause);
            true
        })
    }
}

impl fmt::Debug for Wait {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Wait")
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
    fn an_address_is_an_http_url_without_a_credential() {
        assert!(check(HostKind::Gitea, "git.example").contains("it is no URL"));
        assert!(check(HostKind::Gitea, "ftp://git.example").contains("does not begin with https://"));
        let credential = check(HostKind::Gitea, "https://me:s3cret@git.example");
        assert!(
            credential.contains("tokens don't belong into a URL") && !credential.contains("s3cret"),
            "{credential}"
        );
        assert!(check(HostKind::Gitea, "https://git.example/?a=b").contains("a query"));
    }
}
