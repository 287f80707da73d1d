//! Plans: what a new tree changes, by assignment and by value, and why.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::diagnostic::{AssignmentId, Origin};
use model::field_path::FieldPath;
use model::git_id::GitId;
use model::name::{ClusterTypeName, DeploymentTargetName, PolicyName};
use model::tree::{Blob, Entry, Tree};
use model::yaml;

use crate::compile::{Compiled, Prepared};
use crate::output::{Folder, Output, assignments_in};
use crate::sensitive::Secrets;

/// What is on one side of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The fleet.
    pub prepared: &'a Prepared<'a>,
    /// What was compiled of it.
    pub compiled: &'a Compiled,
}

/// What is compared.
#[derive(Clone, Copy)]
pub struct Comparison<'a> {
    /// The tree of the GitOps branch as it is.
    pub previous: &'a Tree,
    /// The tree that it should be.
    pub output: &'a Output,
    /// The folder that output lives under.
    pub folder: &'a Folder,
    /// The fleet that should be.
    pub new: Side<'a>,
    /// The fleet that the branch was made of, if that is known.
    pub old: Option<Side<'a>>,
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
    /// Assignments that fail and keep their last good folder.
    pub kept: BTreeSet<AssignmentId>,
    /// Assignments that fail and have no folder.
    pub missing: BTreeSet<AssignmentId>,
}

/// The names of the cluster type and the target of a folder, which may be of an object that is gone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlannedId {
    /// The cluster type's folder.
    pub cluster_type: Arc<str>,
    /// The target's folder.
    pub target: Arc<str>,
}

impl PlannedId {
    /// The assignment of that name, if it can be one.
    pub fn assignment(&self) -> Option<AssignmentId> {
        let cluster_type = ClusterTypeName::new(Arc::clone(&self.cluster_type)).ok()?;
        Some(AssignmentId { cluster_type, target: DeploymentTargetName::new(Arc::clone(&self.target)).ok()? })
    }
}

impl std::fmt::Display for PlannedId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.cluster_type, self.target)
    }
}

/// How an assignment changes.
#[derive(Clone, Debug)]
pub struct Change {
    /// What happens to it.
    pub kind: ChangeKind,
    /// Its workload; empty if nobody knows.
    pub workload: Arc<str>,
    /// The files that change.
    pub files: Vec<FileChange>,
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
}

/// Why an assignment changes, beside its values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// These policies assign it.
    AssignedBy(Vec<(PolicyName, Origin)>),
    /// The cluster type does not exist any more.
    ClusterTypeGone,
    /// The deployment target does not exist any more.
    TargetGone,
    /// No policy assigns it any more; these did.
    NotAssigned(Vec<PolicyName>),
    /// A template, or what it sees beside the values (labels, manifests), is different.
    Template,
}

/// Compares what is with what should be.
pub fn plan(comparison: &Comparison<'_>) -> Plan {
    let Comparison { previous, output, folder, new, .. } = comparison;
    let mut plan = Plan { kept: output.kept.clone(), ..Plan::default() };
    let (before, after) = (assignments_in(previous, folder), assignments_in(&output.tree, folder));
    let mut by_assignment: BTreeMap<PlannedId, Vec<FileChange>> = BTreeMap::new();
    for change in file_changes(previous, &output.tree) {
        match planned_id(&change.path, folder).filter(|id| is_assignment(id, &before) || is_assignment(id, &after)) {
            Some(id) => by_assignment.entry(id).or_default().push(change),
            None => plan.other_files.push(change),
        }
    }
    for (id, files) in by_assignment {
        let key = (Arc::clone(&id.cluster_type), Arc::clone(&id.target));
        let kind = match (before.contains(&key), after.contains(&key)) {
            (true, true) => ChangeKind::Changed,
            (false, _) => ChangeKind::Added,
            (true, false) => ChangeKind::Removed,
        };
        let change = comparison.change(&id, kind, files);
        plan.changes.insert(id, change);
    }
    let changed = plan.changes.values().filter(|change| change.kind != ChangeKind::Removed).count();
    plan.unchanged = after.len().saturating_sub(changed);
    let failing = new.compiled.assignments.iter().filter(|(_, assignment)| assignment.files.is_none());
    plan.missing = failing.map(|(id, _)| id.clone()).filter(|id| !plan.kept.contains(id)).collect();
    plan
}

impl Plan {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.other_files.is_empty()
    }

    /// How many assignments change in this way.
    pub fn count(&self, kind: ChangeKind) -> usize {
        self.changes.values().filter(|change| change.kind == kind).count()
    }
}

