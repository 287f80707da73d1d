//! The workloads of an environment on their way through its rings.

use std::sync::Arc;

use model::object::Promotion;

use super::facts::RolloutFacts;
use super::{PlannedRollout, Settled, StepInput, StepPlan};
use crate::promotion::rings::membership::effective_rings;
use crate::promotion::rings::{self, Ahead, ChangedPlaces, RingPlaces, RolloutInput, RolloutStep};
use crate::promotion::state::{Move, MoveStage, RolloutState};

/// Decides about all workloads in the rings, and which of them are not settled.
pub(super) fn plan(input: StepInput<'_>, plan: &mut StepPlan) {
    let StepInput { facts, state, promotion } = input;
    let workloads = facts.rollouts();
    if workloads.is_empty() {
        return;
    }
    let promotion = Promotion { rings: effective_rings(promotion), ..promotion.clone() };
    let input = StepInput { promotion: &promotion, ..input };
    for workload in workloads {
        let before = state.rollouts.get(&workload).cloned().unwrap_or_default();
        match facts.rollout(&workload, &before, &promotion) {
            Ok(found) => {
                let step = decide(input, &found, &before);
                let planned = PlannedRollout { workload, desired: found.desired, step };
                planned.note(&mut plan.settled);
                plan.rollouts.push(planned);
            }
            Err(reason) => {
                plan.problems.push(format!("{workload}: {reason}"));
                let why = format!("the rollout of {workload} can't be evaluated");
                plan.settled.open.insert(workload, why.into());
            }
        }
    }
}

fn decide(input: StepInput<'_>, found: &RolloutFacts<'_>, before: &RolloutState) -> RolloutStep {
    let StepInput { facts, state, promotion } = input;
    let ahead = found.ahead.as_ref().map(|ahead| match ahead {
        Ok((revision, rest)) => Ok(Ahead { revision, rest: rest.as_ref() }),
        Err(why) => Err(&**why),
    });
    let changed = before.difference().zip(found.changed.as_deref());
    let input = RolloutInput {
        now: facts.now(),
        promotion,
        hold: state.hold(),
        desired: found.desired.as_ref(),
        part: found.part,
        is_lost: found.is_lost,
        is_kept: found.is_kept,
        ahead,
        back: found.back.as_ref().map(|back| back.as_ref().map_err(|why| &**why)),
        position: &found.position,
        places: RingPlaces {
            ring: &found.ring,
            domain: &found.domain,
            hash: &found.hash,
            domains: &found.domains,
            failing: &found.failing,
        },
        measured: found.measured.as_deref().map_err(Arc::clone),
        changed: changed.map(|(of, places)| ChangedPlaces { of, places, is_only_new: found.is_only_new }),
        checks: &found.evidence.checks,
        approvals: &found.evidence.approvals,
        authors: &found.evidence.authors,
        evidence_of: before.current.as_ref().map(|current| (&current.revision, current.ring)),
        teams: facts.teams(),
    };
    rings::step(&input, before)
}

impl PlannedRollout {
    /// Whether a move is open: something moves, or the stable revision is not the one that the sources give.
    pub fn is_open(&self) -> bool {
        let RolloutState { current, stable, .. } = &self.step.state;
        current.is_some() || self.desired.as_ref() != stable.as_ref().map(|stable| &stable.revision)
    }

    /// Why the environment can't take its commit without a change: the rollout stopped, was aborted or rolled back.
    pub fn failed_because(&self) -> Option<Arc<str>> {
        self.step.state.failed_because(self.desired.as_ref())
    }

    /// Notes whether the workload is settled.
    fn note(&self, settled: &mut Settled) {
        if self.is_open() {
            settled.open.insert(Arc::clone(&self.workload), self.waits());
        }
        if let Some(why) = self.failed_because() {
            let why = format!("the rollout of {}: {why}", self.workload);
            settled.failed.insert(Arc::clone(&self.workload), why.into());
        }
    }

    /// Why the move is open. What could end a stop is said by the workload itself.
    fn waits(&self) -> Arc<str> {
        let workload = &self.workload;
        if let Some(Move { phase: MoveStage::Stopped { reason, .. }, .. }) = &self.step.state.current {
            return format!("the rollout of {workload} stopped: {reason}").into();
        }
        match self.step.report.waiting.first() {
            Some(waiting) => format!("the rollout of {workload} waits for {}: {}", waiting.what, waiting.text).into(),
            None => format!("the rollout of {workload} is open").into(),
        }
    }
}
