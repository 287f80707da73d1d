//! The answers that define a new platform. The folder stores them, so that an interrupted run can be completed without them.

use authoring::scaffold::configuration::{Configuration, HostEntry, TokenLocation, UrlRewrite};
use serde::{Deserialize, Serialize};

use super::GITOPS;

/// The answers that define a new platform.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answers {
    /// The version of this form.
    pub version: u32,
    /// Whether it is laid out as by Microsoft's bootstrap.
    pub is_like_microsoft: bool,
    /// The environments in the order of promotion.
    pub environments: Vec<String>,
    /// The names of the packs of the reconcilers.
    pub reconcilers: Vec<String>,
    /// The control plane.
    pub control_plane: RepositoryAnswer,
    /// The GitOps repository.
    pub gitops: RepositoryAnswer,
    /// The start of the URLs of repositories that are on this machine.
    pub base_url: String,
    /// The git host.
    pub host: Option<HostAnswer>,
}

/// A repository of the platform.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepositoryAnswer {
    /// The URL, as objects name it.
    pub url: String,
    /// The URL or path for git. None: the repository is only on this machine, in the folder.
    pub remote: Option<String>,
}

/// The git host of the platform.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HostAnswer {
    /// The kind, as the configuration names it.
    pub kind: String,
    /// The address of its pages.
    pub url: String,
    /// The address of its API, if it is not the usual one.
    pub api_url: Option<String>,
    /// The owner of the repositories.
    pub owner: String,
    /// The environment variable with the token.
    pub token_variable: Option<String>,
    /// The file with the token.
    pub token_file: Option<String>,
}

impl HostAnswer {
    /// The sections of a configuration file. `repositories` is the start of the URLs that get the token.
    pub fn entry(&self, repositories: String) -> HostEntry {
        HostEntry {
            kind: self.kind.clone(),
            url: self.url.clone(),
            api_url: self.api_url.clone(),
            repositories,
            token: match (&self.token_file, &self.token_variable) {
                (Some(file), _) => TokenLocation::File(file.clone()),
                (None, variable) => TokenLocation::Variable(variable.clone().unwrap_or_default()),
            },
        }
    }
}

/// The current version of the form.
pub const VERSION: u32 = 1;

impl Answers {
    /// The content of `kalypso.toml`.
    pub fn configuration(&self) -> Configuration {
        let host = self.host.as_ref().map(|host| host.entry(self.repositories_prefix()));
        Configuration { control_plane: self.control_plane.url.clone(), rewrites: self.rewrites(), host }
    }

    /// The start of the URLs that get the token of the git host.
    pub fn repositories_prefix(&self) -> String {
        let remote = self.control_plane.remote.as_ref().unwrap_or(&self.control_plane.url);
        remote.rsplit_once('/').map_or_else(String::new, |(start, _)| format!("{start}/"))
    }

    fn rewrites(&self) -> Vec<UrlRewrite> {
        let rule = |from: &str, to: &str| UrlRewrite { from: from.to_owned(), to: to.to_owned() };
        let moved = |repository: &RepositoryAnswer| {
            let remote = repository.remote.as_ref().filter(|remote| **remote != repository.url)?;
            Some(rule(&repository.url, remote))
        };
        if self.control_plane.remote.is_none() && self.gitops.remote.is_none() {
            // Repositories of applications that are made beside these are found, too.
            return vec![rule(&format!("{}/", self.base_url), "./")];
        }
        let local = |repository: &RepositoryAnswer, folder: &str| {
            repository.remote.is_none().then(|| rule(&repository.url, &format!("./{folder}")))
        };
        let control_plane = moved(&self.control_plane).or_else(|| local(&self.control_plane, super::CONTROL_PLANE));
        let gitops = moved(&self.gitops).or_else(|| local(&self.gitops, GITOPS));
        control_plane.into_iter().chain(gitops).collect()
    }
}
