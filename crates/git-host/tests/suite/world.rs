//! A git host with one repository, and clients of it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use git_host::credential::Credential;
use git_host::double::HostDouble;
use git_host::hosts::memory::{MemoryBranches, MemoryHost};
use git_host::pull_request::{NewPullRequest, PullRequest, PullRequestQuery};
use git_host::secret::Secret;
use git_host::settings::{HostSettings, Patience, Waiter};
use git_host::{GitHost, HostKind, HostRepository, hosts};

/// The token of the clients.
pub(crate) const TOKEN: &str = "t0ken-of-kalypso";

/// The account of the clients.
pub(crate) const ACCOUNT: &str = "kalypso-bot";

/// How a client reaches its host.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Over HTTP.
    Http,
    /// In memory.
    Memory,
}

/// A git host with the branches `main` and `kalypso/dev`.
pub(crate) struct World {
    pub(crate) state: MemoryHost,
    pub(crate) branches: MemoryBranches,
    pub(crate) client: Arc<dyn GitHost>,
    pub(crate) repository: HostRepository,
    pub(crate) double: Option<HostDouble>,
    /// The pauses of the clients, which take no time.
    pub(crate) pauses: Arc<Mutex<Vec<Duration>>>,
}

impl World {
    pub(crate) fn new(kind: HostKind, way: Way) -> Self {
        let (state, branches) = (MemoryHost::new(kind), MemoryBranches::new());
        branches.push("kalypso/dev");
        let path: &[&str] = match kind {
            HostKind::GitLab => &["acme", "team", "gitops"],
            HostKind::AzureDevOps => &["acme", "My fleet", "gitops"],
            _ => &["acme", "gitops"],
        };
        let repository = HostRepository::from_path(path);
        state.add_repository(&repository.to_string(), Box::new(branches.clone()));
        let pauses = Arc::default();
        let mut world = Self { client: Arc::new(state.clone()), state, branches, repository, double: None, pauses };
        if way == Way::Http {
            let double = HostDouble::start(&world.state).unwrap();
            double.accept_token(TOKEN, ACCOUNT);
            world.client = hosts::connect(&world.settings(&double)).unwrap();
            world.double = Some(double);
        }
        world
    }

    /// Settings whose pauses take no time.
    pub(crate) fn settings(&self, double: &HostDouble) -> HostSettings {
        let pauses = Arc::clone(&self.pauses);
        let wait = Waiter::new(move |pause| {
            pauses.lock().unwrap_or_else(PoisonError::into_inner).push(pause);
            true
        });
        let patience = Patience { wait, ..Patience::default() };
        let credential = Credential::Token(Secret::new(TOKEN).into());
        HostSettings { patience, ..HostSettings::new(self.state.kind(), &double.url(), credential) }
    }

    pub(crate) fn kind(&self) -> HostKind {
        self.state.kind()
    }

    pub(crate) fn path(&self) -> String {
        self.repository.to_string()
    }

    pub(crate) fn open(&self) -> PullRequest {
        let opened = self.client.open(&self.repository, &new()).unwrap();
        assert!(opened.incomplete.is_empty(), "{:?}", opened.incomplete);
        opened.pull_request
    }

    pub(crate) fn read(&self, number: u64) -> PullRequest {
        self.client.pull_request(&self.repository, number).unwrap()
    }

    pub(crate) fn found(&self, query: &PullRequestQuery) -> Vec<u64> {
        let found = self.client.pull_requests(&self.repository, query).unwrap();
        found.iter().map(|pull_request| pull_request.number).collect()
    }

    /// The sum of all pauses.
    pub(crate) fn waited(&self) -> Duration {
        self.pauses.lock().unwrap().iter().sum()
    }
}

/// The pull request of `kalypso/dev`.
pub(crate) fn new() -> NewPullRequest {
    NewPullRequest {
        head: "kalypso/dev".to_owned(),
        base: "main".to_owned(),
        title: "dev: 3 assignments".to_owned(),
        body: "## Plan\n\n<b>3</b> changed".to_owned(),
        ..NewPullRequest::default()
    }
}
