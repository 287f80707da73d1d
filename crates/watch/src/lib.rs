//! Reads branches of GitOps repositories as they change, and says which content is desired where.
//!
//! Of each new commit of a branch, two things are read: the folders of Kalypso's own layout, which its marker names, and deployment descriptors with the
//! folders of manifests that they describe. What is not known is not gone: content that can't be read stays desired. The desired state goes to a
//! [`DesiredStateSink`], whatever process that is in.

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

use engine::output::Folder;
use git::{Repositories, RepositoryUrl};
use hub_api::retry::{Jitter, RetryLimit, RetryPolicy};
use hub_api::sink::DesiredStateSink;
use hub_api::watches::{WatchState, WatchedBranches};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;

use self::limits::{PAUSE_MAX, POLLS_AT_ONCE};
use self::poller::BranchPoller;
use self::registry::Registry;

/// A branch that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedBranch {
    /// The repository.
    pub url: RepositoryUrl,
    /// The branch that reconcilers pull.
    pub branch: String,
    /// The folder that Kalypso's output lives under, as `GitOpsRepo.spec.path` names it.
    pub folder: Folder,
    /// The environment that Kalypso's output there is for. Without one, what Kalypso wrote into the branch says it.
    pub environment: Option<String>,
}

/// The branches that are read, and how.
#[derive(Clone, Debug)]
pub struct WatchSettings {
    /// The branches.
    pub branches: Vec<WatchedBranch>,
    /// The pause between two polls of a branch.
    pub pause: Duration,
    /// The settings of access to repositories.
    pub git: git::Settings,
}

/// Reads bytes as a file with deployment descriptors, as it may lie in an application's repository: the body of the fuzz target. Nothing is expected but
/// that it ends without panic, and that each descriptor can be stored or is refused with a reason.
#[cfg(feature = "fuzz")]
pub fn fuzz(input: &[u8]) {
    descriptors::fuzz(input);
}

/// A branch, by its repository in the form that endpoints have.
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

/// What pollers of all branches use.
#[derive(Clone)]
pub struct Resources {
    /// Stores the desired state, and how far branches were read.
    pub sink: Arc<dyn DesiredStateSink>,
    /// The repositories.
    pub repositories: Arc<dyn Repositories + Send + Sync>,
}

/// Branches that are read: their states, and a way to poll them before the next pause is over.
pub struct Watches(Arc<Shared>);

impl std::fmt::Debug for Watches {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Watches").field(&self.states()).finish()
    }
}

/// What the pollers of different branches share.
struct Shared {
    registry: Registry,
    wake: BTreeMap<BranchKey, Notify>,
    states: Mutex<BTreeMap<BranchKey, WatchState>>,
    room: Semaphore,
}

/// The task that reads branches, and what is known of them. The task polls each branch at once and then again after every pause; it ends only when it is
/// dropped, on a tokio runtime. If a branch is named twice, the last entry counts.
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

/// A poller for each branch, and what they share.
fn pollers(resources: &Resources, branches: Vec<WatchedBranch>) -> (Arc<Shared>, Vec<BranchPoller>) {
    let branches: BTreeMap<_, _> = branches.into_iter().map(|branch| (branch.key(), branch)).collect();
    let state = |(key, branch): (&BranchKey, &WatchedBranch)| (key.clone(), initial_state(branch));
    let shared = Arc::new(Shared {
        registry: Registry::new(branches.keys().cloned()),
        wake: branches.keys().map(|key| (key.clone(), Notify::new())).collect(),
        states: Mutex::new(branches.iter().map(state).collect()),
        room: Semaphore::new(POLLS_AT_ONCE),
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

/// Polls, and pauses: longer and longer while the branch can't be read.
async fn poll_forever(mut poller: BranchPoller, pause: Duration) {
    let longest = PAUSE_MAX.max(pause);
    let policy = RetryPolicy { first: pause, factor: 2, longest, jitter: Jitter::NONE, limit: RetryLimit::None };
    let mut failures = 0u32;
    loop {
        failures = if poller.poll().await { 0 } else { failures.saturating_add(1) };
        let _ = tokio::time::timeout(policy.pause(failures.saturating_add(1)), poller.woken()).await;
    }
}
