//! Plans: the changes of a new tree, by assignment and by value, with reasons.
//!
//! A plan compares the git ids of folders. The files of an assignment are read only when the caller requests them.

mod causes;
mod folders;
mod places;
mod removal_guard;
mod renamed;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::diagnostic::{AssignmentId, Origin};
use model::field_path::FieldPath;
use model::git_id::GitId;
use model::name::{DeploymentTargetName, PlaceName, PolicyName};
use model::progress::ProgressPhase;
use model::tree::{Blob, Child, FileDifference, Open, OpenError, Tree, shown};

pub use self::folders::{FolderChanges, PlaceFolder, PlacePart, folder_changes};
use self::places::{FolderDifferences, PlaceDifference};
pub use self::removal_guard::{PlanDestination, RemovedWorkloads};
use crate::compile::Compiled;
use crate::hold::HeldFolder;
use crate::layout::assignment_folders::AssignmentFolders;
use crate::layout::{Folder, joined};
use crate::output::{Output, Relocation};

/// The input of a plan.
#[derive(Clone, Copy)]
pub struct PlanInput<'a> {
    /// The current tree of the GitOps branch.
    pub previous: &'a Tree,
    /// Whether `previous` is what was published. If not, it was rendered from the sources of `old`.
    pub is_published: bool,
    /// The desired output.
    pub output: &'a Output,
    /// The folder that contains the output.
    pub folder: &'a Folder,
    /// The desired fleet. The comparison reports to its progress.
    pub new: &'a Compiled,
    /// The fleet that the branch was rendered from. None if it is not known.
    pub old: Option<&'a Compiled>,
    /// Opens folders of both trees.
    pub open: &'a Open<'a>,
    /// Returns the content of a blob of the branch. None if it is not available.
    pub content: &'a dyn Fn(GitId) -> Option<Arc<[u8]>>,
}

/// The changes that publishing would make.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The assignments that change, by name.
    pub changes: BTreeMap<PlannedId, AssignmentChange>,
    /// Changed files that belong to no assignment: files of cluster types, and the tracking file.
    pub other_files: Vec<FileChange>,
    /// The number of assignments that are up to date.
    pub unchanged: usize,
    /// The number of folders of cluster types that move because the layout changes.
    pub moved: usize,
    /// The move of all folders of cluster types to another path. None: the path stays.
    pub relocation: Option<Relocation>,
    /// The folders without Kalypso's marker that are taken over, by place, with their files that are changed or removed.
    pub adopted: BTreeMap<Arc<str>, Vec<FileChange>>,
    /// Cluster types whose folders are removed and contained assignments.
    pub removed_places: Vec<Arc<str>>,
    /// Cluster types and clusters whose folders get other names: the earlier name, and the present one.
    pub renamed_places: BTreeMap<Arc<str>, Arc<str>>,
    /// Those of the renamed ones whose folders under the earlier name are removed as a whole.
    pub left_places: Vec<Arc<str>>,
    /// Workloads that lose all assignments.
    pub removed_workloads: RemovedWorkloads,
    /// Assignments that fail and keep their folder. An assignment is in exactly one of `changes`, `kept`, `missing`, `still_failing` and the unchanged ones. Those
    /// that are held are also in `changes` if their folder changes.
    pub kept: BTreeSet<AssignmentId>,
    /// Assignments that fail and are rendered from an earlier publication.
    pub held: BTreeMap<AssignmentId, Arc<HeldFolder>>,
    /// Assignments that have no folder, because they fail, or because a foreign folder is in the way of their place's.
    pub missing: BTreeSet<AssignmentId>,
    /// Assignments that fail before and after, if the plan does not know what was published of them.
    pub still_failing: BTreeSet<AssignmentId>,
    /// New deployment targets without assignments.
    pub unassigned: BTreeSet<DeploymentTargetName>,
    /// The paths of folders of cluster types with changes, in the repository, by place name.
    folders: BTreeMap<Arc<str>, Arc<str>>,
    /// The number of new or changed folders of places, and of the folders around them.
    new_folders: usize,
}

/// The names of the place and the target of an assignment's folder. The objects may not exist any more.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlannedId {
    /// The name of the folder of the cluster type or cluster.
    pub place: Arc<str>,
    /// The name of the target's folder.
    pub target: Arc<str>,
}

impl PlannedId {
    /// The assignment with these names. None if a name is invalid.
    pub fn assignment(&self) -> Option<AssignmentId> {
        let place = PlaceName::new(Arc::clone(&self.place)).ok()?;
        Some(AssignmentId { place, target: DeploymentTargetName::new(Arc::clone(&self.target)).ok()? })
    }
}

