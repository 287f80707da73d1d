//! Examples of commands, and of their refusals.

use crate::promotion::vector::Part;
use std::sync::Arc;

use jiff::Timestamp;

use super::{Command, CommandKind, apply_to_advance, apply_to_rollout, gates_passed, is_retried_with};
use crate::promotion::state::{
    AdvanceState, BranchPosition, Candidate, CandidatePhase, GateRecord, GateStatus, Move, MoveStage, Override, Proved,
    Rejection, Revision, RolloutState,
};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn revision(name: &str) -> Revision {
    Revision(name.into())
}

fn gates() -> Vec<GateRecord> {
    let record = |name: &str, status| GateRecord { name: name.into(), status, since: NOW, text: "".into() };
    vec![record("compliant", GateStatus::Passed), record("people", GateStatus::Waiting)]
}

/// `r2` moves, and `r1` is stable.
fn rollout() -> RolloutState {
    let moving = Move {
        part: Part::Both,
        revision: revision("r2"),
        started: NOW,
        base: BranchPosition::default(),
        phase: MoveStage::Moving,
        layout: "".into(),
        ring: 0,
        ring_started: NOW,
        released: std::collections::BTreeMap::new(),
        good_since: None,
        is_due: false,
        gates: gates(),
        approvals: Vec::new(),
        authors: None,
        done: Vec::new(),
    };
    RolloutState { stable: Some(proved("r1")), current: Some(moving), ..RolloutState::default() }
}

fn proved(name: &str) -> Proved {
    Proved { revision: revision(name), at: BranchPosition::default(), on: NOW }
}

/// `r2` moves, and `r1` is proved.
fn advance(phase: CandidatePhase) -> AdvanceState {
    let current = Candidate { gates: gates(), ..Candidate::new(revision("r2"), NOW, phase) };
    AdvanceState { proved: Some(proved("r1")), current: Some(current), ..AdvanceState::default() }
}

fn command(kind: CommandKind) -> Command {
    Command { kind, by: "bob".into(), at: NOW, reason: "because".into() }
}

fn skip(gate: &str) -> CommandKind {
    CommandKind::Skip { gate: gate.into() }
}

/// The new state of a rollout, or the text of the refusal.
fn apply(state: &RolloutState, kind: CommandKind) -> Result<RolloutState, String> {
    apply_to_rollout(state, &command(kind)).map_err(|refusal| refusal.to_string())
}

fn check_refusal(state: &RolloutState, kind: CommandKind, expected: &str) {
    assert_eq!(apply(state, kind).unwrap_err(), expected);
}

#[test]
fn a_hold_has_a_reason_and_ends_with_resume() {
    let held = apply(&rollout(), CommandKind::Hold).unwrap();
    check_refusal(&held, CommandKind::Hold, "bob holds it already: because");
    assert_eq!(apply(&held, CommandKind::Resume), Ok(rollout()));
    check_refusal(&rollout(), CommandKind::Resume, "there is no hold");
    for kind in
        [CommandKind::Hold, CommandKind::Abort, CommandKind::Rollback { to: None, with_values: true }, skip("people")]
    {
        let expected = format!("`{}` needs a reason", kind.name());
        let silent = Command { reason: " ".into(), ..command(kind) };
        assert_eq!(apply_to_rollout(&rollout(), &silent).unwrap_err().to_string(), expected);
    }
}

#[test]
fn a_gate_is_skipped_by_its_name() {
    let skipped = apply(&rollout(), skip("people")).unwrap();
    assert!(skipped.current.as_ref().unwrap().gates[1].holds());
    check_refusal(&skipped, skip("people"), "the gate `people` holds already");
    check_refusal(&rollout(), skip("other"), "there is no gate `other` now. The gates are: compliant, people");
    check_refusal(&RolloutState::default(), skip("people"), "nothing moves now");
}

