//! The service: keeps the GitOps branches of all environments up to date.
//!
//! It is level-triggered. A change of a branch, a webhook or a request only says that an environment may have changed. A sync then compares what should be with
//! what is, through [`delivery`]. So a lost or repeated message does no harm, and after a restart the service reaches the same state from nothing.
//!
//! Each environment has a thread of its own: a slow or broken one does not delay the others.
//!
//! One process can serve several control planes: each has its own threads, and they share the git hosts and the hub.
//!
//! Several replicas can share leases. Then the one that holds the lease of an environment syncs it. The others show its state, and pass on requests.

mod decisions;
mod dependencies;
mod environment;
mod lease;
mod limits;
mod logged;
mod metrics;
mod outbox;
mod poll_queue;
mod poller;
mod promotion;
mod renewer;
mod requests;
mod results;
mod settle;
mod shared;
mod threads;
mod trigger;
mod webhooks;
mod worker;

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use checks::EvidenceSources;
use delivery::access::{ControlPlaneSettings, RepositoryAccess, SharedRepositories};
use delivery::publication::hub_publication::Hub;
use delivery::pull_requests::ConfiguredHost;
use git_host::secret::SecretSource;
use hub_api::leases::Leases;
use model::name::EnvironmentName;

use self::environment::Environment;
use self::metrics::Metrics;
pub use self::promotion::{ConfiguredChecks, PromotionHub, teams};
use self::shared::Shared;
use self::webhooks::UnmatchedRepositories;

/// The settings of the service.
#[derive(Clone)]
pub struct ServiceSettings {
    /// The control plane, and the access to repositories.
    pub control_plane: ControlPlaneSettings,
    /// Other control planes, by the names that come before the names of their environments: `retail:prod`.
    pub other_control_planes: BTreeMap<String, ControlPlaneSettings>,
    /// The repositories.
    pub repositories: SharedRepositories,
    /// The git hosts.
    pub hosts: Vec<ServiceHost>,
    /// The hub that receives publications, if there is one.
    pub hub: Option<Arc<dyn Hub + Send + Sync>>,
    /// The leases that several replicas share. None: there is one replica, which leads all environments.
    pub leases: Option<Arc<dyn Leases>>,
    /// The environments in the order of promotion. Empty if the order is not known.
    pub environments: Vec<String>,
    /// The hub, as promotions use it.
    pub promotion: PromotionHub,
    /// Who may confirm removals over the API: names of tokens, or subjects of identity providers. None: all administrators.
    pub confirmers: Option<Vec<String>>,
    /// The checks of gates, and the accounts that count for promotion.
    pub evidence: EvidenceSources,
    /// How long the service waits.
    pub timing: Timing,
}

/// A git host with the secrets of its webhooks.
#[derive(Clone, Debug)]
pub struct ServiceHost {
    /// The host, with the settings of its pull requests.
    pub settings: ConfiguredHost,
    /// The secrets of its webhooks. Without one, no webhook is accepted.
    pub webhook_secrets: Vec<SecretSource>,
}

/// How long the service waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// The pause between two polls of a repository.
    pub poll: Duration,
    /// A sync starts when no further change has arrived for this time.
    pub settle: Duration,
    /// A sync starts at the latest after this time, even if changes arrive all the time.
    pub settle_max: Duration,
    /// The time after which an environment is synced although nothing is known to have changed.
    pub resync: Duration,
    /// The pause between two steps of promotions while something moves.
    pub promotion: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            poll: Duration::from_secs(30),
            settle: Duration::from_secs(3),
            settle_max: Duration::from_secs(30),
            resync: Duration::from_mins(5),
            promotion: Duration::from_secs(15),
        }
    }
}

/// The running service. When it is dropped, it stops.
pub struct Service {
    metrics: Arc<Metrics>,
    unmatched: UnmatchedRepositories,
    /// One for each control plane. The first one has no name.
    parts: Mutex<Vec<Arc<Shared>>>,
}

impl std::fmt::Debug for Service {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Service")
    }
}

impl Service {
    /// Starts the service. It syncs all environments at once.
    pub fn start(settings: ServiceSettings) -> Self {
        let metrics = Arc::new(Metrics::new());
        let unmatched = UnmatchedRepositories::default();
        Self { parts: Mutex::new(begin(settings, &metrics)), metrics, unmatched }
    }

    /// Goes on with other settings. Running syncs end with the old ones.
    pub fn replace(&self, settings: ServiceSettings) {
        let new = begin(settings, &self.metrics);
        let old = std::mem::replace(&mut *self.parts.lock().unwrap_or_else(PoisonError::into_inner), new);
        for part in old {
            part.is_replaced.store(true, Ordering::Relaxed);
            part.stop();
        }
    }

    /// Starts no further sync, and waits until the running ones have ended, or the time is over. What is not ended then, the next start completes. Leases are
    /// given up as soon as nothing runs.
    pub fn stop(&self, patience: Duration) {
        let (parts, end) = (self.parts(), Instant::now() + patience);
        parts.iter().for_each(|part| part.stop());
        parts.iter().for_each(|part| part.wait_until_stopped(end.saturating_duration_since(Instant::now())));
    }

    /// The access to the repositories of an environment, with its name in its control plane. None if there is no such environment.
    pub fn access(&self, environment: &str) -> Option<(Arc<RepositoryAccess>, EnvironmentName)> {
        let (part, environment) = self.find(environment)?;
        Some((part.access(), environment.name.clone()))
    }

    fn parts(&self) -> Vec<Arc<Shared>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The environment with a name, after the name of its control plane if that is another one: `retail:prod`.
    fn find(&self, shown: &str) -> Option<(Arc<Shared>, Arc<Environment>)> {
        let (control_plane, name) = shown.split_once(':').map_or((None, shown), |(first, name)| (Some(first), name));
        let part = self.parts().into_iter().find(|part| part.name.as_deref() == control_plane)?;
        let environment = part.find(name)?;
        Some((part, environment))
    }
}

fn begin(mut settings: ServiceSettings, metrics: &Arc<Metrics>) -> Vec<Arc<Shared>> {
    let others = std::mem::take(&mut settings.other_control_planes);
    let main = (None, settings.control_plane.clone());
    let all = std::iter::once(main).chain(others.into_iter().map(|(name, other)| (Some(name), other)));
    let one = |(name, control_plane)| {
        let shared = Shared::new(name, ServiceSettings { control_plane, ..settings.clone() }, Arc::clone(metrics));
        let shared = Arc::new(shared);
        threads::start(&shared);
        shared
    };
    all.map(one).collect()
}

impl Drop for Service {
    fn drop(&mut self) {
        self.parts().iter().for_each(|part| part.stop());
    }
}
