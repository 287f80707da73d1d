//! Checks of repositories on this machine. They are read in place, also if they belong to another user.

use std::fs;
use std::path::Path;

use crate::trust;

/// Extensions of git's repository format that do not affect how objects and references are read.
const HARMLESS_EXTENSIONS: &[&str] = &[
    "compatobjectformat",
    "noop",
    "noop-v1",
    "partialclone",
    "preciousobjects",
    "relativeworktrees",
    "worktreeconfig",
];

/// Whether a folder contains a repository, even one that can't be read.
pub(super) fn is_repository(path: &Path) -> bool {
    path.join("HEAD").is_file() || path.join(".git").exists()
}

/// Checks that the repository is read exactly as git would read it, and that it does not lead to objects elsewhere.
///
/// # Errors
/// A message with the cause and the solution.
pub(super) fn check(path: &Path, repository: &gix::Repository) -> Result<(), String> {
    let snapshot = repository.config_snapshot();
    let format = |name: &str| snapshot.string(name).map(|value| value.to_string().to_ascii_lowercase());
    if format("extensions.refStorage").is_some_and(|format| format != "files") {
        let path = path.display();
        return Err(format!(
            "its references are kept in a form that is not read here: `git -C {path} refs migrate --ref-format=files` changes that"
        ));
    }
    let mut names: Vec<String> = Vec::new();
    for section in snapshot.sections_by_name("extensions").into_iter().flatten() {
        names.extend(section.value_names().map(|name| name.to_ascii_lowercase()));
    }
    let is_known = |name: &str| HARMLESS_EXTENSIONS.contains(&name) || matches!(name, "objectformat" | "refstorage");
    if let Some(name) = names.iter().find(|name| !is_known(name)) {
        return Err(format!("it uses extension `{}` of git, which is not known here", name.escape_debug()));
    }
    check_bounds(path, repository)
}

/// Checks that a repository of another user does not lead to the current user's own repositories: with alternates, or with folders that are links.
/// Otherwise, it could expose content that only the current user may read. Repositories of the current user may lead anywhere.
fn check_bounds(path: &Path, repository: &gix::Repository) -> Result<(), String> {
    let git_dir = repository.git_dir();
    let redirects = ["commondir", "objects/info/alternates", "objects/info/http-alternates"];
    let links = ["HEAD", "packed-refs", "refs", "refs/heads", "refs/tags", "objects", "objects/info", "objects/pack"];
    let is_strange = |path: &Path| fs::symlink_metadata(path).is_ok_and(|metadata| !trust::is_own(&metadata));
    let is_link = |path: &Path| fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    let dot_git = path.join(".git");
    let (redirects, links) = if is_strange(git_dir) { (&redirects[..], &links[..]) } else { (&[][..], &[][..]) };
    let redirect = redirects.iter().map(|name| git_dir.join(name)).find(|path| path.exists());
    let linked = || links.iter().map(|name| git_dir.join(name)).find(|path| is_link(path));
    // A `.git` file names another folder, like a link.
    let named = || Some(dot_git).filter(|path| is_strange(path) && !path.is_dir());
    let above = || path.ancestors().find(|path| is_link(path) && trust::has_foreign_owner(path)).map(Path::to_owned);
    match redirect.or_else(linked).or_else(named).or_else(above) {
        Some(found) => {
            Err(format!("`{}` belongs to another user, and leads to other folders: clone it first", found.display()))
        }
        None => Ok(()),
    }
}
