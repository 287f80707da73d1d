//! Finds the newest good versions of objects that unreadable files may contain.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::git_id::GitId;
use model::read::{self, Kustomized};
use model::source::{File, FileId, Files};

use super::BrokenFiles;
use super::earlier::{Earlier, EarlierError, GoodVersion};
use super::place::{self, LoadedPlace, PlaceError, RawContent, RawFile};
use super::replay::{Changes, FileStatus, Kept, LastVersion, Replay, State, Version, changes};
use crate::budget::{Budget, Exceeded};
use crate::limits::HISTORY_REACHES;
use crate::publications::{KeptKey, KeptObject, PublishedSource};
use crate::repositories::{Commit, EntryKind, Repositories, RepositoryError, Revision};
use crate::walk::{self, PathError};

/// A file version that contains kept objects.
pub(super) struct KeptFile {
    pub(super) commit: Commit,
    pub(super) file: RawFile,
    pub(super) keys: BTreeSet<KeptKey>,
    /// The unreadable paths that may contain the objects.
    pub(super) candidates: BTreeSet<Arc<str>>,
}

/// The entry at each path: its kind and id. None if the path does not exist.
type Entries = Vec<(Arc<str>, Option<(EntryKind, GitId)>)>;

/// The kept objects of a place.
#[derive(Default)]
pub(super) struct KeptFiles {
    pub(super) files: Vec<KeptFile>,
    /// Objects that only a publication proves, with the last commits at which they could be read.
    pub(super) only_published: BTreeSet<KeptObject>,
}

/// The reason why the earlier objects of a place are not known.
#[derive(Debug, thiserror::Error)]
pub(super) enum HistoryError {
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    #[error("{reason}")]
    TooMuch { path: Arc<str>, reason: Exceeded },
    /// A published commit can't be read any more.
    #[error("{source}")]
    CommitUnavailable { commit: GitId, source: RepositoryError },
}

/// The history of one place. It is read only if a path of the place can't be read.
pub(super) struct PlaceHistory<'a> {
    repositories: &'a dyn Repositories,
    loaded: &'a LoadedPlace,
    /// The status of files by blob id. Only files whose status depends on nothing but their content are stored.
    statuses: BTreeMap<GitId, FileStatus>,
    /// The id of an empty file. Earlier versions are parsed under it.
    empty_file: FileId,
    /// The budget for the walk through earlier commits.
    budget: Budget,
    broken: &'a BrokenFiles,
    /// Whether the budget ended the walk, so that earlier commits were not read.
    is_cut: bool,
}

impl<'a> PlaceHistory<'a> {
    pub(super) fn new(repositories: &'a dyn Repositories, loaded: &'a LoadedPlace, broken: &'a BrokenFiles) -> Self {
        let nothing =
            File { source: Arc::clone(&loaded.source), path: "".into(), id: loaded.commit.id, content: [].into() };
        Self {
            repositories,
            loaded,
            statuses: BTreeMap::new(),
            empty_file: Files::default().add(nothing),
            budget: loaded.budget.for_history(),
            broken,
            is_cut: false,
        }
    }

    /// The kept objects of a place in its current state. `published` lists the published commits of the same source.
    ///
    /// The commits of the place itself are evaluated first. A published commit then counts like the direct parent of the current one: the history may
    /// have been rewritten, and one push often contains several commits.
    ///
    /// # Errors
    /// If the history can't be read.
    pub(super) fn kept(mut self, now: State, published: &[PublishedSource]) -> Result<KeptFiles, HistoryError> {
        let by_content = now.iter().filter(|(path, _)| self.loaded.kustomized.above(path).is_none());
        self.statuses.extend(by_content.map(|(_, version)| (version.id, version.status.clone())));
        let head = self.loaded.commit.clone();
        let replay = self.replay_history(&head, now.clone())?;
        let older_versions = if self.is_cut { self.older_versions(&replay, &now)? } else { Vec::new() };
        let mut kept = replay.kept;
        let mut only_published = BTreeSet::new();
        for source in published {
            for (key, found) in self.kept_since_publication(source, &now)? {
                let Entry::Vacant(entry) = kept.entry(key.clone()) else { continue };
                let last_versions = found.last_versions.iter();
                only_published
                    .extend(last_versions.map(|last| KeptObject { commit: last.commit.id, key: key.clone() }));
                entry.insert(found);
            }
        }
        let mut files = self.files(kept)?;
        files.extend(older_versions);
        Ok(KeptFiles { files, only_published })
    }

