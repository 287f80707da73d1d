//! The company's Git repositories. Files, authors and times are always the same, so that commits have the same ids on each machine. An exception are
//! the manifests that clusters pull: their age depends on the time of the demo.

use std::path::Path;

use super::company::{self, CompanyFile, ENVIRONMENTS, FACTORY_TEAM, PLATFORM_TEAM, STORE_TEAM};
use super::manifests::{self, Deploy};
use super::program::{Signature, feed, git};
use super::working_tree::{commit, create_folder, init, write};
use crate::exit::Failure;

/// The platform team's repository.
pub(super) const CONTROL_PLANE: &str = "control-plane";
/// The repository that clusters pull.
pub(crate) const GITOPS: &str = "platform-gitops.git";
/// All repositories, by the name of their folder.
pub(crate) const ALL: [&str; 8] = [
    CONTROL_PLANE,
    "checkout",
    "checkout-manifests",
    "line-monitor",
    "line-monitor-manifests",
    "platform-services",
    "platform-services-manifests",
    GITOPS,
];

/// The placeholder in the files of the example for the promoted commit of main.
const UNKNOWN_COMMIT: &str = "0000000000000000000000000000000000000000";

/// Creates all repositories in a folder without repositories. At the time `now`, clusters have pulled for some time.
pub(super) fn make(folder: &Path, now: i64, deploy: Deploy<'_>) -> anyhow::Result<()> {
    control_plane(&folder.join(CONTROL_PLANE))?;
    application(folder, "checkout", STORE_TEAM)?;
    application(folder, "line-monitor", FACTORY_TEAM)?;
    application(folder, "platform-services", PLATFORM_TEAM)?;
    manifests::make(folder, now, deploy)?;
    gitops(&folder.join(GITOPS))?;
    Ok(())
}

fn control_plane(folder: &Path) -> Result<(), Failure> {
    init(folder)?;
    write(folder, &company::files("control-plane/main"))?;
    commit(folder, "What holds in every environment", PLATFORM_TEAM)?;
    let main = git(folder, &["rev-parse", "HEAD"])?;
    for environment in ENVIRONMENTS {
        git(folder, &["switch", "--quiet", "--orphan", environment])?;
        let mut files = company::files(&format!("control-plane/{environment}"));
        files.iter_mut().for_each(|file| pin(file, &main));
        write(folder, &files)?;
        commit(folder, &format!("The platform in {environment}"), PLATFORM_TEAM)?;
    }
    git(folder, &["switch", "--quiet", "main"]).map(drop)
}

/// Sets the promoted commit of main of an environment.
fn pin(file: &mut CompanyFile, main: &str) {
    if file.path == "base-repo.yaml" {
        let text = String::from_utf8_lossy(&file.content);
        let lines = text.lines().filter(|line| !line.contains("zeros stand for"));
        let text: String = lines.flat_map(|line| [line, "\n"]).collect();
        file.content = text.replace(UNKNOWN_COMMIT, main).into_bytes();
    }
}

fn application(folder: &Path, name: &str, team: Signature) -> Result<(), Failure> {
    let folder = folder.join(name);
    init(&folder)?;
    write(&folder, &company::files(name))?;
    commit(&folder, &format!("Deployment of {name}"), team)
}

/// Creates a bare repository with a branch for each environment.
fn gitops(folder: &Path) -> Result<(), Failure> {
    create_folder(folder)?;
    git(folder, &["init", "--quiet", "--bare", "--template="])?;
    git(folder, &["symbolic-ref", "HEAD", "refs/heads/prod"])?;
    let readme = include_bytes!("folder/platform-gitops.md");
    let blob = feed(folder, &["hash-object", "-w", "--stdin"], readme, None)?;
    let tree = feed(folder, &["mktree"], format!("100644 blob {blob}\tREADME.md\n").as_bytes(), None)?;
    let message = b"A branch for each environment\n";
    let commit = feed(folder, &["commit-tree", &tree], message, Some(PLATFORM_TEAM))?;
    for environment in ENVIRONMENTS {
        git(folder, &["update-ref", &format!("refs/heads/{environment}"), &commit])?;
    }
    Ok(())
}
