//! Looks at branches of GitOps repositories, so that the hub knows what is wanted.
//!
//! Of each new commit of a branch, two things are read: the folders of Kalypso's own layout, which its marker names, and deployment descriptors with the
//! folders of manifests that they describe. What is not known is not gone: while something can't be read, nothing is wanted no more because of it.

mod commits;
mod descriptors;
mod look;
mod opened;
mod platform;
mod registry;
mod state;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use engine::output::Folder;
use git::{Repositories, RepositoryUrl};
use hub_api::watches::WatchState;
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;

use self::look::Look;
use self::registry::Registry;
use crate::ingest::Ingest;
use crate::limits::{LOOK_PAUSE_MAX, LOOKS_AT_ONCE};
use crate::store::Database;

/// A branch to be looked at.
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

/// What is to be looked at, and how.
#[derive(Clone, Debug)]
pub struct WatchSettings {
    /// The branches.
    pub branches: Vec<WatchedBranch>,
    /// The pause between two looks at a branch.
    pub pause: Duration,
    /// How to get at repositories.
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

/// What looks need.
#[derive(Clone)]
pub struct Resources {
    /// Where it is noted how far branches were read.
    pub database: Database,
    /// Stores what is wanted.
    pub ingest: Ingest,
    /// The repositories.
    pub repositories: Arc<dyn Repositories + Send + Sync>,
}

/// Branches that are being looked at, until this is dropped.
pub struct Watches {
    shared: Arc<Shared>,
    _looking: JoinSet<()>,
}

impl std::fmt::Debug for Watches {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Watches").field(&self.states()).finish()
    }
}

/// What looks at different branches share.
struct Shared {
    registry: Registry,
    wake: BTreeMap<BranchKey, Notify>,
    states: Mutex<BTreeMap<BranchKey, WatchState>>,
    room: Semaphore,
}

impl Watches {
    /// Begins to look at branches, at each at once and then again after every pause; of a branch that is named twice, the last counts.
    /// To be called on a tokio runtime.
    pub fn start(resources: &Resources, branches: Vec<WatchedBranch>, pause: Duration) -> Self {
        let (shared, looks) = looks(resources, branches);
        let mut looking = JoinSet::new();
        for look in looks {
            looking.spawn(again_and_again(look, pause));
        }
        Self { shared, _looking: looking }
    }

    /// Looks at all branches now, without waiting for what is seen.
    pub fn refresh(&self) {
        self.shared.wake.values().for_each(Notify::notify_one);
    }

    /// What is known of the branches, in the order of their repositories and names.
    pub fn states(&self) -> Vec<WatchState> {
        self.shared.states.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }
}

impl Shared {
    /// Changes what is told of a branch.
    fn tell(&self, key: &BranchKey, change: impl FnOnce(&mut WatchState)) {
        if let Some(state) = self.states.lock().unwrap_or_else(PoisonError::into_inner).get_mut(key) {
            change(state);
        }
    }
}

/// What is needed to look at branches.
fn looks(resources: &Resources, branches: Vec<WatchedBranch>) -> (Arc<Shared>, Vec<Look>) {
    let branches: BTreeMap<_, _> = branches.into_iter().map(|branch| (branch.key(), branch)).collect();
    let state = |(key, branch): (&BranchKey, &WatchedBranch)| (key.clone(), state::new(branch));
    let shared = Arc::new(Shared {
        registry: Registry::new(branches.keys().cloned()),
        wake: branches.keys().map(|key| (key.clone(), Notify::new())).collect(),
        states: Mutex::new(branches.iter().map(state).collect()),
        room: Semaphore::new(LOOKS_AT_ONCE),
    });
    let look = |branch| Look::new(branch, resources.clone(), Arc::clone(&shared));
    let looks = branches.into_values().map(look).collect();
    (shared, looks)
}

/// Looks, and pauses; longer and longer while a branch can't be read.
async fn again_and_again(mut look: Look, pause: Duration) {
    let mut failures = 0u32;
    loop {
        failures = if look.once().await { 0 } else { failures.saturating_add(1) };
        let factor = 2u32.saturating_pow(failures.min(16));
        let pause = pause.saturating_mul(factor).min(LOOK_PAUSE_MAX.max(pause));
        let _ = tokio::time::timeout(pause, look.woken()).await;
    }
}