impl From<&AssignmentId> for PlannedId {
    fn from(id: &AssignmentId) -> Self {
        Self { place: Arc::clone(id.place.as_arc()), target: Arc::clone(id.target.as_arc()) }
    }
}

impl std::fmt::Display for PlannedId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.place, self.target)
    }
}

/// How an assignment changes.
#[derive(Clone, Debug)]
pub struct AssignmentChange {
    /// Whether it is added, changed, renamed or removed.
    pub kind: ChangeKind,
    /// Its workload. Empty if it is not known.
    pub workload: Arc<str>,
    /// Its earlier name, if it is renamed.
    pub renamed_from: Option<PlannedId>,
    /// Its current folder. None if it is new.
    pub before: Option<Child>,
    /// Its new folder. None if it is removed.
    pub after: Option<Child>,
    /// The changed values and the reasons. None if the limit of different reasons was reached before.
    pub reasons: Option<Arc<ChangeReasons>>,
}

/// The reasons of a change. Many assignments may share them.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChangeReasons {
    /// The values that change.
    pub values: Vec<ValueChange>,
    /// Other reasons for the change.
    pub others: Vec<ChangeReason>,
}

/// The kind of a change of an assignment or a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// It exists before and after.
    Changed,
    /// It exists before and after, with another name. Files are never renamed.
    Renamed,
    /// It is removed.
    Removed,
}

/// A changed file.
#[derive(Clone, Debug)]
pub struct FileChange {
    /// Its path in the repository.
    pub path: Arc<str>,
    /// Whether it is added, changed or removed.
    pub kind: ChangeKind,
    /// Its content before.
    pub before: Option<Blob>,
    /// Its content after.
    pub after: Option<Blob>,
}

/// A changed configuration value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValueChange {
    /// The path of the value.
    pub path: FieldPath,
    /// The old value for display. None if the value is new.
    pub before: Option<String>,
    /// The new value for display. None if the value is removed.
    pub after: Option<String>,
    /// The place of the new value or of the old value, or the label that makes the difference.
    pub cause: Option<Cause>,
}

/// The place that causes a change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// A place in the desired fleet.
    New(Origin),
    /// A place in the previous fleet.
    Old(Origin),
    /// The value of a label differs. [`Compiled::label_origin`] returns the label's place for an assignment.
    Label(LabelOf, Arc<str>),
}

/// The kind of object that has a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LabelOf {
    /// The cluster type or cluster.
    Place,
    /// The deployment target.
    Target,
}

/// A reason why an assignment changes, other than its values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeReason {
    /// Its place, its target or both had these names.
    Renamed(Vec<Arc<str>>, Cause),
    /// These policies assign it.
    AssignedBy(Vec<(PolicyName, Origin)>),
    /// The cluster type does not exist any more. Also used for a cluster if the previous fleet is not known.
    ClusterTypeRemoved,
    /// The cluster does not exist any more.
    ClusterRemoved,
    /// The deployment target of this name does not exist any more.
    TargetRemoved(Arc<str>),
    /// No policy assigns it any more. These policies assigned it before.
    NotAssigned(Vec<PolicyName>),
    /// The content of a template differs.
    Template(Arc<str>, Cause),
    /// The cluster type names another template.
    OtherTemplate(Arc<str>, Cause),
    /// The `manifests` of the deployment target differ, at these keys.
    Manifests(Vec<Arc<str>>, Cause),
    /// A release pin is new for the assignment, does not hold it any more, or differs.
    Pin(Arc<str>, Cause),
    /// The assignment fails. It is rendered from the commits of this publication, with these release pins.
    Held(GitId, Vec<(Arc<str>, Origin)>),
    /// A label differs.
    Label(Cause),
    /// The previous fleet is not known, or other data of the templates differs.
    Unknown,
}

/// Compares the current tree with the desired output.
///
/// # Errors
/// If a folder that differs can't be opened.
pub fn plan(comparison: &PlanInput<'_>) -> Result<Plan, OpenError> {
    let PlanInput { previous, output, folder, new, open, .. } = *comparison;
    let mut plan = Plan { held: output.held.clone(), ..Plan::default() };
    let comparing = new.progress().begin(ProgressPhase::Comparing);
    let inside = |tree: &Tree| Ok(tree.folder(folder.as_str(), open)?.unwrap_or_default());
    let mut differences = FolderDifferences::between(inside(previous)?, inside(&output.tree)?, (open, comparing))?;
    let places = std::mem::take(&mut differences.places);
    plan.new_folders = differences.new_folders;
    for place in places.values() {
        plan.add_place(place, &mut differences, comparison)?;
        comparing.advance(1);
    }
    plan.other_files = others(comparison, &differences)?;
    plan.pair_renamed(comparison);
    let mut finder = values::ReasonFinder::new(comparison);
    for (id, change) in &mut plan.changes {
        let path = plan.folders.get(&id.place).map(|folder| format!("{folder}/{}", id.target));
        (change.workload, change.reasons) = finder.find(id, change, &path.unwrap_or_default())?;
        comparing.advance(1);
    }
    plan.add_failing(comparison)?;
    let changed = plan.changes.values().filter(|change| change.kind != ChangeKind::Removed).count();
    plan.unchanged = output.assignments.saturating_sub(changed + plan.unchanged_failing());
    plan.removed_workloads = RemovedWorkloads::find(&plan, new);
    plan.unassigned = unassigned(new, comparison.old);
    Ok(plan)
}

