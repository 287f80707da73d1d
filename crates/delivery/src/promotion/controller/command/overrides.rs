//! Overrides: a person admits what waits for gates, past them.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use engine::promotion::command::{Command, CommandKind, gates_passed};
use engine::promotion::gates::Teams;
use engine::promotion::origin::for_origin;
use engine::promotion::state::{AdvanceState, Revision};
use git::Person;
use jiff::{SignedDuration, Timestamp};
use model::name::EnvironmentName;
use model::object::promotion::Gate;

use super::{CommandError, DecisionCommand, StoredDecision, decide, sources};
use crate::access::RepositoryAccess;
use crate::access::renderer::SUBJECT;
use crate::promotion::controller::plane::{KnownBranches, Plane};
use crate::states::rollout_store::{self, Advances, StoredStates};
use crate::write_lease::WriteLease;

/// A request to publish an environment past its gates.
#[derive(Clone, Copy)]
pub struct OverrideRequest<'a> {
    /// Who decides: the account, as far as it is proved.
    pub by: &'a str,
    /// Why.
    pub reason: &'a str,
    /// When.
    pub at: Timestamp,
    /// How long the gates count as passed while the output waits.
    pub valid_for: Duration,
    /// The author of the commit.
    pub author: &'a Person,
    /// The permission to write. None: it is not limited.
    pub lease: Option<&'a WriteLease>,
}

impl OverrideRequest<'_> {
    /// When the override expires.
    pub fn expires(&self) -> Timestamp {
        let valid_for = SignedDuration::try_from(self.valid_for).unwrap_or(SignedDuration::MAX);
        self.at.checked_add(valid_for).unwrap_or(Timestamp::MAX)
    }
}

/// Writes `an outage (by ann until 2026-03-03T10:00:00Z)`.
impl fmt::Display for OverrideRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (by {} until {:.0})", self.reason.trim(), self.by, self.expires())
    }
}

/// Admits the commit that the branch of an environment names, the commits of its other sources that wait, and this version of Kalypso, although their gates do not
/// hold. Empty: all of them are admitted already, or nothing is recorded yet.
///
/// # Errors
/// If the decision can't be stored.
pub fn override_gates(
    access: &Arc<RepositoryAccess>,
    environment: &EnvironmentName,
    request: &OverrideRequest<'_>,
) -> Result<Vec<StoredDecision>, CommandError> {
    let plane = Plane::read(access)?;
    let stored = rollout_store::read(access, environment)?;
    let recorded = stored.known_advances()?;
    let mut receipts = Vec::new();
    for (subject, revision) in waiting((access, &plane), environment, &recorded)? {
        let subject = subject.as_deref();
        let gates = gates(&plane, (environment, subject), &stored);
        let state = subject.map_or(recorded.platform.as_ref(), |subject| state_of(subject, &recorded));
        let gates = gates_passed(state.unwrap_or(&AdvanceState::default()), &revision, &gates);
        let kind = CommandKind::Override { revision, gates, expires: request.expires() };
        let command = Command { kind, by: request.by.into(), at: request.at, reason: request.reason.into() };
        let (author, lease) = (request.author, request.lease);
        let teams = &Teams::new();
        let decision =
            DecisionCommand { environment, subject, command: &command, revision: None, teams, author, lease };
        receipts.push(decide(access, &decision)?);
    }
    Ok(receipts)
}

/// What waits for its gates: the subject, and the revision.
fn waiting(
    (access, plane): (&Arc<RepositoryAccess>, &Plane<'_>),
    environment: &EnvironmentName,
    recorded: &Advances,
) -> Result<Vec<sources::Waiting>, CommandError> {
    let standing = plane.standing(environment, &mut KnownBranches::default());
    let standing = standing.map_err(|error| CommandError::Unreadable(error.to_string()))?;
    let standing = standing.filter(|standing| standing.state.is_some() && standing.has() != standing.at.as_ref());
    let of_main = standing.and_then(|standing| standing.at).map(|revision| (None, revision));
    let version = Revision(Arc::clone(&access.renderer));
    let is_waiting = |state: &&AdvanceState| state.admitted.as_ref() != Some(&version);
    let of_renderer =
        recorded.releases.get(SUBJECT).filter(is_waiting).map(|_| (Some(SUBJECT.into()), version.clone()));
    Ok(of_main.into_iter().chain(sources::waiting(access, environment)?).chain(of_renderer).collect())
}

fn state_of<'a>(subject: &str, recorded: &'a Advances) -> Option<&'a AdvanceState> {
    recorded.sources.get(subject).map(|stored| &stored.state).or(recorded.releases.get(subject))
}

/// The gates for the origin of a subject, of the promotion in force.
fn gates(
    plane: &Plane<'_>,
    (environment, subject): (&EnvironmentName, Option<&str>),
    stored: &StoredStates,
) -> Vec<Gate> {
    let origin = sources::origin(subject.unwrap_or_default());
    let promotion = plane.in_force(environment, stored);
    promotion.map(|promotion| for_origin(&promotion, origin).gates).unwrap_or_default()
}
