//! Plans: what a new tree changes, by assignment and by value, and why.
//!
//! A plan is made of ids: which folders of assignments differ. Their files are looked at when somebody asks for them.

mod causes;
mod folders;
mod guard;
mod places;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::diagnostic::{AssignmentId, Origin};
use model::field_path::FieldPath;
use model::git_id::GitId;
use model::name::{DeploymentTargetName, PlaceName, PolicyName};
use model::progress::Phase;
use model::tree::{Blob, Child, FileDifference, Open, OpenError, Tree, shown};

pub use self::folders::{FolderChanges, PlaceFolder, PlacePart, folder_changes};
pub use self::guard::{Gone, Guarded};
use self::places::{Differences, Place};
use crate::compile::Compiled;
use crate::hold::HeldFolder;
use crate::output::{Folder, Output, joined};

/// What is compared.
#[derive(Clone, Copy)]
pub struct Comparison<'a> {
    /// The tree of the GitOps branch as it is.
    pub previous: &'a Tree,
    /// The tree that it should be.
    pub output: &'a Output,
    /// The folder that output lives under.
    pub folder: &'a Folder,
    /// The fleet that should be. What differs is counted where it was counted.
    pub new: &'a Compiled,
    /// The fleet that the branch was made of, if that is known.
    pub old: Option<&'a Compiled>,
    /// Opens folders of both trees.
    pub open: &'a Open<'a>,
    /// The content of a blob of the branch.
    pub content: &'a dyn Fn(GitId) -> Option<Arc<[u8]>>,
}

/// What changes.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Assignments that change, by name.
    pub changes: BTreeMap<PlannedId, Change>,
    /// Files that change and belong to no assignment: of cluster types, and the tracking file.
    pub other_files: Vec<FileChange>,
    /// How many assignments stay as they are.
    pub unchanged: usize,
    /// How many folders of cluster types move, because the layout changes.
    pub moved: usize,
    /// Cluster types that had a folder with assignments and have none any more.
    pub gone: Vec<Arc<str>>,
    /// Workloads of which nothing stays.
    pub gone_as_whole: Gone,
    /// Assignments that fail and keep their last good folder.
    pub kept: BTreeSet<AssignmentId>,
    /// Assignments that fail and are rendered from an earlier publication.
    pub held: BTreeMap<AssignmentId, Arc<HeldFolder>>,
    /// Assignments that fail and have no folder.
    pub missing: BTreeSet<AssignmentId>,
    /// Deployment targets that are new, and that nothing assigns anywhere.
    pub unassigned: BTreeSet<DeploymentTargetName>,
    /// The folders of cluster types in which something changes, by path in the repository.
    folders: BTreeMap<Arc<str>, Arc<str>>,
    /// How many folders of places, and around them, will be there that are not there as they will be.
    new_folders: usize,
}

/// The names of the place and the target of a folder, which may be of an object that is gone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlannedId {
    /// The folder of the cluster type or cluster.
    pub place: Arc<str>,
    /// The target's folder.
    pub target: Arc<str>,
}

impl PlannedId {
    /// The assignment of that name, if it can be one.
    pub fn assignment(&self) -> Option<AssignmentId> {
        let place = PlaceName::new(Arc::clone(&self.place)).ok()?;
        Some(AssignmentId { place, target: DeploymentTargetName::new(Arc::clone(&self.target)).ok()? })
    }
}

impl std::fmt::Display for PlannedId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.place, self.target)
    }
}

/// How an assignment changes.
#[derive(Clone, Debug)]
pub struct Change {
    /// What happens to it.
    pub kind: ChangeKind,
    /// Its workload; empty if nobody knows.
    pub workload: Arc<str>,
    /// Its folder as it was.
    pub before: Option<Child>,
    /// Its folder as it will be.
    pub after: Option<Child>,
    /// What changes in it, and why. None if so many others change in other ways that it was not looked at.
    pub why: Option<Arc<Why>>,
}

/// The reasons of a change, which many assignments may share.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Why {
    /// The values that change.
    pub values: Vec<ValueChange>,
    /// Other reasons for the change.
    pub reasons: Vec<Reason>,
}

/// What happens to an assignment or a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// It is there before and after.
    Changed,
    /// It is gone.
    Removed,
}

