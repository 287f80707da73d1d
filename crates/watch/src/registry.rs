//! The descriptors of all branches. Manifests may be on another branch than their descriptor.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use crate::BranchKey;
use crate::descriptors::{BranchDescriptors, DescribedManifests};

/// The descriptors of all branches.
pub(crate) struct Registry(Mutex<BTreeMap<BranchKey, BranchDescriptors>>);

/// The descriptors whose manifests are in one branch.
pub(crate) struct ManifestDescriptors {
    /// The descriptors, by the path of the manifests.
    pub(crate) by_path: BTreeMap<String, Vec<Arc<DescribedManifests>>>,
    /// Whether the list is complete. If not, missing descriptors do not count as deleted.
    pub(crate) is_complete: bool,
}

impl Registry {
    pub(crate) fn new(branches: impl Iterator<Item = BranchKey>) -> Self {
        Self(Mutex::new(branches.map(|branch| (branch, BranchDescriptors::default())).collect()))
    }

    /// Whether a branch is watched.
    pub(crate) fn has(&self, branch: &BranchKey) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains_key(branch)
    }

    /// Sets the descriptors of a branch. Returns the other branches that are affected by the change: the ones with manifests of old or new descriptors. If the
    /// list of descriptors became complete, all other branches are affected.
    pub(crate) fn set(&self, branch: &BranchKey, descriptors: BranchDescriptors) -> BTreeSet<BranchKey> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(old) = all.get_mut(branch) else { return BTreeSet::new() };
        let became_complete = descriptors.is_complete && !old.is_complete;
        let is_same = old.descriptors == descriptors.descriptors && !became_complete;
        let manifests = |descriptors: &BranchDescriptors| {
            descriptors.descriptors.iter().map(|described| described.manifests.clone()).collect::<BTreeSet<_>>()
        };
        let mut others = manifests(old);
        others.extend(manifests(&descriptors));
        *old = descriptors;
        if became_complete {
            others.extend(all.keys().cloned());
        }
        others.remove(branch);
        if is_same { BTreeSet::new() } else { others }
    }

    /// The descriptors of a branch that conflict with another descriptor: both have the same target, but other content. Each comes with the first conflicting
    /// descriptor, and the branch of that one.
    pub(crate) fn conflicts(
        &self,
        branch: &BranchKey,
    ) -> Vec<(Arc<DescribedManifests>, BranchKey, Arc<DescribedManifests>)> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut by_target: BTreeMap<_, Vec<(&BranchKey, &Arc<DescribedManifests>)>> = BTreeMap::new();
        for (key, descriptors) in all.iter() {
            for described in &descriptors.descriptors {
                by_target.entry(described.key()).or_default().push((key, described));
            }
        }
        let own = all.get(branch).into_iter().flat_map(|descriptors| &descriptors.descriptors);
        let conflict = |described: &Arc<DescribedManifests>| {
            let same = by_target.get(&described.key())?;
            let (key, other) = same.iter().find(|(_, other)| !described.has_same_content(other))?;
            Some((Arc::clone(described), (*key).clone(), Arc::clone(other)))
        };
        own.filter_map(conflict).collect()
    }

    /// The descriptors whose manifests are in a branch.
    pub(crate) fn of_manifests(&self, branch: &BranchKey) -> ManifestDescriptors {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut by_path: BTreeMap<String, Vec<_>> = BTreeMap::new();
        for described in all.values().flat_map(|descriptors| &descriptors.descriptors) {
            if described.manifests == *branch {
                by_path.entry(described.path.clone()).or_default().push(Arc::clone(described));
            }
        }
        let is_complete = all.values().all(|descriptors| descriptors.is_complete);
        ManifestDescriptors { by_path, is_complete }
    }
}
