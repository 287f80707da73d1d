//! Repositories in memory, for tests, simulations and the demo. They behave like repositories on a git host.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::git_id::GitId;
use model::progress::ProgressPhase;
use model::tree::{Blob, Child, DEPTH_MAX, Entry, Mode, OpenError, Sealed, SealedBy, Tree};

use super::object::{commit_info, commit_object, encode, from_gix, object_id};
use super::{
    Commit, CommitInfo, EntryKind, FileContent, FolderEntry, NewCommit, Push, Pushed, Repositories, RepositoryError,
    Revision, newest_first, opener, push_name,
};
use crate::limits::ANCESTRY_MAX;
use crate::url::RepositoryUrl;

/// Repositories in memory. Commits have the same ids as in git.
#[derive(Debug, Default)]
pub struct MemoryRepositories(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    repositories: BTreeMap<RepositoryUrl, Repository>,
    remembered: BTreeMap<(RepositoryUrl, Revision), GitId>,
    seen: BTreeMap<(RepositoryUrl, Revision), Vec<GitId>>,
}

#[derive(Debug, Default)]
struct Repository {
    branches: BTreeMap<String, GitId>,
    tags: BTreeMap<String, GitId>,
    commits: BTreeMap<GitId, CommitInfo>,
    trees: BTreeMap<GitId, Tree>,
    blobs: BTreeMap<GitId, Arc<[u8]>>,
    broken: Option<String>,
    /// Why pushes to branches are refused.
    protected: BTreeMap<String, String>,
    requests: usize,
}

impl MemoryRepositories {
    /// Creates an empty repository. An existing one is not changed.
    pub fn create(&self, url: &RepositoryUrl) {
        self.state().repositories.entry(url.clone()).or_default();
    }

    /// Adds a commit to the head of a branch, like a push from a clone. The repository and the branch are created if they do not exist.
    ///
    /// # Errors
    /// If the commit's tree can't be opened, or names a blob that does not exist.
    pub fn commit(&self, url: &RepositoryUrl, branch: &str, commit: &NewCommit<'_>) -> Result<GitId, RepositoryError> {
        let new = self.new_objects(url, commit)?;
        let mut state = self.state();
        let repository = state.repositories.entry(url.clone()).or_default();
        let id = repository.add(commit, new);
        repository.branches.insert(branch.to_owned(), id);
        Ok(id)
    }

    /// Sets a tag to a commit.
    pub fn tag(&self, url: &RepositoryUrl, tag: &str, commit: GitId) {
        self.state().repositories.entry(url.clone()).or_default().tags.insert(tag.to_owned(), commit);
    }

    /// Sets a branch to a commit of the repository, like a forced push. None: the branch is deleted.
    pub fn force(&self, url: &RepositoryUrl, branch: &str, commit: Option<GitId>) {
        let mut state = self.state();
        let branches = &mut state.repositories.entry(url.clone()).or_default().branches;
        match commit {
            Some(commit) => drop(branches.insert(branch.to_owned(), commit)),
            None => drop(branches.remove(branch)),
        }
    }

    /// Removes a commit from the repository and from the cache, as if no branch had led to it for a long time.
    pub fn lose(&self, url: &RepositoryUrl, commit: GitId) {
        let mut state = self.state();
        state.repositories.entry(url.clone()).or_default().commits.remove(&commit);
        state.remembered.retain(|_, known| *known != commit);
    }

    /// Makes every request to a repository fail with this reason. None: requests succeed again.
    pub fn set_broken(&self, url: &RepositoryUrl, reason: Option<&str>) {
        self.state().repositories.entry(url.clone()).or_default().broken = reason.map(str::to_owned);
    }

    /// Refuses pushes to a branch with these words, as a rule of a git host does. None: pushes succeed again.
    pub fn protect(&self, url: &RepositoryUrl, branch: &str, reason: Option<&str>) {
        let mut state = self.state();
        let protected = &mut state.repositories.entry(url.clone()).or_default().protected;
        match reason {
            Some(reason) => drop(protected.insert(branch.to_owned(), reason.to_owned())),
            None => drop(protected.remove(branch)),
        }
    }

