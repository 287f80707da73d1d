//! Polls branches of GitOps repositories, and records the desired state of their places.
//!
//! From each new commit of a branch, two kinds of content are read: the folders of Kalypso's own layout, which have its marker, and deployment descriptors with
//! the folders of manifests that they describe. Content that can't be read is not deleted: it stays desired. The desired state goes to a [`DesiredStateSink`],
//! in this process or in another one.

mod commits;
mod descriptors;
pub mod limits;
mod opened_commit;
mod platform;
mod poller;
mod registry;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use engine::layout::Folder;
use git::{Repositories, RepositoryUrl};
use hub_api::sink::DesiredStateSink;
use hub_api::watches::{WatchState, WatchedBranches};
use retry::{Jitter, RetryLimit, RetryPolicy};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;

use self::limits::{PAUSE_MAX, POLLS_AT_ONCE};
use self::poller::BranchPoller;
use self::registry::Registry;

/// A branch that is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedBranch {
    /// The repository.
    pub url: RepositoryUrl,
    /// The branch that reconcilers pull.
    pub branch: String,
    /// The folder of Kalypso's output: `GitOpsRepo.spec.path`.
    pub folder: Folder,
    /// The environment of Kalypso's output in the branch. None: the owner file or the commit message names it.
    pub environment: Option<String>,
}

/// The settings for watching branches.
#[derive(Clone, Debug)]
pub struct WatchSettings {
    /// The branches.
    pub branches: Vec<WatchedBranch>,
    /// The pause between two polls of a branch.
    pub pause: Duration,
    /// The settings of access to repositories.
    pub git: git::Settings,
}

/// The body of the fuzz target: parses bytes as a file with deployment descriptors. The parser must not panic, and each descriptor must be valid or be refused
/// with a reason.
#[cfg(feature = "fuzz")]
pub fn fuzz(input: &[u8]) {
    descriptors::fuzz(input);
}

/// Identifies a branch. The repository is normalized as in endpoints.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct BranchKey {
    repository: String,
    branch: String,
}

impl BranchKey {
    fn new(repository: &str, branch: &str) -> Self {
        Self { repository: hub_api::endpoint::repository(repository), branch: branch.trim().to_owned() }
    }
}

impl WatchedBranch {
    fn key(&self) -> BranchKey {
        BranchKey::new(self.url.as_str(), &self.branch)
    }
}

/// The resources of all pollers.
#[derive(Clone)]
pub struct Resources {
    /// Stores the desired state, and the last read commit of each branch.
    pub sink: Arc<dyn DesiredStateSink>,
    /// The repositories.
    pub repositories: Arc<dyn Repositories + Send + Sync>,
}

/// The watched branches: their states, and a way to poll them at once.
pub struct Watches(Arc<Shared>);

impl std::fmt::Debug for Watches {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Watches").field(&self.states()).finish()
    }
}

/// The state that all pollers share.
struct Shared {
    registry: Registry,
    wake: BTreeMap<BranchKey, Notify>,
    states: Mutex<BTreeMap<BranchKey, WatchState>>,
    /// Limits the number of concurrent polls.
    permits: Semaphore,
}

/// Creates the task that polls branches, and the view of their states. The task needs a tokio runtime. It polls each branch at once, and again after every
/// pause. It never ends, and stops when it is dropped. If a branch is listed twice, the last entry counts.
pub fn watch(
    resources: &Resources,
    branches: Vec<WatchedBranch>,
    pause: Duration,
) -> (Watches, impl Future<Output = ()> + Send + 'static) {
    let (shared, pollers) = pollers(resources, branches);
    let task = async move {
        let mut polling: JoinSet<()> = pollers.into_iter().map(|poller| poll_forever(poller, pause)).collect();
        while polling.join_next().await.is_some() {}
    };
    (Watches(shared), task)
}

impl WatchedBranches for Watches {
    fn states(&self) -> Vec<WatchState> {
        self.0.states.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    fn refresh(&self) {
        self.0.wake.values().for_each(Notify::notify_one);
    }
}

impl Shared {
    /// Changes the state of a branch.
    fn change_state(&self, key: &BranchKey, change: impl FnOnce(&mut WatchState)) {
        if let Some(state) = self.states.lock().unwrap_or_else(PoisonError::into_inner).get_mut(key) {
            change(state);
        }
    }
}

/// Creates a poller for each branch, and their shared state.
fn pollers(resources: &Resources, branches: Vec<WatchedBranch>) -> (Arc<Shared>, Vec<BranchPoller>) {
    let branches: BTreeMap<_, _> = branches.into_iter().map(|branch| (branch.key(), branch)).collect();
    let state = |(key, branch): (&BranchKey, &WatchedBranch)| (key.clone(), initial_state(branch));
    let shared = Arc::new(Shared {
        registry: Registry::new(branches.keys().cloned()),
        wake: branches.keys().map(|key| (key.clone(), Notify::new())).collect(),
        states: Mutex::new(branches.iter().map(state).collect()),
        permits: Semaphore::new(POLLS_AT_ONCE),
    });
    let poller = |branch| BranchPoller::new(branch, resources.clone(), Arc::clone(&shared));
    let pollers = branches.into_values().map(poller).collect();
    (shared, pollers)
}

/// The state of a branch that was not polled yet.
fn initial_state(branch: &WatchedBranch) -> WatchState {
    WatchState {
        repository: hub_api::endpoint::repository(branch.url.as_str()),
        branch: branch.branch.clone(),
        commit: None,
        polled_on: None,
        failing_since: None,
        error: None,
        descriptors: 0,
        problems: Vec::new(),
        problem_count: 0,
    }
}

/// Polls a branch again and again. While it can't be read, the pauses get longer.
async fn poll_forever(mut poller: BranchPoller, pause: Duration) {
    let longest = PAUSE_MAX.max(pause);
    let policy = RetryPolicy { first: pause, factor: 2, longest, jitter: Jitter::NONE, limit: RetryLimit::None };
    let mut failures = 0u32;
    loop {
        failures = if poller.poll().await { 0 } else { failures.saturating_add(1) };
        let _ = tokio::time::timeout(policy.pause(failures.saturating_add(1)), poller.woken()).await;
    }
}
