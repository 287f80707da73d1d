//! Fetches commits of remote repositories into the cache, if they are not there yet.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::iter;
use std::sync::Arc;
use std::time::Duration;

use gix::refs::transaction::PreviousValue;
use model::git_id::GitId;

use super::cache::{Copy, Lock};
use super::journal::Journal;
use super::leftovers;
use super::process::{self, Run, RunError, RunOutput};
use super::read::{self, Fault};
use super::{GitRepositories, Opened, Remote, Store, disk_errors};
use crate::limits::PACKS_MAX;
use crate::object_format;
use crate::repositories::object::to_gix;
use crate::repositories::{Commit, GitOperation, RepositoryError, Revision};

/// The reference in the cache that marks a revision as completely fetched.
fn marker(revision: &Revision) -> Option<String> {
    if let Revision::Commit { id, .. } = revision {
        return Some(format!("refs/kalypso/commits/{id}"));
    }
    let name = read::reference_name(revision)?;
    name.strip_prefix("refs/").map(|name| format!("refs/kalypso/{name}"))
}

/// The commit in the cache for a revision.
pub(super) fn fetched(repository: &gix::Repository, revision: &Revision) -> Option<GitId> {
    let marked = read::reference(repository, &marker(revision)?).ok().flatten();
    marked.or_else(|| {
        let Revision::Commit { id, branch: Some(branch) } = revision else { return None };
        fetched(repository, &Revision::Branch(Arc::clone(branch))).filter(|head| head == id)
    })
}

/// The repository responded, but has no such reference.
#[derive(Clone, Copy, Debug)]
pub(super) struct Missing {
    /// Whether it has no branches at all.
    is_empty: bool,
}

impl GitRepositories {
    /// The current commit of a revision. Afterwards, all of its content is in the cache.
    pub(super) fn resolve_remote(&self, remote: &Remote, revision: &Revision) -> Result<GitId, RepositoryError> {
        let Some(reference) = read::reference_name(revision) else {
            if let Revision::Commit { id, .. } = revision {
                self.ensure_commit(remote, revision, *id)?;
                return Ok(*id);
            }
            return Err(RepositoryError::NoRevision { url: remote.name.clone(), revision: revision.clone() });
        };
        match self.resolve_reference(remote, revision, &reference)? {
            Ok(id) => Ok(id),
            Err(Missing { is_empty: true }) => Err(RepositoryError::Empty { url: remote.name.clone() }),
            Err(Missing { is_empty: false }) => {
                Err(RepositoryError::NoRevision { url: remote.name.clone(), revision: revision.clone() })
            }
        }
    }

    /// The current commit of a reference. Afterwards, all of its content is in the cache, and the journal contains the head.
    ///
    /// Two processes may request the head at the same time, and the one with the older response may finish last. Therefore the response is used only
    /// if no head was added to the journal since the request. Otherwise, the head is requested again while the lock is held.
    fn resolve_reference(
        &self,
        remote: &Remote,
        revision: &Revision,
        reference: &str,
    ) -> Result<Result<GitId, Missing>, RepositoryError> {
        let opened = self.opened_copy(remote)?;
        let seen = || Journal::read(&self.journal(remote)).seen(reference);
        let before = seen();
        let id = match self.remote_reference(remote, reference)? {
            Ok(id) => id,
            missing => return Ok(missing),
        };
        let is_recorded = before.last() == Some(&id);
        if is_recorded && fetched(&opened.to_thread_local(), revision) == Some(id) {
            return Ok(Ok(id));
        }
        let mut work = self.locked(remote)?;
        let id = match if seen() == before { Ok(id) } else { self.remote_reference(remote, reference)? } {
            Ok(id) => id,
            missing => return Ok(missing),
        };
        work.complete(revision, id)?;
        // If the journal can't be written, only the fallback for an unreachable repository is lost.
        let _ = Journal::append(&self.journal(remote), &work.lock, (reference, id));
        Ok(Ok(id))
    }

    /// The current commit of a reference of the remote repository.
    pub(super) fn remote_reference(
        &self,
        remote: &Remote,
        name: &str,
    ) -> Result<Result<GitId, Missing>, RepositoryError> {
        let peeled = format!("{name}^{{}}");
        let listed = self.list_references(remote, &["--", &remote.url, name, &peeled], false)?;
        let found = references(remote, &listed)?;
        let find = |name: &str| found.iter().find(|(_, found)| *found == name).map(|(id, _)| *id);
        // For an annotated tag, the commit counts, not the tag object.
        if let Some(id) = find(&peeled).or_else(|| find(name)) {
            return Ok(Ok(id));
        }
        let result = self.list_references(remote, &["--heads", "--", &remote.url], true)?;
        references(remote, &result)?;
        let is_empty = result.output.trim().is_empty();
        // Git accepts a login page as an empty list of references.
        if is_empty && !process::is_git_protocol(&result.messages) {
            return Err(RepositoryError::NotGit { url: remote.name.clone() });
        }
        Ok(Err(Missing { is_empty }))
    }

