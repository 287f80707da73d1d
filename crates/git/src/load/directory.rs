//! Loads a plain directory as one environment, without git and history.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::git_id::GitId;
use model::name::EnvironmentName;
use model::progress::Progress;
use rayon::prelude::*;

use super::LoadedFiles;
use super::assembly::Assembly;
use super::destinations::Sources;
use super::place::{RawContent, RawFile};
use crate::budget::Budget;
use crate::edits::Edits;
use crate::limits::{FILE_BYTES_MAX, IGNORE_BYTES_MAX, PLATFORM};
use crate::publications::NO_RELEASES;
use crate::repositories::{EntryKind, FolderEntry};
use crate::walk::{self, Folders, PathError};

/// The reason why a directory can't be read.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// A folder can't be listed.
    #[error("folder `{}` can't be read: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The directory does not exist, or exceeds a limit.
    #[error("directory `{}` can't be read: {reason}", path.display())]
    Path {
        /// The directory.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
}

/// A directory that is loaded as one environment.
#[derive(Clone, Copy, Debug)]
pub struct Directory<'a> {
    /// The path of the directory.
    pub path: &'a Path,
    /// Uncommitted changes, which replace the content of files.
    pub edits: &'a Edits,
    /// Counts the read files.
    pub progress: &'a Progress,
}

/// Reads every YAML file of a directory as one environment. References to repositories are not followed.
///
/// # Errors
/// If the directory or a folder in it can't be listed. A file that can't be read is a diagnostic instead.
pub fn read_directory(directory: Directory<'_>, environment: &EnvironmentName) -> Result<LoadedFiles, DirectoryError> {
    let Directory { path: directory, edits, progress } = directory;
    let budget = Budget::new(PLATFORM);
    let found = walk::walk(&PlainFolders(directory, edits), "", &budget).map_err(|error| match error {
        PlainError::Folder(path, source) => DirectoryError::Folder { path, source },
        PlainError::Path(reason) => DirectoryError::Path { path: directory.to_owned(), reason: reason.to_string() },
    })?;
    let files = found.files.into_par_iter().map(|found| {
        let content = match found.entry.kind {
            EntryKind::File => match edits.get(&found.path) {
                Some(Some(bytes)) => RawContent::Bytes(Arc::clone(bytes)),
                _ => read(&directory.join(&found.path)),
            },
            _ => RawContent::NotAFile,
        };
        let id = match &content {
            RawContent::Bytes(bytes) => GitId::of_blob(bytes),
            _ => found.entry.id,
        };
        RawFile { path: found.path.into(), id, content }
    });
    let mut assembly = Assembly::new(progress, None);
    assembly.add_plain(files.collect());
    if assembly.is_complete && assembly.platform_objects().next().is_none() {
        assembly.report_empty(environment);
    }
    assembly.check_destinations(&Sources { main: None, rewrite: &[] }, environment);
    Ok(assembly.finish(environment.clone(), &NO_RELEASES))
}

fn read(path: &Path) -> RawContent {
    let read = || {
        let file = fs::File::open(path)?;
        let size = file.metadata()?.len();
        if size > FILE_BYTES_MAX {
            return Ok(RawContent::TooLarge(size));
        }
        let mut bytes = Vec::new();
        // The file may grow while it is read.
        file.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(RawContent::Bytes(bytes.into()))
    };
    read().unwrap_or_else(|error: io::Error| RawContent::Unreadable(error.to_string()))
}

struct PlainFolders<'a>(&'a Path, &'a Edits);

enum PlainError {
    Folder(PathBuf, io::Error),
    Path(PathError),
}

impl From<PathError> for PlainError {
    fn from(error: PathError) -> Self {
        Self::Path(error)
    }
}

impl Folders for PlainFolders<'_> {
    type Error = PlainError;

    fn folder(&self, path: &str, _: Option<GitId>) -> Result<Option<Vec<FolderEntry>>, PlainError> {
        let folder = self.0.join(path);
        let fail = |error: io::Error| PlainError::Folder(folder.clone(), error);
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(self.1.folder(path, None)),
            other => other.map_err(fail)?,
        };
        let entries = entries.map(|entry| entry.and_then(|entry| folder_entry(&entry)).map_err(fail));
        let mut entries: Vec<_> = entries.collect::<Result<_, _>>()?;
        entries.sort();
        Ok(self.1.folder(path, Some(entries)))
    }

    fn ignore_lines(&self, path: &str, _: &FolderEntry) -> Result<String, PlainError> {
        if let Some(Some(bytes)) = self.1.get(path) {
            return Ok(String::from_utf8_lossy(bytes).into_owned());
        }
        let path = self.0.join(path);
        let read = || {
            let mut bytes = Vec::new();
            fs::File::open(&path)?.take(IGNORE_BYTES_MAX).read_to_end(&mut bytes)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        read().map_err(|error| PlainError::Folder(path.clone(), error))
    }
}

/// Pipes, sockets and devices are treated like links: they are not read.
fn folder_entry(entry: &fs::DirEntry) -> io::Result<FolderEntry> {
    let kind = entry.file_type()?;
    let kind = match () {
        () if kind.is_dir() => EntryKind::Folder,
        () if kind.is_file() => EntryKind::File,
        () => EntryKind::Link,
    };
    Ok(FolderEntry { name: entry.file_name().to_string_lossy().into_owned(), kind, id: GitId::of_blob(b"") })
}
