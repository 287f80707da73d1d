//! Decides which objects of a place are kept after commits with files that can't be read.
//!
//! An object in a file that can't be read is not deleted. Objects are identified by kind and name, not by their file. The deployment targets of a
//! `Workload` are tracked like separate objects, identified by the names of the workload and the target. The rules:
//!
//! - An object that can be read from a file has the content of that file. Errors elsewhere in the file do not matter.
//! - An object is *kept* if it could be read before a commit, can be read from no file after it, and the same commit added a path that can't be read:
//!   the object may be at that path. Its newest good version is kept as long as one of these paths exists and still can't be read. Unreadable paths
//!   that are added later, while the object is kept, may contain it too.
//! - An object is deleted if it disappears in a commit that adds no new unreadable path. Other files that were broken before do not matter.
//!
//! These paths can't be read: a file with errors, for the part with errors; a file that Kustomize would change; a link or submodule that replaces a
//! file or folder with objects; an empty file, or one with the message of a program that failed, that replaces a file with objects. A change of a broken file counts as a new unreadable path.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::git_id::GitId;

use crate::publications::KeptKey;

/// The status of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FileStatus {
    /// A file without errors, with the keys of its objects.
    Readable(Arc<[KeptKey]>),
    /// A file with errors, with the keys of the objects that can be read from it.
    Broken(Arc<[KeptKey]>),
    /// A link or submodule, an empty file, or a file with the message of a program that failed. It counts only if it replaces a file or folder with objects.
    Other,
}

impl FileStatus {
    /// A file from which no object can be read.
    pub(super) fn unreadable() -> Self {
        Self::Broken(Arc::default())
    }

    /// The keys of the objects that can be read from it.
    pub(super) fn objects(&self) -> &[KeptKey] {
        match self {
            Self::Readable(keys) | Self::Broken(keys) => keys,
            Self::Other => &[],
        }
    }

    /// Whether it is a file with errors.
    pub(super) fn is_broken(&self) -> bool {
        matches!(self, Self::Broken(_))
    }

    /// Whether it is a file without errors.
    pub(super) fn is_readable(&self) -> bool {
        matches!(self, Self::Readable(_))
    }
}

/// A path of a commit, with its status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Version {
    pub(super) id: GitId,
    pub(super) status: FileStatus,
}

/// The paths of a place at one commit.
pub(super) type State = BTreeMap<Arc<str>, Version>;

/// The paths that a commit changes. None: the commit deletes the path.
pub(super) type Changes = Vec<(Arc<str>, Option<Version>)>;

/// A file version from which an object could be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LastVersion<C> {
    pub(super) commit: C,
    pub(super) path: Arc<str>,
    pub(super) id: GitId,
}

/// An object that an unreadable path may contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kept<C> {
    /// The newest good version of the object. Several, if several files contained it.
    pub(super) last_versions: Vec<LastVersion<C>>,
    /// The unreadable paths that may contain it.
    pub(super) candidates: BTreeSet<Arc<str>>,
}

/// A place while its commits are replayed, oldest first.
#[derive(Clone, Debug)]
pub(super) struct Replay<C> {
    files: State,
    /// The number of files from which each object can be read.
    file_counts: BTreeMap<KeptKey, usize>,
    pub(super) kept: BTreeMap<KeptKey, Kept<C>>,
}

/// The changes that lead from one state to another.
pub(super) fn changes(before: &State, after: &State) -> Changes {
    let deleted = before.keys().filter(|path| !after.contains_key(*path)).map(|path| (Arc::clone(path), None));
    let set = after.iter().filter(|(path, version)| before.get(*path) != Some(*version));
    let set = set.map(|(path, version)| (Arc::clone(path), Some(version.clone())));
    deleted.chain(set).collect()
}

impl<C: Clone> Replay<C> {
    /// The state at the first replayed commit, at which no object is kept.
    pub(super) fn begin(files: State) -> Self {
        let mut replay = Self { files: State::new(), file_counts: BTreeMap::new(), kept: BTreeMap::new() };
        for (path, version) in files {
            replay.count(&version);
            replay.files.insert(path, version);
        }
        replay
    }

    /// Whether an object can be read from a file.
    pub(super) fn contains(&self, key: &KeptKey) -> bool {
        self.file_counts.contains_key(key)
    }

