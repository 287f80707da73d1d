//! Lock files of git in repositories of users. They are waited for and reported, but never removed, because another git may hold them.

use std::fmt;
use std::fs;
use std::iter;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use model::count::count;

/// How often to check whether a lock file still exists.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long to wait for a lock file on another machine, where it can't be checked.
const REMOTE_PAUSE: Duration = Duration::from_secs(1);

/// Messages of git about a working tree that it can't update.
const INDEX_FAILURES: &[&str] = &["Up-to-date check failed", "Could not update working tree"];

/// A lock file that git could not create, because it exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockFile {
    /// The file.
    pub path: PathBuf,
    /// The time of its creation. None if it is on another machine, or does not exist any more.
    pub since: Option<SystemTime>,
    /// Whether it is on this machine.
    pub is_here: bool,
}

impl LockFile {
    /// The lock file on this machine that messages of git name.
    ///
    /// Git translates its messages, so a quoted path of an existing lock file in a folder of git counts as well.
    pub(crate) fn named_in(messages: &str) -> Option<Self> {
        let mut quoted = quoted_locks(messages);
        let path = quoted.find_map(|(path, is_english)| (is_english || is_in_git_folder(path)).then_some(path))?;
        Some(Self::new(path))
    }

    /// The lock file on another machine that messages of its git name. Nothing on this machine is looked at, because that machine chose the path.
    pub(crate) fn named_by_server(messages: &str) -> Option<Self> {
        let path = quoted_locks(messages).find_map(|(path, is_english)| is_english.then_some(path))?;
        Some(Self { path: path.to_owned(), since: None, is_here: false })
    }

    /// The lock file of the index that stops a push to a branch that is checked out. Git does not name it in its messages. `git_dir` is the folder of
    /// the repository, or that of a linked working tree.
    pub(crate) fn of_index(git_dir: &Path, branch: &str, messages: &str) -> Option<Self> {
        if !INDEX_FAILURES.iter().any(|text| messages.contains(text)) {
            return None;
        }
        let common = fs::read_to_string(git_dir.join("commondir")).ok();
        let common = common.map_or_else(|| git_dir.to_owned(), |common| git_dir.join(common.trim_end()));
        let linked = fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten().map(|entry| entry.path());
        let head = format!("ref: refs/heads/{branch}");
        let is_checked_out =
            |folder: &PathBuf| fs::read_to_string(folder.join("HEAD")).is_ok_and(|text| text.trim_end() == head);
        let mut locks = iter::once(common).chain(linked).filter(is_checked_out).map(|folder| folder.join("index.lock"));
        locks.find(|path| path.is_file()).map(|path| Self::new(&path))
    }

    fn new(path: &Path) -> Self {
        let since = fs::symlink_metadata(path).and_then(|metadata| metadata.modified()).ok();
        // Git writes `.git/./HEAD.lock`.
        Self { path: path.components().collect(), since, is_here: true }
    }

    /// The instruction for the user.
    pub fn advice(&self) -> String {
        if !self.is_here {
            return "try again later; if the message stays, the administrator of the git host must remove that file, which a git that was killed left behind"
                .to_owned();
        }
        let path = self.path.display().to_string().replace('\'', r"'\''");
        format!(
            "wait until the git that works there ends, such as a commit, a push or `git gc`. If no git runs there (`pgrep -a git`), a git that was killed left the file behind: remove it with `rm '{path}'`"
        )
    }

    /// Waits until the file does not exist any more. Returns false if it still exists at `end`.
    fn wait(&self, end: Instant) -> bool {
        if !self.is_here {
            thread::sleep(REMOTE_PAUSE.min(end.saturating_duration_since(Instant::now())));
            return Instant::now() < end;
        }
        while fs::symlink_metadata(&self.path).is_ok() {
            if Instant::now() >= end {
                return false;
            }
            thread::sleep(POLL_INTERVAL);
        }
        true
    }
}

/// Writes ``lock file `/srv/app.git/HEAD.lock` exists for 5 minutes``.
impl fmt::Display for LockFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lock file `{}` exists", self.path.display())?;
        let Some(since) = self.since else { return Ok(()) };
        // After a clock was set back, a file is from the future.
        let seconds = since.elapsed().unwrap_or_default().as_secs() as usize;
        let (number, unit) = match seconds {
            0..60 => (seconds, "second"),
            60..3_600 => (seconds / 60, "minute"),
            3_600..86_400 => (seconds / 3_600, "hour"),
            _ => (seconds / 86_400, "day"),
        };
        write!(f, " for {}", count(number, unit))
    }
}

