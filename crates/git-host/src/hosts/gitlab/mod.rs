//! GitLab: its REST API. Its merge requests are pull requests here.

mod issues;
mod json;
mod merges;
mod protection;
mod pull_requests;
mod reviews;
mod statuses;

use std::collections::BTreeSet;
use std::sync::OnceLock;

use model::secret::{Secret, SecretSource};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use self::json::{MergeRequestJson, NamespaceJson, ProjectJson, UserJson};
use crate::calls::CallCounts;
use crate::error::HostError;
use crate::host::{GitHost, TextLimits};
use crate::hosts::{creation, next_by_link, token, told};
use crate::kind::HostKind;
use crate::limits::PAGE_ITEMS;
use crate::new_repository::{NewRepository, RepositoryCreation};
use crate::protection::BranchProtection;
use crate::rate_limit::RateLimit;
use crate::repository::HostRepository;
use crate::settings::HostSettings;
use crate::transport::{Answer, Authorization, Call, Transport};

/// A client of GitLab.
#[derive(Debug)]
pub(super) struct GitLab {
    transport: Transport,
    authorization: Option<Authorization>,
    account: OnceLock<String>,
}

/// A resource of a project: the calls to it.
struct Resource {
    path: Vec<String>,
}

impl Resource {
    fn new(repository: &HostRepository, rest: &[&str]) -> Self {
        // GitLab takes the path of a project as one part, instead of its id.
        let project = repository.to_string();
        let path = ["projects", &project].into_iter().chain(rest.iter().copied()).map(str::to_owned).collect();
        Self { path }
    }

    /// A part of a merge request.
    fn of_merge_request(repository: &HostRepository, number: u64, rest: &[&str]) -> Self {
        let number = number.to_string();
        Self::new(repository, &[&["merge_requests", number.as_str()], rest].concat())
    }

    fn call(&self, call: impl FnOnce(&[&str]) -> Call) -> Call {
        let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
        call(&path)
    }

    fn get(&self) -> Call {
        self.call(Call::get)
    }

    fn post(&self, body: Value) -> Call {
        self.call(|path| Call::post(path, body))
    }

    fn put(&self, body: Value) -> Call {
        self.call(|path| Call::put(path, body))
    }
}

impl GitLab {
    pub(super) fn new(settings: &HostSettings) -> Result<Self, HostError> {
        let value: fn(&Secret) -> String = |token| token.reveal().to_owned();
        let header = |token: &SecretSource| Authorization::new("private-token", value, token.clone());
        let authorization = token(settings)?.map(header).transpose()?;
        Ok(Self { transport: Transport::new(settings)?, authorization, account: OnceLock::new() })
    }

    fn send(&self, call: &Call) -> Result<Answer, HostError> {
        self.transport.send(call, self.authorization.as_ref())
    }

    fn read<T: DeserializeOwned>(&self, call: &Call) -> Result<T, HostError> {
        self.transport.read(call, self.authorization.as_ref())
    }

    fn list<T: DeserializeOwned>(&self, call: &Call) -> Result<Vec<T>, HostError> {
        let page = |number: u32| {
            let call = call.clone().query("per_page", PAGE_ITEMS.to_string());
            call.query("page", number.to_string())
        };
        let pages: Vec<Vec<T>> = self.transport.pages(page, self.authorization.as_ref(), next_by_link)?;
        Ok(pages.into_iter().flatten().collect())
    }

    fn account_or_none(&self, repository: &HostRepository) -> Result<String, HostError> {
        if self.authorization.is_none() { Ok(String::new()) } else { self.account(repository) }
    }

    /// A merge request of which is known whether it can be merged.
    fn read_settled(&self, repository: &HostRepository, number: u64) -> Result<MergeRequestJson, HostError> {
        let call = Resource::of_merge_request(repository, number, &[]).get();
        self.transport.read_settled(|| self.read(&call), MergeRequestJson::is_settled)
    }
}

fn joined(labels: &BTreeSet<String>) -> String {
    labels.iter().map(String::as_str).collect::<Vec<_>>().join(",")
}

impl GitHost for GitLab {
    fn kind(&self) -> HostKind {
        HostKind::GitLab
    }

    fn text_limits(&self) -> TextLimits {
        TextLimits { title: 255, body: 1_048_576, comment: 1_000_000 }
    }

    fn account(&self, _: &HostRepository) -> Result<String, HostError> {
        if let Some(known) = self.account.get() {
            return Ok(known.clone());
        }
        let user: UserJson = self.read(&Call::get(&["user"]))?;
        Ok(self.account.get_or_init(|| user.username).clone())
    }

    fn default_branch(&self, repository: &HostRepository) -> Result<String, HostError> {
        let answer = self.send(&Resource::new(repository, &[]).get())?;
        let project: ProjectJson = answer.json()?;
        project.default_branch.ok_or_else(|| answer.unexpected("the repository is empty"))
    }

    fn protection(&self, repository: &HostRepository, branch: &str) -> Result<Option<BranchProtection>, HostError> {
        let call = Resource::new(repository, &["repository", "branches", branch]).get();
        let Some(branch) = told(self.read(&call))? else { return Ok(None) };
        let project = told(self.read(&Resource::new(repository, &[]).get()))?;
        Ok(Some(protection::protection(&branch, project.as_ref())))
    }

    fn create_repository(
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

    fn rate_limit(&self) -> Option<RateLimit> {
        self.transport.rate_limit()
    }

    fn calls(&self) -> CallCounts {
        self.transport.calls()
    }
}