    /// Keeps an object that an earlier run kept, if it can be read from no file.
    pub(super) fn keep(&mut self, key: KeptKey, kept: Kept<C>) {
        if !self.file_counts.contains_key(&key) && !kept.candidates.is_empty() {
            self.kept.entry(key).or_insert(kept);
        }
    }

    /// Applies the changes of the next commit.
    pub(super) fn apply(&mut self, before: &C, changes: Changes) {
        let (mut lost, mut appeared, mut links) = (Vec::new(), BTreeSet::new(), Vec::new());
        for (path, version) in changes {
            if let Some(version) = &version {
                self.count(version);
                match version.status {
                    FileStatus::Readable(_) => {}
                    FileStatus::Broken(_) => drop(appeared.insert(Arc::clone(&path))),
                    FileStatus::Other => links.push(Arc::clone(&path)),
                }
            }
            let old = match version {
                Some(version) => self.files.insert(Arc::clone(&path), version),
                None => self.files.remove(&path),
            };
            if let Some(Version { id, status }) = old {
                let last_version = LastVersion { commit: before.clone(), path, id };
                lost.extend(status.objects().iter().map(|key| (key.clone(), last_version.clone())));
            }
        }
        lost.iter().for_each(|(key, _)| self.uncount(key));
        lost.retain(|(key, _)| !self.file_counts.contains_key(key));
        let replaces_objects = |link: &Arc<str>| lost.iter().any(|(_, last)| is_at_or_below(&last.path, link));
        appeared.extend(links.into_iter().filter(replaces_objects));
        for (key, last_version) in lost {
            self.kept.entry(key).or_insert_with(Kept::empty).last_versions.push(last_version);
        }
        let (files, file_counts) = (&self.files, &self.file_counts);
        let is_unreadable = |path: &Arc<str>| files.get(path).is_some_and(|version| !version.status.is_readable());
        self.kept.retain(|key, kept| {
            kept.candidates.retain(is_unreadable);
            kept.candidates.extend(appeared.iter().cloned());
            !kept.candidates.is_empty() && !file_counts.contains_key(key)
        });
    }

    fn count(&mut self, version: &Version) {
        let keys = version.status.objects().iter();
        keys.for_each(|key| *self.file_counts.entry(key.clone()).or_default() += 1);
    }

    fn uncount(&mut self, key: &KeptKey) {
        if let Some(count) = self.file_counts.get_mut(key) {
            *count -= 1;
            if *count == 0 {
                self.file_counts.remove(key);
            }
        }
    }
}

impl<C> Kept<C> {
    fn empty() -> Self {
        Self { last_versions: Vec::new(), candidates: BTreeSet::new() }
    }
}

