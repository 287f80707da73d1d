//! Checks the owner of a local repository before a push. The push runs git there, with the settings and hooks of that repository.

use std::fs;
use std::path::Path;

use super::Opened;
use crate::repositories::RepositoryError;
use crate::trust::{self, Distrust};
use crate::url::RepositoryUrl;

/// Checks that the repository, its settings and its hooks belong to the current user, and that other users can't replace them. A repository that
/// several users share must be reached over ssh or https, where hooks run as another user.
pub(super) fn check(url: &RepositoryUrl, target: &Opened) -> Result<(), RepositoryError> {
    let target = target.to_thread_local();
    let checked = [target.git_dir(), target.common_dir()].into_iter().try_for_each(check_repository);
    checked.map_err(|reason| RepositoryError::NotOwned { url: url.clone(), reason })
}

fn check_repository(folder: &Path) -> Result<(), Distrust> {
    let real = folder.canonicalize();
    let real = real.map_err(|error| Distrust::Unusable { path: folder.to_owned(), reason: error.to_string() })?;
    trust::check_folder(&real)?;
    for name in ["config", "config.worktree", "HEAD", "hooks"] {
        check_part(&real.join(name))?;
    }
    let Ok(hooks) = fs::read_dir(real.join("hooks")) else { return Ok(()) };
    hooks.flatten().try_for_each(|hook| check_part(&hook.path()))
}

/// Checks a file or folder of the repository. A link is refused. A path that does not exist is safe.
fn check_part(path: &Path) -> Result<(), Distrust> {
    let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(()) };
    if metadata.is_symlink() {
        return Err(Distrust::Link(path.to_owned()));
    }
    trust::check(path, &metadata, trust::Part::Own)
}