/// A file that changes.
#[derive(Clone, Debug)]
pub struct FileChange {
    /// Its path in the repository.
    pub path: Arc<str>,
    /// What happens to it.
    pub kind: ChangeKind,
    /// Its content before.
    pub before: Option<Blob>,
    /// Its content after.
    pub after: Option<Blob>,
}

/// A configuration value that changes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValueChange {
    /// The value.
    pub path: FieldPath,
    /// What it was, as it may be shown; none if it is new.
    pub before: Option<String>,
    /// What it will be, as it may be shown; none if it is gone.
    pub after: Option<String>,
    /// Where the new value is written, or where the old one was.
    pub because: Option<Because>,
}

/// Where something is written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Because {
    /// In the fleet that should be.
    New(Origin),
    /// In the fleet that was.
    Old(Origin),
    /// A label is another one: [`Compiled::label_origin`] says where it is written for an assignment.
    Label(LabelOf, Arc<str>),
}

/// What has a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LabelOf {
    /// The cluster type or cluster.
    Place,
    /// The deployment target.
    Target,
}

/// Why an assignment changes, beside its values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// These policies assign it.
    AssignedBy(Vec<(PolicyName, Origin)>),
    /// The cluster type does not exist any more; or the cluster, if nobody knows what was.
    ClusterTypeGone,
    /// The cluster does not exist any more.
    ClusterGone,
    /// The deployment target of this name does not exist any more.
    TargetGone(Arc<str>),
    /// No policy assigns it any more; these did.
    NotAssigned(Vec<PolicyName>),
    /// A template says something else.
    Template(Arc<str>, Because),
    /// The cluster type names another template.
    OtherTemplate(Arc<str>, Because),
    /// Manifests of the deployment target are different: these keys.
    Manifests(Vec<Arc<str>>, Because),
    /// A release pin holds it that did not, holds it no more, or says something else.
    Pin(Arc<str>, Because),
    /// It fails, and is rendered from the commits of this publication, with these release pins.
    Held(GitId, Vec<(Arc<str>, Origin)>),
    /// A label is different.
    Label(Because),
    /// It is not known what was before; or something else is different that templates see.
    Unknown,
}

/// Compares what is with what should be.
///
/// # Errors
/// If a folder that differs can't be opened.
pub fn plan(comparison: &Comparison<'_>) -> Result<Plan, OpenError> {
    let Comparison { previous, output, folder, new, open, .. } = *comparison;
    let mut plan = Plan { kept: output.kept.clone(), held: output.held.clone(), ..Plan::default() };
    let comparing = new.progress().begin(Phase::Comparing);
    let inside = |tree: &Tree| Ok(tree.folder(folder.as_str(), open)?.unwrap_or_default());
    let mut differences = Differences::between(inside(previous)?, inside(&output.tree)?, (open, comparing))?;
    let places = std::mem::take(&mut differences.places);
    plan.new_folders = differences.new_folders;
    for (name, place) in places {
        plan.add_place(&name, &place, (&mut differences, comparison))?;
        comparing.advance(1);
    }
    plan.other_files = others(comparison, &differences)?;
    let mut why = values::Reasons::new(comparison);
    for (id, change) in &mut plan.changes {
        let path = plan.folders.get(&id.place).map(|folder| format!("{folder}/{}", id.target));
        (change.workload, change.why) = why.of(id, change, &path.unwrap_or_default())?;
        comparing.advance(1);
    }
    let changed = plan.changes.values().filter(|change| change.kind != ChangeKind::Removed).count();
    plan.unchanged = output.assignments.saturating_sub(changed);
    plan.missing = new.failing().filter(|id| !plan.has_earlier(id)).collect();
    plan.gone_as_whole = Gone::of(&plan, new);
    plan.unassigned = unassigned(new, comparison.old);
    Ok(plan)
}

/// The targets that were not there before, and have no assignment.
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

