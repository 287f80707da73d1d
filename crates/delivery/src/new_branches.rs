//! Creates the branches of GitOps repositories that do not exist yet.
//!
//! A branch that did exist is never created again: clusters that pull it would remove everything. So nothing is created if this machine has seen the branch, or if a
//! pull request was merged into it.

use std::time::{SystemTime, UNIX_EPOCH};

use git::Revision;
use git::publish::{Destination, PublishError, create_base};

use crate::error::DestinationError;
use crate::heads::DestinationHeads;
use crate::loaded::Loaded;
use crate::pull_requests::{GitHosts, was_merged};

/// Creates the missing branches that clusters pull. Returns the results by the names of the `GitOpsRepo` objects. It is empty if no branch can be created.
pub(crate) fn create(loaded: &Loaded, hosts: Option<&GitHosts>) -> Vec<(String, Result<(), DestinationError>)> {
    let is_missing = |found: &&DestinationHeads| matches!(found.heads, Err(PublishError::NoBase { .. }));
    let missing = loaded.destinations.iter().filter(is_missing);
    missing.filter_map(|found| Some((found.name.clone(), create_one(loaded, hosts, found)?))).collect()
}

/// None if the branch must not be created.
fn create_one(
    loaded: &Loaded,
    hosts: Option<&GitHosts>,
    found: &DestinationHeads,
) -> Option<Result<(), DestinationError>> {
    let access = loaded.access.as_ref()?;
    let repositories = &*access.repositories;
    let url = loaded.url(&found.place.repo).ok()?;
    let revision = Revision::branch(&found.place.branch);
    let was_seen = repositories.cached(&url, &revision).is_some() || !repositories.seen(&url, &revision).is_empty();
    // If the git host can't say it, the branch may have existed.
    let was_merged = hosts.map_or(Ok(false), |hosts| was_merged(hosts, &found.place, &found.proposing_branch));
    if was_seen || was_merged.unwrap_or(true) {
        return None;
    }
    let environment = &loaded.fleet.environment;
    let destination = Destination { url: &url, base: &found.place.branch, branch: None, environment };
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
    let created = create_base(repositories, &destination, seconds, &access.progress);
    // If another program was faster, the branch exists now.
    Some(created.map(drop).map_err(DestinationError::from))
}