    /// The targets of all branches and tags of the remote repository, by their full names.
    pub(super) fn remote_references(&self, remote: &Remote) -> Result<BTreeMap<String, GitId>, RepositoryError> {
        let result = self.list_references(remote, &["--heads", "--tags", "--refs", "--", &remote.url], true)?;
        // Git accepts a login page as an empty list of references.
        if result.output.trim().is_empty() && !process::is_git_protocol(&result.messages) {
            return Err(RepositoryError::NotGit { url: remote.name.clone() });
        }
        let found = references(remote, &result)?;
        Ok(found.into_iter().map(|(id, name)| (name.to_owned(), id)).collect())
    }

    /// Runs `git ls-remote`. It does not change the copy.
    fn list_references(
        &self,
        remote: &Remote,
        arguments: &[&str],
        is_traced: bool,
    ) -> Result<RunOutput, RepositoryError> {
        let arguments: Vec<_> = iter::once(&"ls-remote").chain(arguments).collect();
        let run = Run { is_traced, ..self.parameters(remote, &arguments, GitOperation::References) };
        let mut result = self.execute(remote, &run)?;
        match result.failure.take() {
            None => Ok(result),
            Some(reason) => Err(match object_format::of_failure(&reason) {
                Some(format) => RepositoryError::object_format(&remote.name, format),
                None => RepositoryError::Unreachable { url: remote.name.clone(), reason },
            }),
        }
    }

    /// The parameters of a run in the copy that does not change it.
    fn parameters<'a>(&'a self, remote: &'a Remote, arguments: &[impl AsRef<OsStr>], wait: GitOperation) -> Run<'a> {
        Run {
            git_dir: Some(remote.copy.git_dir()),
            arguments: arguments.iter().map(|argument| argument.as_ref().to_owned()).collect(),
            url: &remote.url,
            scheme: remote.scheme,
            connection_settings: self.connection_settings(remote.scheme),
            lock: None,
            wait,
            is_traced: false,
        }
    }

    fn execute(&self, remote: &Remote, run: &Run<'_>) -> Result<RunOutput, RepositoryError> {
        process::run(&self.settings, run).map_err(|reason| match reason {
            RunError::TimedOut(limit) => RepositoryError::TimedOut { url: remote.name.clone(), wait: run.wait, limit },
            RunError::NoToken(reason) => RepositoryError::Unreachable { url: remote.name.clone(), reason },
            RunError::NotStarted(reason) => RepositoryError::Program { program: self.settings.program.clone(), reason },
        })
    }

    /// Opens the copy. It is created if it does not exist.
    pub(super) fn opened_copy(&self, remote: &Remote) -> Result<Opened, RepositoryError> {
        match self.open_copy(&remote.copy) {
            Ok(opened) => Ok(opened),
            Err(_) => self.locked(remote).map(|work| work.opened),
        }
    }

    /// Opens the copy with the exclusive right to change it.
    pub(super) fn locked<'a>(&'a self, remote: &'a Remote) -> Result<Work<'a>, RepositoryError> {
        let limit = self.settings.time_limit;
        let lock = remote.copy.lock(limit)?;
        let in_use = |holder| RepositoryError::InUse { url: remote.name.clone(), holder, limit };
        let lock = lock.map_err(in_use)?;
        remote.copy.prepare(&lock, None)?;
        let opened = self.open_copy(&remote.copy).map_err(|fault| damaged(remote, fault))?;
        Ok(Work { repositories: self, remote, lock, opened })
    }

    /// Makes sure that a commit is in the cache with all of its content.
    fn ensure_commit(&self, remote: &Remote, revision: &Revision, id: GitId) -> Result<(), RepositoryError> {
        if let Ok(opened) = self.open_copy(&remote.copy)
            && fetched(&opened.to_thread_local(), revision) == Some(id)
        {
            mark_pinned(&opened.to_thread_local(), revision, &remote.copy);
            return Ok(());
        }
        self.locked(remote)?.complete(revision, id)
    }

    /// Fetches more of the history before a commit. Returns false if there can't be more.
    pub(super) fn deepen(&self, commit: &Commit, reach: usize) -> Result<bool, RepositoryError> {
        let Store::Remote(remote) = self.store(&commit.url)? else { return Ok(false) };
        let work = self.locked(&remote)?;
        let marker = format!("refs/kalypso/commits/{}", commit.id);
        work.fetch_commit_or_all(commit.id, &marker, reach).map(|_| true)
    }

