//! Finds the working trees of a repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::operation::Operation;
use super::{Checkout, CheckoutError, CheckoutHead};
use crate::object_format;
use crate::repositories::{gix_id, open_options};
use crate::settings::{Location, Settings, candidates};
use crate::url::{RepositoryUrl, host_and_path};

/// The working trees of a repository, if it is the one with this URL, or a clone of it. Empty if the folder belongs to another repository, or if it has
/// no working tree.
///
/// `folder` is any folder with a repository: a working tree, a linked one, or a bare repository. Working trees whose folder is gone are left out.
///
/// # Errors
/// If the folder contains no repository that can be read.
pub fn checkouts(settings: &Settings, url: &RepositoryUrl, folder: &Path) -> Result<Vec<Checkout>, CheckoutError> {
    let failed = |reason: String| CheckoutError::Repository { path: folder.to_owned(), reason };
    if let Some(format) = object_format::of_folder(folder) {
        return Err(failed(format!("its object format is `{format}`; {}", object_format::ADVICE)));
    }
    let found = gix::open_opts(folder, open_options()).map_err(|error| failed(error.to_string()))?;
    let main = found.main_repo().map_err(|error| failed(error.to_string()))?;
    if !is_repository(settings, url, &main) {
        return Ok(Vec::new());
    }
    let mut checkouts: Vec<_> = main.workdir().and_then(|root| checkout(root, &main)).into_iter().collect();
    let linked = main.worktrees().map_err(|error| failed(error.to_string()))?;
    for proxy in linked {
        let Ok(root) = proxy.base() else { continue };
        let Ok(opened) = gix::open_opts(&root, open_options()) else { continue };
        checkouts.extend(checkout(&root, &opened));
    }
    Ok(checkouts)
}

/// The working tree with this root.
///
/// # Errors
/// If the folder contains no repository that can be read, or no working tree.
pub fn checkout_at(root: &Path) -> Result<Checkout, CheckoutError> {
    let failed = |reason: String| CheckoutError::Repository { path: root.to_owned(), reason };
    let found = gix::open_opts(root, open_options()).map_err(|error| failed(error.to_string()))?;
    checkout(root, &found).ok_or_else(|| failed("it has no working tree".to_owned()))
}

/// The folder of a repository on this machine. None if the URL leads to another machine.
pub fn local_folder(settings: &Settings, url: &RepositoryUrl) -> Option<PathBuf> {
    match settings.locate(url).ok()? {
        Location::Local(path) => candidates(&path).into_iter().find(|path| path.is_dir()),
        Location::Remote { .. } => None,
    }
}

/// The URL of the remote `origin` of a repository. None if it has none.
pub fn origin(folder: &Path) -> Option<String> {
    let repository = gix::open_opts(folder, open_options()).ok()?;
    let snapshot = repository.config_snapshot();
    let mut sections = snapshot.sections_by_name("remote").into_iter().flatten();
    let section = sections.find(|section| section.header().subsection_name().is_some_and(|name| name == "origin"))?;
    section.value("url").map(|url| url.to_string())
}

/// The root folder of the repository that contains a folder: the nearest one with `.git`.
pub fn repository_above(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|above| above.join(".git").exists())
}

fn checkout(root: &Path, repository: &gix::Repository) -> Option<Checkout> {
    let root = fs::canonicalize(root).ok()?;
    let git_dir = fs::canonicalize(repository.git_dir()).ok()?;
    let id = repository.head_id().ok().and_then(|id| gix_id(&id));
    let branch = repository.head_name().ok().flatten();
    let branch = branch.and_then(|name| Some(Arc::from(name.as_bstr().to_string().strip_prefix("refs/heads/")?)));
    let head = branch.map_or(CheckoutHead::Detached(id), |branch| CheckoutHead::Branch(branch, id));
    let operation = Operation::from_git_dir(&git_dir);
    Some(Checkout { root, head, operation })
}

/// Whether a repository is the one with a URL, or a clone of it.
fn is_repository(settings: &Settings, url: &RepositoryUrl, repository: &gix::Repository) -> bool {
    let real = |path: &Path| fs::canonicalize(path).ok();
    let wanted = local_folder(settings, url).and_then(|folder| gix::open_opts(folder, open_options()).ok());
    let wanted = wanted.and_then(|wanted| real(wanted.common_dir()));
    if wanted.is_some() && wanted == real(repository.common_dir()) {
        return true;
    }
    let names = [Some(url.as_str().to_owned()), rewritten(settings, url)];
    let names: Vec<_> = names.into_iter().flatten().filter_map(|text| host_and_path(&text)).collect();
    remotes(repository).iter().any(|remote| {
        let folder = repository.workdir().unwrap_or(repository.git_dir()).join(remote.trim_start_matches("file://"));
        let is_wanted = |folder: &PathBuf| {
            let opened = gix::open_opts(folder, open_options()).ok();
            wanted.is_some() && opened.and_then(|opened| real(opened.common_dir())) == wanted
        };
        host_and_path(remote).is_some_and(|name| names.contains(&name)) || candidates(&folder).iter().any(is_wanted)
    })
}

fn rewritten(settings: &Settings, url: &RepositoryUrl) -> Option<String> {
    match settings.locate(url).ok()? {
        Location::Remote { url, .. } => Some(url),
        Location::Local(_) => None,
    }
}

/// The URLs of the remotes in the repository's own configuration.
fn remotes(repository: &gix::Repository) -> Vec<String> {
    let snapshot = repository.config_snapshot();
    let sections = snapshot.sections_by_name("remote").into_iter().flatten();
    sections.flat_map(|section| section.values("url")).map(|url| url.to_string()).collect()
}
