//! The workloads of an environment on their way through its rings: collects evidence, and decides.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::promotion::evidence::PlaceState;
use engine::promotion::membership::effective_rings;
use engine::promotion::report::{Event, Report};
use engine::promotion::rollout::{self, Changed, RingPlaces, RolloutInput, RolloutStep};
use engine::promotion::state::{GateRecord, Move, Position, Revision, RolloutState};
use hub_api::endpoint::repository;
use hub_api::places::PlaceState as HubPlace;
use hub_api::promotions::SubjectStatus;
use model::git_id::GitId;
use model::object::promotion::{Gate, GateKind, Promotion, Ring};

use super::changes::forget_texts;
use super::context::{Context, Memory};
use super::evidence::CheckSubject;
use super::place_sums::PlaceSums;
use super::status;
use crate::publish::{Outcome, PlaceOutcome};
use crate::push::Delivered;
use crate::rings::{BranchSide, Newest, Returning, Rings, WorkloadPlaces};
use crate::rollout_position;
use crate::rollout_store::{RevisionSources, StoredRollout, StoredStates};

/// What was decided about the workloads of an environment.
#[derive(Default)]
pub(super) struct Rollouts {
    /// The workloads with a new state, and what happened.
    pub(super) changed: Vec<(Arc<str>, StoredRollout, Vec<Event>)>,
    /// Where each workload stands.
    pub(super) statuses: Vec<SubjectStatus>,
    /// Why the environment is not settled: a rollout is open.
    pub(super) open: Option<Arc<str>>,
    /// Why the environment can't take its commit without a change: a rollout stopped or was rolled back.
    pub(super) failed: Option<Arc<str>>,
    /// Whether a rollout moves.
    pub(super) is_moving: bool,
    /// Whether a rollout stopped.
    pub(super) is_stopped: bool,
    /// States that can't be read.
    pub(super) problems: Vec<String>,
}

/// A destination of a publication with rings.
#[derive(Clone, Copy)]
struct Destination<'a> {
    place: &'a PlaceOutcome,
    rings: &'a Rings,
}

impl<'a> Destination<'a> {
    fn all(outcome: &'a Outcome) -> Vec<Self> {
        let of = |place: &'a PlaceOutcome| Some(Self { place, rings: place.planned.rings.as_ref()? });
        outcome.places.iter().filter_map(of).collect()
    }

    fn side(self) -> BranchSide<'a> {
        BranchSide { compiled: &self.place.planned.compiled, target: &self.place.planned.target }
    }

    /// The head of the branch that clusters pull.
    fn head(self) -> Option<(&'a str, GitId)> {
        let target = &self.place.planned.target;
        let pushed = match &self.place.delivered {
            Some(Delivered::Pushed { branch, commit, .. }) if **branch == *target.place.branch => Some(*commit),
            _ => None,
        };
        Some((target.name.as_str(), pushed.or_else(|| target.branch.commit())?))
    }
}

/// Decides about all workloads of an environment with rings, after a publication with the stored states. Empty if it has no rings.
pub(super) fn decide(
    context: &Context<'_>,
    promotion: &Promotion,
    (stored, outcome): (&StoredStates, &Outcome),
    memory: &mut Memory,
) -> Rollouts {
    let destinations = Destination::all(outcome);
    let mut found = Rollouts::default();
    let Some(first) = destinations.first() else { return found };
    let promotion = Promotion { rings: effective_rings(promotion), ..promotion.clone() };
    let position = rollout_position::of(destinations.iter().filter_map(|destination| destination.head()));
    for workload in first.rings.workloads() {
        let rollout = match stored.rollouts.get(&workload) {
            Some(Err(error)) => {
                found.problems.push(error.to_string());
                found.open = Some(format!("the state of the rollout of {workload} can't be read").into());
                continue;
            }
            Some(Ok(rollout)) => rollout.clone(),
            None => StoredRollout::default(),
        };
        let one = Workload { context, promotion: &promotion, name: &workload, destinations: &destinations };
        match one.step(&rollout, (stored, &position), memory) {
            Ok(step) => found.add(&one, rollout, step),
            Err(reason) => {
                found.problems.push(format!("{workload}: {reason}"));
                found.open = Some(format!("the rollout of {workload} can't be evaluated").into());
            }
        }
    }
    found
}

