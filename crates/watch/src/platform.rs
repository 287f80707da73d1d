//! Kalypso's own layout: the folders of places, and those of assignments in them.

use engine::output::{Folder, OWNER_FILE};
use engine::plan::{FolderChanges, PlaceFolder};
use git::{Content, Repositories, RepositoryError};
use hub_api::publication::{DesiredPlace, Role};
use model::tree::{Open, OpenError, Tree};

use crate::WatchedBranch;
use crate::opened_commit::OpenedCommit;

/// Bytes of an owner file.
const OWNER_BYTES_MAX: u64 = 4096;

/// What differs in the folder that output lives under, and around it.
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

/// The places of the folders that changed. Those that are gone hold nothing.
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
            config_version: None,
            targets: Vec::new(),
        }));
    }
    Ok(places)
}

/// The environment that Kalypso's output in a branch is for: as configured, as the owner file says, or as the commit does.
pub(crate) fn environment(
    repositories: &dyn Repositories,
    branch: &WatchedBranch,
    seen: &OpenedCommit,
) -> Result<Option<String>, RepositoryError> {
    if branch.environment.is_some() {
        return Ok(branch.environment.clone());
    }
    let open = git::opener(repositories, &seen.commit);
    let owner = seen.tree.file(&branch.folder.join(OWNER_FILE), &open).ok().flatten();
    if let Some(owner) = owner
        && let Content::Bytes(text) = repositories.content(&seen.commit, owner.blob.id(), OWNER_BYTES_MAX)?
    {
        let text = String::from_utf8_lossy(&text);
        if let Some(name) = text.lines().find_map(|line| line.strip_prefix("environment:")) {
            return Ok(Some(name.trim().to_owned()).filter(|name| !name.is_empty()));
        }
    }
    let said = git::trailer::trailers(&seen.message, git::trailer::ENVIRONMENT);
    Ok(said.first().map(|name| (*name).to_owned()).filter(|name| !name.is_empty()))
}
