//! Revisions of workloads: one digest for all folders of a workload in an environment.
//!
//! The digest is `AdHash`: the sum of a strong hash of each assignment, so it does not depend on an order. It depends only on the names of places and targets and on
//! the content of folders, so unrelated commits do not change it.
//!
//! Assignments with errors are not part of a revision: their folders stay as they are, or are rendered from an earlier publication, whatever the rollout does. A
//! revision changes when an assignment begins to fail or is repaired, but the new one differs at this place only, so its rollout passes the rings at once if the
//! folder is the same.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::git_id::GitId;
use model::name::WorkloadName;
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::state::Revision;
use crate::compile::Compiled;
use crate::schedule::target::Target;

/// The smallest number of places that one thread adds.
const PLACES_MIN: usize = 4_096;
/// The number of digits of a revision.
const DIGITS: usize = 40;

/// The revisions of all workloads of a compiled environment.
#[derive(Clone, Debug, Default)]
pub struct Revisions {
    workloads: BTreeMap<Arc<str>, WorkloadRevision>,
    /// The workload of each target.
    owners: BTreeMap<Arc<str>, Arc<str>>,
    /// Whether the workloads of some registrations are not known.
    is_incomplete: bool,
}

/// The revision of one workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadRevision {
    /// The digest of all its rendered assignments.
    pub revision: Revision,
    /// The number of rendered assignments.
    pub rendered: usize,
    /// The number of assignments with errors.
    pub failing: usize,
    /// The names of its targets.
    pub targets: BTreeSet<Arc<str>>,
    /// Whether a target has an unclear definition, so that the revision may lack assignments.
    pub is_unclear: bool,
}

/// The workload that a target's folders belong to in a rollout. A target without a valid label `workload` moves under its own name.
pub fn subject(target: &Target) -> Arc<str> {
    let workload = WorkloadName::new(target.workload()).ok();
    workload.map_or_else(|| Arc::clone(target.name.as_arc()), |name| Arc::clone(name.as_arc()))
}

/// The names of all targets of a compiled environment, by the workload they belong to.
pub fn targets(compiled: &Compiled) -> BTreeMap<Arc<str>, BTreeSet<Arc<str>>> {
    let mut found: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for (_, target) in compiled.targets_by_id() {
        found.entry(subject(target)).or_default().insert(Arc::clone(target.name.as_arc()));
    }
    found
}

/// The revision of a workload without any folder.
pub fn empty() -> Revision {
    Sum::default().revision()
}

impl Revisions {
    /// Computes the revisions of all workloads with a target in the environment.
    pub fn new(compiled: &Compiled) -> Self {
        let unclear = compiled.unclear_targets();
        let mut sums: BTreeMap<Arc<str>, Sum> = BTreeMap::new();
        let mut workloads: BTreeMap<Arc<str>, WorkloadRevision> = BTreeMap::new();
        let mut owners = BTreeMap::new();
        let by_target = sums_by_target(compiled);
        for (id, target) in compiled.targets_by_id() {
            let sum = by_target.get(id as usize).copied().unwrap_or_default();
            let subject = subject(target);
            let workload = workloads.entry(Arc::clone(&subject)).or_insert_with(WorkloadRevision::none);
            workload.targets.insert(Arc::clone(target.name.as_arc()));
            owners.insert(Arc::clone(target.name.as_arc()), Arc::clone(&subject));
            workload.is_unclear |= unclear.contains(&target.name);
            workload.rendered += sum.rendered;
            workload.failing += sum.failing;
            sums.entry(subject).or_default().add(sum);
        }
        for (subject, sum) in sums {
            if let Some(workload) = workloads.get_mut(&subject) {
                workload.revision = sum.revision();
            }
        }
        Self { workloads, owners, is_incomplete: compiled.is_incomplete() }
    }

    /// All workloads that have a target, by name.
    pub fn workloads(&self) -> impl Iterator<Item = (&Arc<str>, &WorkloadRevision)> {
        self.workloads.iter()
    }

    /// The workload with this name. None if it has no target.
    pub fn get(&self, workload: &str) -> Option<&WorkloadRevision> {
        self.workloads.get(workload)
    }

    /// The workload that a target belongs to. None: there is no such target.
    pub fn owner(&self, target: &str) -> Option<&Arc<str>> {
        self.owners.get(target)
    }

    /// The revision that the sources give a workload. None: it is not known, because a part of the sources can't be read or is unclear.
    pub fn desired(&self, workload: &str) -> Option<Revision> {
        match self.workloads.get(workload) {
            Some(found) => (!found.is_unclear).then(|| found.revision.clone()),
            None => (!self.is_incomplete).then(empty),
        }
    }
}

impl WorkloadRevision {
    fn none() -> Self {
        Self { revision: empty(), rendered: 0, failing: 0, targets: BTreeSet::new(), is_unclear: false }
    }
}

/// The sum of the hashes of assignments, modulo 2^64 in each of four lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    lanes: [u64; 4],
    rendered: usize,
    failing: usize,
}

impl Sum {
    fn add_assignment(&mut self, place: &[u8; 16], target: &[u8; 16], folder: GitId) {
        let digest = Sha256::new().chain_update(place).chain_update(target).chain_update(folder.as_bytes()).finalize();
        for (lane, bytes) in self.lanes.iter_mut().zip(digest.chunks_exact(8)) {
            *lane = lane.wrapping_add(bytes.iter().fold(0, |lane, byte| lane << 8 | u64::from(*byte)));
        }
        self.rendered += 1;
    }

