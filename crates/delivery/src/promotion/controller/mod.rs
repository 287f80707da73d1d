//! The controller of promotions: one level-triggered step for one environment.
//!
//! A step reads the graph, the stored states and the evidence, lets [`engine::promotion::step()`] decide, stores the new states as one commit, and then acts. Every act
//! follows from the stored states and from git, so a step that was interrupted is completed by the next one.

mod acts;
mod before;
mod branch_move;
mod changes;
pub mod command;
pub mod commit_move;
pub mod commit_status;
mod context;
pub mod error;
pub(crate) mod events;
pub mod evidence;
mod facts;
pub mod line;
mod people;
mod pins;
mod place_sums;
pub mod plane;
mod platform;
mod proposals;
pub mod published;
mod published_folders;
mod recorded;
mod release_edits;
mod release_facts;
mod releases;
pub mod restoration;
mod rollouts;
pub mod settled;
pub mod sources;
mod states;
mod status;
mod statuses;
mod unsettled;
mod unwritten;
mod waits;

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::promotion;
use engine::promotion::report::ReportPhase;
use engine::promotion::step::{PlannedMove, PlannedRollout, StepPlan, Subject};
use hub_api::evidence::PromotionEvents;
use hub_api::promotions::PromotionStatus;
use jiff::Timestamp;
use model::name::EnvironmentName;

use self::acts::Performed;
use self::context::Context;
pub use self::context::Memory;
use self::error::ControllerError;
use self::evidence::Evidence;
use self::facts::StepFacts;
use self::plane::Plane;
use self::published::PublicationFacts;
use self::recorded::Stored;
pub use self::status::of_environment as status_of;
use self::unwritten::UnwrittenMove;
use crate::access::RepositoryAccess;
use crate::output::rings::Rings;
use crate::publication::publish::Outcome;
use crate::pull_requests::GitHosts;
use crate::reading::RACES_MAX;
use crate::states::rollout_store;
use crate::write_lease::WriteLease;

/// The number of rounds in a step. Each act of a step, and each lost race, begins another one.
const ROUNDS_MAX: usize = 8;

/// A step for one environment.
#[derive(Clone, Copy)]
pub struct StepRequest<'a> {
    /// The environment.
    pub environment: &'a EnvironmentName,
    /// The git hosts. None: changes are pushed to branches, and the people on the host are not known.
    pub hosts: Option<&'a GitHosts>,
    /// The evidence.
    pub evidence: Evidence<'a>,
    /// The history of the hub. None: there is none, and the messages of commits are the only history.
    pub history: Option<&'a dyn PromotionEvents>,
    /// The permission to write. None: it is not limited.
    pub lease: Option<&'a WriteLease>,
    /// The result of the publication right before. None: the environment counts as settled where its record says so.
    pub published: Option<&'a PublicationFacts>,
    /// The same publication with its output. None: nothing is decided about rings.
    pub output: Option<&'a Outcome>,
    /// Whether the step only looks: nothing is stored, moved or reported.
    pub is_read_only: bool,
    /// The current time.
    pub now: Timestamp,
}

/// The result of a step. By default, the environment is in no promotion.
#[derive(Debug, Default)]
pub struct StepOutcome {
    /// Where the changes into the environment stand. None: it is in no promotion.
    pub status: Option<PromotionStatus>,
    /// Whether something moves, so that the next step should come soon.
    pub is_moving: bool,
    /// Whether a move stopped, and waits for people or for the end of its failures.
    pub is_stopped: bool,
    /// Whether the output of the environment is to be published again.
    pub must_publish: bool,
    /// The writes that a repository or git host refuses, with its words. The next step tries again.
    pub refused: Vec<String>,
    /// What could not be done beside the step: statuses of commits, and the history of the hub. The next step tries again.
    pub warnings: Vec<String>,
}

/// Makes one step for an environment. The same step again changes nothing, as long as sources, evidence and decisions stay the same.
///
/// # Errors
/// If something can't be read or written. What was stored before counts, and the next step goes on from there.
#[tracing::instrument(name = "promotion", skip_all, fields(environment = %request.environment))]
pub fn step(
    access: &Arc<RepositoryAccess>,
    request: &StepRequest<'_>,
    memory: &mut Memory,
) -> Result<StepOutcome, ControllerError> {
    let problem = send_pins(request, memory);
    let mut outcome = rounds(access, request, memory)?;
    outcome.warnings.extend(problem);
    Ok(outcome)
}

