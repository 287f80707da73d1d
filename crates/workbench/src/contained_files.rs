//! Files below a folder. A file is written completely or not at all, and never through a symbolic link below this folder.
//!
//! Each folder on the way is opened in the one above it, so that a link can't take the place of a folder between a check and its use.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions};

/// The prefix of a file's name while the file is written.
const UNFINISHED: &str = ".kalypso-new-";

/// Writes a file completely or not at all. A symbolic link at this path is replaced, not followed.
///
/// # Errors
/// If a folder on the path is a symbolic link or a file, or if an operation of the file system fails.
pub fn write(folder: &Path, path: &str, bytes: &[u8]) -> io::Result<()> {
    let place = Place::create(folder, path)?;
    if place.holds(bytes) {
        return Ok(());
    }
    place.write(bytes)
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
    let rename = |(place, new): &(Place<'_>, OsString)| place.parent.rename(new, &place.parent, place.name);
    let placed = result.and_then(|()| staged.iter().try_for_each(rename));
    if placed.is_err() {
        staged.iter().for_each(|(place, new)| drop(place.parent.remove_file(new)));
    }
    placed?;
    files.iter().filter(|(_, bytes)| bytes.is_none()).try_for_each(|(path, _)| remove(folder, path))
}

/// Writes the new content of a file beside it. Returns the place of the file, and the name of this copy.
fn stage<'p>(folder: &Path, path: &'p str, bytes: &[u8]) -> io::Result<(Place<'p>, OsString)> {
    let place = Place::create(folder, path)?;
    let metadata = place.metadata()?;
    let mut new = unfinished(place.name);
    // Files with this ending are not read as YAML.
    new.push("~");
    remove_if_there(&place.parent, &new)?;
    let mut file = place.create_new(&new)?;
    let written = file.write_all(bytes).and_then(|()| {
        metadata.map_or(Ok(()), |metadata| file.set_permissions(metadata.permissions()))?;
        file.sync_all()
    });
    if let Err(error) = written {
        let _ = place.parent.remove_file(&new);
        return Err(error);
    }
    Ok((place, new))
}

/// Opens an existing file to append to it.
///
/// # Errors
/// As [`write()`], and if the file is a symbolic link.
pub fn append(folder: &Path, path: &str) -> io::Result<fs::File> {
    let place = Place::find(folder, path)?.ok_or(io::ErrorKind::NotFound)?;
    place.metadata()?;
    let mut options = OpenOptions::new();
    place.parent.open_with(place.name, options.append(true).follow(FollowSymlinks::No)).map(File::into_std)
}

/// Removes a file and its unfinished copy if they exist, and the folders that become empty.
///
/// # Errors
/// As [`write()`].
pub fn remove(folder: &Path, path: &str) -> io::Result<()> {
    let Some(place) = Place::find(folder, path)? else { return Ok(()) };
    remove_if_there(&place.parent, &unfinished(place.name))?;
    remove_if_there(&place.parent, place.name.as_ref())?;
    let mut above = path;
    while let Some((parent, _)) = above.rsplit_once('/') {
        let Some(empty) = Place::find(folder, parent)? else { break };
        if empty.parent.remove_dir(empty.name).is_err() {
            break;
        }
        above = parent;
    }
    Ok(())
}

/// Reads a file. None if it does not exist.
///
/// # Errors
/// As [`write()`], and if the file is a symbolic link.
pub fn read(folder: &Path, path: &str) -> io::Result<Option<Vec<u8>>> {
    Place::find(folder, path)?.map_or(Ok(None), |place| place.read())
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

/// The place of a file: the open folder that contains it, and its name.
struct Place<'p> {
    parent: Dir,
    name: &'p str,
    /// The whole path, for messages.
    shown: String,
}

