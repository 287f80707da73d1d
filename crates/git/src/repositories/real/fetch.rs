//! Brings commits of other machines into the cache, and only those that are not there.

use std::ffi::OsStr;
use std::fs::File;
use std::sync::Arc;

use gix::refs::transaction::PreviousValue;
use model::git_id::GitId;

use super::cache::Lock;
use super::process::{self, Answer, Run};
use super::read::{self, Fault};
use super::{GitRepositories, Opened, Remote, Store};
use crate::repositories::object::to_gix;
use crate::repositories::{Commit, RepositoryError, Revision};

/// The reference in the cache that says: this is complete.
fn marker(revision: &Revision) -> Option<String> {
    if let Revision::Commit { id, .. } = revision {
        return Some(format!("refs/kalypso/commits/{id}"));
    }
    let name = read::reference_name(revision)?;
    name.strip_prefix("refs/").map(|name| format!("refs/kalypso/{name}"))
}

/// The commit that is in the cache for a revision.
pub(super) fn fetched(repository: &gix::Repository, revision: &Revision) -> Option<GitId> {
    let marked = read::reference(repository, &marker(revision)?).ok().flatten();
    marked.or_else(|| {
        let Revision::Commit { id, branch: Some(branch) } = revision else { return None };
        fetched(repository, &Revision::Branch(Arc::clone(branch))).filter(|head| head == id)
    })
}

impl GitRepositories {
    /// The commit that a revision names now, with everything in it in the cache.
    pub(super) fn resolve_remote(&self, remote: &Remote, revision: &Revision) -> Result<GitId, RepositoryError> {
        let Some(reference) = read::reference_name(revision) else {
            if let Revision::Commit { id, .. } = revision {
                self.ensure(remote, revision, *id)?;
                return Ok(*id);
            }
            return Err(RepositoryError::NoRevision { url: remote.name.clone(), revision: revision.clone() });
        };
        self.prepared(remote)?;
        match self.remote_reference(remote, &reference)? {
            Some(id) => self.ensure(remote, revision, id).map(|()| id),
            None if self.is_empty(remote)? => Err(RepositoryError::Empty { url: remote.name.clone() }),
            None => Err(RepositoryError::NoRevision { url: remote.name.clone(), revision: revision.clone() }),
        }
    }

    /// Where a reference of the remote repository is now.
    pub(super) fn remote_reference(&self, remote: &Remote, name: &str) -> Result<Option<GitId>, RepositoryError> {
        let peeled = format!("{name}^{{}}");
        let output = self.asked(remote, &["ls-remote", "--", &remote.url, name, &peeled])?;
        let find = |name: &str| {
            let mut lines = output.lines().filter_map(|line| line.split_once('\t'));
            lines.find(|(_, found)| *found == name).and_then(|(id, _)| GitId::from_hex(id))
        };
        // What an annotated tag points at counts, not the tag itself.
        Ok(find(&peeled).or_else(|| find(name)))
    }

    fn is_empty(&self, remote: &Remote) -> Result<bool, RepositoryError> {
        self.asked(remote, &["ls-remote", "--heads", "--", &remote.url]).map(|output| output.trim().is_empty())
    }

    /// Asks the remote repository without changing the copy.
    fn asked(&self, remote: &Remote, arguments: &[&str]) -> Result<String, RepositoryError> {
        let answer = self.run(remote, arguments, None)?;
        match answer.failure {
            None => Ok(answer.output),
            Some(reason) => Err(RepositoryError::Unreachable { url: remote.name.clone(), reason }),
        }
    }

    /// Runs git in the copy. Given the lock as its input, git holds it too.
    pub(super) fn run(
        &self,
        remote: &Remote,
        arguments: &[impl AsRef<OsStr>],
        input: Option<&File>,
    ) -> Result<Answer, RepositoryError> {
        let run = Run {
            git_dir: Some(remote.copy.git_dir()),
            arguments: arguments.iter().map(|argument| argument.as_ref().to_owned()).collect(),
            url: &remote.url,
            scheme: remote.scheme,
            input,
        };
        process::run(&self.settings, &run).map_err(|reason| self.no_answer(&remote.name, reason))
    }

    /// The copy, made if it is not there.
    pub(super) fn prepared(&self, remote: &Remote) -> Result<Opened, RepositoryError> {
        match self.open(remote.copy.git_dir()) {
            Ok(opened) => Ok(opened),
            Err(_) => self.locked(remote).map(|work| work.opened),
        }
    }

    /// The copy and the right to change it.
    pub(super) fn locked<'a>(&'a self, remote: &'a Remote) -> Result<Work<'a>, RepositoryError> {
        let limit = self.settings.time_limit;
        let lock = remote.copy.lock(limit)?;
        let lock = lock.ok_or_else(|| RepositoryError::TimedOut { url: remote.name.clone(), limit })?;
        remote.copy.prepare(&lock, None)?;
        let opened = self.open(remote.copy.git_dir()).map_err(|fault| damaged(remote, fault))?;
        Ok(Work { repositories: self, remote, lock, opened })
    }

    /// Makes sure that a commit is in the cache, completely.
    fn ensure(&self, remote: &Remote, revision: &Revision, id: GitId) -> Result<(), RepositoryError> {
        if let Ok(opened) = self.open(remote.copy.git_dir())
            && fetched(&opened.to_thread_local(), revision) == Some(id)
        {
            keep(&opened.to_thread_local(), revision);
            return Ok(());
        }
        let mut work = self.locked(remote)?;
        if fetched(&work.opened.to_thread_local(), revision) == Some(id) {
            return Ok(());
        }
        match work.fetch(revision, id) {
            // A copy is given up only if it is of no use: while a server is away, it holds the last that we know.
            Err(RepositoryError::Unreachable { .. }) if is_damaged(&work.opened.to_thread_local()) => {
                work.renew()?;
                work.fetch(revision, id)
            }
            other => other,
        }
    }

