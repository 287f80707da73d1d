//! Creates the repositories of a new platform on a git host.

use git_host::credential::Credential;
use git_host::new_repository::{NewRepository, RepositoryCreation};
use git_host::secret::Secret;
use git_host::settings::{HostSettings, Waiter};
use git_host::{GitHost, HostKind, HostRepository, hosts};
use workbench::platform::answers::HostAnswer;

use crate::exit::Failure;
use crate::stopping;

/// Repositories to create.
#[derive(Clone, Copy)]
pub(in crate::commands) struct NewRepositories<'a> {
    /// The URL of each, with its description.
    pub(in crate::commands) all: &'a [(&'a str, &'a str)],
    /// Whether only people with a permission can read them.
    pub(in crate::commands) is_private: bool,
}

/// Creates the repositories that do not exist. Returns the URLs of the new ones.
pub(in crate::commands) fn create(
    host: &HostAnswer,
    token: Option<&str>,
    repositories: NewRepositories<'_>,
) -> anyhow::Result<Vec<String>> {
    let token = token.ok_or_else(|| {
        let variable = host.token_variable.as_deref().unwrap_or_default();
        Failure::usage("--create needs a token of the git host").help(format!(
            "set the variable {variable}, or name a file with --token-file. The token must be allowed to create repositories"
        ))
    })?;
    let kind: HostKind = host.kind.parse()?;
    let client = connect(kind, host, token)?;
    let mut created = Vec::new();
    for (url, description) in repositories.all {
        let repository =
            HostRepository::parse(kind, url, &host.url).map_err(|error| Failure::usage(error.to_string()))?;
        let new = NewRepository { is_private: repositories.is_private, description: (*description).to_owned() };
        match client.create_repository(&repository, &new) {
            Ok(RepositoryCreation::Created) => created.push((*url).to_owned()),
            Ok(RepositoryCreation::Existed) => {}
            Err(error) => return Err(failed(url, &error).into()),
        }
    }
    Ok(created)
}

fn connect(kind: HostKind, host: &HostAnswer, token: &str) -> Result<std::sync::Arc<dyn GitHost>, Failure> {
    let mut settings = HostSettings::new(kind, &host.url, Credential::Token(Secret::new(token).into()));
    settings.api_url.clone_from(&host.api_url);
    settings.patience.wait = Waiter::new(stopping::wait);
    hosts::connect(&settings).map_err(|error| Failure::usage(error.to_string()))
}

fn failed(url: &str, error: &git_host::HostError) -> Failure {
    let message = format!("the repository {url} can't be created: {error}");
    let help = "create it by hand, empty, or use another --owner or token; then run `init` again";
    if error.is_temporary() {
        Failure::outside(message).help("try again")
    } else {
        Failure::refused(message).help(help)
    }
}
