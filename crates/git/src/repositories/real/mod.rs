//! Real repositories: gix reads and writes objects, and the git program fetches and pushes.

mod cache;
mod disk_errors;
mod environment;
mod fetch;
mod journal;
mod layout;
mod leftovers;
mod local;
mod ownership;
mod pack;
mod process;
mod push;
mod read;
mod redact;
mod user;
mod write;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use model::git_id::GitId;
use model::tree::Tree;

use self::cache::Copy;
use self::environment::Setting;
use self::journal::{Journal, JournalFile};
use self::read::Fault;
pub(crate) use self::user::{in_checkout, own};
use super::{
    Commit, CommitInfo, FileContent, FolderEntry, KnownTree, Push, Pushed, Repositories, RepositoryError, Revision,
    newest_first,
};
use crate::limits::LOCK_FILE_LIMIT;
use crate::settings::{Location, Settings, candidates, rule_for};
use crate::trust::{self, Distrust};
use crate::url::{RepositoryUrl, Scheme, without_credential};
use crate::{lock_file, object_format};

/// Local and remote repositories.
///
/// Local repositories are read in place, and changed only by a push. Uncommitted changes are not visible. Remote repositories have a copy in the
/// cache.
#[derive(Debug)]
pub struct GitRepositories {
    settings: Settings,
    open: Mutex<BTreeMap<PathBuf, Opened>>,
    /// The real path of the cache, or the reason why it is not trusted. Set at the first use.
    cache: OnceLock<Result<PathBuf, Distrust>>,
    /// The settings for connections from git's configuration. Set at the first use.
    connection_settings: OnceLock<Vec<Setting>>,
}

type Opened = Arc<gix::ThreadSafeRepository>;

/// The reason why a repository can't be opened.
enum Unreadable {
    /// The folder contains no repository, or a broken one.
    Broken(Fault),
    /// The repository failed a check.
    Refused(String),
}

impl Unreadable {
    fn into_fault(self) -> Fault {
        match self {
            Self::Broken(fault) => fault,
            Self::Refused(reason) => Fault(reason),
        }
    }
}

/// An open local repository, or a remote one with its copy.
enum Store {
    Local(Opened),
    Remote(Remote),
}

/// A remote repository and its copy.
struct Remote {
    name: RepositoryUrl,
    url: String,
    scheme: Scheme,
    copy: Copy,
}

/// How often a local repository is opened again after a failed read: another process may repack it during the read.
const ATTEMPTS: usize = 3;

/// The options for opening repositories. Replacement refs are disabled: an object must have the content that its author gave it. gix allocates a
/// fixed number of slots for packs at opening, and other processes may add packs later. A slot takes 24 bytes.
pub(crate) fn options() -> gix::open::Options {
    let slots = gix::odb::store::init::Slots::AsNeededByDiskState { multiplier: 2.0, minimum: 1024 };
    gix::open::Options::isolated().config_overrides(["core.useReplaceRefs=false"]).object_store_slots(slots)
}

impl GitRepositories {
    /// Repositories with these settings.
    pub fn new(settings: Settings) -> Self {
        Self { settings, open: Mutex::default(), cache: OnceLock::new(), connection_settings: OnceLock::new() }
    }

    /// The folder of the cache. It is created if it does not exist. Its content is read only if the folder is trusted.
    fn cache(&self) -> Result<&Path, RepositoryError> {
        match self.cache.get_or_init(|| trust::prepare_folder(&self.settings.cache)) {
            Ok(cache) => Ok(cache),
            // A folder that can't be created is a cache error, not a lack of trust.
            Err(Distrust::Unusable { path, reason }) => {
                Err(RepositoryError::Cache { path: path.clone(), reason: reason.clone() })
            }
            Err(reason) => Err(RepositoryError::UntrustedCache { reason: reason.clone() }),
        }
    }

    /// The journal of a copy, with its URL and key.
    fn journal<'a>(&'a self, remote: &'a Remote) -> JournalFile<'a> {
        JournalFile { path: remote.copy.journal(), url: &remote.url, key: self.settings.key.as_ref() }
    }

    /// The settings for connections from git's configuration. Empty for local repositories.
    fn connection_settings(&self, scheme: Scheme) -> &[Setting] {
        if scheme == Scheme::Local {
            &[]
        } else {
            self.connection_settings.get_or_init(|| environment::connection_settings(&self.settings))
        }
    }

    fn store(&self, url: &RepositoryUrl) -> Result<Store, RepositoryError> {
        let refused = |reason| match rule_for(&self.settings.rewrite, url.as_str()) {
            Some((rule, _)) => {
                RepositoryError::Rewrite { url: url.clone(), from: without_credential(&rule.from), reason }
            }
            None => RepositoryError::Url { url: url.clone(), reason },
        };
        match self.settings.locate(url).map_err(refused)? {
            Location::Local(path) => self.open_local(url, &path).map(Store::Local),
            Location::Remote { url: real, scheme } => {
                let copy = Copy::new(self.cache()?, &real);
                Ok(Store::Remote(Remote { name: url.clone(), url: real, scheme, copy }))
            }
        }
    }

