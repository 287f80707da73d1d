//! Moves a branch of another repository: all or nothing.

use std::sync::Arc;

use model::git_id::GitId;
use model::progress::Phase;

use super::cache::{Copy, Lock};
use super::journal::Journal;
use super::read::{self, Fault};
use super::write::Trust;
use super::{ATTEMPTS, GitRepositories, Opened, Remote};
use super::{fetch, owned};
use crate::repositories::{Push, Pushed, RepositoryError, Revision, Wait, push_name};
use crate::url::{RepositoryUrl, Scheme};

impl GitRepositories {
    /// Pushes to a repository on another machine, from its copy.
    pub(super) fn push_remote(&self, remote: &Remote, push: &Push<'_>) -> Result<Pushed, RepositoryError> {
        let work = self.locked(remote)?;
        let sent = self.written_and_sent(remote, (&work.opened, &work.lock), push)?;
        let head = || Ok(self.remote_reference(remote, &format!("refs/heads/{}", push.branch))?.ok());
        let pushed = outcome(push, sent, head)?;
        if let Pushed::Moved(id) = pushed {
            // Only saves a fetch; so it does no harm if it fails.
            let _ = fetch::mark(&work.opened.to_thread_local(), &fetch::branch_marker(push.branch), id);
            let reference = format!("refs/heads/{}", push.branch);
            let _ = Journal::append(&self.journal(remote), &work.lock, (&reference, id));
        }
        work.maintain();
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
        owned::check(url, target)?;
        let copy = Copy::of(self.cache()?, &format!("push to {real}"));
        let remote = Remote { name: url.clone(), url: real, scheme: Scheme::Local, copy };
        let limit = self.settings.time_limit;
        let in_use = |holder| RepositoryError::InUse { url: url.clone(), holder, limit };
        let lock = remote.copy.lock(limit)?.map_err(in_use)?;
        let mut attempt = 1;
        let sent = loop {
            self.forget(remote.copy.git_dir());
            remote.copy.remove()?;
            remote.copy.prepare(&lock, Some(&objects))?;
            let scratch = self.open(remote.copy.git_dir());
            let scratch = scratch.map_err(|Fault(reason)| RepositoryError::Damaged { url: url.clone(), reason })?;
            match self.written_and_sent(&remote, (&scratch, &lock), push) {
                // Others pack the repository again while we read.
                Err(RepositoryError::Damaged { .. } | RepositoryError::NoBlob { .. }) if attempt < ATTEMPTS => {}
                other => break other?,
            }
            attempt += 1;
        };
        let head = || {
            let revision = Revision::branch(push.branch);
            self.reading_local(url, Arc::clone(target), |repository| read::resolve(repository, &revision))
        };
        let pushed = outcome(push, sent, head)?;
        self.forget(remote.copy.git_dir());
        remote.copy.remove()?;
        Ok(pushed)
    }

    /// Puts what is new into a copy, and lets git send it.
    fn written_and_sent(
        &self,
        remote: &Remote,
        at: (&Opened, &Lock),
        push: &Push<'_>,
    ) -> Result<Sent, RepositoryError> {
        let sent = self.written_and_sent_once(remote, at, (push, Trust::Folders))?;
        if sent.failure.is_none() || self.is_whole(remote, at.1, (push, sent.id)) {
            return Ok(sent);
        }
        self.written_and_sent_once(remote, at, (push, Trust::Parent))
    }

    fn written_and_sent_once(
        &self,
        remote: &Remote,
        (copy, lock): (&Opened, &Lock),
        (push, trust): (&Push<'_>, Trust),
    ) -> Result<Sent, RepositoryError> {
        let write = |commit| self.write(remote, copy, (commit, push.progress, trust));
        let written = push.commit.as_ref().map(write).transpose()?;
        let writing = push.progress.begin(Phase::Writing);
        let _sending = writing.named(|| push_name(&remote.name));
        let id = written.map(|(id, _)| id);
        let failure = match self.run(remote, &arguments(remote, push, written), (Wait::Push, Some(lock))) {
            Ok(answer) => answer.failure.map(|reason| RepositoryError::Refused {
                url: remote.name.clone(),
                branch: push.branch.to_owned(),
                reason,
            }),
            Err(error @ RepositoryError::TimedOut { .. }) => Some(error),
            Err(error) => return Err(error),
        };
        Ok(Sent { id, failure })
    }

    /// Whether everything is there that a commit has and those before it have not, as far as that can be found out.
    fn is_whole(&self, remote: &Remote, lock: &Lock, (push, id): (&Push<'_>, Option<GitId>)) -> bool {
        let (Some(id), Some(commit)) = (id, &push.commit) else { return true };
        let mut arguments = vec!["rev-list".to_owned(), "--objects".to_owned(), "--quiet".to_owned(), id.to_string()];
        arguments.push("--not".to_owned());
        arguments.extend(commit.parents.iter().map(ToString::to_string));
        let answer = self.run(remote, &arguments, (Wait::Maintenance, Some(lock)));
        answer.map_or(true, |answer| answer.failure.is_none())
    }
}

/// What was sent.
struct Sent {
    /// Where the branch should be.
    id: Option<GitId>,
    /// Why it may not be there.
    failure: Option<RepositoryError>,
}

// What is pushed by its id only, because it is as it was, is never read here. A copy that somebody has prepared may have other bytes under such an id;
// git sends packed bytes as they are, without looking at them. The receiving side computes all ids from the bytes that it gets, so it does not know the
// object that the new tree names, and refuses the push. Bytes of somebody's choice never land under a name that was published.

/// From so many new objects on, git looks for no similar ones: it would compare each with ten others before it sends the first.
const UNLIKE_FROM: usize = 20_000;

/// What receives a push on this machine. Its maintenance is part of the push: one in the background is killed with us at a moment when nothing removes
/// its lock, and then nothing maintains that repository any more.
const RECEIVE_PACK: &str = "--receive-pack=git -c gc.autoDetach=false -c maintenance.autoDetach=false receive-pack";

fn arguments(remote: &Remote, push: &Push<'_>, written: Option<(GitId, usize)>) -> Vec<String> {
    let id = written.map(|(id, _)| id);
    let reference = format!("refs/heads/{}", push.branch);
    let text = |id: Option<GitId>| id.map_or_else(String::new, |id| id.to_string());
    let lease = format!("--force-with-lease={reference}:{}", text(push.expected));
    let refspec = format!("{}:{reference}", text(id));
    let is_large = written.is_some_and(|(_, count)| count >= UNLIKE_FROM);
    let unlike: &[&str] = if is_large { &["-c", "pack.window=0"] } else { &[] };
    let receiving: &[&str] = if remote.scheme == Scheme::Local { &[RECEIVE_PACK] } else { &[] };
    let options = unlike.iter().chain(&["push", "--quiet", "--no-verify", "--no-follow-tags"]).chain(receiving);
    let options = options.map(|option| (*option).to_owned());
    options.chain([lease, "--".to_owned(), remote.url.clone(), refspec]).collect()
}

/// What became of a push. What git says, if it says anything, is for people; what counts is where the branch is now.
fn outcome(
    push: &Push<'_>,
    Sent { id, failure }: Sent,
    head: impl FnOnce() -> Result<Option<GitId>, RepositoryError>,
) -> Result<Pushed, RepositoryError> {
    let good = id.map_or(Pushed::Removed, Pushed::Moved);
    let Some(failure) = failure else { return Ok(good) };
    match head()? {
        now if now == id => Ok(good),
        now if now != push.expected => Ok(Pushed::LostRace),
        _ => Err(failure),
    }
}
