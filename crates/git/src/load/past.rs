//! Finds the newest good versions of objects that unreadable files may contain.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::git_id::GitId;
use model::read::{self, Kustomized};
use model::source::{File, FileId, Files};

use super::BrokenFiles;
use super::earlier::{Earlier, EarlierError, GoodVersion};
use super::keeping::{Changes, Home, Keeping, Kept, Standing, State, Version, changes};
use super::place::{self, PlaceError, RawContent, RawFile, Snapshot};
use crate::budget::{Budget, Exceeded};
use crate::limits::HISTORY_REACHES;
use crate::published::{KeptKey, KeptObject, PublishedSource};
use crate::repositories::{Commit, ItemKind, Repositories, RepositoryError, Revision};
use crate::walk::{self, PathError};

/// A file version that contains kept objects.
pub(super) struct KeptFile {
    pub(super) commit: Commit,
    pub(super) file: RawFile,
    pub(super) keys: BTreeSet<KeptKey>,
    /// The unreadable paths that may contain the objects.
    pub(super) holders: BTreeSet<Arc<str>>,
}

/// The kind of the entry at each path; none if the path does not exist.
type Kinds = Vec<(Arc<str>, Option<ItemKind>)>;

/// The kept objects of a place.
#[derive(Default)]
pub(super) struct KeptFiles {
    pub(super) files: Vec<KeptFile>,
    /// Objects that only a publication proves, with the last commits at which they could be read.
    pub(super) remembered: BTreeSet<KeptObject>,
}

/// The reason why the earlier objects of a place are not known.
#[derive(Debug, thiserror::Error)]
pub(super) enum PastError {
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    #[error("{reason}")]
    TooMuch { path: Arc<str>, reason: Exceeded },
    /// A published commit can't be read any more.
    #[error("{source}")]
    Gone { commit: GitId, source: RepositoryError },
}

/// The history of one place. It is read only if a path of the place can't be read.
pub(super) struct Past<'a> {
    repositories: &'a dyn Repositories,
    snapshot: &'a Snapshot,
    /// The status of files by blob id. Only files whose status depends on nothing but their content are stored.
    standings: BTreeMap<GitId, Standing>,
    /// The id of an empty file. Earlier versions are parsed under it.
    nameless: FileId,
    /// The budget for the walk through earlier commits.
    budget: Budget,
    broken: &'a BrokenFiles,
    /// Whether the budget ended the walk, so that earlier commits were not read.
    is_cut: bool,
}

