//! Carries a plan out in a GitOps repository with plain branches. Pull requests on git hosts will go beside it.

use std::time::{SystemTime, UNIX_EPOCH};

use git::publish::{Change, Destination, Published, Target};
use model::git_id::GitId;
use model::object::environment::RepositoryPlace;
use model::progress::{Phase, Progress};
use model::tree::{Open, Tree};

use crate::loading::{Loaded, publish_failure};

/// What is to be pushed.
pub(crate) struct Delivery<'a> {
    /// The GitOps repository and the branch that clusters pull.
    pub(crate) place: &'a RepositoryPlace,
    /// The branch to propose the change on; none to push to the branch itself.
    pub(crate) branch: Option<&'a str>,
    /// The commit of the branch that the tree was made for.
    pub(crate) base: Option<GitId>,
    /// The whole tree.
    pub(crate) tree: &'a Tree,
    /// Opens what is sealed in it.
    pub(crate) open: &'a Open<'a>,
    /// Why.
    pub(crate) message: &'a str,
    /// When, in seconds since 1970; now, if nothing is said.
    pub(crate) seconds: Option<i64>,
    /// How many folders of it are not as they are in the branch.
    pub(crate) folders: usize,
    /// Where they are counted.
    pub(crate) progress: &'a Progress,
}

/// What came of it.
pub(crate) enum Delivered {
    /// It was pushed, in a commit that was made at that moment, in seconds since 1970.
    Pushed { branch: String, commit: GitId, seconds: i64 },
    /// The proposing branch holds it already.
    Proposed { branch: String },
    /// The branch that clusters pull is as it should be.
    UpToDate,
    /// That too, and a branch that proposed something else, or was merged, was removed.
    Withdrawn { branch: String, is_merged: bool },
    /// Somebody else pushed at the same moment: look again.
    LostRace,
}

/// Pushes a tree. Does nothing where it is there already.
pub(crate) fn deliver(loaded: &Loaded, delivery: &Delivery<'_>) -> anyhow::Result<Delivered> {
    let Some(here) = &loaded.place else { anyhow::bail!("a plain directory can't be published") };
    let url = loaded.url(&delivery.place.repo)?;
    let destination = Destination {
        url: &url,
        base: &delivery.place.branch,
        branch: delivery.branch,
        environment: &loaded.fleet.environment,
    };
    let repositories = &here.repositories;
    let target = git::publish::look(repositories, &destination).map_err(|error| publish_failure(&error))?;
    if Some(target.base.id) != delivery.base {
        return Ok(Delivered::LostRace);
    }
    if *delivery.tree == target.base_tree {
        return withdraw(repositories, (&destination, &target), delivery.progress);
    }
    let sources: Vec<_> = loaded.published_sources().collect();
    let trailers: Vec<_> = sources.iter().map(|source| (crate::pinned::SOURCE, source.as_str())).collect();
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
    let seconds = delivery.seconds.unwrap_or_else(now);
    let Delivery { tree, open, message, folders, progress, .. } = *delivery;
    progress.begin(Phase::Writing).expect(folders);
    let change = Change { tree, open, message, trailers: &trailers, seconds, progress };
    let published =
        git::publish::publish(repositories, &destination, &target, &change).map_err(|error| publish_failure(&error))?;
    let branch = delivery.branch.unwrap_or(&delivery.place.branch).to_owned();
    Ok(match published {
        Published::Pushed(commit) => Delivered::Pushed { branch, commit, seconds },
        Published::Unchanged(_) if delivery.branch.is_some() => Delivered::Proposed { branch },
        Published::Unchanged(_) => Delivered::UpToDate,
        Published::LostRace => Delivered::LostRace,
    })
}

/// The change has vanished: what proposed one is removed.
fn withdraw(
    repositories: &dyn git::Repositories,
    (destination, target): (&Destination<'_>, &Target),
    progress: &Progress,
) -> anyhow::Result<Delivered> {
    let (Some(branch), Some(_)) = (destination.branch, &target.branch) else { return Ok(Delivered::UpToDate) };
    let is_merged = target.branch_tree.as_ref() == Some(&target.base_tree);
    let published =
        git::publish::withdraw(repositories, destination, target, progress).map_err(|error| publish_failure(&error))?;
    Ok(match published {
        Published::LostRace => Delivered::LostRace,
        _ => Delivered::Withdrawn { branch: branch.to_owned(), is_merged },
    })
}
