//! Reports the objects that are kept because a file can't be read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::digest::DigestBuilder;
use model::git_id::GitId;
use model::object::AnyObject;
use model::object::workload::WorkloadTarget;
use model::source::FileId;

use super::place::LoadedPlace;
use crate::publications::KeptKey;

/// The maximum number of names in one list of a message.
const NAMED_MAX: usize = 5;

/// A file version that contains kept objects.
pub(super) struct KeptVersion {
    pub(super) path: Arc<str>,
    pub(super) commit: GitId,
    pub(super) file: FileId,
    pub(super) keys: BTreeSet<KeptKey>,
    /// The unreadable paths that may contain the objects.
    pub(super) candidates: BTreeSet<Arc<str>>,
}

/// What the files of a place have.
pub(super) struct KnownPaths {
    /// The files with errors from which some objects can be read.
    pub(super) partly_readable: BTreeSet<Arc<str>>,
    /// The files that are empty, or have the message of a program that failed.
    pub(super) without_objects: BTreeSet<Arc<str>>,
}

/// The unreadable paths of a place.
pub(super) struct UnreadablePaths<'a> {
    /// The place.
    pub(super) loaded: &'a LoadedPlace,
    /// The paths, with the files for the labels of diagnostics.
    pub(super) files: BTreeMap<Arc<str>, FileId>,
    /// What is known of them.
    pub(super) known: KnownPaths,
}

/// Returns a diagnostic for each file that is replaced with its own earlier version, and one for each group of other paths that may contain objects.
pub(super) fn diagnostics(unreadable: &UnreadablePaths<'_>, kept: &[KeptVersion]) -> Vec<Diagnostic> {
    let (own, elsewhere): (Vec<_>, Vec<_>) =
        kept.iter().partition(|version| version.candidates.contains(&version.path));
    let mut groups: BTreeMap<&BTreeSet<Arc<str>>, Vec<&KeptVersion>> = BTreeMap::new();
    for version in elsewhere {
        groups.entry(&version.candidates).or_default().push(version);
    }
    let groups = groups.into_iter().map(|(candidates, versions)| unreadable.objects_kept(candidates, &versions));
    own.into_iter().map(|version| unreadable.earlier_version(version)).chain(groups).collect()
}

impl UnreadablePaths<'_> {
    fn earlier_version(&self, version: &KeptVersion) -> Diagnostic {
        let KeptVersion { path, commit, file, keys, .. } = version;
        let (now, then) = (self.loaded.commit.id.short(), commit.short());
        let message = if self.known.partly_readable.contains(path) {
            let keys = shortest_keys(keys);
            let (names, stay) = (joined(keys.iter().map(ToString::to_string)), stay_verb(keys.len()));
            format!("a part of `{path}` is broken at {now}; {names} {stay} as at {then}")
        } else {
            let what = match self.loaded.is_file(path) {
                true if self.known.without_objects.contains(path) => "has no objects any more",
                true => "is broken",
                false => "is no longer a file",
            };
            format!("`{path}` {what} at {now}; its version at {then} is used instead")
        };
        let is_empty = self.known.without_objects.contains(path);
        let (what, help) = if is_empty {
            ("without objects", "restore the file, or delete it if its objects are to be removed, and commit")
        } else {
            ("broken", "fix the file, and commit")
        };
        self.point_at(Diagnostic::error(Code::EarlierVersionUsed, message), path, what)
            .at(Origin::File(*file), format!("used, from commit {commit}"))
            .help(help)
    }

    fn objects_kept(&self, candidates: &BTreeSet<Arc<str>>, versions: &[&KeptVersion]) -> Diagnostic {
        let keys: BTreeSet<_> = versions.iter().flat_map(|version| &version.keys).cloned().collect();
        let keys = shortest_keys(&keys);
        let commits: BTreeSet<_> = versions.iter().map(|version| version.commit).collect();
        let then = match commits.first() {
            Some(commit) if commits.len() == 1 => format!(" at {}", commit.short()),
            _ => String::new(),
        };
        let (unreadable, now) =
            (joined(candidates.iter().map(|path| format!("`{path}`"))), self.loaded.commit.id.short());
        let (names, stay) = (joined(keys.iter().map(ToString::to_string)), stay_verb(keys.len()));
        let message =
            format!("{unreadable} can't be read at {now} and may contain {names}, which {stay} as before{then}");
        let mut diagnostic = Diagnostic::error(Code::ObjectsKept, message);
        for path in candidates.iter().take(NAMED_MAX) {
            diagnostic = self.point_at(diagnostic, path, "can't be read");
        }
        for version in versions.iter().take(NAMED_MAX) {
            diagnostic = diagnostic.at(Origin::File(version.file), format!("used, from commit {}", version.commit));
        }
        diagnostic.help("fix the file, and commit; objects that are then in no file are deleted")
    }

    fn point_at(&self, diagnostic: Diagnostic, path: &Arc<str>, what: &str) -> Diagnostic {
        let Some(file) = self.files.get(path) else { return diagnostic };
        diagnostic.at(Origin::File(*file), format!("{what} at commit {}", self.loaded.commit.id))
    }
}

