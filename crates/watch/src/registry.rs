//! The descriptors of all branches: manifests may be on another branch than what describes them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use crate::BranchKey;
use crate::descriptors::{Contribution, Described};

/// The descriptors of all branches.
pub(crate) struct Registry(Mutex<BTreeMap<BranchKey, Contribution>>);

/// The descriptors of manifests in one branch.
pub(crate) struct OfBranch {
    /// They, by the path of the manifests.
    pub(crate) by_path: BTreeMap<String, Vec<Arc<Described>>>,
    /// Whether these are all. Otherwise those that are missing are not gone.
    pub(crate) is_whole: bool,
}

impl Registry {
    pub(crate) fn new(branches: impl Iterator<Item = BranchKey>) -> Self {
        Self(Mutex::new(branches.map(|branch| (branch, Contribution::default())).collect()))
    }

    /// Whether somebody looks at that branch.
    pub(crate) fn has(&self, branch: &BranchKey) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains_key(branch)
    }

    /// Sets what a branch holds. The other branches whose manifests it describes, or described, if that is different from before.
    pub(crate) fn set(&self, branch: &BranchKey, contribution: Contribution) -> BTreeSet<BranchKey> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(old) = all.get_mut(branch) else { return BTreeSet::new() };
        let became_whole = contribution.is_whole && !old.is_whole;
        let is_same = old.descriptors == contribution.descriptors && !became_whole;
        let of = |contribution: &Contribution| {
            contribution.descriptors.iter().map(|described| described.manifests.clone()).collect::<BTreeSet<_>>()
        };
        let mut others = of(old);
        others.extend(of(&contribution));
        *old = contribution;
        if became_whole {
            others.extend(all.keys().cloned());
        }
        others.remove(branch);
        if is_same { BTreeSet::new() } else { others }
    }

    /// The descriptors in a branch whose target another descriptor gives other content, each with the first of those, and the branch that one is in.
    pub(crate) fn rivals(&self, branch: &BranchKey) -> Vec<(Arc<Described>, BranchKey, Arc<Described>)> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut by_target: BTreeMap<_, Vec<(&BranchKey, &Arc<Described>)>> = BTreeMap::new();
        for (key, contribution) in all.iter() {
            for described in &contribution.descriptors {
                by_target.entry(described.key()).or_default().push((key, described));
            }
        }
        let own = all.get(branch).into_iter().flat_map(|contribution| &contribution.descriptors);
        let rival = |described: &Arc<Described>| {
            let same = by_target.get(&described.key())?;
            let (key, other) = same.iter().find(|(_, other)| !described.gives_the_same(other))?;
            Some((Arc::clone(described), (*key).clone(), Arc::clone(other)))
        };
        own.filter_map(rival).collect()
    }

    /// The descriptors of manifests in a branch.
    pub(crate) fn of(&self, branch: &BranchKey) -> OfBranch {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut by_path: BTreeMap<String, Vec<_>> = BTreeMap::new();
        for described in all.values().flat_map(|contribution| &contribution.descriptors) {
            if described.manifests == *branch {
                by_path.entry(described.path.clone()).or_default().push(Arc::clone(described));
            }
        }
        OfBranch { by_path, is_whole: all.values().all(|contribution| contribution.is_whole) }
    }
}
