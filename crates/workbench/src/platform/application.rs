//! The repositories of a new application on this machine: its source, and those beside it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use authoring::scaffold::NewFile;
use authoring::scaffold::platform::MAIN;

use super::git_program::Git;
use super::{GitEnvironment, Made, remote, repository, write};
use crate::{Failure, contained_files};

/// The folder of an application. It may be a folder inside of a repository.
#[derive(Debug)]
pub struct ApplicationFolder {
    folder: PathBuf,
    git: Git,
}

/// The state of the source after its files were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceCommit {
    /// The first commit has the files.
    First,
    /// All files are committed.
    Clean,
    /// The repository has commits, or files of others. The user commits.
    Open,
}

impl ApplicationFolder {
    /// Opens the folder, and makes it if it does not exist. The token of `environment` is sent to URLs with the start `prefix`.
    ///
    /// # Errors
    /// If it is a file, or if git is not installed.
    pub fn open(folder: &Path, prefix: &str, environment: GitEnvironment<'_>) -> Result<Self, Failure> {
        let shown = folder.display();
        fs::create_dir_all(folder).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
                Failure::usage(format!("`{shown}` is a file")).help("name a folder")
            }
            _ => Failure::outside(format!("`{shown}` can't be made: {error}")),
        })?;
        let folder =
            fs::canonicalize(folder).map_err(|error| Failure::outside(format!("`{shown}` can't be read: {error}")))?;
        let token = environment.token.map(|token| (prefix.to_owned(), token));
        Ok(Self { git: Git::new(&folder, environment.variables, token)?, folder })
    }

    /// A remark about the user's configuration of git.
    pub fn note(&self) -> Option<&'static str> {
        self.git.note()
    }

    /// Checks that nothing is in the way of these files, before anything is written.
    ///
    /// # Errors
    /// The first file that can't be written.
    pub fn check(&self, files: &[NewFile]) -> Result<(), Failure> {
        for file in files {
            contained_files::read(&self.folder, &file.path).map_err(|error| {
                Failure::refused(format!("`{}` can't be written: {error}", file.path))
                    .help("nothing was written; run `app init` again afterwards")
            })?;
        }
        Ok(())
    }

    /// Writes the files that do not exist.
    ///
    /// # Errors
    /// If a file can't be written.
    pub fn write(&self, files: &[NewFile], made: &mut Made) -> Result<(), Failure> {
        files.iter().try_for_each(|file| write(&self.folder, &file.path, &file.text, made))
    }

    /// Makes a repository for the folder, unless it is in one. Commits the files and folders if the repository has no commit yet.
    ///
    /// # Errors
    /// If git fails.
    pub fn commit(&self, paths: &[String], made: &mut Made) -> Result<SourceCommit, Failure> {
        let Self { folder, git } = self;
        if git::checkout::repository_above(folder).is_none() {
            git.run(folder, &["init", "--quiet", "--template="])?;
            git.run(folder, &["symbolic-ref", "HEAD", &format!("refs/heads/{MAIN}")])?;
            made.add(".git", true);
        }
        let is_unborn = git.run(folder, &["rev-parse", "--quiet", "--verify", "HEAD"]).is_err();
        if is_unborn {
            let paths: Vec<_> = paths.iter().map(String::as_str).collect();
            let add = ["--literal-pathspecs", "add", "--"];
            git.run(folder, &[&add[..], &paths].concat())?;
            let commit =
                ["--literal-pathspecs", "commit", "--quiet", "--no-gpg-sign", "-m", FIRST_COMMIT, "--only", "--"];
            git.run(folder, &[&commit[..], &paths].concat())?;
        }
        let is_clean = git.run(folder, &["status", "--porcelain", "--", "."])?.is_empty();
        Ok(match (is_unborn, is_clean) {
            (true, true) => SourceCommit::First,
            (false, true) => SourceCommit::Clean,
            (_, false) => SourceCommit::Open,
        })
    }

    /// Makes a repository beside the folder, unless it exists. A repository of values has a working tree of its branch `checked_out`; without a branch, the
    /// repository is bare. `path` starts from the folder.
    ///
    /// # Errors
    /// If something else is there, or if git fails.
    pub fn repository(&self, path: &str, checked_out: Option<&str>, made: &mut Made) -> Result<(), Failure> {
        let Self { folder, git } = self;
        let target = beside(folder, path);
        let failed = |error: io::Error| Failure::outside(format!("`{}` can't be made: {error}", target.display()));
        let workshop = || {
            let above = target.parent().unwrap_or(folder);
            fs::create_dir_all(above).map_err(failed)?;
            tempfile::Builder::new().prefix(".kalypso-new-").tempdir_in(above).map_err(failed)
        };
        let is_new = repository::place_at(&target, workshop, |new| match checked_out {
            None => repository::bare(git, new),
            Some(branch) => repository::with_working_tree(git, new, branch),
        })?;
        made.add(path, is_new);
        Ok(())
    }

    /// Names a repository as `origin`, unless there is one, and pushes the branch that is checked out if `origin` does not have it.
    ///
    /// # Errors
    /// If the repository can't be read or written.
    pub fn push(&self, url: &str, made: &mut Made) -> Result<(), Failure> {
        let Self { folder, git } = self;
        let origin = git::checkout::origin(git::checkout::repository_above(folder).unwrap_or(folder));
        match origin {
            None => git.run(folder, &["remote", "add", "origin", url]).map(drop)?,
            Some(other) if other != url => {
                made.notes.push("the source has another `origin`, so it was not pushed".to_owned());
                return Ok(());
            }
            Some(_) => {}
        }
        let branch = git.run(folder, &["symbolic-ref", "--short", "HEAD"])?;
        let is_new = remote::push_missing(git, (folder, url), &[&branch])?;
        made.add(format!("{url}: {branch}"), is_new);
        Ok(())
    }
}

/// A path that starts from a folder, without `..`.
fn beside(folder: &Path, path: &str) -> PathBuf {
    let mut target = folder.to_owned();
    for part in Path::new(path).components() {
        match part {
            std::path::Component::ParentDir => drop(target.pop()),
            part => target.push(part),
        }
    }
    target
}

/// The message of the first commit.
pub const FIRST_COMMIT: &str = "Describe the application";
