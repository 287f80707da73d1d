//! Gitea and Forgejo: their REST API.

mod issues;
mod json;
mod merges;
mod protection;
mod pull_requests;
mod reviews;
mod statuses;

use std::sync::OnceLock;

use model::secret::{Secret, SecretSource};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use self::json::{PullRequestJson, RepositoryJson};
use super::json::UserJson;
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

/// A client of Gitea or Forgejo.
#[derive(Debug)]
pub(super) struct Gitea {
    transport: Transport,
    authorization: Option<Authorization>,
    account: OnceLock<String>,
}

/// The path of a resource of a repository.
fn path(repository: &HostRepository, rest: &[&str]) -> Vec<String> {
    let owner = repository.path().iter().map(String::as_str);
    ["repos"].into_iter().chain(owner).chain(rest.iter().copied()).map(str::to_owned).collect()
}

fn get(repository: &HostRepository, rest: &[&str]) -> Call {
    with_path(repository, rest, Call::get)
}

fn post(repository: &HostRepository, rest: &[&str], body: Value) -> Call {
    with_path(repository, rest, |path| Call::post(path, body))
}

fn patch(repository: &HostRepository, rest: &[&str], body: Value) -> Call {
    with_path(repository, rest, |path| Call::patch(path, body))
}

fn with_path(repository: &HostRepository, rest: &[&str], call: impl FnOnce(&[&str]) -> Call) -> Call {
    let path = path(repository, rest);
    call(&path.iter().map(String::as_str).collect::<Vec<_>>())
}

impl Gitea {
    pub(super) fn new(settings: &HostSettings) -> Result<Self, HostError> {
        let value: fn(&Secret) -> String = |token| format!("token {}", token.reveal());
        let header = |token: &SecretSource| Authorization::new("authorization", value, token.clone());
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
            let call = call.clone().query("limit", PAGE_ITEMS.to_string());
            call.query("page", number.to_string())
        };
        let pages: Vec<Vec<T>> = self.transport.pages(page, self.authorization.as_ref(), next_by_link)?;
        Ok(pages.into_iter().flatten().collect())
    }

    fn account_or_none(&self, repository: &HostRepository) -> Result<String, HostError> {
        if self.authorization.is_none() { Ok(String::new()) } else { self.account(repository) }
    }

    fn read_pull_request(&self, repository: &HostRepository, number: u64) -> Result<PullRequestJson, HostError> {
        self.read(&get(repository, &["pulls", &number.to_string()]))
    }

    /// Reads pages until one is empty. Gitea's list of reviews names no next page, and a later one can withdraw an approval.
    fn list_to_the_end<T: DeserializeOwned>(&self, call: &Call) -> Result<Vec<T>, HostError> {
        let page = |number: u32| {
            let call = call.clone().query("limit", PAGE_ITEMS.to_string());
            call.query("page", number.to_string())
        };
        let has_next = |_: &Answer, page: &Vec<T>| !page.is_empty();
        let pages = self.transport.pages(page, self.authorization.as_ref(), has_next)?;
        Ok(pages.into_iter().flatten().collect())
    }
}

impl GitHost for Gitea {
    fn kind(&self) -> HostKind {
        HostKind::Gitea
    }

    fn text_limits(&self) -> TextLimits {
        TextLimits { title: 255, body: 65_536, comment: 65_536 }
    }

    fn account(&self, _: &HostRepository) -> Result<String, HostError> {
        if let Some(known) = self.account.get() {
            return Ok(known.clone());
        }
        let user: UserJson = self.read(&Call::get(&["user"]))?;
        Ok(self.account.get_or_init(|| user.login).clone())
    }

    fn default_branch(&self, repository: &HostRepository) -> Result<String, HostError> {
        self.read(&get(repository, &[])).map(|found: RepositoryJson| found.default_branch)
    }

    fn protection(&self, repository: &HostRepository, branch: &str) -> Result<Option<BranchProtection>, HostError> {
        // The name is the rest of the path. Some proxies refuse a slash in another form.
        let rest: Vec<&str> = ["branches"].into_iter().chain(branch.split('/')).collect();
        let found = told(self.read(&get(repository, &rest)))?;
        Ok(found.map(protection::protection))
    }

    fn create_repository(
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

    fn rate_limit(&self) -> Option<RateLimit> {
        self.transport.rate_limit()
    }

    fn calls(&self) -> CallCounts {
        self.transport.calls()
    }
}
