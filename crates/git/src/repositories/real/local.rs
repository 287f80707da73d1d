//! Repositories of this machine, which are read in place whoever they belong to.

use std::fs;
use std::path::Path;

use crate::trust;

/// Extensions of git's repository format that change nothing about how objects and references are read.
const HARMLESS_EXTENSIONS: &[&str] = &[
    "compatobjectformat",
    "noop",
    "noop-v1",
    "partialclone",
    "preciousobjects",
    "relativeworktrees",
    "worktreeconfig",
];

/// Whether there is a repository in a folder, readable or not.
pub(super) fn is_repository(path: &Path) -> bool {
    path.join("HEAD").is_file() || path.join(".git").exists()
}

/// Makes sure that a repository is read as git would read it, and holds no one else's objects.
///
/// # Errors
/// Says what is in the way, and what to do about it.
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

/// A repository of somebody else could hold what only this user may read, by leading to this user's own repositories: objects that it borrows, folders
/// that are links. What one's own leads to is one's own decision.
fn check_bounds(path: &Path, repository: &gix::Repository) -> Result<(), String> {
    let git_dir = repository.git_dir();
    let leads = ["commondir", "objects/info/alternates", "objects/info/http-alternates"];
    let links = ["HEAD", "packed-refs", "refs", "refs/heads", "refs/tags", "objects", "objects/info", "objects/pack"];
    let is_strange = |path: &Path| fs::symlink_metadata(path).is_ok_and(|metadata| !trust::is_own(&metadata));
    let is_link = |path: &Path| fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    let dot_git = path.join(".git");
    let (leads, links) = if is_strange(git_dir) { (&leads[..], &links[..]) } else { (&[][..], &[][..]) };
    let leading = leads.iter().map(|name| git_dir.join(name)).find(|path| path.exists());
    let linked = || links.iter().map(|name| git_dir.join(name)).find(|path| is_link(path));
    // A file `.git` names another folder, as a link does.
    let named = || Some(dot_git).filter(|path| is_strange(path) && !path.is_dir());
    let above = || path.ancestors().find(|path| is_link(path) && trust::is_strangers(path)).map(Path::to_owned);
    match leading.or_else(linked).or_else(named).or_else(above) {
        Some(found) => {
            Err(format!("`{}` belongs to another user, and leads to other folders: clone it first", found.display()))
        }
        None => Ok(()),
    }
}
