//! Decisions of people: finds the moves that a command is about, and applies it to all of them.

mod approving;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use model::object::Promotion;
use model::object::release::{is_called, shown};

pub use self::approving::OpenApproval;

use super::command::{Command, CommandKind, CommandRefusal, apply_to_advance, apply_to_rollout, is_retried_with};
use super::gates::Teams;
use super::report::MoveEvent;
use super::state::{AdvanceState, Revision, RolloutState};
use super::step::State;
use super::vector::Part;

/// What a decision is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About<'a> {
    /// The commits of the main branch, or the whole environment.
    Environment,
    /// A workload: what moves in the rings, or its release on the way into the environment.
    Workload(&'a str),
    /// The version of the program that renders.
    Renderer,
    /// A source of values or of an application.
    Source(&'a str),
}

/// A command of a person, and what it is about.
#[derive(Clone, Copy, Debug)]
pub struct DecisionRequest<'a> {
    /// What the command is about.
    pub about: About<'a>,
    /// The revision that it is about, or its first digits. None: the one that moves now.
    pub revision: Option<&'a str>,
    /// The command.
    pub command: &'a Command,
}

/// What a program knows beside the stored states.
pub trait DecisionFacts {
    /// The promotion in force, with the gates that what moves brings itself. None: there is none.
    fn promotion(&self) -> Option<&Promotion>;

    /// The accounts of the members of each team.
    fn teams(&self) -> &Teams;

    /// The command about a rollout with the revision to which a rollback returns: [`Command::with_target`].
    ///
    /// # Errors
    /// There is no such revision.
    fn with_target(&self, workload: &str, state: &RolloutState, command: &Command) -> Result<Command, CommandRefusal>;

    /// The beginning of a source that is not recorded. None: there is no such source.
    fn beginning(&self, source: &str) -> Option<AdvanceState>;
}

/// What a command changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// What an approval is about, as people name it. None: the commits of the main branch, or what the person named.
    pub subject: Option<Arc<str>>,
    /// The revision that the decision is about. None: whichever moves.
    pub revision: Option<Revision>,
    /// What happened.
    pub event: MoveEvent,
    /// The moves with their new states, each with what happened to it.
    pub changes: Vec<(ChangedMove, MoveEvent)>,
}

/// A move with its new state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangedMove {
    /// The commits of the main branch.
    Main(AdvanceState),
    /// The release of a workload.
    Release(Arc<str>, AdvanceState),
    /// The version of the program that renders.
    Renderer(AdvanceState),
    /// A source of values or of an application.
    Source(Arc<str>, AdvanceState),
    /// A workload in the rings.
    Rollout(Arc<str>, RolloutState),
}

impl ChangedMove {
    /// No revision of a workload is rejected any more because of its commit or release.
    fn forgive_commits(&mut self) {
        if let Self::Rollout(_, rollout) = self {
            rollout.rejected.retain(|rejected| rejected.part == Part::Configuration);
        }
    }
}

/// The reason why a command is not applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotApplied {
    /// Nothing of this name moves there.
    #[error("`{0}` does not move there")]
    UnknownSubject(String),
    /// The command makes no sense in this state.
    #[error(transparent)]
    Refused(#[from] CommandRefusal),
}