    /// Forgets what earlier requests returned, as if the cache was removed.
    pub fn forget_requests(&self) {
        let mut state = self.state();
        (state.remembered, state.seen) = Default::default();
    }

    /// The head of a branch. None if it does not exist.
    pub fn head(&self, url: &RepositoryUrl, branch: &str) -> Option<GitId> {
        self.state().repositories.get(url)?.branches.get(branch).copied()
    }

    /// The number of requests to this repository that a git host would have received.
    pub fn requests(&self, url: &RepositoryUrl) -> usize {
        self.state().repositories.get(url).map_or(0, |repository| repository.requests)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a commit. This works even if the repository is set to fail.
    fn with<T>(&self, commit: &Commit, read: impl FnOnce(&Repository, &CommitInfo) -> T) -> Result<T, RepositoryError> {
        let state = self.state();
        let repository = state.repositories.get(&commit.url);
        let found = repository.and_then(|repository| Some((repository, repository.commits.get(&commit.id)?)));
        let Some((repository, info)) = found else {
            return Err(damaged(&commit.url, format!("commit {} is missing", commit.id)));
        };
        Ok(read(repository, info))
    }

    /// The folders and files of a new commit that the repository does not contain. The state is not locked, because opening a sealed folder may read
    /// from the repository.
    fn new_objects(&self, url: &RepositoryUrl, commit: &NewCommit<'_>) -> Result<Objects, RepositoryError> {
        let unopened = |error| RepositoryError::Unopened { url: url.clone(), error };
        let with = |read: &dyn Fn(&Repository) -> bool| self.state().repositories.get(url).is_some_and(read);
        let mut new = Objects::default();
        let mut folders = vec![(String::new(), Child::Tree(commit.tree.clone()))];
        while let Some((folder, child)) = folders.pop() {
            if folder.matches('/').count() > DEPTH_MAX {
                return Err(unopened(OpenError::TooDeep { path: folder }));
            }
            if with(&|repository| repository.trees.contains_key(&child.id())) {
                continue;
            }
            let tree = child.opened(commit.open).map_err(unopened)?.unwrap_or_default();
            for (name, child) in tree.children() {
                let (path, blob) = (format!("{folder}{name}"), child.id());
                match child {
                    Child::File(Entry { mode: Mode::Submodule, .. }) => {}
                    Child::File(Entry { blob: content, .. }) => match content.bytes() {
                        Some(bytes) => drop(new.blobs.insert(blob, Arc::clone(bytes))),
                        None if with(&|repository| repository.blobs.contains_key(&blob)) => {}
                        None => return Err(RepositoryError::NoBlob { url: url.clone(), path, blob }),
                    },
                    folder => folders.push((format!("{path}/"), folder.clone())),
                }
            }
            new.trees.insert(tree.id(), sealed(&tree));
        }
        Ok(new)
    }
}

/// Folders and files of a commit.
#[derive(Default)]
struct Objects {
    trees: BTreeMap<GitId, Tree>,
    blobs: BTreeMap<GitId, Arc<[u8]>>,
}

/// A folder as a repository returns it: its entries are known only by id.
fn sealed(tree: &Tree) -> Tree {
    let child = |child: &Child| match child {
        Child::File(entry) => Child::File(Entry { mode: entry.mode, blob: Blob::existing(entry.blob.id()) }),
        folder => Child::Sealed(Sealed { id: folder.id(), by: SealedBy::Repository }),
    };
    Tree::with_id(tree.id(), tree.children().map(|(name, of)| (Arc::clone(name), child(of))).collect::<Vec<_>>())
}

impl State {
    /// Counts a request to a repository, and returns the repository.
    fn request(&mut self, url: &RepositoryUrl) -> Result<&mut Repository, RepositoryError> {
        let unreachable = |reason: &str| RepositoryError::Unreachable { url: url.clone(), reason: reason.to_owned() };
        let repository = self.repositories.get_mut(url).ok_or_else(|| unreachable("there is no such repository"))?;
        repository.requests += 1;
        match &repository.broken {
            Some(reason) => Err(unreachable(reason)),
            None => Ok(repository),
        }
    }
}

impl Repository {
    fn add(&mut self, commit: &NewCommit<'_>, new: Objects) -> GitId {
        let bytes = encode(&commit_object(commit));
        let id = from_gix(&object_id(gix::objs::Kind::Commit, &bytes));
        self.trees.extend(new.trees);
        self.blobs.extend(new.blobs);
        match (id, commit_info(&bytes)) {
            (Some(id), Some(info)) => {
                self.commits.insert(id, info);
                id
            }
            _ => unreachable!("what was just encoded can be read"),
        }
    }

