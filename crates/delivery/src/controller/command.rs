//! Stores decisions of people: on the branch with the states, where the next step finds them.

mod names;
mod sources;
mod values;

use std::sync::Arc;

use engine::promotion::command::{Command, CommandKind, Refusal, apply_to_advance, apply_to_rollout, is_retried_with};
use engine::promotion::report::Event;
use engine::promotion::state::{AdvanceState, Revision};
use git::{Person, RepositoryError};
use model::name::EnvironmentName;
use model::object::promotion::{GateKind, Ring};
use model::object::release::shown;

use super::changes::Change;
use super::plane::{KnownBranches, Plane};
use crate::access::RepositoryAccess;
use crate::reading::RACES_MAX;
use crate::renderer::SUBJECT;
use crate::rings::platform;
use crate::rollout_store::{self, StateFileError, StoreError, StoredRollout, StoredStates};
use crate::write_lease::WriteLease;

/// A decision of a person.
#[derive(Clone, Copy)]
pub struct PersonDecision<'a> {
    /// The environment.
    pub environment: &'a EnvironmentName,
    /// The workload, or a source beside the main branch. None: the commits of the main branch.
    pub subject: Option<&'a str>,
    /// The decision. The revision of a request may be the first digits of a commit.
    pub command: &'a Command,
    /// The revision that it is about, or its first digits. None: the one that moves now.
    pub revision: Option<&'a str>,
    /// The author of the commit.
    pub author: &'a Person,
    /// The permission to write. None: it is not limited.
    pub lease: Option<&'a WriteLease>,
}

/// What was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The revision that the decision is about. None: whichever moves.
    pub revision: Option<Revision>,
    /// What happened, in one line for people.
    pub text: String,
}

/// The reason why a decision is not stored.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// There is no such environment.
    #[error("there is no environment `{0}`")]
    UnknownEnvironment(EnvironmentName),
    /// Nothing of this name moves there.
    #[error("`{subject}` does not move into {environment}")]
    UnknownSubject {
        /// The environment.
        environment: EnvironmentName,
        /// The workload, or `main`.
        subject: String,
    },
    /// The digits are not those of one commit of the main branch.
    #[error("{}", no_commit(.digits, *.found))]
    NoCommit {
        /// The digits.
        digits: String,
        /// The number of commits that begin with them.
        found: usize,
    },
    /// Another revision moves than the one that the decision is about.
    #[error("the decision is about {about}, but {moving} moves now")]
    OtherRevision {
        /// The revision of the decision.
        about: String,
        /// What moves.
        moving: String,
    },
    /// The decision makes no sense in this state.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// No publication says which values were there.
    #[error(
        "no publication of commit {commit} in the last history of the GitOps branch of {environment} names its values"
    )]
    NoValues {
        /// The environment.
        environment: EnvironmentName,
        /// The commit of the main branch.
        commit: String,
    },
    /// The branch of the environment can't be read.
    #[error("{0}")]
    Unreadable(String),
    /// The stored state can't be read.
    #[error(transparent)]
    State(#[from] StateFileError),
    /// The main branch can't be read.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// The state can't be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Other programs moved the branch during every attempt.
    #[error("another program stores the state of {0} at the same time")]
    LostRaces(EnvironmentName),
}

fn no_commit(digits: &str, found: usize) -> String {
    match found {
        0 => format!("no commit of the main branch begins with `{digits}`"),
        found => format!("{found} commits of the main branch begin with `{digits}`"),
    }
}

