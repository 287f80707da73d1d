//! Rules of rollouts: the order of rings, their limits, budgets and gates, and rollbacks.

use engine::promotion::evidence::{Measured, PlaceReports};
use engine::promotion::report::ReportPhase;
use engine::promotion::state::{BranchPosition, MoveStage, Proved, Revision, RolloutState};
use model::object::promotion::{Amount, GateKind, Ring, Share, Silent};

use super::{
    Broken, Checked, MoveRecord, RolloutKey, RolloutRecord, RuleChecker, broken, is_after, is_compliant, is_released,
    is_within, measures_hold, returns_to, silent_of,
};
use crate::scenario::contents::{ContentId, NOTHING};
use crate::scenario::fleet::Fleet;
use crate::scenario::world::{ChangedPlaces, World};

/// A move as the checker sees it: columns by place.
struct Seen<'a> {
    world: &'a World,
    key: RolloutKey,
    /// When the service's clock changed last, in seconds since 1970.
    clock_changed: i64,
    fleet: &'a Fleet,
    rings: &'a [Ring],
    ring: &'a [u16],
    /// The content of the revision.
    moving: &'a [ContentId],
    /// Whether the revision changes the place.
    changed: &'a [bool],
    record: &'a RolloutRecord,
    target: &'a [ContentId],
    published: &'a [ContentId],
    /// The states of the targets.
    states: &'a [PlaceReports],
}

impl Seen<'_> {
    fn places(&self, ring: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.target.len()).filter(move |place| usize::from(self.ring[*place]) == ring && self.is_changed(*place))
    }

    fn name(&self, ring: usize) -> String {
        let RolloutKey { environment, workload } = self.key;
        let (environment, workload) = (&self.world.environments[environment], &self.world.workloads[workload]);
        format!("{} {workload}: ring {}", environment.name, self.rings[ring].name)
    }

    fn is_changed(&self, place: usize) -> bool {
        self.changed.get(place).copied().unwrap_or(false) && self.fleet.is_there(place)
    }

    /// Whether the place had the revision before the step: as its target, or on the branch, where it could not return to what it had before.
    fn had(&self, place: usize) -> bool {
        self.was_target(place) || self.has_still(place)
    }

    fn was_target(&self, place: usize) -> bool {
        self.record.target.get(place) == self.moving.get(place)
    }

    /// Whether the target was another one before the step, without a publication.
    fn has_still(&self, place: usize) -> bool {
        let moving = self.moving.get(place);
        [self.target.get(place), self.published.get(place)].iter().all(|content| *content == moving)
    }

    /// The state before the step. What the place has still has the state that it has now.
    fn state(&self, place: usize) -> PlaceReports {
        let has_still = !self.was_target(place) && self.has_still(place);
        let states = if has_still { self.states } else { &self.record.states };
        states.get(place).copied().unwrap_or_default()
    }

    /// The state of the changed places of a ring before the step.
    fn measured(&self, ring: usize) -> Measured {
        let mut measured = Measured::default();
        let state = |place| if self.had(place) { self.state(place) } else { PlaceReports::default() };
        self.places(ring).for_each(|place| measured.add(state(place)));
        measured
    }

    /// The state of all changed places to which the revision was released before the step.
    fn measured_released(&self) -> Measured {
        let mut measured = Measured::default();
        let is_released = |place: &usize| self.record.released.get(*place).copied().unwrap_or(false);
        let released = (0..self.target.len()).filter(|place| self.is_changed(*place)).filter(is_released);
        released.for_each(|place| measured.add(self.state(place)));
        measured
    }

    /// How silent reconcilers count in a ring.
    fn silent(&self, ring: usize) -> Silent {
        silent_of(&self.rings[ring].prove)
    }

    /// Whether the fleet of a ring is good: the gates that measure it hold, and the failures of all places are within its budget.
    fn is_good(&self, ring: usize) -> bool {
        let (measured, options) = (self.measured(ring), &self.rings[ring]);
        let has_share = options.prove.iter().any(|gate| matches!(gate.kind, GateKind::Compliant { .. }));
        let is_skipped = |name: &str| self.record.movement.skipped.contains(name);
        (is_skipped("failures") || is_within(&self.measured_released(), options.failures, self.silent(ring)))
            && measures_hold(&options.prove, &measured, is_skipped)
            && (has_share || is_skipped("compliant") || is_compliant(&measured, Share::ALL, Silent::Wait))
    }
}

