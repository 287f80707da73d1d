//! New repositories on this machine.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use authoring::scaffold::NewFile;
use authoring::scaffold::platform::MAIN;
use tempfile::TempDir;

use super::folder::ClaimedFolder;
use super::git_program::Git;
use crate::Failure;

/// A branch with one commit.
#[derive(Debug)]
pub(super) struct NewBranch {
    /// The name.
    pub(super) name: String,
    /// The message of the commit.
    pub(super) message: String,
    /// The files.
    pub(super) files: Vec<NewFile>,
}

/// Builds a repository in the folder of a platform and moves it to its place, unless there is one. Returns whether it is new.
pub(super) fn place(
    claim: &ClaimedFolder,
    name: &str,
    build: impl FnOnce(&Path) -> Result<(), Failure>,
) -> Result<bool, Failure> {
    place_at(&claim.folder().join(name), || claim.workshop(), build)
}

/// The same with any place. `workshop` is an empty folder on the same file system, which is removed afterwards.
pub(super) fn place_at(
    target: &Path,
    workshop: impl FnOnce() -> Result<TempDir, Failure>,
    build: impl FnOnce(&Path) -> Result<(), Failure>,
) -> Result<bool, Failure> {
    match fs::symlink_metadata(target) {
        Ok(_) if target.join("HEAD").is_file() || target.join(".git").exists() => return Ok(false),
        Ok(_) => {
            let message = format!("`{}` is in the way, and is no git repository", target.display());
            return Err(Failure::refused(message).help("move it away, then run `init` again"));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(Failure::outside(format!("`{}` can't be read: {error}", target.display()))),
    }
    let workshop = workshop()?;
    let new = workshop.path().join("repository");
    let failed = |error: io::Error| Failure::outside(format!("`{}` can't be made: {error}", target.display()));
    fs::create_dir(&new).map_err(failed)?;
    build(&new)?;
    fs::rename(&new, target).map_err(failed)?;
    Ok(true)
}

/// Makes a repository with branches, of which `main` is checked out. A promotion can push to a branch that is checked out. Git then updates the
/// working tree, or refuses the push if the working tree has changes that are not committed.
pub(super) fn with_branches(git: &Git, folder: &Path, branches: &[NewBranch]) -> Result<(), Failure> {
    with_working_tree(git, folder, MAIN)?;
    let [author, committer] = ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"].map(|name| git.run(folder, &["var", name]));
    let input = import(branches, &author?, &committer?);
    git.feed(folder, &["fast-import", "--quiet", "--done"], &input)?;
    git.run(folder, &["reset", "--quiet", "--hard"]).map(drop)
}

/// Makes a repository without commits, whose working tree is for a branch. A push to this branch updates the working tree.
pub(super) fn with_working_tree(git: &Git, folder: &Path, branch: &str) -> Result<(), Failure> {
    git.run(folder, &["init", "--quiet", "--template="])?;
    git.run(folder, &["config", "receive.denyCurrentBranch", "updateInstead"])?;
    git.run(folder, &["symbolic-ref", "HEAD", &format!("refs/heads/{branch}")]).map(drop)
}

/// Makes a bare repository without branches.
pub(super) fn bare(git: &Git, folder: &Path) -> Result<(), Failure> {
    git.run(folder, &["init", "--quiet", "--bare", "--template="]).map(drop)
}

/// The input of `git fast-import`. Paths and names have no characters that need quotes.
fn import(branches: &[NewBranch], author: &str, committer: &str) -> Vec<u8> {
    let data = |text: &str| format!("data {}\n{text}\n", text.len());
    let mut input = String::new();
    for NewBranch { name, message, files } in branches {
        let _ = write!(input, "commit refs/heads/{name}\nauthor {author}\ncommitter {committer}\n{}", data(message));
        for NewFile { path, text } in files {
            let _ = write!(input, "M 100644 inline {path}\n{}", data(text));
        }
        input.push('\n');
    }
    input += "done\n";
    input.into_bytes()
}