/// Stores a decision.
///
/// # Errors
/// If it makes no sense in the present state, or can't be stored. Nothing is stored then.
pub fn decide(access: &Arc<RepositoryAccess>, decision: &PersonDecision<'_>) -> Result<Receipt, CommandError> {
    let environment = decision.environment;
    let plane = Plane::read(access)?;
    if plane.graph.step(environment.as_str()).is_none() {
        return Err(CommandError::UnknownEnvironment(environment.clone()));
    }
    if let CommandKind::Approve { gate: Some(gate) } = &decision.command.kind {
        check_gate(&plane, environment, gate)?;
    }
    let command = match decision.subject {
        None => resolved(&plane, decision.command)?,
        Some(_) => decision.command.clone(),
    };
    for _ in 0..RACES_MAX {
        let stored = rollout_store::read(access, environment)?;
        let (change, receipt) = match decision.subject {
            Some(subject) if sources::is_source(subject) => sources::of_source(access, decision, (&stored, &command))?,
            _ if command.kind == CommandKind::Retry => retry(&plane, decision, (&stored, &command))?,
            None => of_platform(&plane, decision, (&stored, &command))?,
            Some(subject) => of_workload((&plane, subject), decision, (&stored, &command))?,
        };
        let change = sources::with_held_sources(access, decision, (change, &stored));
        let change = match (&command.kind, decision.subject) {
            (CommandKind::Rollback { with_values: true, .. }, None) => {
                values::with_earlier_values(access, decision, (change, &stored))?
            }
            (CommandKind::Retry | CommandKind::Request { .. }, None) => {
                values::with_newest_values(decision, (change, &stored))
            }
            _ => change,
        };
        let at = (decision.author, command.at.as_second());
        if change.write((access, environment), at, decision.lease)? {
            return Ok(receipt);
        }
    }
    Err(CommandError::LostRaces(environment.clone()))
}

/// Admits the commit that the branch of an environment names, the commits of its other sources that wait, and this version of Kalypso, although their gates do not
/// hold. Empty: all of them are admitted already, or nothing is recorded yet.
///
/// # Errors
/// If the decision can't be stored.
pub fn override_gates(
    access: &Arc<RepositoryAccess>,
    environment: &EnvironmentName,
    (author, reason): (&Person, &str),
    lease: Option<&WriteLease>,
) -> Result<Vec<Receipt>, CommandError> {
    let plane = Plane::read(access)?;
    let standing = plane.standing(environment, &mut KnownBranches::default());
    let standing = standing.map_err(|error| CommandError::Unreadable(error.to_string()))?;
    let standing = standing.filter(|standing| standing.state.is_some() && standing.has() != standing.at.as_ref());
    let of_main = standing.and_then(|standing| standing.at).map(|revision| (None, revision));
    let version = Revision(Arc::clone(&access.renderer));
    let recorded = advances(&rollout_store::read(access, environment)?)?;
    let is_waiting = |state: &&AdvanceState| state.admitted.as_ref() != Some(&version);
    let of_renderer =
        recorded.releases.get(SUBJECT).filter(is_waiting).map(|_| (Some(SUBJECT.into()), version.clone()));
    let all = of_main.into_iter().chain(sources::waiting(access, environment)?).chain(of_renderer);
    let mut receipts = Vec::new();
    for (subject, revision) in all {
        let kind = CommandKind::Override { revision };
        let by = author.to_string().into();
        let command = Command { kind, by, at: jiff::Timestamp::now(), reason: reason.into() };
        let subject = subject.as_deref();
        let decision = PersonDecision { environment, subject, command: &command, revision: None, author, lease };
        receipts.push(decide(access, &decision)?);
    }
    Ok(receipts)
}

/// A retry of commits, or of a release, also lets the rollouts of what they bring start again: otherwise the rings would reject it once more.
fn retry(
    plane: &Plane<'_>,
    decision: &PersonDecision<'_>,
    (stored, command): (&StoredStates, &Command),
) -> Result<(Change, Receipt), CommandError> {
    let of_subject = match decision.subject {
        None => of_platform(plane, decision, (stored, command)),
        Some(subject) => of_release((plane, subject), decision, (stored, command)),
    };
    let of_subject = match (of_subject, decision.subject) {
        (Err(error @ (CommandError::State(_) | CommandError::OtherRevision { .. })), None) => return Err(error),
        // The workload may have only a rollout.
        (Err(error), Some(subject)) => {
            return match of_rollout((plane.access, subject), decision, (stored, command)) {
                Err(CommandError::UnknownSubject { .. }) => Err(error),
                answer => answer,
            };
        }
        (found, _) => found,
    };
    let rollouts = retried_rollouts(decision.subject, (stored, command));
    let (mut change, receipt) = match (of_subject, rollouts.first()) {
        (Ok(found), _) => found,
        (Err(_), Some((_, _, event))) => {
            let change = Change::new(stored, rollout_store::Advances::default());
            (change, Receipt::of(decision, None, event))
        }
        (Err(error), None) => return Err(error),
    };
    for (name, after, event) in rollouts {
        change.decide_rollout(decision.environment, (name, after), (&event, &command.by));
    }
    Ok((change, receipt))
}

