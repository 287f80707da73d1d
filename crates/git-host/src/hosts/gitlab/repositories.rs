//! Creates projects on GitLab.

use serde::Deserialize;
use serde_json::json;

use super::json::ProjectJson;
use super::{GitLab, Resource};
use crate::error::HostError;
use crate::hosts::creation;
use crate::new_repository::{NewRepository, RepositoryCreation};
use crate::repository::HostRepository;
use crate::transport::Call;

/// A group or an account that owns projects.
#[derive(Debug, Deserialize)]
struct NamespaceJson {
    id: u64,
}

impl GitLab {
    pub(super) fn create(
        &self,
        repository: &HostRepository,
        new: &NewRepository,
    ) -> Result<RepositoryCreation, HostError> {
        let read = || self.read(&Resource::new(repository, &[]).get()).map(|_: ProjectJson| ());
        let create = || {
            // GitLab takes the path of a namespace as one part, instead of its id.
            let owner = repository.owner();
            let namespace: NamespaceJson = self.read(&Call::get(&["namespaces", &owner]))?;
            let body = json!({
                "name": repository.name(),
                "path": repository.name(),
                "namespace_id": namespace.id,
                "description": new.description,
                "visibility": if new.is_private { "private" } else { "public" },
            });
            self.send(&Call::post(&["projects"], body)).map(drop)
        };
        creation::repository(read, create)
    }
}
