//! The commits of the main branch and the releases of workloads on their way into an environment.

use std::borrow::Cow;
use std::sync::Arc;

use model::object::Promotion;
use model::object::promotion::ChangeOrigin;

use super::facts::{Facts, Known, RevisionEvidence};
use super::{PlannedMove, Settled, StepInput, StepPlan, Subject, Write, promotion};
use crate::promotion::advance::{self, AdvanceAction, AdvanceInput, AdvanceStep, FromEnvironment};
use crate::promotion::evidence::Measured;
use crate::promotion::origin::for_origin;
use crate::promotion::proposal::proposed_early;
use crate::promotion::report::ReportPhase;
use crate::promotion::state::{AdvanceState, Decision, Revision};

/// What a subject does with its inputs, beside the evidence about a candidate.
#[derive(Clone, Copy)]
pub(super) struct Move<'a> {
    pub(super) facts: &'a dyn Facts,
    pub(super) subject: &'a Subject,
    pub(super) state: &'a AdvanceState,
    pub(super) settled: &'a Settled,
    /// A hold of the whole environment. None also for the main branch, whose own state has it.
    pub(super) hold: Option<&'a Decision>,
    pub(super) line: &'a [Revision],
    pub(super) head: Option<&'a Revision>,
    pub(super) at: Option<&'a Revision>,
    pub(super) baseline: Option<&'a Revision>,
    pub(super) reverts_to: Option<&'a Revision>,
}

/// The evidence about a candidate.
struct Collected {
    from: Vec<FromEnvironment>,
    measured: Known<Measured>,
    evidence: RevisionEvidence,
}

impl Move<'_> {
    /// Decides with a promotion. At rest, no evidence is collected. `with_candidate` gives the promotion with the gates that a candidate brings itself.
    pub(super) fn decide<'p>(
        &self,
        promotion: &'p Promotion,
        with_candidate: impl Fn(&Revision) -> Option<Promotion>,
    ) -> (Cow<'p, Promotion>, AdvanceStep) {
        advance::follow(self.state, |candidate, states| {
            let promotion = candidate.and_then(&with_candidate).map_or(Cow::Borrowed(promotion), Cow::Owned);
            let collected = match candidate {
                Some(candidate) => self.collect(&promotion, candidate),
                None => self.not_asked(&promotion),
            };
            let step = advance::step(&self.input(&promotion, &collected, candidate), states);
            (promotion, step)
        })
    }

    fn not_asked(&self, promotion: &Promotion) -> Collected {
        Collected {
            from: self.before(promotion),
            measured: Err("it is not asked for yet".into()),
            evidence: RevisionEvidence::default(),
        }
    }

    /// The environments before, without the state of their places.
    fn before(&self, promotion: &Promotion) -> Vec<FromEnvironment> {
        let one = |name| {
            let mut before = self.facts.before(name, self.subject);
            // An environment with another version shows nothing of this one.
            let has_other = before.has.is_some() && before.has.as_ref() != self.head;
            if has_other && *self.subject == Subject::Renderer {
                before.has.clone_from(&self.state.admitted);
            }
            before
        };
        promotion.from.iter().map(one).collect()
    }

    fn collect(&self, promotion: &Promotion, revision: &Revision) -> Collected {
        let measured = |from: FromEnvironment| {
            let measured = self.facts.measured(Some(&from.name), self.subject);
            FromEnvironment { measured, ..from }
        };
        Collected {
            from: self.before(promotion).into_iter().map(measured).collect(),
            measured: match self.settled.check(self.subject) {
                Ok(()) => self.facts.measured(None, self.subject),
                // The reason stands in the wait for it.
                Err(_) => Err(self.unsettled().into()),
            },
            evidence: self.facts.evidence(self.subject, revision, promotion),
        }
    }

    fn unsettled(&self) -> &'static str {
        match self.subject {
            Subject::Release(_) => "the workload is not settled yet",
            Subject::Main | Subject::Renderer => "the environment is not settled yet",
        }
    }

    /// The input of the step about a candidate.
    fn input<'i>(
        &'i self,
        promotion: &'i Promotion,
        collected: &'i Collected,
        about: Option<&'i Revision>,
    ) -> AdvanceInput<'i> {
        let Collected { from, measured, evidence } = collected;
        AdvanceInput {
            now: self.facts.now(),
            about,
            promotion,
            hold: self.hold,
            line: self.line,
            head: self.head,
            from,
            at: self.at,
            baseline: self.baseline,
            reverts_to: self.reverts_to,
            to_settled: self.settled.check(self.subject),
            to_failed: self.settled.failed(self.subject).cloned(),
            is_proposed: self.facts.is_proposed(),
            is_published: self.facts.is_published(),
            to_measured: measured.clone(),
            checks: &evidence.checks,
            approvals: &evidence.approvals,
            authors: &evidence.authors,
            teams: self.facts.teams(),
        }
    }
}