/// The rollouts that start again with a workload, or with the commit of the environment, and the event of each.
fn retried_rollouts<'s>(
    subject: Option<&str>,
    (stored, command): (&'s StoredStates, &Command),
) -> Vec<(&'s Arc<str>, StoredRollout, Event)> {
    let commit = stored.advances.iter().flatten().find_map(|found| found.platform.clone()).unwrap_or_default();
    let is_meant = |name: &str, rollout: &StoredRollout| match subject {
        Some(subject) => subject == name,
        None => is_retried_with(&commit, &rollout.state),
    };
    let retried = |(name, rollout): (&'s Arc<str>, &StoredRollout)| {
        let state = is_meant(name, rollout).then(|| apply_to_rollout(&rollout.state, command).ok()).flatten()?;
        Some((name, StoredRollout { state, ..rollout.clone() }, command.event(about_rollout(rollout))))
    };
    let readable = stored.rollouts.iter().filter_map(|(name, rollout)| Some((name, rollout.as_ref().ok()?)));
    readable.filter_map(retried).collect()
}

/// People approve at gates for approvals only, before the environment or in one of its rings.
fn check_gate(plane: &Plane<'_>, environment: &EnvironmentName, name: &Arc<str>) -> Result<(), CommandError> {
    let Some(step) = plane.step(environment) else { return Ok(()) };
    let of_rings = step.promotion.rings.iter().flat_map(Ring::gates);
    let for_approvals =
        step.promotion.gates.iter().chain(of_rings).filter(|gate| matches!(gate.kind, GateKind::Approval(_)));
    let names: Vec<_> = for_approvals.map(|gate| Arc::clone(&gate.name)).collect();
    if names.contains(name) {
        return Ok(());
    }
    Err(Refusal::NotForApprovals { gate: Arc::clone(name), names }.into())
}

/// The command with the whole id of the commit that it names.
fn resolved(plane: &Plane<'_>, command: &Command) -> Result<Command, CommandError> {
    let whole = |digits: &Revision| {
        let found = plane.line.find(&digits.0).cloned();
        found.map_err(|found| CommandError::NoCommit { digits: digits.0.to_string(), found })
    };
    let kind = match &command.kind {
        CommandKind::Request { revision } => CommandKind::Request { revision: whole(revision)? },
        CommandKind::Rollback { to: Some(to), with_values } => {
            CommandKind::Rollback { to: Some(whole(to)?), with_values: *with_values }
        }
        kind => kind.clone(),
    };
    Ok(Command { kind, ..command.clone() })
}

fn of_platform(
    plane: &Plane<'_>,
    decision: &PersonDecision<'_>,
    (stored, command): (&StoredStates, &Command),
) -> Result<(Change, Receipt), CommandError> {
    let environment = decision.environment;
    let promotion = plane.in_force(environment, (stored, None));
    let is_of_environment = matches!(command.kind, CommandKind::Hold | CommandKind::Resume);
    if promotion.is_none_or(|promotion| !promotion.select.platform && !is_of_environment) {
        return Err(CommandError::UnknownSubject { environment: environment.clone(), subject: "main".to_owned() });
    }
    let advances = advances(stored)?;
    let before = advances.platform.clone().unwrap_or_default();
    let revision = about(&before, command);
    check_revision(decision.revision, revision.as_ref())?;
    let after = apply_to_advance(&before, command)?;
    let event = command.event(revision.clone());
    let has_entered = before.current.as_ref().is_some_and(|current| current.phase.is_admitted());
    let mut change = Change::new(stored, advances);
    change.decide_platform(environment, after, (&event, &command.by));
    if command.kind == CommandKind::Abort && has_entered {
        // What the commit brings moves no further through the rings either.
        for (name, rollout) in stored.rollouts.iter().filter_map(|(name, rollout)| Some((name, rollout.as_ref().ok()?)))
        {
            let Ok(state) = apply_to_rollout(&rollout.state, command) else { continue };
            let event = command.event(about_rollout(rollout));
            let rollout = StoredRollout { state, ..rollout.clone() };
            change.decide_rollout(environment, (name, rollout), (&event, &command.by));
        }
    }
    Ok((change, Receipt::of(decision, revision, &event)))
}