fn is_at_or_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use model::kind::Kind;
    use model::object_key::ObjectKey;
    use proptest::prelude::*;

    use super::*;

    fn key(name: &str) -> KeptKey {
        KeptKey::of_object(ObjectKey { kind: Kind::ConfigMap, name: name.into(), of: None })
    }

    /// Parses a test state: `a.yaml=x,y` contains objects, `a.yaml!` is broken, `a.yaml!2` is broken in another way, `a.yaml=x!` is broken and
    /// contains an object, `a->` is a link.
    fn state(text: &str) -> State {
        let file = |word: &str| {
            let at = word.find(['=', '!', '-']).unwrap();
            let (path, rest) = word.split_at(at);
            let status = match (rest.strip_prefix('='), rest.split_once('!')) {
                (Some(_), Some((names, _))) => FileStatus::Broken(names[1..].split(',').map(key).collect()),
                (Some(names), None) => FileStatus::Readable(names.split(',').map(key).collect()),
                (None, Some(_)) => FileStatus::unreadable(),
                (None, None) => FileStatus::Other,
            };
            (path.into(), Version { id: GitId::of_blob(rest.as_bytes()), status })
        };
        text.split_whitespace().map(file).collect()
    }

    fn replayed(states: &[State]) -> Replay<usize> {
        let mut replay = Replay::begin(states[0].clone());
        for (before, pair) in states.windows(2).enumerate() {
            replay.apply(&before, changes(&pair[0], &pair[1]));
        }
        replay
    }

    /// Checks which objects are kept after these commits, as `object@commit:path`.
    fn check(states: &[&str], expected: &str) {
        let states: Vec<_> = states.iter().map(|text| state(text)).collect();
        let replay = replayed(&states);
        let found = replay.kept.iter().flat_map(|(key, kept)| {
            kept.last_versions.iter().map(move |last| format!("{}@{}:{}", key.object.name, last.commit, last.path))
        });
        assert_eq!(found.collect::<Vec<_>>().join(" "), expected);
    }

    #[test]
    fn broken_file_keeps_its_earlier_objects() {
        check(&["a=x,y b=z", "a!"], "x@0:a y@0:a z@0:b");
        check(&["a=x b=z", "a! b=z", "a!2 b=z"], "x@0:a");
        check(&["a=x", "a=x,y", "a!", "a=y"], "");
    }

    #[test]
    fn readable_objects_of_a_broken_file_are_current() {
        check(&["a=x,y", "a=x!"], "y@0:a");
        check(&["a=x,y", "a=x!", "a=x!2", "a=y!"], "x@2:a");
        check(&["a=x,y", "a=x!", "a!"], "x@1:a y@0:a");
        check(&["a=x!", "a=x!", "a!"], "x@1:a");
        check(&["a=x,y", "a=x,y!"], "");
        check(&["a=x b=y", "a=y!"], "x@0:a");
    }

    #[test]
    fn renamed_and_broken_file_keeps_its_earlier_objects() {
        check(&["old=x", "new!"], "x@0:old");
        check(&["old=x", "new!", "newer!"], "x@0:old");
        check(&["old=x", "new!", "new=x"], "");
        check(&["old=x", "new!", "new=y"], "");
    }

    #[test]
    fn removals_apply_while_another_file_stays_broken() {
        check(&["a=x b!", "b!"], "");
        check(&["a=x c=y", "a! c=y", "a!"], "x@0:a");
        check(&["a=x", "", "a!"], "");
    }

    #[test]
    fn objects_moved_to_a_readable_file_are_not_kept() {
        check(&["a=x,y", "a! b=x"], "y@0:a");
    }

    #[test]
    fn links_that_replace_objects_count_as_broken() {
        check(&["configs/a=x configs/b=y", "configs->"], "x@0:configs/a y@0:configs/b");
        check(&["a=x docs->", "docs->"], "");
        check(&["a=x", "docs->"], "");
        check(&["a=x", "a->", "a->2"], "x@0:a");
        check(&["configs2/a=x", "configs->"], "");
    }

    /// The same rule, written as in its definition: the unreadable paths that may contain an object after the last commit, if no file contains it.
    fn candidates(states: &[State], key: &KeptKey) -> BTreeSet<Arc<str>> {
        let Some((now, before)) = states.split_last() else { return BTreeSet::new() };
        let Some(last) = before.last() else { return BTreeSet::new() };
        let is_broken = |path: &Arc<str>| now.get(path).is_some_and(|version| version.status.is_broken());
        let is_present = |state: &State| state.values().any(|version| version.status.objects().contains(key));
        let held = candidates(before, key);
        if is_present(now) || (!is_present(last) && held.is_empty()) {
            return BTreeSet::new();
        }
        let appeared = now.keys().filter(|path| is_broken(path) && now.get(*path) != last.get(*path)).cloned();
        held.into_iter().filter(is_broken).chain(appeared).collect()
    }

    fn any_state() -> impl Strategy<Value = State> {
        let contents: &'static [&'static str] = &["!", "!2", "=x", "=y", "=x,y", "=z", "=x!", "=y!", "=x,y!"];
        let file = (0..4usize, proptest::sample::select(contents));
        let files = proptest::collection::vec(file, 0..4);
        let text = |(path, content): &(usize, &str)| format!("{path}{content}");
        files.prop_map(move |files| state(&files.iter().map(text).collect::<Vec<_>>().join(" ")))
    }

    proptest! {
        #[test]
        fn kept_objects_follow_the_rule(states in proptest::collection::vec(any_state(), 1..8)) {
            let kept = replayed(&states).kept;
            for name in ["x", "y", "z"] {
                let found = kept.get(&key(name)).map(|kept| kept.candidates.clone()).unwrap_or_default();
                prop_assert_eq!(found, candidates(&states, &key(name)), "{}", name);
            }
            // Commits before one at which everything could be read must not change the result.
            let all_readable = |state: &State| state.values().all(|version| !version.status.is_broken());
            let newest_clear = states.iter().rposition(all_readable).unwrap_or_default();
            let of_rest: Vec<_> = replayed(&states[newest_clear..]).kept.into_keys().collect();
            prop_assert_eq!(of_rest, kept.into_keys().collect::<Vec<_>>());
        }
    }
}