    fn find(&self, url: &RepositoryUrl, revision: &Revision) -> Result<GitId, RepositoryError> {
        let found = match revision {
            Revision::Branch(name) => self.branches.get(&**name).copied(),
            Revision::Tag(name) => self.tags.get(&**name).copied(),
            Revision::Commit { id, .. } => self.commits.contains_key(id).then_some(*id),
        };
        found.ok_or_else(|| match revision {
            Revision::Branch(_) if self.branches.is_empty() => RepositoryError::Empty { url: url.clone() },
            _ => RepositoryError::NoRevision { url: url.clone(), revision: revision.clone() },
        })
    }
}

impl Repositories for MemoryRepositories {
    fn resolve(&self, url: &RepositoryUrl, revision: &Revision) -> Result<Commit, RepositoryError> {
        let mut state = self.state();
        let key = (url.clone(), revision.clone());
        let known = matches!(revision, Revision::Commit { .. }).then(|| state.remembered.get(&key).copied()).flatten();
        let id = match known {
            Some(id) => id,
            None => state.request(url)?.find(url, revision)?,
        };
        if !matches!(revision, Revision::Commit { .. }) {
            let seen = state.seen.entry(key.clone()).or_default();
            seen.push(id);
            seen.dedup();
        }
        state.remembered.insert(key, id);
        Ok(Commit { url: url.clone(), revision: revision.clone(), id })
    }

    fn references(&self, url: &RepositoryUrl) -> Result<BTreeMap<String, GitId>, RepositoryError> {
        let mut state = self.state();
        let repository = state.request(url)?;
        let branches = repository.branches.iter().map(|(name, id)| (format!("refs/heads/{name}"), *id));
        let tags = repository.tags.iter().map(|(name, id)| (format!("refs/tags/{name}"), *id));
        Ok(branches.chain(tags).collect())
    }

    fn cached(&self, url: &RepositoryUrl, revision: &Revision) -> Option<Commit> {
        let id = *self.state().remembered.get(&(url.clone(), revision.clone()))?;
        Some(Commit { url: url.clone(), revision: revision.clone(), id })
    }

    fn seen(&self, url: &RepositoryUrl, revision: &Revision) -> Vec<GitId> {
        self.state().seen.get(&(url.clone(), revision.clone())).cloned().unwrap_or_default()
    }

    fn folder(&self, commit: &Commit, path: &str) -> Result<Option<Vec<FolderEntry>>, RepositoryError> {
        let found = self.tree(commit)?.folder(path, &opener(self, commit));
        let found = found.map_err(|error| damaged(&commit.url, error.to_string()))?;
        let entry = |(name, child): (&Arc<str>, &Child)| {
            let kind = child.as_file().map_or(EntryKind::Folder, |file| entry_kind(file.mode));
            FolderEntry { name: name.to_string(), kind, id: child.id() }
        };
        Ok(found.map(|tree| {
            let mut entries: Vec<_> = tree.children().map(entry).collect();
            entries.sort();
            entries
        }))
    }

