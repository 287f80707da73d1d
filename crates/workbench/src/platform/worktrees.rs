//! The working trees of environments: so that people edit files of each environment without switching branches.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::answers::Answers;
use super::git_program::Git;
use super::{CONTROL_PLANE, ENVIRONMENTS, Made};
use crate::Failure;

/// Adds a working tree for each environment that has none.
pub(super) fn add(git: &Git, folder: &Path, answers: &Answers, made: &mut Made) -> Result<(), Failure> {
    let repository = folder.join(CONTROL_PLANE);
    git.run(&repository, &["worktree", "prune"])?;
    let checked_out = checked_out(git, &repository)?;
    for environment in &answers.environments {
        let name = format!("{ENVIRONMENTS}/{environment}");
        let path = folder.join(&name);
        let is_there = path.join(".git").is_file();
        if !is_there && checked_out.get(environment).is_some_and(|other| *other != path) {
            made.notes.push(format!("branch {environment} is checked out elsewhere, so {name} is not made"));
            continue;
        }
        if !is_there && !has_branch(git, &repository, environment) {
            made.notes.push(format!("{CONTROL_PLANE} has no branch {environment}, so {name} is not made"));
            continue;
        }
        if !is_there {
            begin(git, &repository, (&path, environment))?;
        }
        let is_new = complete(git, &path)?;
        made.add(name, is_new);
    }
    Ok(())
}

pub(super) fn begin(git: &Git, repository: &Path, (path, branch): (&Path, &str)) -> Result<(), Failure> {
    let shown = path.display().to_string();
    // The record of an interrupted run is locked.
    let _ = git.run(repository, &["worktree", "unlock", &shown]);
    git.run(repository, &["worktree", "prune"])?;
    git.run(repository, &["worktree", "add", "--quiet", "--no-checkout", &shown, branch]).map(drop)
}

/// Checks the files out, unless that was done. Returns whether it was not done.
pub(super) fn complete(git: &Git, path: &Path) -> Result<bool, Failure> {
    let metadata = git.run(path, &["rev-parse", "--absolute-git-dir"])?;
    let index = Path::new(&metadata).join("index");
    // Git writes the index after all files.
    if index.exists() {
        return Ok(false);
    }
    let _ = fs::remove_file(index.with_extension("lock"));
    git.run(path, &["reset", "--quiet", "--hard"])?;
    Ok(true)
}

fn has_branch(git: &Git, repository: &Path, name: &str) -> bool {
    git.run(repository, &["rev-parse", "--verify", "--quiet", &format!("refs/heads/{name}")]).is_ok()
}

/// The branches that are checked out, with their folders.
pub(super) fn checked_out(git: &Git, repository: &Path) -> Result<BTreeMap<String, PathBuf>, Failure> {
    let list = git.run(repository, &["worktree", "list", "--porcelain"])?;
    let (mut found, mut folder) = (BTreeMap::new(), PathBuf::new());
    for line in list.lines() {
        if let Some(path) = line.strip_prefix("worktree ") {
            folder = PathBuf::from(path);
        } else if let Some(branch) = line.strip_prefix("branch refs/heads/") {
            found.insert(branch.to_owned(), folder.clone());
        }
    }
    Ok(found)
}