    /// Searches for good versions of the files that were already broken at the oldest commit that was read as a whole. Each file is searched separately.
    fn older_versions(&self, replay: &Replay<Commit>, now: &State) -> Result<Vec<KeptFile>, HistoryError> {
        let earlier = Earlier::new(self.repositories, self.loaded, self.broken);
        let is_known =
            |path: &Arc<str>| replay.kept.values().any(|kept| kept.last_versions.iter().any(|last| last.path == *path));
        let broken = now.iter().filter(|(path, version)| version.status.is_broken() && !is_known(path));
        let mut found = Vec::new();
        for (path, version) in broken {
            // A file below a `kustomization.yaml` may have been good all the time: only the `kustomization.yaml` decides.
            if let Some(file) = self.loaded.kustomized.above(path) {
                return Err(HistoryError::TooMuch { path: Arc::clone(file), reason: self.budget.history_exceeded() });
            }
            let raw = RawFile { path: Arc::clone(path), id: version.id, content: RawContent::NotAFile };
            let good = earlier.good_version(&raw, self.empty_file);
            let too_much = |error| match error {
                EarlierError::Repository(error) => HistoryError::Repository(error),
                EarlierError::TooMuch(reason) => HistoryError::TooMuch { path: Arc::clone(path), reason },
            };
            let Some(GoodVersion { commit, file }) = good.map_err(too_much)? else { continue };
            let RawContent::Bytes(bytes) = &file.content else { continue };
            let objects = read::read_file(self.empty_file, path, bytes).objects.into_iter();
            let keys = objects.flat_map(|object| KeptKey::all_of(&object));
            let keys = keys.filter(|key| !replay.contains(key) && !replay.kept.contains_key(key)).collect();
            found.push(KeptFile { commit, file, keys, candidates: BTreeSet::from([Arc::clone(path)]) });
        }
        Ok(found)
    }

    /// The kept objects as seen from a published commit.
    fn kept_since_publication(
        &mut self,
        source: &PublishedSource,
        now: &State,
    ) -> Result<BTreeMap<KeptKey, Kept<Commit>>, HistoryError> {
        let head = self.loaded.commit.clone();
        let then = self.published_commit(source.commit)?;
        let Some(state) = self.state(&then)? else { return Ok(BTreeMap::new()) };
        let mut replay = self.replay_history(&then, state.clone())?;
        for KeptObject { commit, key } in &source.kept {
            let commit = self.published_commit(*commit)?;
            let Some(before) = self.state(&commit)? else { continue };
            replay.keep(key.clone(), kept_since(&commit, &before, (key, &state)));
        }
        // If the head was moved back to an older commit, this is intended: nothing is kept.
        let [near, _] = HISTORY_REACHES;
        if !self.repositories.history(&then, near)?.iter().any(|commit| commit.id == head.id) {
            replay.apply(&then, changes(&state, now));
        }
        Ok(replay.kept)
    }

    /// A commit of the same repository that a publication names.
    fn published_commit(&self, id: GitId) -> Result<Commit, HistoryError> {
        let Commit { url, revision, id: head } = &self.loaded.commit;
        if id == *head {
            return Ok(self.loaded.commit.clone());
        }
        let branch = match revision {
            Revision::Branch(branch) => Some(Arc::clone(branch)),
            Revision::Commit { branch, .. } => branch.clone(),
            Revision::Tag(_) => None,
        };
        let resolved = self.repositories.resolve(url, &Revision::Commit { id, branch });
        resolved.map_err(|source| HistoryError::CommitUnavailable { commit: id, source })
    }

