//! A chain of environments in memory, with its git host.

use std::sync::Arc;

use delivery::access::RepositoryAccess;
use delivery::pull_requests::{ConfiguredHost, GitHosts};
use delivery::states::promoted_commit::PromotedCommit;
use git::RepositoryUrl;
use git_host::HostKind;
use git_host::host::{GitHost as _, PullRequests as _};
use git_host::hosts::memory::MemoryHost;
use git_host::pull_request::{PullRequest, PullRequestChanges};
use git_host::review::ReviewVerdict;
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::object::environment::RepositoryPlace;
use model::progress::Progress;
use tempfile::TempDir;
use testkit::chain::MemoryChain;
use testkit::company::{CONTROL_PLANE, PAGES};

use crate::world::settings;

pub(crate) struct Chain {
    pub(crate) company: MemoryChain,
    pub(crate) host: MemoryHost,
    pub(crate) hosts: GitHosts,
    pub(crate) access: Arc<RepositoryAccess>,
    _cache: TempDir,
}

pub(crate) fn name(environment: &str) -> EnvironmentName {
    EnvironmentName::new(environment).unwrap()
}

impl Chain {
    pub(crate) fn new(environments: &[&str]) -> Self {
        let (cache, company) = (TempDir::new().unwrap(), MemoryChain::new(environments));
        let settings = settings(&cache);
        let repositories = Arc::clone(&company.repositories);
        let access = Arc::new(RepositoryAccess::with(settings, repositories, Progress::default()));
        let host = company.host(HostKind::GitHub);
        let hosts = GitHosts::new(vec![ConfiguredHost::new(Arc::new(host.clone()), PAGES)]);
        Self { company, host, hosts, access, _cache: cache }
    }

    /// The commit of the main branch that an environment has.
    pub(crate) fn promoted(&self, environment: &str) -> PromotedCommit {
        let place = RepositoryPlace { repo: CONTROL_PLANE.into(), branch: environment.into(), path: ".".into() };
        PromotedCommit::read(&self.access, &name(environment), &place).unwrap()
    }

    /// The number of commits of a branch.
    pub(crate) fn commit_count(&self, repository: &str, branch: &str) -> usize {
        let url = RepositoryUrl::from_object(repository).unwrap();
        let head = self.access.repositories.resolve(&url, &git::Revision::branch(branch)).unwrap();
        self.access.repositories.history(&head, 1_000).unwrap().len()
    }

    /// The message of a commit of a branch of the control plane.
    pub(crate) fn message_of(&self, branch: &str, commit: &str) -> String {
        let access = &self.access;
        let head = access.repositories.resolve(&access.settings.repo, &git::Revision::branch(branch)).unwrap();
        let found = git::Commit { id: GitId::from_hex(commit).unwrap(), ..head };
        access.repositories.info(&found).unwrap().message
    }

    /// The pull requests of the control plane.
    pub(crate) fn pull_requests(&self) -> Vec<PullRequest> {
        self.host.state().repository("acme/control-plane").unwrap().pull_requests()
    }

    /// Merges a pull request of the control plane.
    pub(crate) fn merge(&self, number: u64) {
        let mut state = self.host.state();
        let repository = state.repository("acme/control-plane").unwrap();
        let head = repository.pull_requests().into_iter().find(|found| found.number == number).unwrap().head_commit;
        repository.merge(number, head.unwrap()).unwrap();
    }

    /// Adds a label to a pull request of the control plane.
    pub(crate) fn label(&self, number: u64, label: &str) {
        let repository = git_host::HostRepository::parse(self.host.kind(), CONTROL_PLANE, PAGES).unwrap();
        let changes = PullRequestChanges { add_labels: [label.to_owned()].into(), ..PullRequestChanges::default() };
        self.host.update(&repository, number, &changes).unwrap();
    }

    /// Closes a pull request of the control plane without a merge.
    pub(crate) fn close(&self, number: u64) {
        let repository = git_host::HostRepository::parse(self.host.kind(), CONTROL_PLANE, PAGES).unwrap();
        self.host.close(&repository, number).unwrap();
    }

    /// Approves a pull request of the control plane with a review.
    pub(crate) fn approve(&self, number: u64, account: &str) {
        let mut state = self.host.state();
        let repository = state.repository("acme/control-plane").unwrap();
        repository.review(account, number, ReviewVerdict::Approved).unwrap();
    }

    /// The statuses of promotions of a commit: context and description.
    pub(crate) fn statuses(&self, commit: GitId) -> Vec<(String, String)> {
        let mut state = self.host.state();
        let all = state.repository("acme/control-plane").unwrap().statuses(commit);
        let own = all.into_iter().filter(|status| status.context.ends_with(" environment"));
        own.map(|status| (status.context, status.description)).collect()
    }
}
