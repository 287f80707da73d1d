//! The controller of promotions: one level-triggered step for one environment.
//!
//! A step reads the graph, the stored states and the evidence, lets the pure machines of [`engine::promotion`] decide, stores their new states, and then acts. Every
//! act follows from the stored states and from git, so a step that was interrupted is completed by the next one.

mod branch_move;
mod changes;
pub mod command;
pub mod commit_move;
pub mod commit_status;
mod context;
pub mod error;
mod events;
pub mod evidence;
pub mod line;
mod people;
mod place_sums;
pub mod plane;
mod platform;
mod proposals;
pub mod published;
mod published_folders;
mod release_edits;
mod release_facts;
mod release_moves;
mod releases;
mod renderer;
pub mod restoration;
mod rollouts;
pub mod settled;
pub mod sources;
mod status;

use std::sync::Arc;

use engine::promotion::advance::AdvanceStep;
use engine::promotion::command::Command;
use engine::promotion::graph::StepSource;
use engine::promotion::report::{Report, ReportPhase};
use engine::promotion::state::{AdvanceState, Revision};
use git_host::HostError;
use hub_api::evidence::PromotionEvents;
use hub_api::promotions::PromotionStatus;
use jiff::Timestamp;
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::object::Promotion;

use self::changes::{Change, is_worth_storing};
use self::commit_move::CommitMoveError;
use self::context::Context;
pub use self::context::Memory;
use self::error::ControllerError;
use self::evidence::Evidence;
use self::plane::{Plane, Standing};
use self::platform::{Acted, Own};
use self::published::Published;
use self::published_folders::GitOpsCommit;
use self::release_moves::ReleaseMoves;
use self::rollouts::Rollouts;
use self::settled::Settled;
use self::sources::SourceMoves;
pub use self::status::of_environment as status_of;
use crate::access::RepositoryAccess;
use crate::publish::{Outcome, PlaceOutcome};
use crate::pull_requests::GitHosts;
use crate::reading::RACES_MAX;
use crate::renderer::SUBJECT;
use crate::rollout_store::{self, StoredStates};
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
    pub published: Option<&'a Published>,
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
    let mut must_publish = false;
    for _ in 0..ROUNDS_MAX.max(RACES_MAX) {
        let plane = Plane::read(access)?;
        // A promotion that the main branch does not have any more still counts where it was admitted.
        if !plane.is_part(request.environment) && rollout_store::read(access, request.environment)?.promotion.is_none()
        {
            return Ok(StepOutcome::default());
        }
        let StepRequest { environment, hosts, evidence, lease, now, is_read_only, .. } = *request;
        let context = Context { access, environment, plane: &plane, hosts, evidence, lease, now, is_read_only };
        match round(&context, request, memory)? {
            Round::Again { has_moved } => must_publish |= has_moved,
            Round::Done(outcome) => {
                return Ok(StepOutcome { must_publish: outcome.must_publish || must_publish, ..outcome });
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
    Done(StepOutcome),
}

fn round(context: &Context<'_>, request: &StepRequest<'_>, memory: &mut Memory) -> Result<Round, ControllerError> {
    let environment = context.environment;
    let standing = context.plane.standing(environment, &mut memory.branches)?;
    let standing = standing.ok_or_else(|| ControllerError::UnknownEnvironment(environment.clone()))?;
    let mut outcome = StepOutcome::default();
    let mut status = status_of(&context.plane.graph, environment, context.now);
    let sources = match sources::move_all(context, request.published, memory)? {
        SourceMoves::Again { has_moved } => return Ok(Round::Again { has_moved }),
        SourceMoves::Found(found) => found,
    };
    outcome.is_moving |= sources.is_moving;
    outcome.warnings.extend(sources.problems);
    let rollouts = move_rollouts(context, request, memory)?;
    if rollouts.has_lost_race {
        return Ok(Round::Again { has_moved: false });
    }
    let rollouts = rollouts.found;
    outcome.must_publish = !rollouts.changed.is_empty();
    outcome.is_moving |= rollouts.is_moving;
    outcome.is_stopped = rollouts.is_stopped;
    outcome.warnings.extend(rollouts.problems);
    let settled = settle(context, request, (&standing, rollouts.open.clone()))?;
    let stored = rollout_store::read(context.access, environment)?;
    let promotion = context.plane.in_force(environment, (&stored, None));
    if let Some(reason) = promotion.as_ref().and_then(|promotion| problem(context, (promotion, &stored), &standing)) {
        status.problem = Some(reason.to_string());
    } else if let Some(promotion) = &promotion {
        let own = Own {
            standing: &standing,
            settled,
            failed: rollouts.failed,
            is_proposed: request.published.is_some_and(Published::is_proposed),
            baseline: baseline(request.output),
        };
        if promotion.select.platform {
            match move_platform(context, &stored, &own, memory)? {
                Decided::Again { has_moved } => return Ok(Round::Again { has_moved }),
                Decided::Problem(problem) => status.problem = Some(problem),
                Decided::Step(decided) => {
                    if !context.is_read_only {
                        outcome.warnings.extend(set_status(context, &decided).err().map(|error| error.to_string()));
                    }
                    outcome.add(&decided);
                    let at = standing.at.as_ref();
                    status.subjects.push(status::of_platform(at, &decided.state, &decided.report));
                }
            }
        }
        let releases = request.published.map(|published| &published.releases);
        if let Some(hold) = stored.hold().filter(|_| !promotion.select.platform) {
            let state = AdvanceState { hold: Some(hold.clone()), ..AdvanceState::default() };
            status.subjects.push(status::of_platform(standing.at.as_ref(), &state, &Report::at_rest()));
        }
        let moves = release_moves::move_all(context, (promotion, releases), &own, memory)?;
        if let Some(again) = outcome.note(moves, &mut status) {
            return Ok(again);
        }
        let moves = renderer::move_renderer(context, (promotion, &stored), (request.output, &own), memory)?;
        if let Some(again) = outcome.note(moves, &mut status) {
            return Ok(again);
        }
    }
    status.subjects.extend(sources.subjects);
    status.subjects.extend(rollouts.statuses);
    let proposals = proposals::report(context, request.published)?;
    outcome.must_publish |= proposals.is_outdated;
    outcome.warnings.extend(proposals.problems);
    outcome.warnings.extend(send_events(context, request, memory));
    Ok(Round::Done(StepOutcome { status: Some(status), ..outcome }))
}

/// What the environment had published before, if its last publication was refused: the refused commit is not there.
fn baseline(output: Option<&Outcome>) -> Option<Revision> {
    let refused = |place: &&PlaceOutcome| !place.refusals.is_empty();
    let refused = output?.places.iter().find(refused)?;
    let commit = refused.planned.earlier.as_ref()?.loaded.fleet.promoted_commit()?;
    Some(Revision(Arc::clone(commit)))
}

/// Why no change can move into the environment. None: changes can.
fn problem(
    context: &Context<'_>,
    (promotion, stored): (&Promotion, &StoredStates),
    standing: &Standing,
) -> Option<Arc<str>> {
    let environment = context.environment;
    let step = context.plane.step(environment);
    if let Some(Err(error)) = &stored.promotion {
        return Some(error.to_string().into());
    }
    // Behind a gate, an environment that follows the head of the main branch could only have what the gate has not let in yet.
    let is_declared = step.is_none_or(|step| matches!(step.source, StepSource::Object(_)));
    let is_gated = || is_declared && promotion.is_gate_of_commits();
    let follows_head = standing.promoted.is_declared() && standing.promoted.commit.is_none();
    let without_commit = || {
        let text = format!(
            "BaseRepo `main` has no commit, although a gate is before `{environment}`: `kalypso check -e {environment}` says which commit to write"
        );
        (follows_head && is_gated()).then(|| text.into())
    };
    context.plane.problem.clone().or_else(|| step?.problem.clone()).or_else(without_commit)
}

/// Whether the environment is settled, or why not. Stores the record of it.
fn settle(
    context: &Context<'_>,
    request: &StepRequest<'_>,
    (standing, open): (&Standing, Option<Arc<str>>),
) -> Result<Result<Vec<GitOpsCommit>, Arc<str>>, ControllerError> {
    let Some(published) = request.published else {
        return Ok(context.plane.settled(context.environment, standing).map(|record| record.gitops));
    };
    if let Some(open) = open {
        return Ok(Err(open));
    }
    if published.has_rings() && request.output.is_none() {
        return Ok(context.plane.settled(context.environment, standing).map(|record| record.gitops));
    }
    if published.commit != standing.commit() || published.head != Some(standing.head()) {
        return Ok(Err("its newest commits are not published yet".into()));
    }
    if let Err(reason) = &published.complete {
        return Ok(Err(Arc::clone(reason)));
    }
    let head = rollout_store::read(context.access, context.environment)?.head;
    let record = head.as_ref().map(|head| settled::read_at(&*context.access.repositories, head)).transpose()?.flatten();
    let mut releases = releases::to_record(context, &published.releases);
    releases.insert(SUBJECT.into(), Arc::clone(&context.access.renderer));
    let gitops = published.gitops.clone();
    let is_same = |record: Settled| standing.is_of(&record) && record.releases == releases && record.gitops == gitops;
    let is_new = !record.is_some_and(is_same);
    if is_new && !context.is_read_only {
        let (commit, head_id) = (standing.commit(), standing.head());
        let record = Settled { commit, head: head_id, since: context.now, releases, gitops: gitops.clone() };
        if !settled::write(context.access, context.environment, (head.as_ref(), &record), context.lease)? {
            return Ok(Err("another program stores its state at the same time".into()));
        }
    }
    Ok(Ok(gitops))
}

struct MovedRollouts {
    found: Rollouts,
    has_lost_race: bool,
}

/// Decides about the workloads in the rings of the environment, and stores the decisions. Publishing acts on them.
fn move_rollouts(
    context: &Context<'_>,
    request: &StepRequest<'_>,
    memory: &mut Memory,
) -> Result<MovedRollouts, ControllerError> {
    let none = || MovedRollouts { found: Rollouts::default(), has_lost_race: false };
    let is_broken = context.plane.step(context.environment).is_some_and(|step| step.problem.is_some());
    let (Some(output), None, false) = (request.output, &context.plane.problem, is_broken) else { return Ok(none()) };
    let stored = rollout_store::read(context.access, context.environment)?;
    let Some(promotion) = context.plane.in_force(context.environment, (&stored, None)) else { return Ok(none()) };
    let found = rollouts::decide(context, &promotion, (&stored, output), memory);
    let mut change = Change::new(&stored, rollout_store::Advances::default());
    for (workload, rollout, events) in &found.changed {
        change.set_rollout(context.environment, (workload, Some(rollout.clone())), events);
    }
    let has_lost_race = !context.is_read_only && !change.is_empty() && !change.store(context)?;
    Ok(MovedRollouts { found, has_lost_race })
}

enum Decided {
    Again { has_moved: bool },
    Problem(String),
    Step(Box<AdvanceStep>),
}

/// Decides about the commits of the main branch, stores the decision, and acts.
fn move_platform(
    context: &Context<'_>,
    stored: &StoredStates,
    own: &Own<'_>,
    memory: &mut Memory,
) -> Result<Decided, ControllerError> {
    let advances = match &stored.advances {
        Some(Err(error)) => return Ok(Decided::Problem(error.to_string())),
        Some(Ok(advances)) => advances.clone(),
        None => rollout_store::Advances::default(),
    };
    let state = advances.platform.clone().unwrap_or_default();
    let Some((in_force, decided)) = platform::decide(context, (stored, &state), own, memory) else {
        return Ok(Decided::Problem("it has no promotion any more".to_owned()));
    };
    if context.is_read_only {
        return Ok(Decided::Step(Box::new(decided)));
    }
    let mut change = Change::new(stored, advances);
    if is_worth_storing(&state, &decided.state) || !decided.events.is_empty() {
        change.set_platform(context, &decided.state, &decided.events);
        change.set_promotion(platform::admitted_promotion(context, (stored, &state), &decided.state));
        if !change.store(context)? {
            return Ok(Decided::Again { has_moved: false });
        }
        if state.admitted.is_some() && decided.state.admitted != state.admitted {
            return Ok(Decided::Again { has_moved: true });
        }
    }
    match platform::act(context, &in_force, (&decided, own.standing))? {
        Acted::Nothing | Acted::Problem(_) => Ok(Decided::Step(Box::new(decided))),
        Acted::Moved => Ok(Decided::Again { has_moved: true }),
        Acted::LostRace => Ok(Decided::Again { has_moved: false }),
        Acted::Declined(command, to) => match line::commit(&to).zip(platform::declined(&decided.state, &command)) {
            Some((to, _)) => decline(context, own.standing, (&command, to)),
            None => Ok(Decided::Step(Box::new(decided))),
        },
    }
}

/// Ends a move whose pull request a person closed.
fn decline(
    context: &Context<'_>,
    standing: &Standing,
    (command, to): (&Command, GitId),
) -> Result<Decided, ControllerError> {
    let again = Ok(Decided::Again { has_moved: false });
    let stored = rollout_store::read(context.access, context.environment)?;
    let Some(Ok(advances)) = stored.advances.clone() else { return again };
    // A person may have decided something else meanwhile, so the answer is applied to the newest state.
    let before = advances.platform.clone().unwrap_or_default();
    let is_about = before.current.as_ref().and_then(|current| line::commit(&current.revision)) == Some(to);
    let Some(state) = platform::declined(&before, command).filter(|_| is_about) else { return again };
    let mut change = Change::new(&stored, advances);
    let event = command.event(state.last_rejected().map(|rejected| rejected.revision.clone()));
    change.set_platform(context, &state, &[event]);
    if change.store(context)? {
        let at = (context.environment, &standing.promoted);
        commit_move::settle_declined(context.hosts, at, to).map_err(CommitMoveError::from)?;
    }
    again
}

fn set_status(context: &Context<'_>, decided: &AdvanceStep) -> Result<(), HostError> {
    let Some((revision, stage)) = commit_status::stage(&decided.state) else { return Ok(()) };
    match (context.hosts, line::commit(revision)) {
        (Some(hosts), Some(commit)) => {
            commit_status::set_promotion_status(context.access, hosts, context.environment, (commit, stage))
        }
        _ => Ok(()),
    }
}

/// Sends the events that the hub does not have yet. Returns why it could not.
fn send_events(context: &Context<'_>, request: &StepRequest<'_>, memory: &mut Memory) -> Option<String> {
    let history = request.history.filter(|_| !request.is_read_only)?;
    let stored = rollout_store::read(context.access, context.environment);
    let head = match stored {
        Ok(stored) => stored.head,
        Err(error) => return Some(error.to_string()),
    };
    let sent = events::send(&*context.access.repositories, (head.as_ref(), &mut memory.sent), history);
    sent.err().map(|error| error.to_string())
}

impl StepOutcome {
    /// Notes where releases stand. Returns the round if everything is to be read again.
    fn note(&mut self, moves: ReleaseMoves, status: &mut PromotionStatus) -> Option<Round> {
        match moves {
            ReleaseMoves::Again { has_moved } => Some(Round::Again { has_moved }),
            ReleaseMoves::Found { steps, subjects, problems } => {
                steps.iter().for_each(|decided| self.add(decided));
                status.subjects.extend(subjects);
                self.warnings.extend(problems);
                None
            }
        }
    }

    fn add(&mut self, decided: &AdvanceStep) {
        self.is_moving |= decided.state.current.is_some();
        self.is_stopped |= decided.report.phase == ReportPhase::Stopped;
    }
}
