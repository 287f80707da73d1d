//! The tree that a GitOps branch should hold: what was compiled, laid over what is there.
//!
//! Only folders of Kalypso's own are touched. An assignment that fails keeps its last good folder.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::diagnostic::{AssignmentId, Code, Diagnostic, ObjectKey, Origin};
use model::field_path::FieldPath;
use model::fleet::Fleet;
use model::git_id::GitId;
use model::name::{ClusterTypeName, EnvironmentName};
use model::object::{GitOpsRepo, Kind, Object};
use model::tree::{Blob, Tree};

use crate::compile::Compiled;

/// The text of the `README.md` that marks a folder as Kalypso's.
pub const MARKER: &str = "This folder contains deployment targets scheduled on the cluster type";
/// The file that names the promoted commit, at the root of the branch.
pub const TRACKING_FILE: &str = ".github/tracking/Promoted_Commit_Id";
/// The file that says whose branch (or folder) it is, under the output's path.
pub const OWNER_FILE: &str = ".kalypso/owner";

/// A folder of a repository: empty for its root, without slashes at its ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Folder(Arc<str>);

impl Folder {
    /// Reads a path as people write it: `.`, `./clusters/`, `/clusters`. None if it leads out of the repository.
    pub fn parse(text: &str) -> Option<Self> {
        let parts: Vec<_> = text.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        let is_safe =
            |part: &&str| *part != ".." && !part.eq_ignore_ascii_case(".git") && !part.contains(char::is_control);
        parts.iter().all(is_safe).then(|| Self(parts.join("/").into()))
    }

    /// The path of a file in the folder.
    pub fn join(&self, path: &str) -> String {
        if self.0.is_empty() { path.to_owned() } else { format!("{}/{path}", self.0) }
    }