/// The targets that are new and have no assignment.
fn unassigned(new: &Compiled, old: Option<&Compiled>) -> BTreeSet<DeploymentTargetName> {
    let targets = new.prepared().targets().iter().filter(|target| target.problem.is_none()).map(|target| &target.name);
    let is_new = |name: &&DeploymentTargetName| old.is_none_or(|old| !old.has_target(name.as_str()));
    let mut found: BTreeSet<_> = targets.filter(is_new).cloned().collect();
    for assignment in new.assignments() {
        if found.is_empty() {
            break;
        }
        if let Some(target) = assignment.target() {
            found.remove(&target.name);
        }
    }
    found
}

/// The changed files that belong to no assignment, inside and outside of the output's folder.
fn others(comparison: &PlanInput<'_>, differences: &FolderDifferences) -> Result<Vec<FileChange>, OpenError> {
    let PlanInput { previous, output, folder, open, .. } = *comparison;
    let mut changes = file_changes((&differences.before, &differences.after), folder.as_str(), open)?;
    if !folder.as_str().is_empty() {
        let (mut before, mut after) = (previous.clone(), output.tree.clone());
        before.remove(folder.as_str(), open)?;
        after.remove(folder.as_str(), open)?;
        changes.extend(file_changes((&before, &after), "", open)?);
        changes.sort_by(|left, right| left.path.cmp(&right.path));
    }
    Ok(changes)
}

/// The differing files of two folders. `path` is the path of both in the repository.
///
/// # Errors
/// If a folder can't be opened.
pub fn file_changes(
    (before, after): (&Tree, &Tree),
    path: &str,
    open: &Open<'_>,
) -> Result<Vec<FileChange>, OpenError> {
    let change = |difference: Result<FileDifference, OpenError>| {
        let FileDifference { path: below, before, after } = difference?;
        let kind = ChangeKind::from_sides(before.is_some(), after.is_some());
        let blob = |entry: Option<model::tree::Entry>| entry.map(|entry| entry.blob);
        let path = joined(path, &shown(&below)).into();
        Ok(FileChange { path, kind, before: blob(before), after: blob(after) })
    };
    before.diff(after, open).map(change).collect()
}

impl ChangeKind {
    fn from_sides(is_before: bool, is_after: bool) -> Self {
        match (is_before, is_after) {
            (false, _) => Self::Added,
            (true, false) => Self::Removed,
            (true, true) => Self::Changed,
        }
    }
}

impl AssignmentChange {
    /// The changed files in the assignment's folder, which is at this path.
    ///
    /// # Errors
    /// If the folder can't be opened.
    fn files(&self, path: &str, open: &Open<'_>) -> Result<Vec<FileChange>, OpenError> {
        let opened = |child: &Option<Child>| match child {
            Some(child) => Ok(child.opened(open)?.unwrap_or_default()),
            None => Ok(Tree::default()),
        };
        file_changes((&opened(&self.before)?, &opened(&self.after)?), path, open)
    }
}

impl Plan {
    /// Whether a place has another name now, or is the present name of such a place.
    pub fn is_renamed_place(&self, name: &str) -> bool {
        self.renamed_places.contains_key(name) || self.renamed_places.values().any(|present| **present == *name)
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.other_files.is_empty() && self.moved == 0 && self.relocation.is_none()
    }

    /// Whether any assignment fails, so that its folder differs from the desired state.
    pub fn is_failing(&self) -> bool {
        !(self.kept.is_empty() && self.held.is_empty() && self.missing.is_empty() && self.still_failing.is_empty())
    }