    /// Brings more of the history before a commit into the cache. Whether there may be more than before.
    pub(super) fn deepen(&self, commit: &Commit, reach: usize) -> Result<bool, RepositoryError> {
        let Store::Remote(remote) = self.store(&commit.url)? else { return Ok(false) };
        let work = self.locked(&remote)?;
        let marker = format!("refs/kalypso/commits/{}", commit.id);
        let Some(reason) = work.fetch_commit(commit.id, &marker, reach)? else { return Ok(true) };
        match work.fetch_all()? {
            None => Ok(true),
            Some(_) => Err(RepositoryError::Unreachable { url: remote.name.clone(), reason }),
        }
    }

    /// After a commit could not be read: fetches it if it is not there, otherwise makes the copy anew.
    pub(super) fn mend(&self, remote: &Remote, commit: &Commit) -> Result<Opened, RepositoryError> {
        let mut work = self.locked(remote)?;
        if fetched(&work.opened.to_thread_local(), &commit.revision) == Some(commit.id) {
            work.renew()?;
        }
        work.fetch(&commit.revision, commit.id)?;
        Ok(work.opened)
    }
}

/// A copy that is being changed.
pub(super) struct Work<'a> {
    repositories: &'a GitRepositories,
    remote: &'a Remote,
    pub(super) lock: Lock,
    pub(super) opened: Opened,
}

impl Work<'_> {
    /// Makes the copy anew.
    fn renew(&mut self) -> Result<(), RepositoryError> {
        let (repositories, copy) = (self.repositories, &self.remote.copy);
        repositories.forget(copy.git_dir());
        copy.remove()?;
        copy.prepare(&self.lock, None)?;
        self.opened = repositories.open(copy.git_dir()).map_err(|fault| damaged(self.remote, fault))?;
        Ok(())
    }

    fn fetch(&self, revision: &Revision, id: GitId) -> Result<(), RepositoryError> {
        let url = &self.remote.name;
        let no_revision = || RepositoryError::NoRevision { url: url.clone(), revision: revision.clone() };
        let marker = marker(revision).ok_or_else(no_revision)?;
        let Some(reason) = self.fetch_commit(id, &marker, 1)? else { return Ok(()) };
        // Some servers give out only what a branch or tag points at.
        if self.fetch_all()?.is_some() {
            return Err(RepositoryError::Unreachable { url: url.clone(), reason });
        }
        let repository = self.opened.to_thread_local();
        let found = read::resolve(&repository, &Revision::Commit { id, branch: None });
        found.ok().flatten().ok_or_else(no_revision)?;
        mark(&repository, &marker, id).map_err(|fault| damaged(self.remote, fault))
    }

    /// Fetches one commit with some of those before it; why that failed, if it did.
    fn fetch_commit(&self, id: GitId, marker: &str, depth: usize) -> Result<Option<String>, RepositoryError> {
        let (depth, refspec) = (format!("--depth={depth}"), format!("+{id}:{marker}"));
        self.run(&[&depth, "--", &self.remote.url, &refspec])
    }

    /// Fetches all branches and tags with all that came before; why that failed, if it did.
    fn fetch_all(&self) -> Result<Option<String>, RepositoryError> {
        let is_shallow = self.opened.to_thread_local().is_shallow().is_ok_and(|is_shallow| is_shallow);
        let mut arguments: Vec<&str> = is_shallow.then_some("--unshallow").into_iter().collect();
        arguments.extend(["--", &self.remote.url, "+refs/heads/*:refs/kalypso/all/heads/*"]);
        arguments.push("+refs/tags/*:refs/kalypso/all/tags/*");
        self.run(&arguments)
    }

    fn run(&self, arguments: &[&str]) -> Result<Option<String>, RepositoryError> {
        let fetch = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head"];
        let arguments: Vec<_> = fetch.iter().chain(arguments).collect();
        self.repositories.run(self.remote, &arguments, Some(self.lock.file())).map(|answer| answer.failure)
    }
}

/// Whether something is not there that should be.
fn is_damaged(repository: &gix::Repository) -> bool {
    let Ok(references) = repository.references() else { return true };
    let Ok(mut markers) = references.prefixed("refs/kalypso/") else { return true };
    let is_there = |id: gix::Id<'_>| matches!(repository.try_find_header(id), Ok(Some(_)));
    !markers.all(|marker| marker.is_ok_and(|marker| marker.try_id().is_some_and(is_there)))
}

/// Marks a pinned commit that came with its branch, so that it stays when the branch goes on.
fn keep(repository: &gix::Repository, revision: &Revision) {
    if let (Revision::Commit { id, .. }, Some(marker)) = (revision, marker(revision))
        && matches!(read::reference(repository, &marker), Ok(None))
    {
        // Only saves a fetch; so it does no harm if it fails.
        let _ = mark(repository, &marker, *id);
    }
}

/// Says that a commit is in the cache, completely.
pub(super) fn mark(repository: &gix::Repository, marker: &str, id: GitId) -> Result<(), Fault> {
    let marked = repository.reference(marker, to_gix(id), PreviousValue::Any, "fetched");
    marked.map(drop).map_err(|error| Fault(error.to_string()))
}

/// The marker of a branch.
pub(super) fn branch_marker(branch: &str) -> String {
    format!("refs/kalypso/heads/{branch}")
}

fn damaged(remote: &Remote, Fault(reason): Fault) -> RepositoryError {
    RepositoryError::Damaged { url: remote.name.clone(), reason }
}
