//! Reads the files of one place: a path at a commit.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use model::fleet::Role;
use model::git_id::GitId;
use model::source::Source;
use rayon::prelude::*;

use super::ReadRole;
use crate::limits::{FILE_BYTES_MAX, IGNORE_BYTES_MAX, TOTAL_BYTES_MAX};
use crate::repositories::{Commit, Content, Item, ItemKind, Repositories, RepositoryError, Revision};
use crate::url::RepositoryUrl;
use crate::walk::{self, Folders, Found, PathError};

/// A path at a revision, with who refers to it.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) url: RepositoryUrl,
    pub(super) revision: Revision,
    pub(super) path: Arc<str>,
    pub(super) role: ReadRole,
}

impl Place {
    /// Who wrote what is there.
    pub(super) fn author(&self) -> Role {
        match &self.role {
            ReadRole::Application(registration) => Role::Application(registration.clone()),
            _ => Role::Platform,
        }
    }
}

/// Why a place can't be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum PlaceError {
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    #[error(transparent)]
    Path(#[from] PathError),
    #[error("its YAML files are larger than {} MiB together", TOTAL_BYTES_MAX >> 20)]
    TooLarge,
}

/// The files of a place.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    pub(super) commit: Commit,
    pub(super) source: Arc<Source>,
    pub(super) files: Vec<RawFile>,
}

/// A file before anybody looked into it.
#[derive(Clone, Debug)]
pub(super) struct RawFile {
    pub(super) path: Arc<str>,
    pub(super) id: GitId,
    pub(super) content: RawContent,
}

/// What is known of a file's content.
#[derive(Clone, Debug)]
pub(super) enum RawContent {
    Bytes(Arc<[u8]>),
    /// Beyond the limit, with so many bytes.
    TooLarge(u64),
    /// A symbolic link or submodule.
    NotAFile,
    /// The operating system does not give it out.
    Unreadable(String),
}

/// Reads the files at and below a path of a commit.
pub(super) fn snapshot(repositories: &dyn Repositories, commit: Commit, path: &str) -> Result<Snapshot, PlaceError> {
    let found = walk::walk(&CommitFolders { repositories, commit: &commit }, path)?;
    let total = AtomicU64::new(0);
    let read = |Found { path, item }| {
        let content = match item.kind {
            ItemKind::File => content(repositories, &commit, item.id)?,
            _ => RawContent::NotAFile,
        };
        let bytes = if let RawContent::Bytes(bytes) = &content { bytes.len() as u64 } else { 0 };
        if total.fetch_add(bytes, Ordering::Relaxed) + bytes > TOTAL_BYTES_MAX {
            return Err(PlaceError::TooLarge);
        }
        Ok(RawFile { path: path.into(), id: item.id, content })
    };
    let files = found.into_par_iter().map(read).collect::<Result<_, _>>()?;
    let source = source(&commit);
    Ok(Snapshot { commit, source, files })
}

/// The content of a file, if it is not too large to be read as YAML.
pub(super) fn content(
    repositories: &dyn Repositories,
    commit: &Commit,
    blob: GitId,
) -> Result<RawContent, RepositoryError> {
    Ok(match repositories.content(commit, blob, FILE_BYTES_MAX)? {
        Content::Bytes(bytes) => RawContent::Bytes(bytes),
        Content::TooLarge(size) => RawContent::TooLarge(size),
    })
}

/// How messages name a commit.
pub(super) fn source(commit: &Commit) -> Arc<Source> {
    Arc::new(Source {
        label: commit.url.label(),
        url: commit.url.as_str().into(),
        revision: commit.revision.name(),
        commit: Some(commit.id),
    })
}

struct CommitFolders<'a> {
    repositories: &'a dyn Repositories,
    commit: &'a Commit,
}

impl Folders for CommitFolders<'_> {
    type Error = PlaceError;

    fn folder(&self, path: &str) -> Result<Option<Vec<Item>>, PlaceError> {
        Ok(self.repositories.folder(self.commit, path)?)
    }

    fn ignore_lines(&self, _: &str, item: &Item) -> Result<String, PlaceError> {
        Ok(match self.repositories.content(self.commit, item.id, IGNORE_BYTES_MAX)? {
            Content::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Content::TooLarge(_) => String::new(),
        })
    }
}
