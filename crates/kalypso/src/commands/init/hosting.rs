//! Creates the repositories of a new platform on a git host.

use git_host::credential::Credential;
use git_host::new_repository::{NewRepository, RepositoryCreation};
use git_host::secret::Secret;
use git_host::settings::{HostSettings, Waiter};
use git_host::{GitHost, HostKind, HostRepository, hosts};
use workbench::platform::answers::{Answers, HostAnswer, RepositoryAnswer};

use crate::exit::Failure;
use crate::stopping;

/// Creates the repositories that do not exist. Returns the URLs of the new ones.
pub(super) fn create(answers: &Answers, token: Option<&str>, is_private: bool) -> anyhow::Result<Vec<String>> {
    let Some(host) = &answers.host else { return Ok(Vec::new()) };
    let token = token.ok_or_else(|| {
        let variable = host.token_variable.as_deref().unwrap_or_default();
        Failure::usage("--create needs a token of the git host").help(format!(
            "set the variable {variable}, or name a file with --token-file. The token must be allowed to create repositories"
        ))
    })?;
    let kind: HostKind = host.kind.parse()?;
    let client = connect(kind, host, token)?;
    let mut created = Vec::new();
    let repositories = [(&answers.control_plane, "Which workload runs where"), (&answers.gitops, "What clusters pull")];
    for (RepositoryAnswer { remote, .. }, description) in repositories {
        let Some(url) = remote else { continue };
        let repository =
            HostRepository::parse(kind, url, &host.url).map_err(|error| Failure::usage(error.to_string()))?;
        let new = NewRepository { is_private, description: description.to_owned() };
        match client.create_repository(&repository, &new) {
            Ok(RepositoryCreation::Created) => created.push(url.clone()),
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