    fn content(&self, commit: &Commit, blob: GitId, limit: u64) -> Result<FileContent, RepositoryError> {
        let content = self.with(commit, |repository, _| repository.blobs.get(&blob).cloned())?;
        match content {
            Some(bytes) if bytes.len() as u64 > limit => Ok(FileContent::TooLarge(bytes.len() as u64)),
            Some(bytes) => Ok(FileContent::Bytes(bytes)),
            None => Err(damaged(&commit.url, format!("blob {blob} is missing"))),
        }
    }

    fn tree(&self, commit: &Commit) -> Result<Tree, RepositoryError> {
        self.subtree(commit, self.info(commit)?.tree)
    }

    fn subtree(&self, commit: &Commit, tree: GitId) -> Result<Tree, RepositoryError> {
        let found = self.with(commit, |repository, _| repository.trees.get(&tree).cloned())?;
        found.ok_or_else(|| damaged(&commit.url, format!("tree {tree} is missing")))
    }

    fn info(&self, commit: &Commit) -> Result<CommitInfo, RepositoryError> {
        self.with(commit, |_, info| info.clone())
    }

    fn history(&self, commit: &Commit, reach: usize) -> Result<Vec<Commit>, RepositoryError> {
        let mut commits = Vec::new();
        let mut next = Some(commit.id);
        while let Some(id) = next.filter(|_| commits.len() < reach) {
            let commit = Commit { id, ..commit.clone() };
            next = self.info(&commit)?.parents.first().copied();
            commits.push(commit);
        }
        Ok(commits)
    }

    fn ancestry(&self, commit: &Commit, reach: usize) -> Result<Vec<(GitId, CommitInfo)>, RepositoryError> {
        let (mut found, mut generation) = (BTreeMap::new(), vec![commit.id]);
        for _ in 0..reach {
            let mut parents = Vec::new();
            for id in generation {
                if found.len() >= ANCESTRY_MAX {
                    break;
                }
                let info = self.info(&Commit { id, ..commit.clone() })?;
                parents.extend(info.parents.iter().filter(|id| !found.contains_key(*id)));
                found.insert(id, info);
            }
            generation = parents;
        }
        Ok(newest_first(commit.id, found))
    }

    fn is_ancestor(&self, ancestor: GitId, commit: &Commit, reach: usize) -> Result<bool, RepositoryError> {
        let (mut seen, mut generation) = (BTreeSet::new(), vec![commit.id]);
        for _ in 0..reach {
            if generation.contains(&ancestor) {
                return Ok(true);
            }
            let mut parents = Vec::new();
            for id in generation.drain(..).filter(|id| seen.insert(*id)) {
                parents.extend(self.info(&Commit { id, ..commit.clone() })?.parents);
            }
            generation = parents;
        }
        Ok(false)
    }

    fn push(&self, url: &RepositoryUrl, push: &Push<'_>) -> Result<Pushed, RepositoryError> {
        let new = match &push.commit {
            Some(commit) => self.new_objects(url, commit)?,
            None => Objects::default(),
        };
        let writing = push.progress.begin(ProgressPhase::Writing);
        writing.advance(new.trees.len());
        let _sending = writing.named(|| push_name(url));
        let mut state = self.state();
        let repository = state.request(url)?;
        if repository.branches.get(push.branch).copied() != push.expected {
            return Ok(Pushed::LostRace);
        }
        if let Some(reason) = repository.protected.get(push.branch) {
            let (url, branch, reason) = (url.clone(), push.branch.to_owned(), reason.clone());
            return Err(RepositoryError::Refused { url, branch, reason });
        }
        let Some(commit) = &push.commit else {
            repository.branches.remove(push.branch);
            return Ok(Pushed::Removed);
        };
        let id = repository.add(commit, new);
        repository.branches.insert(push.branch.to_owned(), id);
        Ok(Pushed::Moved(id))
    }
}

fn entry_kind(mode: Mode) -> EntryKind {
    match mode {
        Mode::File | Mode::Executable => EntryKind::File,
        Mode::Link => EntryKind::Link,
        Mode::Submodule => EntryKind::Submodule,
    }
}

fn damaged(url: &RepositoryUrl, reason: String) -> RepositoryError {
    RepositoryError::Damaged { url: url.clone(), reason }
}
