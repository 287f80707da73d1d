//! Real repositories: gix reads and writes objects, the git program fetches and pushes.

mod cache;
mod fetch;
mod pack;
mod process;
mod push;
mod read;
mod redact;
mod write;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use model::git_id::GitId;
use model::tree::Tree;

use self::cache::Copy;
use self::process::NoAnswer;
use self::read::Fault;
use super::{Commit, CommitInfo, Content, Item, Push, Pushed, Repositories, RepositoryError, Revision};
use crate::settings::{Location, Settings, candidates};
use crate::url::{RepositoryUrl, Scheme};

/// The repositories of this machine and of others.
///
/// Local ones are read in place and changed by nothing but a push; uncommitted changes are not seen. Of remote ones a copy is kept in the cache.
#[derive(Debug)]
pub struct GitRepositories {
    settings: Settings,
    open: Mutex<BTreeMap<PathBuf, Opened>>,
}

type Opened = Arc<gix::ThreadSafeRepository>;

/// A repository with the place where it is read.
enum Store {
    Local(Opened),
    Remote(Remote),
}

/// A repository elsewhere, and its copy.
struct Remote {
    name: RepositoryUrl,
    url: String,
    scheme: Scheme,
    copy: Copy,
}

impl GitRepositories {
    /// Repositories as the settings say.
    pub fn new(settings: Settings) -> Self {
        Self { settings, open: Mutex::default() }
    }

    fn store(&self, url: &RepositoryUrl) -> Result<Store, RepositoryError> {
        let located = self.settings.locate(url);
        match located.map_err(|reason| RepositoryError::Url { url: url.clone(), reason })? {
            Location::Local(path) => self.open_local(url, &path).map(Store::Local),
            Location::Remote { url: real, scheme } => {
                let copy = Copy::of(&self.settings.cache, &real);
                Ok(Store::Remote(Remote { name: url.clone(), url: real, scheme, copy }))
            }
        }
    }

    fn open_local(&self, url: &RepositoryUrl, path: &Path) -> Result<Opened, RepositoryError> {
        let opened = candidates(path).iter().find_map(|path| self.open(path).ok());
        let reason = || format!("there is no git repository at {}", path.display());
        opened.ok_or_else(|| RepositoryError::Unreachable { url: url.clone(), reason: reason() })
    }

    /// The repository in a folder. Once opened it stays so: new objects and references are seen all the same.
    fn open(&self, path: &Path) -> Result<Opened, Fault> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = open.get(path).filter(|opened| opened.git_dir().join("HEAD").is_file()) {
            return Ok(Arc::clone(opened));
        }
        let opened = gix::open_opts(path, gix::open::Options::isolated()).map_err(|error| Fault(error.to_string()))?;
        let opened = Arc::new(opened.into_sync());
        open.insert(path.to_owned(), Arc::clone(&opened));
        Ok(opened)
    }

    fn forget(&self, path: &Path) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
    }

    /// Reads from a commit that was resolved. A copy that is found to be damaged is mended, or made anew.
    fn reading<T>(
        &self,
        commit: &Commit,
        read: impl Fn(&gix::Repository) -> Result<T, Fault>,
    ) -> Result<T, RepositoryError> {
        let damaged = |Fault(reason)| RepositoryError::Damaged { url: commit.url.clone(), reason };
        match self.store(&commit.url)? {
            Store::Local(opened) => read(&opened.to_thread_local()).map_err(damaged),
            Store::Remote(remote) => {
                let opened = self.open(remote.copy.git_dir());
                match opened.and_then(|opened| read(&opened.to_thread_local())) {
                    Ok(value) => Ok(value),
                    Err(_) => {
                        self.mend(&remote, commit).and_then(|opened| read(&opened.to_thread_local()).map_err(damaged))
                    }
                }
            }
        }
    }

    fn no_answer(&self, url: &RepositoryUrl, reason: NoAnswer) -> RepositoryError {
        match reason {
            NoAnswer::TimedOut => RepositoryError::TimedOut { url: url.clone(), limit: self.settings.time_limit },
            NoAnswer::NotStarted(error) => {
                RepositoryError::Program { program: self.settings.program.clone(), reason: error.to_string() }
            }
        }
    }
}

