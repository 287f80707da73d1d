//! Files below a folder. A file is written completely or not at all, and never through a symbolic link below this folder.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The prefix of a file's name while the file is written.
const UNFINISHED: &str = ".kalypso-new-";

/// Writes a file completely or not at all. A symbolic link at this path is replaced, not followed.
///
/// # Errors
/// If a folder on the path is a symbolic link or a file, or if an operation of the file system fails.
pub fn write(folder: &Path, path: &str, bytes: &[u8]) -> io::Result<()> {
    let target = resolve(folder, path)?;
    fs::create_dir_all(target.parent().unwrap_or(folder))?;
    if holds(&target, bytes)? {
        return Ok(());
    }
    let new = unfinished(&target);
    // A file or link with this name is left from an earlier run, or is an attempt to redirect the write. It is removed.
    remove_if_there(&new)?;
    let mut options = File::options();
    let written = options.write(true).create_new(true).open(&new).and_then(|mut file| file.write_all(bytes));
    let placed = written.and_then(|()| fs::rename(&new, &target));
    if placed.is_err() {
        let _ = fs::remove_file(&new);
    }
    placed
}

/// Replaces and removes files (none: removed) of a folder that people edit. Each file has its old or its new content at any moment, and keeps its permissions.
/// No file changes before all new contents are on the disk.
///
/// # Errors
/// As [`write()`]. If a new content can't be written, no file is changed.
pub fn replace_all(folder: &Path, files: &[(&str, Option<&[u8]>)]) -> io::Result<()> {
    let mut staged = Vec::new();
    let written = files.iter().filter_map(|(path, bytes)| Some((*path, (*bytes)?)));
    let result = written.map(|(path, bytes)| stage(folder, path, bytes)).try_for_each(|file| {
        staged.push(file?);
        Ok(())
    });
    let placed = result.and_then(|()| staged.iter().try_for_each(|(new, target)| fs::rename(new, target)));
    if placed.is_err() {
        staged.iter().for_each(|(new, _)| drop(fs::remove_file(new)));
    }
    placed?;
    files.iter().filter(|(_, bytes)| bytes.is_none()).try_for_each(|(path, _)| remove(folder, path))
}

