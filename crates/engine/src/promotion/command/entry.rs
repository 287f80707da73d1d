//! Commands about a subject on its way into an environment.

use std::sync::Arc;

use jiff::Timestamp;
use model::object::promotion::Gate;
use model::object::release;

use super::{Command, CommandKind, CommandRefusal, current};
use crate::promotion::state::{
    AdvanceState, Candidate, CandidatePhase, GateRecord, GateStatus, MoveRequest, Override, Revision,
};

/// Applies a command to the move of a subject into an environment.
///
/// # Errors
/// The command makes no sense in this state. The state stays as it is.
pub fn apply_to_advance(state: &AdvanceState, command: &Command) -> Result<AdvanceState, CommandRefusal> {
    command.check_reason()?;
    let mut state = state.clone().with_admitted();
    match &command.kind {
        CommandKind::Hold => command.hold(&mut state.hold)?,
        CommandKind::Resume => state.hold.take().map(|_| ()).ok_or(CommandRefusal::NotHeld)?,
        CommandKind::Abort => abort(&mut state, command)?,
        CommandKind::Retry => retry(&mut state, command)?,
        CommandKind::Skip { gate } => skip(waiting_at(&mut state, Some(gate))?, command, gate)?,
        CommandKind::Approve { gate } => {
            command.approve(gate.as_ref(), &mut waiting_at(&mut state, gate.as_ref())?.approvals)?;
        }
        CommandKind::Rollback { to, .. } => roll_back(&mut state, command, to.as_ref())?,
        CommandKind::Request { revision } => request(&mut state, command, revision)?,
        CommandKind::Override { revision, gates, expires } => {
            let overridden =
                Override { decision: command.decision(), gates: gates.clone(), expires: *expires, from: None };
            admit(&mut state, revision, overridden, command.at);
        }
    }
    Ok(state)
}

/// What a gate can be passed for: the candidate, or an admitted change whose gates do not hold any more.
fn candidate(state: &mut AdvanceState) -> Result<&mut Candidate, CommandRefusal> {
    let mut unmerged = state.unmerged.iter_mut().map(|unmerged| &mut unmerged.change);
    let ended = unmerged.find(|change| !change.entry.iter().all(GateRecord::holds));
    state.current.as_mut().or(ended).ok_or(CommandRefusal::NothingMoves)
}

/// The change whose gate waits.
fn waiting_at<'s>(state: &'s mut AdvanceState, gate: Option<&Arc<str>>) -> Result<&'s mut Candidate, CommandRefusal> {
    let is_open = |record: &GateRecord| gate == Some(&record.name) && !record.holds();
    let is_current = state.current.as_ref().is_some_and(|current| current.gates.iter().any(is_open));
    let ended = state.unmerged.iter().position(|unmerged| unmerged.change.entry.iter().any(is_open));
    match ended.filter(|_| !is_current) {
        Some(position) => {
            state.unmerged.get_mut(position).map(|found| &mut found.change).ok_or(CommandRefusal::NothingMoves)
        }
        None => candidate(state),
    }
}

/// Skips a gate of the candidate, or one by which it was admitted and that does not hold any more.
fn skip(candidate: &mut Candidate, command: &Command, gate: &Arc<str>) -> Result<(), CommandRefusal> {
    let has_ended = candidate.entry.iter().any(|record| record.name == *gate && !record.holds());
    command.skip(gate, if has_ended { &mut candidate.entry } else { &mut candidate.gates })
}

fn request(state: &mut AdvanceState, command: &Command, revision: &Revision) -> Result<(), CommandRefusal> {
    let moving = state.current.as_ref().filter(|current| current.revision == *revision);
    let is_on_its_way = moving
        .is_some_and(|current| !matches!(current.phase, CandidatePhase::Gated | CandidatePhase::RollingBack { .. }));
    let is_requested = state.requested.as_ref().is_some_and(|request| request.revision == *revision);
    if (is_on_its_way && !state.is_rejected(revision)) || is_requested {
        return Err(CommandRefusal::MovesAlready(Arc::clone(&revision.0)));
    }
    state.forgive(revision);
    state.stays = None;
    state.requested = Some(MoveRequest { revision: revision.clone(), decision: command.decision(), is_retry: false });
    Ok(())
}

/// The gates that an override of a revision passes: those of the candidate that do not hold. If they were not evaluated, all of `gates`, which are for its origin.
pub fn gates_passed(state: &AdvanceState, revision: &Revision, gates: &[Gate]) -> Vec<Arc<str>> {
    let known = state.current.as_ref().filter(|current| current.revision == *revision);
    let known = known.map(|current| if current.phase.is_admitted() { &current.entry } else { &current.gates });
    match known.filter(|records| !records.is_empty()) {
        Some(records) => {
            records.iter().filter(|record| !record.holds()).map(|record| Arc::clone(&record.name)).collect()
        }
        None => gates.iter().map(|gate| Arc::clone(&gate.name)).collect(),
    }
}

