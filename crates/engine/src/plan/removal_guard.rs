//! The guard against accidental removal: decides which plans need a confirmation.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::digest::DigestBuilder;
use model::tree::{Open, OpenError, Tree};

use super::{AssignmentChange, ChangeKind, Plan, PlannedId};
use crate::compile::Compiled;
use crate::output::Relocation;

/// The minimum number of removed assignments for which their share is checked.
const COUNT_MIN: usize = 5;
/// One of this number of assignments may be removed without a confirmation: 5 means a fifth.
const SHARE: usize = 5;
/// The number of digits of a confirmation word.
const WORD_DIGITS: usize = 8;

/// Workloads and targets that lose all assignments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemovedWorkloads {
    /// Workloads that had assignments and have none after the change.
    pub workloads: BTreeSet<Arc<str>>,
    /// Targets of unknown workloads that had assignments and have none after the change.
    pub targets: BTreeSet<Arc<str>>,
}

/// The destination of a plan, for [`Plan::confirmation_word`].
#[derive(Clone, Copy, Debug)]
pub struct PlanDestination<'a> {
    /// The URL of the GitOps repository.
    pub repository: &'a str,
    /// Its branch.
    pub branch: &'a str,
    /// The environment.
    pub environment: &'a str,
}

impl RemovedWorkloads {
    /// Finds the workloads of removed assignments that have no assignment in the new fleet: none that is rendered, and none that has an earlier folder.
    pub(super) fn find(plan: &Plan, new: &Compiled) -> Self {
        let removed = |(id, change): (&PlannedId, &AssignmentChange)| {
            (change.kind == ChangeKind::Removed).then(|| (Arc::clone(&change.workload), Arc::clone(&id.target)))
        };
        let removed: BTreeSet<_> = plan.changes.iter().filter_map(removed).collect();
        let (unknown, known): (Vec<_>, Vec<_>) = removed.into_iter().partition(|(workload, _)| workload.is_empty());
        let mut found = Self {
            workloads: known.into_iter().map(|(workload, _)| workload).collect(),
            targets: unknown.into_iter().map(|(_, target)| target).collect(),
        };
        for assignment in new.assignments() {
            if found.is_empty() {
                break;
            }
            let id = assignment.id();
            if assignment.is_rendered() || id.as_ref().is_some_and(|id| plan.has_earlier(id)) {
                found.workloads.remove(assignment.workload());
                if let Some(id) = id {
                    found.targets.remove(id.target.as_str());
                }
            }
        }
        found
    }

    /// Whether no workload or target loses all assignments.
    pub fn is_empty(&self) -> bool {
        self.workloads.is_empty() && self.targets.is_empty()
    }
}

impl Plan {
    /// Whether the plan needs a confirmation. It does if it removes or renames more than a fifth of the assignments and at least five of them, or a whole
    /// cluster type; or if it removes all assignments of a workload, or everything; or if it moves all folders away from a path, which clusters pull. For a
    /// cluster, a renamed assignment is a removed one and a new one: with its namespace, its volumes go.
    pub fn needs_confirmation(&self) -> bool {
        let leaving = self.count(ChangeKind::Removed) + self.count(ChangeKind::Renamed);
        (leaving >= COUNT_MIN && leaving * SHARE > self.before())
            || self.removes_everything()
            || !self.removed_workloads.is_empty()
            || !self.removed_places.is_empty()
            || !self.left_places.is_empty()
            || self.relocation.is_some()
    }

    /// Whether there were assignments, and all of them are removed.
    pub fn removes_everything(&self) -> bool {
        let removed = self.count(ChangeKind::Removed);
        removed > 0 && removed == self.before()
    }

    /// The removed folders of assignments and cluster types, by path in the repository: those under earlier names, too. Folders that move are removed from their
    /// old path.
    pub fn removals(&self) -> BTreeSet<String> {
        let renamed = self.changes.values().filter_map(|change| change.renamed_from.as_ref());
        let left = self.left_places.iter().map(|place| self.folder_of(place));
        renamed.map(|earlier| self.path_of(earlier)).chain(left).chain(self.removed_for_good()).collect()
    }

    /// The removed folders. Renamed folders are left out.
    fn removed_for_good(&self) -> BTreeSet<String> {
        let removed = self.changes.iter().filter(|(_, change)| change.kind == ChangeKind::Removed);
        let moved = self.relocation.iter().flat_map(Relocation::removed_folders);
        let places = self.removed_places.iter().map(|place| self.folder_of(place));
        removed.map(|(id, _)| self.path_of(id)).chain(places).chain(moved).collect()
    }

    fn path_of(&self, id: &PlannedId) -> String {
        format!("{}/{}", self.folder_of(&id.place), id.target)
    }

    fn folder_of(&self, place: &Arc<str>) -> String {
        self.folders.get(place).unwrap_or(place).to_string()
    }

    /// The output with everything that the plan removes for good, as the branch has it.
    ///
    /// # Errors
    /// If a folder can't be opened.
    pub fn with_removed(&self, previous: &Tree, output: &Tree, open: &Open<'_>) -> Result<Tree, OpenError> {
        let mut tree = output.clone();
        for path in self.removed_for_good() {
            if let Some(child) = previous.find(&path, open)? {
                tree.put(&path, child, open)?;
            }
        }
        self.put_markers(&mut tree, previous, open)?;
        Ok(tree)
    }

    /// Puts the markers into the folders of renamed places that keep a part of their assignments.
    fn put_markers(&self, tree: &mut Tree, previous: &Tree, open: &Open<'_>) -> Result<(), OpenError> {
        for folder in self.renamed_places.keys().filter_map(|place| self.folders.get(place)) {
            let path = format!("{folder}/README.md");
            if tree.find(folder, open)?.is_some()
                && let Some(marker) = previous.find(&path, open)?
            {
                tree.put(&path, marker, open)?;
            }
        }
        Ok(())
    }

    /// The word that confirms exactly these removals at this destination: 8 hexadecimal digits of a digest.
    pub fn confirmation_word(&self, destination: PlanDestination<'_>) -> String {
        let PlanDestination { repository, branch, environment } = destination;
        let mut digest = DigestBuilder::new("confirmation");
        let _ = digest.text(repository).text(branch).text(environment);
        for path in self.removals() {
            digest.text(&path);
        }
        digest.finish().to_string().chars().take(WORD_DIGITS).collect()
    }
}
