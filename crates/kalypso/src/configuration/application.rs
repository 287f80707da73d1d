//! The access to repositories and git hosts of `kalypso-app.toml`.

use std::path::Path;
use std::sync::Arc;

use delivery::pull_requests::GitHosts;
use serde::Deserialize;

use super::variables::Configured;
use super::{GitOptions, HostTables, git_settings};
use crate::exit::Failure;

/// The sections of the file that are the same as in `kalypso.toml`.
#[derive(Debug, Default, Deserialize)]
struct AccessOptions {
    #[serde(default)]
    git: GitOptions,
    #[serde(default)]
    host: HostTables,
}

/// The access of an application.
pub(crate) struct ApplicationAccess {
    /// The settings for repositories.
    pub(crate) git: git::Settings,
    hosts: HostTables,
}

/// Reads the access settings of a configuration file. Relative paths start from `base`.
pub(crate) fn read_application(path: &Path, base: &Path) -> anyhow::Result<ApplicationAccess> {
    let AccessOptions { git, host } = Configured::read(path)?.parse()?;
    Ok(ApplicationAccess { git: git_settings(&git, base)?, hosts: host })
}

impl ApplicationAccess {
    /// The git host of a repository, with its secrets. None if none is configured. It also makes the tokens of git, if it is one that does.
    pub(crate) fn hosts(&mut self, repository: &str) -> Result<Option<GitHosts>, Failure> {
        let base = self.git.base.clone();
        let apps = self.hosts.clone().apps(repository, &base);
        if !apps.is_empty() {
            self.git.token_source = Some(Arc::new(apps));
        }
        Ok(self.hosts.clone().resolve(repository, &base, None)?.for_deliveries())
    }
}
