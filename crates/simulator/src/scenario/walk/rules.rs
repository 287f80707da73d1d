//! The rules that hold in every step of every walk, checked with a model of its own: from contents, reports and decisions, not from the words of the
//! state machines.

mod entering;
mod moving;
mod renderer;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::promotion::evidence::{Measured, PlaceReports};
use engine::promotion::report::{MoveReport, ReportPhase};
use engine::promotion::state::{MoveStage, Revision, RolloutState};
use model::object::promotion::{Amount, Gate, GateKind, Share, Silent};

use self::renderer::RendererRecord;
use self::values::ValuesRecord;
use crate::scenario::contents::{ContentId, Sources};
use crate::scenario::world::{Environment, Rollout, SubjectKey, World};

/// A rule that a step broke.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Broken {
    /// The rule.
    pub(super) rule: &'static str,
    /// What happened.
    pub(super) text: String,
}

/// Checks the rules in every step of a walk.
#[derive(Default)]
pub(super) struct RuleChecker {
    rollouts: BTreeMap<RolloutKey, RolloutRecord>,
    subjects: BTreeMap<SubjectKey, SubjectRecord>,
    values: BTreeMap<usize, ValuesRecord>,
    renderers: BTreeMap<usize, RendererRecord>,
    /// When the service's clock changed last, in seconds since 1970.
    clock_changed: i64,
    skew: i64,
}

/// Which workload, in which environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RolloutKey {
    /// The number of the environment.
    environment: usize,
    /// The number of the workload.
    workload: usize,
}

/// The record of a rollout.
#[derive(Default)]
struct RolloutRecord {
    /// The content of each place when all rings proved a revision last.
    proved: Vec<ContentId>,
    stable: Option<Revision>,
    /// The content of each place when each revision was proved.
    contents: BTreeMap<Revision, Vec<ContentId>>,
    /// Before the step.
    target: Vec<ContentId>,
    /// What each place gets when the move releases it. Empty: nothing moves.
    moving: Vec<ContentId>,
    states: Vec<PlaceReports>,
    /// Whether the state released the revision to each place.
    released: Vec<bool>,
    /// Whether each place had got what moves, or what the interrupted move brought.
    reached: Vec<bool>,
    was_rolling_back: bool,
    /// What a move that went ahead of another one returns to.
    returning: Option<Vec<ContentId>>,
    /// What a move that goes ahead of another one brings to places that the other one has reached.
    ahead: Vec<ContentId>,
    /// The ring that moves, before the step.
    ring: usize,
    /// The move.
    movement: MoveRecord,
    /// The move that it goes ahead of.
    interrupted: Option<MoveRecord>,
}

/// The record of a move.
#[derive(Default)]
struct MoveRecord {
    /// The revision, and whether it goes ahead of another one.
    moving: Option<(Revision, bool)>,
    /// Since when each of its rings has been good without interruption.
    good_since: Vec<Option<i64>>,
    /// The rings of this move whose gates all held when the state went on to the next ring. A ring that stops before its first place does not wait for
    /// them again.
    done: BTreeSet<usize>,
    /// The rings that have begun in this move. After a withdrawal, a ring begins again without the gates of the ring before.
    entered: BTreeSet<usize>,
    /// The gates that people skipped in this move.
    skipped: BTreeSet<Arc<str>>,
}

/// The record of a subject on its way into an environment.
#[derive(Default)]
struct SubjectRecord {
    /// Before the step.
    at: Option<Revision>,
    candidate: Option<Revision>,
    proposal: Option<Revision>,
    measured: Option<Measured>,
    is_settled: bool,
    sources: Option<Sources>,
    /// The revisions that this environment has shown, and since when it has been good without interruption with them or their successors.
    good_since: BTreeMap<Revision, Option<i64>>,
    /// Since when the state of this environment has not been known, or a rollout has been open in it.
    unknown_since: Option<i64>,
    /// The revision whose gates held. It is on its way into the environment.
    allowed: Option<Revision>,
    /// The revisions that the environment proved.
    proved: BTreeSet<Revision>,
    /// The gates that people skipped, with the revision for which.
    skipped: BTreeSet<(Option<Revision>, Arc<str>)>,
    /// The approvals, with the revision for which.
    approvals: BTreeSet<(Revision, Arc<str>)>,
}

/// The result of a check.
type Checked = Result<(), Broken>;

fn broken(rule: &'static str, text: impl Into<String>) -> Checked {
    Err(Broken { rule, text: text.into() })
}

