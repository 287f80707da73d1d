//! Stores decisions of people: on the branch with the states, where the next step finds them.

mod confirmation;
mod names;
mod overrides;
mod sources;
mod values;

use std::sync::Arc;

use engine::promotion::command::{Command, CommandKind, CommandRefusal};
use engine::promotion::decision::{self, About, Applied, ChangedMove, DecisionFacts, DecisionRequest, NotApplied};
use engine::promotion::gates::Teams;
use engine::promotion::state::{AdvanceState, Revision, RolloutState};
use git::{Person, RepositoryError};
use model::name::EnvironmentName;
use model::object::Promotion;
use model::object::release::shown;

pub use self::confirmation::{Confirmed, note_confirmation};
use self::names::KnownReleases;
pub use self::overrides::{OverrideRequest, override_gates};
use super::changes::{Change, DecidedEvents, Signature};
use super::plane::Plane;
use super::states;
use crate::access::RepositoryAccess;
use crate::access::renderer::SUBJECT;
use crate::output::rings::platform;
use crate::reading::RACES_MAX;
use crate::states::rollout_store::{self, StateFileError, StoreError, StoredRollout, StoredSource, StoredStates};
use crate::write_lease::WriteLease;

/// A decision of a person.
#[derive(Clone, Copy)]
pub struct DecisionCommand<'a> {
    /// The environment.
    pub environment: &'a EnvironmentName,
    /// The workload, or a source beside the main branch. None: the commits of the main branch.
    pub subject: Option<&'a str>,
    /// The decision. The revision of a request may be the first digits of a commit.
    pub command: &'a Command,
    /// The revision that it is about, or its first digits. None: the one that moves now.
    pub revision: Option<&'a str>,
    /// The accounts of the members of each team.
    pub teams: &'a Teams,
    /// The author of the commit.
    pub author: &'a Person,
    /// The permission to write. None: it is not limited.
    pub lease: Option<&'a WriteLease>,
}

