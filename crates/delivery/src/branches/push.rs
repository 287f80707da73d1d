//! Pushes a tree to a branch of a GitOps repository.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{SystemTime, UNIX_EPOCH};

use git::load::{Read, ReadRole};
use git::publications::{held_trailers, kept_trailer};
use git::publish::{
    BranchChange, DestinationBranch, DestinationState, ForeignCommits, Heads, PublishError, PushOutcome,
};
use git::{Commit, Repositories, RepositoryError};
use model::diagnostic::AssignmentId;
use model::git_id::GitId;
use model::object::environment::RepositoryPlace;
use model::progress::{Progress, ProgressPhase};
use model::tree::{Open, Tree};

use crate::error::DestinationError;
use crate::sources::loaded::Loaded;
use crate::write_lease::WriteLease;

/// A tree to push, with its destination.
pub struct Delivery<'a> {
    /// The GitOps repository and the branch that clusters pull.
    pub place: &'a RepositoryPlace,
    /// The proposing branch. None: the commit goes directly to the branch that clusters pull.
    pub branch: Option<&'a str>,
    /// The heads of the branches before the sources of the tree were read. If a branch has moved since, nothing is pushed.
    pub heads: Heads,
    /// The whole tree.
    pub tree: &'a Tree,
    /// Opens the sealed folders of the tree.
    pub open: &'a Open<'a>,
    /// The text of the commit message, without trailers.
    pub message: &'a str,
    /// The time of the commit, in seconds since 1970. None: the current time.
    pub seconds: Option<i64>,
    /// The assignments that are rendered from earlier publications, with the commits of these publications.
    pub held: &'a BTreeMap<AssignmentId, GitId>,
    /// The commit of the proposing branch of which output stays. None: only output of the branch that clusters pull does.
    pub proposed: Option<&'a Commit>,
    /// The commit with the states of the rollouts, if the environment has rings.
    pub rollouts: Option<GitId>,
    /// The version of Kalypso that rendered all of the tree. None: several did, or no promotion leads to the environment.
    pub renderer: Option<&'a str>,
    /// What happens to commits of others on the proposing branch.
    pub foreign: ForeignCommits,
    /// Whether the git host merged this head of the proposing branch: then the commits of others on it are not needed any more.
    pub was_merged: &'a dyn Fn(GitId) -> bool,
    /// The number of folders that differ from the branch.
    pub folders: usize,
    /// The permission to write. None: it is not limited.
    pub lease: Option<&'a WriteLease>,
    /// Counts the written folders.
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
    /// The proposing branch already has this tree.
    Proposed {
        /// The proposing branch.
        branch: String,
    },
    /// The branch that clusters pull already has this tree.
    UpToDate,
    /// The branch that clusters pull already has this tree. The proposing branch, which was merged or had another tree, was deleted.
    Withdrawn {
        /// The proposing branch.
        branch: String,
        /// Whether its change was merged.
        is_merged: bool,
    },
    /// The branch that clusters pull already has this tree. The proposing branch has a commit of a person, and stays.
    Left(PublishError),
    /// Another program pushed at the same time. The caller must read everything again.
    LostRace,
}

/// Pushes a tree. Does nothing if the branch already has it.
///
/// # Errors
/// If the repository can't be reached, or refuses the push. If the lease has ended. If the environment was read from a plain directory.
pub fn deliver(loaded: &Loaded, delivery: &Delivery<'_>) -> Result<Delivered, DestinationError> {
    let access = loaded.access.as_ref().ok_or(DestinationError::Directory)?;
    let url = loaded.url(&delivery.place.repo)?;
    let destination = DestinationBranch {
        url: &url,
        base: &delivery.place.branch,
        branch: delivery.branch,
        environment: &loaded.fleet.environment,
    };
    let repositories = &*access.repositories;
    if git::publish::heads(repositories, &destination)? != delivery.heads {
        return Ok(Delivered::LostRace);
    }
    let state = git::publish::state_at(repositories, &destination, delivery.heads.clone(), ForeignCommits::Replace)?;
    delivery.lease.map_or(Ok(()), WriteLease::check)?;
    let is_up_to_date = *delivery.tree == state.base_tree;
    match check_commits(repositories, (&destination, &state), delivery) {
        Err(error @ PublishError::Foreign { .. }) if is_up_to_date => return Ok(Delivered::Left(error)),
        checked => checked?,
    }
    if is_up_to_date {
        return withdraw(repositories, (&destination, &state), delivery.progress);
    }
    let kept_from = delivery.proposed.unwrap_or(&state.base);
    let (sources, kept) = sources(loaded, (repositories, kept_from)).map_err(PublishError::from)?;
    let trailers = sources.iter().map(|source| (git::publications::SOURCE, source.as_str()));
    let held = held_trailers(delivery.held);
    let kept = kept.iter().map(|kept| (git::publications::KEPT, kept.as_str()));
    let held = held.iter().map(|held| (git::publications::HELD, held.as_str()));
    let rollouts = delivery.rollouts.map(|commit| commit.to_string());
    let rollouts = rollouts.iter().map(|commit| (git::publications::ROLLOUTS, commit.as_str()));
    let overridden = loaded.enforced.override_reason.iter();
    let overridden = overridden.map(|reason| (git::publications::OVERRIDE, &**reason));
    let promoted = loaded.admission.as_ref().and_then(|admission| admission.main).map(|commit| commit.to_string());
    let promoted = promoted.iter().map(|commit| (git::publications::PROMOTED, commit.as_str()));
    let releases = loaded.admission.iter().flat_map(|admission| &admission.releases);
    let releases: Vec<_> = releases.map(|(name, version)| git::publications::release_trailer(name, version)).collect();
    let releases = releases.iter().map(|release| (git::publications::RELEASE, release.as_str()));
    let renderer = delivery.renderer.map(|version| (git::publications::RENDERER, version));
    let trailers = trailers.chain(promoted).chain(releases).chain(kept).chain(held).chain(rollouts);
    let trailers = trailers.chain(renderer).chain(overridden);
    let trailers: Vec<_> = trailers.collect();
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
    let seconds = delivery.seconds.unwrap_or_else(now);
    let Delivery { tree, open, message, folders, progress, .. } = *delivery;
    progress.begin(ProgressPhase::Writing).expect(folders);
    let change = BranchChange { tree, open, message, trailers: &trailers, seconds, progress };
    let outcome = git::publish::publish(repositories, &destination, &state, &change)?;
    let branch = delivery.branch.unwrap_or(&delivery.place.branch).to_owned();
    Ok(match outcome {
        PushOutcome::Pushed(_) if delivery.branch.is_some() && has_moved(repositories, &destination, &state) => {
            Delivered::LostRace
        }
        PushOutcome::Pushed(commit) => Delivered::Pushed { branch, commit, seconds },
        PushOutcome::Unchanged(_) if delivery.branch.is_some() => Delivered::Proposed { branch },
        PushOutcome::Unchanged(_) => Delivered::UpToDate,
        PushOutcome::LostRace => Delivered::LostRace,
    })
}

