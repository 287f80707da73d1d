//! The workloads of an environment on their way through its rings: reads what a decision needs, and what is stored with it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::promotion::evidence::{Authors, PlaceReports};
use engine::promotion::state::{BranchPosition, GateRecord, Move, Revision, RolloutState};
use engine::promotion::step::{Known, RevisionEvidence, RolloutFacts};
use hub_api::endpoint::repository;
use hub_api::places::PlaceState;
use model::git_id::GitId;
use model::object::promotion::{Gate, Promotion, Ring};

use super::changes::forget_texts;
use super::context::{Context, Memory};
use super::evidence::CheckRequest;
use super::line;
use super::place_sums::PlaceSums;
use crate::branches::push::Delivered;
use crate::output::gitops_destination::BranchSide;
use crate::output::rings::{Newest, Returning, Rings, WorkloadPlaces};
use crate::publication::publish::{Outcome, PlaceOutcome};
use crate::states::rollout_store::{RevisionSources, StoredRollout, StoredStates};

/// A destination of a publication with rings.
#[derive(Clone, Copy)]
pub(super) struct Destination<'a> {
    place: &'a PlaceOutcome,
    pub(super) rings: &'a Rings,
}

impl<'a> Destination<'a> {
    /// All destinations. Empty: the environment has no rings.
    pub(super) fn all(outcome: &'a Outcome) -> Vec<Self> {
        let of = |place: &'a PlaceOutcome| Some(Self { place, rings: place.planned.rings.as_ref()? });
        outcome.places.iter().filter_map(of).collect()
    }

    fn side(self) -> BranchSide<'a> {
        BranchSide { compiled: &self.place.planned.compiled, target: &self.place.planned.target }
    }

    /// The head of the branch that clusters pull.
    pub(super) fn head(self) -> Option<(&'a str, GitId)> {
        let target = &self.place.planned.target;
        let pushed = match &self.place.delivered {
            Some(Delivered::Pushed { branch, commit, .. }) if **branch == *target.place.branch => Some(*commit),
            _ => None,
        };
        Some((target.name.as_str(), pushed.or_else(|| target.branch.commit())?))
    }
}

/// A workload in an environment with rings.
pub(super) struct Workload<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) name: &'a Arc<str>,
    pub(super) destinations: &'a [Destination<'a>],
    pub(super) position: &'a BranchPosition,
}

