//! Moves between environments: when a commit or a release enters the next environment.
//!
//! [`step`] is pure and level-triggered, as that of rollouts. It returns the action that is needed now, in each step until it is done.

mod evaluate;
mod finish;
mod line;
mod machine;
mod next;
mod standing;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use model::object::promotion::Promotion;

use super::evidence::{Approver, Authors, CheckResult, Measured};
use super::gates::Teams;
use super::report::{MoveEvent, MoveReport};
use super::state::{AdvanceState, CandidatePhase, Decision, ProofRecord, Revision};

/// The candidates that one after another can be evaluated at the same time.
const CANDIDATES_MAX: usize = 4;

/// What a step needs to know.
#[derive(Clone, Debug)]
pub struct AdvanceInput<'a> {
    /// The current time.
    pub now: Timestamp,
    /// The candidate that the promotion, the checks, the approvals and the authors are about. Another one is not evaluated. None: they are about none.
    pub about: Option<&'a Revision>,
    /// The promotion into the environment, with all gates in force: [`in_force`](super::in_force::in_force).
    pub promotion: &'a Promotion,
    /// A hold of the whole environment by a person.
    pub hold: Option<&'a Decision>,
    /// The order of revisions, newest first, such as the first-parent commits of the main branch. A revision contains those after it. Others are contained
    /// only in themselves, such as releases.
    pub line: &'a [Revision],
    /// The newest revision of the sources. It moves if the promotion has no environment before.
    pub head: Option<&'a Revision>,
    /// The revision that the head takes the environment back to: one with the same content, that the environment has proved. None: the head is no revert.
    pub reverts_to: Option<&'a Revision>,
    /// The environments before, in the order of the promotion.
    pub from: &'a [FromEnvironment],
    /// The revision that the sources of the environment name now. None: none, or not known.
    pub at: Option<&'a Revision>,
    /// What the environment had published before the first step. None: nothing.
    pub baseline: Option<&'a Revision>,
    /// Whether the environment has published its admitted revision, and no rollout is open in it, or why not.
    pub to_settled: Result<(), Arc<str>>,
    /// Why the environment can't prove the revision that it has without a change: a rollout in it stopped or rolled back. It stops the move.
    pub to_failed: Option<Arc<str>>,
    /// Whether the output of the environment waits in a pull request.
    pub is_proposed: bool,
    /// Whether the branches that clusters pull have the output of what is admitted. False if it is not known.
    pub is_published: bool,
    /// The state of all places of the environment, or why it is not known.
    pub to_measured: Result<Measured, Arc<str>>,
    /// The last results of checks, by the name of the gate.
    pub checks: &'a BTreeMap<Arc<str>, CheckResult>,
    /// Approvals from the git host. Those in the state count too.
    pub approvals: &'a [Approver],
    /// Who wrote the change.
    pub authors: &'a Authors,
    /// The accounts of the members of each team.
    pub teams: &'a Teams,
}

/// An environment before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FromEnvironment {
    /// The name.
    pub name: Arc<str>,
    /// The revision that its output has now. None: none, or not known.
    pub has: Option<Revision>,
    /// Whether it has published this revision, and no rollout is open in it, or why not.
    pub settled: Result<(), Arc<str>>,
    /// Whether its own move has stopped: what it has shown so far does not count for a soak time.
    pub is_stopped: bool,
    /// The state of all its places, or why it is not known.
    pub measured: Result<Measured, Arc<str>>,
    /// The revisions that it has proved itself.
    pub proofs: Vec<ProofRecord>,
    /// The revisions that were rolled back or aborted there.
    pub rejected: Vec<Revision>,
}

impl FromEnvironment {
    /// An environment whose sources or record say what it `has`, with its stored state. The state of its places is not asked for yet. If its move has stopped, it is
    /// not settled, whatever the fleet shows in the meantime: the environment itself goes on first.
    pub fn new(
        name: Arc<str>,
        (has, settled): (Option<Revision>, Result<(), Arc<str>>),
        state: Option<&AdvanceState>,
    ) -> Self {
        let rejected = |state: &AdvanceState| state.rejected.iter().map(|rejected| rejected.revision.clone()).collect();
        Self {
            name,
            has,
            settled: state.and_then(stopped).map_or(settled, Err),
            is_stopped: state.is_some_and(|state| stopped(state).is_some()),
            measured: Err("it is not asked for yet".into()),
            proofs: state.map(|state| state.proofs.clone()).unwrap_or_default(),
            rejected: state.map(rejected).unwrap_or_default(),
        }
    }
}

