//! Commands of people: how each one changes the stored state of a move.

mod entry;

use std::sync::Arc;

use jiff::Timestamp;

pub use self::entry::{apply_to_advance, gates_passed};
use super::evidence::Approver;
use super::report::{EventKind, MoveEvent};
use super::state::{
    AdvanceState, CandidatePhase, Decision, GateRecord, GateStatus, Interrupted, Move, MoveStage, Rejection, Revision,
    RolledBack, RolloutState, rejections,
};
use super::vector::Part;

/// The name of `Rollback`.
pub(super) const ROLLBACK: &str = "rollback";

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// What to do.
    pub kind: CommandKind,
    /// Who asks for it: the account.
    pub by: Arc<str>,
    /// When.
    pub at: Timestamp,
    /// Why. `hold`, `skip`, `abort` and `rollback` need a reason.
    pub reason: Arc<str>,
}

/// What a command does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandKind {
    /// Nothing moves until `Resume`.
    Hold,
    /// Ends a hold.
    Resume,
    /// Ends the current move. The revision is rejected, and all places keep what they have.
    Abort,
    /// Starts the rejected revision again, or lets a stopped move go on. During a rollback, it ends the rollback, and the newest revision moves again.
    Retry,
    /// Lets the move through a gate.
    Skip {
        /// The name of the gate.
        gate: Arc<str>,
    },
    /// Approves the current move.
    Approve {
        /// The name of the gate. None: each gate that waits for approvals.
        gate: Option<Arc<str>>,
    },
    /// Returns all places to the stable revision, or the environment to the proved one. If nothing moves in rings, it returns them to the revision that was proved
    /// before. Nothing moves the places again until `Retry`.
    Rollback {
        /// A revision that was proved before, or its first digits. None: the one before the present revision.
        to: Option<Revision>,
        /// Whether the places get exactly the folders that they had. Otherwise, values and applications stay as they are.
        with_values: bool,
    },
    /// Admits exactly this revision, although its gates do not hold.
    Override {
        /// The revision.
        revision: Revision,
        /// The gates that it passes: [`gates_passed`].
        gates: Vec<Arc<str>>,
        /// When it expires.
        expires: Timestamp,
    },
    /// Moves a revision into the environment, although it does not start by itself.
    Request {
        /// The revision.
        revision: Revision,
    },
}

/// A command is refused: it changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandRefusal {
    /// The command needs a reason.
    #[error("`{0}` needs a reason")]
    NoReason(&'static str),
    /// Nothing moves.
    #[error("nothing moves now")]
    NothingMoves,
    /// Another revision moves than the one that the decision is about.
    #[error("the decision is about {about}, but {moving} moves now")]
    OtherRevision {
        /// The revision of the decision.
        about: Arc<str>,
        /// What moves.
        moving: Arc<str>,
    },
    /// The move returns to the proved revision already.
    #[error("the rollback has begun already")]
    RollsBack,
    /// There is a hold already.
    #[error("{by} holds it already: {reason}")]
    IsHeld {
        /// Who holds.
        by: Arc<str>,
        /// Why.
        reason: Arc<str>,
    },
    /// There is no hold.
    #[error("there is no hold")]
    NotHeld,
    /// There is no such gate.
    #[error("there is no gate `{gate}` now. The gates are: {shown}", shown = list(names))]
    NoSuchGate {
        /// The name.
        gate: Arc<str>,
        /// The names of the gates that exist.
        names: Vec<Arc<str>>,
    },
    /// The gate holds already.
    #[error("the gate `{0}` holds already")]
    GateHolds(Arc<str>),
    /// The gate waits for two revisions of a workload.
    #[error(
        "the gate `{gate}` waits for `{in_ring}` in a ring, and for `{before}` before the environment. Name one with `--revision`"
    )]
    SeveralGates {
        /// The gate.
        gate: Arc<str>,
        /// What moves through the rings.
        in_ring: Arc<str>,
        /// The release on its way into the environment.
        before: Arc<str>,
    },
    /// There is no rejected or stopped revision.
    #[error("no revision was stopped, aborted or rolled back")]
    NothingToRetry,
    /// The revision was not proved here.
    #[error("no revision `{revision}` was proved here before the present one. The proved revisions are: {shown}", shown = list(names))]
    NotProved {
        /// The revision, or its first digits.
        revision: Arc<str>,
        /// The revisions to which a rollback can return.
        names: Vec<Arc<str>>,
    },
    /// There is no proved revision to return to.
    #[error("there is no earlier proved revision to return to")]
    NothingProved,
    /// The revisions that were proved before differ only in their values.
    #[error("only values have changed since what was proved before. `--with-values` returns to the earlier ones")]
    OnlyValues,
    /// What is decided about has no values of its own.
    #[error("`--with-values` restores a workload in rings, or a whole environment")]
    NoValues,
    /// The revision is there already.
    #[error("`{0}` is there already")]
    IsThere(Arc<str>),
    /// The gate is not one that people approve.
    #[error("`{gate}` does not wait for approvals. The gates for approvals are: {shown}", shown = list(names))]
    NotForApprovals {
        /// The name.
        gate: Arc<str>,
        /// The names of the gates for approvals.
        names: Vec<Arc<str>>,
    },
    /// No gate of the change waits for approvals.
    #[error("nothing of it waits for approvals now{}", also(open))]
    NoApproval {
        /// What else waits in the environment.
        open: Vec<String>,
    },
    /// Several gates wait for approvals.
    #[error("several changes wait for approvals. Name one by its workload, its gate or its revision: {}", open.join("; "))]
    SeveralApprovals {
        /// All of them.
        open: Vec<String>,
    },
    /// The approval does not count.
    #[error("the approval does not count at the gate `{gate}`: {reason}")]
    NotCounted {
        /// The gate.
        gate: Arc<str>,
        /// Why.
        reason: String,
    },
    /// The account approved already.
    #[error("{0} approved it already")]
    IsApproved(Arc<str>),
    /// The revision moves, or is there, already.
    #[error("`{0}` moves already")]
    MovesAlready(Arc<str>),
    /// The command is for moves between environments.
    #[error(
        "a rollout moves what the environment has. Use `kalypso promote` to move another revision into the environment"
    )]
    NotForRollouts,
}

