//! The folder of the demo: whether it can be used, and whether it is complete.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::Path;

use workbench::contained_files;

use super::repositories;
use crate::exit::Failure;

use crate::configuration;

/// The file that marks the folder as complete. It is written last.
const RECEIPT: &str = ".kalypso/demo.json";
/// The file that exists while the folder is created. So the folder of an interrupted run can be recognized.
const RUNNING: &str = ".kalypso/demo-running";

/// The database of the hub. The `kalypso.toml` in the folder has the same path.
pub(super) const HUB_DATABASE: &str = ".kalypso/hub.db";
/// Marks the database as complete. It lists the commits that the hosts have of the applications, one line for each branch. It is written last.
pub(super) const HUB_FILLED: &str = ".kalypso/hub-filled";
/// These files, and the files that SQLite creates beside its database.
pub(super) const HUB_FILES: [&str; 4] = [HUB_FILLED, HUB_DATABASE, ".kalypso/hub.db-wal", ".kalypso/hub.db-shm"];

/// The token of Kalypso on the git host. The `kalypso.toml` in the folder has the same path.
pub(super) const GIT_HOST_TOKEN: &str = ".kalypso/git-host-token";
/// The secret of the git host's webhooks. The `kalypso.toml` in the folder has the same path.
pub(super) const WEBHOOK_SECRET: &str = ".kalypso/webhook-secret";
/// The pull requests and issues of the git host.
pub(super) const GIT_HOST_STATE: &str = ".kalypso/git-host.json";
/// Promotions that the user may commit.
pub(super) const PROMOTIONS: &str = "promotions.yaml";
/// The number of random bytes of a secret.
const SECRET_BYTES: usize = 24;

/// The content of the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FolderState {
    /// The folder is missing or empty.
    Nothing,
    /// The incomplete result of an interrupted run.
    Pieces,
    /// The complete company.
    Company,
}

/// Checks the content of the folder. Fails if the folder holds other files.
pub(super) fn inspect(folder: &Path, force: bool) -> Result<FolderState, Failure> {
    let shown = folder.display();
    let mut entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(FolderState::Nothing),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(Failure::usage(format!("`{shown}` is a file")).help("name a folder"));
        }
        Err(error) => return Err(Failure::outside(format!("`{shown}` can't be read: {error}"))),
    };
    if folder.join(RECEIPT).is_file() {
        return Ok(FolderState::Company);
    }
    if folder.join(RUNNING).is_file() {
        return Ok(FolderState::Pieces);
    }
    // A run that was interrupted before it could mark the folder leaves an empty `.kalypso`.
    let is_empty = entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() == ".kalypso"));
    if !is_empty && !force {
        let message = format!("`{shown}` is not empty, and was not made by `demo`");
        return Err(Failure::usage(message).help("use an empty folder, or --force to write into this one"));
    }
    let taken = names().find(|name| fs::symlink_metadata(folder.join(name)).is_ok());
    match taken {
        Some(name) => {
            let message = format!("`{}` is in the way, and was not made by `demo`", folder.join(name).display());
            Err(Failure::usage(message).help("take another folder: existing files are never overwritten"))
        }
        None => Ok(FolderState::Nothing),
    }
}

/// The names that the demo creates in its folder.
fn names() -> impl Iterator<Item = &'static str> {
    repositories::ALL.into_iter().chain([configuration::FILE_NAME, "README.md", PROMOTIONS])
}

/// Marks the folder while the result lives, and removes the files of an interrupted run.
pub(super) fn begin(folder: &Path) -> Result<File, Failure> {
    let running = folder.join(RUNNING);
    let unwritable = |error: io::Error| Failure::outside(format!("`{}` can't be written: {error}", running.display()));
    // Fails if there is a symbolic link at this path, because creating the file would follow it.
    contained_files::read(folder, RUNNING).map_err(unwritable)?;
    fs::create_dir_all(running.parent().unwrap_or(folder)).map_err(unwritable)?;
    let mark = File::create(&running).map_err(unwritable)?;
    match mark.try_lock() {
        Err(TryLockError::WouldBlock) => {
            let message = format!("another `demo` is at work in `{}`", folder.display());
            return Err(Failure::usage(message).help("wait for it, or name another folder"));
        }
        // Some file systems do not support locks. Then two runs at the same time are not prevented.
        Ok(()) | Err(TryLockError::Error(_)) => {}
    }
    for name in names().chain(HUB_FILES).chain([GIT_HOST_STATE]) {
        let path = folder.join(name);
        let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Failure::outside(format!("`{}` can't be removed: {error}", path.display())));
            }
            _ => {}
        }
    }
    Ok(mark)
}

