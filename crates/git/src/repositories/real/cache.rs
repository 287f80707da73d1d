//! Copies of remote repositories: bare, one per URL, each changed by one process at a time, and made anew when broken.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use model::git_id::GitId;

use crate::repositories::RepositoryError;

/// How often a lock that somebody else holds is tried again.
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// One copy in the cache.
#[derive(Clone, Debug)]
pub(super) struct Copy {
    git_dir: PathBuf,
    lock: PathBuf,
}

/// The right to change a copy. It ends when this and every git that was given it have ended, however they end.
pub(super) struct Lock(File);

impl Lock {
    pub(super) fn file(&self) -> &File {
        &self.0
    }
}

impl Copy {
    /// The copy of the repository at `url`, which may not exist yet.
    pub(super) fn of(cache: &Path, url: &str) -> Self {
        let key = GitId::of_blob(url.as_bytes());
        Self { git_dir: cache.join(format!("{key}.git")), lock: cache.join(format!("{key}.lock")) }
    }

    /// The repository.
    pub(super) fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// Waits for the right to change the copy. None if it takes longer than the limit.
    pub(super) fn lock(&self, limit: Duration) -> Result<Option<Lock>, RepositoryError> {
        let fail = |error: io::Error| failed(&self.lock, &error);
        if let Some(cache) = self.lock.parent() {
            fs::create_dir_all(cache).map_err(|error| failed(cache, &error))?;
        }
        let file =
            File::options().read(true).write(true).create(true).truncate(false).open(&self.lock).map_err(fail)?;
        let end = Instant::now() + limit;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Some(Lock(file))),
                Err(TryLockError::WouldBlock) if Instant::now() >= end => return Ok(None),
                Err(TryLockError::WouldBlock) => thread::sleep(LOCK_PAUSE),
                Err(TryLockError::Error(error)) => return Err(fail(error)),
            }
        }
    }

    /// Makes sure that there is a repository which git can work in. Objects of the repository at `borrowed` count as its own.
    pub(super) fn prepare(&self, _lock: &Lock, borrowed: Option<&Path>) -> Result<(), RepositoryError> {
        if gix::open_opts(&self.git_dir, gix::open::Options::isolated()).is_err() {
            self.remove()?;
            self.create().map_err(|error| failed(&self.git_dir, &error))?;
        }
        if let Some(objects) = borrowed {
            let text = format!("{}\n", objects.display());
            let path = self.git_dir.join("objects/info/alternates");
            fs::write(&path, text).map_err(|error| failed(&path, &error))?;
        }
        self.remove_stale_locks();
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
        for folder in ["objects/info", "objects/pack", "refs"] {
            fs::create_dir_all(building.join(folder))?;
        }
        fs::write(building.join("HEAD"), "ref: refs/heads/none\n")?;
        fs::write(building.join("config"), "[core]\n\trepositoryformatversion = 0\n\tbare = true\n")?;
        fs::rename(&building, &self.git_dir)
    }

    /// A git that was killed leaves its own locks behind. Nobody else works here while we hold the copy's.
    fn remove_stale_locks(&self) {
        let mut folders = vec![self.git_dir.clone(), self.git_dir.join("refs")];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                let (path, is_below_refs) = (entry.path(), folder != self.git_dir);
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if is_folder && is_below_refs {
                    folders.push(path);
                } else if !is_folder && path.extension().is_some_and(|extension| extension == "lock") {
                    // What can't be removed is reported by the git that stumbles over it.
                    let _ = fs::remove_file(path);
                }
            }
        }
    }
}

fn failed(path: &Path, error: &io::Error) -> RepositoryError {
    RepositoryError::Cache { path: path.to_owned(), reason: error.to_string() }
}
