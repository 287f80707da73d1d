//! Creates repositories in projects of Azure DevOps.

use serde_json::json;

use super::json::RepositoryJson;
use super::{AzureDevOps, VERSION, get};
use crate::error::HostError;
use crate::hosts::creation;
use crate::new_repository::{NewRepository, RepositoryCreation};
use crate::repository::HostRepository;
use crate::transport::Call;

impl AzureDevOps {
    /// The project decides who can read the repository, which has no description.
    pub(super) fn create(
        &self,
        repository: &HostRepository,
        _: &NewRepository,
    ) -> Result<RepositoryCreation, HostError> {
        let read = || self.read(&get(repository, &[])).map(|_: RepositoryJson| ());
        let create = || {
            let project = repository.path().split_last().map_or(&[][..], |(_, project)| project);
            let path: Vec<&str> = project.iter().map(String::as_str).chain(["_apis", "git", "repositories"]).collect();
            let call = Call::post(&path, json!({ "name": repository.name() })).query("api-version", VERSION);
            self.send(&call).map(drop)
        };
        creation::repository(read, create)
    }
}