/// Why nothing moves on from an environment: its move has stopped, or has not proved itself since then, or what it has must pass its gates again.
fn stopped(state: &AdvanceState) -> Option<Arc<str>> {
    let current = state.current.as_ref()?;
    match &current.phase {
        CandidatePhase::Stopped { reason, .. } => Some(format!("its move stopped: {reason}").into()),
        CandidatePhase::Proving { .. } if current.has_failed => {
            Some("its move stopped before, and it has not proved it since".into())
        }
        CandidatePhase::Gated | CandidatePhase::Entering { .. }
            if state.admitted.as_ref() == Some(&current.revision) =>
        {
            Some("a person took it back, and it waits for its gates again".into())
        }
        _ => None,
    }
}

/// What must be done. A step returns it again until it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AdvanceAction {
    /// Write the revision into the environment.
    Write {
        /// The revision.
        revision: Revision,
    },
    /// Write a revision that the environment has proved before into it, by a new commit.
    RollBack {
        /// The proved revision.
        to: Revision,
    },
}

/// The result of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdvanceStep {
    /// The new state.
    pub state: AdvanceState,
    /// What must be done.
    pub action: Option<AdvanceAction>,
    /// How far the move is.
    pub report: MoveReport,
    /// What changed in this step, in order.
    pub events: Vec<MoveEvent>,
}

/// Decides what happens next on the way into an environment.
///
/// 1. The candidate is the newest revision that the environments before have, or have shown exactly: all of them, or any, as the promotion requires. Without
///    such environments, it is the head. A newer revision that contains another one is no proof of it.
/// 2. Its gates are evaluated. A gate that measures the fleet is evaluated for each environment before, under the name `ENVIRONMENT/GATE` if there are
///    several. After an environment before has shown the candidate, its soak time goes on under newer revisions that contain it, until one fails. With `any`, one
///    environment must hold all gates. If this is another one than before, a soak begins again. A revision that the environment itself has proved before needs
///    only the gates of people and of the clock.
/// 3. When all gates hold, the action is to write the candidate, until the sources of the environment name it. Then the gates are evaluated again. If they hold,
///    and the environment is not held, the candidate is admitted: only now may the output have it.
/// 4. The environment proves it: it is settled, and all its reconcilers except the silent ones applied it. If it has rings, their gates decide instead.
///    While its output waits in a pull request, the gates by which it was admitted are evaluated again. If the pull request is merged although one of them does
///    not hold any more, the environment proves nothing until it does. More failures than allowed (none, or the budget of the last ring) stop the move. A stopped move gives way to a newer revision.
/// 5. With `rollBackEnvironment`, a failure returns the environment to the proved revision, and rejects the candidate.
///
/// If a person writes another revision into the sources, this is reported, and that revision waits for its gates. The output stays until then. If it is an older
/// one, the newer one is rejected.
///
/// `before` is the state before the first of several steps at the same time: [`follow`].
pub fn step(input: &AdvanceInput<'_>, (before, state): (&AdvanceState, &AdvanceState)) -> AdvanceStep {
    let mut machine = machine::Machine::new(input, (before, state));
    machine.run();
    machine.finish()
}

/// Steps at the same time, until the evidence is about the candidate: what is known about one revision never counts for another one. `one` steps with the evidence
/// about a candidate, and the states before the first step and before this one.
pub fn follow<T>(
    state: &AdvanceState,
    one: impl Fn(Option<&Revision>, (&AdvanceState, &AdvanceState)) -> (T, AdvanceStep),
) -> (T, AdvanceStep) {
    let candidate = |state: &AdvanceState| state.current.as_ref().map(|current| current.revision.clone());
    let mut about = candidate(state);
    let (mut known, mut made) = one(about.as_ref(), (state, state));
    for _ in 1..CANDIDATES_MAX {
        let next = candidate(&made.state);
        if next.is_none() || next == about {
            break;
        }
        about = next;
        let (found, step) = one(about.as_ref(), (state, &made.state));
        let events = [made.events, step.events].concat();
        (known, made) = (found, AdvanceStep { events, ..step });
    }
    (known, made)
}
