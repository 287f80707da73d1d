//! Copies of remote repositories: bare, one per URL. Only one process at a time changes a copy. A broken copy is created again.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process;
use std::thread;
use std::time::{Duration, Instant};

use model::git_id::GitId;

use super::{layout, leftovers};
use crate::repositories::RepositoryError;

/// How often a lock of another process is tried again.
const LOCK_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// One copy in the cache.
#[derive(Clone, Debug)]
pub(super) struct Copy {
    git_dir: PathBuf,
    lock: PathBuf,
    journal: PathBuf,
}

/// The exclusive right to change a copy. It ends when this value is dropped and every git that holds the lock has ended, in whatever way.
pub(super) struct Lock(File);

impl Lock {
    fn new(mut file: File) -> Self {
        // The process id is only for messages, so errors are ignored.
        let _ = file.set_len(0);
        let _ = file.write_all(process::id().to_string().as_bytes());
        Self(file)
    }

    pub(super) fn file(&self) -> &File {
        &self.0
    }
}

impl Copy {
    /// The copy of the repository at `url`. It may not exist yet.
    pub(super) fn new(cache: &Path, url: &str) -> Self {
        let key = GitId::of_blob(url.as_bytes());
        let path = |ending: &str| cache.join(format!("{key}.{ending}"));
        Self { git_dir: path("git"), lock: path("lock"), journal: path("seen") }
    }

    /// The folder of the repository.
    pub(super) fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The journal of the heads of its branches. It is beside the copy, and is kept when the copy is created again.
    pub(super) fn journal(&self) -> &Path {
        &self.journal
    }

    /// Waits for the exclusive right to change the copy. At the time limit, it returns the holder of the lock.
    ///
    /// The operating system releases the lock when its holder ends. A lock file that was left behind is not locked.
    pub(super) fn lock(&self, limit: Duration) -> Result<Result<Lock, String>, RepositoryError> {
        let fail = |error: io::Error| failed(&self.lock, &error);
        let file = private().read(true).write(true).create(true).truncate(false).open(&self.lock).map_err(fail)?;
        restrict(&file);
        let end = Instant::now() + limit;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Ok(Lock::new(file))),
                Err(TryLockError::WouldBlock) if Instant::now() >= end => return Ok(Err(holder(&file))),
                Err(TryLockError::WouldBlock) => thread::sleep(LOCK_POLL_INTERVAL),
                Err(TryLockError::Error(error)) => return Err(fail(error)),
            }
        }
    }

    /// Removes the lock files and unfinished files of killed runs. Every writer holds the lock, so no other run needs them.
    pub(super) fn remove_leftovers(&self, _lock: &Lock) {
        leftovers::remove(&self.git_dir);
    }

    /// Makes sure that the copy is a valid repository. With `borrowed`, the objects in that folder are used as alternates.
    pub(super) fn prepare(&self, lock: &Lock, borrowed: Option<&Path>) -> Result<(), RepositoryError> {
        // Leftovers of a killed git are no reason to create the copy again.
        self.remove_leftovers(lock);
        let is_good = layout::check(&self.git_dir).is_ok() && gix::open_opts(&self.git_dir, super::options()).is_ok();
        if !is_good {
            self.remove()?;
            self.create().map_err(|error| failed(&self.git_dir, &error))?;
        }
        if let Some(objects) = borrowed {
            let text = format!("{}\n", objects.display());
            let path = self.git_dir.join("objects/info/alternates");
            fs::write(&path, text).map_err(|error| failed(&path, &error))?;
        }
        Ok(())
    }

    /// Removes the copy, even if the path is not a folder.
    pub(super) fn remove(&self) -> Result<(), RepositoryError> {
        match fs::remove_dir_all(&self.git_dir) {
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => fs::remove_file(&self.git_dir),
            other => other,
        }
        .or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
        .map_err(|error| failed(&self.git_dir, &error))
    }

    /// Creates an empty bare repository. The rename makes it appear complete or not at all.
    fn create(&self) -> io::Result<()> {
        let building = self.git_dir.with_extension("new");
        match fs::remove_dir_all(&building) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&building)?;
        for folder in ["objects/info", "objects/pack", "refs"] {
            fs::create_dir_all(building.join(folder))?;
        }
        fs::write(building.join("HEAD"), layout::HEAD)?;
        fs::write(building.join("config"), layout::CONFIG)?;
        fs::rename(&building, &self.git_dir)
    }
}

/// The process that holds the lock, from the process id in the file.
fn holder(file: &File) -> String {
    let mut text = String::new();
    let read = file.take(20).read_to_string(&mut text).is_ok();
    let id: Option<u32> = text.parse().ok().filter(|_| read);
    id.map_or_else(|| "another run".to_owned(), |id| format!("another run (process {id})"))
}

/// Options for files that only their owner can open. A process that can open a lock file could hold the lock forever.
fn private() -> fs::OpenOptions {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Closes a lock file of an earlier version of Kalypso to other users.
fn restrict(file: &File) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // If this fails, the lock works as before.
        let _ = file.set_permissions(fs::Permissions::from_mode(0o600));
    }
    #[cfg(not(unix))]
    let _ = file;
}

fn failed(path: &Path, error: &io::Error) -> RepositoryError {
    RepositoryError::Cache { path: path.to_owned(), reason: error.to_string() }
}
