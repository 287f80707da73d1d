//! GitHub, in the cloud and as Enterprise Server: its REST API, and its GraphQL API for automatic merges.

mod app;
mod graphql;
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
use serde_json::json;

use self::app::App;
use self::json::{PullRequestJson, RepositoryJson};
use crate::calls::CallCounts;
use crate::credential::Credential;
use crate::error::HostError;
use crate::host::{GitHost, TextLimits};
use crate::hosts::{creation, next_by_link, told};
use crate::kind::HostKind;
use crate::limits::PAGE_ITEMS;
use crate::new_repository::{NewRepository, RepositoryCreation};
use crate::protection::BranchProtection;
use crate::rate_limit::RateLimit;
use crate::repository::HostRepository;
use crate::settings::HostSettings;
use crate::transport::{Answer, Authorization, Call, Transport};

/// The version of the REST API.
const VERSION: &str = "2022-11-28";

/// A client of GitHub.
#[derive(Debug)]
pub(super) struct GitHub {
    transport: Transport,
    tokens: Tokens,
    account: OnceLock<String>,
}

#[derive(Debug)]
enum Tokens {
    None,
    Account(SecretSource),
    App(Box<App>),
}

/// A call with the headers that GitHub recommends.
fn versioned(call: Call) -> Call {
    call.header("accept", "application/vnd.github+json").header("x-github-api-version", VERSION)
}

fn bearer(token: &SecretSource) -> Result<Authorization, HostError> {
    Authorization::new("authorization", |token| format!("Bearer {}", token.reveal()), token.clone())
}

impl GitHub {
    pub(super) fn new(settings: &HostSettings) -> Result<Self, HostError> {
        let tokens = match &settings.credential {
            Credential::None => Tokens::None,
            Credential::Token(token) => Tokens::Account(token.clone()),
            Credential::GitHubApp { app_id, installation, private_key } => {
                Tokens::App(Box::new(App::new(app_id, *installation, private_key.clone())?))
            }
        };
        Ok(Self { transport: Transport::new(settings)?, tokens, account: OnceLock::new() })
    }

    fn token(&self, repository: &HostRepository) -> Result<Option<SecretSource>, HostError> {
        match &self.tokens {
            Tokens::None => Ok(None),
            Tokens::Account(token) => Ok(Some(token.clone())),
            Tokens::App(app) => app.token(&self.transport, repository).map(|token| Some(token.into())),
        }
    }

    fn send(&self, repository: &HostRepository, call: Call) -> Result<Answer, HostError> {
        let call = versioned(call);
        let send = || {
            let header = self.token(repository)?.map(|token| bearer(&token)).transpose()?;
            self.transport.send(&call, header.as_ref())
        };
        match (send(), &self.tokens) {
            // The installation may have been suspended or its token revoked.
            (Err(HostError::Refused { status: 401, .. }), Tokens::App(app)) => {
                app.forget();
                send()
            }
            (result, _) => result,
        }
    }

    fn read<T: DeserializeOwned>(&self, repository: &HostRepository, call: Call) -> Result<T, HostError> {
        self.send(repository, call)?.json()
    }

    /// Reads all pages of a list.
    fn list<T: DeserializeOwned>(&self, repository: &HostRepository, call: &Call) -> Result<Vec<T>, HostError> {
        let header = self.token(repository)?.map(|token| bearer(&token)).transpose()?;
        let page = |number: u32| {
            let call = call.clone().query("per_page", PAGE_ITEMS.to_string());
            versioned(call.query("page", number.to_string()))
        };
        let pages: Vec<Vec<T>> = self.transport.pages(page, header.as_ref(), next_by_link)?;
        Ok(pages.into_iter().flatten().collect())
    }

    fn read_pull_request(&self, repository: &HostRepository, number: u64) -> Result<PullRequestJson, HostError> {
        self.read(repository, Call::get(&path(repository, &["pulls", &number.to_string()])))
    }

    /// A pull request of which is known whether it can be merged.
    fn read_settled(&self, repository: &HostRepository, number: u64) -> Result<PullRequestJson, HostError> {
        self.transport.read_settled(|| self.read_pull_request(repository, number), PullRequestJson::is_settled)
    }

    /// The account, or an empty text without a credential.
    fn account_or_none(&self, repository: &HostRepository) -> Result<String, HostError> {
        if matches!(self.tokens, Tokens::None) { Ok(String::new()) } else { self.account(repository) }
    }
}

/// The path of a resource of a repository.
fn path<'a, const N: usize>(repository: &'a HostRepository, rest: &[&'a str; N]) -> Vec<&'a str> {
    let mut path = vec!["repos"];
    path.extend(repository.path().iter().map(String::as_str));
    path.extend(rest);
    path
}

impl GitHost for GitHub {
    fn kind(&self) -> HostKind {
        HostKind::GitHub
    }

    fn text_limits(&self) -> TextLimits {
        TextLimits { title: 256, body: 65_536, comment: 65_536 }
    }

    fn account(&self, _: &HostRepository) -> Result<String, HostError> {
        if let Some(known) = self.account.get() {
            return Ok(known.clone());
        }
        let account = match &self.tokens {
            Tokens::App(app) => app.account(&self.transport)?,
            Tokens::Account(token) => graphql::viewer(&self.transport, &bearer(token)?)?,
            Tokens::None => return Err(HostError::Settings("GitHub without a token has no account".to_owned())),
        };
        Ok(self.account.get_or_init(|| account).clone())
    }

    fn git_token(&self, repository: &HostRepository) -> Result<Option<Secret>, HostError> {
        match &self.tokens {
            Tokens::App(app) => app.git_token(&self.transport, repository),
            Tokens::Account(_) | Tokens::None => Ok(None),
        }
    }

    fn default_branch(&self, repository: &HostRepository) -> Result<String, HostError> {
        self.read(repository, Call::get(&path(repository, &[]))).map(|found: RepositoryJson| found.default_branch)
    }

    fn protection(&self, repository: &HostRepository, branch: &str) -> Result<Option<BranchProtection>, HostError> {
        let rules = told(self.list(repository, &Call::get(&path(repository, &["rules", "branches", branch]))))?;
        let branch = told(self.read(repository, Call::get(&path(repository, &["branches", branch]))))?;
        Ok(protection::protection(branch, rules))
    }

    fn create_repository(
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

    fn rate_limit(&self) -> Option<RateLimit> {
        self.transport.rate_limit()
    }

    fn calls(&self) -> CallCounts {
        self.transport.calls()
    }
}
