//! The heads of the branches that an environment's output goes to.

use std::collections::BTreeSet;

use git::RepositoryError;
use git::load::PlatformPart;
use git::publications::Publications;
use git::publish::{DestinationBranch, Heads, PublishError};
use model::name::EnvironmentName;
use model::object::environment::RepositoryPlace;

use crate::access::{RepositoryAccess, destination_url};

/// A destination of output, with the heads of its branches.
#[derive(Clone, Debug)]
pub struct DestinationHeads {
    /// The `GitOpsRepo`.
    pub name: String,
    /// The repository and the branch that clusters pull.
    pub place: RepositoryPlace,
    /// The proposing branch.
    pub proposing_branch: String,
    /// The heads of both branches before the sources were read.
    pub heads: Result<Heads, PublishError>,
}

/// Reads the heads of the branches that output goes to. `only` names the one `GitOpsRepo` to read.
pub(crate) fn read(
    access: &RepositoryAccess,
    platform: &PlatformPart,
    (environment, only): (&EnvironmentName, Option<&str>),
) -> Vec<DestinationHeads> {
    let names: BTreeSet<_> = platform.gitops_repos().map(|object| object.name.as_str()).collect();
    let is_only_one = names.len() == 1;
    let selected = platform.gitops_repos().filter(|object| only.is_none_or(|only| only == object.name.as_str()));
    let mut found = Vec::new();
    for object in selected {
        // If the URL is not allowed, `Branch::read` reports it later.
        let Ok(url) = destination_url(Some(access), &object.spec.place.repo) else { continue };
        let (name, place) = (object.name.to_string(), object.spec.place.clone());
        let proposing_branch = proposing_branch(environment, (!is_only_one).then_some(name.as_str()));
        let destination =
            DestinationBranch { url: &url, base: &place.branch, branch: Some(&proposing_branch), environment };
        let heads = git::publish::heads(&*access.repositories, &destination);
        found.push(DestinationHeads { name, place, proposing_branch, heads });
    }
    found
}

/// The name of the proposing branch. If the environment has several destinations, each has a separate proposing branch.
pub(crate) fn proposing_branch(environment: &EnvironmentName, gitops_repo: Option<&str>) -> String {
    match gitops_repo {
        None => format!("kalypso/{environment}"),
        Some(name) => format!("kalypso/{environment}--{name}"),
    }
}

/// Reads the publications from the heads of all branches, including the proposing branches.
pub(crate) fn publications(
    access: &RepositoryAccess,
    environment: &EnvironmentName,
    found: &[DestinationHeads],
) -> Result<Vec<Publications>, RepositoryError> {
    let heads = found.iter().filter_map(|found| found.heads.as_ref().ok());
    let heads = heads.flat_map(|heads| [Some(&heads.base), heads.branch.as_ref()]).flatten();
    heads.map(|head| Publications::read(&*access.repositories, head, environment)).collect()
}
