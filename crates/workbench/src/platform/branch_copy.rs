//! The branch of a new environment as a copy of another one, with its working tree.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use authoring::file_edits::{FileEdit, FileEdits};
use git::RepositoryUrl;
use model::git_id::GitId;

use super::git_program::Git;
use super::worktrees;
use crate::Failure;

/// A branch that begins at the head of another one.
#[derive(Clone, Copy, Debug)]
pub struct NewCopy<'a> {
    /// The other branch with its head.
    pub from: (&'a str, GitId),
    /// The name.
    pub to: &'a str,
    /// The message of its first commit.
    pub message: &'a str,
    /// The edits of its files.
    pub edits: &'a FileEdits,
    /// The names of the variables of this process that git does not get, if they say neither who the user is nor how git connects.
    pub variables: &'a [OsString],
}

/// Makes the branch in the repository of a working tree. If the other branch has a working tree with its own name, the new one gets one beside it; its folder is returned.
/// What an interrupted run made is used.
///
/// # Errors
/// If git fails, or if there is such a branch with other files.
pub fn make(root: &Path, copy: &NewCopy<'_>) -> Result<Option<PathBuf>, Failure> {
    let git = Git::new(root, copy.variables, None)?;
    let (from, head) = copy.from;
    if git.run(root, &["cat-file", "-e", &head.to_string()]).is_err() {
        let message = format!("`{}` does not have the head of {from}", root.display());
        return Err(Failure::refused(message).help(format!("fetch it: `git -C {} fetch`", root.display())));
    }
    let trial = format!("refs/kalypso/new-{}", copy.to);
    commit(&git, root, copy, &trial)?;
    let placed = place(&git, root, copy, &trial);
    git.run(root, &["update-ref", "-d", &trial])?;
    placed?;
    let folders = worktrees::checked_out(&git, root)?;
    if let Some(there) = folders.get(copy.to) {
        return Ok(Some(there.clone()));
    }
    let beside = folders.get(from).filter(|folder| folder.ends_with(from) && *folder != root);
    let Some(folder) = beside.map(|folder| folder.with_file_name(copy.to)) else { return Ok(None) };
    worktrees::begin(&git, root, (&folder, copy.to))?;
    worktrees::complete(&git, &folder)?;
    Ok(Some(folder))
}

/// Moves the commit of the trial reference to the branch. A branch that exists must have the same files.
fn place(git: &Git, root: &Path, copy: &NewCopy<'_>, trial: &str) -> Result<(), Failure> {
    let branch = format!("refs/heads/{}", copy.to);
    let tree = |reference: &str| git.run(root, &["rev-parse", "--verify", "--quiet", &format!("{reference}^{{tree}}")]);
    let Ok(there) = tree(&branch) else {
        return git.run(root, &["update-ref", &branch, trial, ""]).map(drop);
    };
    if there == tree(trial)? {
        return Ok(());
    }
    let message = format!("there is a branch `{}` with other files", copy.to);
    Err(Failure::refused(message).help(format!("delete it: `git -C {} branch -D {}`", root.display(), copy.to)))
}

/// Makes the commit, and lets a reference name it.
fn commit(git: &Git, root: &Path, copy: &NewCopy<'_>, reference: &str) -> Result<(), Failure> {
    let [author, committer] = ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"].map(|name| git.run(root, &["var", name]));
    let (author, committer) = (author?, committer?);
    let mut input = format!("commit {reference}\nauthor {author}\ncommitter {committer}\n").into_bytes();
    add_data(&mut input, copy.message.as_bytes());
    input.extend(format!("from {}\n", copy.from.1).bytes());
    for (path, edit) in copy.edits.iter() {
        match edit {
            FileEdit::Write(bytes) => {
                input.extend(format!("M 100644 inline {}\n", quoted(path)).bytes());
                add_data(&mut input, bytes);
            }
            FileEdit::Remove => input.extend(format!("D {}\n", quoted(path)).bytes()),
        }
    }
    input.extend(b"\ndone\n");
    git.feed(root, &["fast-import", "--quiet", "--done", "--force"], &input).map(drop)
}

fn add_data(input: &mut Vec<u8>, data: &[u8]) {
    input.extend(format!("data {}\n", data.len()).bytes());
    input.extend(data);
    input.push(b'\n');
}

/// A path as `git fast-import` reads it.
fn quoted(path: &str) -> String {
    format!("\"{}\"", path.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

/// Whether a working tree belongs to the repository that Kalypso reads, so that nothing has to be pushed.
pub fn is_local(root: Option<&Path>, url: &RepositoryUrl, settings: &git::Settings) -> bool {
    let folder = git::checkout::local_folder(settings, url);
    let canonical = |path: &Path| path.canonicalize().ok();
    let common = |root: &Path| {
        let git = Git::new(root, &settings.withheld, None).ok()?;
        git.run(root, &["rev-parse", "--path-format=absolute", "--git-common-dir"]).ok().map(PathBuf::from)
    };
    let (Some(folder), Some(common)) = (folder, root.and_then(common)) else { return false };
    let of_folder = [folder.join(".git"), folder];
    of_folder.iter().any(|path| canonical(path).is_some() && canonical(path) == canonical(&common))
}