    /// The path; empty for the root.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Where the tree goes and how.
#[derive(Clone, Debug, Default)]
pub struct Destination {
    /// The folder that all output lives under.
    pub folder: Folder,
    /// The promoted commit, for the tracking file; without one the file stays as it is.
    pub promoted_commit: Option<Arc<str>>,
    /// Whether folders that are not marked as Kalypso's are taken over.
    pub adopt: bool,
}

/// The tree that should be, and what came of the assignments.
#[derive(Clone, Debug)]
pub struct Output {
    /// The whole tree of the branch.
    pub tree: Tree,
    /// Assignments without files of their own that keep their last good folder.
    pub kept: BTreeSet<AssignmentId>,
    /// What is wrong.
    pub diagnostics: Vec<Diagnostic>,
}

/// Lays what was compiled over what the branch holds.
pub fn assemble(compiled: &Compiled, previous: &Tree, destination: &Destination) -> Output {
    let mut output = Output { tree: previous.clone(), kept: BTreeSet::new(), diagnostics: Vec::new() };
    let ours = own_folders(previous, &destination.folder);
    output.diagnostics.extend(left_behind(previous, destination));
    let mut foreign = BTreeSet::new();
    for name in &compiled.cluster_types {
        let path = destination.folder.join(name.as_str());
        let exists = previous.get(&path).is_some() || previous.below(&path).next().is_some();
        if exists && !ours.contains(name.as_str()) && !destination.adopt {
            output.diagnostics.push(foreign_folder(compiled, name, &path));
            foreign.insert(name.clone());
        }
    }
    let wanted = |name: &str| compiled.cluster_types.contains(name);
    let taken = compiled.cluster_types.iter().filter(|name| !foreign.contains(*name)).map(ClusterTypeName::as_str);
    for name in ours.iter().map(|name| &**name).filter(|name| !wanted(name)).chain(taken.clone()) {
        clear(&mut output, compiled, &destination.folder, name);
    }
    for name in taken {
        output.tree.write(destination.folder.join(&format!("{name}/README.md")), MARKER.as_bytes());
    }
    write_assignments(&mut output, compiled, &foreign, &destination.folder);
    if let Some(commit) = &destination.promoted_commit {
        output.tree.write(TRACKING_FILE, commit.as_bytes());
    }
    output
}

/// The names of the folders below `folder` that are marked as Kalypso's.
pub fn own_folders(tree: &Tree, folder: &Folder) -> BTreeSet<Arc<str>> {
    let marker = GitId::of_blob(MARKER.as_bytes());
    let start = if folder.as_str().is_empty() { 0 } else { folder.as_str().len() + 1 };
    let name = |path: &Arc<str>| {
        let (name, file) = path.get(start..)?.split_once('/')?;
        (file == "README.md").then(|| name.into())
    };
    let marked = tree.below(folder.as_str()).filter(|(path, _)| path.ends_with("/README.md"));
    marked.filter(|(_, entry)| entry.blob.id() == marker).filter_map(|(path, _)| name(path)).collect()
}

/// The assignments that have a folder in a tree.
pub fn assignments_in(tree: &Tree, folder: &Folder) -> BTreeSet<(Arc<str>, Arc<str>)> {
    let mut found = BTreeSet::new();
    for name in own_folders(tree, folder) {
        let path = folder.join(&name);
        for (file, _) in tree.below(&path) {
            if let Some((target, _)) = file[path.len() + 1..].split_once('/') {
                found.insert((Arc::clone(&name), target.into()));
            }
        }
    }
    found
}

/// Takes everything out of a cluster type's folder but what must stay as it is.
fn clear(output: &mut Output, compiled: &Compiled, folder: &Folder, name: &str) {
    let path = folder.join(name);
    let files: Vec<_> = output.tree.below(&path).map(|(file, _)| Arc::clone(file)).collect();
    for file in files {
        let target = file[path.len() + 1..].split_once('/').map(|(target, _)| target);
        match target.and_then(|target| kept_as(compiled, name, target)) {
            Some(Kept::Failing(id)) => {
                output.kept.insert(id);
            }
            Some(Kept::Unknown) => {}
            None => {
                output.tree.remove(&file);
            }
        }
    }
    output.tree.remove(&path);
}

/// Why a folder stays as it is.
enum Kept {
    /// Its assignment fails.
    Failing(AssignmentId),
    /// Its assignment may be one of a workload that could not be read, or of an object that exists more than once.
    Unknown,
}

fn kept_as(compiled: &Compiled, cluster_type: &str, target: &str) -> Option<Kept> {
    let cluster_type = compiled.cluster_types.get(cluster_type)?.clone();
    let target = model::name::DeploymentTargetName::new(target).ok();
    let id = target.map(|target| AssignmentId { cluster_type, target });
    let assignment = id.as_ref().and_then(|id| compiled.assignments.get(id));
    match (assignment, id) {
        (Some(assignment), Some(id)) if assignment.files.is_none() => Some(Kept::Failing(id)),
        (None, Some(id)) if compiled.is_incomplete || is_unclear(compiled, &id) => Some(Kept::Unknown),
        _ => None,
    }
}

/// Which copy of an object counts decides whether there is such an assignment.
fn is_unclear(compiled: &Compiled, id: &AssignmentId) -> bool {
    compiled.unclear_cluster_types.contains(&id.cluster_type) || compiled.unclear_targets.contains(&id.target)
}

fn write_assignments(output: &mut Output, compiled: &Compiled, foreign: &BTreeSet<ClusterTypeName>, folder: &Folder) {
    for (id, assignment) in &compiled.assignments {
        let Some(files) = assignment.files.as_ref().filter(|_| !foreign.contains(&id.cluster_type)) else { continue };
        for (name, bytes) in files {
            output.tree.write(folder.join(&format!("{id}/{name}")), Arc::clone(bytes));
        }
    }
}

fn foreign_folder(compiled: &Compiled, name: &ClusterTypeName, path: &str) -> Diagnostic {
    let key = ObjectKey { kind: Kind::ClusterType, name: Arc::clone(name.as_arc()) };
    let message = format!("the GitOps branch has a folder `{path}` that is not Kalypso's");
    let mut diagnostic = Diagnostic::error(Code::ForeignFolder, message)
        .at(Origin::field(&key, FieldPath::from(["metadata", "name"])), "this cluster type needs the folder")
        .note("the folder stays as it is; the cluster type's assignments are not written")
        .help("rename the cluster type, move the folder, or take it over with `--adopt`, which replaces what is in it");
    diagnostic.assignments = compiled.assignments.keys().filter(|id| id.cluster_type == *name).cloned().collect();
    diagnostic.about(&key)
}

/// Folders at the root that would be forgotten because output now goes somewhere else.
fn left_behind(previous: &Tree, destination: &Destination) -> Option<Diagnostic> {
    if destination.folder.as_str().is_empty() {
        return None;
    }
    // The root may belong to another environment, whose own file says so.
    if previous.get(OWNER_FILE).is_some() {
        return None;
    }
    let at_root = own_folders(previous, &Folder::default());
    let first = at_root.first()?;
    let message = format!(
        "output goes to `{}`, but the branch has {} folders of Kalypso at its root",
        destination.folder.as_str(),
        at_root.len()
    );
    Some(
        Diagnostic::error(Code::PathMoved, message)
            .note(format!("the first one is `{first}`"))
            .help("move or remove them in one commit with the change that makes clusters look at the new path, or set `path: .` again"),
    )
}

/// `GitOpsRepo`s of a fleet that name the same repository, branch and path.
pub fn same_destination(fleet: &Fleet) -> Vec<Diagnostic> {
    let mut seen: BTreeMap<_, &Object<GitOpsRepo>> = BTreeMap::new();
    let mut found = Vec::new();
    for object in fleet.gitops_repos.values() {
        let Some(first) = seen.insert(destination(object), object) else { continue };
        let name = FieldPath::from(["metadata", "name"]);
        let message = format!("`{}` and `{}` name the same repository, branch and path", first.name, object.name);
        let diagnostic = Diagnostic::error(Code::SameDestination, message)
            .at(Origin::field(&object.key(), name.clone()), "")
            .at(Origin::field(&first.key(), name), "")
            .help("give each its own branch or path");
        found.push(diagnostic.about(&object.key()));
    }
    found
}

/// Environments that write to the same repository, branch and path: for each, those before it that it collides with.
pub fn shared_destinations<'a>(fleets: impl Iterator<Item = &'a Fleet>) -> BTreeMap<EnvironmentName, Vec<Diagnostic>> {
    let mut seen: BTreeMap<_, &EnvironmentName> = BTreeMap::new();
    let mut found: BTreeMap<EnvironmentName, Vec<Diagnostic>> = BTreeMap::new();
    for fleet in fleets {
        let environment = &fleet.environment;
        for object in fleet.gitops_repos.values() {
            let other = seen.insert(destination(object), environment).filter(|other| *other != environment);
            let Some(other) = other else { continue };
            let message =
                format!("environments {other} and {environment} write to the same repository, branch and path");
            let origin = Origin::field(&object.key(), FieldPath::from(["spec"]));
            let diagnostic = Diagnostic::error(Code::SameDestination, message).at(origin, format!("of {environment}"));
            found.entry(environment.clone()).or_default().push(diagnostic.help("give each its own branch or path"));
        }
    }
    found
}