impl<'a> Past<'a> {
    pub(super) fn of(repositories: &'a dyn Repositories, snapshot: &'a Snapshot, broken: &'a BrokenFiles) -> Self {
        let nothing =
            File { source: Arc::clone(&snapshot.source), path: "".into(), id: snapshot.commit.id, content: [].into() };
        Self {
            repositories,
            snapshot,
            standings: BTreeMap::new(),
            nameless: Files::default().add(nothing),
            budget: snapshot.budget.for_the_past(),
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
    pub(super) fn kept(mut self, now: State, published: &[PublishedSource]) -> Result<KeptFiles, PastError> {
        let by_content = now.iter().filter(|(path, _)| self.snapshot.kustomized.above(path).is_none());
        self.standings.extend(by_content.map(|(_, version)| (version.id, version.standing.clone())));
        let head = self.snapshot.commit.clone();
        let keeping = self.through_history(&head, now.clone())?;
        let older = if self.is_cut { self.older(&keeping, &now)? } else { Vec::new() };
        let mut kept = keeping.kept;
        let mut remembered = BTreeSet::new();
        for source in published {
            for (key, found) in self.since_published(source, &now)? {
                let Entry::Vacant(entry) = kept.entry(key.clone()) else { continue };
                let homes = found.homes.iter();
                remembered.extend(homes.map(|home| KeptObject { commit: home.commit.id, key: key.clone() }));
                entry.insert(found);
            }
        }
        let mut files = self.files(kept)?;
        files.extend(older);
        Ok(KeptFiles { files, remembered })
    }

    /// Searches good versions of the files that were already broken at the oldest commit that was read as a whole. Each file is searched separately.
    fn older(&self, keeping: &Keeping<Commit>, now: &State) -> Result<Vec<KeptFile>, PastError> {
        let earlier = Earlier::of(self.repositories, self.snapshot, self.broken);
        let is_known =
            |path: &Arc<str>| keeping.kept.values().any(|kept| kept.homes.iter().any(|home| home.path == *path));
        let broken = now.iter().filter(|(path, version)| version.standing.is_broken() && !is_known(path));
        let mut found = Vec::new();
        for (path, version) in broken {
            // A file below a `kustomization.yaml` may have been good all the time: only the `kustomization.yaml` decides.
            if let Some(file) = self.snapshot.kustomized.above(path) {
                return Err(PastError::TooMuch { path: Arc::clone(file), reason: self.budget.past_exceeded() });
            }
            let raw = RawFile { path: Arc::clone(path), id: version.id, content: RawContent::NotAFile };
            let good = earlier.good_version(&raw, self.nameless);
            let too_much = |error| match error {
                EarlierError::Repository(error) => PastError::Repository(error),
                EarlierError::TooMuch(reason) => PastError::TooMuch { path: Arc::clone(path), reason },
            };
            let Some(GoodVersion { commit, file }) = good.map_err(too_much)? else { continue };
            let RawContent::Bytes(bytes) = &file.content else { continue };
            let objects = read::read_file(self.nameless, path, bytes).objects.into_iter();
            let keys = objects.flat_map(|object| KeptKey::all_of(&object));
            let keys = keys.filter(|key| !keeping.understands(key) && !keeping.kept.contains_key(key)).collect();
            found.push(KeptFile { commit, file, keys, holders: BTreeSet::from([Arc::clone(path)]) });
        }
        Ok(found)
    }

    /// The kept objects as seen from a published commit.
    fn since_published(
        &mut self,
        source: &PublishedSource,
        now: &State,
    ) -> Result<BTreeMap<KeptKey, Kept<Commit>>, PastError> {
        let head = self.snapshot.commit.clone();
        let then = self.published_commit(source.commit)?;
        let Some(state) = self.state(&then)? else { return Ok(BTreeMap::new()) };
        let mut keeping = self.through_history(&then, state.clone())?;
        for KeptObject { commit, key } in &source.kept {
            let home = self.published_commit(*commit)?;
            let Some(before) = self.state(&home)? else { continue };
            keeping.keep(key.clone(), kept_since(&home, &before, (key, &state)));
        }
        // If the head was moved back to an older commit, this is intended: nothing is kept.
        let [near, _] = HISTORY_REACHES;
        if !self.repositories.history(&then, near)?.iter().any(|commit| commit.id == head.id) {
            keeping.go(&then, changes(&state, now));
        }
        Ok(keeping.kept)
    }

    /// A commit of the same repository that a publication names.
    fn published_commit(&self, id: GitId) -> Result<Commit, PastError> {
        let Commit { url, revision, id: head } = &self.snapshot.commit;
        if id == *head {
            return Ok(self.snapshot.commit.clone());
        }
        let branch = match revision {
            Revision::Branch(branch) => Some(Arc::clone(branch)),
            Revision::Commit { branch, .. } => branch.clone(),
            Revision::Tag(_) => None,
        };
        let resolved = self.repositories.resolve(url, &Revision::Commit { id, branch });
        resolved.map_err(|source| PastError::Gone { commit: id, source })
    }

    /// Replays the commits of the place. It starts at the newest commit at which everything could be read, or at the oldest one within reach.
    fn through_history(&mut self, head: &Commit, now: State) -> Result<Keeping<Commit>, RepositoryError> {
        let harmless = &self.harmless_links(head, &now)?;
        if is_clear(&now, harmless) {
            return Ok(Keeping::begin(now));
        }
        let mut steps: Vec<(Commit, Changes)> = Vec::new();
        let (mut after, mut looked_at) = (now, 1);
        'back: for reach in HISTORY_REACHES {
            let history = self.repositories.history(head, reach)?;
            for commit in history.iter().skip(looked_at) {
                let Some(before) = self.state(commit)? else {
                    self.is_cut = true;
                    break 'back;
                };
                steps.push((commit.clone(), changes(&before, &after)));
                after = before;
                if is_clear(&after, harmless) {
                    break 'back;
                }
            }
            if history.len() < reach {
                break;
            }
            looked_at = history.len();
        }
        let mut keeping = Keeping::begin(after);
        steps.into_iter().rev().for_each(|(before, changes)| keeping.go(&before, changes));
        Ok(keeping)
    }

    /// The links that replaced no file or folder: the commits before them have no entry at their paths.
    fn harmless_links(&mut self, head: &Commit, now: &State) -> Result<BTreeSet<Arc<str>>, RepositoryError> {
        let links = now.iter().filter(|(_, version)| version.standing == Standing::Link);
        let mut harmless: BTreeSet<Arc<str>> = links.map(|(path, _)| Arc::clone(path)).collect();
        let (mut open, mut looked_at) = (harmless.clone(), 1);
        for reach in HISTORY_REACHES {
            if open.is_empty() {
                break;
            }
            let history = self.repositories.history(head, reach)?;
            for commit in history.iter().skip(looked_at) {
                for (path, kind) in self.kinds(commit, &open)? {
                    match kind {
                        Some(ItemKind::Link | ItemKind::Submodule) => continue,
                        Some(ItemKind::Folder | ItemKind::File) => drop(harmless.remove(&path)),
                        None => {}
                    }
                    open.remove(&path);
                }
            }
            if history.len() < reach {
                break;
            }
            looked_at = history.len();
        }
        Ok(harmless)
    }

    /// The kinds of the entries at these paths of a commit.
    fn kinds(&mut self, commit: &Commit, paths: &BTreeSet<Arc<str>>) -> Result<Kinds, RepositoryError> {
        let mut folders: BTreeMap<&str, BTreeMap<String, ItemKind>> = BTreeMap::new();
        let (mut kinds, mut is_left) = (Vec::new(), true);
        for path in paths {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            if !folders.contains_key(folder) {
                let items = self.repositories.folder(commit, folder)?.unwrap_or_default();
                is_left &= self.budget.steps(1 + items.len() as u64).is_ok();
                folders.insert(folder, items.into_iter().map(|item| (item.name, item.kind)).collect());
            }
            let kind = folders.get(folder).and_then(|items| items.get(name)).copied();
            kinds.push((Arc::clone(path), kind.filter(|_| is_left)));
        }
        Ok(kinds)
    }

    /// The state of the place at an earlier commit. None if a limit is exceeded.
    fn state(&mut self, commit: &Commit) -> Result<Option<State>, RepositoryError> {
        let path = &self.snapshot.path;
        let walked = match place::walk(self.repositories, commit, (path, &self.budget)) {
            Ok(walked) => walked,
            Err(PlaceError::Repository(error)) => return Err(error),
            Err(PlaceError::Path(PathError::Missing)) => return Ok(Some(State::new())),
            Err(PlaceError::Path(PathError::Link)) => {
                let path = walk::normal(path).unwrap_or_default();
                let link = Version { id: GitId::of_blob(b""), standing: Standing::Link };
                return Ok(Some(State::from([(path.into(), link)])));
            }
            Err(_) => return Ok(None),
        };
        let mut state = State::new();
        let kustomized = Kustomized::of(walked.files.iter().map(|file| file.path.as_str()));
        for walk::Found { path, item } in walked.files {
            let standing = match item.kind {
                _ if kustomized.above(&path).is_some() => Some(Standing::unreadable()),
                ItemKind::File => self.standing(commit, &path, item.id)?,
                _ => Some(Standing::Link),
            };
            let Some(standing) = standing else { return Ok(None) };
            state.insert(path.into(), Version { id: item.id, standing });
        }
        let link =
            |found: walk::Found| (Arc::from(found.path), Version { id: found.item.id, standing: Standing::Link });
        state.extend(walked.links.into_iter().map(link));
        Ok(Some(state))
    }

    /// The status of a file version. None if a limit is exceeded.
    fn standing(&mut self, commit: &Commit, path: &str, id: GitId) -> Result<Option<Standing>, RepositoryError> {
        if let Some(known) = self.standings.get(&id) {
            return Ok(Some(known.clone()));
        }
        let file = RawFile { path: path.into(), id, content: place::content(self.repositories, commit, id)? };
        let mut found = Standing::unreadable();
        if let RawContent::Bytes(bytes) = &file.content {
            // A version without objects costs the same, whether it is already cached or not. So the cache never changes the result.
            if self.budget.earlier_bytes(bytes.len() as u64).is_err() {
                return Ok(None);
            }
            self.broken.holds_something(&file, || {
                found = standing(&read::read_file(self.nameless, path, bytes));
                found != Standing::unreadable()
            });
        }
        let standing = found;
        self.standings.insert(id, standing.clone());
        Ok(Some(standing))
    }

    /// The file versions that contain the kept objects, sorted by path.
    fn files(&self, kept: BTreeMap<KeptKey, Kept<Commit>>) -> Result<Vec<KeptFile>, RepositoryError> {
        let mut by_file: BTreeMap<(Arc<str>, GitId), KeptFile> = BTreeMap::new();
        for (key, Kept { homes, holders }) in kept {
            for Home { commit, path, id } in homes {
                let place = (Arc::clone(&path), commit.id);
                if !by_file.contains_key(&place) {
                    let content = place::content(self.repositories, &commit, id)?;
                    let file = RawFile { path, id, content };
                    let (keys, holders) = Default::default();
                    by_file.insert(place.clone(), KeptFile { commit, file, keys, holders });
                }
                if let Some(file) = by_file.get_mut(&place) {
                    file.keys.insert(key.clone());
                    file.holders.extend(holders.iter().cloned());
                }
            }
        }
        Ok(by_file.into_values().collect())
    }
}

/// An object that an earlier run kept since `home`. It may be in any path that can't be read now, and had other content at that commit.
fn kept_since(home: &Commit, before: &State, (key, now): (&KeptKey, &State)) -> Kept<Commit> {
    let holds = |version: &Version| version.standing.objects().contains(key);
    let homes = before.iter().filter(|(_, version)| holds(version));
    let home =
        |(path, version): (&Arc<str>, &Version)| Home { commit: home.clone(), path: Arc::clone(path), id: version.id };
    let is_unclear = |version: &Version| !version.standing.is_understood();
    let holders = now.iter().filter(|(path, version)| is_unclear(version) && before.get(*path) != Some(*version));
    Kept { homes: homes.map(home).collect(), holders: holders.map(|(path, _)| Arc::clone(path)).collect() }
}

/// The status of a parsed file.
pub(super) fn standing(objects: &read::FileObjects) -> Standing {
    let keys = objects.objects.iter().flat_map(KeptKey::all_of).collect();
    if objects.is_good() { Standing::Understood(keys) } else { Standing::Broken(keys) }
}

/// Whether all paths can be read, except for links that replaced no file or folder.
fn is_clear(state: &State, harmless: &BTreeSet<Arc<str>>) -> bool {
    state.iter().all(|(path, version)| match version.standing {
        Standing::Understood(_) => true,
        Standing::Broken(_) => false,
        Standing::Link => harmless.contains(path),
    })
}
