//! Where changes stand, as the API of the hub shows it.

use std::collections::BTreeMap;

use engine::promotion::graph::Graph;
use engine::promotion::report::{MoveReport, ReportPhase, RingReport};
use engine::promotion::state::{
    AdvanceState, Candidate, CandidatePhase, Decision, GateRecord, GateStatus, MoveStage, Proved, Revision, RolledBack,
    RolloutState,
};
use engine::promotion::step::{PlannedMove, PlannedRollout, PlannedSource, StepPlan, Subject};
use hub_api::promotions::{
    GateProgress, GateProgressStatus, MovePhase, MoveStatus, OverrideStatus, PersonDecision, PromotionStatus,
    ProvedStatus, RingCounts, RingProgress, RingState, SubjectKind, SubjectStatus,
};
use jiff::Timestamp;
use model::name::EnvironmentName;
use model::object::promotion::ChangeOrigin;

use super::events::timestamp;
use super::facts::StepFacts;
use super::unwritten::UnwrittenMove;
use super::waits::{self, HeldBack};
use crate::access::renderer::SUBJECT;

/// An environment of which nothing is evaluated yet.
pub fn of_environment(graph: &Graph, environment: &EnvironmentName, now: Timestamp) -> PromotionStatus {
    let environment = environment.as_str();
    PromotionStatus {
        environment: environment.to_owned(),
        before: graph.before(environment).iter().map(ToString::to_string).collect(),
        after: graph.after(environment).map(ToString::to_string).collect(),
        evaluated_on: Some(timestamp(now)),
        problem: None,
        waiting_for: Vec::new(),
        subjects: Vec::new(),
    }
}

/// Where everything stands that moves into an environment.
pub(super) fn of_plan(
    facts: &StepFacts<'_>,
    plan: &StepPlan,
    unwritten: &[(Subject, UnwrittenMove)],
) -> PromotionStatus {
    let environment = facts.context.environment;
    let mut status = of_environment(&facts.context.plane.graph, environment, facts.context.now);
    status.problem = plan.problem.as_ref().map(ToString::to_string);
    let open = facts.context.published.map(|published| published.open.as_slice()).unwrap_or_default();
    status.waiting_for = waits::of_output(environment, open);
    let with_waits = |status: SubjectStatus, report: &MoveReport, found: Option<&UnwrittenMove>| {
        waits::with_waits(status, environment, report, HeldBack { unwritten: found, open })
    };
    let found_of = |subject: &Subject| unwritten.iter().find(|(of, _)| of == subject).map(|(_, found)| found);
    let main = facts.standing.at.as_ref();
    let moves = plan.moves.iter().map(|PlannedMove { subject, step, .. }| {
        let found = match subject {
            Subject::Main => of_platform(main, &step.state, &step.report),
            Subject::Release(workload) => {
                let at = plan.promotion.as_ref().and_then(|promotion| facts.release(workload, promotion)?.at());
                of_release(workload, at.as_ref(), (&step.state, &step.report))
            }
            Subject::Renderer => SubjectStatus {
                kind: SubjectKind::Renderer,
                ..of_release(SUBJECT, step.state.admitted.as_ref(), (&step.state, &step.report))
            },
        };
        with_waits(found, &step.report, found_of(subject))
    });
    let has_main = plan.moves.iter().any(|planned| planned.subject == Subject::Main);
    // A hold of the environment is also where its commits do not move.
    if let Some(hold) = facts.stored.hold().filter(|_| !has_main && plan.problem.is_none() && plan.promotion.is_some())
    {
        let state = AdvanceState { hold: Some(hold.clone()), ..AdvanceState::default() };
        status.subjects.push(of_platform(main, &state, &MoveReport::at_rest()));
    }
    status.subjects.extend(moves);
    status.subjects.extend(of_sources(facts, plan).map(|(found, report)| with_waits(found, report, None)));
    let rollouts = plan.rollouts.iter();
    status.subjects.extend(rollouts.map(|PlannedRollout { workload, desired, step }| {
        with_waits(of_rollout((workload, desired.as_ref()), &step.state, &step.report), &step.report, None)
    }));
    status
}

