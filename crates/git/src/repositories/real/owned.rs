//! Pushing into a repository of this machine runs git there, with that repository's settings and hooks.

use std::fs;
use std::path::Path;

use super::Opened;
use crate::repositories::RepositoryError;
use crate::trust::{self, Distrust};
use crate::url::RepositoryUrl;

/// Makes sure that what a push would run there is this user's own: the repository, its settings and hooks, and that nobody can put others in their
/// place. Who shares a repository with others lets them reach it over ssh or https, where it runs as somebody else.
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

/// Looks at a part, and at what it leads to if it is a link. What is not there runs nothing.
fn check_part(path: &Path) -> Result<(), Distrust> {
    let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(()) };
    if metadata.is_symlink() {
        return Err(Distrust::Link(path.to_owned()));
    }
    trust::check(path, &metadata, trust::Part::Own)
}
