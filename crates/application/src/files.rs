//! Sets of files: a folder of a working tree, a folder of a commit, or an archive.

mod archive;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use git::{Commit, EntryKind, FileContent, Repositories, RepositoryError};
use model::git_id::GitId;
use model::source::{File, Source};

use crate::limits::{FILES_BYTES_MAX, FILES_MAX, FOLDER_DEPTH_MAX};

/// The files below a folder, by their paths from that folder.
#[derive(Clone, Debug, Default)]
pub struct FileSet(BTreeMap<Arc<str>, Arc<File>>);

/// The reason why a folder can't be read.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// The folder does not exist.
    #[error("there is no folder `{0}`")]
    Missing(String),
    /// A file or folder can't be read.
    #[error("`{}` can't be read: {error}", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// A link or submodule. It could lead to any file of the machine.
    #[error("`{0}` is a symbolic link or a submodule, which is not followed")]
    Link(String),
    /// The files exceed a limit.
    #[error("folder `{path}` has too much content: more than {limit}")]
    TooMuch {
        /// The folder.
        path: String,
        /// The limit.
        limit: String,
    },
    /// An archive is damaged, or it contains something that no chart needs.
    #[error("the archive can't be read: {0}")]
    Archive(String),
    /// The repository can't be read.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
}

/// A path with `/` between its parts, without `.` and empty parts. The root is the empty path. None if it leads upwards.
pub fn normalized(path: &str) -> Option<String> {
    if path.contains('\\') || path.starts_with('/') || path.chars().any(char::is_control) {
        return None;
    }
    let parts: Vec<_> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    (!parts.contains(&"..")).then(|| parts.join("/"))
}

/// Two paths, one after the other. Both may be empty.
pub(crate) fn joined(folder: &str, path: &str) -> String {
    match (folder, path) {
        ("", path) => path.to_owned(),
        (folder, "") => folder.to_owned(),
        (folder, path) => format!("{folder}/{path}"),
    }
}

impl FileSet {
    /// The files of a folder on this machine. `root` is the root of its repository, and `folder` the path from there. The folder `.git` is left out.
    ///
    /// # Errors
    /// If the folder does not exist or can't be read, if it contains a link, or if it exceeds a limit.
    pub fn of_folder(root: &Path, folder: &str, source: &Arc<Source>) -> Result<Self, FilesError> {
        let start = root.join(folder);
        match fs::symlink_metadata(&start) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(metadata) if metadata.is_symlink() => return Err(FilesError::Link(folder.to_owned())),
            _ => return Err(FilesError::Missing(folder.to_owned())),
        }
        let mut reading = Reading::new(folder);
        let mut open = vec![String::new()];
        while let Some(below) = open.pop() {
            let path = start.join(&below);
            let unreadable = |error| FilesError::Unreadable { path: path.clone(), error };
            for entry in fs::read_dir(&path).map_err(unreadable)? {
                let entry = entry.map_err(unreadable)?;
                let kind = entry.file_type().map_err(unreadable)?;
                let Ok(name) = entry.file_name().into_string() else { continue };
                let relative = joined(&below, &name);
                if kind.is_dir() && name != ".git" {
                    reading.enter(&relative)?;
                    open.push(relative);
                } else if kind.is_file() {
                    let content = read_file(&entry.path(), reading.room())?;
                    reading.add(source, relative, content)?;
                } else if kind.is_symlink() {
                    return Err(FilesError::Link(joined(folder, &relative)));
                }
            }
        }
        Ok(reading.files)
    }

    /// The files of a folder of a commit.
    ///
    /// # Errors
    /// As in [`Self::of_folder`], and if the repository can't be read.
    pub fn of_commit(repositories: &dyn Repositories, commit: &Commit, folder: &str) -> Result<Self, FilesError> {
        let source = Arc::new(source_of(commit));
        let mut reading = Reading::new(folder);
        let mut open = vec![String::new()];
        while let Some(below) = open.pop() {
            let path = joined(folder, &below);
            let entries = repositories.folder(commit, &path)?.ok_or_else(|| FilesError::Missing(path.clone()))?;
            for entry in entries {
                let relative = joined(&below, &entry.name);
                match entry.kind {
                    EntryKind::Folder => {
                        reading.enter(&relative)?;
                        open.push(relative);
                    }
                    EntryKind::File => match repositories.content(commit, entry.id, reading.room())? {
                        FileContent::Bytes(content) => reading.add(&source, relative, content)?,
                        FileContent::TooLarge(_) => return Err(reading.too_large()),
                    },
                    EntryKind::Link | EntryKind::Submodule => return Err(FilesError::Link(joined(folder, &relative))),
                }
            }
        }
        Ok(reading.files)
    }

    /// Files that exist only in memory.
    pub fn of_texts<'a>(source: &Arc<Source>, texts: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let file = |(path, text): (&str, &str)| {
            let content: Arc<[u8]> = text.as_bytes().into();
            (path.into(), Arc::new(file((source, ""), path, content)))
        };
        Self(texts.into_iter().map(file).collect())
    }

    /// The file with this path.
    pub fn get(&self, path: &str) -> Option<&Arc<File>> {
        self.0.get(path)
    }

    /// All files with their paths, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<File>)> {
        self.0.iter()
    }

    /// Replaces the content of a file.
    pub fn replace(&mut self, path: &str, content: Vec<u8>) {
        if let Some(file) = self.0.get_mut(path) {
            *file = Arc::new(File { id: GitId::of_blob(&content), content: content.into(), ..(**file).clone() });
        }
    }

    /// Adds a file. It replaces one with the same path.
    pub(crate) fn add(&mut self, path: &str, file: Arc<File>) {
        self.0.insert(path.into(), file);
    }

    /// Whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A text that is equal for sets with the same files: for digests.
    pub(crate) fn listing(&self) -> String {
        self.0.iter().map(|(path, file)| format!("{} {path}\0", file.id)).collect()
    }

    /// Writes all files below a folder, which must be empty.
    ///
    /// # Errors
    /// If the file system fails.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        for (path, file) in &self.0 {
            let path = folder.join(&**path);
            if let Some(above) = path.parent() {
                fs::create_dir_all(above)?;
            }
            fs::write(path, &file.content)?;
        }
        Ok(())
    }
}