fn also(open: &[String]) -> String {
    if open.is_empty() { String::new() } else { format!(". These wait: {}", open.join("; ")) }
}

impl CommandKind {
    /// The name on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Hold => "hold",
            Self::Resume => "resume",
            Self::Abort => "abort",
            Self::Retry => "retry",
            Self::Skip { .. } => "skip",
            Self::Approve { .. } => "approve",
            Self::Rollback { .. } => ROLLBACK,
            Self::Request { .. } => "promote",
            Self::Override { .. } => "override",
        }
    }

    fn event(&self) -> EventKind {
        match self {
            Self::Hold => EventKind::Held,
            Self::Resume | Self::Retry => EventKind::Resumed,
            Self::Abort => EventKind::Aborted,
            Self::Skip { .. } => EventKind::Skipped,
            Self::Approve { .. } => EventKind::Approved,
            Self::Rollback { .. } => EventKind::RollingBack,
            Self::Request { .. } => EventKind::Started,
            Self::Override { .. } => EventKind::Promoted,
        }
    }
}

impl Command {
    /// The command about a rollout, with the revision to which a rollback returns that keeps the values. `platform_of` gives the commit of the main branch and the
    /// release of revisions that the state names.
    ///
    /// # Errors
    /// Only values have changed since what was proved before.
    pub fn with_target<P: PartialEq>(
        &self,
        state: &RolloutState,
        platform_of: impl Fn(&Revision) -> Option<P>,
    ) -> Result<Self, CommandRefusal> {
        let CommandKind::Rollback { to: None, with_values: false } = self.kind else { return Ok(self.clone()) };
        let to = state.earlier_platform(platform_of)?;
        Ok(Self { kind: CommandKind::Rollback { to, with_values: false }, ..self.clone() })
    }

    /// The event of a command that was applied to a move of this revision.
    pub fn event(&self, revision: Option<Revision>) -> MoveEvent {
        let what = match &self.kind {
            CommandKind::Skip { gate } => format!("{} of the gate `{gate}`", self.kind.name()),
            CommandKind::Approve { gate: Some(gate) } => format!("{} for the gate `{gate}`", self.kind.name()),
            CommandKind::Request { revision } => format!("{} `{}`", self.kind.name(), revision.0),
            CommandKind::Override { revision, gates, expires } => {
                let gates = if gates.is_empty() { String::new() } else { format!(" past {}", gates.join(", ")) };
                format!("{} `{}`{gates} until {expires:.0}", self.kind.name(), revision.0)
            }
            CommandKind::Rollback { to, with_values } => {
                let to = to.as_ref().map_or_else(String::new, |to| format!(" to `{}`", to.0));
                let values = if *with_values { " with values" } else { "" };
                format!("{}{to}{values}", self.kind.name())
            }
            kind => kind.name().to_owned(),
        };
        let why = if self.reason.is_empty() { String::new() } else { format!(": {}", self.reason) };
        let text = format!("{what} by {}{why}", self.by);
        MoveEvent { at: self.at, kind: self.kind.event(), revision, text: text.into(), gates: Vec::new() }
    }