    fn open_local(&self, url: &RepositoryUrl, path: &Path) -> Result<Opened, RepositoryError> {
        let found = candidates(path).into_iter().find(|path| local::is_repository(path));
        let missing = || format!("there is no git repository at {}", path.display());
        let unreachable = |reason| RepositoryError::Unreachable { url: url.clone(), reason };
        let found = found.ok_or_else(|| unreachable(missing()))?;
        if let Some(format) = object_format::of_folder(&found) {
            return Err(RepositoryError::object_format(url, &format));
        }
        let unsupported = |reason| RepositoryError::Unsupported { url: url.clone(), reason };
        self.open_with(&found, |opened| local::check(&found, opened)).map_err(|unreadable| match unreadable {
            Unreadable::Refused(reason) => unsupported(reason),
            Unreadable::Broken(Fault(reason)) => unreachable(reason),
        })
    }

    /// Opens the copy of a repository, if it contains only allowed files.
    fn open_copy(&self, copy: &Copy) -> Result<Opened, Fault> {
        let opened = self.open_with(copy.git_dir(), |_| layout::check(copy.git_dir()));
        opened.map_err(Unreadable::into_fault)
    }

    /// Opens the repository in a folder. It stays open; new objects and references are still found.
    fn open(&self, path: &Path) -> Result<Opened, Fault> {
        let opened = self.open_with(path, |_| Ok(()));
        opened.map_err(Unreadable::into_fault)
    }

    /// Same as [`Self::open`], with a check of the repository when it is opened.
    fn open_with(
        &self,
        path: &Path,
        check: impl FnOnce(&gix::Repository) -> Result<(), String>,
    ) -> Result<Opened, Unreadable> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = open.get(path).filter(|opened| opened.git_dir().join("HEAD").is_file()) {
            return Ok(Arc::clone(opened));
        }
        let opened = gix::open_opts(path, options()).map_err(|error| Unreadable::Broken(Fault(with_causes(&error))))?;
        check(&opened).map_err(Unreadable::Refused)?;
        let opened = Arc::new(opened.into_sync());
        open.insert(path.to_owned(), Arc::clone(&opened));
        Ok(opened)
    }

    fn close(&self, path: &Path) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
    }

    fn close_opened(&self, opened: &Opened) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|_, other| !Arc::ptr_eq(other, opened));
    }

    /// Reads from a commit that was resolved. A damaged copy is repaired, or created again.
    fn read_commit<T>(
        &self,
        commit: &Commit,
        read: impl Fn(&gix::Repository) -> Result<T, Fault>,
    ) -> Result<T, RepositoryError> {
        let remote = match self.store(&commit.url)? {
            Store::Local(opened) => return self.read_local(&commit.url, opened, read),
            Store::Remote(remote) => remote,
        };
        let git_dir = remote.copy.git_dir();
        let once = || self.open_copy(&remote.copy).and_then(|opened| read(&opened.to_thread_local()));
        // Another run may have repacked the copy. This is not a damage.
        let again = |_| {
            self.close(git_dir);
            once()
        };
        once().or_else(again).or_else(|_| {
            let opened = self.repair(&remote, commit)?;
            read(&opened.to_thread_local())
                .map_err(|Fault(reason)| RepositoryError::Damaged { url: commit.url.clone(), reason })
        })
    }

    /// Reads from a local repository. Another process may repack it during the read, so that an object moves to another pack.
    fn read_local<T>(
        &self,
        url: &RepositoryUrl,
        mut opened: Opened,
        read: impl Fn(&gix::Repository) -> Result<T, Fault>,
    ) -> Result<T, RepositoryError> {
        let mut attempt = 1;
        loop {
            match read(&opened.to_thread_local()) {
                Ok(value) => return Ok(value),
                Err(Fault(reason)) if attempt == ATTEMPTS => {
                    return Err(RepositoryError::Damaged { url: url.clone(), reason });
                }
                Err(_) => self.close_opened(&opened),
            }
            attempt += 1;
            match self.store(url)? {
                Store::Local(again) => opened = again,
                Store::Remote(_) => unreachable!("where a URL leads does not change"),
            }
        }
    }
}

impl Repositories for GitRepositories {
    fn resolve(&self, url: &RepositoryUrl, revision: &Revision) -> Result<Commit, RepositoryError> {
        let id = match self.store(url)? {
            Store::Local(opened) => {
                let find = |repository: &gix::Repository| read::resolve(repository, revision);
                let found = self.read_local(url, Arc::clone(&opened), find)?;
                found.ok_or_else(|| no_revision(&opened.to_thread_local(), url, revision))?
            }
            Store::Remote(remote) => self.resolve_remote(&remote, revision)?,
        };
        Ok(Commit { url: url.clone(), revision: revision.clone(), id })
    }