impl RuleChecker {
    /// The beginning of a walk: everything is proved.
    pub(super) fn new(world: &World) -> Self {
        let mut checker = Self::default();
        for (number, environment) in world.environments.iter().enumerate() {
            for (workload, rollout) in environment.workloads.iter().enumerate() {
                let stable = rollout.state.stable.as_ref().map(|stable| stable.revision.clone());
                let proved = rollout.reconcilers.published.clone();
                let contents = stable.iter().map(|stable| (stable.clone(), proved.clone())).collect();
                let record = RolloutRecord { proved, stable, contents, ..RolloutRecord::default() };
                checker.rollouts.insert(RolloutKey { environment: number, workload }, record);
            }
            checker.renderers.insert(number, RendererRecord::new(environment));
            for subject in 0..=world.renderer_subject() {
                let at = world.revision_of(number, subject);
                let proved = at.iter().cloned().collect();
                let key = SubjectKey { environment: number, subject };
                checker.subjects.insert(key, SubjectRecord { proved, ..SubjectRecord::default() });
            }
        }
        checker
    }

    /// Sees the world before a step of the controller.
    pub(super) fn before(&mut self, world: &World) {
        if world.skew() != self.skew {
            (self.skew, self.clock_changed) = (world.skew(), world.now);
        }
        for (number, environment) in world.environments.iter().enumerate() {
            for subject in 0..=world.renderer_subject() {
                let record = self.subjects.entry(SubjectKey { environment: number, subject }).or_default();
                record.at = world.revision_of(number, subject);
                record.candidate = candidate(world, number, subject);
                let proposal = environment.subjects.get(subject).and_then(|subject| subject.proposal.as_ref());
                record.proposal = proposal.filter(|open| open.merge.is_some()).map(|open| open.revision.clone());
                record.measured = world.measured(number, subject).ok();
                record.is_settled = world.is_settled(number, subject);
                record.sources = Some(environment.sources.clone());
            }
            for (workload, rollout) in environment.workloads.iter().enumerate() {
                let record = self.rollouts.entry(RolloutKey { environment: number, workload }).or_default();
                record.target.clone_from(&rollout.reconcilers.target);
                record.states.clone_from(&rollout.reconcilers.states);
                record.released.clear();
                record.released.extend(
                    (0..environment.rings.ring.len()).map(|place| is_released(environment, &rollout.state, place)),
                );
                record.ring = rollout.state.current.as_ref().map_or(0, |current| current.ring);
                let rings = &environment.rings;
                let reached = (0..rings.ring.len()).map(|place| rings.at(place));
                let reached = reached.map(|(ring, domain, hash)| rollout.state.is_reached(ring, domain, hash));
                record.reached.clear();
                record.reached.extend(reached);
                let phase = rollout.state.current.as_ref().map(|current| &current.phase);
                record.was_rolling_back = matches!(phase, Some(MoveStage::RollingBack { .. }));
                record.returning = returns_to(rollout);
                record.ahead = environment.column_of_moving(workload).map(<[_]>::to_vec).unwrap_or_default();
            }
        }
        self.note_goodness(world);
    }

    /// Checks a step of the controller.
    pub(super) fn after(&mut self, world: &World) -> Checked {
        self.note_environments(world);
        for number in 0..world.environments.len() {
            self.check_values(world, number)?;
            self.check_renderer(world, number)?;
            for subject in 0..=world.renderer_subject() {
                self.check_subject(world, SubjectKey { environment: number, subject })?;
            }
            for workload in 0..world.environments[number].workloads.len() {
                self.check_rollout(world, RolloutKey { environment: number, workload })?;
            }
        }
        check_reports(world)?;
        // What began in this step is good from now on, not from the next step on.
        self.before(world);
        Ok(())
    }

    /// A person skipped a gate of a rollout, or of the way into an environment.
    pub(super) fn note_skip(&mut self, world: &World, key: SubjectKey, gate: &Arc<str>) {
        let SubjectKey { environment, subject } = key;
        let rollout = subject.checked_sub(1).map(|workload| RolloutKey { environment, workload });
        if let Some(record) = rollout.and_then(|rollout| self.rollouts.get_mut(&rollout)) {
            record.movement.skipped.insert(Arc::clone(gate));
        }
        let revision = candidate(world, environment, subject);
        if let Some(record) = self.subjects.get_mut(&key) {
            record.skipped.insert((revision, Arc::clone(gate)));
        }
    }

    /// A person admitted the candidate of an environment past all its gates.
    pub(super) fn note_override(&mut self, world: &World, key: SubjectKey) {
        let gates = world.environments[key.environment].promotion.iter().flat_map(|promotion| &promotion.gates);
        let gates: Vec<_> = gates.map(|gate| Arc::clone(&gate.name)).chain(["settled".into()]).collect();
        for gate in &gates {
            self.note_skip(world, key, gate);
        }
    }