/// The quoted paths of lock files in messages of git, and whether git says that it could not create the file because it exists.
fn quoted_locks(messages: &str) -> impl Iterator<Item = (&Path, bool)> {
    let quoted = messages.split('\'').zip(messages.split('\'').skip(1)).zip(messages.split('\'').skip(2));
    quoted.filter_map(|((before, path), after)| {
        let is_lock = Path::new(path).extension().is_some_and(|extension| extension == "lock");
        let is_path = is_lock && Path::new(path).is_absolute() && !path.contains(char::is_control);
        let is_english = before.ends_with("Unable to create ") && after.starts_with(": File exists");
        is_path.then(|| (Path::new(path), is_english))
    })
}

/// Whether a lock file exists on this machine, in the folder of a repository or a working tree.
fn is_in_git_folder(path: &Path) -> bool {
    path.is_file() && path.ancestors().skip(1).any(|folder| folder.join("HEAD").is_file())
}

/// Runs git again while a lock file stops it, for a limited time. `lock` is the lock file of a result.
pub(crate) fn retry<T>(limit: Duration, mut run: impl FnMut() -> T, lock: impl Fn(&T) -> Option<&LockFile>) -> T {
    let end = Instant::now() + limit;
    loop {
        let result = run();
        match lock(&result) {
            Some(lock) if lock.wait(end) => {}
            _ => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(messages: &str, expected: Option<&str>) {
        let found = LockFile::named_in(messages).map(|lock| lock.path);
        assert_eq!(found.as_deref(), expected.map(Path::new), "{messages}");
    }

    #[test]
    fn the_lock_file_of_a_message_is_found() {
        check("fatal: Unable to create '/a/.git/index.lock': File exists.\n\nAnother git", Some("/a/.git/index.lock"));
        check(
            "remote: error: cannot lock ref 'refs/heads/dev': Unable to create '/a b/refs/heads/dev.lock': File exists.",
            Some("/a b/refs/heads/dev.lock"),
        );
        check("fatal: Unable to create '/a/.git/index.lock': Permission denied", None);
        check("error: cannot lock ref 'refs/heads/a.lock': reference broken", None);
        check("hook: '/a/Cargo.lock' is not formatted", None);
        check("", None);
    }

    #[test]
    fn a_lock_file_is_found_in_translated_messages() {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join("index.lock");
        let message = format!("Schwerwiegend: Konnte '{}' nicht erstellen: Die Datei existiert", lock.display());
        check(&message, None);
        fs::write(&lock, "").unwrap();
        check(&message, None);
        fs::write(folder.path().join("HEAD"), "").unwrap();
        check(&message, Some(lock.to_str().unwrap()));
    }

    #[test]
    fn lock_file_of_a_server_is_not_looked_up_locally() {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join("HEAD.lock");
        fs::write(&lock, "").unwrap();
        let message = format!("remote: error: Unable to create '{}': File exists.", lock.display());
        let found = LockFile::named_by_server(&message).unwrap();
        assert_eq!((found.since, found.advice().contains("rm ")), (None, false));
        assert_eq!(LockFile::named_by_server(&message.replace("File exists", "Keine Datei")), None);
    }

    #[test]
    fn the_age_of_a_lock_file_is_shown() {
        let shown = |since| LockFile { path: "/a/HEAD.lock".into(), since, is_here: true }.to_string();
        let ago = |seconds| SystemTime::now().checked_sub(Duration::from_secs(seconds));
        assert_eq!(shown(None), "lock file `/a/HEAD.lock` exists");
        assert_eq!(shown(ago(70)), "lock file `/a/HEAD.lock` exists for 1 minute");
        assert_eq!(shown(ago(200_000)), "lock file `/a/HEAD.lock` exists for 2 days");
    }

    fn lock_file() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("HEAD.lock");
        fs::write(&path, "").unwrap();
        (folder, path)
    }

    #[test]
    fn git_runs_again_when_the_lock_file_is_gone() {
        let (_folder, path) = lock_file();
        let mut runs = 0;
        let run = || {
            runs += 1;
            let lock = path.exists().then(|| LockFile::new(&path));
            let _ = fs::remove_file(&path);
            lock
        };
        assert_eq!(retry(Duration::from_mins(1), run, Option::as_ref), None);
        assert_eq!(runs, 2);
    }

    #[test]
    fn a_lock_file_that_stays_is_returned() {
        let (_folder, path) = lock_file();
        let mut runs = 0;
        let run = || {
            runs += 1;
            Some(LockFile::new(&path))
        };
        assert!(retry(Duration::ZERO, run, Option::as_ref).is_some());
        assert_eq!(runs, 1);
    }
}