    fn references(&self, url: &RepositoryUrl) -> Result<BTreeMap<String, GitId>, RepositoryError> {
        match self.store(url)? {
            Store::Local(opened) => self.read_local(url, opened, read::references),
            Store::Remote(remote) => self.remote_references(&remote),
        }
    }

    fn cached(&self, url: &RepositoryUrl, revision: &Revision) -> Option<Commit> {
        let Ok(Store::Remote(remote)) = self.store(url) else { return None };
        let opened = self.open_copy(&remote.copy).ok()?;
        let fetched = fetch::fetched(&opened.to_thread_local(), revision)?;
        // Only the signed journal proves the head of a branch. A pinned commit is verified by its id.
        let id = match read::reference_name(revision) {
            Some(name) => Journal::read(&self.journal(&remote)).seen(&name).pop()?,
            None => fetched,
        };
        (id == fetched).then(|| Commit { url: url.clone(), revision: revision.clone(), id })
    }

    fn seen(&self, url: &RepositoryUrl, revision: &Revision) -> Vec<GitId> {
        let (Ok(Store::Remote(remote)), Some(reference)) = (self.store(url), read::reference_name(revision)) else {
            return Vec::new();
        };
        Journal::read(&self.journal(&remote)).seen(&reference)
    }

    fn folder(&self, commit: &Commit, path: &str) -> Result<Option<Vec<FolderEntry>>, RepositoryError> {
        self.read_commit(commit, |repository| read::folder(repository, commit.id, path))
    }

    fn known_folder(
        &self,
        commit: &Commit,
        _: &str,
        KnownTree { id, limit }: KnownTree,
    ) -> Result<Option<Vec<FolderEntry>>, RepositoryError> {
        let size = self.read_commit(commit, |repository| read::size(repository, id))?;
        if size > limit {
            return Err(RepositoryError::FolderTooLarge { url: commit.url.clone(), size, limit });
        }
        self.read_commit(commit, |repository| read::entries(repository, id)).map(Some)
    }

    fn content(&self, commit: &Commit, blob: GitId, limit: u64) -> Result<FileContent, RepositoryError> {
        self.read_commit(commit, |repository| read::content(repository, blob, limit))
    }

    fn tree(&self, commit: &Commit) -> Result<Tree, RepositoryError> {
        self.read_commit(commit, |repository| read::tree(repository, commit.id))
    }

    fn subtree(&self, commit: &Commit, tree: GitId) -> Result<Tree, RepositoryError> {
        self.read_commit(commit, |repository| read::subtree(repository, tree))
    }

    fn info(&self, commit: &Commit) -> Result<CommitInfo, RepositoryError> {
        self.read_commit(commit, |repository| read::info(repository, commit.id))
    }

    fn history(&self, commit: &Commit, reach: usize) -> Result<Vec<Commit>, RepositoryError> {
        let walk = |repository: &gix::Repository| read::history(repository, commit.id, reach);
        let mut walked = self.read_commit(commit, walk)?;
        if walked.is_cut && self.deepen(commit, reach)? {
            walked = self.read_commit(commit, walk)?;
        }
        Ok(walked.found.into_iter().map(|id| Commit { id, ..commit.clone() }).collect())
    }

    fn ancestry(&self, commit: &Commit, reach: usize) -> Result<Vec<(GitId, CommitInfo)>, RepositoryError> {
        let walk = |repository: &gix::Repository| read::ancestry(repository, commit.id, reach);
        let mut walked = self.read_commit(commit, walk)?;
        if walked.is_cut && self.deepen(commit, reach)? {
            walked = self.read_commit(commit, walk)?;
        }
        Ok(newest_first(commit.id, walked.found))
    }

    fn is_ancestor(&self, ancestor: GitId, commit: &Commit, reach: usize) -> Result<bool, RepositoryError> {
        let walk = |repository: &gix::Repository| read::is_ancestor(repository, ancestor, commit.id, reach);
        let mut walked = self.read_commit(commit, walk)?;
        if walked.is_cut && !walked.found && self.deepen(commit, reach)? {
            walked = self.read_commit(commit, walk)?;
        }
        Ok(walked.found)
    }

    fn push(&self, url: &RepositoryUrl, push: &Push<'_>) -> Result<Pushed, RepositoryError> {
        let run = || match self.store(url)? {
            Store::Local(opened) => self.push_local(url, &opened, push),
            Store::Remote(remote) => self.push_remote(&remote, push),
        };
        lock_file::retry(self.settings.time_limit.min(LOCK_FILE_LIMIT), run, |pushed| match pushed {
            Err(RepositoryError::Locked { lock, .. }) => Some(lock),
            _ => None,
        })
    }
}

/// An error with its causes.
fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// The error for a revision that a local repository does not contain.
fn no_revision(repository: &gix::Repository, url: &RepositoryUrl, revision: &Revision) -> RepositoryError {
    if read::has_branches(repository) {
        return RepositoryError::NoRevision { url: url.clone(), revision: revision.clone() };
    }
    RepositoryError::Empty { url: url.clone() }
}
