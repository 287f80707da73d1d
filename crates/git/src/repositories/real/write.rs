//! Puts the objects of a commit into a repository, as far as they are not there.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::sync::Arc;

use gix::objs::{Kind, Write as _};
use model::git_id::GitId;
use model::tree::{Blob, Entry, Mode, Tree};
use rayon::prelude::*;

use super::pack::{NewObject, pack};
use super::{GitRepositories, Opened, Remote};
use crate::repositories::object::{commit_object, encode, from_gix, object_id, to_gix, tree_objects};
use crate::repositories::{NewCommit, RepositoryError};
use crate::url::RepositoryUrl;

/// From so many objects on, starting git costs less than making a file for each.
const PACK_FROM: usize = 64;

impl GitRepositories {
    /// Puts a commit and all that it consists of into the copy of a repository.
    pub(super) fn write(
        &self,
        remote: &Remote,
        opened: &Opened,
        commit: &NewCommit<'_>,
    ) -> Result<GitId, RepositoryError> {
        let (id, objects) = new_objects(opened, &remote.name, commit)?;
        if objects.len() < PACK_FROM {
            let failed = |error: gix::Error| damaged(&remote.name, error.to_string());
            let repository = opened.to_thread_local();
            // Blobs first, the commit last: so whatever is there is complete.
            for NewObject { id, kind, bytes } in objects {
                repository.objects.write_buf_with_known_id(kind, &bytes, id).map_err(failed)?;
            }
        } else {
            self.write_pack(remote, &objects)?;
        }
        Ok(id)
    }

    fn write_pack(&self, remote: &Remote, objects: &[NewObject]) -> Result<(), RepositoryError> {
        let path = remote.copy.git_dir().join("new-objects.pack");
        let failed = |error: std::io::Error| RepositoryError::Cache { path: path.clone(), reason: error.to_string() };
        fs::write(&path, pack(objects).map_err(failed)?).map_err(failed)?;
        let file = File::open(&path).map_err(failed)?;
        let failure = self.run(remote, &["index-pack", "--stdin"], Some(&file))?.failure;
        fs::remove_file(&path).map_err(failed)?;
        failure.map_or(Ok(()), |reason| Err(damaged(&remote.name, reason)))
    }
}

/// The id of a commit, and the objects of it that the repository lacks: blobs, then trees from the deepest up, then the commit.
fn new_objects(
    opened: &Opened,
    url: &RepositoryUrl,
    commit: &NewCommit<'_>,
) -> Result<(GitId, Vec<NewObject>), RepositoryError> {
    // Looking for new packs at every object that is not there would take longer than writing it.
    let at_hand = || {
        let mut repository = opened.to_thread_local();
        repository.objects.refresh_never();
        repository
    };
    let trees = missing_trees(&at_hand(), commit.tree);
    let folders: BTreeSet<&str> = trees.iter().map(|(folder, _)| folder.as_str()).collect();
    let in_them = |path: &str| folders.contains(path.rsplit_once('/').map_or("", |(folder, _)| folder));
    let entries: Vec<_> = commit.tree.iter().filter(|(path, _)| in_them(path)).collect();
    let new_blob = |repository: &mut gix::Repository, (path, entry): &(&Arc<str>, &Entry)| {
        let id = to_gix(entry.blob.id());
        match &entry.blob {
            _ if entry.mode == Mode::Submodule || repository.has_object(id) => Ok(None),
            Blob::Bytes(bytes) => Ok(Some(NewObject { id, kind: Kind::Blob, bytes: Arc::clone(bytes) })),
            // It may have come after we looked last.
            Blob::Existing(_) if opened.to_thread_local().has_object(id) => Ok(None),
            Blob::Existing(blob) => {
                Err(RepositoryError::NoBlob { url: url.clone(), path: path.to_string(), blob: *blob })
            }
        }
    };
    let blobs: Vec<_> = entries.par_iter().map_init(at_hand, new_blob).collect::<Result<_, _>>()?;
    let (mut seen, mut objects) = (BTreeSet::new(), Vec::new());
    objects.extend(blobs.into_iter().flatten().filter(|blob| seen.insert(blob.id)));
    objects.extend(trees.into_iter().map(|(_, tree)| tree).filter(|tree| seen.insert(tree.id)));
    let commit = new_object(Kind::Commit, encode(&commit_object(commit)));
    let id = from_gix(&commit.id).ok_or_else(|| damaged(url, "it is not a SHA-1 repository".to_owned()))?;
    objects.push(commit);
    Ok((id, objects))
}

/// The trees that are not there, with the paths of their folders.
fn missing_trees(repository: &gix::Repository, tree: &Tree) -> Vec<(String, NewObject)> {
    let trees = tree_objects(tree).into_iter().map(|(folder, tree)| (folder, new_object(Kind::Tree, encode(&tree))));
    trees.filter(|(_, tree)| !repository.has_object(tree.id)).collect()
}

fn new_object(kind: Kind, bytes: Vec<u8>) -> NewObject {
    NewObject { id: object_id(kind, &bytes), kind, bytes: bytes.into() }
}

fn damaged(url: &RepositoryUrl, reason: String) -> RepositoryError {
    RepositoryError::Damaged { url: url.clone(), reason }
}