impl Workload<'_> {
    /// The revision that the sources give, or the rejected one whose parts it has.
    fn desired(&self) -> Option<Revision> {
        let newest = self.newest().map(|newest| newest.desired.clone());
        newest.or_else(|| self.destinations.first()?.rings.revisions.desired(self.name))
    }

    fn newest(&self) -> Option<&Newest> {
        self.destinations.first()?.rings.newest_values(self.name)
    }

    fn returning(&self) -> Option<Result<&Returning, &str>> {
        self.destinations.first()?.rings.returning(self.name)
    }

    /// What is known of the workload. At rest, no evidence is collected.
    pub(super) fn facts<'f>(
        &self,
        stored: &StoredStates,
        promotion: &Promotion,
        memory: &mut Memory,
    ) -> Known<RolloutFacts<'f>> {
        let Some(first) = self.destinations.first() else { return Err("it has no destination".into()) };
        let rollout = &stored.rollouts.get(self.name).cloned().and_then(Result::ok).unwrap_or_default();
        let places = first.rings.places(first.side(), self.name).map_err(reason)?;
        let is_as_published = self.destinations.iter().all(|each| {
            let published = each.rings.states.rollouts.get(self.name);
            published == stored.rollouts.get(self.name)
        });
        let (measured, changed) = match &rollout.state.current {
            Some(_) if !is_as_published => (Err("its newest state is not published yet".into()), None),
            Some(_) => (self.known().and_then(|()| self.measured(&places)), self.changed(&places)?),
            None => (Err("nothing moves".into()), None),
        };
        let gates = gates(promotion, rollout);
        let checks = match &rollout.state.current {
            Some(current) => self.context.evidence.checks(&gates, self.subject(promotion, current)),
            None => BTreeMap::new(),
        };
        let authors = self.authors((rollout, &gates), memory);
        let ahead = self.newest().and_then(Newest::ahead);
        let ahead =
            ahead.map(|ahead| ahead.map(|found| (found.revision.clone(), found.rest.cloned())).map_err(Arc::from));
        let back = self.returning();
        Ok(RolloutFacts {
            desired: self.desired(),
            part: self.newest().map(|newest| newest.part).unwrap_or_default(),
            is_lost: self.destinations.iter().any(|each| each.rings.is_lost(self.name)),
            is_kept: self.destinations.iter().any(|each| each.rings.is_kept(self.name)),
            ahead,
            back: back.map(|found| found.map(|found| found.revision.clone()).map_err(Arc::from)),
            position: self.position.clone(),
            failing: self.failing(&places),
            is_only_new: changed.as_deref().is_some_and(|changed| self.is_only_new(&places, changed)),
            ring: places.ring.into(),
            domain: places.domain.into(),
            hash: places.hash.into(),
            domains: places.domains.into(),
            measured: measured.map(Cow::Owned),
            changed: changed.map(Cow::Owned),
            evidence: RevisionEvidence { checks, authors, approvals: Vec::new() },
        })
    }

    /// Who wrote the commits of the main branch that the moving revision brings, if it brings some and its ring has a gate for approvals.
    fn authors(&self, (rollout, gates): (&StoredRollout, &[Gate]), memory: &mut Memory) -> Authors {
        if !gates.iter().any(|gate| gate.kind.is_approval()) {
            return Authors::default();
        }
        let own = repository(self.context.access.settings.repo.as_str());
        // A source that is pinned to a commit has it as its name.
        let is_pinned = |name: &str, commit: &GitId| name == commit.to_string();
        let of_main = |revision: &Revision| {
            let mut sources = rollout.revisions.get(revision)?.sources.iter();
            let found = sources.find(|((url, name), commit)| repository(url) == own && is_pinned(name, commit));
            found.map(|(_, commit)| line::revision(*commit))
        };
        let moving = rollout.state.current.as_ref().and_then(|current| of_main(&current.revision));
        let stable = rollout.state.stable.as_ref().and_then(|stable| of_main(&stable.revision));
        let brought = moving.as_ref().filter(|moving| stable.as_ref() != Some(*moving));
        let brought = brought.map_or(&[][..], |moving| self.context.plane.line.brought(moving, stable.as_ref()));
        memory.authors.authors(self.context.access, self.context.hosts, brought)
    }

    fn subject<'s>(&'s self, promotion: &'s Promotion, current: &'s Move) -> CheckRequest<'s> {
        CheckRequest {
            environment: self.context.environment.as_str(),
            workload: Some(self.name),
            revision: &current.revision.0,
            ring: promotion.rings.get(current.ring).map(|ring| &*ring.name),
        }
    }

    /// Whether the folders of the workload change at each place, at any destination. None: it is not known.
    fn changed(&self, places: &WorkloadPlaces) -> Result<Option<Vec<bool>>, Arc<str>> {
        let mut all: Option<Vec<bool>> = None;
        for each in self.destinations {
            let found = each.rings.changed(each.side(), (self.name, &places.places)).map_err(reason)?;
            let Some(found) = found else { return Ok(None) };
            all = Some(match all {
                None => found,
                Some(before) => before.into_iter().zip(found).map(|(one, other)| one || other).collect(),
            });
        }
        Ok(all)
    }

    /// Whether all places that change are new at all destinations.
    fn is_only_new(&self, places: &WorkloadPlaces, changed: &[bool]) -> bool {
        let mut names = places.places.iter().zip(changed).filter(|(_, is_changed)| **is_changed).map(|(name, _)| name);
        names.all(|place| self.destinations.iter().all(|each| each.rings.is_new(self.name, place)))
    }

    /// Whether the moving revision has an assignment with errors at each place, at any destination. Empty: nowhere.
    fn failing(&self, places: &WorkloadPlaces) -> Vec<bool> {
        let mut all = Vec::new();
        for each in self.destinations {
            let found = each.rings.failing(each.side(), (self.name, &places.places));
            match (all.is_empty(), found.is_empty()) {
                (true, _) => all = found,
                (false, true) => {}
                (false, false) => all.iter_mut().zip(found).for_each(|(one, other)| *one |= other),
            }
        }
        all
    }

    /// Whether the folders that the places are to have can be read, or why not. Reports about what they have instead prove nothing.
    fn known(&self) -> Result<(), Arc<str>> {
        let mut unknown = self.destinations.iter().filter_map(|each| each.rings.unknown(self.name));
        unknown.next().map_or(Ok(()), |reason| Err(reason.into()))
    }

    /// The earlier names of the workload.
    fn earlier_names(&self) -> BTreeSet<Arc<str>> {
        let renamed = self.destinations.iter().flat_map(|each| each.rings.renamed_workloads());
        renamed.filter(|(_, present)| ***present == **self.name).map(|(earlier, _)| Arc::clone(earlier)).collect()
    }

    /// The state of the workload's folders at each place, for the content that it is to have now.
    fn measured(&self, places: &WorkloadPlaces) -> Result<Vec<PlaceReports>, Arc<str>> {
        let places_of = |name: &str| self.context.evidence.places(self.context.environment.as_str(), Some(name));
        let mut rows = places_of(self.name)?;
        // A revision from before a rename still has the folders under the earlier name.
        for earlier in self.earlier_names() {
            rows.extend(places_of(&earlier)?);
        }
        let mut sums = PlaceSums::new(&places.places);
        for each in self.destinations {
            let target = &each.place.planned.target.place;
            let of = repository(&target.repo);
            let is_own = |row: &&PlaceState| row.branch == *target.branch && repository(&row.repository) == of;
            let expected = each.rings.expected(each.side(), self.name, &places.places).map_err(reason)?;
            sums.add(rows.iter().filter(is_own), &expected);
        }
        Ok(sums.states())
    }

    /// The new state with the sources of its revisions, and its targets.
    pub(super) fn stored(&self, before: StoredRollout, state: RolloutState) -> StoredRollout {
        let Some(first) = self.destinations.first() else { return StoredRollout { state, ..before } };
        let named: BTreeSet<&Revision> = [
            state.stable.as_ref().map(|stable| &stable.revision),
            state.current.as_ref().map(|current| &current.revision),
            state.interrupted.as_ref().map(|interrupted| &interrupted.movement.revision),
            state.interrupted.as_ref().map(|interrupted| &interrupted.rest),
        ]
        .into_iter()
        .flatten()
        .chain(state.rejected.iter().map(|rejected| &rejected.revision))
        .chain(&state.waiting)
        .chain(state.earlier.iter().map(|earlier| &earlier.revision))
        .collect();
        let mut revisions = before.revisions;
        for revision in &named {
            let returning = self.returning().and_then(Result::ok).filter(|found| found.revision == **revision);
            let sources = returning.map(|found| &found.sources);
            let sources = sources.or_else(|| self.newest()?.sources(revision));
            if let (None, Some(sources)) = (revisions.get(*revision), sources) {
                revisions.insert((*revision).clone(), sources.clone());
            }
        }
        let desired = first.rings.revisions.desired(self.name);
        if let Some(desired) = desired.filter(|desired| named.contains(desired) && !revisions.contains_key(desired))
            && let Ok(sources) = RevisionSources::read(&first.place.loaded, &first.place.planned.target.branch)
        {
            revisions.insert(desired, sources);
        }
        revisions.retain(|revision, _| named.contains(revision));
        StoredRollout { targets: first.rings.targets(self.name), revisions, state }
    }
}

/// The gates of the ring that moves.
fn gates(promotion: &Promotion, rollout: &StoredRollout) -> Vec<Gate> {
    let ring = rollout.state.current.as_ref().and_then(|current| promotion.rings.get(current.ring));
    ring.into_iter().flat_map(Ring::gates).cloned().collect()
}

fn reason(error: impl ToString) -> Arc<str> {
    error.to_string().into()
}

/// Whether a new state differs from the stored one in more than the texts of gates.
pub(super) fn is_worth_storing(before: &RolloutState, after: &RolloutState) -> bool {
    let without_texts = |state: &RolloutState| {
        let mut state = state.clone();
        let gates: Option<&mut Vec<GateRecord>> = state.current.as_mut().map(|current| &mut current.gates);
        gates.into_iter().for_each(|gates| forget_texts(gates));
        state
    };
    without_texts(before) != without_texts(after)
}
