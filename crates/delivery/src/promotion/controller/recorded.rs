//! Stores what a step decided: all new states as one commit, and the record that the environment is settled.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::promotion::step::{Facts as _, PlannedMove, PlannedRollout, ReleaseFacts, Settled, StepPlan, Subject};

use super::changes::{Change, DecidedEvents, is_worth_storing};
use super::context::Context;
use super::error::ControllerError;
use super::facts::StepFacts;
use super::settled::{SettledBranch, SettledRecord};
use super::{platform, releases, rollouts, sources};
use crate::access::renderer::SUBJECT;
use crate::states::rollout_store::{self, Advances, StoredStates};

/// What was stored.
pub(super) enum Stored {
    /// Another revision is admitted, or another program stored states at the same time: everything is read again.
    Again {
        /// Whether the output follows from other states now.
        has_moved: bool,
    },
    /// The new states, or nothing new.
    Done {
        /// Whether the output follows from other states of rollouts now.
        must_publish: bool,
    },
}

/// Stores what a step decided.
pub(super) fn store(facts: &StepFacts<'_>, plan: &StepPlan) -> Result<Stored, ControllerError> {
    let context = facts.context;
    let before = facts.advances.clone().unwrap_or_default();
    let mut change = Change::new(context.environment, facts.stored, before.clone());
    let mut has_admitted = sources::record(facts.published_sources(), plan, &before, &mut change);
    let must_publish = record_rollouts(facts, plan, &mut change);
    for planned in &plan.moves {
        record_move(planned, &before, &mut change);
        // What is admitted first is there, unless the publication before was refused.
        let is_first = planned.before.admitted.is_none() && planned.step.state.admitted.is_some();
        has_admitted |= planned.admits() || (is_first && facts.baseline().is_some());
    }
    change.set_promotion(platform::admitted_promotion(context, (facts.stored, plan.admits.as_ref())));
    change.forget_releases(&plan.forgotten);
    if !change.is_empty() && !change.store(context)? {
        return Ok(Stored::Again { has_moved: false });
    }
    let is_settled = settle(facts, plan)?;
    let has_admitted = has_admitted || !plan.forgotten.is_empty();
    // What is stored already counts, also if the record is lost to another program.
    if has_admitted || !is_settled {
        return Ok(Stored::Again { has_moved: has_admitted || must_publish });
    }
    Ok(Stored::Done { must_publish })
}

fn record_move(planned: &PlannedMove, before: &Advances, change: &mut Change) {
    let PlannedMove { subject, step, .. } = planned;
    let events = DecidedEvents::by_controller(&step.events);
    let is_news = is_worth_storing(&planned.before, &step.state) || !step.events.is_empty();
    match subject {
        Subject::Main if is_news => change.set_platform(step.state.clone(), events),
        Subject::Release(workload) if is_news => change.set_release(workload, step.state.clone(), events),
        Subject::Renderer if is_news || !before.releases.contains_key(SUBJECT) => {
            change.set_release(&SUBJECT.into(), step.state.clone(), events);
        }
        _ => {}
    }
}

/// Returns whether a rollout has another state.
fn record_rollouts(facts: &StepFacts<'_>, plan: &StepPlan, change: &mut Change) -> bool {
    let mut is_changed = false;
    for (earlier, present) in &facts.stored.renamed {
        let rollout = facts.stored.rollouts.get(present).and_then(|rollout| rollout.as_ref().ok());
        change.set_rollout(earlier, None, DecidedEvents::by_controller(&[]));
        change.set_rollout(present, rollout.cloned(), DecidedEvents::by_controller(&[]));
    }
    for PlannedRollout { workload, step, .. } in &plan.rollouts {
        let before = facts.stored.rollouts.get(workload).cloned().and_then(Result::ok).unwrap_or_default();
        if rollouts::is_worth_storing(&before.state, &step.state) || !step.events.is_empty() {
            let stored = facts.workload(workload).stored(before, step.state.clone());
            change.set_rollout(workload, Some(stored), DecidedEvents::by_controller(&step.events));
            is_changed = true;
        }
    }
    is_changed
}

/// Stores the record that the environment is settled, if it is, at most without some workloads, and nothing said so before. False: another program stored states at the
/// same time.
fn settle(facts: &StepFacts<'_>, plan: &StepPlan) -> Result<bool, ControllerError> {
    let context = facts.context;
    let (Some(published), Some(gitops)) = (facts.context.published, facts.gitops()) else { return Ok(true) };
    let is_compared = !published.has_rings() || facts.context.output.is_some();
    if plan.settled.problem.is_some() || !is_compared || !is_worth_recording(facts, plan) {
        return Ok(true);
    }
    let StoredStates { head, .. } = rollout_store::read(context.access, context.environment)?;
    let branch = SettledBranch { access: context.access, environment: context.environment, head: head.as_ref() };
    let known = branch.read()?;
    let mut releases = releases::to_record(context, &published.releases);
    releases.insert(SUBJECT.into(), Arc::clone(&context.access.renderer));
    let before = known.as_ref().map(|known| &known.releases);
    let record = SettledRecord {
        commit: facts.standing.commit(),
        head: facts.standing.head(),
        since: context.now,
        open: plan.settled.open.keys().cloned().collect(),
        releases: shown_releases(&plan.settled, releases, before),
        gitops: gitops.to_vec(),
    };
    if known.is_some_and(|known| SettledRecord { since: record.since, ..known } == record) {
        return Ok(true);
    }
    Ok(branch.write(&record, context.lease)?)
}

/// Whether the record says something: about all of the environment, or to an environment after it about the release of a workload.
fn is_worth_recording(facts: &StepFacts<'_>, plan: &StepPlan) -> bool {
    let Context { plane, environment, .. } = facts.context;
    let is_settled =
        |release: &ReleaseFacts| release.labels.is_some() && !plan.settled.open.contains_key(&release.workload);
    let shows_release = || facts.releases().is_some_and(|releases| releases.iter().any(is_settled));
    plan.settled.check(&Subject::Main).is_ok()
        || (plane.graph.after(environment.as_str()).next().is_some() && shows_release())
}

/// The releases that the environment shows. What is not settled shows what it had when it was.
fn shown_releases(
    settled: &Settled,
    releases: BTreeMap<Arc<str>, Arc<str>>,
    before: Option<&BTreeMap<Arc<str>, Arc<str>>>,
) -> BTreeMap<Arc<str>, Arc<str>> {
    let is_settled = |name: &Arc<str>| match &**name {
        SUBJECT => settled.check(&Subject::Renderer).is_ok(),
        _ => settled.check(&Subject::Release(Arc::clone(name))).is_ok(),
    };
    let shown = |(name, release): (Arc<str>, Arc<str>)| {
        let release = if is_settled(&name) { Some(release) } else { before?.get(&name).cloned() };
        Some((name, release?))
    };
    releases.into_iter().filter_map(shown).collect()
}