    /// Adds the failing assignments: the folder in the output says what is left of each.
    fn add_failing(&mut self, comparison: &PlanInput<'_>) -> Result<(), OpenError> {
        let PlanInput { output, folder, new, old, open, is_published, .. } = *comparison;
        let refused = output.refused.iter().flat_map(|place| new.assignments_on(place));
        self.missing.extend(refused.filter_map(|assignment| assignment.id()));
        let mut folders = AssignmentFolders::new(&output.tree, folder, open)?;
        for id in new.failing().filter(|id| !output.refused.contains(id.place.as_str())) {
            let planned = PlannedId::from(&id);
            // With rings, a failing assignment may get the folder of an earlier revision, or lose its own.
            if self.held.contains_key(&id) || self.changes.contains_key(&planned) {
                continue;
            }
            if folders.find(&id)?.is_some() {
                self.kept.insert(id);
            } else if is_published || old.is_none_or(|old| old.get(&id).is_none()) {
                self.missing.insert(id);
            } else {
                self.still_failing.insert(id);
            }
        }
        Ok(())
    }

    /// The number of failing assignments whose folder stays.
    fn unchanged_failing(&self) -> usize {
        let is_changed = |id: &AssignmentId| self.changes.contains_key(&PlannedId::from(id));
        self.kept.len() + self.held.keys().filter(|id| !is_changed(id)).count()
    }

    /// Whether a failing assignment has a folder of an earlier state after the change.
    fn has_earlier(&self, id: &AssignmentId) -> bool {
        let change = self.changes.get(&PlannedId::from(id));
        let has_folder = change.is_some_and(|change| change.kind != ChangeKind::Removed);
        has_folder || self.kept.contains(id) || self.held.contains_key(id)
    }

    /// The changed files of an assignment. Empty if the assignment is not in the plan.
    ///
    /// # Errors
    /// If its folder can't be opened.
    pub fn files(&self, id: &PlannedId, open: &Open<'_>) -> Result<Vec<FileChange>, OpenError> {
        let (Some(change), Some(folder)) = (self.changes.get(id), self.folders.get(&id.place)) else {
            return Ok(Vec::new());
        };
        change.files(&format!("{folder}/{}", id.target), open)
    }

    /// The number of assignments with a folder before the change.
    pub fn before(&self) -> usize {
        self.unchanged + self.unchanged_failing() + self.changes.len() - self.count(ChangeKind::Added)
    }

    /// The number of folders to write: new or changed folders of assignments and places, and the folders around them.
    pub fn new_folders(&self) -> usize {
        self.new_folders + self.changes.values().filter(|change| change.after.is_some()).count()
    }

    /// The number of assignments with this kind of change.
    pub fn count(&self, kind: ChangeKind) -> usize {
        self.changes.values().filter(|change| change.kind == kind).count()
    }

    /// Adds the changes in the folder of a place.
    fn add_place(
        &mut self,
        place: &PlaceDifference,
        others: &mut FolderDifferences,
        comparison: &PlanInput<'_>,
    ) -> Result<(), OpenError> {
        let name = &place.name;
        let opened = |side: Option<&places::PlaceSide>| match side {
            Some(side) => Ok(side.folder.opened(comparison.open)?.unwrap_or_default()),
            None => Ok(Tree::default()),
        };
        let (before, after) = (opened(place.before.as_ref())?, opened(place.after.as_ref())?);
        let was_ours = place.before.as_ref().is_some_and(|side| side.is_ours);
        let Some(path) = place.after.as_ref().or(place.before.as_ref()).map(|side| &side.path) else { return Ok(()) };
        self.moved += usize::from(place.before.as_ref().is_some_and(|side| side.path != *path));
        self.new_folders += usize::from(place.after.is_some());
        self.folders.insert(Arc::clone(name), comparison.folder.join(path).into());
        if place.before.is_some() && !was_ours {
            let path = comparison.folder.join(path);
            let files = file_changes((&before, &after), &path, comparison.open)?.into_iter();
            self.adopted.insert(Arc::clone(name), files.filter(|file| file.kind != ChangeKind::Added).collect());
        }
        let mut removes = false;
        for (target, before, after) in before.changes(&after) {
            let is_folder = |child: Option<&Child>| child.is_some_and(Child::is_folder);
            let (is_before, is_after) = (was_ours && is_folder(before), is_folder(after));
            if is_before || is_after {
                let id = PlannedId { place: Arc::clone(name), target: Arc::clone(target) };
                let kind = ChangeKind::from_sides(is_before, is_after);
                removes |= kind == ChangeKind::Removed;
                let (before, after) = (before.cloned(), after.cloned());
                comparison.new.progress().begin(ProgressPhase::Comparing).expect(1);
                let (workload, renamed_from) = ("".into(), None);
                let change = AssignmentChange { kind, workload, renamed_from, before, after, reasons: None };
                self.changes.insert(id, change);
            } else {
                others.put(&joined(path, target), before, after)?;
            }
        }
        // A removed folder counts only if it contained assignments.
        if place.after.is_none() && was_ours && removes {
            self.removed_places.push(Arc::clone(name));
        }
        Ok(())
    }
}