/// The move of a state: its revision, and whether it goes ahead of another one.
fn move_of(state: &RolloutState) -> Option<(Revision, bool)> {
    Some((state.current.as_ref()?.revision.clone(), state.interrupted.is_some()))
}

impl MoveRecord {
    /// The record of a move that may have become good in the step that interrupted it.
    fn good_by(mut self, now: i64) -> Self {
        self.good_since.iter_mut().for_each(|since| *since = since.or(Some(now)));
        self
    }
}

impl RolloutRecord {
    /// Whether a rollback ended. One that can't be rendered any more stops where it is, and may be replaced at once.
    fn has_rolled_back(&self, state: &RolloutState, phase: Option<ReportPhase>) -> bool {
        let is_going_on = matches!(phase, Some(ReportPhase::RollingBack | ReportPhase::Stopped));
        let moving = self.movement.moving.as_ref().map(|(revision, _)| revision);
        self.was_rolling_back && !is_going_on && moving.is_some_and(|revision| state.is_rejected(revision))
    }

    /// Notes which move goes on.
    fn follow(&mut self, state: &RolloutState, rings: usize, now: i64) {
        let moving = move_of(state);
        if self.movement.moving == moving {
            return;
        }
        let begins = MoveRecord { moving, good_since: vec![None; rings], ..MoveRecord::default() };
        let before = std::mem::replace(&mut self.movement, begins);
        match &state.interrupted {
            Some(interrupted) => {
                let named = Some((interrupted.movement.revision.clone(), false));
                let was_interrupted = |of: &MoveRecord| of.moving == named;
                // If neither is it, the interrupted move began or went on in this step under this revision, until the next values came.
                let began = || MoveRecord { good_since: vec![None; rings], ..MoveRecord::default() };
                let in_this_step = |of: Option<MoveRecord>| MoveRecord {
                    moving: named.clone(),
                    ..of.unwrap_or_else(began).good_by(now)
                };
                self.interrupted = Some(match self.interrupted.take() {
                    _ if was_interrupted(&before) => before.good_by(now),
                    Some(of) if was_interrupted(&of) => of,
                    of => in_this_step(of),
                });
            }
            None => {
                // The interrupted move goes on, with the values that went ahead of it or without them.
                if let Some(interrupted) = self.interrupted.take().filter(|_| state.current.is_some()) {
                    self.movement = MoveRecord { moving: self.movement.moving.take(), ..interrupted };
                }
            }
        }
        // Rings that were done in the step in which the move began, or went on.
        self.movement.done.extend(0..state.current.as_ref().map_or(0, |current| current.ring));
    }
}

impl RuleChecker {
    /// Notes since when rings have been good.
    pub(super) fn note_goodness(&mut self, world: &World) {
        let is_hub_down = world.is_hub_down();
        for (key, record) in &mut self.rollouts {
            let environment = &world.environments[key.environment];
            let rollout = &environment.workloads[key.workload];
            let Some(rings) = environment.promotion.as_ref().map(|promotion| &promotion.rings) else { continue };
            record.follow(&rollout.state, rings.len(), world.now);
            record.moving = environment.released(key.workload).unwrap_or_default();
            let Some(ChangedPlaces { places: changed, .. }) =
                rollout.memory.changed.as_ref().filter(|_| !record.moving.is_empty())
            else {
                continue;
            };
            let (target, published) = (&record.target, &rollout.reconcilers.published);
            let seen = Seen {
                world,
                key: *key,
                clock_changed: self.clock_changed,
                fleet: &environment.fleet,
                rings,
                ring: &environment.rings.ring,
                moving: &record.moving,
                changed,
                record,
                target,
                published,
                states: &record.states,
            };
            let good: Vec<_> = (0..rings.len()).map(|ring| seen.is_good(ring)).collect();
            for (since, is_good) in record.movement.good_since.iter_mut().zip(good) {
                *since = if is_hub_down || is_good {
                    since.or((is_good && !is_hub_down).then_some(world.now))
                } else {
                    None
                };
            }
        }
    }

