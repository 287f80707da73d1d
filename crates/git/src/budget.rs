//! What is left of what reading one place may cost.

use std::sync::atomic::{AtomicU64, Ordering};

use model::object::AnyObject;

use crate::limits::PlaceLimits;

/// Counts what reading one place costs. Steps and bytes are counted, never time.
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

/// The limit that a place is beyond.
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

    /// A budget of its own for going through the earlier commits of a place.
    pub(crate) fn for_the_past(&self) -> Self {
        Self::new(PlaceLimits { files: u64::MAX, steps: self.limits.earlier_steps, ..self.limits })
    }

    /// What a budget for the past is beyond, where it ends the way back.
    pub(crate) fn past_exceeded(&self) -> Exceeded {
        Exceeded::EarlierSteps(self.limits.earlier_steps)
    }

    /// How many bytes the tree of a folder may have.
    pub(crate) fn folder_bytes(&self) -> u64 {
        self.limits.folder_bytes
    }

    /// Takes a YAML file into account.
    pub(crate) fn file(&self) -> Result<(), Exceeded> {
        spend(&self.files, 1, self.limits.files).map_err(Exceeded::Files)
    }

    /// Takes the content of a YAML file into account.
    pub(crate) fn bytes(&self, count: u64) -> Result<(), Exceeded> {
        spend(&self.bytes, count, self.limits.bytes).map_err(Exceeded::Bytes)
    }

    /// Takes looking at entries of folders into account.
    pub(crate) fn steps(&self, count: u64) -> Result<(), Exceeded> {
        spend(&self.steps, count, self.limits.steps).map_err(Exceeded::Steps)
    }

    /// Takes the objects of a file into account.
    pub(crate) fn objects(&self, objects: &[AnyObject]) -> Result<(), Exceeded> {
        let targets = |object: &AnyObject| match object {
            AnyObject::Workload(workload) => workload.spec.deployment_targets.len() as u64,
            _ => 0,
        };
        spend(&self.objects, objects.len() as u64, self.limits.objects).map_err(Exceeded::Objects)?;
        spend(&self.targets, objects.iter().map(targets).sum(), self.limits.targets).map_err(Exceeded::Targets)
    }

    /// Takes an earlier version of a broken file into account, also one whose quality is known: that may not depend on what was read before.
    pub(crate) fn earlier_bytes(&self, count: u64) -> Result<(), Exceeded> {
        spend(&self.earlier_bytes, count, self.limits.earlier_bytes).map_err(Exceeded::EarlierBytes)
    }

    /// Takes looking for an earlier version into account.
    pub(crate) fn earlier_steps(&self, count: u64) -> Result<(), Exceeded> {
        spend(&self.earlier_steps, count, self.limits.earlier_steps).map_err(Exceeded::EarlierSteps)
    }
}

/// The sum does not depend on the order of those who spend at the same time; so neither does whether it is too much.
fn spend(spent: &AtomicU64, count: u64, limit: u64) -> Result<(), u64> {
    let before = spent.fetch_add(count, Ordering::Relaxed);
    if before.saturating_add(count) > limit { Err(limit) } else { Ok(()) }
}
