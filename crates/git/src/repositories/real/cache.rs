//! Copies of remote repositories: bare, one per URL, each changed by one process at a time, and made anew when broken.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process;
use std::thread;
use std::time::{Duration, Instant};

use model::git_id::GitId;

use super::{layout, leftovers};
use crate::repositories::RepositoryError;

/// How often a lock that somebody else holds is tried again.
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// One copy in the cache.
#[derive(Clone, Debug)]
pub(super) struct Copy {
    git_dir: PathBuf,
    lock: PathBuf,
    journal: PathBuf,
}

/// The right to change a copy. It ends when this and every git that was given it have ended, however they end.
pub(super) struct Lock(File);

impl Lock {
    fn new(mut file: File) -> Self {
        // Only for those who wait in vain: what can't be written can't be said.
        let _ = file.set_len(0);
        let _ = file.write_all(process::id().to_string().as_bytes());
        Self(file)
    }

    pub(super) fn file(&self) -> &File {
        &self.0
    }
}

impl Copy {
    /// The copy of the repository at `url`, which may not exist yet.
    pub(super) fn of(cache: &Path, url: &str) -> Self {
        let key = GitId::of_blob(url.as_bytes());
        let path = |ending: &str| cache.join(format!("{key}.{ending}"));
        Self { git_dir: path("git"), lock: path("lock"), journal: path("seen") }
    }

    /// The repository.
    pub(super) fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The file that says where its branches were seen. It is beside the copy, and outlives one that is made anew.
    pub(super) fn journal(&self) -> &Path {
        &self.journal
    }

    /// Waits for the right to change the copy. If that takes longer than the limit: who has it.
    ///
    /// It is the system that knows whether somebody has it, and takes it from those who end. So a lock that is left behind is no lock.
    pub(super) fn lock(&self, limit: Duration) -> Result<Result<Lock, String>, RepositoryError> {
        let fail = |error: io::Error| failed(&self.lock, &error);
        let file = private().read(true).write(true).create(true).truncate(false).open(&self.lock).map_err(fail)?;
        close(&file);
        let end = Instant::now() + limit;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Ok(Lock::new(file))),
                Err(TryLockError::WouldBlock) if Instant::now() >= end => return Ok(Err(holder(&file))),
                Err(TryLockError::WouldBlock) => thread::sleep(LOCK_PAUSE),
                Err(TryLockError::Error(error)) => return Err(fail(error)),
            }
        }
    }

    /// Makes sure that there is a repository which git can work in. Objects of the repository at `borrowed` count as its own.
    pub(super) fn prepare(&self, _lock: &Lock, borrowed: Option<&Path>) -> Result<(), RepositoryError> {
        // What was left over is no reason to make the copy anew.
        leftovers::remove(&self.git_dir);
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

    /// Removes the copy, whatever is there.
    pub(super) fn remove(&self) -> Result<(), RepositoryError> {
        match fs::remove_dir_all(&self.git_dir) {
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => fs::remove_file(&self.git_dir),
            other => other,
        }
        .or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
        .map_err(|error| failed(&self.git_dir, &error))
    }

    /// An empty bare repository, complete or not there.
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

/// Who has the lock, as far as that is written there.
fn holder(file: &File) -> String {
    let mut text = String::new();
    let read = file.take(20).read_to_string(&mut text).is_ok();
    let id: Option<u32> = text.parse().ok().filter(|_| read);
    id.map_or_else(|| "another run".to_owned(), |id| format!("another run (process {id})"))
}

/// Files that only their owner opens: who opens a lock may hold it for ever.
fn private() -> fs::OpenOptions {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Closes a file of an earlier version to others.
fn close(file: &File) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // Where it can't be, everything works as it did.
        let _ = file.set_permissions(fs::Permissions::from_mode(0o600));
    }
    #[cfg(not(unix))]
    let _ = file;
}

fn failed(path: &Path, error: &io::Error) -> RepositoryError {
    RepositoryError::Cache { path: path.to_owned(), reason: error.to_string() }
}