    /// Who decides, and why.
    pub fn decision(&self) -> Decision {
        Decision { by: Arc::clone(&self.by), at: self.at, reason: Arc::clone(&self.reason) }
    }

    fn check_reason(&self) -> Result<(), CommandRefusal> {
        let needs_reason = matches!(
            self.kind,
            CommandKind::Hold
                | CommandKind::Abort
                | CommandKind::Skip { .. }
                | CommandKind::Rollback { .. }
                | CommandKind::Override { .. }
        );
        if needs_reason && self.reason.trim().is_empty() {
            Err(CommandRefusal::NoReason(self.kind.name()))
        } else {
            Ok(())
        }
    }

    /// The reason of a phase that the command begins.
    fn phase_reason(&self) -> Arc<str> {
        self.decision().because(self.kind.name())
    }

    fn hold(&self, hold: &mut Option<Decision>) -> Result<(), CommandRefusal> {
        if let Some(Decision { by, reason, .. }) = hold {
            return Err(CommandRefusal::IsHeld { by: Arc::clone(by), reason: Arc::clone(reason) });
        }
        *hold = Some(self.decision());
        Ok(())
    }

    fn skip(&self, gate: &Arc<str>, gates: &mut [GateRecord]) -> Result<(), CommandRefusal> {
        let names = gates.iter().map(|record| Arc::clone(&record.name)).collect();
        let Some(record) = gates.iter_mut().find(|record| record.name == *gate) else {
            return Err(CommandRefusal::NoSuchGate { gate: Arc::clone(gate), names });
        };
        if record.holds() {
            return Err(CommandRefusal::GateHolds(Arc::clone(gate)));
        }
        record.status = GateStatus::Skipped(self.decision());
        record.since = self.at;
        record.text = format!("skipped by {}: {}", self.by, self.reason).into();
        Ok(())
    }

    fn approve(&self, gate: Option<&Arc<str>>, approvals: &mut Vec<Approver>) -> Result<(), CommandRefusal> {
        let covers = |approver: &Approver| approver.gate.is_none() || approver.gate.as_ref() == gate;
        let is_own = |approver: &&Approver| approver.account.to_lowercase() == self.by.to_lowercase();
        if approvals.iter().filter(is_own).any(covers) {
            return Err(CommandRefusal::IsApproved(Arc::clone(&self.by)));
        }
        let (account, by) = (Arc::clone(&self.by), "command".into());
        approvals.push(Approver { account, at: self.at, by, gate: gate.cloned() });
        Ok(())
    }
}

/// Applies a command to the rollout of a workload.
///
/// # Errors
/// The command makes no sense in this state. The state stays as it is.
pub fn apply_to_rollout(state: &RolloutState, command: &Command) -> Result<RolloutState, CommandRefusal> {
    command.check_reason()?;
    let mut state = state.clone();
    match &command.kind {
        CommandKind::Hold => command.hold(&mut state.hold)?,
        CommandKind::Resume => state.hold.take().map(|_| ()).ok_or(CommandRefusal::NotHeld)?,
        CommandKind::Abort => abort_rollout(&mut state, command)?,
        CommandKind::Retry => retry_rollout(&mut state, command)?,
        CommandKind::Skip { gate } => command.skip(gate, &mut current(&mut state.current)?.gates)?,
        CommandKind::Approve { gate } => {
            command.approve(gate.as_ref(), &mut current(&mut state.current)?.approvals)?;
        }
        CommandKind::Rollback { to, with_values } => {
            roll_back_rollout(&mut state, command, (to.as_ref(), *with_values))?;
        }
        CommandKind::Request { .. } | CommandKind::Override { .. } => return Err(CommandRefusal::NotForRollouts),
    }
    Ok(state)
}

fn current<T>(current: &mut Option<T>) -> Result<&mut T, CommandRefusal> {
    current.as_mut().ok_or(CommandRefusal::NothingMoves)
}