    /// Replays the commits of the place. It starts at the newest commit at which everything could be read, or at the oldest one within reach.
    fn replay_history(&mut self, head: &Commit, now: State) -> Result<Replay<Commit>, RepositoryError> {
        let harmless = &self.harmless_paths(head, &now)?;
        if all_readable(&now, harmless) {
            return Ok(Replay::begin(now));
        }
        let mut steps: Vec<(Commit, Changes)> = Vec::new();
        let (mut after, mut searched) = (now, 1);
        'back: for reach in HISTORY_REACHES {
            let history = self.repositories.history(head, reach)?;
            for commit in history.iter().skip(searched) {
                let Some(before) = self.state(commit)? else {
                    self.is_cut = true;
                    break 'back;
                };
                steps.push((commit.clone(), changes(&before, &after)));
                after = before;
                if all_readable(&after, harmless) {
                    break 'back;
                }
            }
            if history.len() < reach {
                break;
            }
            searched = history.len();
        }
        let mut replay = Replay::begin(after);
        steps.into_iter().rev().for_each(|(before, changes)| replay.apply(&before, changes));
        Ok(replay)
    }

    /// The links, and the files without objects, that replaced no file or folder with objects: the commits before them have no such entry at their paths.
    fn harmless_paths(&mut self, head: &Commit, now: &State) -> Result<BTreeSet<Arc<str>>, RepositoryError> {
        let links = now.iter().filter(|(_, version)| version.status == FileStatus::Other);
        let mut harmless: BTreeSet<Arc<str>> = links.map(|(path, _)| Arc::clone(path)).collect();
        let (mut open, mut searched) = (harmless.clone(), 1);
        for reach in HISTORY_REACHES {
            if open.is_empty() {
                break;
            }
            let history = self.repositories.history(head, reach)?;
            for commit in history.iter().skip(searched) {
                for (path, entry) in self.entries(commit, &open)? {
                    match entry {
                        Some((EntryKind::Link | EntryKind::Submodule, _)) => continue,
                        Some((EntryKind::File, id)) if self.status(commit, &path, id)? == Some(FileStatus::Other) => {
                            continue;
                        }
                        Some((EntryKind::Folder | EntryKind::File, _)) => drop(harmless.remove(&path)),
                        None => {}
                    }
                    open.remove(&path);
                }
            }
            if history.len() < reach {
                break;
            }
            searched = history.len();
        }
        Ok(harmless)
    }

    /// The entries at these paths of a commit.
    fn entries(&mut self, commit: &Commit, paths: &BTreeSet<Arc<str>>) -> Result<Entries, RepositoryError> {
        let mut folders: BTreeMap<&str, BTreeMap<String, (EntryKind, GitId)>> = BTreeMap::new();
        let (mut found, mut is_left) = (Vec::new(), true);
        for path in paths {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            if !folders.contains_key(folder) {
                let entries = self.repositories.folder(commit, folder)?.unwrap_or_default();
                is_left &= self.budget.steps(1 + entries.len() as u64).is_ok();
                folders.insert(folder, entries.into_iter().map(|entry| (entry.name, (entry.kind, entry.id))).collect());
            }
            let entry = folders.get(folder).and_then(|entries| entries.get(name)).copied();
            found.push((Arc::clone(path), entry.filter(|_| is_left)));
        }
        Ok(found)
    }

    /// The state of the place at an earlier commit. None if a limit is exceeded.
    fn state(&mut self, commit: &Commit) -> Result<Option<State>, RepositoryError> {
        let path = &self.loaded.path;
        let walked = match place::walk(self.repositories, commit, (path, &self.budget)) {
            Ok(walked) => walked,
            Err(PlaceError::Repository(error)) => return Err(error),
            Err(PlaceError::Path(PathError::Missing)) => return Ok(Some(State::new())),
            Err(PlaceError::Path(PathError::Link)) => {
                let path = walk::normalize(path).unwrap_or_default();
                let link = Version { id: GitId::of_blob(b""), status: FileStatus::Other };
                return Ok(Some(State::from([(path.into(), link)])));
            }
            Err(_) => return Ok(None),
        };
        let mut state = State::new();
        let kustomized = Kustomized::from_paths(walked.files.iter().map(|file| file.path.as_str()));
        for walk::FoundEntry { path, entry } in walked.files {
            let status = match entry.kind {
                _ if kustomized.above(&path).is_some() => Some(FileStatus::unreadable()),
                EntryKind::File => self.status(commit, &path, entry.id)?,
                _ => Some(FileStatus::Other),
            };
            let Some(status) = status else { return Ok(None) };
            state.insert(path.into(), Version { id: entry.id, status });
        }
        let link = |found: walk::FoundEntry| {
            (Arc::from(found.path), Version { id: found.entry.id, status: FileStatus::Other })
        };
        state.extend(walked.links.into_iter().map(link));
        Ok(Some(state))
    }

    /// The status of a file version. None if a limit is exceeded.
    fn status(&mut self, commit: &Commit, path: &str, id: GitId) -> Result<Option<FileStatus>, RepositoryError> {
        if let Some(known) = self.statuses.get(&id) {
            return Ok(Some(known.clone()));
        }
        let file = RawFile { path: path.into(), id, content: place::content(self.repositories, commit, id)? };
        let mut found = FileStatus::unreadable();
        if let RawContent::Bytes(bytes) = &file.content {
            // A version without objects costs the same, whether it is already cached or not. So the cache never changes the result.
            if self.budget.earlier_bytes(bytes.len() as u64).is_err() {
                return Ok(None);
            }
            self.broken.is_usable(&file, || {
                found = status(&read::read_file(self.empty_file, path, bytes));
                found != FileStatus::unreadable()
            });
        }
        let status = found;
        self.statuses.insert(id, status.clone());
        Ok(Some(status))
    }

    /// The file versions that contain the kept objects, sorted by path.
    fn files(&self, kept: BTreeMap<KeptKey, Kept<Commit>>) -> Result<Vec<KeptFile>, RepositoryError> {
        let mut by_file: BTreeMap<(Arc<str>, GitId), KeptFile> = BTreeMap::new();
        for (key, Kept { last_versions, candidates }) in kept {
            for LastVersion { commit, path, id } in last_versions {
                let place = (Arc::clone(&path), commit.id);
                if !by_file.contains_key(&place) {
                    let content = place::content(self.repositories, &commit, id)?;
                    let file = RawFile { path, id, content };
                    let (keys, candidates) = Default::default();
                    by_file.insert(place.clone(), KeptFile { commit, file, keys, candidates });
                }
                if let Some(file) = by_file.get_mut(&place) {
                    file.keys.insert(key.clone());
                    file.candidates.extend(candidates.iter().cloned());
                }
            }
        }
        Ok(by_file.into_values().collect())
    }
}