    fn add(&mut self, other: Self) {
        for (lane, other) in self.lanes.iter_mut().zip(other.lanes) {
            *lane = lane.wrapping_add(other);
        }
        self.rendered += other.rendered;
        self.failing += other.failing;
    }

    fn revision(&self) -> Revision {
        let mut hash = Sha256::new().chain_update((self.rendered as u64).to_be_bytes());
        self.lanes.iter().for_each(|lane| hash.update(lane.to_be_bytes()));
        let digits: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Revision(digits.get(..DIGITS).unwrap_or(&digits).into())
    }
}

/// The first half of the SHA-256 of a name.
fn name_hash(name: &str) -> [u8; 16] {
    let digest = Sha256::digest(name);
    let mut half = [0; 16];
    half.iter_mut().zip(digest).for_each(|(byte, found)| *byte = found);
    half
}

/// The sum of each target's assignments, at the position of the target's id.
fn sums_by_target(compiled: &Compiled) -> Vec<Sum> {
    let mut hashes = Vec::new();
    for (id, target) in compiled.targets_by_id() {
        hashes.resize(hashes.len().max(id as usize + 1), [0; 16]);
        if let Some(hash) = hashes.get_mut(id as usize) {
            *hash = name_hash(target.name.as_str());
        }
    }
    let add_place = |mut sums: Vec<Sum>, (id, place): &(u32, &Arc<str>)| {
        let place = name_hash(place);
        for (target, folder) in compiled.folder_ids(*id) {
            let (sum, target) = (sums.get_mut(target as usize), hashes.get(target as usize));
            let Some((sum, target)) = sum.zip(target) else { continue };
            match folder {
                Some(folder) => sum.add_assignment(&place, target, folder),
                None => sum.failing += 1,
            }
        }
        sums
    };
    let none = || vec![Sum::default(); hashes.len()];
    let both = |mut one: Vec<Sum>, other: Vec<Sum>| {
        one.iter_mut().zip(other).for_each(|(sum, other)| sum.add(other));
        one
    };
    compiled.place_ids().par_iter().with_min_len(PLACES_MIN).fold(none, add_place).reduce(none, both)
}

#[cfg(test)]
mod tests {
    use testkit::generator::{self, ENVIRONMENT, Size};

    use super::*;

    const SIZE: Size = Size { cluster_types: 3, targets: 8, config_maps: 2, schemas: 0 };

    fn compiled(change: impl Fn(&str, String) -> Option<String>) -> Compiled {
        let files = generator::fleet(SIZE, 1).into_iter();
        let files = files.filter_map(|(path, text)| Some((path.clone(), change(&path, text)?.into_bytes()))).collect();
        let (fleet, _) = testkit::directory::fleet_of(files, ENVIRONMENT).unwrap();
        Compiled::new(&Arc::new(fleet))
    }

    fn unchanged() -> Revisions {
        Revisions::new(&compiled(|_, text| Some(text)))
    }

    /// The workloads whose revision a change changes.
    fn check(change: impl Fn(&str, String) -> Option<String>, expected: &[&str]) {
        let (before, after) = (unchanged(), Revisions::new(&compiled(change)));
        let names: BTreeSet<_> = before.workloads().chain(after.workloads()).map(|(name, _)| &**name).collect();
        let changed: Vec<_> = names.into_iter().filter(|name| before.desired(name) != after.desired(name)).collect();
        assert_eq!(changed, expected);
    }

    #[test]
    fn a_revision_changes_with_the_folders_of_its_workload() {
        check(|_, text| Some(text), &[]);
        check(|_, text| Some(format!("# A comment.\n{text}")), &[]);
        let value = |path: &str, text: String| {
            Some(if path.starts_with("configs/") { format!("{text}  ADDED: \"1\"\n") } else { text })
        };
        let found = unchanged();
        let all: Vec<_> = found.workloads().map(|(name, _)| &**name).collect();
        assert_eq!(all.len(), 2);
        check(value, &all);
    }

    #[test]
    fn revision_counts_its_targets_and_renderings() {
        let compiled = compiled(|_, text| Some(text));
        let found = Revisions::new(&compiled);
        assert_eq!(found.workloads().map(|(_, found)| found.rendered).sum::<usize>(), compiled.rendered_count());
        assert_eq!(found.workloads().map(|(_, found)| found.targets.len()).sum::<usize>(), 8);
        assert_eq!(found.desired("gone"), Some(empty()));
        assert!(found.workloads().all(|(_, found)| found.revision.0.len() == DIGITS && found.failing == 0));
    }

    #[test]
    fn the_sum_does_not_depend_on_the_order() {
        let folder = |text: &str| GitId::of_blob(text.as_bytes());
        let all = [("a", "x", folder("1")), ("b", "x", folder("2")), ("a", "y", folder("1"))];
        let sum = |order: &[usize]| {
            let mut sum = Sum::default();
            for (place, target, folder) in order.iter().map(|index| all[*index]) {
                sum.add_assignment(&name_hash(place), &name_hash(target), folder);
            }
            sum.revision()
        };
        assert_eq!(sum(&[0, 1, 2]), sum(&[2, 0, 1]));
        assert!(sum(&[0, 1]) != sum(&[0, 2]) && sum(&[0]) != empty());
    }
}
