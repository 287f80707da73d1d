//! Whether a publication left the environment settled: everything is on the GitOps branches, and the hub knows it.

use std::sync::Arc;

use engine::promotion::step::Settled;
use git::Commit;
use git::load::ReadRole;
use model::git_id::GitId;
use model::object::base_repo::MAIN;

use super::published_folders::{self, GitOpsCommit};
use super::release_facts::{self, Releases};
use super::unsettled;
use crate::branches::push::Delivered;
use crate::output::changes::removed_text;
use crate::output::refusal::Refusal;
use crate::publication::publish::{End, Outcome, PlaceOutcome};
use crate::pull_requests::PullRequestLink;
use crate::pull_requests::admission::ProposedOutput;
use crate::sources::found_sources::{self, FoundSource};
use crate::sources::loaded::Loaded;

/// What a publication of an environment tells a step.
#[derive(Clone, Debug)]
pub struct PublicationFacts {
    /// The commit of the main branch that was published. None: the environment does not build on the main branch.
    pub commit: Option<GitId>,
    /// The head of the environment's branch that was published. None: it is not known.
    pub head: Option<GitId>,
    /// Whether the environment has rings.
    has_rings: bool,
    /// The sources beside the main branch. None: not all of them are known.
    pub sources: Option<Vec<FoundSource>>,
    /// The releases of the workloads.
    pub releases: Releases,
    /// The commits of the GitOps branches, sorted.
    pub gitops: Vec<GitOpsCommit>,
    /// The output that waits in pull requests where the status `kalypso/admission` decides about their merge.
    pub proposed: Vec<ProposedOutput>,
    /// What keeps output from the branches that clusters pull, and people can end.
    pub open: Vec<OpenOutput>,
    /// Whether a change of the output waits in a pull request.
    is_proposed: bool,
    /// Whether the GitOps branches have everything that was rendered. False if nothing was tried.
    is_out: bool,
    /// The commit with the states whose admitted revisions were rendered. None: nothing is admitted.
    state: Option<GitId>,
    /// Whether everything is on the GitOps branches without errors. Rollouts do not count.
    pub settled: Settled,
}

impl PublicationFacts {
    /// What the result of a publication tells.
    pub fn from_outcome(outcome: &Outcome) -> Self {
        let loaded = match &outcome.end {
            End::Incomplete(loaded) => Some(loaded),
            _ => outcome.places.last().map(|place| &place.loaded),
        };
        let read = |role: &ReadRole| {
            let reads = loaded.map(|loaded| loaded.reads.as_slice()).unwrap_or_default();
            reads.iter().find(|read| read.role == *role).map(|read| read.commit)
        };
        let is_main = |role: &ReadRole| matches!(role, ReadRole::Base(name) if name.as_str() == MAIN);
        let main = loaded.and_then(|loaded| loaded.reads.iter().find(|read| is_main(&read.role)));
        let has_rings = outcome.places.iter().any(|place| place.planned.rings.is_some());
        let (commit, head) = (main.map(|read| read.commit), read(&ReadRole::Environment));
        let releases = outcome.places.last().map(|place| release_facts::of_planned(&place.planned)).unwrap_or_default();
        let gitops = published_folders::sorted(outcome.places.iter().filter_map(gitops_commit));
        let sources = loaded.filter(|loaded| loaded.is_complete).and_then(sources);
        let proposed = outcome.places.iter().filter_map(|place| place.proposed.clone());
        let proposed = proposed.collect();
        let open = outcome.places.iter().flat_map(open_output).collect();
        let is_proposed = outcome.places.iter().any(PlaceOutcome::is_proposed);
        let is_out = !is_proposed && outcome.failures.is_empty() && outcome.places.iter().all(is_delivered);
        let admission = loaded.and_then(|loaded| loaded.admission.as_ref());
        let (state, settled) = (admission.map(|admission| admission.state), unsettled::settled(outcome));
        Self { commit, head, has_rings, sources, releases, gitops, proposed, open, is_proposed, is_out, state, settled }
    }

    /// Whether a change of the output waits in a pull request.
    pub fn is_proposed(&self) -> bool {
        self.is_proposed
    }

    /// Whether the GitOps branches have everything that was rendered.
    pub(super) fn is_out(&self) -> bool {
        self.is_out
    }

    /// Whether the GitOps branches have what these states admit.
    pub(super) fn has_state(&self, head: Option<&Commit>) -> bool {
        self.is_out && self.state.is_some() && self.state == head.map(|head| head.id)
    }

    /// Whether the environment has rings, so that its rollouts are compared with what was published.
    pub fn has_rings(&self) -> bool {
        self.has_rings
    }
}

/// Output that waits for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenOutput {
    /// Removals that need a confirmation.
    Removals {
        /// The word that confirms exactly these.
        word: String,
        /// What is removed, in words.
        removed: String,
    },
    /// A pull request that needs a merge.
    Proposed {
        /// The pull request.
        link: PullRequestLink,
        /// What the git host refused, such as an automatic merge.
        incomplete: Vec<String>,
    },
}

impl OpenOutput {
    /// The pull request that needs a merge.
    pub(super) fn pull_request(&self) -> Option<&PullRequestLink> {
        match self {
            Self::Proposed { link, .. } => Some(link),
            Self::Removals { .. } => None,
        }
    }
}

fn open_output(place: &PlaceOutcome) -> Vec<OpenOutput> {
    let is_unconfirmed = place.planned.has_waiting_removals() || place.refusals.iter().any(Refusal::is_unconfirmed);
    let word = is_unconfirmed.then(|| place.planned.confirmation_word());
    let removals = word.flatten().map(|word| OpenOutput::Removals { word, removed: removed_text(&place.planned) });
    let proposed = place.open_pull_request().cloned().map(|link| {
        let found = place.pull_request.as_ref().and_then(|found| found.as_ref().ok());
        OpenOutput::Proposed { link, incomplete: found.map(|found| found.incomplete.clone()).unwrap_or_default() }
    });
    removals.into_iter().chain(proposed).collect()
}

fn is_delivered(place: &PlaceOutcome) -> bool {
    !matches!(place.delivered, None | Some(Delivered::LostRace))
}

fn sources(loaded: &Arc<Loaded>) -> Option<Vec<FoundSource>> {
    Some(found_sources::of_reads(loaded.access.as_ref()?, &loaded.reads))
}

/// The commit of the branch that clusters pull.
fn gitops_commit(place: &PlaceOutcome) -> Option<GitOpsCommit> {
    let target = &place.planned.target;
    let commit = match &place.delivered {
        Some(Delivered::Pushed { branch, commit, .. }) if **branch == *target.place.branch => Some(*commit),
        _ => target.branch.commit(),
    };
    Some(GitOpsCommit { place: target.place.clone(), commit: commit?, removals: unsettled::removals(place) })
}