/// The files that differ between two trees.
pub fn file_changes(before: &Tree, after: &Tree) -> Vec<FileChange> {
    let removed = before.iter().filter(|(path, _)| after.get(path).is_none());
    let removed = removed.map(|(path, entry)| file_change(path, Some(entry), None));
    let written = after.iter().filter(|(path, entry)| before.get(path) != Some(*entry));
    let written = written.map(|(path, entry)| file_change(path, before.get(path), Some(entry)));
    let mut changes: Vec<_> = removed.chain(written).collect();
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    changes
}

fn file_change(path: &Arc<str>, before: Option<&Entry>, after: Option<&Entry>) -> FileChange {
    let kind = match (before, after) {
        (None, _) => ChangeKind::Added,
        (_, None) => ChangeKind::Removed,
        _ => ChangeKind::Changed,
    };
    let blob = |entry: Option<&Entry>| entry.map(|entry| entry.blob.clone());
    FileChange { path: Arc::clone(path), kind, before: blob(before), after: blob(after) }
}

fn planned_id(path: &str, folder: &Folder) -> Option<PlannedId> {
    let rest = if folder.as_str().is_empty() { path } else { path.strip_prefix(folder.as_str())?.strip_prefix('/')? };
    let mut parts = rest.splitn(3, '/');
    let (cluster_type, target, _) = (parts.next()?, parts.next()?, parts.next()?);
    Some(PlannedId { cluster_type: cluster_type.into(), target: target.into() })
}

fn is_assignment(id: &PlannedId, known: &BTreeSet<(Arc<str>, Arc<str>)>) -> bool {
    known.contains(&(Arc::clone(&id.cluster_type), Arc::clone(&id.target)))
}

impl Comparison<'_> {
    fn change(&self, id: &PlannedId, kind: ChangeKind, files: Vec<FileChange>) -> Change {
        let assignment = id.assignment();
        let values = match (kind, &assignment) {
            (ChangeKind::Changed, Some(assignment)) => self.values(assignment, &files),
            _ => Vec::new(),
        };
        let workload = assignment.as_ref().and_then(|id| self.workload(id)).unwrap_or_else(|| "".into());
        let reasons = assignment.map(|id| self.reasons(&id, kind, values.is_empty())).unwrap_or_default();
        Change { kind, workload, files, values, reasons }
    }

    fn workload(&self, id: &AssignmentId) -> Option<Arc<str>> {
        let of = |side: &Side<'_>| side.compiled.assignments.get(id).map(|assignment| Arc::clone(&assignment.workload));
        of(&self.new).or_else(|| self.old.as_ref().and_then(of))
    }

    fn reasons(&self, id: &AssignmentId, kind: ChangeKind, no_value_changes: bool) -> Vec<Reason> {
        let policies = |side: &Side<'_>| {
            side.compiled
                .assignments
                .get(id)
                .into_iter()
                .flat_map(|assignment| assignment.policies.iter().cloned())
                .collect::<Vec<_>>()
        };
        match kind {
            ChangeKind::Added => {
                let origin = |policy: &PolicyName| {
                    let object = self.new.prepared.fleet.policies.get(policy)?;
                    Some(Origin::field(&object.key(), FieldPath::from(["spec"])))
                };
                let named =
                    policies(&self.new).into_iter().filter_map(|policy| origin(&policy).map(|origin| (policy, origin)));
                vec![Reason::AssignedBy(named.collect())]
            }
            ChangeKind::Changed if no_value_changes => vec![Reason::Template],
            ChangeKind::Changed => Vec::new(),
            ChangeKind::Removed if !self.new.compiled.cluster_types.contains(&id.cluster_type) => {
                vec![Reason::ClusterTypeGone]
            }
            ChangeKind::Removed if self.new.prepared.position(&id.target).is_none() => vec![Reason::TargetGone],
            ChangeKind::Removed => vec![Reason::NotAssigned(self.old.as_ref().map(policies).unwrap_or_default())],
        }
    }

    fn values(&self, id: &AssignmentId, files: &[FileChange]) -> Vec<ValueChange> {
        // What one side hides, the other side does not show either: a mark is mostly set after the value.
        let sensitive = self.new.prepared.sensitive_paths(id);
        let changes = if let Some(old) = self.old.filter(|old| old.compiled.assignments.contains_key(id)) {
            let before = old.prepared.shown_values(id, sensitive);
            compare(&before, &self.new.prepared.shown_values(id, old.prepared.sensitive_paths(id)))
        } else {
            let new = self.new.prepared.shown_values(id, BTreeSet::new());
            let files = self.config_files(files);
            // A template may write a secret under another key, or a part of it.
            let mut secrets = self.new.prepared.secrets(id).unwrap_or_default();
            files.iter().flatten().for_each(|content| secrets.add_file(content, &sensitive));
            values_in_files(&files, &new, (&sensitive, &secrets))
        };
        changes.into_iter().collect()
    }

    /// What the configuration files that change hold, before and after.
    fn config_files(&self, files: &[FileChange]) -> Vec<[Arc<[u8]>; 2]> {
        let is_config = |change: &&FileChange| {
            change.path.rsplit('/').next().is_some_and(|name| name.starts_with("platform-config."))
        };
        let content = |blob: &Option<Blob>| match blob.as_ref()? {
            Blob::Bytes(bytes) => Some(Arc::clone(bytes)),
            Blob::Existing(id) => (self.content)(*id),
        };
        let both = |change: &FileChange| Some([content(&change.before)?, content(&change.after)?]);
        files.iter().filter(is_config).filter_map(both).collect()
    }
}

