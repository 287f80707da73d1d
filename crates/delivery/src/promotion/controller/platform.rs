//! The commits of the main branch on their way into an environment: carries out decisions.

use std::fmt::Write as _;
use std::sync::Arc;

use engine::promotion::advance::AdvanceStep;
use engine::promotion::answer::{Answer, WaitingSubject};
use engine::promotion::command::{Command, CommandKind};
use engine::promotion::state::{GateRecord, GateStatus, Revision};
use engine::promotion::step::Write;
use model::object::promotion::ChangeDelivery;

use super::commit_move::{self, CommitMove, CommitProposals, Moved, Proposed};
use super::context::Context;
use super::error::ControllerError;
use super::line;
use super::plane::EnvironmentStanding;
use super::waits;
use crate::output::changes::markdown;
use crate::states::rollout_store::{AdmissionChange, StoredStates};

/// What an action did.
#[derive(Debug)]
pub(super) enum Acted {
    /// Nothing changed, or it waits for people.
    Nothing,
    /// The environment's branch has another commit now.
    Moved,
    /// Another program moved a branch. The step begins again.
    LostRace,
    /// The revision is on a branch that waits for its merge.
    Proposed(Proposed),
    /// A person closed the pull request with the revision: the move ends with this command.
    Declined(Command, Revision),
    /// The revision can't be written, for this reason.
    Problem(Arc<str>),
}

/// The promotion at a commit of the main branch, as the one that is admitted.
pub(super) fn admitted_promotion(
    context: &Context<'_>,
    (stored, commit): (&StoredStates, Option<&Revision>),
) -> AdmissionChange {
    let Some(commit) = commit.and_then(line::commit) else { return AdmissionChange::Keep };
    match context.plane.promotion_at(context.environment, commit) {
        Some(promotion) => AdmissionChange::Set(promotion),
        None if stored.promotion.is_some() => AdmissionChange::Remove,
        None => AdmissionChange::Keep,
    }
}

/// The commits of the main branch on their way into an environment.
#[derive(Clone, Copy)]
pub(super) struct PlatformMove<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) standing: &'a EnvironmentStanding,
}

impl<'a> PlatformMove<'a> {
    /// Carries out what a step decided. The state is stored before.
    pub(super) fn act(
        &self,
        delivery: ChangeDelivery,
        (step, write): (&AdvanceStep, &Write),
    ) -> Result<Acted, ControllerError> {
        let Self { context, standing } = *self;
        let (revision, is_rollback) = match write {
            Write::Put { revision, is_rollback } => (revision, *is_rollback),
            Write::Review(revision) => (revision, false),
            Write::Withdraw { keep } => return self.withdraw(keep.as_ref()),
            Write::Nothing => return Ok(Acted::Nothing),
        };
        let Some(to) = line::commit(revision) else { return Ok(Acted::Nothing) };
        let environment = context.environment;
        let title = if is_rollback {
            format!("Roll {environment} back to {}", to.short())
        } else {
            format!("Promote {} to {environment}", to.short())
        };
        let about = WaitingSubject { environment: environment.as_str(), subject: None, revision: Some(&revision.0) };
        let change = CommitMove {
            environment,
            promoted: &standing.promoted,
            to,
            delivery,
            title: &title,
            body: &body(step, about),
            seconds: context.now.as_second(),
        };
        context.check_lease()?;
        Ok(acted(context, commit_move::write(context.access, context.hosts, &change)?, revision))
    }

    /// Withdraws what was proposed, unless it is the commit that waits for its gates: its pull request stays, with the reviews.
    fn withdraw(&self, keep: Option<&Revision>) -> Result<Acted, ControllerError> {
        if self.standing.promoted.is_declared() {
            self.context.check_lease()?;
            self.proposals().withdraw(self.context.access, keep.and_then(line::commit))?;
        }
        Ok(Acted::Nothing)
    }

    /// What is proposed for the environment's branch.
    pub(super) fn proposals(&self) -> CommitProposals<'a> {
        let Context { hosts, environment, .. } = *self.context;
        CommitProposals { hosts, environment, promoted: &self.standing.promoted }
    }
}

/// What a write did. A person who closed its pull request has ended the move.
pub(super) fn acted(context: &Context<'_>, moved: Moved, revision: &Revision) -> Acted {
    match moved {
        Moved::Written => Acted::Moved,
        Moved::Proposed(proposed) => Acted::Proposed(proposed),
        Moved::LostRace => Acted::LostRace,
        Moved::Declined(link) => {
            let by = format!("pull request {}", link.number).into();
            let reason = "it was closed without a merge".into();
            Acted::Declined(Command { kind: CommandKind::Abort, by, at: context.now, reason }, revision.clone())
        }
    }
}

/// Why a revision moves, in Markdown: the gates with their evidence, and what people can do, in the words of the status.
pub(super) fn body(step: &AdvanceStep, about: WaitingSubject<'_>) -> String {
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
    if gates.is_empty() {
        text.clear();
    }
    for waiting in &step.report.waiting {
        let (Some(command), Some(answer)) = (waiting.command(about), waiting.answer) else { continue };
        let review = if answer == Answer::Approve { ", or a review of this pull request" } else { "" };
        let _ = writeln!(text, "\n{}{review}", markdown::answer(&command, waits::act(answer).role()));
    }
    text
}