impl Rollouts {
    fn add(&mut self, one: &Workload<'_>, before: StoredRollout, step: RolloutStep) {
        let RolloutStep { state, report, events } = step;
        let desired = one.desired();
        let is_open =
            state.current.is_some() || desired.as_ref() != state.stable.as_ref().map(|stable| &stable.revision);
        if is_open && self.open.is_none() {
            self.open = Some(waits(one.name, &report));
        }
        let is_failed = state.failed_because(desired.as_ref()).is_some();
        if is_failed && self.failed.is_none() {
            self.failed = Some(failure(one.name, &report));
        }
        self.is_moving |= state.current.is_some();
        self.is_stopped |= is_failed && state.current.is_some();
        self.statuses.push(status::of_rollout((one.name, desired.as_ref()), &state, &report));
        if is_worth_storing(&before.state, &state) || !events.is_empty() {
            self.changed.push((Arc::clone(one.name), one.stored(before, state), events));
        }
    }
}

fn waits(workload: &str, report: &Report) -> Arc<str> {
    match report.waiting.first() {
        Some(waiting) => format!("the rollout of {workload} waits for {}: {}", waiting.what, waiting.text).into(),
        None => format!("the rollout of {workload} is open").into(),
    }
}

fn failure(workload: &str, report: &Report) -> Arc<str> {
    match report.waiting.first() {
        Some(waiting) => format!("the rollout of {workload}: {}", waiting.text).into(),
        None => format!("the rollout of {workload} was rolled back or aborted").into(),
    }
}