/// Applies the command of a person.
///
/// - About the environment, a command is for the commits of the main branch. An abort of one that has entered also ends what it brings in the rings, and a retry lets the
///   rollouts start again that it stopped. What a rollback held is freed when a person moves a commit.
/// - About a workload, it is for what moves in the rings, and otherwise for its release on the way into the environment. A hold is for both.
/// - An approval is for exactly one gate of one change, at which the account counts: about the environment, for any of them.
///
/// # Errors
/// The command makes no sense in these states. They stay as they are.
pub fn apply(state: &State, request: DecisionRequest<'_>, known: &dyn DecisionFacts) -> Result<Applied, NotApplied> {
    let DecisionRequest { about, revision, command } = request;
    let attempt = Attempt { state, revision, command, known };
    if let CommandKind::Approve { gate } = &command.kind {
        return attempt.approve(about, gate.as_ref());
    }
    let mut applied = match about {
        About::Source(name) => attempt.of_source(name),
        About::Renderer => attempt.of_renderer(),
        About::Environment if command.kind == CommandKind::Retry => attempt.retry(None),
        About::Workload(name) if command.kind == CommandKind::Retry => attempt.retry(Some(name)),
        About::Environment => attempt.of_main(),
        About::Workload(name) => attempt.of_workload(name),
    }?;
    if about == About::Environment && matches!(command.kind, CommandKind::Retry | CommandKind::Request { .. }) {
        applied.changes.extend(attempt.freed_sources());
    }
    Ok(applied)
}

/// A command on its way to the states that it changes.
struct Attempt<'a> {
    state: &'a State,
    revision: Option<&'a str>,
    command: &'a Command,
    known: &'a dyn DecisionFacts,
}

