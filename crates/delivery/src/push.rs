//! Pushes a tree to a branch of a GitOps repository.

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

use crate::error::DestinationError;
use crate::loaded::Loaded;

/// A tree, and where it is pushed.
pub struct Delivery<'a> {
    /// The GitOps repository and the branch that clusters pull.
    pub place: &'a RepositoryPlace,
    /// The branch to propose the change on; none to push to the branch itself.
    pub branch: Option<&'a str>,
    /// Where the branches were before the sources of the tree were read: nothing is pushed if they are not there any more.
    pub heads: Heads,
    /// The whole tree.
    pub tree: &'a Tree,
    /// Opens what is sealed in it.
    pub open: &'a Open<'a>,
    /// Why.
    pub message: &'a str,
    /// When, in seconds since 1970; now, if nothing is said.
    pub seconds: Option<i64>,
    /// Assignments that are rendered from earlier publications, with the commits of these.
    pub held: &'a BTreeMap<AssignmentId, GitId>,
    /// How many folders of it are not as they are in the branch.
    pub folders: usize,
    /// Where they are counted.
    pub progress: &'a Progress,
}

/// The result of a push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivered {
    /// A commit was pushed.
    Pushed {
        /// The branch.
        branch: String,
        /// The new commit.
        commit: GitId,
        /// Its time, in seconds since 1970.
        seconds: i64,
    },
    /// The proposing branch holds it already.
    Proposed {
        /// The proposing branch.
        branch: String,
    },
    /// The branch that clusters pull is as it should be.
    UpToDate,
    /// That too, and a branch that proposed something else, or was merged, was removed.
    Withdrawn {
        /// The proposing branch.
        branch: String,
        /// Whether its change was merged.
        is_merged: bool,
    },
    /// Another program pushed at the same time: everything has to be read again.
    LostRace,
}

/// Pushes a tree. Does nothing where it is there already.
///
/// # Errors
/// If the repository can't be reached, or refuses.
pub fn deliver(loaded: &Loaded, delivery: &Delivery<'_>) -> Result<Delivered, DestinationError> {
    let access = loaded.access.as_ref().ok_or(DestinationError::Directory)?;
    let url = loaded.url(&delivery.place.repo)?;
    let destination = Destination {
        url: &url,
        base: &delivery.place.branch,
        branch: delivery.branch,
        environment: &loaded.fleet.environment,
    };
    let repositories = &*access.repositories;
    if git::publish::heads(repositories, &destination)? != delivery.heads {
        return Ok(Delivered::LostRace);
    }
    let target = git::publish::read(repositories, &destination, delivery.heads.clone())?;
    if *delivery.tree == target.base_tree {
        return withdraw(repositories, (&destination, &target), delivery.progress);
    }
    let (sources, kept) = sources(loaded, (repositories, &target.base)).map_err(PublishError::from)?;
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
    let published = git::publish::publish(repositories, &destination, &target, &change)?;
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
) -> Result<Delivered, DestinationError> {
    let (Some(branch), Some(_)) = (destination.branch, &target.branch) else { return Ok(Delivered::UpToDate) };
    let is_merged = target.branch_tree.as_ref() == Some(&target.base_tree);
    let published = git::publish::withdraw(repositories, destination, target, progress)?;
    Ok(match published {
        Published::LostRace => Delivered::LostRace,
        _ => Delivered::Withdrawn { branch: branch.to_owned(), is_merged },
    })
}
