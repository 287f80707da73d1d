//! Creates the branches of GitOps repositories that do not exist yet.
//!
//! A branch that did exist is never created again: clusters that pull it would remove everything. So nothing is created if this machine has seen the branch, or if a
//! pull request was merged into it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{SystemTime, UNIX_EPOCH};

use git::RepositoryUrl;
use git::publish::{DestinationBranch, PublishError, create_base};

use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::name::EnvironmentName;
use model::object::{GitOpsRepo, Object};

use crate::access::{RepositoryAccess, destination_url};
use crate::error::DestinationError;
use crate::pull_requests::{GitHosts, was_merged};
use crate::sources::heads::DestinationHeads;
use crate::sources::loaded::Loaded;

/// The maximum number of branches that a hint names.
const NAMED_MAX: usize = 3;

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
    // If the git host can't say it, the branch may have existed.
    let was_merged = hosts.map_or(Ok(false), |hosts| was_merged(hosts, &found.place, &found.proposing_branch));
    if !access.was_never_seen(&url, &found.place.branch) || was_merged.unwrap_or(true) {
        return None;
    }
    let environment = &loaded.fleet.environment;
    let destination = DestinationBranch { url: &url, base: &found.place.branch, branch: None, environment };
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
    let created = create_base(repositories, &destination, seconds, &access.progress);
    // If another program was faster, the branch exists now.
    Some(created.map(drop).map_err(DestinationError::from))
}

/// A branch that does not exist yet.
struct NewBranch<'a> {
    /// The position of the environment.
    position: usize,
    environment: &'a EnvironmentName,
    object: &'a Object<GitOpsRepo>,
}

/// The hints at branches that do not exist yet, by the positions of the environments. All new branches of a repository are one hint, of the first environment. The
/// branches of each repository are requested once. A repository that can't be read gives no hint: publishing reports it.
pub fn hints<'a>(environments: impl Iterator<Item = &'a Loaded>) -> Vec<Vec<Diagnostic>> {
    let mut known = BTreeMap::new();
    let mut new: BTreeMap<RepositoryUrl, Vec<NewBranch<'_>>> = BTreeMap::new();
    let mut hints = Vec::new();
    for (position, loaded) in environments.enumerate() {
        hints.push(Vec::new());
        let Some(access) = &loaded.access else { continue };
        let environment = &loaded.fleet.environment;
        for object in loaded.fleet.gitops_repos.values() {
            let Ok(url) = destination_url(Some(access), &object.spec.place.repo) else { continue };
            if is_new(access, (&url, &object.spec.place.branch), &mut known) {
                new.entry(url).or_default().push(NewBranch { position, environment, object });
            }
        }
    }
    for (url, branches) in new {
        if let Some(hints) = branches.first().and_then(|first| hints.get_mut(first.position)) {
            hints.extend(hint(&url, &branches));
        }
    }
    hints
}

/// The names of all references of repositories. None for one that can't be read.
type References = BTreeMap<RepositoryUrl, Option<BTreeSet<String>>>;

fn is_new(access: &RepositoryAccess, (url, branch): (&RepositoryUrl, &str), known: &mut References) -> bool {
    let names = known.entry(url.clone()).or_insert_with(|| {
        let references = access.repositories.references(url).ok()?;
        Some(references.into_keys().collect())
    });
    let is_there = names.as_ref().is_none_or(|names| names.contains(&format!("refs/heads/{branch}")));
    !is_there && access.was_never_seen(url, branch)
}

fn hint(url: &RepositoryUrl, branches: &[NewBranch<'_>]) -> Option<Diagnostic> {
    let first = branches.first()?;
    let names: Vec<_> = branches.iter().map(|new| format!("`{}`", new.object.spec.place.branch)).collect();
    let shown = names.get(..NAMED_MAX.min(names.len()))?.join(", ");
    let more = names.len().saturating_sub(NAMED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let word = if names.len() == 1 { "branch" } else { "branches" };
    let which = if names.len() == 1 { format!("-e {}", first.environment) } else { "--all".to_owned() };
    let them = if names.len() == 1 { "it" } else { "them" };
    let origin = Origin::field(&first.object.key(), FieldPath::from(["spec", "branch"]));
    let hint = Diagnostic::hint(Code::NewBranch, format!("{} has no {word} {shown}{more} yet", url.label()));
    let hint = hint.at(origin, "").help(format!("`kalypso publish {which}` creates {them}"));
    Some(hint.about(&first.object.key()))
}
