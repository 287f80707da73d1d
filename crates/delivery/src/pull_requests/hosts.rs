//! The configured git hosts, and the repositories on them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use git_host::pull_request::{MergeMethod, Reviewer};
use git_host::settings::usual_url;
use git_host::status::CommitStatus;
use git_host::{GitHost, HostKind, HostRepository};
use model::git_id::GitId;

/// A git host, with the settings of its pull requests.
#[derive(Clone, Debug)]
pub struct ConfiguredHost {
    /// The host.
    pub host: Arc<dyn GitHost>,
    /// The address of its pages. Repositories below it are on this host.
    pub url: String,
    /// The accounts and teams whose review is requested.
    pub reviewers: Vec<Reviewer>,
    /// How pull requests are merged automatically.
    pub method: MergeMethod,
    /// Whether Kalypso pushes to the branch that clusters pull, because a plain git server has no pull requests.
    pub merges_itself: bool,
    /// Whose label on the pull request confirms removals.
    pub label_confirmers: LabelConfirmers,
}

/// Whose label on a pull request confirms removals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LabelConfirmers {
    /// Labels confirm nothing.
    #[default]
    Nobody,
    /// Every account that may set labels.
    Anyone,
    /// These accounts of the git host.
    Accounts(Vec<String>),
}

/// All configured git hosts. Calls are made to these only.
#[derive(Debug, Default)]
pub struct GitHosts {
    hosts: Vec<ConfiguredHost>,
    /// The statuses that were set last, so that they are not set again.
    statuses: Mutex<BTreeMap<StatusSlot, (GitId, CommitStatus)>>,
}

/// Where a status replaces an earlier one: a repository and a context, and the branch if each branch has a status of its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StatusSlot {
    /// The repository.
    pub(crate) repository: HostRepository,
    /// The context.
    pub(crate) context: String,
    /// The branch.
    pub(crate) branch: Option<String>,
}

impl GitHosts {
    /// Hosts, in the order in which they are searched.
    pub fn new(hosts: Vec<ConfiguredHost>) -> Self {
        Self { hosts, statuses: Mutex::default() }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }

    /// All hosts.
    pub fn iter(&self) -> impl Iterator<Item = &ConfiguredHost> {
        self.hosts.iter()
    }

    /// The host of a repository. None if it is on none of them.
    pub fn find(&self, url: &str) -> Option<(&ConfiguredHost, HostRepository)> {
        self.hosts.iter().find_map(|host| Some((host, host.repository(url)?)))
    }

    /// Whether a status differs from the last one in its slot. From then on, it is the last one.
    pub(crate) fn is_new_status(&self, slot: &StatusSlot, commit: GitId, status: &CommitStatus) -> bool {
        let new = (commit, status.clone());
        let mut statuses = self.statuses.lock().unwrap_or_else(PoisonError::into_inner);
        statuses.insert(slot.clone(), new.clone()).is_none_or(|old| old != new)
    }

    /// Forgets the last status in a slot, so that it is set again.
    pub(crate) fn forget_status(&self, slot: &StatusSlot) {
        self.statuses.lock().unwrap_or_else(PoisonError::into_inner).remove(slot);
    }
}

/// Git gets the tokens of hosts that make them, such as GitHub for an App. It gets them only for repositories of these hosts, with the same scheme.
impl git::TokenSource for GitHosts {
    fn token(&self, url: &str) -> Result<Option<git::HttpToken>, String> {
        let scheme = |url: &str| url.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
        let found = self.find(url).filter(|(configured, _)| scheme(url) == scheme(&configured.url));
        let Some((configured, repository)) = found else { return Ok(None) };
        let token = configured.host.git_token(&repository).map_err(|error| error.to_string())?;
        Ok(token.map(|token| git::HttpToken::new(token.reveal())))
    }
}

impl ConfiguredHost {
    /// A host without reviewers, whose pull requests are merged with a merge commit.
    pub fn new(host: Arc<dyn GitHost>, url: &str) -> Self {
        Self {
            host,
            url: url.trim_end_matches('/').to_owned(),
            reviewers: Vec::new(),
            method: MergeMethod::default(),
            merges_itself: false,
            label_confirmers: LabelConfirmers::Nobody,
        }
    }

    /// The repository with a URL. None if it is not on this host.
    fn repository(&self, url: &str) -> Option<HostRepository> {
        let is_http = url.starts_with("https://") || url.starts_with("http://");
        // The host name of an ssh URL may be another one; those of the public hosts are known.
        if !is_http && usual_url(url)?.trim_end_matches('/') != self.url {
            return None;
        }
        HostRepository::parse(self.host.kind(), url, &self.url).ok()
    }

    /// Whether the host has pull requests.
    pub fn has_pull_requests(&self) -> bool {
        self.host.kind() != HostKind::Git
    }
}
