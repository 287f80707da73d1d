//! The commits of the main branch on their way into an environment: collects evidence, decides, and acts.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use engine::promotion::advance::{self, Action, AdvanceInput, AdvanceStep, FromEnvironment};
use engine::promotion::command::{Command, CommandKind, apply_to_advance};
use engine::promotion::evidence::{Approver, Measured};
use engine::promotion::in_force::admits;
use engine::promotion::origin::for_origin;
use engine::promotion::proposal::proposed_early;
use engine::promotion::report::ReportPhase;
use engine::promotion::state::{AdvanceState, GateRecord, GateStatus, Revision};
use git::Commit;
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::object::promotion::{ChangeOrigin, GateKind, Promotion};

use super::commit_move::{self, CommitMove, Moved, proposing_branch};
use super::context::{Context, Memory};
use super::error::ControllerError;
use super::evidence::CheckSubject;
use super::line;
use super::people;
use super::plane::Standing;
use super::published_folders::GitOpsCommit;
use crate::rollout_store::{PromotionChange, StoredStates};

/// What is known of the environment itself.
pub(super) struct Own<'a> {
    /// Where it stands.
    pub(super) standing: &'a Standing,
    /// The commits of the GitOps branches with its output, if it is published, and no rollout is open in it; or why not.
    pub(super) settled: Result<Vec<GitOpsCommit>, Arc<str>>,
    /// Why the environment can't take its commit without a change.
    pub(super) failed: Option<Arc<str>>,
    /// Whether its output waits in a pull request.
    pub(super) is_proposed: bool,
    /// What it had published before the first step, if that is another revision than its sources name.
    pub(super) baseline: Option<Revision>,
}

/// What an action did.
#[derive(Debug)]
pub(super) enum Acted {
    /// Nothing changed, or it waits for people.
    Nothing,
    /// The environment's branch has another commit now.
    Moved,
    /// Another program moved a branch. The step begins again.
    LostRace,
    /// A person closed the pull request with the revision: the move ends with this command.
    Declined(Command, Revision),
    /// The revision can't be written, for this reason.
    Problem(Arc<str>),
}

/// Decides about the next step, with the promotion in force. At rest, no evidence is collected. None: there is no promotion any more.
pub(super) fn decide(
    context: &Context<'_>,
    (stored, state): (&StoredStates, &AdvanceState),
    own: &Own<'_>,
    memory: &mut Memory,
) -> Option<(Promotion, AdvanceStep)> {
    let in_force = |candidate: Option<GitId>| {
        let promotion = context.plane.in_force(context.environment, (stored, candidate))?;
        Some(for_origin(&promotion, ChangeOrigin::Main))
    };
    let promotion = in_force(None)?;
    let known = before(context, &promotion, memory);
    let from: Vec<_> = known.iter().map(|(from, _)| from.clone()).collect();
    let none = Evidence { reverts_to: reverts_to(context, state), ..Evidence::default() };
    let without = advance::step(&input(context, &promotion, own, (&from, &none)), state);
    let Some(current) = &without.state.current else { return Some((promotion, without)) };
    // The gates of the candidate itself count too, and its environments before.
    let names = promotion.from;
    let promotion = in_force(line::commit(&current.revision))?;
    let known = if promotion.from == names { known } else { before(context, &promotion, memory) };
    let evidence = collect(context, &promotion, (own, &current.revision), memory);
    let evidence = Evidence { reverts_to: none.reverts_to, ..evidence };
    let from = known.into_iter().map(|(from, settled)| {
        let measured = context.published((&from.name, None), settled.as_deref().map_err(Arc::clone));
        FromEnvironment { measured, ..from }
    });
    let from: Vec<_> = from.collect();
    let decided = advance::step(&input(context, &promotion, own, (&from, &evidence)), state);
    Some((promotion, decided))
}

/// The promotion that is admitted with a new state: that of the commit that the environment has proved now, or began with.
pub(super) fn admitted_promotion(
    context: &Context<'_>,
    (stored, before): (&StoredStates, &AdvanceState),
    after: &AdvanceState,
) -> PromotionChange {
    let is_first = stored.promotion.is_none();
    let Some(commit) = admits((before, is_first), after).and_then(line::commit) else {
        return PromotionChange::Keep;
    };
    match context.plane.promotion_at(context.environment, commit) {
        Some(promotion) => PromotionChange::Set(promotion),
        None if stored.promotion.is_some() => PromotionChange::Remove,
        None => PromotionChange::Keep,
    }
}

