//! A new platform on this machine: its repositories, its working trees, and its configuration file.
//!
//! Each repository is built in a folder beside its place, and is then moved there. So it exists completely or not at all, however a run ends.

pub(crate) mod answers;
pub(crate) mod branch_copy;
mod folder;
mod git_program;
mod locations;
mod remote;
mod repository;
mod sources;
mod worktrees;

use std::path::Path;

use authoring::scaffold::microsoft::APPLICATION;

use self::answers::Answers;
pub(crate) use self::folder::{Claim, claim};
use self::git_program::Git;
pub(crate) use self::locations::{Hosted, Locations, locations};
use crate::exit::Failure;
use crate::{beneath, configuration};

/// The folder of the control plane's repository.
pub(crate) const CONTROL_PLANE: &str = "control-plane";
/// The folder of the GitOps repository, if it is on this machine.
pub(crate) const GITOPS: &str = "platform-gitops.git";
/// The name of the GitOps repository on a git host.
pub(crate) const GITOPS_NAME: &str = "platform-gitops";
/// The folder of the working trees of environments.
pub(crate) const ENVIRONMENTS: &str = "environments";
/// The file that describes the folder.
const README: &str = "README.md";

/// What a run did.
#[derive(Debug, Default)]
pub(crate) struct Made {
    /// What is new, as paths in the folder or as URLs.
    pub(crate) new: Vec<String>,
    /// What was there, and stays as it is.
    pub(crate) kept: Vec<String>,
    /// Remarks for the user.
    pub(crate) notes: Vec<String>,
}

impl Made {
    fn add(&mut self, name: impl Into<String>, is_new: bool) {
        if is_new { self.new.push(name.into()) } else { self.kept.push(name.into()) }
    }
}

/// Makes what is missing of a platform. `claim` is the folder.
pub(crate) fn make(claim: &Claim, answers: &Answers, token: Option<&str>) -> Result<Made, Failure> {
    let folder = claim.folder();
    let git = Git::new(folder, token.map(|token| (answers.repositories_prefix(), token)))?;
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
    write(folder, configuration::FILE_NAME, &answers.configuration().text(), &mut made)?;
    write(folder, README, &sources::readme(answers), &mut made)?;
    remote::push(&git, folder, answers, &mut made)?;
    Ok(made)
}

fn repositories(claim: &Claim, git: &Git, answers: &Answers, made: &mut Made) -> Result<(), Failure> {
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
    let is_new = beneath::read(folder, name).map_err(failed)?.is_none();
    if is_new {
        beneath::write(folder, name, text.as_bytes()).map_err(failed)?;
    }
    made.add(name, is_new);
    Ok(())
}