/// The source of the files of a commit.
pub(crate) fn source_of(commit: &Commit) -> Source {
    Source {
        label: commit.url.label(),
        url: commit.url.as_str().into(),
        revision: commit.revision.name(),
        commit: Some(commit.id),
        is_pinned: matches!(commit.revision, git::Revision::Commit { .. }),
    }
}

fn file((source, folder): (&Arc<Source>, &str), path: &str, content: Arc<[u8]>) -> File {
    File { source: Arc::clone(source), path: joined(folder, path).into(), id: GitId::of_blob(&content), content }
}

/// Reads a file with at most `room` bytes, and one byte more of a larger one.
fn read_file(path: &Path, room: u64) -> Result<Arc<[u8]>, FilesError> {
    let read = || {
        let mut content = Vec::new();
        fs::File::open(path)?.take(room + 1).read_to_end(&mut content)?;
        Ok(content.into())
    };
    read().map_err(|error| FilesError::Unreadable { path: path.to_owned(), error })
}

/// A single file of a folder on this machine.
pub(crate) fn read_one(full: &Path, path: &str) -> Result<File, FilesError> {
    let content = read_file(full, FILES_BYTES_MAX)?;
    Ok(file((&Arc::new(Source::directory()), ""), path, content))
}

/// The files that were read so far.
struct Reading<'a> {
    folder: &'a str,
    files: FileSet,
    bytes: u64,
}

impl<'a> Reading<'a> {
    fn new(folder: &'a str) -> Self {
        Self { folder, files: FileSet::default(), bytes: 0 }
    }

    /// The number of bytes that may still be read.
    fn room(&self) -> u64 {
        FILES_BYTES_MAX.saturating_sub(self.bytes)
    }

    fn enter(&self, path: &str) -> Result<(), FilesError> {
        if path.split('/').count() > FOLDER_DEPTH_MAX {
            return Err(self.too_much(format!("{FOLDER_DEPTH_MAX} nested folders")));
        }
        Ok(())
    }

    fn add(&mut self, source: &Arc<Source>, path: String, content: Arc<[u8]>) -> Result<(), FilesError> {
        self.bytes += content.len() as u64;
        if self.bytes > FILES_BYTES_MAX {
            return Err(self.too_large());
        }
        if self.files.0.len() >= FILES_MAX {
            return Err(self.too_much(format!("{FILES_MAX} files")));
        }
        let file = file((source, self.folder), &path, content);
        self.files.0.insert(path.into(), Arc::new(file));
        Ok(())
    }

    fn too_large(&self) -> FilesError {
        self.too_much(format!("{} MiB", FILES_BYTES_MAX >> 20))
    }

    fn too_much(&self, limit: String) -> FilesError {
        FilesError::TooMuch { path: self.folder.to_owned(), limit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_lead_upwards_are_none() {
        for (path, expected) in
            [("./a//b/", Some("a/b")), ("", Some("")), ("a/../b", None), ("/a", None), ("a\\b", None)]
        {
            assert_eq!(normalized(path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn a_folder_is_read_without_its_repository() {
        let folder = tempfile::tempdir().unwrap();
        for path in [".git/config", "chart/Chart.yaml", "chart/templates/a.yaml", "other"] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let source = Arc::new(Source::directory());
        let paths = |of: &str| {
            let files = FileSet::of_folder(folder.path(), of, &source).unwrap();
            files.iter().map(|(path, file)| format!("{path} {}", file.path)).collect::<Vec<_>>()
        };
        assert_eq!(paths("chart"), ["Chart.yaml chart/Chart.yaml", "templates/a.yaml chart/templates/a.yaml"]);
        assert_eq!(paths("").len(), 3);
        let missing = FileSet::of_folder(folder.path(), "helm", &source).unwrap_err();
        assert_eq!(missing.to_string(), "there is no folder `helm`");
    }

    #[test]
    #[cfg(unix)]
    fn links_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("chart")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("chart/secret")).unwrap();
        let error = FileSet::of_folder(folder.path(), "chart", &Arc::new(Source::directory())).unwrap_err();
        assert_eq!(error.to_string(), "`chart/secret` is a symbolic link or a submodule, which is not followed");
    }
}