/// The files that belong to no assignment: in the folder that output lives under, and beside it.
fn others(comparison: &Comparison<'_>, differences: &Differences) -> Result<Vec<FileChange>, OpenError> {
    let Comparison { previous, output, folder, open, .. } = *comparison;
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

/// The files that differ between two folders at a path of the repository.
fn file_changes((before, after): (&Tree, &Tree), path: &str, open: &Open<'_>) -> Result<Vec<FileChange>, OpenError> {
    let change = |difference: Result<FileDifference, OpenError>| {
        let FileDifference { path: below, before, after } = difference?;
        let kind = ChangeKind::of(before.is_some(), after.is_some());
        let blob = |entry: Option<model::tree::Entry>| entry.map(|entry| entry.blob);
        let path = joined(path, &shown(&below)).into();
        Ok(FileChange { path, kind, before: blob(before), after: blob(after) })
    };
    before.diff(after, open).map(change).collect()
}

impl ChangeKind {
    fn of(is_before: bool, is_after: bool) -> Self {
        match (is_before, is_after) {
            (false, _) => Self::Added,
            (true, false) => Self::Removed,
            (true, true) => Self::Changed,
        }
    }
}

impl Change {
    /// The files that change in the assignment's folder, which is at this path.
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
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.other_files.is_empty() && self.moved == 0
    }

    /// Whether there are assignments that fail, so that their folders are not as they should be.
    pub fn is_failing(&self) -> bool {
        !self.kept.is_empty() || !self.held.is_empty() || !self.missing.is_empty()
    }

    /// Whether an assignment fails and has a folder of an earlier state.
    fn has_earlier(&self, id: &AssignmentId) -> bool {
        self.kept.contains(id) || self.held.contains_key(id)
    }

    /// The files of an assignment that change.
    ///
    /// # Errors
    /// If its folder can't be opened.
    pub fn files(&self, id: &PlannedId, open: &Open<'_>) -> Result<Vec<FileChange>, OpenError> {
        let (Some(change), Some(folder)) = (self.changes.get(id), self.folders.get(&id.place)) else {
            return Ok(Vec::new());
        };
        change.files(&format!("{folder}/{}", id.target), open)
    }

    /// How many assignments had a folder before.
    pub fn before(&self) -> usize {
        self.unchanged + self.count(ChangeKind::Changed) + self.count(ChangeKind::Removed)
    }

    /// How many folders of assignments and places, and around them, will be there that are not there as they will be: what is to be written.
    pub fn new_folders(&self) -> usize {
        self.new_folders + self.changes.values().filter(|change| change.after.is_some()).count()
    }

    /// How many assignments change in this way.
    pub fn count(&self, kind: ChangeKind) -> usize {
        self.changes.values().filter(|change| change.kind == kind).count()
    }

    /// Adds what changes in the folder of a place.
    fn add_place(
        &mut self,
        name: &Arc<str>,
        place: &Place,
        (others, comparison): (&mut Differences, &Comparison<'_>),
    ) -> Result<(), OpenError> {
        let opened = |side: Option<&places::Side>| match side {
            Some(side) => Ok(side.folder.opened(comparison.open)?.unwrap_or_default()),
            None => Ok(Tree::default()),
        };
        let (before, after) = (opened(place.before.as_ref())?, opened(place.after.as_ref())?);
        let was_ours = place.before.as_ref().is_some_and(|side| side.is_ours);
        let Some(path) = place.after.as_ref().or(place.before.as_ref()).map(|side| &side.path) else { return Ok(()) };
        self.moved += usize::from(place.before.as_ref().is_some_and(|side| side.path != *path));
        self.new_folders += usize::from(place.after.is_some());
        self.folders.insert(Arc::clone(name), comparison.folder.join(path).into());
        let mut removes = false;
        for (target, before, after) in before.changes(&after) {
            let is_folder = |child: Option<&Child>| child.is_some_and(Child::is_folder);
            let (is_before, is_after) = (was_ours && is_folder(before), is_folder(after));
            if is_before || is_after {
                let id = PlannedId { place: Arc::clone(name), target: Arc::clone(target) };
                let kind = ChangeKind::of(is_before, is_after);
                removes |= kind == ChangeKind::Removed;
                let (before, after) = (before.cloned(), after.cloned());
                comparison.new.progress().begin(Phase::Comparing).expect(1);
                self.changes.insert(id, Change { kind, workload: "".into(), before, after, why: None });
            } else {
                others.put(&joined(path, target), before, after)?;
            }
        }
        // A folder in which nothing ran is no loss.
        if place.after.is_none() && was_ours && removes {
            self.gone.push(Arc::clone(name));
        }
        Ok(())
    }
}
