//! Moves the releases of all selected workloads: decides, stores the decisions, and acts on them.

use std::collections::BTreeSet;
use std::sync::Arc;

use engine::promotion::advance::AdvanceStep;
use engine::promotion::command::{Command, apply_to_advance};
use engine::promotion::origin::for_origin;
use engine::promotion::state::AdvanceState;
use hub_api::promotions::SubjectStatus;
use model::object::promotion::{ChangeOrigin, Promotion};

use super::changes::{Change, is_worth_storing};
use super::context::{Context, Memory};
use super::error::ControllerError;
use super::platform::{Acted, Own};
use super::release_facts::Releases;
use super::releases::{Before, ReleaseMove, selected};
use super::status;
use crate::rollout_store::{self, Advances, StoredStates};

/// The result of a round for all workloads.
pub(super) enum ReleaseMoves {
    /// Something moved, or another program stored a state: everything is read again.
    Again {
        /// Whether the environment's sources changed.
        has_moved: bool,
    },
    /// Where the workloads stand.
    Found {
        /// The decisions.
        steps: Vec<AdvanceStep>,
        /// The workloads, as the API shows them.
        subjects: Vec<SubjectStatus>,
        /// What can't be written, and why.
        problems: Vec<String>,
    },
}

/// Moves the releases that a promotion selects. Without `releases`, they are not known, and nothing moves.
pub(super) fn move_all(
    context: &Context<'_>,
    (promotion, releases): (&Promotion, Option<&Releases>),
    own: &Own<'_>,
    memory: &mut Memory,
) -> Result<ReleaseMoves, ControllerError> {
    let (mut steps, mut subjects, mut problems) = (Vec::new(), Vec::new(), Vec::new());
    let promotion = &for_origin(promotion, ChangeOrigin::Release);
    let selected = releases.map(|releases| selected(promotion, releases)).unwrap_or_default();
    let names: BTreeSet<_> = selected.iter().map(|(workload, _)| Arc::clone(workload)).collect();
    if let Some(releases) = releases
        && let Some(is_stored) = forget(context, (releases, &names))?
    {
        return Ok(ReleaseMoves::Again { has_moved: is_stored });
    }
    if selected.is_empty() {
        return Ok(ReleaseMoves::Found { steps, subjects, problems });
    }
    let before = Before::read(context, promotion, memory);
    for (workload, published) in selected {
        let stored = rollout_store::read(context.access, context.environment)?;
        let advances = match known(&stored) {
            Ok(advances) => advances,
            Err(problem) => {
                problems.push(problem);
                break;
            }
        };
        let hold = stored.hold();
        let one = ReleaseMove { promotion, workload, published, own, before: &before, hold };
        let state = advances.releases.get(workload).cloned().unwrap_or_default();
        let decided = one.decide(context, &state);
        let is_news = is_worth_storing(&state, &decided.state) || !decided.events.is_empty();
        if is_news && !context.is_read_only {
            let mut change = Change::new(&stored, advances);
            change.set_release(context.environment, (workload, &decided.state), &decided.events);
            if !change.store(context)? {
                return Ok(ReleaseMoves::Again { has_moved: false });
            }
        }
        // A repository or host of one workload that fails does not stop the others.
        let act = || if context.is_read_only { Ok(Acted::Nothing) } else { one.act(context, &decided) };
        let acted = match act() {
            Err(ControllerError::Move(error)) => Acted::Problem(error.to_string().into()),
            acted => acted?,
        };
        match acted {
            Acted::Nothing => {}
            Acted::Problem(problem) => problems.push(format!("{workload}: {problem}")),
            // A merged branch of manifests is read with the next sync.
            Acted::Moved => return Ok(ReleaseMoves::Again { has_moved: true }),
            Acted::LostRace => return Ok(ReleaseMoves::Again { has_moved: false }),
            Acted::Declined(command, revision) => {
                decline(context, workload, (&decided.state, &command))?;
                one.settle_declined(context, &revision)?;
                return Ok(ReleaseMoves::Again { has_moved: false });
            }
        }
        subjects.push(status::of_release(workload, one.at(context).as_ref(), (&decided.state, &decided.report)));
        steps.push(decided);
    }
    Ok(ReleaseMoves::Found { steps, subjects, problems })
}

/// Forgets the releases of workloads that the promotion does not move any more: from now on, they have the releases that their objects name. A workload that is not
/// known at the moment keeps its state. None: there is nothing to forget.
fn forget(
    context: &Context<'_>,
    (releases, selected): (&Releases, &BTreeSet<Arc<str>>),
) -> Result<Option<bool>, ControllerError> {
    let stored = rollout_store::read(context.access, context.environment)?;
    let Ok(mut advances) = known(&stored) else { return Ok(None) };
    let is_known = |workload: &Arc<str>| releases.get(workload).is_some_and(|release| release.labels.is_some());
    let before = advances.releases.len();
    advances.releases.retain(|workload, _| selected.contains(workload) || !is_known(workload));
    if advances.releases.len() == before || context.is_read_only {
        return Ok(None);
    }
    let mut change = Change::new(&stored, advances);
    change.set_advances();
    Ok(Some(change.store(context)?))
}

pub(super) fn known(stored: &StoredStates) -> Result<Advances, String> {
    match &stored.advances {
        Some(Ok(advances)) => Ok(advances.clone()),
        Some(Err(error)) => Err(error.to_string()),
        None => Ok(Advances::default()),
    }
}

/// Ends a move whose pull request a person closed.
fn decline(
    context: &Context<'_>,
    workload: &Arc<str>,
    (state, command): (&AdvanceState, &Command),
) -> Result<(), ControllerError> {
    let stored = rollout_store::read(context.access, context.environment)?;
    let (Ok(state), Ok(advances)) = (apply_to_advance(state, command), known(&stored)) else { return Ok(()) };
    let mut change = Change::new(&stored, advances);
    let event = command.event(state.last_rejected().map(|rejected| rejected.revision.clone()));
    change.set_release(context.environment, (workload, &state), &[event]);
    change.store(context)?;
    Ok(())
}
