//! A company in memory with its service.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use checks::EvidenceSources;
use delivery::access::{ControlPlaneSettings, StateKeys};
use delivery::pull_requests::ConfiguredHost;
use git::Repositories as _;
use git_host::HostKind;
use git_host::hosts::memory::MemoryHost;
use git_host::pull_request::PullRequest;
use git_host::secret::Secret;
use hub_api::syncs::{EnvironmentSync, SyncService as _};
use model::rollout::EnvironmentOrder;
use service::{PromotionHub, Service, ServiceHost, ServiceSettings, Timing};
use tempfile::TempDir;
use testkit::company::memory::{commit_files, resolve, url};
use testkit::company::{CONTROL_PLANE, MemoryCompany, PAGES};
use testkit::generator::ENVIRONMENT;

/// How long a test waits for the service.
const PATIENCE: Duration = Duration::from_mins(1);
const GITOPS_PATH: &str = "acme/gitops";
/// The branch with the states of the environment.
const STATES: &str = "kalypso-rollouts/prod";
pub(crate) const SECRET: &str = "a secret of webhooks";

/// Never polls by itself within a test.
pub(crate) const RARELY: Timing = Timing {
    poll: Duration::from_hours(1),
    settle: Duration::from_millis(50),
    settle_max: Duration::from_secs(1),
    resync: Duration::from_hours(1),
    promotion: Duration::from_hours(1),
};
/// Polls all the time.
pub(crate) const OFTEN: Timing = Timing { poll: Duration::from_millis(20), ..RARELY };

pub(crate) struct World {
    pub(crate) company: MemoryCompany,
    pub(crate) host: MemoryHost,
    cache: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with_company(MemoryCompany::new())
    }

    pub(crate) fn with_company(company: MemoryCompany) -> Self {
        let host = company.host(HostKind::GitHub);
        Self { company, host, cache: TempDir::new().unwrap() }
    }

    pub(crate) fn settings(&self, timing: Timing) -> ServiceSettings {
        let settings = ConfiguredHost::new(Arc::new(self.host.clone()), PAGES);
        let control_plane = ControlPlaneSettings {
            repo: url(CONTROL_PLANE),
            branch: "main".to_owned(),
            git: git::Settings::new(self.cache.path().join("cache")),
            acknowledgements: Arc::default(),
            state_keys: StateKeys::default(),
            environment_order: EnvironmentOrder::default(),
        };
        ServiceSettings {
            control_plane,
            other_control_planes: BTreeMap::new(),
            repositories: Arc::clone(&self.company.repositories) as _,
            hosts: vec![ServiceHost { settings, webhook_secrets: vec![Secret::new(SECRET).into()] }],
            hub: None,
            leases: None,
            environments: Vec::new(),
            confirmers: None,
            evidence: EvidenceSources::default(),
            promotion: PromotionHub::default(),
            timing,
        }
    }

    /// Starts the service, and waits for the first sync.
    pub(crate) fn start(&self, timing: Timing) -> Service {
        let service = Service::start(self.settings(timing));
        eventually("the first sync", || service.missing().is_empty());
        service
    }

    pub(crate) fn pull_requests(&self) -> Vec<PullRequest> {
        self.host.state().repository(GITOPS_PATH).unwrap().pull_requests()
    }

    pub(crate) fn last(&self) -> PullRequest {
        self.pull_requests().pop().unwrap()
    }

    /// Begins the branch with the states of the environment.
    pub(crate) fn begin_states(&self) {
        let file = ("README.md".to_owned(), "The states.\n".to_owned());
        commit_files(&self.company.repositories, (CONTROL_PLANE, STATES), &[file].into());
    }

    /// The message of the newest commit with states.
    pub(crate) fn newest_state(&self) -> String {
        let head = resolve(&self.company.repositories, (CONTROL_PLANE, STATES)).unwrap();
        self.company.repositories.info(&head).unwrap().message
    }

    pub(crate) fn merge(&self) {
        let last = self.last();
        self.host.state().repository(GITOPS_PATH).unwrap().merge(last.number, last.head_commit.unwrap()).unwrap();
    }
}

pub(crate) fn state(service: &Service) -> EnvironmentSync {
    service.states().into_iter().find(|state| state.environment == ENVIRONMENT).unwrap()
}

/// The number of syncs so far.
pub(crate) fn syncs(service: &Service) -> usize {
    let lines = service.metrics();
    let counts = lines.lines().filter(|line| line.starts_with("kalypso_syncs_total{"));
    counts.filter_map(|line| line.rsplit(' ').next()?.parse::<usize>().ok()).sum()
}

/// Waits until something is true.
pub(crate) fn eventually(what: &str, is_true: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_true() {
        assert!(start.elapsed() < PATIENCE, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(5));
    }
}