fn rounds(
    access: &Arc<RepositoryAccess>,
    request: &StepRequest<'_>,
    memory: &mut Memory,
) -> Result<StepOutcome, ControllerError> {
    let mut must_publish = false;
    for _ in 0..ROUNDS_MAX.max(RACES_MAX) {
        let plane = Plane::read(access)?;
        // A promotion that the main branch does not have any more still counts where it was admitted.
        if !plane.is_part(request.environment) && rollout_store::read(access, request.environment)?.promotion.is_none()
        {
            return Ok(StepOutcome::default());
        }
        let StepRequest { environment, hosts, evidence, history, lease, published, output, is_read_only, now } =
            *request;
        let context = Context {
            access,
            environment,
            plane: &plane,
            hosts,
            evidence,
            history,
            lease,
            published,
            output,
            is_read_only,
            has_moved: must_publish,
            now,
        };
        match round(&context, memory)? {
            Round::Again { has_moved } => must_publish |= has_moved,
            Round::Done(outcome) => {
                return Ok(StepOutcome { must_publish: outcome.must_publish || must_publish, ..*outcome });
            }
        }
    }
    Err(ControllerError::LostRaces(request.environment.clone()))
}

enum Round {
    /// Something moved: everything is read again.
    Again {
        has_moved: bool,
    },
    Done(Box<StepOutcome>),
}

fn round(context: &Context<'_>, memory: &mut Memory) -> Result<Round, ControllerError> {
    let environment = context.environment;
    let standing = context.plane.standing(environment, &mut memory.branches)?;
    let standing = standing.ok_or_else(|| ControllerError::UnknownEnvironment(environment.clone()))?;
    let stored = rollout_store::read(context.access, environment)?;
    let stored = match renamed_workloads(context) {
        Some(renames) => stored.following(renames),
        None => stored,
    };
    let facts = StepFacts::new(context, &standing, &stored, memory);
    let plan = promotion::step(&facts, &facts.state());
    let mut outcome = StepOutcome::default();
    let unwritten;
    if context.is_read_only {
        unwritten = acts::proposed(&facts, &plan);
    } else {
        match recorded::store(&facts, &plan)? {
            Stored::Again { has_moved } => return Ok(Round::Again { has_moved }),
            Stored::Done { must_publish } => outcome.must_publish = must_publish,
        }
        match acts::perform(&facts, &plan)? {
            Performed::Again { has_moved } => {
                return Ok(Round::Again { has_moved: has_moved || outcome.must_publish });
            }
            Performed::Done { problems, unwritten: found } => {
                outcome.warnings.extend(problems);
                unwritten = found;
            }
        }
    }
    let status = status::of_plan(&facts, &plan, &unwritten);
    outcome.note(&plan);
    outcome.refused = unwritten.iter().filter_map(refused).collect();
    let proposals = proposals::report(context, context.published)?;
    outcome.must_publish |= proposals.is_outdated;
    outcome.warnings.extend(proposals.problems);
    drop(facts);
    outcome.warnings.extend(send_events(context, memory));
    Ok(Round::Done(Box::new(StepOutcome { status: Some(status), ..outcome })))
}

/// The present names of workloads by earlier names, as the publication right before has them.
fn renamed_workloads<'a>(context: &Context<'a>) -> Option<&'a BTreeMap<Arc<str>, Arc<str>>> {
    let mut rings = context.output?.places.iter().filter_map(|place| place.planned.rings.as_ref());
    rings.next().map(Rings::renamed_workloads)
}

/// What can't be written, and why, in words.
fn refused((subject, found): &(Subject, UnwrittenMove)) -> Option<String> {
    let UnwrittenMove::Refused(reason) = found else { return None };
    Some(match subject {
        Subject::Release(workload) => format!("{workload}: {reason}"),
        Subject::Main | Subject::Renderer => reason.to_string(),
    })
}

/// Sends the release pins that the hub does not have yet, also of environments in no promotion. Returns why it could not.
fn send_pins(request: &StepRequest<'_>, memory: &mut Memory) -> Option<String> {
    let history = request.history.filter(|_| !request.is_read_only)?;
    let place = request.output?.places.last()?;
    pins::send(&place.loaded, &mut memory.sent_pins, history).err().map(|error| error.to_string())
}

/// Sends the events that the hub does not have yet. Returns why it could not.
fn send_events(context: &Context<'_>, memory: &mut Memory) -> Option<String> {
    let history = context.history.filter(|_| !context.is_read_only)?;
    let stored = rollout_store::read(context.access, context.environment);
    let head = match stored {
        Ok(stored) => stored.head,
        Err(error) => return Some(error.to_string()),
    };
    let sent = events::send(&*context.access.repositories, (head.as_ref(), &mut memory.sent), history);
    sent.err().map(|error| error.to_string())
}

impl StepOutcome {
    fn note(&mut self, plan: &StepPlan) {
        self.warnings.extend(plan.problems.iter().cloned());
        let sources = plan.sources.iter().any(|source| source.state().current.is_some());
        let rollouts = plan.rollouts.iter().any(|rollout| rollout.step.state.current.is_some());
        let moves = plan.moves.iter().any(|planned| planned.step.state.current.is_some());
        self.is_moving = sources || rollouts || moves;
        let is_failed =
            |rollout: &PlannedRollout| rollout.failed_because().is_some() && rollout.step.state.current.is_some();
        let is_stopped = |planned: &PlannedMove| planned.step.report.phase == ReportPhase::Stopped;
        self.is_stopped = plan.rollouts.iter().any(is_failed) || plan.moves.iter().any(is_stopped);
    }
}
