//! Counts the cost of reading one place (a URL, a revision and a path), and stops it at the limits.

use std::sync::atomic::{AtomicU64, Ordering};

use model::object::AnyObject;

use crate::limits::PlaceLimits;

/// Counters for one place. They count files, bytes and steps, never time, so that the result is the same on every machine.
#[derive(Debug)]
pub(crate) struct Budget {
    limits: PlaceLimits,
    files: AtomicU64,
    bytes: AtomicU64,
    steps: AtomicU64,
    objects: AtomicU64,
    targets: AtomicU64,
    earlier_bytes: AtomicU64,
    earlier_steps: AtomicU64,
}

/// The limit that was exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Exceeded {
    #[error("there are more than {0} YAML files below it")]
    Files(u64),
    #[error("its YAML files are larger than {} MiB together", .0 >> 20)]
    Bytes(u64),
    #[error("its folders and the patterns of its `.sourceignore` files take more than {0} steps")]
    Steps(u64),
    #[error("there are more than {0} objects below it")]
    Objects(u64),
    #[error("its workloads have more than {0} deployment targets")]
    Targets(u64),
    #[error("more than {} MiB of earlier versions would be read from this place", .0 >> 20)]
    EarlierBytes(u64),
    #[error("looking for earlier versions in this place takes more than {0} steps")]
    EarlierSteps(u64),
}

impl Budget {
    pub(crate) fn new(limits: PlaceLimits) -> Self {
        let (files, bytes, steps, objects, targets, earlier_bytes, earlier_steps) = Default::default();
        Self { limits, files, bytes, steps, objects, targets, earlier_bytes, earlier_steps }
    }

    /// Returns a new budget for the walk through earlier commits of the place.
    pub(crate) fn for_history(&self) -> Self {
        Self::new(PlaceLimits { files: u64::MAX, steps: self.limits.earlier_steps, ..self.limits })
    }

    /// The error for a walk through earlier commits that exceeds its budget.
    pub(crate) fn history_exceeded(&self) -> Exceeded {
        Exceeded::EarlierSteps(self.limits.earlier_steps)
    }

    /// The maximum size of the tree object of one folder, in bytes.
    pub(crate) fn folder_bytes(&self) -> u64 {
        self.limits.folder_bytes
    }

    /// Counts one YAML file.
    pub(crate) fn file(&self) -> Result<(), Exceeded> {
        spend(&self.files, 1, self.limits.files).map_err(Exceeded::Files)
    }

    /// Counts the bytes of a YAML file.
    pub(crate) fn bytes(&self, count: u64) -> Result<(), Exceeded> {
        spend(&self.bytes, count, self.limits.bytes).map_err(Exceeded::Bytes)
    }

    /// Counts steps: entries of folders that are checked.
    pub(crate) fn steps(&self, count: u64) -> Result<(), Exceeded> {
        spend(&self.steps, count, self.limits.steps).map_err(Exceeded::Steps)
    }

    /// Counts the objects of a file, and their deployment targets.
    pub(crate) fn objects(&self, objects: &[AnyObject]) -> Result<(), Exceeded> {
        let targets = |object: &AnyObject| match object {
            AnyObject::Workload(workload) => workload.spec.deployment_targets.len() as u64,
            _ => 0,
        };
        spend(&self.objects, objects.len() as u64, self.limits.objects).map_err(Exceeded::Objects)?;
        spend(&self.targets, objects.iter().map(targets).sum(), self.limits.targets).map_err(Exceeded::Targets)
    }

    /// Counts the bytes of an earlier version of a broken file. A version whose state is already cached counts too: the result must not depend on
    /// earlier runs.
    pub(crate) fn earlier_bytes(&self, count: u64) -> Result<(), Exceeded> {
        spend(&self.earlier_bytes, count, self.limits.earlier_bytes).map_err(Exceeded::EarlierBytes)
    }

    /// Counts steps of the search for an earlier version.
    pub(crate) fn earlier_steps(&self, count: u64) -> Result<(), Exceeded> {
        spend(&self.earlier_steps, count, self.limits.earlier_steps).map_err(Exceeded::EarlierSteps)
    }
}

/// Adds to a counter. Threads may add in any order: the sum, and so the result of the place, is the same.
fn spend(spent: &AtomicU64, count: u64, limit: u64) -> Result<(), u64> {
    let before = spent.fetch_add(count, Ordering::Relaxed);
    if before.saturating_add(count) > limit { Err(limit) } else { Ok(()) }
}