/// A decision about a workload: about what moves in the rings, or about its release on the way into the environment. A gate that the ring does not have is one of the
/// release.
fn of_workload(
    (plane, subject): (&Plane<'_>, &str),
    decision: &PersonDecision<'_>,
    (stored, command): (&StoredStates, &Command),
) -> Result<(Change, Receipt), CommandError> {
    let of_release = || of_release((plane, subject), decision, (stored, command));
    if matches!(command.kind, CommandKind::Hold | CommandKind::Resume) {
        return hold_of_workload((plane, subject), decision, (stored, command));
    }
    if is_release(subject, (stored, command)) {
        return of_release();
    }
    let in_rings = if waits_for_approval((plane, subject), decision, (stored, command)) {
        of_rollout((plane.access, subject), decision, (stored, command))
    } else {
        Err(Refusal::NoApproval.into())
    };
    match in_rings {
        Err(CommandError::Refused(Refusal::NoApproval)) if has_release(subject, stored) => of_release(),
        // The gate may be one before the environment.
        Err(CommandError::Refused(refusal @ Refusal::NoSuchGate { .. })) if has_release(subject, stored) => {
            of_release().map_err(|_| refusal.into())
        }
        decided => decided,
    }
}

/// A hold of a workload, or its end: of its release on the way into the environment, and of what moves in the rings. One of them may be held already.
fn hold_of_workload(
    (plane, subject): (&Plane<'_>, &str),
    decision: &PersonDecision<'_>,
    (stored, command): (&StoredStates, &Command),
) -> Result<(Change, Receipt), CommandError> {
    let of_rollout = of_rollout((plane.access, subject), decision, (stored, command));
    let of_release = if has_release(subject, stored) {
        of_release((plane, subject), decision, (stored, command))
    } else {
        Err(CommandError::UnknownSubject { environment: decision.environment.clone(), subject: subject.to_owned() })
    };
    match (of_release, of_rollout) {
        (Ok((release, receipt)), Ok((rollout, _))) => Ok((release.with_rollouts_of(rollout), receipt)),
        (Ok(found), Err(_)) | (Err(_), Ok(found)) => Ok(found),
        (Err(CommandError::UnknownSubject { .. }), Err(error)) | (Err(error), Err(_)) => Err(error),
    }
}

/// Whether the ring that moves has a gate for approvals, if the decision is one.
fn waits_for_approval(
    (plane, subject): (&Plane<'_>, &str),
    decision: &PersonDecision<'_>,
    (stored, command): (&StoredStates, &Command),
) -> bool {
    let rollout = stored.rollouts.get(subject).and_then(|found| found.as_ref().ok());
    let (CommandKind::Approve { .. }, Some(current)) =
        (&command.kind, rollout.and_then(|rollout| rollout.state.current.as_ref()))
    else {
        return true;
    };
    let promotion = plane.in_force(decision.environment, (stored, None));
    let ring = promotion.as_ref().and_then(|promotion| promotion.rings.get(current.ring));
    ring.into_iter().flat_map(Ring::gates).any(|gate| matches!(gate.kind, GateKind::Approval(_)))
}

fn has_release(subject: &str, stored: &StoredStates) -> bool {
    matches!(&stored.advances, Some(Ok(advances)) if advances.releases.contains_key(subject))
}

/// Whether a decision about a workload is about its release on the way into the environment. If a revision of it moves through the rings, the decision is about that
/// one, unless it requests a release.
fn is_release(subject: &str, (stored, command): (&StoredStates, &Command)) -> bool {
    match command.kind {
        CommandKind::Request { .. } => return true,
        // Only rings know the folders that a workload had.
        CommandKind::Rollback { with_values: true, .. } => return false,
        _ => {}
    }
    let in_rings = stored.rollouts.get(subject);
    let moves = |rollout: &Result<StoredRollout, _>| rollout.as_ref().is_ok_and(|found| found.state.current.is_some());
    has_release(subject, stored) && !in_rings.is_some_and(moves)
}

fn of_release(
    (plane, subject): (&Plane<'_>, &str),
    decision: &PersonDecision<'_>,
    (stored, command): (&StoredStates, &Command),
) -> Result<(Change, Receipt), CommandError> {
    let environment = decision.environment;
    let is_known = subject == SUBJECT && has_release(subject, stored);
    if !is_known && plane.step(environment).is_none_or(|step| step.promotion.select.workloads.is_none()) {
        return Err(CommandError::UnknownSubject { environment: environment.clone(), subject: subject.to_owned() });
    }
    let advances = advances(stored)?;
    let before = advances.releases.get(subject).cloned().unwrap_or_default();
    let command = &names::whole(plane, (environment, subject), (&before, command));
    let revision = about(&before, command);
    check_revision(decision.revision, revision.as_ref())?;
    let after = apply_to_advance(&before, command)?;
    let event = command.event(revision.clone());
    let mut change = Change::new(stored, advances);
    change.decide_release(environment, (&subject.into(), after), (&event, &command.by));
    Ok((change, Receipt::of(decision, revision, &event)))
}

fn advances(stored: &StoredStates) -> Result<rollout_store::Advances, StateFileError> {
    match &stored.advances {
        Some(Ok(advances)) => Ok(advances.clone()),
        Some(Err(error)) => Err(error.clone()),
        None => Ok(rollout_store::Advances::default()),
    }
}

/// The revision that a command is about.
fn about(before: &AdvanceState, command: &Command) -> Option<Revision> {
    match &command.kind {
        CommandKind::Request { revision } | CommandKind::Override { revision } => Some(revision.clone()),
        _ => moving(before).cloned(),
    }
}

fn of_rollout(
    (access, subject): (&RepositoryAccess, &str),
    decision: &PersonDecision<'_>,
    (stored, command): (&StoredStates, &Command),
) -> Result<(Change, Receipt), CommandError> {
    let environment = decision.environment;
    let Some((name, found)) = stored.rollouts.get_key_value(subject) else {
        if matches!(command.kind, CommandKind::Rollback { with_values: true, .. }) {
            return Err(Refusal::NoValues.into());
        }
        return Err(CommandError::UnknownSubject { environment: environment.clone(), subject: subject.to_owned() });
    };
    let before = found.clone()?;
    let revision = match &command.kind {
        // What every place has may return, too.
        CommandKind::Rollback { .. } => before.state.present().cloned(),
        _ => about_rollout(&before),
    };
    check_revision(decision.revision, revision.as_ref())?;
    let platform = |revision: &_| Some(platform(access, subject, before.revisions.get(revision)?));
    let command = &command.with_target(&before.state, platform)?;
    let state = apply_to_rollout(&before.state, command)?;
    let event = command.event(revision.clone());
    let mut change = Change::new(stored, rollout_store::Advances::default());
    change.decide_rollout(environment, (name, StoredRollout { state, ..before }), (&event, &command.by));
    Ok((change, Receipt::of(decision, revision, &event)))
}

/// The revision of a rollout that a command is about.
fn about_rollout(rollout: &StoredRollout) -> Option<Revision> {
    let moving = rollout.state.current.as_ref().map(|current| current.revision.clone());
    moving.or_else(|| rollout.state.rejected_revision().cloned())
}

fn moving(state: &AdvanceState) -> Option<&Revision> {
    state.current.as_ref().map(|current| &current.revision).or(state.last_rejected().map(|rejected| &rejected.revision))
}

fn check_revision(about: Option<&str>, moving: Option<&Revision>) -> Result<(), CommandError> {
    let Some(about) = about else { return Ok(()) };
    match moving {
        Some(moving) if moving.0.starts_with(about) => Ok(()),
        moving => {
            let moving = moving.map_or_else(|| "nothing".to_owned(), |moving| moving.0.to_string());
            Err(CommandError::OtherRevision { about: about.to_owned(), moving })
        }
    }
}

impl Receipt {
    fn of(decision: &PersonDecision<'_>, revision: Option<Revision>, event: &Event) -> Self {
        let subject = decision.subject.unwrap_or("main");
        let of = revision.as_ref().map_or_else(String::new, |revision| format!(" {}", shown(&revision.0)));
        let text: Arc<str> = Arc::clone(&event.text);
        Self { revision, text: format!("{}: {subject}{of}: {text}", decision.environment) }
    }
}
