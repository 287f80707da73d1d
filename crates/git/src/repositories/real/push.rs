//! Moves a branch of another repository: all or nothing.

use model::git_id::GitId;
use model::progress::Phase;

use super::cache::{Copy, Lock};
use super::fetch::{self, Work};
use super::read::{self, Fault};
use super::{GitRepositories, Opened, Remote};
use crate::repositories::{Push, Pushed, RepositoryError, Revision, push_name};
use crate::url::{RepositoryUrl, Scheme};

impl GitRepositories {
    /// Pushes to a repository on another machine, from its copy.
    pub(super) fn push_remote(&self, remote: &Remote, push: &Push<'_>) -> Result<Pushed, RepositoryError> {
        let Work { lock, opened, .. } = self.locked(remote)?;
        let (id, failure) = self.written_and_sent(remote, (&opened, &lock), push)?;
        let head = || self.remote_reference(remote, &format!("refs/heads/{}", push.branch));
        let pushed = outcome(&remote.name, push, (id, failure), head)?;
        if let Pushed::Moved(id) = pushed {
            // Only saves a fetch; so it does no harm if it fails.
            let _ = fetch::mark(&opened.to_thread_local(), &fetch::branch_marker(push.branch), id);
        }
        Ok(pushed)
    }

    /// Pushes to a repository on this machine, from a scratch one that borrows its objects: nothing but the push itself may change it.
    pub(super) fn push_local(
        &self,
        url: &RepositoryUrl,
        target: &Opened,
        push: &Push<'_>,
    ) -> Result<Pushed, RepositoryError> {
        let absolute = |path: &std::path::Path| {
            let cache =
                |error: std::io::Error| RepositoryError::Cache { path: path.to_owned(), reason: error.to_string() };
            path.canonicalize().map_err(cache)
        };
        let (path, objects) = (absolute(target.git_dir())?, absolute(target.objects_dir())?);
        let real = path.display().to_string();
        let copy = Copy::of(&self.settings.cache, &format!("push to {real}"));
        let remote = Remote { name: url.clone(), url: real, scheme: Scheme::Local, copy };
        let limit = self.settings.time_limit;
        let lock = remote.copy.lock(limit)?.ok_or_else(|| RepositoryError::TimedOut { url: url.clone(), limit })?;
        self.forget(remote.copy.git_dir());
        remote.copy.remove()?;
        remote.copy.prepare(&lock, Some(&objects))?;
        let scratch = self.open(remote.copy.git_dir());
        let scratch = scratch.map_err(|Fault(reason)| RepositoryError::Damaged { url: url.clone(), reason })?;
        let (id, failure) = self.written_and_sent(&remote, (&scratch, &lock), push)?;
        let head = || {
            let found = read::resolve(&target.to_thread_local(), &Revision::branch(push.branch));
            found.map_err(|Fault(reason)| RepositoryError::Damaged { url: url.clone(), reason })
        };
        let pushed = outcome(url, push, (id, failure), head)?;
        self.forget(remote.copy.git_dir());
        remote.copy.remove()?;
        Ok(pushed)
    }

    /// Puts what is new into a copy, and lets git send it: the id of the commit, and what git says if it fails.
    fn written_and_sent(
        &self,
        remote: &Remote,
        (copy, lock): (&Opened, &Lock),
        push: &Push<'_>,
    ) -> Result<(Option<GitId>, Option<String>), RepositoryError> {
        let write = |commit| self.write(remote, copy, (commit, push.progress));
        let written = push.commit.as_ref().map(write).transpose()?;
        let writing = push.progress.begin(Phase::Writing);
        let _sending = writing.named(|| push_name(&remote.name));
        let sent = self.run(remote, &arguments(&remote.url, push, written), Some(lock.file()))?;
        Ok((written.map(|(id, _)| id), sent.failure))
    }
}

/// From so many new objects on, git looks for no similar ones: it would compare each with ten others before it sends the first.
const UNLIKE_FROM: usize = 20_000;

fn arguments(url: &str, push: &Push<'_>, written: Option<(GitId, usize)>) -> Vec<String> {
    let id = written.map(|(id, _)| id);
    let reference = format!("refs/heads/{}", push.branch);
    let text = |id: Option<GitId>| id.map_or_else(String::new, |id| id.to_string());
    let lease = format!("--force-with-lease={reference}:{}", text(push.expected));
    let refspec = format!("{}:{reference}", text(id));
    let is_large = written.is_some_and(|(_, count)| count >= UNLIKE_FROM);
    let unlike: &[&str] = if is_large { &["-c", "pack.window=0"] } else { &[] };
    let options = unlike.iter().chain(&["push", "--quiet", "--no-verify", "--no-follow-tags"]);
    options.map(|option| (*option).to_owned()).chain([lease, "--".to_owned(), url.to_owned(), refspec]).collect()
}

/// What became of a push. What git says is for people; what counts is where the branch is now.
fn outcome(
    url: &RepositoryUrl,
    push: &Push<'_>,
    (id, failure): (Option<GitId>, Option<String>),
    head: impl FnOnce() -> Result<Option<GitId>, RepositoryError>,
) -> Result<Pushed, RepositoryError> {
    let good = id.map_or(Pushed::Removed, Pushed::Moved);
    let Some(reason) = failure else { return Ok(good) };
    match head()? {
        now if now == id => Ok(good),
        now if now != push.expected => Ok(Pushed::LostRace),
        _ => Err(RepositoryError::Refused { url: url.clone(), branch: push.branch.to_owned(), reason }),
    }
}