/// Writes the new content of a file beside it. Returns the path of this copy, and that of the file.
fn stage(folder: &Path, path: &str, bytes: &[u8]) -> io::Result<(PathBuf, PathBuf)> {
    let target = resolve(folder, path)?;
    let metadata = match fs::symlink_metadata(&target) {
        Ok(metadata) if metadata.is_file() => Some(metadata),
        Ok(_) => return Err(not_followed(&target)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    fs::create_dir_all(target.parent().unwrap_or(folder))?;
    let mut new = unfinished(&target).into_os_string();
    // Files with this ending are not read as YAML.
    new.push("~");
    let new = PathBuf::from(new);
    remove_if_there(&new)?;
    let mut file = File::options().write(true).create_new(true).open(&new)?;
    let written = file.write_all(bytes).and_then(|()| {
        metadata.map_or(Ok(()), |metadata| file.set_permissions(metadata.permissions()))?;
        file.sync_all()
    });
    if let Err(error) = written {
        let _ = fs::remove_file(&new);
        return Err(error);
    }
    Ok((new, target))
}

/// Opens an existing file to append to it.
///
/// # Errors
/// As [`write()`], and if the file is a symbolic link.
pub fn append(folder: &Path, path: &str) -> io::Result<File> {
    let target = resolve(folder, path)?;
    if fs::symlink_metadata(&target)?.is_file() {
        return File::options().append(true).open(&target);
    }
    Err(not_followed(&target))
}

/// Removes a file and its unfinished copy if they exist, and the folders that become empty.
///
/// # Errors
/// As [`write()`].
pub fn remove(folder: &Path, path: &str) -> io::Result<()> {
    let target = resolve(folder, path)?;
    remove_if_there(&unfinished(&target))?;
    remove_if_there(&target)?;
    for parent in target.ancestors().skip(1).take_while(|parent| *parent != folder) {
        if fs::remove_dir(parent).is_err() {
            break;
        }
    }
    Ok(())
}

/// Reads a file. None if it does not exist.
///
/// # Errors
/// As [`write()`], and if the file is a symbolic link.
pub fn read(folder: &Path, path: &str) -> io::Result<Option<Vec<u8>>> {
    let target = resolve(folder, path)?;
    match fs::symlink_metadata(&target) {
        Ok(metadata) if metadata.is_file() => fs::read(&target).map(Some),
        Ok(_) => Err(not_followed(&target)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether a folder is empty, except for files that an interrupted run leaves before its first file is complete.
///
/// # Errors
/// If the folder can't be read.
pub fn is_unused(folder: &Path) -> io::Result<bool> {
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let entries = match fs::read_dir(&next) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let (name, kind) = (entry.file_name(), entry.file_type()?);
            if kind.is_dir() && next == *folder && name == ".kalypso" {
                folders.push(entry.path());
            } else if !(kind.is_file() && name.to_string_lossy().starts_with(UNFINISHED)) {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Whether a path from untrusted input stays inside its folder.
pub fn is_inside(path: &str) -> bool {
    !path.is_empty() && !Path::new(path).is_absolute() && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// Resolves a path below a folder. Fails if a component on the path is not a folder. The folder itself may be a symbolic link, because the user chose
/// it.
fn resolve(folder: &Path, path: &str) -> io::Result<PathBuf> {
    if !is_inside(path) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path leads out of the folder"));
    }
    let mut way = folder.to_owned();
    let parts: Vec<_> = path.split('/').collect();
    let (name, above) = parts.split_last().unwrap_or((&path, &[]));
    for part in above {
        way.push(part);
        match fs::symlink_metadata(&way) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => return Err(not_followed(&way)),
            // Below a path that does not exist there are no further components to check.
            Err(error) if error.kind() == io::ErrorKind::NotFound => break,
            Err(error) => return Err(error),
        }
    }
    let mut target = folder.to_owned();
    target.extend(above);
    target.push(name);
    Ok(target)
}

fn not_followed(path: &Path) -> io::Error {
    let shown = path.display();
    io::Error::new(
        io::ErrorKind::NotADirectory,
        format!("`{shown}` is a symbolic link or a file in the way of a folder: remove it"),
    )
}

/// Whether a path is a regular file with this content.
fn holds(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() && metadata.len() == bytes.len() as u64 => Ok(fs::read(path)? == bytes),
        Ok(_) => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The path of the unfinished copy of a file, before it is renamed.
fn unfinished(path: &Path) -> PathBuf {
    let mut name = OsString::from(UNFINISHED);
    name.push(path.file_name().unwrap_or_default());
    path.with_file_name(name)
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn links_in_the_path_are_not_followed() {
        let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(elsewhere.path(), folder.path().join("west")).unwrap();
        fs::write(elsewhere.path().join("README.md"), "theirs").unwrap();
        for done in [
            write(folder.path(), "west/README.md", b"ours"),
            write(folder.path(), "west/shop/a.yaml", b"ours"),
            remove(folder.path(), "west/README.md"),
            read(folder.path(), "west/README.md").map(drop),
        ] {
            assert!(done.unwrap_err().to_string().contains("symbolic link"));
        }
        assert_eq!(fs::read_to_string(elsewhere.path().join("README.md")).unwrap(), "theirs");
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_the_place_of_a_file_is_replaced() {
        let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let theirs = elsewhere.path().join("theirs");
        fs::write(&theirs, "same").unwrap();
        for name in ["a.yaml", ".kalypso-new-a.yaml"] {
            std::os::unix::fs::symlink(&theirs, folder.path().join(name)).unwrap();
        }
        write(folder.path(), "a.yaml", b"same").unwrap();
        assert!(fs::symlink_metadata(folder.path().join("a.yaml")).unwrap().is_file());
        write(folder.path(), "a.yaml", b"ours").unwrap();
        assert_eq!(fs::read_to_string(&theirs).unwrap(), "same");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn folder_with_only_unfinished_files_is_unused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        assert!(is_unused(path).unwrap() && is_unused(&path.join("missing")).unwrap());
        fs::create_dir(path.join(".kalypso")).unwrap();
        fs::write(path.join(".kalypso/.kalypso-new-running"), "{").unwrap();
        assert!(is_unused(path).unwrap());
        fs::write(path.join(".kalypso/mine"), "").unwrap();
        assert!(!is_unused(path).unwrap());
    }

    #[test]
    fn no_file_is_replaced_if_one_can_not_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        fs::write(path.join("a.yaml"), "old").unwrap();
        fs::write(path.join("b"), "a file").unwrap();
        assert!(replace_all(path, &[("a.yaml", Some(b"new")), ("b/c.yaml", Some(b"new"))]).is_err());
        assert_eq!(fs::read_to_string(path.join("a.yaml")).unwrap(), "old");
        // What an interrupted run leaves is replaced, and is not read as YAML.
        fs::write(path.join(".kalypso-new-a.yaml~"), "half").unwrap();
        assert!(!model::read::is_read(".kalypso-new-a.yaml~"));
        replace_all(path, &[("a.yaml", Some(b"new")), ("c/d.yaml", Some(b"new")), ("b", None)]).unwrap();
        let mut names: Vec<_> = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["a.yaml", "c"]);
    }

    #[test]
    fn paths_out_of_the_folder_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["../a", "a/../../b", "/a", "", "a//b", "./a"] {
            assert!(write(folder.path(), path, b"").is_err(), "{path}");
        }
    }
}