impl<'p> Place<'p> {
    /// The place of a path below a folder. None if a folder on the way is missing. The folder itself may be a symbolic link, because the user chose it.
    fn find(folder: &Path, path: &'p str) -> io::Result<Option<Self>> {
        match Self::open(folder, path, false) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            place => place.map(Some),
        }
    }

    /// The same, and makes the folders that are missing.
    fn create(folder: &Path, path: &'p str) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        Self::open(folder, path, true)
    }

    fn open(folder: &Path, path: &'p str, creates: bool) -> io::Result<Self> {
        if !is_inside(path) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path leads out of the folder"));
        }
        let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
        let mut parent = Dir::open_ambient_dir(folder, ambient_authority())?;
        let mut shown = folder.to_owned();
        for part in above.split('/').filter(|part| !part.is_empty()) {
            shown.push(part);
            match creates.then(|| parent.create_dir(part)) {
                Some(Err(error)) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
            parent = match parent.open_dir_nofollow(part) {
                Err(_) if parent.symlink_metadata(part).is_ok_and(|found| !found.is_dir()) => {
                    return Err(not_followed(&shown));
                }
                opened => opened?,
            };
        }
        Ok(Self { parent, name, shown: shown.join(name).display().to_string() })
    }

    /// None if there is no file. A symbolic link or a folder is an error.
    fn metadata(&self) -> io::Result<Option<Metadata>> {
        match self.parent.symlink_metadata(self.name) {
            Ok(metadata) if metadata.is_file() => Ok(Some(metadata)),
            Ok(_) => Err(not_followed(self.shown.as_ref())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn read(&self) -> io::Result<Option<Vec<u8>>> {
        if self.metadata()?.is_none() {
            return Ok(None);
        }
        let mut options = OpenOptions::new();
        let mut file = self.parent.open_with(self.name, options.read(true).follow(FollowSymlinks::No))?;
        let mut content = Vec::new();
        file.read_to_end(&mut content)?;
        Ok(Some(content))
    }

    /// Whether there is a regular file with this content. False if it can't be read.
    fn holds(&self, bytes: &[u8]) -> bool {
        let metadata = self.parent.symlink_metadata(self.name);
        metadata.is_ok_and(|metadata| metadata.is_file() && metadata.len() == bytes.len() as u64)
            && self.read().is_ok_and(|content| content.is_some_and(|content| content == bytes))
    }

    /// Writes the file completely or not at all. A symbolic link is replaced.
    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let new = unfinished(self.name);
        // A file or link with this name is left from an earlier run, or is an attempt to redirect the write. It is removed.
        remove_if_there(&self.parent, &new)?;
        let written = self.create_new(&new).and_then(|mut file| file.write_all(bytes));
        let placed = written.and_then(|()| self.parent.rename(&new, &self.parent, self.name));
        if placed.is_err() {
            let _ = self.parent.remove_file(&new);
        }
        placed
    }

    /// Creates a file beside this one.
    fn create_new(&self, name: &OsString) -> io::Result<File> {
        self.parent.open_with(name, OpenOptions::new().write(true).create_new(true))
    }
}

fn not_followed(path: &Path) -> io::Error {
    let shown = path.display();
    io::Error::new(
        io::ErrorKind::NotADirectory,
        format!("`{shown}` is a symbolic link or a file in the way of a folder: remove it"),
    )
}

/// The name of the unfinished copy of a file, before it is renamed.
fn unfinished(name: &str) -> OsString {
    format!("{UNFINISHED}{name}").into()
}

fn remove_if_there(folder: &Dir, name: &OsStr) -> io::Result<()> {
    match folder.remove_file(name) {
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
    fn a_link_that_takes_the_place_of_an_open_folder_is_not_followed() {
        let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let west = folder.path().join("west");
        let place = Place::create(folder.path(), "west/a.yaml").unwrap();
        fs::rename(&west, folder.path().join("moved")).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), &west).unwrap();
        place.write(b"ours").unwrap();
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
        assert_eq!(fs::read_to_string(folder.path().join("moved/a.yaml")).unwrap(), "ours");
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
