//! Pushes to a repository: the update of a branch is atomic.

use std::path::Path;
use std::sync::Arc;

use model::git_id::GitId;
use model::progress::ProgressPhase;

use super::cache::{Copy, Lock};
use super::fetch::{self, Work};
use super::journal::Journal;
use super::read::{self, Fault};
use super::write::Assumption;
use super::{ATTEMPTS, GitRepositories, Opened, Remote, ownership};
use crate::lock_file::LockFile;
use crate::repositories::{GitOperation, Push, Pushed, RepositoryError, Revision, push_name};
use crate::url::{RepositoryUrl, Scheme};

impl GitRepositories {
    /// Pushes to a remote repository, from its copy.
    pub(super) fn push_remote(&self, remote: &Remote, push: &Push<'_>) -> Result<Pushed, RepositoryError> {
        let work = self.locked(remote)?;
        let sent = work.write_and_send(push)?;
        let head = || Ok(self.remote_reference(remote, &format!("refs/heads/{}", push.branch))?.ok());
        let pushed = outcome(push, sent, head)?;
        if let Pushed::Moved(id) = pushed {
            // Errors are ignored, because the marker only saves a fetch.
            let marker = fetch::branch_marker(push.branch);
            let _ = fetch::mark(&work.opened.to_thread_local(), (&marker, id), &work.lock);
            let reference = format!("refs/heads/{}", push.branch);
            let _ = Journal::append(&self.journal(remote), &work.lock, (&reference, id));
        }
        work.maintain();
        Ok(pushed)
    }

    /// Pushes to a local repository, from a temporary copy that uses its objects as alternates. Only the push itself changes the local repository.
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
        ownership::check(url, target)?;
        let copy = Copy::new(self.cache()?, &format!("push to {real}"));
        let remote = Remote { name: url.clone(), url: real, scheme: Scheme::Local, copy };
        let limit = self.settings.time_limit;
        let in_use = |holder| RepositoryError::InUse { url: url.clone(), holder, limit };
        let lock = remote.copy.lock(limit)?.map_err(in_use)?;
        let scratch = |lock: &Lock| {
            self.close(remote.copy.git_dir());
            remote.copy.remove()?;
            remote.copy.prepare(lock, Some(&objects))?;
            let scratch = self.open(remote.copy.git_dir());
            scratch.map_err(|Fault(reason)| RepositoryError::Damaged { url: url.clone(), reason })
        };
        let mut work = Work { repositories: self, remote: &remote, opened: scratch(&lock)?, lock };
        let mut attempt = 1;
        let sent = loop {
            match work.write_and_send(push) {
                // Another process may repack the repository during the read.
                Err(RepositoryError::Damaged { .. } | RepositoryError::NoBlob { .. }) if attempt < ATTEMPTS => {}
                other => break other?,
            }
            attempt += 1;
            work.opened = scratch(&work.lock)?;
        };
        let head = || {
            let revision = Revision::branch(push.branch);
            self.read_local(url, Arc::clone(target), |repository| read::resolve(repository, &revision))
        };
        let pushed = outcome(push, sent, head)?;
        self.close(remote.copy.git_dir());
        remote.copy.remove()?;
        Ok(pushed)
    }
}

impl Work<'_> {
    /// Writes the new objects into the copy, and pushes them.
    fn write_and_send(&self, push: &Push<'_>) -> Result<PushRun, RepositoryError> {
        let sent = self.write_and_send_once(push, Assumption::Folders)?;
        if sent.failure.is_none() || self.is_complete(push, sent.id) {
            return Ok(sent);
        }
        self.write_and_send_once(push, Assumption::Parent)
    }

    fn write_and_send_once(&self, push: &Push<'_>, assumption: Assumption) -> Result<PushRun, RepositoryError> {
        let remote = self.remote;
        let write = |commit| self.write(commit, push.progress, assumption);
        let written = push.commit.as_ref().map(write).transpose()?;
        let writing = push.progress.begin(ProgressPhase::Writing);
        let _sending = writing.named(|| push_name(&remote.name));
        let id = written.map(|(id, _)| id);
        let failure = match self.run(&arguments(remote, push, written), GitOperation::Push) {
            Ok(result) => result.failure.map(|message| {
                let (url, branch) = (remote.name.clone(), push.branch.to_owned());
                match lock_file(remote, push.branch, &result.messages) {
                    Some(lock) => RepositoryError::Locked { url, branch, lock },
                    None => RepositoryError::Refused { url, branch, reason: refusal(&message) },
                }
            }),
            Err(error @ RepositoryError::TimedOut { .. }) => Some(error),
            Err(error) => return Err(error),
        };
        Ok(PushRun { id, failure })
    }

    /// Whether the copy contains all objects of the new commit that its parents do not have. True if this can't be determined.
    fn is_complete(&self, push: &Push<'_>, id: Option<GitId>) -> bool {
        let (Some(id), Some(commit)) = (id, &push.commit) else { return true };
        let mut arguments = vec!["rev-list".to_owned(), "--objects".to_owned(), "--quiet".to_owned(), id.to_string()];
        arguments.push("--not".to_owned());
        arguments.extend(commit.parents.iter().map(ToString::to_string));
        let result = self.run(&arguments, GitOperation::Maintenance);
        result.map_or(true, |result| result.failure.is_none())
    }
}

