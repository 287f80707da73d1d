//! The remote repositories of a new platform: they must be empty, and get its branches.

use std::collections::BTreeMap;
use std::path::Path;

use authoring::scaffold::platform::MAIN;

use super::answers::{Answers, RepositoryAnswer};
use super::git_program::Git;
use super::{CONTROL_PLANE, Made};
use crate::Failure;

/// The branch of which a push is tried, to learn whether the user may push. It is never created.
const TRIED: &str = "kalypso-init";

/// Checks that the remote repositories can be read, and are empty.
pub(super) fn check_empty(git: &Git, answers: &Answers) -> Result<(), Failure> {
    for RepositoryAnswer { remote, .. } in [&answers.control_plane, &answers.gitops] {
        let Some(url) = remote else { continue };
        let branches = branches(git, url)?;
        if let Some(name) = branches.keys().next() {
            let more = if branches.len() > 1 { format!(" and {} more", branches.len() - 1) } else { String::new() };
            let message = format!("the repository {url} is not empty: it has the branch {name}{more}");
            let help = "name an empty repository, without a README. For a control plane that exists, write a kalypso.toml with its URL";
            return Err(Failure::refused(message).help(help));
        }
    }
    Ok(())
}

/// The branches of a remote repository, with their commits.
fn branches(git: &Git, url: &str) -> Result<BTreeMap<String, String>, Failure> {
    let here = Path::new(".");
    let list =
        git.run(here, &["ls-remote", "--quiet", "--heads", "--", url]).map_err(|failure| unreachable(url, failure))?;
    let entry = |line: &str| {
        let (commit, name) = line.split_once('\t')?;
        Some((name.strip_prefix("refs/heads/")?.to_owned(), commit.to_owned()))
    };
    Ok(list.lines().filter_map(entry).collect())
}

fn unreachable(url: &str, failure: Failure) -> Failure {
    let message = format!("the repository {url} can't be read: {failure}");
    Failure::outside(message).help(format!(
        "does it exist, and may you read it? `git ls-remote {url}` must work. `--create` creates it on a git host"
    ))
}

/// Pushes the branches of the control plane that the remote repository does not have, and checks that the user may push to the GitOps repository.
pub(super) fn push(git: &Git, folder: &Path, answers: &Answers, made: &mut Made) -> Result<(), Failure> {
    let repository = folder.join(CONTROL_PLANE);
    if let Some(url) = &answers.control_plane.remote {
        let all: Vec<&str> = std::iter::once(MAIN).chain(answers.environments.iter().map(String::as_str)).collect();
        let is_new = push_missing(git, (&repository, url), &all)?;
        made.add(format!("{url}: {}", all.join(", ")), is_new);
    }
    if let Some(url) = &answers.gitops.remote {
        let trial = format!("{MAIN}:refs/heads/{TRIED}");
        let arguments = ["push", "--quiet", "--dry-run", "--", url, &trial];
        git.run(&repository, &arguments).map_err(|failure| refused(url, failure))?;
    }
    Ok(())
}

/// Pushes the branches that the remote repository does not have. Its name is `origin`. Returns whether there are any.
pub(super) fn push_missing(git: &Git, (repository, url): (&Path, &str), all: &[&str]) -> Result<bool, Failure> {
    let there = branches(git, url)?;
    let missing: Vec<_> = all.iter().filter(|name| !there.contains_key(**name)).collect();
    // Git hosts make the first branch the default one.
    for name in &missing {
        let arguments = ["push", "--quiet", "--set-upstream", "origin", name];
        git.run(repository, &arguments).map_err(|failure| refused(url, failure))?;
    }
    Ok(!missing.is_empty())
}

fn refused(url: &str, failure: Failure) -> Failure {
    let message = format!("the repository {url} can't be written: {failure}");
    Failure::outside(message)
        .help("give your account or token the permission to push, then run `init` again: it goes on where it stopped")
}