fn abort_rollout(state: &mut RolloutState, command: &Command) -> Result<(), CommandRefusal> {
    if is_rolling_back(state) {
        return Err(CommandRefusal::RollsBack);
    }
    let moving = current(&mut state.current)?;
    let (revision, part) = (moving.revision.clone(), moving.part);
    state.current = None;
    // The interrupted move can't go on either: the places keep what they have, with some of the newer values.
    if let Some(Interrupted { movement, .. }) = state.interrupted.take() {
        let Move { revision, part, .. } = movement;
        state.reject(Rejection { revision, reason: command.phase_reason(), part, at: Some(command.at) });
    }
    state.reject(Rejection { revision, reason: command.phase_reason(), part, at: Some(command.at) });
    Ok(())
}

fn is_rolling_back(state: &RolloutState) -> bool {
    let begins = state.rolled_back.as_ref().is_some_and(|rolled_back| rolled_back.target.is_some());
    begins || state.current.as_ref().is_some_and(|current| matches!(current.phase, MoveStage::RollingBack { .. }))
}

fn roll_back_rollout(
    state: &mut RolloutState,
    command: &Command,
    (to, with_values): (Option<&Revision>, bool),
) -> Result<(), CommandRefusal> {
    if is_rolling_back(state) {
        return Err(CommandRefusal::RollsBack);
    }
    let target = state.rollback_target(to)?;
    // What moves did not change the values of the stable revision.
    let has_values = state.stable.as_ref().is_some_and(|stable| stable.revision == target.revision);
    let target = if with_values || has_values {
        state.roll_back_to(target, &command.decision(), with_values);
        None
    } else {
        Some(target)
    };
    state.rolled_back = Some(RolledBack { decision: command.decision(), with_values, target });
    Ok(())
}

fn retry_rollout(state: &mut RolloutState, command: &Command) -> Result<(), CommandRefusal> {
    if state.rolled_back.take_if(|rolled_back| rolled_back.target.is_some()).is_some() {
        // The rollback has not begun: what moved goes on.
        return Ok(());
    }
    if let (Some(Interrupted { .. }), Some(current)) = (&state.interrupted, &mut state.current)
        && matches!(current.phase, MoveStage::RollingBack { .. })
    {
        current.begin_again(command.at);
        return Ok(());
    }
    if let Some(Move { revision, .. }) =
        state.current.take_if(|current| matches!(current.phase, MoveStage::RollingBack { .. }))
    {
        // The places keep what they have now, and each ring proves the next move again, also that of a revision that all rings had proved before.
        rejections::remove(&mut state.rejected, &revision);
        state.earlier.retain(|earlier| earlier.revision != revision);
        state.rolled_back = None;
        return Ok(());
    }
    let stopped = state.current.as_mut().filter(|current| matches!(current.phase, MoveStage::Stopped { .. }));
    if let Some(Move { phase, released, ring_started, gates, .. }) = stopped {
        if matches!(phase, MoveStage::Stopped { is_withdrawn: true, .. }) {
            released.clear();
            gates.clear();
            *ring_started = command.at;
        }
        *phase = MoveStage::Moving;
        return Ok(());
    }
    let rolled_back = state.rolled_back.take();
    let was_rolled_back = rolled_back.is_some();
    if rolled_back.is_some_and(|rolled_back| !rolled_back.with_values)
        && let Some(last) = state.rejected.iter().rposition(|rejected| rejected.part == Part::Platform)
    {
        // The commit moves again, also with the newer values that went on without it.
        state.rejected.remove(last);
    }
    if was_rolled_back && !state.waiting.is_empty() {
        // A newer revision moves. The rejected one stays rejected.
        return Ok(());
    }
    let is_retried = state.rejected.pop().is_some();
    if was_rolled_back || is_retried { Ok(()) } else { Err(CommandRefusal::NothingToRetry) }
}

/// Whether a retry of the commit of an environment also starts the rollout of a workload again. A rollback of the workload alone goes on.
pub fn is_retried_with(commit: &AdvanceState, rollout: &RolloutState) -> bool {
    let is_returning = is_rolling_back(rollout) || rollout.rolled_back.is_some();
    let is_environment =
        commit.current.as_ref().is_some_and(|found| matches!(found.phase, CandidatePhase::RollingBack { .. }));
    !is_returning || is_environment
}

fn list(names: &[Arc<str>]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests;