    /// A person approved the candidate of an environment.
    pub(super) fn note_approval(&mut self, world: &World, key: SubjectKey, by: &Arc<str>) {
        if let (Some(revision), Some(record)) =
            (candidate(world, key.environment, key.subject), self.subjects.get_mut(&key))
        {
            record.approvals.insert((revision, Arc::clone(by)));
        }
    }
}

/// Whether a time is long enough after another one by the service's clock. Unknown, and so long enough, if the clock changed in between.
fn is_after(clock_changed: i64, since: Option<i64>, now: i64, time: std::time::Duration) -> bool {
    since
        .is_some_and(|since| clock_changed >= since || now - since >= i64::try_from(time.as_secs()).unwrap_or(i64::MAX))
}

/// Whether a state releases its revision to a place.
fn is_released(environment: &Environment, state: &RolloutState, place: usize) -> bool {
    let (ring, domain, hash) = environment.rings.at(place);
    state.content(ring, domain, hash).is_moving()
}

/// What a move that goes ahead of another one returns to.
fn returns_to(rollout: &Rollout) -> Option<Vec<ContentId>> {
    let current = rollout.state.current.as_ref().filter(|_| rollout.state.interrupted.is_some())?;
    Some(rollout.snapshots.get(&current.base)?.to_vec())
}

fn candidate(world: &World, number: usize, subject: usize) -> Option<Revision> {
    world.state_of(number, subject)?.current.as_ref().map(|current| current.revision.clone())
}

/// Everything that does not rest has a reason.
fn check_reports(world: &World) -> Checked {
    let check = |name: String, report: Option<&MoveReport>| -> Checked {
        let Some(report) = report.filter(|report| report.phase != ReportPhase::Rest) else { return Ok(()) };
        let has_reason = report.waiting.first().is_some_and(|first| !first.text.is_empty() && !first.what.is_empty());
        if has_reason {
            Ok(())
        } else {
            broken("every wait and every stop has a reason", format!("{name}: {report:?}"))
        }
    };
    for environment in &world.environments {
        for (workload, rollout) in environment.workloads.iter().enumerate() {
            check(format!("{} {}", environment.name, world.workloads[workload]), rollout.memory.report.as_ref())?;
        }
        for subject in &environment.subjects {
            check(environment.name.to_string(), subject.report.as_ref())?;
        }
    }
    Ok(())
}

/// Whether a share of the reconcilers applied their content. With `fail`, only those count that would become silent.
fn is_compliant(measured: &Measured, share: Share, silent: Silent) -> bool {
    let left_out = if silent == Silent::Ignore { measured.silent } else { 0 };
    let expected = measured.expected.saturating_sub(left_out);
    let unknown = if silent == Silent::Fail { measured.without_heartbeat } else { 0 };
    measured.unpublished == 0 && expected > 0 && share.is_reached(measured.succeeded - unknown, expected)
}

/// Whether not too many reconcilers failed. With `fail`, silent ones failed.
fn is_within(measured: &Measured, budget: Amount, silent: Silent) -> bool {
    let silent = if silent == Silent::Fail { measured.silent } else { 0 };
    measured.failed + silent <= budget.limit(measured.expected)
}

/// How silent reconcilers count for a list of gates.
fn silent_of(gates: &[Gate]) -> Silent {
    let word =
        |word| gates.iter().any(|gate| matches!(gate.kind, GateKind::Compliant { silent, .. } if silent == word));
    [Silent::Fail, Silent::Wait, Silent::Ignore].into_iter().find(|found| word(*found)).unwrap_or_default()
}

/// Whether no more fail than gates allow.
fn failures_hold(gates: &[Gate], measured: &Measured) -> bool {
    measures_hold(gates, measured, |name| {
        gates.iter().any(|gate| *gate.name == *name && !matches!(gate.kind, GateKind::Failures(_)))
    })
}

/// Whether the gates of a list that measure the fleet hold.
fn measures_hold(gates: &[Gate], measured: &Measured, is_skipped: impl Fn(&str) -> bool) -> bool {
    let of_list = silent_of(gates);
    gates.iter().all(|gate| {
        is_skipped(&gate.name)
            || match &gate.kind {
                GateKind::Compliant { share, silent } => is_compliant(measured, *share, *silent),
                GateKind::Failures(budget) => is_within(measured, *budget, of_list),
                _ => true,
            }
    })
}
