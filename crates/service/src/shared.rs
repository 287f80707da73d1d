//! What all threads of the service share: settings, environments, and whether it stops.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use delivery::access::RepositoryAccess;
use delivery::pull_requests::GitHosts;
use model::name::EnvironmentName;
use model::progress::Progress;

use crate::environment::{Environment, Worker};
use crate::limits::POLLS_AT_ONCE;
use crate::metrics::Metrics;
use crate::poller::PollQueue;
use crate::trigger::Reason;
use crate::{ServiceSettings, poller};

/// What all threads share.
pub(crate) struct Shared {
    pub(crate) settings: ServiceSettings,
    pub(crate) hosts: GitHosts,
    pub(crate) metrics: Metrics,
    pub(crate) polls: PollQueue,
    environments: Mutex<BTreeMap<EnvironmentName, Arc<Environment>>>,
    /// Why the environments of the control plane are not known.
    missing: Mutex<Option<String>>,
    is_stopping: AtomicBool,
    /// The number of threads that sync environments.
    running: Mutex<usize>,
    ended: Condvar,
}

impl Shared {
    pub(crate) fn start(settings: ServiceSettings) -> Arc<Self> {
        let hosts = GitHosts::new(settings.hosts.iter().map(|host| host.settings.clone()).collect());
        let shared = Arc::new(Self {
            hosts,
            metrics: Metrics::new(),
            polls: PollQueue::new(settings.timing.poll),
            environments: Mutex::default(),
            missing: Mutex::new(Some("the environments of the control plane are not read yet".to_owned())),
            is_stopping: AtomicBool::new(false),
            running: Mutex::default(),
            ended: Condvar::new(),
            settings,
        });
        for number in 0..POLLS_AT_ONCE {
            let of_thread = Arc::clone(&shared);
            spawn(&format!("poll-{number}"), move || poller::run(&of_thread));
        }
        // The first poll of the control plane reads the names of its environments.
        shared.polls.keep([&shared.settings.control_plane.repo].into_iter());
        shared
    }

    /// Access to the repositories for one sync.
    pub(crate) fn access(&self) -> Arc<RepositoryAccess> {
        let repositories = Arc::clone(&self.settings.repositories);
        Arc::new(RepositoryAccess::with(self.settings.control_plane.clone(), repositories, Progress::default()))
    }

    /// Reads which environments there are. Starts the new ones, and ends those that are gone.
    pub(crate) fn refresh_environments(self: &Arc<Self>) {
        let names = match delivery::reading::environment_names(&self.access()) {
            Ok(names) => names,
            Err(error) => {
                tracing::warn!(%error, "the environments can't be read: those that are known stay");
                *self.missing() = Some(error.to_string()).filter(|_| self.environments().is_empty());
                return;
            }
        };
        *self.missing() = None;
        let mut environments = self.environments();
        environments.retain(|name, environment| {
            let stays = names.contains(name);
            if !stays {
                tracing::info!(environment = name.as_str(), "the environment is not declared any more");
                environment.trigger.stop();
            }
            stays
        });
        for name in names {
            if !environments.contains_key(&name) && !self.is_stopping() {
                let environment = Arc::new(Environment::new(name.clone()));
                environments.insert(name, Arc::clone(&environment));
                self.begin(environment);
            }
        }
        self.metrics.environments(environments.len());
    }

    /// Starts the thread of an environment.
    fn begin(self: &Arc<Self>, environment: Arc<Environment>) {
        *self.running() += 1;
        environment.trigger.request(Reason::Start);
        let shared = Arc::clone(self);
        let name = environment.name.clone();
        spawn(name.as_str(), move || {
            Worker::new(&shared, &environment).run();
            *shared.running() -= 1;
            shared.ended.notify_all();
        });
    }

    /// All environments, by name.
    pub(crate) fn all(&self) -> Vec<Arc<Environment>> {
        self.environments().values().cloned().collect()
    }

    /// The environment with a name.
    pub(crate) fn find(&self, name: &str) -> Option<Arc<Environment>> {
        self.environments().get(name).cloned()
    }

    /// Polls exactly the repositories that an environment depends on, and the control plane.
    pub(crate) fn update_polls(&self) {
        let all: Vec<_> = self.all().iter().map(|environment| environment.dependencies()).collect();
        let repositories = all.iter().flat_map(|dependencies| dependencies.repositories());
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
    }

    /// Waits until no sync runs, at most for a time.
    pub(crate) fn wait_until_stopped(&self, patience: Duration) {
        let end = Instant::now() + patience;
        let mut running = self.running();
        while *running > 0 {
            let rest = end.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                tracing::warn!(
                    environments = *running,
                    "syncs that are still running are abandoned: the next start completes them"
                );
                return;
            }
            running = self.ended.wait_timeout(running, rest).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn environments(&self) -> MutexGuard<'_, BTreeMap<EnvironmentName, Arc<Environment>>> {
        self.environments.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn missing(&self) -> MutexGuard<'_, Option<String>> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn running(&self) -> MutexGuard<'_, usize> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts a thread. If that is not possible, the service can't do its work, and says so.
fn spawn(name: &str, work: impl FnOnce() + Send + 'static) {
    if let Err(error) = thread::Builder::new().name(name.to_owned()).spawn(work) {
        tracing::error!(%error, name, "a thread can't be started");
    }
}
