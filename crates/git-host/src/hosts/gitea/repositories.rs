//! Creates repositories on Gitea and Forgejo.

use serde_json::json;

use super::json::RepositoryJson;
use super::{Gitea, get};
use crate::error::HostError;
use crate::host::GitHost as _;
use crate::hosts::creation;
use crate::new_repository::{NewRepository, RepositoryCreation};
use crate::repository::HostRepository;
use crate::transport::Call;

impl Gitea {
    pub(super) fn create(
        &self,
        repository: &HostRepository,
        new: &NewRepository,
    ) -> Result<RepositoryCreation, HostError> {
        let read = || self.read(&get(repository, &[])).map(|_: RepositoryJson| ());
        let create = || {
            let owner = repository.owner();
            let body = json!({ "name": repository.name(), "description": new.description, "private": new.is_private });
            let is_own = self.account(repository)?.eq_ignore_ascii_case(&owner);
            let path = if is_own { vec!["user", "repos"] } else { vec!["orgs", &owner, "repos"] };
            self.send(&Call::post(&path, body)).map(drop)
        };
        creation::repository(read, create)
    }
}
