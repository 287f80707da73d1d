//! The example company on this machine: real Git repositories in a separate folder.

mod company;
mod failing;
mod followers;
mod git_host;
pub(crate) mod hosts;
mod hub;
mod manifests;
mod messages;
mod place;
mod program;
mod pulled;
mod repositories;
pub(crate) mod trying;
mod working_tree;

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use self::manifests::Deploy;

pub(crate) use company::ENVIRONMENTS;
pub(crate) use followers::Followers;
pub(crate) use git_host::DemoGitHost;
pub(crate) use hub::DemoHub;
pub(crate) use manifests::FirstDeployment;
pub(crate) use place::FolderState;
pub(crate) use repositories::{ALL as REPOSITORIES, GITOPS};

/// Creates the company in a folder if it is not complete there. The incomplete result of an interrupted run is created again.
pub(crate) fn make(folder: &Path, force: bool, deploy: Deploy<'_>) -> anyhow::Result<FolderState> {
    program::check()?;
    let found = place::inspect(folder, force)?;
    if found == FolderState::Company {
        return Ok(found);
    }
    let _mark = place::begin(folder)?;
    repositories::make(folder, now(), deploy)?;
    place::write_secrets(folder)?;
    place::write(folder, crate::configuration::FILE_NAME, include_str!("folder/kalypso.toml"))?;
    place::write(folder, "README.md", include_str!("folder/README.md"))?;
    place::write(folder, place::PROMOTIONS, include_str!("folder/promotions.yaml"))?;
    place::finish(folder)?;
    Ok(found)
}

/// The current time in seconds since 1970.
pub(crate) fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs().cast_signed())
}
