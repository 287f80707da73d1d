//! A new platform on this machine: its repositories, its working trees, and its configuration file.
//!
//! Each repository is built in a folder beside its place, and is then moved there. So it exists completely or not at all, however a run ends.

pub mod answers;
pub mod application;
pub mod branch_copy;
mod folder;
mod git_program;
mod locations;
mod remote;
mod repository;
mod sources;
mod worktrees;

use std::ffi::OsString;
use std::path::Path;

use authoring::scaffold::microsoft::APPLICATION;

use self::answers::Answers;
pub use self::folder::{ClaimedFolder, claim};
use self::git_program::Git;
pub use self::locations::{Hosted, Locations, locations};
use crate::{Failure, contained_files};

/// The name of the configuration file.
pub const CONFIGURATION_FILE: &str = "kalypso.toml";
/// The folder of the control plane's repository.
pub const CONTROL_PLANE: &str = "control-plane";
/// The folder of the GitOps repository, if it is on this machine.
pub const GITOPS: &str = "platform-gitops.git";
/// The name of the GitOps repository on a git host.
pub const GITOPS_NAME: &str = "platform-gitops";
/// The folder of the working trees of environments.
pub const ENVIRONMENTS: &str = "environments";
/// The file that describes the folder.
const README: &str = "README.md";

/// What a run did.
#[derive(Debug, Default)]
pub struct Made {
    /// What is new, as paths in the folder or as URLs.
    pub new: Vec<String>,
    /// What was there, and stays as it is.
    pub kept: Vec<String>,
    /// Remarks for the user.
    pub notes: Vec<String>,
}

impl Made {
    /// Adds what is new, or was there.
    pub fn add(&mut self, name: impl Into<String>, is_new: bool) {
        if is_new { self.new.push(name.into()) } else { self.kept.push(name.into()) }
    }
}

/// How git runs.
#[derive(Clone, Copy, Debug)]
pub struct GitEnvironment<'a> {
    /// The names of the variables of this process.
    pub variables: &'a [OsString],
    /// The token for repositories on the git host.
    pub token: Option<&'a str>,
}

/// Makes what is missing of a platform. `claim` is the folder.
///
/// # Errors
/// If git is not installed, if a repository on a git host has content, or if files can't be written.
pub fn make(claim: &ClaimedFolder, answers: &Answers, environment: GitEnvironment<'_>) -> Result<Made, Failure> {
    let folder = claim.folder();
    let token = environment.token.map(|token| (answers.repositories_prefix(), token));
    let git = Git::new(folder, environment.variables, token)?;
    let mut made = Made::default();
    if let Some(note) = git.note() {
        made.notes.push(note.to_owned());
    }
    if !claim.is_begun() {
        remote::check_empty(&git, answers)?;
    }
    claim.begin(answers)?;
    repositories(claim, &git, answers, &mut made)?;
    worktrees::add(&git, folder, answers, &mut made)?;
    write(folder, CONFIGURATION_FILE, &answers.configuration().text(), &mut made)?;
    write(folder, README, &sources::readme(answers), &mut made)?;
    remote::push(&git, folder, answers, &mut made)?;
    Ok(made)
}

fn repositories(claim: &ClaimedFolder, git: &Git, answers: &Answers, made: &mut Made) -> Result<(), Failure> {
    let is_new = repository::place(claim, CONTROL_PLANE, |folder| {
        repository::with_branches(git, folder, &sources::branches(answers)?)?;
        match &answers.control_plane.remote {
            Some(url) => git.run(folder, &["remote", "add", "origin", url]).map(drop),
            None => Ok(()),
        }
    })?;
    made.add(CONTROL_PLANE, is_new);
    if let Some(branch) = sources::application(answers) {
        let is_new = repository::place(claim, APPLICATION, |folder| repository::with_branches(git, folder, &[branch]))?;
        made.add(APPLICATION, is_new);
    }
    if answers.gitops.remote.is_none() {
        let is_new = repository::place(claim, GITOPS, |folder| repository::bare(git, folder))?;
        made.add(GITOPS, is_new);
    }
    Ok(())
}

/// Writes a file of the folder, unless it exists.
fn write(folder: &Path, name: &str, text: &str, made: &mut Made) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::outside(format!("`{}` can't be written: {error}", folder.join(name).display()))
    };
    let is_new = contained_files::read(folder, name).map_err(failed)?.is_none();
    if is_new {
        contained_files::write(folder, name, text.as_bytes()).map_err(failed)?;
    }
    made.add(name, is_new);
    Ok(())
}