impl Repositories for GitRepositories {
    fn resolve(&self, url: &RepositoryUrl, revision: &Revision) -> Result<Commit, RepositoryError> {
        let id = match self.store(url)? {
            Store::Local(opened) => read::resolve(&opened.to_thread_local(), revision)
                .map_err(|Fault(reason)| RepositoryError::Damaged { url: url.clone(), reason })?
                .ok_or_else(|| no_revision(&opened.to_thread_local(), url, revision))?,
            Store::Remote(remote) => self.resolve_remote(&remote, revision)?,
        };
        Ok(Commit { url: url.clone(), revision: revision.clone(), id })
    }

    fn remembered(&self, url: &RepositoryUrl, revision: &Revision) -> Option<Commit> {
        let Ok(Store::Remote(remote)) = self.store(url) else { return None };
        let opened = self.open(remote.copy.git_dir()).ok()?;
        let id = fetch::fetched(&opened.to_thread_local(), revision)?;
        Some(Commit { url: url.clone(), revision: revision.clone(), id })
    }

    fn folder(&self, commit: &Commit, path: &str) -> Result<Option<Vec<Item>>, RepositoryError> {
        self.reading(commit, |repository| read::folder(repository, commit.id, path))
    }

    fn content(&self, commit: &Commit, blob: GitId, limit: u64) -> Result<Content, RepositoryError> {
        self.reading(commit, |repository| read::content(repository, blob, limit))
    }

    fn tree(&self, commit: &Commit) -> Result<Tree, RepositoryError> {
        self.reading(commit, |repository| read::tree(repository, commit.id))
    }

    fn subtree(&self, commit: &Commit, tree: GitId) -> Result<Tree, RepositoryError> {
        self.reading(commit, |repository| read::subtree(repository, tree))
    }

    fn info(&self, commit: &Commit) -> Result<CommitInfo, RepositoryError> {
        self.reading(commit, |repository| read::info(repository, commit.id))
    }

    fn history(&self, commit: &Commit, reach: usize) -> Result<Vec<Commit>, RepositoryError> {
        let walk = |repository: &gix::Repository| read::history(repository, commit.id, reach);
        let mut walked = self.reading(commit, walk)?;
        if walked.is_cut && self.deepen(commit, reach)? {
            walked = self.reading(commit, walk)?;
        }
        Ok(walked.found.into_iter().map(|id| Commit { id, ..commit.clone() }).collect())
    }

    fn is_ancestor(&self, ancestor: GitId, commit: &Commit, reach: usize) -> Result<bool, RepositoryError> {
        let walk = |repository: &gix::Repository| read::is_ancestor(repository, ancestor, commit.id, reach);
        let mut walked = self.reading(commit, walk)?;
        if walked.is_cut && !walked.found && self.deepen(commit, reach)? {
            walked = self.reading(commit, walk)?;
        }
        Ok(walked.found)
    }

    fn push(&self, url: &RepositoryUrl, push: &Push<'_>) -> Result<Pushed, RepositoryError> {
        match self.store(url)? {
            Store::Local(opened) => self.push_local(url, &opened, push),
            Store::Remote(remote) => self.push_remote(&remote, push),
        }
    }
}

/// Why a local repository does not have a revision.
fn no_revision(repository: &gix::Repository, url: &RepositoryUrl, revision: &Revision) -> RepositoryError {
    if read::has_branches(repository) {
        return RepositoryError::NoRevision { url: url.clone(), revision: revision.clone() };
    }
    RepositoryError::Empty { url: url.clone() }
}