#[test]
fn each_account_approves_once() {
    let approved = apply(&rollout(), CommandKind::Approve { gate: None }).unwrap();
    let upper = Command { by: "BOB".into(), ..command(CommandKind::Approve { gate: None }) };
    assert_eq!(apply_to_rollout(&approved, &upper).unwrap_err().to_string(), "BOB approved it already");
    // An approval of one gate leaves the others open, but one of all gates includes each.
    let of = |gate: &str| CommandKind::Approve { gate: Some(gate.into()) };
    check_refusal(&approved, of("people"), "bob approved it already");
    let one = apply(&rollout(), of("people")).unwrap();
    check_refusal(&one, of("people"), "bob approved it already");
    let both = apply(&one, of("managers")).unwrap();
    let gates = both.current.unwrap().approvals.into_iter().map(|approver| approver.gate);
    assert_eq!(gates.collect::<Vec<_>>(), [Some("people".into()), Some("managers".into())]);
}

#[test]
fn abort_adds_the_revision_to_the_rejected_ones() {
    let old = Rejection { revision: revision("r0"), reason: "".into(), part: Part::Both, at: None };
    let aborted = apply(&RolloutState { rejected: vec![old.clone()], ..rollout() }, CommandKind::Abort).unwrap();
    let (reason, at) = ("abort by bob: because".into(), aborted.rejected[1].at);
    assert!(at.is_some());
    let rejected = Rejection { revision: revision("r2"), reason, part: Part::Both, at };
    assert_eq!((aborted.current, aborted.rejected), (None, vec![old, rejected]));
    let rolling_back = apply(&rollout(), CommandKind::Rollback { to: None, with_values: true }).unwrap();
    check_refusal(&rolling_back, CommandKind::Abort, "the rollback has begun already");
    let first = RolloutState { stable: None, ..rollout() };
    check_refusal(
        &first,
        CommandKind::Rollback { to: None, with_values: true },
        "there is no earlier proved revision to return to",
    );
}

#[test]
fn retry_restarts_rejected_or_stopped_revisions() {
    check_refusal(&rollout(), CommandKind::Retry, "no revision was stopped, aborted or rolled back");
    let rejected = RolloutState {
        rejected: vec![Rejection { revision: revision("r3"), reason: "".into(), part: Part::Both, at: None }],
        ..RolloutState::default()
    };
    assert_eq!(apply(&rejected, CommandKind::Retry), Ok(RolloutState::default()));
    let mut stopped = rollout();
    stopped.current.as_mut().unwrap().phase =
        MoveStage::Stopped { reason: "1 failed".into(), since: NOW, is_withdrawn: false };
    assert_eq!(apply(&stopped, CommandKind::Retry), Ok(rollout()));
    // A rollback that can't end, for example because its commit is gone, does not hold the workload for ever.
    let rolling_back = apply(&rollout(), CommandKind::Rollback { to: None, with_values: true }).unwrap();
    let retried = apply(&rolling_back, CommandKind::Retry).unwrap();
    assert_eq!((retried.current, retried.rejected, retried.stable), (None, Vec::new(), rollout().stable));
    // A retry of the environment's commit leaves the rollback of one workload alone, unless the environment returns as a whole.
    let returning = CandidatePhase::RollingBack { reason: "1 failed".into(), since: NOW };
    let reaches = |phase, of| is_retried_with(&advance(phase), of);
    assert!(!reaches(CandidatePhase::Gated, &rolling_back) && reaches(CandidatePhase::Gated, &stopped));
    assert!(reaches(returning, &rolling_back));
}

#[test]
fn a_rollback_names_a_proved_revision() {
    let earlier = Proved { on: Timestamp::MIN, ..proved("r0") };
    let state = RolloutState { earlier: vec![earlier], current: None, ..rollout() };
    let to = |name: &str| CommandKind::Rollback { to: Some(revision(name)), with_values: true };
    let expected = "no revision `r1` was proved here before the present one. The proved revisions are: r0";
    check_refusal(&state, to("r1"), expected);
    let returned = apply(&state, to("r0")).unwrap();
    assert_eq!(returned, apply(&state, CommandKind::Rollback { to: None, with_values: true }).unwrap());
    assert_eq!(returned.stable.map(|stable| stable.revision), Some(revision("r0")));
    assert_eq!(returned.rolled_back.map(|found| found.decision.by), Some("bob".into()));
    check_refusal(
        &RolloutState::default(),
        CommandKind::Rollback { to: None, with_values: true },
        "there is no earlier proved revision to return to",
    );
}