/// The result of a run of `git push`.
struct PushRun {
    /// The commit that the branch should be at.
    id: Option<GitId>,
    /// The error, if git failed. The branch may have moved nevertheless.
    failure: Option<RepositoryError>,
}

// Objects that did not change are pushed by id, and are never read here. In a prepared copy, another user may have stored other bytes under such an
// id, and git sends packed bytes without a check. But the receiving side computes all ids from the bytes. It then misses the object that the new tree
// names, and refuses the push. So manipulated content is never published.

/// From this number of new objects on, git does not search for deltas: it would compare each object with ten others before it sends the first one.
const NO_DELTAS_FROM: usize = 20_000;

/// The receiving program on this machine. Its maintenance runs as part of the push.
///
/// Where `setsid` is known, it has its own session, so that it does not end by a signal when this process ends, but when its input does, as behind
/// ssh. A git that gets SIGTERM while it creates a lock file leaves that file behind, which would block all later pushes to the branch, or all later
/// maintenance of that repository.
const RECEIVE_PACK: &str =
    "--receive-pack=$(command -v setsid) git -c gc.autoDetach=false -c maintenance.autoDetach=false receive-pack";

fn arguments(remote: &Remote, push: &Push<'_>, written: Option<(GitId, usize)>) -> Vec<String> {
    let id = written.map(|(id, _)| id);
    let reference = format!("refs/heads/{}", push.branch);
    let text = |id: Option<GitId>| id.map_or_else(String::new, |id| id.to_string());
    let lease = format!("--force-with-lease={reference}:{}", text(push.expected));
    let refspec = format!("{}:{reference}", text(id));
    let is_large = written.is_some_and(|(_, count)| count >= NO_DELTAS_FROM);
    let without_deltas: &[&str] = if is_large { &["-c", "pack.window=0"] } else { &[] };
    let receiving: &[&str] = if remote.scheme == Scheme::Local { &[RECEIVE_PACK] } else { &[] };
    let options = without_deltas.iter().chain(&["push", "--quiet", "--no-verify", "--no-follow-tags"]).chain(receiving);
    let options = options.map(|option| (*option).to_owned());
    options.chain([lease, "--".to_owned(), remote.url.clone(), refspec]).collect()
}

/// The lock file that stopped a push, from the messages of git.
fn lock_file(remote: &Remote, branch: &str, messages: &str) -> Option<LockFile> {
    if remote.scheme != Scheme::Local {
        return LockFile::named_by_server(messages);
    }
    LockFile::named_in(messages).or_else(|| LockFile::of_index(Path::new(&remote.url), branch, messages))
}

/// The reason of a refusal: the words of the server. Git's own text about a branch that is checked out, of a dozen lines, does not say what to do for a program
/// that pushes.
fn refusal(message: &str) -> String {
    if message.contains("branch is currently checked out") {
        return "the branch is checked out there. Check out another branch there, or run `git config receive.denyCurrentBranch updateInstead` there: git then updates the working tree, too".to_owned();
    }
    let (mut words, mut is_text) = (Vec::new(), false);
    for part in message.split(';').map(str::trim) {
        if let Some(found) = of_server(part) {
            words.push(found);
            is_text = part.starts_with("remote:");
        } else if is_text && !OWN_LINES.iter().any(|begin| part.starts_with(begin)) {
            // The text of the server has a semicolon.
            words.push(part);
        } else {
            is_text = false;
        }
    }
    words.retain(|words| !words.is_empty());
    if words.is_empty() { message.to_owned() } else { words.join("; ") }
}

/// The begins of the lines that git itself writes.
const OWN_LINES: [&str; 6] = ["To ", "! ", "error:", "fatal:", "hint:", "warning:"];

/// The words of the server in a line of git: what its hooks print, and why it rejects the branch.
fn of_server(line: &str) -> Option<&str> {
    if let Some(words) = line.strip_prefix("remote:") {
        return Some(words.trim());
    }
    let (_, reason) = line.strip_prefix("! [")?.split_once("] ")?.1.rsplit_once('(')?;
    reason.strip_suffix(')')
}

/// The result of a push. The message of git is not parsed. The current head of the branch decides.
fn outcome(
    push: &Push<'_>,
    PushRun { id, failure }: PushRun,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_contain_the_message_of_the_server() {
        let check = |message: &str, expected: &str| assert_eq!(refusal(message), expected);
        check(
            "remote: GH006: Protected branch update failed for refs/heads/dev.        ; remote: error: hook declined        ; To https://git.example/x.git;  ! [remote rejected] 4d7a -> dev (protected branch hook declined); error: failed to push some refs to 'https://git.example/x.git'",
            "GH006: Protected branch update failed for refs/heads/dev.; error: hook declined; protected branch hook declined",
        );
        check("remote: no; ask Eve ; To x.git; error: failed", "no; ask Eve");
        check(" ! [remote rejected] 4d7a -> dev (pre-receive hook declined)", "pre-receive hook declined");
        check("fatal: unable to access: 403", "fatal: unable to access: 403");
    }
}
