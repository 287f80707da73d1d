//! Carries a plan out in a GitOps repository with plain branches. Pull requests on git hosts will go beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{SystemTime, UNIX_EPOCH};

use git::load::{Read, ReadRole};
use git::publish::{Change, Destination, Heads, PublishError, Published, Target};
use git::published::{held_trailers, kept_trailer};
use git::{Commit, Repositories, RepositoryError};
use model::diagnostic::AssignmentId;
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
    /// Where the branches were before the sources of the tree were read: nothing is pushed if they are not there any more.
    pub(crate) heads: Heads,
    /// The whole tree.
    pub(crate) tree: &'a Tree,
    /// Opens what is sealed in it.
    pub(crate) open: &'a Open<'a>,
    /// Why.
    pub(crate) message: &'a str,
    /// When, in seconds since 1970; now, if nothing is said.
    pub(crate) seconds: Option<i64>,
    /// Assignments that are rendered from earlier publications, with the commits of these.
    pub(crate) held: &'a BTreeMap<AssignmentId, GitId>,
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
    let failed = |error: PublishError| publish_failure(&error);
    if git::publish::heads(repositories, &destination).map_err(failed)? != delivery.heads {
        return Ok(Delivered::LostRace);
    }
    let target = git::publish::read(repositories, &destination, delivery.heads.clone()).map_err(failed)?;
    if *delivery.tree == target.base_tree {
        return withdraw(repositories, (&destination, &target), delivery.progress);
    }
    let (sources, kept) = sources(loaded, (repositories, &target.base)).map_err(|error| failed(error.into()))?;
    let trailers = sources.iter().map(|source| (git::published::SOURCE, source.as_str()));
    let held = held_trailers(delivery.held);
    let kept = kept.iter().map(|kept| (git::published::KEPT, kept.as_str()));
    let held = held.iter().map(|held| (git::published::HELD, held.as_str()));
    let trailers: Vec<_> = trailers.chain(kept).chain(held).collect();
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
    let seconds = delivery.seconds.unwrap_or_else(now);
    let Delivery { tree, open, message, folders, progress, .. } = *delivery;
    progress.begin(Phase::Writing).expect(folders);
    let change = Change { tree, open, message, trailers: &trailers, seconds, progress };
    let published =
        git::publish::publish(repositories, &destination, &target, &change).map_err(|error| publish_failure(&error))?;
    let branch = delivery.branch.unwrap_or(&delivery.place.branch).to_owned();
    Ok(match published {
        Published::Pushed(_) if delivery.branch.is_some() && has_moved(repositories, &destination, &target) => {
            Delivered::LostRace
        }
        Published::Pushed(commit) => Delivered::Pushed { branch, commit, seconds },
        Published::Unchanged(_) if delivery.branch.is_some() => Delivered::Proposed { branch },
        Published::Unchanged(_) => Delivered::UpToDate,
        Published::LostRace => Delivered::LostRace,
    })
}

/// Whether the base is not where it was, so that what was proposed for it is out of date. A host that does not answer now is no reason to say so.
fn has_moved(repositories: &dyn Repositories, destination: &Destination<'_>, target: &Target) -> bool {
    let base = Destination { branch: None, ..*destination };
    git::publish::heads(repositories, &base).is_ok_and(|now| now.base.id != target.base.id)
}

/// What the trailers say: the sources, and what is kept of them. What stays as it was published last, because what is there now can't be read, has the
/// sources that it had.
fn sources(
    loaded: &Loaded,
    (repositories, base): (&dyn Repositories, &Commit),
) -> Result<(BTreeSet<String>, BTreeSet<String>), RepositoryError> {
    let is_known = |read: &&Read| match &read.role {
        ReadRole::Application(registration) => !loaded.fleet.unavailable.contains(registration),
        _ => true,
    };
    let reads: Vec<_> = loaded.reads.iter().filter(is_known).cloned().collect();
    let mut sources = git::published::source_trailers(&reads);
    let mut kept: BTreeSet<_> = loaded.kept.iter().map(|(name, kept)| kept_trailer(name, kept)).collect();
    if loaded.fleet.unavailable.is_empty() {
        return Ok((sources, kept));
    }
    let published = git::published::Published::read(repositories, base, &loaded.fleet.environment)?;
    for name in &loaded.fleet.unavailable {
        let Some(registration) = loaded.fleet.registrations.get(name.as_str()) else { continue };
        let place = &registration.spec.workload;
        let Ok(url) = loaded.url(&place.repo) else { continue };
        let name = (url.as_str().to_owned(), place.branch.to_string());
        if let Some(last) = published.last(&name) {
            sources.insert(git::published::source_trailer(&name, last.commit));
            kept.extend(last.kept.iter().map(|object| kept_trailer(&name, object)));
        }
    }
    Ok((sources, kept))
}

/// The change has vanished: what proposed one is removed.
fn withdraw(
    repositories: &dyn Repositories,
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