/// What makes two destinations the same, however their URLs and paths are written.
fn destination(object: &Object<GitOpsRepo>) -> (&str, &str, Option<Folder>) {
    let place = &object.spec.place;
    (place.repo.trim_end_matches('/').trim_end_matches(".git"), &place.branch, Folder::parse(&place.path))
}

/// What a change takes away.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removal {
    /// Assignments that had a folder.
    pub before: usize,
    /// Of these, those that are gone.
    pub removed: usize,
    /// Cluster types that had a folder and are gone.
    pub cluster_types: Vec<Arc<str>>,
}

impl Removal {
    /// Compares what `previous` and `next` hold in a folder.
    pub fn between(previous: &Tree, next: &Tree, folder: &Folder) -> Self {
        let (before, after) = (assignments_in(previous, folder), assignments_in(next, folder));
        let (old, new) = (own_folders(previous, folder), own_folders(next, folder));
        Self {
            before: before.len(),
            removed: before.difference(&after).count(),
            cluster_types: old.difference(&new).cloned().collect(),
        }
    }

    /// Whether somebody has to say that this is meant: more than a fifth of the assignments and at least five of them, or a whole cluster type.
    pub fn needs_confirmation(&self) -> bool {
        const COUNT_MIN: usize = 5;
        (self.removed >= COUNT_MIN && self.removed * 5 > self.before) || !self.cluster_types.is_empty()
    }
}

/// Whether a blob of a tree is this text.
pub fn is_text(blob: &Blob, text: &str) -> bool {
    blob.id() == GitId::of_blob(text.as_bytes())
}