/// Where the sources stand, as the API shows them.
fn of_sources<'p>(
    facts: &'p StepFacts<'_>,
    plan: &'p StepPlan,
) -> impl Iterator<Item = (SubjectStatus, &'p MoveReport)> + use<'p> {
    let origins: BTreeMap<_, _> =
        facts.published_sources().iter().map(|source| (&source.name, source.origin)).collect();
    plan.sources.iter().filter_map(move |PlannedSource { name, step }| {
        let step = step.as_ref().ok()?;
        let is_overridden = step.state.unmerged.iter().any(|unmerged| unmerged.change.overridden.is_some());
        let is_news = step.report.revision.is_some() || !step.report.waiting.is_empty() || is_overridden;
        let kind = kind(*origins.get(name)?);
        is_news.then(|| (of_source(name, kind, (&step.state, &step.report)), &step.report))
    })
}

fn kind(origin: ChangeOrigin) -> SubjectKind {
    match origin {
        ChangeOrigin::Application => SubjectKind::Application,
        _ => SubjectKind::Values,
    }
}

/// The state of the platform's commits in an environment.
pub(super) fn of_platform(at: Option<&Revision>, state: &AdvanceState, report: &MoveReport) -> SubjectStatus {
    SubjectStatus { subject: None, kind: SubjectKind::Platform, ..of_advance(at, state, report) }
}

/// The state of a workload's release in an environment.
pub(super) fn of_release(
    workload: &str,
    at: Option<&Revision>,
    (state, report): (&AdvanceState, &MoveReport),
) -> SubjectStatus {
    SubjectStatus { subject: Some(workload.to_owned()), ..of_advance(at, state, report) }
}

/// The state of a source of values or of an application in an environment.
pub(super) fn of_source(name: &str, kind: SubjectKind, (state, report): (&AdvanceState, &MoveReport)) -> SubjectStatus {
    let found = of_advance(state.admitted.as_ref(), state, report);
    SubjectStatus { subject: Some(name.to_owned()), kind, ..found }
}

fn of_advance(at: Option<&Revision>, state: &AdvanceState, report: &MoveReport) -> SubjectStatus {
    let moving = state.current.as_ref().map(|current| {
        let (since, reason) = match &current.phase {
            CandidatePhase::Gated => (current.since, None),
            CandidatePhase::Entering { since } | CandidatePhase::Proving { since } => (*since, None),
            CandidatePhase::Stopped { reason, since } | CandidatePhase::RollingBack { reason, since } => {
                (*since, Some(reason.to_string()))
            }
        };
        Moving { revision: &current.revision, began: current.since, since, reason, rings: Vec::new() }.status(report)
    });
    SubjectStatus {
        subject: None,
        kind: SubjectKind::Release,
        at: at.map(|at| at.0.to_string()),
        proved: state.proved.as_ref().map(proved),
        moving,
        waiting_for: Vec::new(),
        waiting_revisions: revisions(&state.waiting),
        rejected: state.last_rejected().map(|rejected| rejected.revision.0.to_string()),
        rejected_because: state.last_rejected().map(|rejected| rejected.reason.to_string()),
        hold: state.hold.as_ref().map(decision),
        overridden: state
            .current
            .iter()
            .chain(state.unmerged.iter().rev().map(|found| &found.change))
            .find_map(overridden),
    }
}

fn overridden(candidate: &Candidate) -> Option<OverrideStatus> {
    let found = candidate.overridden.as_ref()?;
    Some(OverrideStatus {
        revision: candidate.revision.0.to_string(),
        decision: decision(&found.decision),
        gates: found.gates.iter().map(ToString::to_string).collect(),
        expires_on: timestamp(found.expires),
    })
}

/// The state of a workload in the rings of an environment.
pub(super) fn of_rollout(
    (workload, at): (&str, Option<&Revision>),
    state: &RolloutState,
    report: &MoveReport,
) -> SubjectStatus {
    let moving = state.current.as_ref().map(|current| {
        let (since, reason, is_withdrawn) = match &current.phase {
            MoveStage::Moving => (current.ring_started, None, false),
            MoveStage::Stopped { reason, since, is_withdrawn } => (*since, Some(reason.to_string()), *is_withdrawn),
            MoveStage::RollingBack { reason, since } => (*since, Some(reason.to_string()), true),
        };
        let began = |index: usize| match current.done.get(index) {
            Some(done) => Some(done.started),
            None => (index == current.ring).then_some(current.ring_started),
        };
        let rings = report.rings.iter().enumerate();
        let rings =
            rings.map(|(index, one)| ring(one, (began(index), index == current.ring && is_withdrawn))).collect();
        Moving { revision: &current.revision, began: current.started, since, reason, rings }.status(report)
    });
    SubjectStatus {
        subject: Some(workload.to_owned()),
        kind: SubjectKind::Workload,
        at: at.map(|at| at.0.to_string()),
        proved: state.stable.as_ref().map(proved),
        moving: moving.or_else(|| waiting_rollback(state, report)),
        waiting_for: Vec::new(),
        waiting_revisions: revisions(&state.waiting),
        rejected: state.rejected.last().map(|rejected| rejected.revision.0.to_string()),
        rejected_because: state.rejected.last().map(|rejected| rejected.reason.to_string()),
        hold: state.hold.as_ref().map(decision),
        overridden: None,
    }
}

/// A rollback by a person that has not begun, while nothing moves.
fn waiting_rollback(state: &RolloutState, report: &MoveReport) -> Option<MoveStatus> {
    let RolledBack { decision, target, .. } = state.rolled_back.as_ref()?;
    let revision = &target.as_ref()?.revision;
    let moving = Moving { revision, began: decision.at, since: decision.at, reason: None, rings: Vec::new() };
    Some(MoveStatus { phase: MovePhase::RollingBack, ..moving.status(report) })
}

struct Moving<'a> {
    revision: &'a Revision,
    began: Timestamp,
    since: Timestamp,
    reason: Option<String>,
    rings: Vec<RingProgress>,
}

