//! Azure DevOps Services and Server: the REST API of Azure Repos. Issues are work items of Azure Boards.

pub(crate) mod html;
mod issues;
mod json;
mod merges;
mod protection;
mod pull_requests;
mod reviews;
mod statuses;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use data_encoding::BASE64;
use model::secret::{Secret, SecretSource};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use self::issues::IssueType;
use self::json::{BRANCH_PREFIX, ConnectionJson, ListJson, PullRequestJson, RepositoryJson};
use self::protection::{IdJson, PolicyJson};
use crate::calls::CallCounts;
use crate::error::HostError;
use crate::host::{GitHost, TextLimits};
use crate::hosts::{creation, token, told};
use crate::kind::HostKind;
use crate::new_repository::{NewRepository, RepositoryCreation};
use crate::protection::BranchProtection;
use crate::rate_limit::RateLimit;
use crate::repository::HostRepository;
use crate::settings::HostSettings;
use crate::transport::{Answer, Authorization, Call, Transport};

/// The version of the API. Azure DevOps Server has it since 2022.
const VERSION: &str = "7.0";

/// A client of Azure DevOps.
#[derive(Debug)]
pub(super) struct AzureDevOps {
    transport: Transport,
    authorization: Option<Authorization>,
    /// The accounts by organization.
    accounts: Mutex<BTreeMap<String, String>>,
    /// The types of issues by project.
    issue_types: Mutex<BTreeMap<Vec<String>, IssueType>>,
}

/// A call of a resource of a repository.
fn with_path(repository: &HostRepository, rest: &[&str], call: impl FnOnce(&[&str]) -> Call) -> Call {
    let project = repository.path().split_last().map_or(&[][..], |(_, project)| project);
    let project = project.iter().map(String::as_str);
    let path = project.chain(["_apis", "git", "repositories", repository.name()]).chain(rest.iter().copied());
    call(&path.collect::<Vec<_>>()).query("api-version", VERSION)
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

impl AzureDevOps {
    pub(super) fn new(settings: &HostSettings) -> Result<Self, HostError> {
        let value: fn(&Secret) -> String =
            |token| format!("Basic {}", BASE64.encode(format!(":{}", token.reveal()).as_bytes()));
        let header = |token: &SecretSource| Authorization::new("authorization", value, token.clone());
        let authorization = token(settings)?.map(header).transpose()?;
        let transport = Transport::new(settings)?;
        Ok(Self { transport, authorization, accounts: Mutex::default(), issue_types: Mutex::default() })
    }

    fn send(&self, call: &Call) -> Result<Answer, HostError> {
        self.transport.send(call, self.authorization.as_ref())
    }

    fn read<T: DeserializeOwned>(&self, call: &Call) -> Result<T, HostError> {
        self.transport.read(call, self.authorization.as_ref())
    }

    /// The address of a page of a repository's project.
    fn page_of_project(&self, repository: &HostRepository, rest: [&str; 2]) -> String {
        let mut url = self.transport.base().clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            let project = repository.path().split_last().map_or(&[][..], |(_, project)| project);
            segments.pop_if_empty().extend(project).extend(rest);
        }
        url.to_string()
    }

    /// The address of the page of a repository.
    fn page(&self, repository: &HostRepository) -> String {
        self.page_of_project(repository, ["_git", repository.name()])
    }

    fn page_of_work_item(&self, repository: &HostRepository, number: u64) -> String {
        format!("{}/{number}", self.page_of_project(repository, ["_workitems", "edit"]))
    }

    /// The type of issues in a project. It is read once.
    fn issue_type(&self, repository: &HostRepository) -> Result<IssueType, HostError> {
        let project = repository.path().split_last().map_or_else(Vec::new, |(_, project)| project.to_vec());
        let known = || self.issue_types.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known().get(&project) {
            return Ok(known.clone());
        }
        let read = issues::read_type(self, repository)?;
        known().insert(project, read.clone());
        Ok(read)
    }

    fn account_or_none(&self, repository: &HostRepository) -> Result<String, HostError> {
        if self.authorization.is_none() { Ok(String::new()) } else { self.account(repository) }
    }

    fn read_pull_request(&self, repository: &HostRepository, number: u64) -> Result<PullRequestJson, HostError> {
        self.read(&get(repository, &["pullrequests", &number.to_string()]))
    }

    fn change(&self, repository: &HostRepository, number: u64, body: Value) -> Result<PullRequestJson, HostError> {
        self.read(&patch(repository, &["pullrequests", &number.to_string()], body))
    }
}

impl GitHost for AzureDevOps {
    fn kind(&self) -> HostKind {
        HostKind::AzureDevOps
    }

    fn text_limits(&self) -> TextLimits {
        TextLimits { title: 400, body: 4_000, comment: 150_000 }
    }

    fn account(&self, repository: &HostRepository) -> Result<String, HostError> {
        let organization = repository.path().first().map_or("", String::as_str);
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = accounts.get(organization) {
            return Ok(known.clone());
        }
        let call = Call::get(&[organization, "_apis", "connectionData"]);
        let connection: ConnectionJson = self.read(&call.query("api-version", format!("{VERSION}-preview")))?;
        let id = connection.authenticated_user.id;
        accounts.insert(organization.to_owned(), id.clone());
        Ok(id)
    }

    fn default_branch(&self, repository: &HostRepository) -> Result<String, HostError> {
        let answer = self.send(&get(repository, &[]))?;
        let found: RepositoryJson = answer.json()?;
        let branch = found.default_branch.as_deref().and_then(|name| name.strip_prefix(BRANCH_PREFIX));
        branch.map(str::to_owned).ok_or_else(|| answer.unexpected("the repository is empty"))
    }

    fn protection(&self, repository: &HostRepository, branch: &str) -> Result<Option<BranchProtection>, HostError> {
        // Policies name repositories by their ids.
        let Some(IdJson { id }) = told(self.read(&get(repository, &[])))? else { return Ok(None) };
        let project = repository.path().split_last().map_or(&[][..], |(_, project)| project);
        let project = project.iter().map(String::as_str);
        let path: Vec<&str> = project.chain(["_apis", "git", "policy", "configurations"]).collect();
        let call = Call::get(&path).query("repositoryId", id).query("refName", format!("{BRANCH_PREFIX}{branch}"));
        let found: Option<ListJson<PolicyJson>> = told(self.read(&call.query("api-version", VERSION)))?;
        Ok(found.map(|found| protection::protection(&found.value)))
    }

    /// The project decides who can read the repository, which has no description.
    fn create_repository(
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

    fn rate_limit(&self) -> Option<RateLimit> {
        self.transport.rate_limit()
    }

    fn calls(&self) -> CallCounts {
        self.transport.calls()
    }
}