/// Admits a revision past its gates. They are evaluated again if its output still waits when the override expires.
fn admit(state: &mut AdvanceState, revision: &Revision, overridden: Override, at: Timestamp) {
    (state.requested, state.stays) = (None, None);
    state.unmerged.clear();
    state.forgive(revision);
    let from = state.admitted.replace(revision.clone()).filter(|from| from != revision);
    let decision = &overridden.decision;
    let passed = |name: &Arc<str>| GateRecord {
        name: Arc::clone(name),
        status: GateStatus::Skipped(decision.clone()),
        since: at,
        text: format!("skipped by {}: {}", decision.by, decision.reason).into(),
    };
    let entry = overridden.gates.iter().map(passed).collect();
    let known = state.current.take().filter(|current| current.revision == *revision);
    let approvals = known.map(|current| current.approvals).unwrap_or_default();
    let candidate = Candidate::new(revision.clone(), at, CandidatePhase::Proving { since: at });
    let overridden = Some(Override { from, ..overridden });
    state.current = Some(Candidate { entry, approvals, overridden, ..candidate });
}

/// Ends a move. What the environment has of it stays.
fn abort(state: &mut AdvanceState, command: &Command) -> Result<(), CommandRefusal> {
    let candidate = current(&mut state.current)?;
    let revision = candidate.revision.clone();
    match candidate.phase {
        CandidatePhase::RollingBack { .. } => return Err(CommandRefusal::RollsBack),
        CandidatePhase::Gated | CandidatePhase::Entering { .. } => state.current = None,
        CandidatePhase::Proving { .. } | CandidatePhase::Stopped { .. } => {
            candidate.phase = CandidatePhase::Stopped { reason: command.phase_reason(), since: command.at };
            (candidate.good_since, candidate.steady_since) = (None, None);
        }
    }
    state.requested = None;
    state.reject(revision, (command.phase_reason(), command.at));
    Ok(())
}

/// Returns to a revision that was proved before, whatever moves now. All of that is rejected.
fn roll_back(state: &mut AdvanceState, command: &Command, to: Option<&Revision>) -> Result<(), CommandRefusal> {
    if to.is_none()
        && state.current.as_ref().is_some_and(|found| matches!(found.phase, CandidatePhase::RollingBack { .. }))
    {
        return Err(CommandRefusal::RollsBack);
    }
    let target = match to.map(|to| called(state, to).unwrap_or(to)) {
        Some(to) if !state.has_proved(to) => {
            let names = state.proofs.iter().rev().map(|proof| Arc::clone(&proof.revision.0)).collect();
            return Err(CommandRefusal::NotProved { revision: Arc::clone(&to.0), names });
        }
        Some(to) => to.clone(),
        None => state.proved_before().cloned().ok_or(CommandRefusal::NothingProved)?,
    };
    let Some(left) = state.admitted.replace(target.clone()).filter(|left| *left != target) else {
        return Err(CommandRefusal::IsThere(Arc::clone(&target.0)));
    };
    if let Some(moving) = state.current.take().filter(|moving| moving.revision != target) {
        state.reject(moving.revision, (command.phase_reason(), command.at));
    }
    state.reject(left.clone(), (command.phase_reason(), command.at));
    state.forgive(&target);
    state.requested = None;
    state.stays = Some(command.decision());
    let phase = CandidatePhase::RollingBack { reason: command.phase_reason(), since: command.at };
    state.current = Some(Candidate::new(left, command.at, phase));
    Ok(())
}

/// The only proved revision that people see under this name. None: there is none, or there are more.
fn called<'s>(state: &'s AdvanceState, name: &Revision) -> Option<&'s Revision> {
    let is_called = |revision: &&Revision| release::is_called(&revision.0, &name.0);
    let mut found = state.proofs.iter().map(|proof| &proof.revision).filter(is_called);
    found.next().filter(|_| found.next().is_none())
}

fn retry(state: &mut AdvanceState, command: &Command) -> Result<(), CommandRefusal> {
    let again = |revision: Revision| Some(MoveRequest { revision, decision: command.decision(), is_retry: true });
    let is_back = |candidate: &mut Candidate| matches!(candidate.phase, CandidatePhase::RollingBack { .. });
    if let Some(Candidate { revision, .. }) = state.current.take_if(is_back) {
        state.forgive(&revision);
        state.stays = None;
        state.requested = again(revision);
        return Ok(());
    }
    let stopped = state.current.as_mut().filter(|current| matches!(current.phase, CandidatePhase::Stopped { .. }));
    if let Some(candidate) = stopped {
        candidate.phase = CandidatePhase::Proving { since: command.at };
        let revision = candidate.revision.clone();
        state.forgive(&revision);
        return Ok(());
    }
    match (state.rejected.pop(), state.stays.take()) {
        (Some(rejected), _) => state.requested = again(rejected.revision),
        (None, Some(_)) => {}
        (None, None) => return Err(CommandRefusal::NothingToRetry),
    }
    Ok(())
}