    /// Repairs the copy after a failed read of a commit. A missing commit is fetched. Otherwise, the copy is created again.
    pub(super) fn repair(&self, remote: &Remote, commit: &Commit) -> Result<Opened, RepositoryError> {
        let mut work = self.locked(remote)?;
        let (repository, revision) = (work.opened.to_thread_local(), Revision::Commit { id: commit.id, branch: None });
        let is_present = read::resolve(&repository, &revision).is_ok_and(|found| found.is_some());
        if is_present || fetched(&repository, &commit.revision) == Some(commit.id) {
            work.recreate()?;
            work.fetch(&commit.revision, commit.id)?;
        } else {
            // An older commit must not replace the cached head of the branch.
            work.fetch(&Revision::Commit { id: commit.id, branch: None }, commit.id)?;
        }
        Ok(work.opened)
    }
}

/// The references of a list, if their ids are of SHA-1. A list without references may show the object format of the server.
fn references<'l>(remote: &Remote, list: &'l RunOutput) -> Result<Vec<(GitId, &'l str)>, RepositoryError> {
    let unsupported = |format: &str| RepositoryError::object_format(&remote.name, format);
    if let Some(format) = object_format::announced(&list.messages) {
        return Err(unsupported(format));
    }
    object_format::references(&list.output).map_err(unsupported)
}

/// The result of a fetch for a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fetched {
    /// The commit. Its marker names it.
    Commit,
    /// All branches and tags. They may not contain the commit.
    All,
}

/// A copy with the exclusive right to change it.
pub(super) struct Work<'a> {
    pub(super) repositories: &'a GitRepositories,
    pub(super) remote: &'a Remote,
    pub(super) lock: Lock,
    pub(super) opened: Opened,
}

impl Work<'_> {
    /// Makes sure that a commit is in the copy with all of its content.
    fn complete(&mut self, revision: &Revision, id: GitId) -> Result<(), RepositoryError> {
        if fetched(&self.opened.to_thread_local(), revision) == Some(id) {
            return Ok(());
        }
        let fetched = match self.fetch(revision, id) {
            // A copy is discarded only if it is damaged: while the server can't be reached, it is the only source.
            Err(RepositoryError::Unreachable { .. }) if is_damaged(&self.opened.to_thread_local()) => {
                self.recreate()?;
                self.fetch(revision, id)
            }
            other => other,
        };
        self.maintain();
        fetched
    }

    /// Creates the copy again.
    fn recreate(&mut self) -> Result<(), RepositoryError> {
        let (repositories, copy) = (self.repositories, &self.remote.copy);
        repositories.close(copy.git_dir());
        copy.remove()?;
        copy.prepare(&self.lock, None)?;
        self.opened = repositories.open_copy(copy).map_err(|fault| damaged(self.remote, fault))?;
        Ok(())
    }

    /// Repacks small packs if there are many. Every fetch and push adds a pack.
    ///
    /// No object is deleted, because other processes may read it. Errors and timeouts are ignored: the copy works as before.
    pub(super) fn maintain(&self) {
        let git_dir = self.remote.copy.git_dir();
        if leftovers::packs(git_dir) <= PACKS_MAX {
            return;
        }
        let _ = self.run(&["repack", "--geometric=2", "-d", "-q"], GitOperation::Maintenance);
        self.repositories.close(git_dir);
    }

    fn fetch(&self, revision: &Revision, id: GitId) -> Result<(), RepositoryError> {
        let url = &self.remote.name;
        let no_revision = || match self.repositories.remote_references(self.remote) {
            Err(error @ RepositoryError::ObjectFormat { .. }) => error,
            _ => RepositoryError::NoRevision { url: url.clone(), revision: revision.clone() },
        };
        let marker = marker(revision).ok_or_else(no_revision)?;
        if self.fetch_commit_or_all(id, &marker, 1)? == Fetched::Commit {
            return Ok(());
        }
        let repository = self.opened.to_thread_local();
        let found = read::resolve(&repository, &Revision::Commit { id, branch: None });
        found.ok().flatten().ok_or_else(no_revision)?;
        mark(&repository, (&marker, id), &self.lock).map_err(|fault| damaged(self.remote, fault))
    }

    /// Fetches one commit, and ancestors up to `depth`. Some servers send only commits that a branch or tag points to. Then everything is fetched.
    fn fetch_commit_or_all(&self, id: GitId, marker: &str, depth: usize) -> Result<Fetched, RepositoryError> {
        let Some(reason) = self.fetch_commit(id, marker, depth)? else { return Ok(Fetched::Commit) };
        // If the commit alone is too large, everything is too large as well.
        if disk_errors::is_too_large(&reason) || self.fetch_all()?.is_some() {
            return Err(fetch_error(self.remote, self.repositories.settings.transfer_bytes_max, reason));
        }
        Ok(Fetched::All)
    }

    /// Fetches one commit, and ancestors up to `depth`. Returns the error message if it fails.
    fn fetch_commit(&self, id: GitId, marker: &str, depth: usize) -> Result<Option<String>, RepositoryError> {
        let (depth, refspec) = (format!("--depth={depth}"), format!("+{id}:{marker}"));
        self.run_fetch(&[&depth, "--", &self.remote.url, &refspec])
    }

    /// Fetches all branches and tags with their whole history. Returns the error message if it fails.
    fn fetch_all(&self) -> Result<Option<String>, RepositoryError> {
        let is_shallow = self.opened.to_thread_local().is_shallow().is_ok_and(|is_shallow| is_shallow);
        let mut arguments: Vec<&str> = is_shallow.then_some("--unshallow").into_iter().collect();
        arguments.extend(["--", &self.remote.url, "+refs/heads/*:refs/kalypso/all/heads/*"]);
        arguments.push("+refs/tags/*:refs/kalypso/all/tags/*");
        self.run_fetch(&arguments)
    }

    fn run_fetch(&self, arguments: &[&str]) -> Result<Option<String>, RepositoryError> {
        let fetch = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head"];
        let arguments: Vec<_> = fetch.iter().chain(arguments).collect();
        self.run(&arguments, GitOperation::Commits).map(|result| result.failure)
    }

    /// Runs git in the copy. Git holds the lock, too.
    pub(super) fn run(
        &self,
        arguments: &[impl AsRef<OsStr>],
        wait: GitOperation,
    ) -> Result<RunOutput, RepositoryError> {
        let run = self.repositories.parameters(self.remote, arguments, wait);
        self.repositories.execute(self.remote, &Run { lock: Some(self.lock.file()), ..run })
    }
}

