//! The guard against accidental removal: decides which plans need a confirmation.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::digest::DigestBuilder;

use super::{Change, ChangeKind, Plan, PlannedId};
use crate::compile::Compiled;

/// The minimum number of removed assignments for which their share is checked.
const COUNT_MIN: usize = 5;
/// One of this number of assignments may be removed without a confirmation: 5 means a fifth.
const SHARE: usize = 5;
/// The number of digits of a confirmation word.
const WORD_DIGITS: usize = 8;

/// Workloads and targets that lose all assignments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gone {
    /// Workloads that had assignments and have none after the change.
    pub workloads: BTreeSet<Arc<str>>,
    /// Targets of unknown workloads that had assignments and have none after the change.
    pub targets: BTreeSet<Arc<str>>,
}

/// The destination of a plan, for [`Plan::word`].
#[derive(Clone, Copy, Debug)]
pub struct Guarded<'a> {
    /// The URL of the GitOps repository.
    pub repository: &'a str,
    /// Its branch.
    pub branch: &'a str,
    /// The environment.
    pub environment: &'a str,
}

impl Gone {
    /// Finds the workloads of removed assignments that have no assignment in the new fleet: none that is rendered, and none that has an earlier folder.
    pub(super) fn of(plan: &Plan, new: &Compiled) -> Self {
        let removed = |(id, change): (&PlannedId, &Change)| {
            (change.kind == ChangeKind::Removed).then(|| (Arc::clone(&change.workload), Arc::clone(&id.target)))
        };
        let removed: BTreeSet<_> = plan.changes.iter().filter_map(removed).collect();
        let (unknown, known): (Vec<_>, Vec<_>) = removed.into_iter().partition(|(workload, _)| workload.is_empty());
        let mut gone = Self {
            workloads: known.into_iter().map(|(workload, _)| workload).collect(),
            targets: unknown.into_iter().map(|(_, target)| target).collect(),
        };
        for assignment in new.assignments() {
            if gone.is_empty() {
                break;
            }
            let id = assignment.id();
            if assignment.is_good() || id.as_ref().is_some_and(|id| plan.has_earlier(id)) {
                gone.workloads.remove(assignment.workload());
                if let Some(id) = id {
                    gone.targets.remove(id.target.as_str());
                }
            }
        }
        gone
    }

    /// Whether no workload or target loses all assignments.
    pub fn is_empty(&self) -> bool {
        self.workloads.is_empty() && self.targets.is_empty()
    }
}

impl Plan {
    /// Whether the plan needs a confirmation. It does if it removes more than a fifth of the assignments and at least five of them, or all
    /// assignments of a workload, or a whole cluster type, or everything.
    pub fn needs_confirmation(&self) -> bool {
        let removed = self.count(ChangeKind::Removed);
        (removed >= COUNT_MIN && removed * SHARE > self.before())
            || self.removes_everything()
            || !self.gone_as_whole.is_empty()
            || !self.gone.is_empty()
    }

    /// Whether there were assignments, and all of them are removed.
    pub fn removes_everything(&self) -> bool {
        let removed = self.count(ChangeKind::Removed);
        removed > 0 && removed == self.before()
    }

    /// The removed folders of assignments and cluster types, by path in the repository.
    pub fn removals(&self) -> BTreeSet<String> {
        let folder = |place: &Arc<str>| self.folders.get(place).cloned().unwrap_or_else(|| Arc::clone(place));
        let removed = self.changes.iter().filter(|(_, change)| change.kind == ChangeKind::Removed);
        let removed = removed.map(|(id, _)| format!("{}/{}", folder(&id.place), id.target));
        removed.chain(self.gone.iter().map(|place| folder(place).to_string())).collect()
    }

    /// The word that confirms exactly these removals at this destination: 8 hexadecimal digits of a digest.
    pub fn word(&self, place: Guarded<'_>) -> String {
        let Guarded { repository, branch, environment } = place;
        let mut digest = DigestBuilder::new("confirmation");
        let _ = digest.text(repository).text(branch).text(environment);
        for path in self.removals() {
            digest.text(&path);
        }
        digest.finish().to_string().chars().take(WORD_DIGITS).collect()
    }
}