/// The evidence about a candidate, beside that about the fleet before it.
struct Evidence {
    measured: Result<Measured, Arc<str>>,
    checks: BTreeMap<Arc<str>, engine::promotion::evidence::CheckResult>,
    people: (Option<Arc<str>>, Vec<Approver>),
    /// The proved commit whose files the head of the main branch has.
    reverts_to: Option<Revision>,
}

impl Default for Evidence {
    fn default() -> Self {
        let (checks, people, reverts_to) = Default::default();
        Self { measured: Err("it is not asked for yet".into()), checks, people, reverts_to }
    }
}

fn collect(
    context: &Context<'_>,
    promotion: &Promotion,
    (own, revision): (&Own<'_>, &Revision),
    memory: &mut Memory,
) -> Evidence {
    let environment = context.environment;
    let subject = CheckSubject { environment: environment.as_str(), workload: None, revision: &revision.0, ring: None };
    let needs_people = promotion.gates.iter().any(|gate| matches!(gate.kind, GateKind::Approval(_)));
    let people = match line::commit(revision).filter(|_| needs_people) {
        Some(commit) => {
            let author = memory.authors.author(context.access, context.hosts, commit);
            let branch = proposing_branch(environment);
            let into = (&own.standing.promoted.head, branch.as_str());
            (author, people::approvals(context.hosts, into, (&commit.to_string(), context.now)))
        }
        None => (None, Vec::new()),
    };
    Evidence {
        measured: context.published((environment.as_str(), None), own.settled.as_deref().map_err(Arc::clone)),
        checks: context.evidence.checks(&promotion.gates, subject),
        people,
        reverts_to: None,
    }
}

/// The commit that the environment has proved, and whose files the head of the main branch has again. None: there is none, or it can't be read.
fn reverts_to(context: &Context<'_>, state: &AdvanceState) -> Option<Revision> {
    let head = context.plane.line.head().filter(|head| state.admitted.as_ref() != Some(*head))?;
    let settings = &context.access.settings;
    let repositories = &*context.access.repositories;
    let tree = |revision: &Revision| {
        let id = line::commit(revision)?;
        let revision = git::Revision::Commit { id, branch: Some(settings.branch.as_str().into()) };
        Some(repositories.info(&Commit { url: settings.repo.clone(), revision, id }).ok()?.tree)
    };
    let wanted = tree(head)?;
    let proofs = state.proofs.iter().rev().map(|proof| &proof.revision);
    proofs.filter(|proof| *proof != head).find(|proof| tree(proof) == Some(wanted)).cloned()
}

fn input<'a>(
    context: &'a Context<'_>,
    promotion: &'a Promotion,
    own: &'a Own<'_>,
    (from, evidence): (&'a [FromEnvironment], &'a Evidence),
) -> AdvanceInput<'a> {
    let (author, approvals) = &evidence.people;
    AdvanceInput {
        now: context.now,
        promotion,
        // The state itself has it.
        hold: None,
        line: &context.plane.line.commits,
        head: context.plane.line.head(),
        from,
        at: own.standing.at.as_ref(),
        baseline: own.baseline.as_ref(),
        reverts_to: evidence.reverts_to.as_ref(),
        to_settled: own.settled.as_ref().map(|_| ()).map_err(Arc::clone),
        to_failed: own.failed.clone(),
        is_proposed: own.is_proposed,
        to_measured: evidence.measured.clone(),
        checks: &evidence.checks,
        approvals,
        author: author.as_deref(),
        teams: context.evidence.teams,
    }
}

/// An environment before, with the commits of its GitOps branches if it is settled.
type Before = (FromEnvironment, Result<Vec<GitOpsCommit>, Arc<str>>);

/// The environments before, without the state of their places. One that can't be read is one of which nothing is known.
fn before(context: &Context<'_>, promotion: &Promotion, memory: &mut Memory) -> Vec<Before> {
    promotion.from.iter().map(|name| one_before(context, name, memory)).collect()
}