/// A workload in an environment with rings.
struct Workload<'a> {
    context: &'a Context<'a>,
    promotion: &'a Promotion,
    name: &'a Arc<str>,
    destinations: &'a [Destination<'a>],
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

    /// A step. At rest, no evidence is collected.
    fn step(
        &self,
        rollout: &StoredRollout,
        (stored, position): (&StoredStates, &Position),
        memory: &mut Memory,
    ) -> Result<RolloutStep, Arc<str>> {
        let Some(first) = self.destinations.first() else { return Err("it has no destination".into()) };
        let places = first.rings.places(first.side(), self.name).map_err(reason)?;
        let desired = self.desired();
        let gates = self.gates(rollout);
        let checks = match &rollout.state.current {
            Some(current) => self.context.evidence.checks(&gates, self.subject(current)),
            None => BTreeMap::new(),
        };
        let is_as_published = self.destinations.iter().all(|each| {
            let published = each.rings.states.rollouts.get(self.name);
            published == stored.rollouts.get(self.name)
        });
        let (measured, changed) = match &rollout.state.current {
            Some(_) if !is_as_published => (Err("its newest state is not published yet".into()), None),
            Some(_) => (self.known().and_then(|()| self.measured(&places)), self.changed(&places)?),
            None => (Err("nothing moves".into()), None),
        };
        let author = self.author(rollout, memory);
        let failing = self.failing(&places);
        let difference = rollout.state.difference();
        let changed = difference.zip(changed.as_deref());
        let is_only_new = changed.is_some_and(|(_, changed)| self.is_only_new(&places, changed));
        let input = RolloutInput {
            now: self.context.now,
            promotion: self.promotion,
            hold: stored.hold(),
            desired: desired.as_ref(),
            part: self.newest().map(|newest| newest.part).unwrap_or_default(),
            is_lost: self.destinations.iter().any(|each| each.rings.is_lost(self.name)),
            ahead: self.newest().and_then(Newest::ahead),
            back: self.returning().map(|found| found.map(|found| &found.revision)),
            position,
            places: RingPlaces {
                ring: &places.ring,
                domain: &places.domain,
                hash: &places.hash,
                domains: &places.domains,
                failing: &failing,
            },
            measured: measured.as_deref().map_err(Arc::clone),
            changed: changed.map(|((base, revision), places)| Changed { base, revision, places, is_only_new }),
            checks: &checks,
            approvals: &[],
            author: author.as_deref(),
            teams: self.context.evidence.teams,
        };
        Ok(rollout::step(&input, &rollout.state))
    }

    /// The gates of the ring that moves.
    fn gates(&self, rollout: &StoredRollout) -> Vec<Gate> {
        let ring = rollout.state.current.as_ref().and_then(|current| self.promotion.rings.get(current.ring));
        ring.into_iter().flat_map(Ring::gates).cloned().collect()
    }

    /// The author of the commit of the main branch that brings the moving revision, if it brings one and its ring has a gate for approvals.
    fn author(&self, rollout: &StoredRollout, memory: &mut Memory) -> Option<Arc<str>> {
        if !self.gates(rollout).iter().any(|gate| matches!(gate.kind, GateKind::Approval(_))) {
            return None;
        }
        let own = repository(self.context.access.settings.repo.as_str());
        // A source that is pinned to a commit has it as its name.
        let is_pinned = |name: &str, commit: &GitId| name == commit.to_string();
        let of_main = |revision: &Revision| {
            let mut sources = rollout.revisions.get(revision)?.sources.iter();
            let found = sources.find(|((url, name), commit)| repository(url) == own && is_pinned(name, commit));
            found.map(|(_, commit)| *commit)
        };
        let moving = of_main(&rollout.state.current.as_ref()?.revision)?;
        let stable = rollout.state.stable.as_ref().and_then(|stable| of_main(&stable.revision));
        let is_new = stable != Some(moving);
        is_new.then(|| memory.authors.author(self.context.access, self.context.hosts, moving)).flatten()
    }

    fn subject<'s>(&'s self, current: &'s Move) -> CheckSubject<'s> {
        CheckSubject {
            environment: self.context.environment.as_str(),
            workload: Some(self.name),
            revision: &current.revision.0,
            ring: self.promotion.rings.get(current.ring).map(|ring| &*ring.name),
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

    /// The state of the workload's folders at each place, for the content that it is to have now.
    fn measured(&self, places: &WorkloadPlaces) -> Result<Vec<PlaceState>, Arc<str>> {
        let rows = self.context.evidence.places(self.context.environment.as_str(), Some(self.name))?;
        let mut sums = PlaceSums::new(&places.places);
        for each in self.destinations {
            let target = &each.place.planned.target.place;
            let of = repository(&target.repo);
            let is_own = |row: &&HubPlace| row.branch == *target.branch && repository(&row.repository) == of;
            let expected = each.rings.expected(each.side(), self.name, &places.places).map_err(reason)?;
            sums.add(rows.iter().filter(is_own), &expected);
        }
        Ok(sums.states())
    }

    /// The new state with the sources of its revisions, and its targets.
    fn stored(&self, before: StoredRollout, state: RolloutState) -> StoredRollout {
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
            && let Ok(sources) = RevisionSources::of(&first.place.loaded, &first.place.planned.target.branch)
        {
            revisions.insert(desired, sources);
        }
        revisions.retain(|revision, _| named.contains(revision));
        StoredRollout { targets: first.rings.targets(self.name), revisions, state }
    }
}

fn reason(error: impl ToString) -> Arc<str> {
    error.to_string().into()
}

/// Whether a new state differs from the stored one in more than the texts of gates.
fn is_worth_storing(before: &RolloutState, after: &RolloutState) -> bool {
    let without_texts = |state: &RolloutState| {
        let mut state = state.clone();
        let gates: Option<&mut Vec<GateRecord>> = state.current.as_mut().map(|current| &mut current.gates);
        gates.into_iter().for_each(|gates| forget_texts(gates));
        state
    };
    without_texts(before) != without_texts(after)
}
