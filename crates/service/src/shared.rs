//! What all threads of the service share: settings, environments, and whether it stops.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use delivery::access::RepositoryAccess;
use delivery::access::state_anchors::StateAnchors;
use delivery::pull_requests::GitHosts;
use hub_api::leases::{LeaderAction, LeaderRequest};
use model::name::EnvironmentName;
use model::progress::Progress;

use crate::ServiceSettings;
use crate::dependencies::Dependencies;
use crate::environment::Environment;
use crate::metrics::Metrics;
use crate::outbox::Outbox;
use crate::poll_queue::PollQueue;
use crate::trigger::Reason;

/// What all threads share.
pub(crate) struct Shared {
    /// The name of the control plane, if it is not the main one.
    pub(crate) name: Option<String>,
    pub(crate) settings: ServiceSettings,
    pub(crate) hosts: GitHosts,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) polls: PollQueue,
    /// What the service has read of the branches with states: none of it may disappear.
    state_anchors: StateAnchors,
    /// The requests for other replicas.
    pub(crate) outbox: Outbox,
    environments: Mutex<BTreeMap<EnvironmentName, Arc<Environment>>>,
    /// Why the environments of the control plane are not known.
    missing: Mutex<Option<String>>,
    /// Whether the names of the environments could not be read when they changed.
    pub(crate) are_names_old: AtomicBool,
    is_stopping: AtomicBool,
    /// Whether the same process goes on with other settings, and so with the same leases.
    pub(crate) is_replaced: AtomicBool,
    running: Mutex<Running>,
    ended: Condvar,
}

/// The threads that a stop waits for.
#[derive(Debug, Default)]
struct Running {
    /// The number of threads that sync environments.
    syncing: usize,
    /// Whether leases are renewed.
    is_renewing: bool,
}

impl Shared {
    /// `metrics` goes on counting what was counted with earlier settings.
    pub(crate) fn new(name: Option<String>, settings: ServiceSettings, metrics: Arc<Metrics>) -> Self {
        let hosts = GitHosts::new(settings.hosts.iter().map(|host| host.settings.clone()).collect());
        let shared = Self {
            name,
            hosts,
            metrics,
            polls: PollQueue::new(settings.timing.poll),
            outbox: Outbox::default(),
            state_anchors: StateAnchors::default(),
            environments: Mutex::default(),
            missing: Mutex::new(Some("the environments of the control plane are not read yet".to_owned())),
            are_names_old: AtomicBool::new(true),
            is_stopping: AtomicBool::new(false),
            is_replaced: AtomicBool::new(false),
            running: Mutex::default(),
            ended: Condvar::new(),
            settings,
        };
        // The first poll of the control plane reads the names of its environments.
        shared.polls.keep([&shared.settings.control_plane.repo].into_iter());
        shared
    }

    /// Access to the repositories for one sync.
    pub(crate) fn access(&self) -> Arc<RepositoryAccess> {
        let repositories = Arc::clone(&self.settings.repositories);
        let access = RepositoryAccess::with(self.settings.control_plane.clone(), repositories, Progress::default());
        Arc::new(access.with_state_anchors(&self.state_anchors))
    }

    /// The thread of an environment starts.
    pub(crate) fn enter(&self) {
        self.running().syncing += 1;
    }

    /// The thread of an environment ends.
    pub(crate) fn leave(&self) {
        self.running().syncing -= 1;
        self.ended.notify_all();
        self.outbox.wake();
    }

    /// Renewing of leases starts or ends.
    pub(crate) fn set_renewing(&self, is_renewing: bool) {
        self.running().is_renewing = is_renewing;
        self.ended.notify_all();
    }

    /// All environments, by name.
    pub(crate) fn all(&self) -> Vec<Arc<Environment>> {
        self.environments().values().cloned().collect()
    }

    /// The environment with a name.
    pub(crate) fn find(&self, name: &str) -> Option<Arc<Environment>> {
        self.environments().get(name).cloned()
    }

    /// Requests a sync of an environment, from another replica if that one leads it.
    pub(crate) fn request(&self, environment: &Environment, reason: Reason) {
        if environment.lease.is_held() {
            return environment.trigger.request(reason);
        }
        let is_of_webhook = reason == Reason::Webhook;
        let action = if is_of_webhook { LeaderAction::SyncAfterWebhook } else { LeaderAction::Sync };
        self.outbox.add(LeaderRequest { environment: environment.name.to_string(), action });
    }

    /// Polls exactly the repositories that an environment depends on, and the control plane.
    pub(crate) fn update_polls(&self) {
        let all: Vec<_> = self.all().iter().map(|environment| environment.dependencies()).collect();
        let repositories = all.iter().flat_map(Dependencies::repositories);
        self.polls.keep(repositories.chain([&self.settings.control_plane.repo]));
    }

    /// The reason why no environment is known.
    pub(crate) fn missing_environments(&self) -> Option<String> {
        self.missing().clone()
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed)
    }

    /// Ends all threads after what they do now.
    pub(crate) fn stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
        self.polls.stop();
        self.environments().values().for_each(|environment| environment.trigger.stop());
        self.outbox.wake();
    }

    /// Waits until no sync runs and the leases are given up, at most for a time.
    pub(crate) fn wait_until_stopped(&self, patience: Duration) {
        let end = Instant::now() + patience;
        let mut running = self.running();
        while running.syncing > 0 || running.is_renewing {
            let rest = end.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                tracing::warn!(
                    environments = running.syncing,
                    "syncs that are still running are abandoned: the next start completes them"
                );
                return;
            }
            running = self.ended.wait_timeout(running, rest).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The environments. Others wait while they are held.
    pub(crate) fn environments(&self) -> MutexGuard<'_, BTreeMap<EnvironmentName, Arc<Environment>>> {
        self.environments.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The reason why no environment is known. Others wait while it is held.
    pub(crate) fn missing(&self) -> MutexGuard<'_, Option<String>> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