fn one_before(context: &Context<'_>, name: &Arc<str>, memory: &mut Memory) -> Before {
    let unknown = |reason: Arc<str>| {
        (FromEnvironment::new(Arc::clone(name), (None, Err(Arc::clone(&reason))), None), Err(reason))
    };
    let no_such = || Arc::from("there is no such environment");
    let Ok(environment) = EnvironmentName::new(Arc::clone(name)) else { return unknown(no_such()) };
    let standing = match context.plane.standing(&environment, &mut memory.branches) {
        Ok(Some(standing)) => standing,
        Ok(None) => return unknown(no_such()),
        Err(error) => return unknown(error.to_string().into()),
    };
    let settled = context.plane.settled(&environment, &standing).map(|record| record.gitops);
    let has = (standing.has().cloned(), settled.as_ref().map(|_| ()).map_err(Arc::clone));
    let from = FromEnvironment::new(Arc::clone(name), has, standing.state.as_ref());
    (from, settled)
}

/// Carries out what a step decided. The state is stored before.
pub(super) fn act(
    context: &Context<'_>,
    promotion: &Promotion,
    (step, standing): (&AdvanceStep, &Standing),
) -> Result<Acted, ControllerError> {
    let revision = match &step.action {
        Some(Action::Write { revision }) => revision,
        Some(Action::RollBack { to }) => to,
        None => match proposed_early(promotion, step) {
            Some(revision) => revision,
            None => return withdraw(context, (step, standing)),
        },
    };
    let Some(to) = line::commit(revision) else { return Ok(Acted::Nothing) };
    let environment = context.environment;
    let title = match &step.action {
        Some(Action::RollBack { .. }) => format!("Roll {environment} back to {}", to.short()),
        _ => format!("Promote {} to {environment}", to.short()),
    };
    let change = CommitMove {
        environment,
        promoted: &standing.promoted,
        to,
        delivery: promotion.delivery,
        title: &title,
        body: &body(step),
        seconds: context.now.as_second(),
    };
    context.check_lease()?;
    Ok(match commit_move::write(context.access, context.hosts, &change)? {
        Moved::Written => Acted::Moved,
        Moved::Proposed { .. } => Acted::Nothing,
        Moved::LostRace => Acted::LostRace,
        Moved::Declined(link) => {
            let by = format!("pull request {}", link.number).into();
            let reason = "it was closed without a merge".into();
            Acted::Declined(Command { kind: CommandKind::Abort, by, at: context.now, reason }, revision.clone())
        }
    })
}

/// The state after a person closed the pull request of a move.
pub(super) fn declined(state: &AdvanceState, command: &Command) -> Option<AdvanceState> {
    apply_to_advance(state, command).ok()
}

/// Withdraws what was proposed, if nothing is to be written any more. While a candidate waits for its gates, its pull request stays, with the reviews.
fn withdraw(context: &Context<'_>, (step, standing): (&AdvanceStep, &Standing)) -> Result<Acted, ControllerError> {
    if standing.promoted.is_declared() {
        context.check_lease()?;
        let gated = step.state.current.as_ref().filter(|_| step.report.phase == ReportPhase::Gated);
        let keep = gated.and_then(|current| line::commit(&current.revision));
        commit_move::withdraw(context.access, context.hosts, (context.environment, &standing.promoted), keep)?;
    }
    Ok(Acted::Nothing)
}

/// Why a revision moves, in Markdown: the gates with their evidence.
pub(super) fn body(step: &AdvanceStep) -> String {
    let mut text = "| gate | | evidence |\n| --- | --- | --- |\n".to_owned();
    let cell = |text: &str| text.replace('|', "\\|").replace(['\n', '\r'], " ");
    let gates = step.state.current.as_ref().map(|current| current.gates.as_slice()).unwrap_or_default();
    for GateRecord { name, status, text: evidence, .. } in gates {
        let status = match status {
            GateStatus::Passed => "passed",
            GateStatus::Waiting => "waiting",
            GateStatus::Failed => "failed",
            GateStatus::Skipped(_) => "skipped",
        };
        let _ = writeln!(text, "| {} | {status} | {} |", cell(name), cell(evidence));
    }
    if gates.is_empty() { String::new() } else { text }
}