/// What was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredDecision {
    /// What the decision is about, as people name it. None: the commits of the main branch.
    pub subject: Option<Arc<str>>,
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
    /// The environments before have had no such release, so it can't move.
    #[error("no environment before {environment} has had {what}: {help}")]
    UnknownRelease {
        /// The environment.
        environment: EnvironmentName,
        /// The release.
        what: String,
        /// What they have had.
        help: String,
    },
    /// The digits are not those of one commit of the main branch.
    #[error("{}", no_commit(.digits, *.found))]
    NoCommit {
        /// The digits.
        digits: String,
        /// The number of commits that begin with them.
        found: usize,
    },
    /// The decision makes no sense in this state.
    #[error(transparent)]
    Refused(#[from] CommandRefusal),
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
pub fn decide(access: &Arc<RepositoryAccess>, decision: &DecisionCommand<'_>) -> Result<StoredDecision, CommandError> {
    let environment = decision.environment;
    let plane = Plane::read(access)?;
    if plane.graph.step(environment.as_str()).is_none() {
        return Err(CommandError::UnknownEnvironment(environment.clone()));
    }
    let command = match decision.subject {
        None => resolved(&plane, decision.command)?,
        Some(_) => decision.command.clone(),
    };
    for _ in 0..RACES_MAX {
        let stored = rollout_store::read(access, environment)?;
        let promotion = plane.in_force(environment, &stored);
        let teams = decision.teams;
        let decided = Decided { access, plane: &plane, stored: &stored, environment, promotion, teams };
        let (change, receipt) = decided.apply(decision, &command)?;
        let change = sources::with_held_sources(access, decision, (change, &stored));
        let change = match (&command.kind, decision.subject) {
            (CommandKind::Rollback { with_values: true, .. }, None) => {
                values::with_earlier_values(access, decision, (change, &stored))?
            }
            _ => change,
        };
        let signature = Signature { author: decision.author, seconds: command.at.as_second() };
        if change.write(access, signature, decision.lease)? {
            return Ok(receipt);
        }
    }
    Err(CommandError::LostRaces(environment.clone()))
}

/// The whole text of a release of a workload that people request for an environment.
///
/// # Errors
/// [`CommandError::UnknownRelease`] if no environment before it has had the release.
pub fn requested_release(
    plane: &Plane<'_>,
    (environment, workload): (&EnvironmentName, &str),
    requested: &Revision,
) -> Result<Revision, CommandError> {
    let stored = rollout_store::read_advances(plane.access, environment)?.and_then(Result::ok).unwrap_or_default();
    KnownReleases::read(plane, environment, workload, stored.releases.get(workload)).requested(requested)
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

/// What is known beside the states when a person decides.
struct Decided<'a> {
    access: &'a Arc<RepositoryAccess>,
    plane: &'a Plane<'a>,
    stored: &'a StoredStates,
    environment: &'a EnvironmentName,
    /// The promotion in force.
    promotion: Option<Promotion>,
    teams: &'a Teams,
}

impl Decided<'_> {
    /// The change that a decision makes.
    fn apply(
        &self,
        decision: &DecisionCommand<'_>,
        command: &Command,
    ) -> Result<(Change, StoredDecision), CommandError> {
        let Self { stored, environment, .. } = *self;
        let about = match decision.subject {
            None => About::Environment,
            Some(SUBJECT) => About::Renderer,
            Some(subject) if sources::is_source(subject) => About::Source(subject),
            Some(subject) => About::Workload(subject),
        };
        let known = states::of_stored(stored);
        let kind = match (about, &command.kind) {
            (About::Workload(name), CommandKind::Request { revision }) => {
                let releases = KnownReleases::read(self.plane, environment, name, known.releases.get(name));
                CommandKind::Request { revision: releases.requested(revision)? }
            }
            (_, kind) => kind.clone(),
        };
        let command = &Command { kind, ..command.clone() };
        let applied = decision::apply(&known, DecisionRequest { about, revision: decision.revision, command }, self);
        let is_of_rollouts =
            |applied: &Applied| applied.changes.iter().all(|(changed, _)| matches!(changed, ChangedMove::Rollout(..)));
        match (&stored.advances, &applied, decision.subject.and_then(|subject| stored.rollouts.get(subject))) {
            (Some(Err(error)), Ok(applied), _) if !is_of_rollouts(applied) => return Err(error.clone().into()),
            (Some(Err(error)), Err(_), _) | (_, Err(_), Some(Err(error))) => return Err(error.clone().into()),
            _ => {}
        }
        let unknown = |subject| CommandError::UnknownSubject { environment: environment.clone(), subject };
        let Applied { subject, revision, event, changes } = applied.map_err(|refusal| match refusal {
            NotApplied::UnknownSubject(_) => unknown(decision.subject.unwrap_or("main").to_owned()),
            NotApplied::Refused(refusal) => refusal.into(),
        })?;
        let mut change = Change::new(environment, stored, stored.known_advances().unwrap_or_default());
        for (changed, event) in changes {
            self.record(&mut change, changed, DecidedEvents::by_person(&event, &command.by));
        }
        let subject = subject.or(decision.subject.map(Into::into));
        Ok((change, StoredDecision::new(decision.environment, (subject, revision), &event.text)))
    }

    fn record(&self, change: &mut Change, changed: ChangedMove, events: DecidedEvents<'_>) {
        match changed {
            ChangedMove::Main(state) => change.set_platform(state, events),
            ChangedMove::Release(workload, state) => change.set_release(&workload, state, events),
            ChangedMove::Renderer(state) => change.set_release(&SUBJECT.into(), state, events),
            ChangedMove::Source(name, state) => {
                let recorded =
                    self.stored.advances.iter().flatten().find_map(|known| known.sources.get(&name).cloned());
                let source = recorded.or_else(|| sources::read(self.access, self.environment).remove(&name));
                let source = StoredSource { state, ..source.unwrap_or_default() };
                change.set_source(&name, source, events);
            }
            ChangedMove::Rollout(workload, state) => {
                let before = self.stored.rollouts.get(&workload).cloned().and_then(Result::ok).unwrap_or_default();
                change.set_rollout(&workload, Some(StoredRollout { state, ..before }), events);
            }
        }
    }
}

impl DecisionFacts for Decided<'_> {
    fn promotion(&self) -> Option<&Promotion> {
        self.promotion.as_ref()
    }

    fn teams(&self) -> &Teams {
        self.teams
    }

    fn with_target(&self, workload: &str, state: &RolloutState, command: &Command) -> Result<Command, CommandRefusal> {
        let rollout = self.stored.rollouts.get(workload).and_then(|rollout| rollout.as_ref().ok());
        let sources = |revision: &Revision| rollout?.revisions.get(revision);
        command.with_target(state, |revision| Some(platform(self.access, workload, sources(revision)?)))
    }

    fn beginning(&self, source: &str) -> Option<AdvanceState> {
        Some(sources::read(self.access, self.environment).remove(source)?.state)
    }
}

impl StoredDecision {
    fn new(
        environment: &EnvironmentName,
        (subject, revision): (Option<Arc<str>>, Option<Revision>),
        event: &str,
    ) -> Self {
        let name = subject.as_deref().unwrap_or("main");
        let of = revision.as_ref().map_or_else(String::new, |revision| format!(" {}", shown(&revision.0)));
        let text = format!("{environment}: {name}{of}: {event}");
        Self { subject, revision, text }
    }
}
