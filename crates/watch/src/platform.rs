//! Reads Kalypso's own layout: the folders of places, and the folders of assignments in them.

use engine::layout::Folder;
use engine::layout::own_files::OWNER_FILE;
use engine::plan::{FolderChanges, PlaceFolder};
use git::{FileContent, Repositories, RepositoryError};
use hub_api::publication::{DesiredPlace, Role};
use model::tree::{Open, OpenError, Tree};

use crate::WatchedBranch;
use crate::opened_commit::OpenedCommit;

/// The maximum size of an owner file, in bytes.
const OWNER_BYTES_MAX: u64 = 4096;

/// The differences in the folder of the output, and in the rest of the branch.
pub(crate) fn changes(
    before: &Tree,
    after: &Tree,
    (folder, open): (&Folder, &Open<'_>),
) -> Result<FolderChanges, OpenError> {
    let path = folder.as_str();
    if path.is_empty() {
        return engine::plan::folder_changes(before.clone(), after.clone(), open);
    }
    let inside = |tree: &Tree| Ok(tree.folder(path, open)?.unwrap_or_default());
    let mut changes = engine::plan::folder_changes(inside(before)?, inside(after)?, open)?;
    (changes.before, changes.after) = (before.clone(), after.clone());
    changes.before.remove(path, open)?;
    changes.after.remove(path, open)?;
    Ok(changes)
}

/// The places of changed folders. A place of a deleted folder has no tree.
pub(crate) fn places(
    changes: &[PlaceFolder],
    (folder, environment): (&Folder, Option<&str>),
    open: &Open<'_>,
) -> Result<Vec<DesiredPlace>, OpenError> {
    let mut places = Vec::new();
    for changed in changes {
        places.extend(changed.parts(open)?.into_iter().map(|part| DesiredPlace {
            path: folder.join(&part.path),
            tree: part.folder.map(|folder| folder.id().to_string()),
            role: Role::Platform,
            environment: environment.map(str::to_owned),
            cluster_type: Some(part.place.to_string()),
            cluster: None,
            earlier_names: Vec::new(),
            config_version: None,
            targets: Vec::new(),
        }));
    }
    Ok(places)
}

/// The environment of Kalypso's output in a branch: from the configuration, or else the owner file, or else the trailer of the commit. None if none of them
/// names it.
pub(crate) fn environment(
    repositories: &dyn Repositories,
    branch: &WatchedBranch,
    opened: &OpenedCommit,
) -> Result<Option<String>, RepositoryError> {
    if branch.environment.is_some() {
        return Ok(branch.environment.clone());
    }
    let open = git::opener(repositories, &opened.commit);
    let owner = opened.tree.file(&branch.folder.join(OWNER_FILE), &open).ok().flatten();
    if let Some(owner) = owner
        && let FileContent::Bytes(text) = repositories.content(&opened.commit, owner.blob.id(), OWNER_BYTES_MAX)?
    {
        let text = String::from_utf8_lossy(&text);
        if let Some(name) = text.lines().find_map(|line| line.strip_prefix("environment:")) {
            return Ok(Some(name.trim().to_owned()).filter(|name| !name.is_empty()));
        }
    }
    let trailers = git::trailer::trailers(&opened.message, git::trailer::ENVIRONMENT);
    Ok(trailers.first().map(|name| (*name).to_owned()).filter(|name| !name.is_empty()))
}
