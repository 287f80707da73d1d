//! Reads the files of one place: a path at a commit.

use std::sync::Arc;

use model::fleet::limits::Limit;
use model::fleet::{AuthorRole, Limits};
use model::git_id::GitId;
use model::read::Kustomized;
use model::source::Source;
use rayon::prelude::*;

use super::ReadRole;
use crate::budget::Budget;
use crate::limits::{APPLICATION, FILE_BYTES_MAX, IGNORE_BYTES_MAX, PLATFORM, PlaceLimits};
use crate::repositories::{
    Commit, EntryKind, FileContent, FolderEntry, KnownTree, Repositories, RepositoryError, Revision,
};
use crate::url::RepositoryUrl;
use crate::walk::{self, Folders, FoundEntry, PathError, Walked};

/// A path at a revision, with the role of the object that refers to it.
#[derive(Clone, Debug)]
pub(super) struct SourcePlace {
    pub(super) url: RepositoryUrl,
    pub(super) revision: Revision,
    pub(super) path: Arc<str>,
    pub(super) role: ReadRole,
    /// What its files may bring.
    pub(super) limits: Limits,
    /// Whether it is in the repository of the control plane.
    pub(super) is_control_plane: bool,
}

impl SourcePlace {
    /// The owner of the files: the platform or an application.
    pub(super) fn author(&self) -> AuthorRole {
        match &self.role {
            ReadRole::Application(registration) => AuthorRole::Application(registration.clone()),
            _ => AuthorRole::Platform,
        }
    }

    /// The limit of the `BaseRepo` that refers to it.
    pub(super) fn own_limit(&self) -> Option<&Limit> {
        match &self.role {
            ReadRole::Base(name) => self.limits.of_base_repo(name),
            _ => None,
        }
    }

    /// The limits for reading it.
    fn limits(&self) -> PlaceLimits {
        match self.author() {
            AuthorRole::Platform => PLATFORM,
            AuthorRole::Application(_) => APPLICATION,
        }
    }
}

/// The reason why a place can't be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum PlaceError {
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    #[error(transparent)]
    Path(#[from] PathError),
}

/// The files of a place at one commit.
#[derive(Clone, Debug)]
pub(super) struct LoadedPlace {
    pub(super) commit: Commit,
    pub(super) source: Arc<Source>,
    pub(super) files: Vec<RawFile>,
    /// Links and submodules with names that are not read, by path.
    pub(super) links: Vec<(Arc<str>, GitId)>,
    /// The folders with a `kustomization.yaml`, which Kustomize would build.
    pub(super) kustomized: Kustomized,
    /// The path itself.
    pub(super) path: Arc<str>,
    /// The rest of the budget, for earlier versions.
    pub(super) budget: Arc<Budget>,
}

impl LoadedPlace {
    /// Whether a path is a file, and not a link.
    pub(super) fn is_file(&self, path: &str) -> bool {
        let file = self.files.iter().find(|file| &*file.path == path);
        file.is_some_and(|file| !matches!(file.content, RawContent::NotAFile))
    }
}

/// A file that is not parsed yet.
#[derive(Clone, Debug)]
pub(super) struct RawFile {
    pub(super) path: Arc<str>,
    pub(super) id: GitId,
    pub(super) content: RawContent,
}

/// The content of a file, or the reason why it is not available.
#[derive(Clone, Debug)]
pub(super) enum RawContent {
    Bytes(Arc<[u8]>),
    /// The file exceeds the size limit. Its size in bytes.
    TooLarge(u64),
    /// A symbolic link or submodule.
    NotAFile,
    /// The operating system returned this error.
    Unreadable(String),
}

/// Reads the files of a place at a commit.
pub(super) fn read_place(
    repositories: &dyn Repositories,
    commit: Commit,
    place: &SourcePlace,
) -> Result<LoadedPlace, PlaceError> {
    let budget = Budget::new(place.limits());
    let Walked { files: found, links } = walk(repositories, &commit, (&place.path, &budget))?;
    let read = |FoundEntry { path, entry }| {
        let content = match entry.kind {
            EntryKind::File => content(repositories, &commit, entry.id)?,
            _ => RawContent::NotAFile,
        };
        if let RawContent::Bytes(bytes) = &content {
            budget.bytes(bytes.len() as u64).map_err(PathError::from)?;
        }
        Ok(RawFile { path: path.into(), id: entry.id, content })
    };
    let files: Vec<RawFile> = found.into_par_iter().map(read).collect::<Result<_, PlaceError>>()?;
    let source = source(&commit, matches!(place.revision, Revision::Commit { .. }));
    let links = links.into_iter().map(|FoundEntry { path, entry }| (path.into(), entry.id)).collect();
    let kustomized = Kustomized::from_paths(files.iter().map(|file| &*file.path));
    Ok(LoadedPlace {
        commit,
        source,
        files,
        links,
        kustomized,
        path: Arc::clone(&place.path),
        budget: Arc::new(budget),
    })
}

/// Lists the files and links at and below a path of a commit. It does not read their content.
pub(super) fn walk(
    repositories: &dyn Repositories,
    commit: &Commit,
    (path, budget): (&str, &Budget),
) -> Result<Walked, PlaceError> {
    let folders = CommitFolders { repositories, commit, folder_bytes: budget.folder_bytes() };
    walk::walk(&folders, path, budget)
}

/// Reads the content of a file, if it is not too large to be read as YAML.
pub(super) fn content(
    repositories: &dyn Repositories,
    commit: &Commit,
    blob: GitId,
) -> Result<RawContent, RepositoryError> {
    Ok(match repositories.content(commit, blob, FILE_BYTES_MAX)? {
        FileContent::Bytes(bytes) => RawContent::Bytes(bytes),
        FileContent::TooLarge(size) => RawContent::TooLarge(size),
    })
}

/// The commit as messages name it. `is_pinned`: the object names the commit itself, independent of the current head of a branch.
pub(super) fn source(commit: &Commit, is_pinned: bool) -> Arc<Source> {
    Arc::new(Source {
        label: commit.url.label(),
        url: commit.url.as_str().into(),
        revision: commit.revision.name(),
        commit: Some(commit.id),
        is_pinned,
    })
}

struct CommitFolders<'a> {
    repositories: &'a dyn Repositories,
    commit: &'a Commit,
    /// The maximum size of the tree object of one folder, in bytes.
    folder_bytes: u64,
}

impl Folders for CommitFolders<'_> {
    type Error = PlaceError;

    fn folder(&self, path: &str, id: Option<GitId>) -> Result<Option<Vec<FolderEntry>>, PlaceError> {
        let id = id.map_or_else(|| Ok(self.repositories.info(self.commit)?.tree), Ok::<_, PlaceError>)?;
        let tree = KnownTree { id, limit: self.folder_bytes };
        Ok(self.repositories.known_folder(self.commit, path, tree)?)
    }

    fn ignore_lines(&self, _: &str, entry: &FolderEntry) -> Result<String, PlaceError> {
        Ok(match self.repositories.content(self.commit, entry.id, IGNORE_BYTES_MAX)? {
            FileContent::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            FileContent::TooLarge(_) => String::new(),
        })
    }
}