    pub(super) fn check_rollout(&mut self, world: &World, key: RolloutKey) -> Checked {
        let RolloutKey { environment: number, workload } = key;
        let environment = &world.environments[number];
        let rollout = &environment.workloads[workload];
        let Some(record) = self.rollouts.get(&key) else { return Ok(()) };
        let Some(promotion) = environment.promotion.as_ref().filter(|promotion| !promotion.rings.is_empty()) else {
            return Ok(());
        };
        let target = &rollout.reconcilers.target;
        let current = rollout.state.current.as_ref();
        let is_continued = record.movement.moving.is_some() && move_of(&rollout.state) == record.movement.moving;
        if let (Some(ChangedPlaces { places: changed, .. }), Some(moving)) =
            (&rollout.memory.changed, environment.released(workload))
        {
            let moving = &moving;
            let published = &rollout.reconcilers.published;
            let (fleet, rings, ring) = (&environment.fleet, &*promotion.rings, &*environment.rings.ring);
            let states = &rollout.reconcilers.states;
            let clock_changed = self.clock_changed;
            let seen = Seen {
                world,
                key,
                clock_changed,
                fleet,
                rings,
                ring,
                moving,
                changed,
                record,
                target,
                published,
                states,
            };
            let ring_now = current.filter(|_| is_continued).map_or(0, |current| current.ring);
            let passed: Vec<_> =
                (record.ring..ring_now.min(rings.len())).filter(|ring| seen.places(*ring).next().is_some()).collect();
            for ring in passed.iter().filter(|_| !environment.is_only_new(workload)) {
                seen.check_done(*ring, &seen.name(*ring))?;
            }
            let entered = seen.check_forward(is_continued)?;
            if let Some(record) = self.rollouts.get_mut(&key).filter(|_| is_continued) {
                record.movement.done.extend(passed);
                record.movement.entered.extend(entered);
            }
        }
        self.check_end(world, key)
    }

    /// The end of a move: all places have the proved revision after it, or after a rollback.
    fn check_end(&mut self, world: &World, key: RolloutKey) -> Checked {
        let RolloutKey { environment: number, workload } = key;
        let environment = &world.environments[number];
        let rollout = &environment.workloads[workload];
        let Some(record) = self.rollouts.get_mut(&key) else { return Ok(()) };
        let name = || format!("{} {}", environment.name, world.workloads[workload]);
        let phase = rollout.memory.report.as_ref().map(|report| report.phase);
        let reconcilers = &rollout.reconcilers;
        let there = || (0..environment.fleet.len()).filter(|place| environment.fleet.is_there(*place));
        let stable = rollout.state.stable.as_ref().map(|stable| &stable.revision);
        if record.has_rolled_back(&rollout.state, phase) && record.stable.as_ref() == stable {
            let before = record.returning.as_ref().unwrap_or(&record.proved);
            let is_back =
                |place: &usize| record.target.get(*place) == before.get(*place) || before.get(*place).is_none();
            if let Some(place) = there().find(|place| !is_back(place)) {
                let text = format!("{}: {}", name(), environment.fleet.names[place]);
                return broken("after a rollback, the fleet has the proved release", text);
            }
        }
        if record.stable.as_ref() != stable {
            record.stable = stable.cloned();
            let is_returning = record.was_rolling_back || phase == Some(ReportPhase::RollingBack);
            let rest = rollout.state.stable.as_ref().filter(|stable| stable.at == BranchPosition::default());
            let rest = rest.and_then(|rest| rollout.memory.columns.get(&rest.revision)).cloned();
            let known = stable.and_then(|stable| record.contents.get(stable)).or(rest.as_ref());
            if let Some(contents) = known.filter(|_| is_returning) {
                record.proved.clone_from(contents);
                return Ok(());
            }
            if let Some(rest) = rest {
                // Behind the move that went ahead, places have the values alone, or on top of what the interrupted move brought.
                let moving = &record.ahead;
                let has_values = |place: &usize| {
                    let published = reconcilers.published[*place];
                    published == rest[*place] || moving.get(*place) == Some(&published)
                };
                if let Some(place) = there().find(|place| !has_values(place)) {
                    let text = format!("{}: {}", name(), environment.fleet.names[place]);
                    return broken("newer values are proved when all places have them", text);
                }
                record.contents.extend(stable.map(|stable| (stable.clone(), rest.clone())));
                record.proved = rest;
                return Ok(());
            }
            // The next move may have begun in the same step. A place that could not return still has what moves.
            let has_it = |place: &usize| {
                let published = reconcilers.published[*place];
                let was = record.target.get(*place).copied().unwrap_or(NOTHING);
                published == was || record.moving.get(*place) == Some(&published)
            };
            if let Some(place) = there().find(|place| !has_it(place)) {
                let text = format!("{}: {}", name(), environment.fleet.names[place]);
                return broken("a revision is proved when all places have it", text);
            }
            // A revision has the same content each time.
            let known = stable.and_then(|stable| record.contents.get(stable));
            let differs = |place: &usize| {
                known.and_then(|known| known.get(*place)).is_some_and(|known| reconcilers.published[*place] != *known)
            };
            if let Some(place) = there().find(differs) {
                let text = format!("{}: {}", name(), environment.fleet.names[place]);
                return broken("what is proved again is there again", text);
            }
            record.proved.clone_from(&reconcilers.published);
            record.contents.extend(stable.map(|stable| (stable.clone(), record.proved.clone())));
        }
        Ok(())
    }
}

