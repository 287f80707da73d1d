//! The heads of the branches that an environment's output goes to.

use std::collections::BTreeSet;

use git::RepositoryError;
use git::load::PlatformPart;
use git::publish::{Destination, Heads, PublishError};
use git::published::Published;
use model::name::EnvironmentName;
use model::object::environment::RepositoryPlace;

use crate::access::{RepositoryAccess, destination_url};

/// A place that output goes to, with the heads of its branches.
#[derive(Clone, Debug)]
pub struct DestinationHeads {
    /// The `GitOpsRepo`.
    pub name: String,
    /// The repository and the branch that clusters pull.
    pub place: RepositoryPlace,
    /// The branch that changes are proposed on.
    pub proposing_branch: String,
    /// Where both branches were before the sources were read.
    pub heads: Result<Heads, PublishError>,
}

/// The heads of the branches that output goes to. `only` names the one `GitOpsRepo` to read.
pub(crate) fn read(
    access: &RepositoryAccess,
    platform: &PlatformPart,
    (environment, only): (&EnvironmentName, Option<&str>),
) -> Vec<DestinationHeads> {
    let names: BTreeSet<_> = platform.gitops_repos().map(|object| object.name.as_str()).collect();
    let is_only_one = names.len() == 1;
    let wanted = platform.gitops_repos().filter(|object| only.is_none_or(|only| only == object.name.as_str()));
    let mut found = Vec::new();
    for object in wanted {
        // A URL that is not allowed is reported by who uses it.
        let Ok(url) = destination_url(Some(access), &object.spec.place.repo) else { continue };
        let (name, to) = (object.name.to_string(), object.spec.place.clone());
        let proposing_branch = proposing_branch(environment, (!is_only_one).then_some(name.as_str()));
        let destination = Destination { url: &url, base: &to.branch, branch: Some(&proposing_branch), environment };
        let heads = git::publish::heads(&*access.repositories, &destination);
        found.push(DestinationHeads { name, place: to, proposing_branch, heads });
    }
    found
}

/// The branch that changes are proposed on; where there are several places, each has its own.
fn proposing_branch(environment: &EnvironmentName, gitops_repo: Option<&str>) -> String {
    match gitops_repo {
        None => format!("kalypso/{environment}"),
        Some(name) => format!("kalypso/{environment}--{name}"),
    }
}

/// What was published, and what is proposed, on the branches that these are the heads of.
pub(crate) fn published(
    access: &RepositoryAccess,
    environment: &EnvironmentName,
    found: &[DestinationHeads],
) -> Result<Vec<Published>, RepositoryError> {
    let heads = found.iter().filter_map(|found| found.heads.as_ref().ok());
    let heads = heads.flat_map(|heads| [Some(&heads.base), heads.branch.as_ref()]).flatten();
    heads.map(|head| Published::read(&*access.repositories, head, environment)).collect()
}
