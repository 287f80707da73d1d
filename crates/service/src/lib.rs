//! The service: keeps the GitOps branches of all environments true.
//!
//! It is level-triggered. A change of a branch, a webhook or a request only says that an environment may have changed. A sync then compares what should be with
//! what is, through [`delivery`]. So a lost or repeated message does no harm, and after a restart the service reaches the same state from nothing.
//!
//! Each environment has a thread of its own: a slow or broken one does not delay the others.
//!
//! Several replicas can share leases. Then the one that holds the lease of an environment syncs it. The others show its state, and pass on requests.

mod dependencies;
mod environment;
mod lease;
mod limits;
mod metrics;
mod outbox;
mod poll_queue;
mod poller;
mod renewer;
mod requests;
mod results;
mod settle;
mod shared;
mod threads;
mod trigger;
mod webhooks;
mod worker;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use delivery::access::{ControlPlaneSettings, SharedRepositories};
use delivery::hub_publication::Hub;
use delivery::pull_requests::ConfiguredHost;
use git_host::secret::Secret;
use hub_api::leases::Leases;

use self::metrics::Metrics;
use self::shared::Shared;

/// The settings of the service.
pub struct ServiceSettings {
    /// The control plane, and the access to repositories.
    pub control_plane: ControlPlaneSettings,
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
    /// Who may confirm removals over the API: names of tokens, or subjects of identity providers. None: all administrators.
    pub confirmers: Option<Vec<String>>,
    /// How long the service waits.
    pub timing: Timing,
}

/// A git host with the secrets of its webhooks.
#[derive(Clone, Debug)]
pub struct ServiceHost {
    /// The host, with the settings of its pull requests.
    pub settings: ConfiguredHost,
    /// The secrets of its webhooks. Without one, no webhook is accepted.
    pub webhook_secrets: Vec<Secret>,
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
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            poll: Duration::from_secs(30),
            settle: Duration::from_secs(3),
            settle_max: Duration::from_secs(30),
            resync: Duration::from_mins(5),
        }
    }
}

/// The running service. When it is dropped, it stops.
pub struct Service {
    shared: Mutex<Arc<Shared>>,
}

impl std::fmt::Debug for Service {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Service")
    }
}

impl Service {
    /// Starts the service. It syncs all environments at once.
    pub fn start(settings: ServiceSettings) -> Self {
        Self { shared: Mutex::new(begin(settings, Arc::new(Metrics::new()))) }
    }

    /// Goes on with other settings. Running syncs end with the old ones.
    pub fn replace(&self, settings: ServiceSettings) {
        let old = self.shared();
        let new = begin(settings, Arc::clone(&old.metrics));
        *self.shared.lock().unwrap_or_else(PoisonError::into_inner) = new;
        old.is_replaced.store(true, Ordering::Relaxed);
        old.stop();
    }

    /// Starts no further sync, and waits until the running ones have ended, or the time is over. What is not ended then, the next start completes. Leases are
    /// given up as soon as nothing runs.
    pub fn stop(&self, patience: Duration) {
        let shared = self.shared();
        shared.stop();
        shared.wait_until_stopped(patience);
    }

    fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn begin(settings: ServiceSettings, metrics: Arc<Metrics>) -> Arc<Shared> {
    let shared = Arc::new(Shared::new(settings, metrics));
    threads::start(&shared);
    shared
}

impl Drop for Service {
    fn drop(&mut self) {
        self.shared().stop();
    }
}