/// Checks that the proposing branch may be replaced. It may if it has the new content already: then the commits of a person lose nothing.
fn check_commits(
    repositories: &dyn Repositories,
    (destination, state): (&DestinationBranch<'_>, &DestinationState),
    delivery: &Delivery<'_>,
) -> Result<(), PublishError> {
    let is_same = state.branch_tree.as_ref() == Some(delivery.tree);
    if delivery.foreign == ForeignCommits::Replace || is_same {
        return Ok(());
    }
    match git::publish::check_commits(repositories, destination, &delivery.heads) {
        Err(PublishError::Foreign { .. })
            if delivery.heads.branch.as_ref().is_some_and(|head| (delivery.was_merged)(head.id)) =>
        {
            Ok(())
        }
        checked => checked,
    }
}

/// Whether the base branch has moved, so that the proposed change is outdated. If the repository can't be reached, returns false.
fn has_moved(repositories: &dyn Repositories, destination: &DestinationBranch<'_>, state: &DestinationState) -> bool {
    let base = DestinationBranch { branch: None, ..*destination };
    git::publish::heads(repositories, &base).is_ok_and(|now| now.base.id != state.base.id)
}

/// The values of the trailers for sources and for kept objects. If an application can't be read, its last output at this commit stays. Then its last source is
/// listed again.
pub(crate) fn sources(
    loaded: &Loaded,
    (repositories, head): (&dyn Repositories, &Commit),
) -> Result<(BTreeSet<String>, BTreeSet<String>), RepositoryError> {
    let is_known = |read: &&Read| match &read.role {
        ReadRole::Application(registration) => !loaded.fleet.unavailable.contains(registration),
        _ => true,
    };
    let mut sources: BTreeSet<_> = loaded.reads.iter().filter(is_known).map(Read::source_trailer).collect();
    let mut kept: BTreeSet<_> = loaded.kept.iter().map(|(name, kept)| kept_trailer(name, kept)).collect();
    if loaded.fleet.unavailable.is_empty() {
        return Ok((sources, kept));
    }
    let published = git::publications::Publications::read(repositories, head, &loaded.fleet.environment)?;
    let names = loaded.fleet.unavailable.iter().filter_map(|name| loaded.source_name(name.as_str()));
    for name in names {
        if let Some(last) = published.last(&name) {
            sources.insert(git::publications::source_trailer(&name, last.commit));
            kept.extend(last.kept.iter().map(|object| kept_trailer(&name, object)));
        }
    }
    Ok((sources, kept))
}

/// Deletes the proposing branch, because there is no change to propose.
fn withdraw(
    repositories: &dyn Repositories,
    (destination, state): (&DestinationBranch<'_>, &DestinationState),
    progress: &Progress,
) -> Result<Delivered, DestinationError> {
    let (Some(branch), Some(_)) = (destination.branch, &state.branch) else { return Ok(Delivered::UpToDate) };
    let is_merged = state.branch_tree.as_ref() == Some(&state.base_tree);
    let outcome = git::publish::withdraw(repositories, destination, state, progress)?;
    Ok(match outcome {
        PushOutcome::LostRace => Delivered::LostRace,
        _ => Delivered::Withdrawn { branch: branch.to_owned(), is_merged },
    })
}