/// Whether a marked commit is missing.
fn is_damaged(repository: &gix::Repository) -> bool {
    let Ok(references) = repository.references() else { return true };
    let Ok(mut markers) = references.prefixed("refs/kalypso/") else { return true };
    let is_present = |id: gix::Id<'_>| matches!(repository.try_find_header(id), Ok(Some(_)));
    !markers.all(|marker| marker.is_ok_and(|marker| marker.try_id().is_some_and(is_present)))
}

/// Marks a pinned commit that was fetched with its branch, so that it stays in the copy when the branch moves.
fn mark_pinned(repository: &gix::Repository, revision: &Revision, copy: &Copy) {
    let (Revision::Commit { id, .. }, Some(marker)) = (revision, marker(revision)) else { return };
    if !matches!(read::reference(repository, &marker), Ok(None)) {
        return;
    }
    // The marker only saves a fetch. Therefore errors are ignored, and a run that changes the copy is not waited for.
    if let Ok(Ok(lock)) = copy.lock(Duration::ZERO) {
        copy.remove_leftovers(&lock);
        let _ = mark(repository, (&marker, *id), &lock);
    }
}

/// Marks a commit as completely fetched. A run that is killed here leaves the lock file of the reference behind. The next run with the lock of the copy
/// removes it. Without that lock, the file could not be told from that of another run.
pub(super) fn mark(repository: &gix::Repository, (marker, id): (&str, GitId), _lock: &Lock) -> Result<(), Fault> {
    let marked = repository.reference(marker, to_gix(id), PreviousValue::Any, "fetched");
    marked.map(drop).map_err(|error| Fault(error.to_string()))
}

/// The marker of a branch.
pub(super) fn branch_marker(branch: &str) -> String {
    format!("refs/kalypso/heads/{branch}")
}

/// The error of a failed fetch: of the local disk, or of the repository.
fn fetch_error(remote: &Remote, limit: u64, reason: String) -> RepositoryError {
    if disk_errors::is_too_large(&reason) {
        return RepositoryError::TransferTooLarge { url: remote.name.clone(), limit };
    }
    if let Some(format) = object_format::of_failure(&reason) {
        return RepositoryError::object_format(&remote.name, format);
    }
    let cache_error = disk_errors::cache_error(&reason, &remote.copy);
    cache_error.unwrap_or_else(|| RepositoryError::Unreachable { url: remote.name.clone(), reason })
}

fn damaged(remote: &Remote, Fault(reason): Fault) -> RepositoryError {
    RepositoryError::Damaged { url: remote.name.clone(), reason }
}