impl Moving<'_> {
    fn status(self, report: &MoveReport) -> MoveStatus {
        MoveStatus {
            revision: self.revision.0.to_string(),
            since: timestamp(self.began),
            phase: phase(report.phase),
            phase_since: timestamp(self.since),
            reason: self.reason,
            rings: self.rings,
            gates: report.gates.iter().map(gate).collect(),
            waiting_for: Vec::new(),
        }
    }
}

fn phase(phase: ReportPhase) -> MovePhase {
    match phase {
        ReportPhase::Gated => MovePhase::Gated,
        ReportPhase::Entering => MovePhase::Entering,
        ReportPhase::Rest | ReportPhase::Moving => MovePhase::Moving,
        ReportPhase::Proving => MovePhase::Proving,
        ReportPhase::Stopped => MovePhase::Stopped,
        ReportPhase::RollingBack => MovePhase::RollingBack,
    }
}

fn ring(report: &RingReport, (since, is_withdrawn): (Option<Timestamp>, bool)) -> RingProgress {
    let state = match since {
        _ if report.is_done => RingState::Done,
        Some(_) if is_withdrawn => RingState::Withdrawn,
        Some(_) => RingState::Moving,
        None => RingState::Waiting,
    };
    let measured = report.measured.unwrap_or_default();
    let counts = RingCounts {
        expected: measured.expected,
        succeeded: measured.succeeded,
        failed: measured.failed,
        silent: measured.silent,
        without_heartbeat: measured.without_heartbeat,
    };
    let (places, changed, released) = (report.places, report.changed, report.released);
    RingProgress {
        name: report.name.to_string(),
        state,
        since: since.map(timestamp),
        places,
        changed,
        released,
        counts,
    }
}

fn gate(record: &GateRecord) -> GateProgress {
    let (status, skipped) = match &record.status {
        GateStatus::Passed => (GateProgressStatus::Passed, None),
        GateStatus::Waiting => (GateProgressStatus::Waiting, None),
        GateStatus::Failed => (GateProgressStatus::Failed, None),
        GateStatus::Skipped(by) => (GateProgressStatus::Skipped, Some(decision(by))),
    };
    let (name, text) = (record.name.to_string(), record.text.to_string());
    GateProgress { name, status, since: timestamp(record.since), text, skipped }
}

fn proved(proved: &Proved) -> ProvedStatus {
    ProvedStatus { revision: proved.revision.0.to_string(), on: timestamp(proved.on) }
}

fn decision(decision: &Decision) -> PersonDecision {
    let Decision { by, at, reason } = decision;
    PersonDecision { by: by.to_string(), at: timestamp(*at), reason: reason.to_string() }
}

fn revisions(revisions: &[Revision]) -> Vec<String> {
    revisions.iter().map(|revision| revision.0.to_string()).collect()
}
