//! The newest earlier version of a broken file that is good.

use std::sync::{Arc, OnceLock};

use model::git_id::GitId;
use model::read;
use model::source::FileId;

use super::place::{self, RawContent, RawFile, Snapshot};
use crate::limits::{HISTORY_REACHES, VERSIONS_MAX};
use crate::repositories::{Commit, ItemKind, Repositories, RepositoryError};

/// The history of one place, read only when somebody needs it.
pub(super) struct Earlier<'a> {
    repositories: &'a dyn Repositories,
    commit: &'a Commit,
    histories: [OnceLock<Result<Vec<Commit>, RepositoryError>>; HISTORY_REACHES.len()],
}

/// A good version of a file.
pub(super) struct GoodVersion {
    pub(super) commit: Commit,
    pub(super) file: RawFile,
}

impl<'a> Earlier<'a> {
    pub(super) fn of(repositories: &'a dyn Repositories, snapshot: &'a Snapshot) -> Self {
        Self { repositories, commit: &snapshot.commit, histories: Default::default() }
    }

    /// Looks for a good version of a file before the commit; none if there is none near enough.
    ///
    /// # Errors
    /// If the history can't be read.
    pub(super) fn good_version(&self, broken: &RawFile, id: FileId) -> Result<Option<GoodVersion>, RepositoryError> {
        let (mut looked_at, mut tried) = (1, vec![broken.id]);
        for (history, reach) in self.histories.iter().zip(HISTORY_REACHES) {
            let history = history.get_or_init(|| self.repositories.history(self.commit, reach));
            let history = history.as_ref().map_err(Clone::clone)?;
            for commit in history.iter().skip(looked_at) {
                let Some(file) = self.version(commit, &broken.path, &mut tried)? else { continue };
                if let RawContent::Bytes(bytes) = &file.content
                    && read::read_file(id, &file.path, bytes).is_good()
                {
                    return Ok(Some(GoodVersion { commit: commit.clone(), file }));
                }
                if tried.len() > VERSIONS_MAX {
                    return Ok(None);
                }
            }
            if history.len() < reach {
                return Ok(None);
            }
            looked_at = history.len();
        }
        Ok(None)
    }

    /// A version of a file that was not tried yet.
    fn version(
        &self,
        commit: &Commit,
        path: &Arc<str>,
        tried: &mut Vec<GitId>,
    ) -> Result<Option<RawFile>, RepositoryError> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let items = self.repositories.folder(commit, folder)?.unwrap_or_default();
        let item = items.into_iter().find(|item| item.name == name && item.kind == ItemKind::File);
        let Some(item) = item.filter(|item| !tried.contains(&item.id)) else { return Ok(None) };
        tried.push(item.id);
        let content = place::content(self.repositories, commit, item.id)?;
        Ok(Some(RawFile { path: Arc::clone(path), id: item.id, content }))
    }
}