#[test]
fn a_rollout_has_no_requests() {
    let request = CommandKind::Request { revision: revision("r3") };
    let text = "a rollout moves what the environment has. Use `kalypso promote` to move another revision into the \
        environment";
    check_refusal(&rollout(), request, text);
}

/// What a command makes of a move between environments in this phase: the phase then, what is rejected, and what is requested.
fn check_advance(phase: CandidatePhase, kind: CommandKind, expected: &str) {
    let shown = match apply_to_advance(&advance(phase), &command(kind)) {
        Err(refusal) => refusal.to_string(),
        Ok(state) => {
            let name = |revision: Option<Revision>| revision.map_or_else(|| "-".into(), |revision| revision.0);
            let rolls_back =
                state.current.as_ref().is_some_and(|c| matches!(c.phase, CandidatePhase::RollingBack { .. }));
            let current = if rolls_back { Arc::from("rolls back") } else { name(state.current.map(|c| c.revision)) };
            let requested = name(state.requested.map(|request| request.revision));
            let rejected = state.rejected.iter().map(|rejected| rejected.revision.0.to_string()).collect::<Vec<_>>();
            let rejected = if rejected.is_empty() { "-".to_owned() } else { rejected.join(" ") };
            format!("current {current}, rejected {rejected}, requested {requested}")
        }
    };
    assert_eq!(shown, expected);
}

#[test]
fn commands_for_moves_between_environments_depend_on_the_phase() {
    let proving = CandidatePhase::Proving { since: NOW };
    let request = |name| CommandKind::Request { revision: revision(name) };
    check_advance(CandidatePhase::Gated, CommandKind::Abort, "current -, rejected r2, requested -");
    check_advance(proving.clone(), CommandKind::Abort, "current r2, rejected r2, requested -");
    let rollback = |to: Option<&str>| CommandKind::Rollback { to: to.map(revision), with_values: true };
    check_advance(proving.clone(), rollback(None), "current rolls back, rejected r2, requested -");
    check_advance(proving.clone(), rollback(Some("r1")), "current rolls back, rejected r2, requested -");
    check_advance(
        proving.clone(),
        rollback(Some("r0")),
        "no revision `r0` was proved here before the present one. The proved revisions are: r1",
    );
    check_advance(CandidatePhase::Gated, request("r2"), "current r2, rejected -, requested r2");
    check_advance(proving.clone(), request("r2"), "`r2` moves already");
    check_advance(proving, request("r3"), "current r2, rejected -, requested r3");
    let rolling_back = CandidatePhase::RollingBack { reason: "1 failed".into(), since: NOW };
    check_advance(rolling_back, CommandKind::Retry, "current -, rejected -, requested r2");
}

#[test]
fn a_command_is_an_event() {
    let event = command(skip("people")).event(Some(revision("r2")));
    assert_eq!((event.kind.name(), &*event.text), ("skipped", "skip of the gate `people` by bob: because"));
}

#[test]
fn override_records_author_gates_and_expiry() {
    let expires = "2026-03-03T10:00:00Z".parse().unwrap();
    let state = advance(CandidatePhase::Gated);
    let waits = gates().into_iter().find(|gate| !gate.holds()).unwrap().name;
    let passed = gates_passed(&state, &revision("r2"), &[]);
    assert_eq!(passed, [Arc::clone(&waits)]);
    let kind = CommandKind::Override { revision: revision("r2"), gates: passed.clone(), expires };
    let event = command(kind.clone()).event(Some(revision("r2")));
    assert_eq!(*event.text, *format!("override `r2` past {waits} until 2026-03-03T10:00:00Z by bob: because"));
    let after = apply_to_advance(&state, &command(kind)).unwrap();
    let current = after.current.unwrap();
    let Override { decision, gates, from, .. } = current.overridden.unwrap();
    assert_eq!((&*decision.by, gates, from), ("bob", passed, Some(revision("r1"))));
    assert!(current.entry.iter().all(GateRecord::holds) && current.entry.len() == 1);
    // Gates that were not evaluated are all passed.
    let gate = model::object::promotion::Gate::new("night".into(), model::object::promotion::GateKind::Manual);
    assert_eq!(gates_passed(&state, &revision("r9"), &[gate]), [Arc::from("night")]);
}
