//! Proofs beside the stored state: whether an environment has proved a commit of the main branch.

use std::collections::BTreeMap;
use std::fmt;

use engine::promotion::evidence::Measured;
use engine::promotion::gates::{liveness_unknown, silent_in};
use git::load::Snapshot;
use git::publications::Publication;
use hub_api::evidence::PlaceEvidence;
use hub_api::places::PlaceState;
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::object::promotion::{Amount, GateKind, Promotion, Share};
use model::rollout::Counts;

use super::ancestry::contains;
use crate::access::RepositoryAccess;
use crate::reading;

/// Whether an environment has proved a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It has.
    Proved,
    /// It has not: the reason, in words.
    NotProved(String),
    /// It is not known: the reason, in words.
    Unknown(String),
}

/// A source of proofs.
pub trait Proof: fmt::Debug {
    /// Whether an environment has proved a commit of the main branch, by the gates of a promotion from it.
    fn proved(&self, environment: &EnvironmentName, commit: GitId, promotion: &Promotion) -> Answer;
}

/// Proofs by the hub: the environment has published the commit, or a newer one, and its reconcilers have applied it.
pub struct HubProof<'a> {
    /// The control plane.
    pub access: &'a RepositoryAccess,
    /// The hub.
    pub hub: &'a dyn PlaceEvidence,
}

impl fmt::Debug for HubProof<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HubProof")
    }
}

impl Proof for HubProof<'_> {
    fn proved(&self, environment: &EnvironmentName, commit: GitId, promotion: &Promotion) -> Answer {
        if let Some(soak) = promotion.gates.iter().find(|gate| matches!(gate.kind, GateKind::Soak(_))) {
            return Answer::Unknown(format!("the hub can't say how long it was good (gate `{}`)", soak.name));
        }
        match self.has_published(environment, commit) {
            Ok(true) => {}
            Ok(false) => return Answer::NotProved("it has not published the commit, nor a newer one".to_owned()),
            Err(reason) => return Answer::Unknown(reason),
        }
        match self.hub.place_states(environment.as_str(), None) {
            Ok(rows) => by_counts(&measured(&rows), promotion),
            Err(error) => Answer::Unknown(format!("the hub can't be asked: {error}")),
        }
    }
}

impl HubProof<'_> {
    /// Whether the last publication of the environment contains the commit, on all of its branches.
    fn has_published(&self, environment: &EnvironmentName, commit: GitId) -> Result<bool, String> {
        let access = self.access;
        let platform = Snapshot::new(&*access.repositories, access.control_plane()).platform(environment);
        let places: Vec<_> = platform.gitops_repos().map(|object| object.spec.place.clone()).collect();
        let read = reading::publications((access, environment), &places).map_err(|error| error.to_string())?;
        let newest: Vec<_> = read.iter().map(|publications| publications.newest()).collect();
        if newest.is_empty() {
            return Ok(false);
        }
        for publication in newest {
            let Some(publication) = publication else { return Ok(false) };
            if !self.has_commit(publication, commit)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn has_commit(&self, publication: &Publication, commit: GitId) -> Result<bool, String> {
        let url = self.access.settings.repo.as_str();
        for id in publication.sources.values().filter(|id| publication.has_pinned_source(url, **id)) {
            if contains(self.access, *id, commit)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The sum over all places. A place counts by the reconcilers of its own folder, and if there are none, by those of the folders in it.
fn measured(rows: &[PlaceState]) -> Measured {
    let mut places: BTreeMap<_, [Counts; 2]> = BTreeMap::new();
    for row in rows {
        let [own, inner] = places.entry((&row.repository, &row.branch, &row.place)).or_default();
        let sum = if row.target.is_none() { own } else { inner };
        sum.merge(&row.counts);
    }
    let mut total = Measured::default();
    for [own, inner] in places.into_values() {
        let counts = if own.expected > 0 { own } else { inner };
        total.add(engine::promotion::evidence::PlaceState::reported(&counts, true));
    }
    total
}

/// Whether the counts satisfy the gates of a promotion. Without such gates, all reconcilers must have applied the content.
fn by_counts(measured: &Measured, promotion: &Promotion) -> Answer {
    let Measured { expected, succeeded, failed, silent, .. } = *measured;
    let mut counts = format!("{succeeded} of {expected} reconcilers applied it, {failed} failed, {silent} are silent");
    if expected == 0 {
        return Answer::Unknown("the hub knows no reconciler of it".to_owned());
    }
    let (mut compliant, mut failures) = (None, None);
    for gate in &promotion.gates {
        match &gate.kind {
            GateKind::Compliant { share, .. } => compliant = Some(*share),
            GateKind::Failures(amount) => failures = Some(*amount),
            _ => {}
        }
    }
    let counted = measured.counted(silent_in(&promotion.gates));
    if counted.unknown > 0 {
        counts = format!("{counts}; {}", liveness_unknown(counted));
    }
    let is_good = compliant.unwrap_or(Share::ALL).is_reached(counted.applied, counted.expected) && counted.applied > 0;
    let is_within = counted.failed <= failures.unwrap_or(Amount::Count(0)).of(expected);
    if is_good && is_within { Answer::Proved } else { Answer::NotProved(counts) }
}