impl Seen<'_> {
    /// The places that get the revision in this step. Returns their ring.
    fn check_forward(&self, is_continued: bool) -> Result<Option<usize>, Broken> {
        let RolloutKey { environment: number, workload } = self.key;
        let Self { world, record, target, .. } = *self;
        let proved = |place: usize| record.proved.get(place).copied().unwrap_or(NOTHING);
        // What was proved before returns to all places at once.
        let state = &world.environments[number].workloads[workload].state;
        let rolls_back =
            state.current.as_ref().is_some_and(|current| matches!(current.phase, MoveStage::RollingBack { .. }));
        let stable = state.stable.as_ref().filter(|_| rolls_back);
        let columns = &world.environments[number].workloads[workload].memory.columns;
        let returning = stable.and_then(|Proved { revision, at, .. }| {
            let rendered = columns.get(revision).filter(|_| *at == BranchPosition::default());
            record.contents.get(revision).or(rendered)
        });
        let ahead = returns_to(&world.environments[number].workloads[workload]);
        let returning = ahead.as_ref().or(returning);
        let returns = |place: usize| returning.and_then(|contents| contents.get(place)).copied();
        // When what went ahead is taken back, the interrupted move goes on with what it had brought.
        let goes_on = record.was_rolling_back
            && record.interrupted.as_ref().is_some_and(|interrupted| interrupted.moving == move_of(state));
        let had_before = |place: usize| {
            goes_on && record.reached.get(place) == Some(&true) && self.moving.get(place) == target.get(place)
        };
        let was = |place: usize| record.target.get(place).copied().unwrap_or(NOTHING);
        // A target that was never published, for example because the service was killed, may be taken back.
        let is_new = |place: &usize| {
            let target = target[*place];
            target != was(*place)
                && target != proved(*place)
                && target != self.published[*place]
                && Some(target) != returns(*place)
                && !had_before(*place)
        };
        let there = (0..target.len()).filter(|place| self.fleet.is_there(*place));
        let forward: Vec<_> = there.filter(is_new).collect();
        let Some(ring) = forward.first().map(|first| usize::from(self.ring[*first])) else { return Ok(None) };
        let name = self.name(ring);
        if state.hold.is_some() || world.environments[number].hold().is_some() {
            broken("nothing moves during a hold", &*name)?;
        }
        if world.is_hub_down() {
            broken("nothing moves without evidence", &*name)?;
        }
        if forward.iter().any(|place| usize::from(self.ring[*place]) != ring) {
            broken("only one ring moves at a time", &*name)?;
        }
        if (0..ring).any(|before| self.places(before).any(|place| !self.had(place))) {
            broken("a ring begins when the rings before have the revision", &*name)?;
        }
        if is_continued {
            self.check_budget(ring, &name)?;
            // New places get what their ring has.
            if !world.environments[number].is_only_new(workload) && !record.movement.entered.contains(&ring) {
                self.check_entry(ring, &name)?;
            }
        }
        self.check_limits(ring, &forward)?;
        Ok(Some(ring))
    }

    fn check_budget(&self, ring: usize, name: &str) -> Checked {
        let measured = self.measured_released();
        let is_skipped = self.record.movement.skipped.contains("failures");
        if is_skipped || is_within(&measured, self.rings[ring].failures, self.silent(ring)) {
            return Ok(());
        }
        broken("no ring releases places beyond its budget", format!("{name}: {measured:?}"))
    }

    /// The first places of a ring: the gates of the ring before hold.
    fn check_entry(&self, ring: usize, name: &str) -> Checked {
        if self.places(ring).any(|place| self.had(place)) {
            return Ok(());
        }
        let Some(before) = (0..ring).rev().find(|before| self.places(*before).next().is_some()) else { return Ok(()) };
        if self.record.movement.done.contains(&before) {
            return Ok(());
        }
        self.check_done(before, name)
    }

    /// All gates of a ring hold now. `name` is the ring that begins or ends.
    fn check_done(&self, ring: usize, name: &str) -> Checked {
        let (options, record, world) = (&self.rings[ring], self.record, self.world);
        if !self.is_good(ring) {
            return broken(
                "a ring begins when the gates of the ring before hold",
                format!("{name}: {:?}", self.measured(ring)),
            );
        }
        let since = record.movement.good_since.get(ring).copied().flatten();
        let is_skipped = |gate: &str| record.movement.skipped.contains(gate);
        if !options.pause.is_zero()
            && !is_skipped("pause")
            && !is_after(self.clock_changed, since, world.now, options.pause)
        {
            return broken(
                "a ring begins after the pause of the ring before",
                format!("{name}: good since {since:?}, now {}", world.now),
            );
        }
        let failing = options.prove.iter().find(|gate| match &gate.kind {
            GateKind::Check(check) => world.check_outcome(&check.name) != Some(true) && !is_skipped(&gate.name),
            _ => false,
        });
        match failing {
            Some(gate) => {
                broken("a ring begins when the checks of the ring before pass", format!("{name}: {}", gate.name))
            }
            None => Ok(()),
        }
    }

    /// The limits of a ring.
    fn check_limits(&self, ring: usize, forward: &[usize]) -> Checked {
        let (environment, options) = (&self.world.environments[self.key.environment], &self.rings[ring]);
        let rollout = &environment.workloads[self.key.workload];
        let silent = self.silent(ring);
        // After the step, for the content that it demands: no report comes in between.
        let is_changing = |place: &usize| {
            let found = rollout.reconcilers.states.get(*place).copied().unwrap_or_default();
            let left_out = if silent == Silent::Ignore { found.silent } else { 0 };
            let is_done = found.is_published && found.succeeded + left_out >= found.expected;
            is_released(environment, &rollout.state, *place) && !is_done
        };
        let changing: Vec<_> = self.places(ring).filter(is_changing).collect();
        let is_place = |place: &usize| environment.fleet.is_there(*place) || self.published[*place] != NOTHING;
        let places = (0..self.target.len()).filter(|place| usize::from(self.ring[*place]) == ring && is_place(place));
        let limit = options.at_once.map(|amount| match amount {
            Amount::Count(count) => count as usize,
            Amount::Share(_) => usize::try_from(amount.limit(places.count() as u64)).unwrap_or(usize::MAX).max(1),
        });
        if limit.is_some_and(|limit| changing.len() > limit) {
            return broken(
                "no ring exceeds its limit",
                format!("{}: {} change at once", self.name(ring), changing.len()),
            );
        }
        for per in &options.per {
            let domain = |place: &usize| environment.fleet.labels(*place).get(&per.label);
            let mut counts = std::collections::BTreeMap::new();
            for place in &changing {
                *counts.entry(domain(place)).or_insert(0_u32) += 1;
            }
            // In a domain that gets no further place, places that were done may have become silent since.
            counts.retain(|value, _| forward.iter().any(|place| domain(place) == *value));
            if let Some((value, count)) = counts.into_iter().find(|(_, count)| *count > per.at_once) {
                let (name, value) = (self.name(ring), value.map_or("", |value| value));
                let text = format!("{name}: {count} change at once where {}={value}", per.label);
                return broken("no ring exceeds the limit of a failure domain", text);
            }
        }
        Ok(())
    }
}