/// The keys to name in a message. If an object is kept as a whole, its deployment targets are not listed.
fn shortest_keys(keys: &BTreeSet<KeptKey>) -> Vec<&KeptKey> {
    let is_shortest = |key: &&KeptKey| key.target.is_none() || !keys.contains(&KeptKey::of_object(key.object.clone()));
    keys.iter().filter(is_shortest).collect()
}

fn stay_verb(count: usize) -> &'static str {
    if count == 1 { "stays" } else { "stay" }
}

/// The first names, and the number of the others.
fn joined(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = names.len().saturating_sub(NAMED_MAX);
    let shown = names.take(NAMED_MAX).collect::<Vec<_>>().join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

/// A kept deployment target of a `Workload` that can be read without it.
pub(super) struct KeptTarget {
    workload: Arc<str>,
    target: WorkloadTarget,
}

/// The kept deployment targets of an object that is not kept as a whole.
pub(super) fn targets(object: &AnyObject, keys: &BTreeSet<KeptKey>) -> Vec<KeptTarget> {
    let key = object.key();
    let AnyObject::Workload(workload) = object else { return Vec::new() };
    if keys.contains(&KeptKey::of_object(key.clone())) {
        return Vec::new();
    }
    let is_kept = |target: &&WorkloadTarget| {
        keys.contains(&KeptKey { object: key.clone(), target: Some(Arc::clone(&target.name)) })
    };
    let kept = workload.spec.deployment_targets.iter().filter(is_kept).cloned();
    kept.map(|target| KeptTarget { workload: Arc::clone(&key.name), target }).collect()
}

/// Adds kept targets to their workloads. Each gets the lowest free position, which is mostly that of a target that can't be read.
pub(super) fn add_targets<'o>(objects: impl Iterator<Item = &'o mut AnyObject>, mut kept: Vec<KeptTarget>) {
    if kept.is_empty() {
        return;
    }
    kept.sort_by(|left, right| {
        (left.target.position, &left.target.name).cmp(&(right.target.position, &right.target.name))
    });
    let workloads = objects.filter_map(|object| match object {
        AnyObject::Workload(workload) => Some(workload),
        _ => None,
    });
    for workload in workloads {
        let name = workload.name.clone();
        let own = kept.iter().filter(|kept| kept.workload == *name.as_arc());
        for KeptTarget { target, .. } in own {
            let object = Arc::make_mut(workload);
            let targets = &mut object.spec.deployment_targets;
            if targets.iter().any(|known| known.name == target.name) {
                continue;
            }
            let is_free = |position: &usize| targets.iter().all(|known| known.position != *position);
            let position = (0..=targets.len()).find(is_free).unwrap_or_default();
            // The object now differs from the file, so its digest must differ too.
            let mut meaning = DigestBuilder::new("kept target");
            meaning.digest(object.digest).value(target);
            object.digest = meaning.finish();
            targets.push(WorkloadTarget { position, ..target.clone() });
        }
    }
}