impl Attempt<'_> {
    fn of_main(&self) -> Result<Applied, NotApplied> {
        let is_of_environment = matches!(self.command.kind, CommandKind::Hold | CommandKind::Resume);
        let moves = self.known.promotion().map(|promotion| promotion.select.platform || is_of_environment);
        if moves != Some(true) {
            return Err(NotApplied::UnknownSubject("main".to_owned()));
        }
        let before = self.state.main.clone().unwrap_or_default();
        let (revision, after) = self.advance(&before, self.command)?;
        let has_entered = before.current.as_ref().is_some_and(|current| current.phase.is_admitted());
        let mut applied = self.applied(revision, ChangedMove::Main(after));
        if self.command.kind == CommandKind::Abort && has_entered {
            // What the commit brings moves no further through the rings either.
            applied.changes.extend(self.rollouts(|_, _| true));
        }
        Ok(applied)
    }

    fn of_renderer(&self) -> Result<Applied, NotApplied> {
        let unknown = || NotApplied::UnknownSubject("the renderer".to_owned());
        let before = self.state.renderer.as_ref().ok_or_else(unknown)?;
        let (revision, after) = self.advance(before, self.command)?;
        Ok(self.applied(revision, ChangedMove::Renderer(after)))
    }

    /// A source that no gate is for is recorded with a hold.
    fn of_source(&self, name: &str) -> Result<Applied, NotApplied> {
        if matches!(self.command.kind, CommandKind::Rollback { with_values: true, .. }) {
            return Err(CommandRefusal::NoValues.into());
        }
        let is_hold = self.command.kind == CommandKind::Hold;
        let recorded = self.state.sources.get(name).cloned();
        let before = recorded.or_else(|| self.known.beginning(name).filter(|_| is_hold));
        let before = before.ok_or_else(|| NotApplied::UnknownSubject(name.to_owned()))?;
        let (revision, after) = self.advance(&before, self.command)?;
        Ok(self.applied(revision, ChangedMove::Source(name.into(), after)))
    }

    /// A gate that the ring does not have is one of the release.
    fn of_workload(&self, name: &str) -> Result<Applied, NotApplied> {
        if matches!(self.command.kind, CommandKind::Hold | CommandKind::Resume) {
            return self.hold_of_workload(name);
        }
        if self.is_of_release(name) {
            return self.of_release(name);
        }
        match &self.command.kind {
            CommandKind::Skip { gate } if self.has_release(name) => self.skip_of_workload(name, gate),
            _ => self.of_rollout(name),
        }
    }

    /// A gate of the ring in which a workload moves, or one of its release before the environment. One that waits for both is not passed by chance.
    fn skip_of_workload(&self, name: &str, gate: &Arc<str>) -> Result<Applied, NotApplied> {
        let shown = |applied: &Applied| applied.revision.as_ref().map_or("nothing", |found| shown(&found.0)).into();
        match (self.of_rollout(name), self.of_release(name)) {
            (Ok(in_ring), Ok(before)) => {
                let (in_ring, before) = (shown(&in_ring), shown(&before));
                Err(CommandRefusal::SeveralGates { gate: Arc::clone(gate), in_ring, before }.into())
            }
            (Ok(found), Err(_)) | (Err(_), Ok(found)) => Ok(found),
            (Err(error), Err(_)) => Err(error),
        }
    }

    /// A hold of a workload, or its end: of its release on the way into the environment, and of what moves in the rings. One of them may be held already.
    fn hold_of_workload(&self, name: &str) -> Result<Applied, NotApplied> {
        let of_release = if self.has_release(name) {
            self.of_release(name)
        } else {
            Err(NotApplied::UnknownSubject(name.to_owned()))
        };
        match (of_release, self.of_rollout(name)) {
            (Ok(mut release), Ok(rollout)) => {
                release.changes.extend(rollout.changes);
                Ok(release)
            }
            (Ok(found), Err(_)) | (Err(_), Ok(found)) => Ok(found),
            (Err(NotApplied::UnknownSubject(_)), Err(error)) | (Err(error), Err(_)) => Err(error),
        }
    }

    /// A retry of commits, or of a release, also lets the rollouts of what they bring start again: otherwise the rings would reject it once more.
    fn retry(&self, workload: Option<&str>) -> Result<Applied, NotApplied> {
        let of_subject = match workload {
            None => self.of_main(),
            Some(name) => self.of_release(name),
        };
        let main = self.state.main.clone().unwrap_or_default();
        let mut rollouts = self.rollouts(|name, rollout| match workload {
            Some(meant) => meant == name,
            None => is_retried_with(&main, rollout),
        });
        if workload.is_none() {
            // Which of the rejected revisions the commit gives a workload is not known yet.
            rollouts.iter_mut().for_each(|(changed, _)| changed.forgive_commits());
        }
        let error = match of_subject {
            Ok(mut found) => {
                found.changes.extend(rollouts);
                return Ok(found);
            }
            Err(error) => error,
        };
        // The workload may have only a rollout.
        if let Some(name) = workload {
            return match self.of_rollout(name) {
                Err(NotApplied::UnknownSubject(_)) => Err(error),
                answer => answer,
            };
        }
        match rollouts.first() {
            Some((_, event)) if !matches!(error, NotApplied::Refused(CommandRefusal::OtherRevision { .. })) => {
                Ok(Applied { subject: None, revision: None, event: event.clone(), changes: rollouts })
            }
            _ => Err(error),
        }
    }

    /// The rollouts that the command changes, too.
    fn rollouts(&self, is_meant: impl Fn(&str, &RolloutState) -> bool) -> Vec<(ChangedMove, MoveEvent)> {
        let one = |(name, before): (&Arc<str>, &RolloutState)| {
            let after = is_meant(name, before).then(|| apply_to_rollout(before, self.command).ok()).flatten()?;
            Some((ChangedMove::Rollout(Arc::clone(name), after), self.command.event(about_rollout(before))))
        };
        self.state.rollouts.iter().filter_map(one).collect()
    }

    /// The sources that a rollback of the environment with its values holds.
    fn freed_sources(&self) -> Vec<(ChangedMove, MoveEvent)> {
        let rolled_back = self.state.main.as_ref().and_then(|main| main.stays.as_ref());
        let is_held = |source: &AdvanceState| source.hold.is_some() && source.hold.as_ref() == rolled_back;
        let held = self.state.sources.iter().filter(|(_, source)| is_held(source));
        let freed = held.map(|(name, source)| {
            let freed = AdvanceState { hold: None, ..source.clone() };
            (ChangedMove::Source(Arc::clone(name), freed), self.command.event(None))
        });
        freed.collect()
    }

    fn has_release(&self, name: &str) -> bool {
        self.state.releases.contains_key(name)
    }

    /// Whether a decision about a workload is about its release on the way into the environment. If a revision of it moves through the rings, the decision is about that
    /// one, unless it requests or admits a release.
    fn is_of_release(&self, name: &str) -> bool {
        match self.command.kind {
            CommandKind::Request { .. } | CommandKind::Override { .. } => return true,
            // Only rings know the folders that a workload had.
            CommandKind::Rollback { with_values: true, .. } => return false,
            _ => {}
        }
        let in_rings = self.state.rollouts.get(name).and_then(|rollout| rollout.current.as_ref());
        self.has_release(name) && in_rings.is_none()
    }

    fn of_release(&self, name: &str) -> Result<Applied, NotApplied> {
        if self.known.promotion().is_none_or(|promotion| promotion.select.workloads.is_none()) {
            return Err(NotApplied::UnknownSubject(name.to_owned()));
        }
        let before = self.state.releases.get(name).cloned().unwrap_or_default();
        let (revision, after) = self.advance(&before, self.command)?;
        let event = self.command.event(revision.clone());
        let changes = vec![(ChangedMove::Release(name.into(), after), event.clone())];
        Ok(Applied { subject: None, revision, event, changes })
    }

    fn of_rollout(&self, name: &str) -> Result<Applied, NotApplied> {
        let is_rollback = matches!(self.command.kind, CommandKind::Rollback { .. });
        let Some(before) = self.state.rollouts.get(name) else {
            if matches!(self.command.kind, CommandKind::Rollback { with_values: true, .. }) {
                return Err(CommandRefusal::NoValues.into());
            }
            return Err(NotApplied::UnknownSubject(name.to_owned()));
        };
        // What every place has may return, too.
        let revision = if is_rollback { before.present().cloned() } else { about_rollout(before) };
        self.check(revision.as_ref())?;
        let command = self.known.with_target(name, before, self.command)?;
        let after = apply_to_rollout(before, &command)?;
        let event = command.event(revision.clone());
        let changes = vec![(ChangedMove::Rollout(name.into(), after), event.clone())];
        Ok(Applied { subject: None, revision, event, changes })
    }

    /// The revision that a command is about, and the state after it.
    fn advance(
        &self,
        before: &AdvanceState,
        command: &Command,
    ) -> Result<(Option<Revision>, AdvanceState), NotApplied> {
        let revision = match &command.kind {
            CommandKind::Request { revision } | CommandKind::Override { revision, .. } => Some(revision.clone()),
            _ => about(before).cloned(),
        };
        self.check(revision.as_ref())?;
        Ok((revision, apply_to_advance(before, command)?))
    }

    fn check(&self, moving: Option<&Revision>) -> Result<(), NotApplied> {
        let Some(about) = self.revision else { return Ok(()) };
        match moving {
            Some(moving) if moving.0.starts_with(about) || is_called(&moving.0, about) => Ok(()),
            moving => {
                let moving = moving.map_or_else(|| "nothing".into(), |moving| Arc::clone(&moving.0));
                Err(CommandRefusal::OtherRevision { about: about.into(), moving }.into())
            }
        }
    }

    fn applied(&self, revision: Option<Revision>, changed: ChangedMove) -> Applied {
        let event = self.command.event(revision.clone());
        Applied { subject: None, revision, event: event.clone(), changes: vec![(changed, event)] }
    }
}

/// The revision of a move into an environment that a command is about.
fn about(state: &AdvanceState) -> Option<&Revision> {
    let moving = state.current.as_ref().map(|current| &current.revision);
    moving.or_else(|| state.last_rejected().map(|rejected| &rejected.revision))
}

/// The revision of a rollout that a command is about.
fn about_rollout(state: &RolloutState) -> Option<Revision> {
    let moving = state.current.as_ref().map(|current| current.revision.clone());
    moving.or_else(|| state.rejected_revision().cloned())
}