/// Decides about the commits of the main branch.
pub(super) fn of_main(input: StepInput<'_>, settled: &Settled) -> PlannedMove {
    let StepInput { facts, state, promotion: in_force } = input;
    let before = state.main.clone().unwrap_or_default();
    let head = facts.line().first();
    let reverts_to =
        head.filter(|head| before.admitted.as_ref() != Some(*head)).and_then(|_| facts.reverts_to(&before));
    let one = Move {
        facts,
        subject: &Subject::Main,
        state: &before,
        settled,
        hold: None,
        line: facts.line(),
        head,
        at: facts.named(),
        baseline: facts.baseline(),
        reverts_to: reverts_to.as_ref(),
    };
    let of_main = for_origin(in_force, ChangeOrigin::Main);
    let with_candidate =
        |candidate: &Revision| Some(for_origin(&promotion(facts, state, Some(candidate))?, ChangeOrigin::Main));
    let (promotion, step) = one.decide(&of_main, with_candidate);
    let write = write(&promotion, &step).unwrap_or_else(|| Write::Withdraw { keep: gated(&step) });
    PlannedMove { subject: Subject::Main, before, step, write }
}

/// Decides about the releases of the workloads that the promotion selects.
pub(super) fn of_releases(input: StepInput<'_>, plan: &mut StepPlan) {
    let StepInput { facts, state, promotion } = input;
    let Some(releases) = facts.releases() else { return };
    let promotion = for_origin(promotion, ChangeOrigin::Release);
    let input = StepInput { promotion: &promotion, ..input };
    let selector = promotion.select.workloads.as_ref().filter(|_| !promotion.from.is_empty());
    for release in releases {
        let Some(labels) = &release.labels else { continue };
        if selector.is_some_and(|selector| selector.matches(labels)) {
            let before = state.releases.get(&release.workload).cloned().unwrap_or_default();
            plan.moves.push(of_release(input, &plan.settled, release.workload, before));
        } else if state.releases.contains_key(&release.workload) {
            plan.forgotten.push(release.workload);
        }
    }
}

/// Decides with the gates for releases.
fn of_release(input: StepInput<'_>, settled: &Settled, workload: Arc<str>, before: AdvanceState) -> PlannedMove {
    let StepInput { facts, state, promotion } = input;
    let at = facts.named_release(&workload, promotion);
    let subject = Subject::Release(workload);
    let one = Move {
        facts,
        subject: &subject,
        state: &before,
        settled,
        hold: state.hold(),
        // A release is proved only as itself: no other one contains it.
        line: &[],
        head: None,
        at: at.as_ref(),
        baseline: None,
        reverts_to: None,
    };
    let (promotion, step) = one.decide(promotion, |_| None);
    // A workload at rest has no pull request.
    let has_moved = before.current.is_some() || step.state.current.is_some() || !step.state.rejected.is_empty();
    let withdraw = || has_moved.then(|| Write::Withdraw { keep: gated(&step) });
    let write = write(&promotion, &step).or_else(withdraw).unwrap_or(Write::Nothing);
    PlannedMove { subject, before, step, write }
}

/// What a step writes. None: no revision.
fn write(promotion: &Promotion, step: &AdvanceStep) -> Option<Write> {
    Some(match &step.action {
        Some(AdvanceAction::Write { revision }) => Write::Put { revision: revision.clone(), is_rollback: false },
        Some(AdvanceAction::RollBack { to }) => Write::Put { revision: to.clone(), is_rollback: true },
        None => Write::Review(proposed_early(promotion, step)?.clone()),
    })
}

/// The candidate that waits for its gates.
fn gated(step: &AdvanceStep) -> Option<Revision> {
    let current = step.state.current.as_ref().filter(|_| step.report.phase == ReportPhase::Gated);
    current.map(|current| current.revision.clone())
}
