//! Writes the objects of a commit that the repository does not contain.
//!
//! The new tree is compared with that of the parent commit. Equal folders are already in the repository, and are not opened. New objects are created,
//! compressed and written in batches of some hundred folders, so that never all files or all ids are in memory.

use gix::objs::Kind;
use model::git_id::GitId;
use model::progress::{Progress, ProgressPhase};
use model::tree::{Child, Mode, Open};
use rayon::prelude::*;

use super::Opened;
use super::fetch::Work;
use super::pack::{PackFile, Packed, Packer};
use super::read::{self, Fault};
use crate::repositories::object::{commit_object, encode, from_gix, object_id, to_gix};
use crate::repositories::{NewCommit, RepositoryError};
use crate::url::RepositoryUrl;

/// The number of folders in one batch: enough to use all processors, and few enough to keep their content in memory.
const FOLDERS_AT_ONCE: usize = 512;

impl Work<'_> {
    /// Writes a commit and its new objects into the copy. Returns the id of the commit, and the number of new objects.
    pub(super) fn write(
        &self,
        commit: &NewCommit<'_>,
        progress: &Progress,
        assumption: Assumption,
    ) -> Result<(GitId, usize), RepositoryError> {
        let (remote, writing) = (self.remote, progress.begin(ProgressPhase::Writing));
        let folder = remote.copy.git_dir().join("objects");
        let failed = |error: std::io::Error| RepositoryError::Cache { path: folder.clone(), reason: error.to_string() };
        let bytes = encode(&commit_object(commit));
        let id = from_gix(&object_id(Kind::Commit, &bytes));
        let id = id.ok_or_else(|| damaged(&remote.name, "it is not a SHA-1 repository"))?;
        let mut pack = PackFile::new(&folder).map_err(failed)?;
        let walk = Walk { opened: &self.opened, url: &remote.name, open: commit.open, assumption };
        let mut folders = vec![walk.root(commit)?];
        while !folders.is_empty() {
            let batch = folders.split_off(folders.len().saturating_sub(FOLDERS_AT_ONCE));
            let count = batch.len();
            let written = |folder: &ChangedFolder| pack.has(folder.after.id());
            let batch: Vec<_> = batch.into_iter().filter(|folder| !written(folder)).collect();
            writing.advance(count - batch.len());
            let make = |worker: &mut Worker, folder| {
                let made = walk.pack_folder(worker, folder);
                writing.advance(1);
                made
            };
            let made = batch.par_iter().map_init(|| walk.worker(), make);
            for made in made.collect::<Result<Vec<_>, _>>()? {
                made.objects.iter().try_for_each(|object| pack.add(object)).map_err(failed)?;
                folders.extend(made.folders);
            }
        }
        pack.add(&Packer::new().pack(id, Kind::Commit, &bytes).map_err(failed)?).map_err(failed)?;
        let count = pack.len();
        pack.finish().map_err(failed)?;
        // An open repository has a fixed number of pack slots, so it is opened again.
        self.repositories.close(remote.copy.git_dir());
        Ok((id, count))
    }
}

/// A folder that differs from the parent commit.
struct ChangedFolder {
    path: String,
    before: Option<GitId>,
    after: Child,
}

/// The objects of a folder, and the changed folders in it.
#[derive(Default)]
struct FolderObjects {
    objects: Vec<Packed>,
    folders: Vec<ChangedFolder>,
}

/// The resources of each thread.
struct Worker {
    repository: gix::Repository,
    packer: Packer,
}

/// The assumption about the objects in a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assumption {
    /// If the repository contains a folder, it contains everything below it: the content is written before the folder, or together with it. This is
    /// false after a push that was killed while git moved its objects into place.
    Folders,
    /// Only the objects of the parent commit are present.
    Parent,
}

struct Walk<'a> {
    opened: &'a Opened,
    url: &'a RepositoryUrl,
    open: &'a Open<'a>,
    assumption: Assumption,
}

impl Walk<'_> {
    fn worker(&self) -> Worker {
        let mut repository = self.opened.to_thread_local();
        // Reloading the list of packs for every missing object would take longer than writing it.
        repository.objects.refresh_never();
        Worker { repository, packer: Packer::new() }
    }

    fn root(&self, commit: &NewCommit<'_>) -> Result<ChangedFolder, RepositoryError> {
        let repository = self.opened.to_thread_local();
        // The parent may be missing in the copy if the branch was moved. Then the push reports the lost race.
        let parent = commit.parents.first().filter(|parent| repository.has_object(to_gix(**parent)));
        let before = parent.map(|parent| read::info(&repository, *parent).map(|info| info.tree)).transpose();
        let before = before.map_err(|Fault(reason)| damaged(self.url, &reason))?;
        Ok(ChangedFolder { path: String::new(), before, after: Child::Tree(commit.tree.clone()) })
    }

    /// Creates the objects of a folder that the repository does not contain.
    fn pack_folder(&self, worker: &mut Worker, folder: &ChangedFolder) -> Result<FolderObjects, RepositoryError> {
        if self.assumption == Assumption::Folders && worker.repository.has_object(to_gix(folder.after.id())) {
            return Ok(FolderObjects::default());
        }
        let before = folder.before.map(|id| read::subtree(&worker.repository, id)).transpose();
        let before = before.map_err(|Fault(reason)| damaged(self.url, &reason))?.unwrap_or_default();
        let after = folder.after.opened(self.open);
        let after = after.map_err(|error| RepositoryError::Unopened { url: self.url.clone(), error })?;
        let after = after.unwrap_or_default();
        let failed = |error: std::io::Error| damaged(self.url, &error.to_string());
        let (packer, mut made) = (&mut worker.packer, FolderObjects::default());
        made.objects.push(packer.pack(after.id(), Kind::Tree, &after.encode()).map_err(failed)?);
        for (name, before, after) in before.changes(&after) {
            let Some(after) = after else { continue };
            let path = if folder.path.is_empty() { name.to_string() } else { format!("{}/{name}", folder.path) };
            let Child::File(entry) = after else {
                let before = before.filter(|child| child.is_folder()).map(Child::id);
                made.folders.push(ChangedFolder { path, before, after: after.clone() });
                continue;
            };
            match entry.blob.bytes() {
                _ if entry.mode == Mode::Submodule => {}
                Some(bytes) => made.objects.push(packer.pack(entry.blob.id(), Kind::Blob, bytes).map_err(failed)?),
                // The blob may have been added after the last lookup.
                None if self.opened.to_thread_local().has_object(to_gix(entry.blob.id())) => {}
                None => return Err(RepositoryError::NoBlob { url: self.url.clone(), path, blob: entry.blob.id() }),
            }
        }
        Ok(made)
    }
}

fn damaged(url: &RepositoryUrl, reason: &str) -> RepositoryError {
    RepositoryError::Damaged { url: url.clone(), reason: reason.to_owned() }
}