/// What configuration files say before and after, where nobody knows what they were made of: the `data` of the YAML in them.
fn values_in_files(
    files: &[[Arc<[u8]>; 2]],
    new: &[Shown],
    hidden: (&BTreeSet<FieldPath>, &Secrets),
) -> BTreeSet<ValueChange> {
    let origins: BTreeMap<_, _> = new.iter().filter_map(|(path, _, origin)| Some((path, origin.clone()?))).collect();
    let mut changes = BTreeSet::new();
    for [before, after] in files {
        let (Some(before), Some(after)) = (data_leaves(before, hidden), data_leaves(after, hidden)) else { continue };
        let with_origin = |(path, shown): (FieldPath, String)| {
            let origin = origins.get(&path).cloned();
            (path, shown, origin)
        };
        let before: Vec<_> = before.into_iter().map(|(path, shown)| (path, shown, None)).collect();
        changes.extend(compare(&before, &after.into_iter().map(with_origin).collect::<Vec<_>>()));
    }
    changes
}

type Shown = (FieldPath, String, Option<Origin>);

fn compare(before: &[Shown], after: &[Shown]) -> BTreeSet<ValueChange> {
    let by_path = |values: &[Shown]| {
        values.iter().map(|(path, shown, origin)| (path.clone(), (shown.clone(), origin.clone()))).collect()
    };
    let (old, new): (BTreeMap<_, (String, Option<Origin>)>, BTreeMap<_, _>) = (by_path(before), by_path(after));
    let mut changes = BTreeSet::new();
    for path in old.keys().chain(new.keys()) {
        let (old, new): (Option<&(String, _)>, Option<&(String, _)>) = (old.get(path), new.get(path));
        if old.map(|(shown, _)| shown) == new.map(|(shown, _)| shown) {
            continue;
        }
        let because = match (old, new) {
            (_, Some((_, origin))) => origin.clone().map(Because::New),
            (Some((_, origin)), None) => origin.clone().map(Because::Old),
            (None, None) => None,
        };
        let shown = |side: Option<&(String, Option<Origin>)>| side.map(|(shown, _)| shown.clone());
        changes.insert(ValueChange { path: path.clone(), before: shown(old), after: shown(new), because });
    }
    changes
}

/// The values in the `data` of a rendered YAML mapping (or in all of it, if it has none), leaf by leaf.
fn data_leaves(
    content: &[u8],
    (sensitive, secrets): (&BTreeSet<FieldPath>, &Secrets),
) -> Option<Vec<(FieldPath, String)>> {
    let reading = yaml::read_bytes(content, &yaml::Options::VALUES);
    let root = &reading.documents.first()?.root;
    let data = root.get("data").unwrap_or(root);
    data.as_mapping()?;
    let value = crate::value::of_node(data);
    let mut leaves = Vec::new();
    crate::trace::collect_leaves(&value, &mut FieldPath::default(), &mut leaves);
    let shown = |(path, value): (FieldPath, _)| {
        let is_sensitive = sensitive.iter().any(|secret| path.is_at_or_below(secret) || secret.is_at_or_below(&path));
        let shown =
            if is_sensitive { crate::sensitive::digest(&value) } else { secrets.hide(&crate::explain::shown(&value)) };
        (path, shown)
    };
    Some(leaves.into_iter().map(shown).collect())
}
