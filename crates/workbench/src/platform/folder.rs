//! The folder of a new platform: whether it can be used, and what an earlier run stored in it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::contained_files;

use super::answers::{Answers, VERSION};
use crate::Failure;

use crate::process_lock;

/// The file with the answers. It is written before all repositories.
const RECEIPT: &str = ".kalypso/init.json";
/// The file that is locked while a run works in the folder.
const LOCK: &str = ".kalypso/init-lock";
/// The folder in which repositories are built.
const WORKSHOP: &str = ".kalypso/init-new";

/// A folder that this run may use, while it lives.
#[derive(Debug)]
pub struct ClaimedFolder {
    folder: PathBuf,
    /// The answers of an earlier run.
    earlier: Option<Answers>,
    _lock: File,
}

/// Claims an empty folder, or the folder of an earlier run.
///
/// # Errors
/// If the folder has other files, if another run uses it, or if it can't be read or written.
pub fn claim(folder: &Path) -> Result<ClaimedFolder, Failure> {
    let shown = folder.display();
    let unreadable = |error: io::Error| match error.kind() {
        io::ErrorKind::NotADirectory => Failure::usage(format!("`{shown}` is a file")).help("name a folder"),
        _ => Failure::outside(format!("`{shown}` can't be read: {error}")),
    };
    let is_ours = folder.join(LOCK).is_file();
    if !is_ours && !contained_files::is_unused(folder).map_err(unreadable)? {
        let message = format!("`{shown}` is not empty, and was not made by `init`");
        return Err(Failure::usage(message).help("name an empty or new folder: `kalypso init platform`"));
    }
    let lock = lock(folder)?;
    let earlier = read(folder)?;
    remove_unfinished(folder);
    // The working trees store absolute paths.
    let folder = fs::canonicalize(folder).map_err(unreadable)?;
    Ok(ClaimedFolder { folder, earlier, _lock: lock })
}

fn lock(folder: &Path) -> Result<File, Failure> {
    let path = folder.join(LOCK);
    let unwritable = |error: io::Error| Failure::outside(format!("`{}` can't be written: {error}", path.display()));
    fs::create_dir_all(folder).map_err(unwritable)?;
    if contained_files::read(folder, LOCK).map_err(unwritable)?.is_none() {
        contained_files::write(folder, LOCK, b"").map_err(unwritable)?;
    }
    let file = File::options().write(true).open(&path).map_err(unwritable)?;
    match process_lock::lock(&file) {
        Ok(false) => {
            let message = format!("another `init` is at work in `{}`", folder.display());
            Err(Failure::usage(message).help("wait for it, or name another folder"))
        }
        // Some file systems do not support locks. Then two runs at the same time are not prevented.
        Ok(true) | Err(_) => Ok(file),
    }
}

fn read(folder: &Path) -> Result<Option<Answers>, Failure> {
    let path = folder.join(RECEIPT);
    let wrong = |reason: String| {
        Failure::refused(format!("`{}` can't be read: {reason}", path.display())).help(
            "it stores the answers of `init`; remove it to answer again. Repositories that exist stay as they are",
        )
    };
    let Some(bytes) = contained_files::read(folder, RECEIPT).map_err(|error| wrong(error.to_string()))? else {
        return Ok(None);
    };
    let answers: Answers = serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
    if answers.version == VERSION { Ok(Some(answers)) } else { Err(wrong("its version is not known".to_owned())) }
}

/// Removes what an interrupted run began to build. What can't be removed does no harm.
fn remove_unfinished(folder: &Path) {
    let workshop = folder.join(WORKSHOP);
    if fs::symlink_metadata(&workshop).is_ok_and(|metadata| metadata.is_dir()) {
        let _ = fs::remove_dir_all(workshop);
    }
}

impl ClaimedFolder {
    /// The folder, as an absolute path.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The answers of an earlier run.
    pub fn earlier(&self) -> Option<&Answers> {
        self.earlier.as_ref()
    }

    /// Whether an earlier run began to make repositories.
    pub(super) fn is_begun(&self) -> bool {
        self.earlier.is_some()
    }

    /// Stores the answers.
    pub(super) fn begin(&self, answers: &Answers) -> Result<(), Failure> {
        let failed = |error: String| Failure::outside(format!("`{RECEIPT}` can't be written: {error}"));
        let text = serde_json::to_string_pretty(answers).map_err(|error| failed(error.to_string()))?;
        contained_files::write(&self.folder, RECEIPT, format!("{text}\n").as_bytes())
            .map_err(|error| failed(error.to_string()))
    }

    /// A new empty folder on the same file system, to build something in.
    pub(super) fn workshop(&self) -> Result<tempfile::TempDir, Failure> {
        let workshop = self.folder.join(WORKSHOP);
        let failed = |error: io::Error| Failure::outside(format!("`{}` can't be made: {error}", workshop.display()));
        fs::create_dir_all(&workshop).map_err(failed)?;
        tempfile::Builder::new().prefix("new-").tempdir_in(&workshop).map_err(failed)
    }
}

impl Drop for ClaimedFolder {
    fn drop(&mut self) {
        remove_unfinished(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[&str], is_taken: bool) {
        let folder = tempfile::tempdir().unwrap();
        files.iter().for_each(|name| contained_files::write(folder.path(), name, b"").unwrap());
        assert_eq!(claim(folder.path()).is_ok(), is_taken, "{files:?}");
    }

    #[test]
    fn only_empty_or_own_folders_are_used() {
        check(&[], true);
        check(&[LOCK], true);
        check(&[LOCK, "kalypso.toml", ".kalypso/init-new/new-1/HEAD"], true);
        check(&[".kalypso/.kalypso-new-init-lock"], true);
        check(&["notes.txt"], false);
        check(&[LOCK, RECEIPT], false);
    }

    #[test]
    fn two_runs_do_not_work_in_one_folder() {
        let folder = tempfile::tempdir().unwrap();
        let first = claim(folder.path()).unwrap();
        assert!(claim(folder.path()).unwrap_err().message.contains("another `init` is at work"));
        drop(first);
        assert!(claim(folder.path()).is_ok());
    }
}
