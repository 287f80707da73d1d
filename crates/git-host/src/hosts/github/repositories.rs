//! Creates repositories on GitHub.

use serde_json::json;

use super::json::RepositoryJson;
use super::{GitHub, Tokens, path};
use crate::error::HostError;
use crate::host::GitHost as _;
use crate::hosts::creation;
use crate::new_repository::{NewRepository, RepositoryCreation};
use crate::repository::HostRepository;
use crate::transport::Call;

impl GitHub {
    pub(super) fn create(
        &self,
        repository: &HostRepository,
        new: &NewRepository,
    ) -> Result<RepositoryCreation, HostError> {
        if matches!(self.tokens, Tokens::App(_)) {
            let message =
                "a GitHub App has a token for each repository, so it can't create one: use a token of an account";
            return Err(HostError::Settings(message.to_owned()));
        }
        let read = || self.read(repository, Call::get(&path(repository, &[]))).map(|_: RepositoryJson| ());
        let create = || {
            let owner = repository.owner();
            let body = json!({ "name": repository.name(), "description": new.description, "private": new.is_private });
            let is_own = self.account(repository)?.eq_ignore_ascii_case(&owner);
            let path = if is_own { vec!["user", "repos"] } else { vec!["orgs", &owner, "repos"] };
            self.send(repository, Call::post(&path, body)).map(drop)
        };
        creation::repository(read, create)
    }
}
