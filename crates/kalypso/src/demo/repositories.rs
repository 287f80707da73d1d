//! The company's Git repositories. Files, authors and times are always the same, so that commits have the same ids on each machine. An exception are
//! the manifests that clusters pull: their age depends on the time of the demo.

use std::fs;
use std::path::Path;

use super::company::{self, CompanyFile};
use super::manifests;
use super::program::{Signature, feed, git};
use crate::exit::Failure;

/// The environments in the order of promotion.
pub(crate) const ENVIRONMENTS: [&str; 3] = ["dev", "stage", "prod"];
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

pub(super) const PLATFORM_TEAM: Signature =
    Signature { name: "Paula Platform", email: "platform@acme.example", seconds: MONDAY_MORNING };
pub(super) const STORE_TEAM: Signature =
    Signature { name: "Stan Store", email: "stores@acme.example", seconds: MONDAY_MORNING };
pub(super) const FACTORY_TEAM: Signature =
    Signature { name: "Fay Factory", email: "factory@acme.example", seconds: MONDAY_MORNING };
/// 2026-01-05 08:00 UTC. The time is arbitrary, but in the past.
const MONDAY_MORNING: i64 = 1_767_600_000;
/// The placeholder in the files of the example for the promoted commit of main.
const UNKNOWN_COMMIT: &str = "0000000000000000000000000000000000000000";

/// Creates all repositories in a folder without repositories. At the time `now`, clusters have pulled for some time.
pub(super) fn make(folder: &Path, now: i64) -> Result<(), Failure> {
    control_plane(&folder.join(CONTROL_PLANE))?;
    application(folder, "checkout", STORE_TEAM)?;
    application(folder, "line-monitor", FACTORY_TEAM)?;
    application(folder, "platform-services", PLATFORM_TEAM)?;
    manifests::make(folder, now)?;
    gitops(&folder.join(GITOPS))
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

/// Creates an empty repository in which the user can commit, independent of the user's Git configuration.
pub(super) fn init(folder: &Path) -> Result<(), Failure> {
    create_folder(folder)?;
    git(folder, &["init", "--quiet", "--template="])?;
    git(folder, &["symbolic-ref", "HEAD", "refs/heads/main"])?;
    let settings = [
        ("user.name", "You"),
        ("user.email", "you@acme.example"),
        ("commit.gpgSign", "false"),
        ("core.hooksPath", "/dev/null"),
        ("core.autocrlf", "false"),
        ("core.safecrlf", "false"),
    ];
    for (name, value) in settings {
        git(folder, &["config", name, value])?;
    }
    // Only `sed -i.bak` works both on Linux and on macOS.
    let exclude = CompanyFile { path: ".git/info/exclude".to_owned(), content: b"*.bak\n".to_vec() };
    write(folder, &[exclude])
}

pub(super) fn commit(folder: &Path, message: &str, signature: Signature) -> Result<(), Failure> {
    git(folder, &["add", "--all"])?;
    feed(folder, &["commit", "--quiet", "--cleanup=verbatim", "--file=-"], message.as_bytes(), Some(signature))
        .map(drop)
}

pub(super) fn write(folder: &Path, files: &[CompanyFile]) -> Result<(), Failure> {
    for file in files {
        let path = folder.join(&file.path);
        create_folder(path.parent().unwrap_or(folder))?;
        fs::write(&path, &file.content)
            .map_err(|error| Failure::outside(format!("`{}` can't be written: {error}", path.display())))?;
    }
    Ok(())
}

fn create_folder(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder)
        .map_err(|error| Failure::outside(format!("the folder `{}` can't be made: {error}", folder.display())))
}