/// An object that an earlier run kept from `commit`. It may be in any path that can't be read now, and had other content at that commit.
fn kept_since(commit: &Commit, before: &State, (key, now): (&KeptKey, &State)) -> Kept<Commit> {
    let holds = |version: &Version| version.status.objects().contains(key);
    let versions = before.iter().filter(|(_, version)| holds(version));
    let last_version = |(path, version): (&Arc<str>, &Version)| LastVersion {
        commit: commit.clone(),
        path: Arc::clone(path),
        id: version.id,
    };
    let is_unreadable = |version: &Version| !version.status.is_readable();
    let candidates = now.iter().filter(|(path, version)| is_unreadable(version) && before.get(*path) != Some(*version));
    Kept {
        last_versions: versions.map(last_version).collect(),
        candidates: candidates.map(|(path, _)| Arc::clone(path)).collect(),
    }
}

/// The status of a parsed file.
pub(super) fn status(objects: &read::FileObjects) -> FileStatus {
    let keys = objects.objects.iter().flat_map(KeptKey::all_of).collect();
    match objects.is_good() {
        true if objects.may_replace_objects => FileStatus::Other,
        true => FileStatus::Readable(keys),
        false => FileStatus::Broken(keys),
    }
}

/// Whether all paths can be read, except for links that replaced no file or folder.
fn all_readable(state: &State, harmless: &BTreeSet<Arc<str>>) -> bool {
    state.iter().all(|(path, version)| match version.status {
        FileStatus::Readable(_) => true,
        FileStatus::Broken(_) => false,
        FileStatus::Other => harmless.contains(path),
    })
}
