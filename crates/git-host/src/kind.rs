//! The kinds of git hosts.

use std::fmt;
use std::str::FromStr;

/// The kind of a git host. It decides which API the host has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HostKind {
    /// GitHub, in the cloud or as GitHub Enterprise Server.
    GitHub,
    /// GitLab, in the cloud or self-managed.
    GitLab,
    /// Gitea or Forgejo.
    Gitea,
    /// Azure DevOps Services or Server.
    AzureDevOps,
    /// A git server without an API: it has branches only.
    Git,
}

/// The text names no kind of git host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no kind of git host: those are `github`, `gitlab`, `gitea`, `azure-devops` and `git`")]
pub struct HostKindError(String);

impl HostKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::GitHub, Self::GitLab, Self::Gitea, Self::AzureDevOps, Self::Git];

    /// Infers the kind from the URL of a repository, by the name of its host. None if the name is not characteristic; then the kind must be configured.
    pub fn of_url(url: &str) -> Option<Self> {
        let host = host_of(url)?;
        let is_at = |domain: &str| host == domain || host.ends_with(&format!(".{domain}"));
        let is_named = |name: &str| host.starts_with(&format!("{name}."));
        if is_at("github.com") || is_at("ghe.com") || is_named("github") {
            Some(Self::GitHub)
        } else if is_at("gitlab.com") || is_named("gitlab") {
            Some(Self::GitLab)
        } else if is_at("codeberg.org") || is_at("gitea.com") || is_named("gitea") || is_named("forgejo") {
            Some(Self::Gitea)
        } else if is_at("dev.azure.com") || is_at("visualstudio.com") {
            Some(Self::AzureDevOps)
        } else {
            None
        }
    }

    /// The name in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::GitHub => "github",
            Self::GitLab => "gitlab",
            Self::Gitea => "gitea",
            Self::AzureDevOps => "azure-devops",
            Self::Git => "git",
        }
    }

    /// The name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::GitHub => "GitHub",
            Self::GitLab => "GitLab",
            Self::Gitea => "Gitea",
            Self::AzureDevOps => "Azure DevOps",
            Self::Git => "a plain git server",
        }
    }

    /// The page of a pull request of a repository, in the form of this kind where a test depends on it.
    pub(crate) fn pull_request_url(self, repository_url: &str, number: u64) -> String {
        let list = if self == Self::Gitea { "pulls" } else { "pull" };
        format!("{repository_url}/{list}/{number}")
    }

    /// Whether hosts of this kind have pull requests.
    pub fn has_pull_requests(self) -> bool {
        self != Self::Git
    }
}

impl fmt::Display for HostKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl FromStr for HostKind {
    type Err = HostKindError;

    fn from_str(text: &str) -> Result<Self, HostKindError> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or_else(|| HostKindError(text.to_owned()))
    }
}

/// The name of the host of a URL, in lower case, without user and port.
fn host_of(url: &str) -> Option<String> {
    let authority = match url.split_once("://") {
        Some((_, rest)) => rest.split('/').next()?,
        // `user@host:path`
        None => url.split_once(':').map(|(authority, _)| authority).filter(|authority| authority.contains('@'))?,
    };
    let host = authority.rsplit('@').next()?.split(':').next()?;
    (!host.is_empty()).then(|| host.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_kind_is_inferred_from_the_host_name() {
        let kinds = [
            ("https://github.com/acme/gitops", Some(HostKind::GitHub)),
            ("git@github.com:acme/gitops.git", Some(HostKind::GitHub)),
            ("https://acme.ghe.com/acme/gitops", Some(HostKind::GitHub)),
            ("https://github.example.com/acme/gitops", Some(HostKind::GitHub)),
            ("https://GitLab.com/acme/team/gitops", Some(HostKind::GitLab)),
            ("ssh://git@gitlab.example.com:2222/acme/gitops.git", Some(HostKind::GitLab)),
            ("https://codeberg.org/acme/gitops", Some(HostKind::Gitea)),
            ("https://forgejo.example.com:3000/acme/gitops", Some(HostKind::Gitea)),
            ("https://acme@dev.azure.com/acme/fleet/_git/gitops", Some(HostKind::AzureDevOps)),
            ("git@ssh.dev.azure.com:v3/acme/fleet/gitops", Some(HostKind::AzureDevOps)),
            ("https://acme.visualstudio.com/fleet/_git/gitops", Some(HostKind::AzureDevOps)),
            ("https://git.example.com/acme/gitops", None),
            ("https://github.com.example/acme/gitops", Some(HostKind::GitHub)),
            ("https://notgithub.com/acme/gitops", None),
            ("/srv/git/gitops.git", None),
            ("", None),
        ];
        for (url, kind) in kinds {
            assert_eq!(HostKind::of_url(url), kind, "{url}");
        }
    }

    #[test]
    fn a_kind_is_read_as_it_is_written() {
        for kind in HostKind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        assert!("bitbucket".parse::<HostKind>().unwrap_err().to_string().starts_with("`bitbucket` is no kind"));
    }
}