/// Marks the folder as complete.
pub(super) fn finish(folder: &Path) -> Result<(), Failure> {
    let receipt = serde_json::json!({"version": 1, "repositories": repositories::ALL});
    write(folder, RECEIPT, &format!("{receipt:#}\n"))?;
    // The file does no harm beside the receipt, so an error does not matter.
    let _ = fs::remove_file(folder.join(RUNNING));
    Ok(())
}

/// Writes a file of the folder completely or not at all.
pub(super) fn write(folder: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let failed = |error| Failure::outside(format!("`{}` can't be written: {error}", folder.join(name).display()));
    contained_files::write(folder, name, text.as_bytes()).map_err(failed)
}

/// Writes new secrets. Only the user can read them.
pub(super) fn write_secrets(folder: &Path) -> Result<(), Failure> {
    for name in [GIT_HOST_TOKEN, WEBHOOK_SECRET] {
        let path = folder.join(name);
        let failed =
            |error: &dyn std::fmt::Display| Failure::outside(format!("`{}` can't be written: {error}", path.display()));
        let mut secret = [0; SECRET_BYTES];
        getrandom::fill(&mut secret).map_err(|error| failed(&error))?;
        let text: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
        // Temporary files are readable only by the user.
        let file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(folder));
        let mut file = file.map_err(|error| failed(&error))?;
        writeln!(file, "{text}").map_err(|error| failed(&error))?;
        file.persist(&path).map_err(|error| failed(&error.error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[&str], force: bool, expected: Option<FolderState>) {
        let folder = tempfile::tempdir().unwrap();
        files.iter().for_each(|name| write(folder.path(), name, "").unwrap());
        assert_eq!(inspect(folder.path(), force).ok(), expected, "{files:?}");
    }

    #[test]
    fn only_empty_or_own_folders_are_used() {
        check(&[], false, Some(FolderState::Nothing));
        check(&[RUNNING], false, Some(FolderState::Pieces));
        check(&[RECEIPT, "notes.txt"], false, Some(FolderState::Company));
        check(&[".kalypso/.kalypso-new-demo.json"], false, Some(FolderState::Nothing));
        check(&["notes.txt"], false, None);
    }

    #[test]
    fn force_overwrites_nothing() {
        check(&["notes.txt"], true, Some(FolderState::Nothing));
        check(&["notes.txt", "README.md"], true, None);
        check(&["checkout/main.rs"], true, None);
    }

    #[test]
    fn only_own_unfinished_files_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        ["notes.txt", "checkout/half"].iter().for_each(|name| write(folder.path(), name, "").unwrap());
        let _mark = begin(folder.path()).unwrap();
        assert!(folder.path().join("notes.txt").is_file());
        assert!(!folder.path().join("checkout").exists());
    }

    #[cfg(unix)]
    #[test]
    fn secrets_are_random_and_only_for_the_user() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let _mark = begin(folder.path()).unwrap();
        write_secrets(folder.path()).unwrap();
        let [token, secret] = [GIT_HOST_TOKEN, WEBHOOK_SECRET].map(|name| folder.path().join(name));
        assert_eq!(fs::metadata(&token).unwrap().permissions().mode() & 0o777, 0o600);
        let text = fs::read_to_string(&token).unwrap();
        assert!(text.trim().len() == 48 && text != fs::read_to_string(&secret).unwrap());
    }

    #[test]
    fn two_runs_do_not_work_in_one_folder() {
        let folder = tempfile::tempdir().unwrap();
        let mark = begin(folder.path()).unwrap();
        assert!(begin(folder.path()).unwrap_err().message.contains("another `demo` is at work"));
        drop(mark);
        assert!(begin(folder.path()).is_ok());
    }
}
