//! The guard against removing what nobody meant to remove: which plans need a word first.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::digest::DigestBuilder;

use super::{Change, ChangeKind, Plan, PlannedId};
use crate::compile::Compiled;

/// From how many removed assignments on their share counts.
const COUNT_MIN: usize = 5;
/// One of how many assignments may go.
const SHARE: usize = 5;
/// How many digits a word has.
const WORD_DIGITS: usize = 8;

/// What goes as a whole, however little it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gone {
    /// Workloads that had assignments and keep none.
    pub workloads: BTreeSet<Arc<str>>,
    /// Targets that had assignments and keep none, where it is not known whose they were.
    pub targets: BTreeSet<Arc<str>>,
}

/// Where a plan would be carried out, for [`Plan::word`].
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
    /// The workloads of removed assignments of which the new fleet has none: none that is rendered, and none that keeps its last good folder.
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

    /// Whether nothing goes as a whole.
    pub fn is_empty(&self) -> bool {
        self.workloads.is_empty() && self.targets.is_empty()
    }
}

impl Plan {
    /// Whether somebody has to say that this is meant: more than a fifth of the assignments and at least five of them go, or all of a workload, or a whole
    /// cluster type, or everything.
    pub fn needs_confirmation(&self) -> bool {
        let removed = self.count(ChangeKind::Removed);
        (removed >= COUNT_MIN && removed * SHARE > self.before())
            || self.removes_everything()
            || !self.gone_as_whole.is_empty()
            || !self.gone.is_empty()
    }

    /// Whether there were assignments, and none of them stays.
    pub fn removes_everything(&self) -> bool {
        let removed = self.count(ChangeKind::Removed);
        removed > 0 && removed == self.before()
    }

    /// The folders that go, by path in the repository: those of assignments, and those of cluster types.
    pub fn removals(&self) -> BTreeSet<String> {
        let folder = |place: &Arc<str>| self.folders.get(place).cloned().unwrap_or_else(|| Arc::clone(place));
        let removed = self.changes.iter().filter(|(_, change)| change.kind == ChangeKind::Removed);
        let removed = removed.map(|(id, _)| format!("{}/{}", folder(&id.place), id.target));
        removed.chain(self.gone.iter().map(|place| folder(place).to_string())).collect()
    }

    /// The word that confirms exactly these removals in this place, and no others.
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
