//! Examples of each rule of moves between environments.

mod entry;
mod properties;
mod stopped;
mod world;

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use model::object::promotion::{Amount, Approval, GateKind, Newer, OnFailure, Require, Start};

use self::world::{World, fleet, revision};
use super::AdvanceAction;
use crate::promotion::command::CommandKind;
use crate::promotion::evidence::{Approver, Measured};
use crate::promotion::report::ReportPhase;

#[test]
fn a_revision_that_the_environment_before_has_proved_enters() {
    let mut world = World::new(&["stage"]);
    world.has(2);
    let (report, action) = world.step();
    assert_eq!(action, Some(AdvanceAction::Write { revision: revision(2) }));
    assert_eq!((report.phase, &*report.waiting[0].what), (ReportPhase::Entering, "write"));
    // The action stays until the environment has the revision.
    assert_eq!(world.step().1, action);
    world.at = Some(revision(2));
    let (report, action) = world.step();
    assert_eq!((action, report.phase, &*report.waiting[0].what), (None, ReportPhase::Proving, "compliant"));
    let (report, action) = world.step();
    assert_eq!((action, report.phase, report.waiting), (None, ReportPhase::Rest, Vec::new()));
    assert_eq!((world.proved().as_str(), world.kinds().as_str()), ("r2", "started promoted waiting proved"));
}

#[test]
fn a_revision_waits_until_the_environment_before_has_proved_it() {
    let mut world = World::new(&["stage"]);
    world.has(2);
    world.from[0].settled = Err("the rollout of `checkout` is in the ring `canary`".into());
    let report = world.settle();
    assert_eq!(&*report.waiting[0].text, "`stage`: the rollout of `checkout` is in the ring `canary`");
    world.from[0].settled = Ok(());
    world.from[0].measured = Ok(fleet(1));
    let report = world.settle();
    assert_eq!((&*report.waiting[0].what, report.phase), ("healthy", ReportPhase::Gated));
    world.from[0].measured = Ok(fleet(0));
    world.settle();
    assert_eq!(world.proved(), "r2");
}

#[test]
fn gate_lost_before_the_write_blocks_the_write() {
    let mut world = World::new(&["stage"]);
    world.gate("soak", GateKind::Soak(Duration::from_hours(1)));
    world.has(2);
    world.settle();
    world.now += SignedDuration::from_hours(1);
    let write = Some(AdvanceAction::Write { revision: revision(2) });
    assert_eq!(world.step().1, write);
    // Evidence that is missing for a while takes nothing back.
    world.from[0].measured = Err("the hub does not answer".into());
    assert_eq!(world.step().1, write);
    world.from[0].measured = Ok(fleet(1));
    world.kinds();
    let (report, action) = world.step();
    assert_eq!((action, report.phase, &*report.waiting[0].what), (None, ReportPhase::Gated, "healthy"));
    assert_eq!(world.kinds(), "waiting");
    world.from[0].measured = Ok(fleet(0));
    assert_eq!(&*world.settle().waiting[0].what, "soak");
    world.now += SignedDuration::from_hours(1);
    world.settle();
    assert_eq!(world.proved(), "r2");
}

#[test]
fn a_newer_revision_in_the_environment_before_contains_the_candidate() {
    let mut world = World::new(&["stage"]);
    world.gate("soak", GateKind::Soak(Duration::from_hours(1)));
    world.has(2);
    world.settle();
    world.has(3);
    world.now += SignedDuration::from_hours(1);
    world.promotion.newer = Newer::Queue;
    world.step();
    assert_eq!((world.current().as_str(), world.state.waiting.as_slice()), ("r2", &[revision(3)][..]));
    assert_eq!(world.step().1, Some(AdvanceAction::Write { revision: revision(2) }));
}

#[test]
fn a_candidate_ends_when_the_environment_before_goes_back() {
    let mut world = World::new(&["stage"]);
    world.gate("soak", GateKind::Soak(Duration::from_hours(1)));
    world.has(2);
    world.settle();
    world.has(1);
    let report = world.settle();
    assert_eq!((report.phase, world.kinds().ends_with("superseded")), (ReportPhase::Rest, true));
    // A revision that a person requests may come there later.
    world.command(CommandKind::Request { revision: revision(3) });
    let report = world.settle();
    assert_eq!(&*report.waiting[0].text, "`stage` has `r1`, which does not contain the revision");
}

#[test]
fn a_newer_revision_is_no_proof_of_the_one_that_it_repairs() {
    let mut world = World::new(&["stage"]);
    world.has(2);
    world.from[0].measured = Ok(fleet(10));
    world.settle();
    assert_eq!(world.current(), "r2");
    // The environment before never proved `r2`, and has its repair now.
    world.has(3);
    world.from[0].measured = Ok(fleet(0));
    world.settle();
    assert_eq!((world.proved().as_str(), world.state.has_proved(&revision(2))), ("r3", false));
    let mut world = World::new(&["stage"]);
    world.has(2);
    world.from[0].rejected.push(revision(2));
    world.settle();
    assert_eq!((world.proved().as_str(), world.current().as_str()), ("r1", ""));
}

#[test]
fn only_proved_revisions_enter_under_a_newer_one() {
    let mut world = World::new(&["stage"]);
    world.proves(2);
    world.has(3);
    world.from[0].measured = Ok(fleet(1));
    let report = world.settle();
    assert_eq!((world.current().as_str(), &*report.waiting[0].what), ("r3", "healthy"));
    world.has(4);
    world.settle();
    assert_eq!(world.current(), "r4", "`r3` was never proved");
}

#[test]
fn a_soak_goes_on_under_newer_revisions_until_one_fails() {
    let mut world = World::new(&["stage"]);
    world.promotion.gates[0].kind = GateKind::Failures(Amount::Count(0));
    world.gate("soak", GateKind::Soak(Duration::from_hours(4)));
    world.has(2);
    world.settle();
    for newer in [3, 4] {
        world.now += SignedDuration::from_hours(2);
        world.has(newer);
        world.from[0].settled = Err("it moves".into());
        world.settle();
        world.from[0].settled = Ok(());
        assert_eq!(&*world.settle().waiting[0].what, "soak");
    }
    // The newest revision must have been good for a moment itself.
    world.now += SignedDuration::from_secs(59);
    assert_eq!(&*world.settle().waiting[0].what, "soak");
    world.now += SignedDuration::from_secs(1);
    world.settle();
    assert_eq!(world.admitted(), "r2");
    let mut world = World::new(&["stage"]);
    world.gate("soak", GateKind::Soak(Duration::from_hours(4)));
    world.gate("few", GateKind::Failures(Amount::Count(0)));
    world.has(2);
    world.settle();
    world.has(3);
    world.from[0].measured = Ok(fleet(1));
    world.now += SignedDuration::from_hours(5);
    world.settle();
    assert_eq!(world.admitted(), "r1");
}

#[test]
fn all_environments_before_or_any_of_them_must_have_proved_a_revision() {
    let mut world = World::new(&["a", "b"]);
    world.from[0].has = Some(revision(3));
    world.settle();
    assert_eq!(world.current(), "");
    world.from[1].has = Some(revision(3));
    world.from[1].measured = Ok(fleet(1));
    let report = world.settle();
    assert_eq!((world.current().as_str(), &*report.waiting[0].what), ("r3", "b/healthy"));
    world.promotion.require = Require::Any;
    world.settle();
    assert_eq!(world.proved(), "r3");
}

#[test]
fn a_rollback_returns_to_any_proved_revision_and_stays() {
    let mut world = World::new(&["stage"]);
    for number in [2, 3, 4] {
        world.has(number);
        world.settle();
    }
    world.command(CommandKind::Rollback { to: None, with_values: false });
    // The output returns at once, also while the sources still name the other revision, and during a hold.
    assert_eq!((world.admitted().as_str(), world.at.clone()), ("r3", Some(revision(4))));
    world.command(CommandKind::Hold);
    world.settle();
    world.command(CommandKind::Resume);
    assert_eq!((world.proved().as_str(), world.at.clone()), ("r3", Some(revision(3))));
    world.has(5);
    let report = world.settle();
    assert_eq!((world.admitted().as_str(), &*report.waiting[0].what), ("r3", "rejected"));
    world.command(CommandKind::Rollback { to: Some(revision(1)), with_values: false });
    world.settle();
    assert_eq!(world.proved(), "r1");
    world.command(CommandKind::Request { revision: revision(5) });
    world.settle();
    assert_eq!(world.proved(), "r5");
}

#[test]
fn a_merge_is_not_enough_when_the_gates_do_not_hold_any_more() {
    let mut world = World::new(&["stage"]);
    world.has(2);
    world.step();
    world.command(CommandKind::Hold);
    // The proposal is merged during the hold, or after its gate failed.
    world.at = Some(revision(2));
    world.settle();
    assert_eq!(world.admitted(), "r1");
    world.command(CommandKind::Resume);
    world.from[0].measured = Ok(fleet(1));
    let report = world.settle();
    assert_eq!((world.admitted().as_str(), &*report.waiting[0].what), ("r1", "healthy"));
    world.from[0].measured = Ok(fleet(0));
    world.settle();
    assert_eq!(world.proved(), "r2");
}

#[test]
fn evidence_about_the_output_before_proves_nothing() {
    let mut world = World::new(&["stage"]);
    world.has(2);
    world.step();
    world.at = Some(revision(2));
    let (report, _) = world.step();
    assert_eq!((report.phase, world.admitted().as_str(), world.proved().as_str()), (ReportPhase::Proving, "r2", "r1"));
    world.step();
    assert_eq!(world.proved(), "r2");
}

#[test]
fn an_aborted_revision_stays_where_it_is_and_never_moves_by_itself() {
    let mut world = World::new(&["stage"]);
    world.gate("person", GateKind::Manual);
    for number in [2, 3] {
        world.has(number);
        world.settle();
        world.command(CommandKind::Abort);
    }
    world.has(2);
    assert_eq!(&*world.settle().waiting[0].what, "rejected");
    assert_eq!((world.state.rejected.len(), world.current().as_str()), (2, ""));
    let mut world = World::new(&["stage"]);
    world.has(2);
    world.measured = fleet(1);
    world.settle();
    world.command(CommandKind::Abort);
    world.measured = fleet(0);
    let report = world.settle();
    assert_eq!((world.admitted().as_str(), report.phase), ("r2", ReportPhase::Stopped));
    world.command(CommandKind::Retry);
    world.settle();
    assert_eq!(world.proved(), "r2");
}

#[test]
fn a_soak_begins_again_if_another_environment_holds_the_gates() {
    let mut world = World::new(&["a", "b"]);
    world.promotion.require = Require::Any;
    world.gate("soak", GateKind::Soak(Duration::from_hours(1)));
    world.has(2);
    world.settle();
    world.now += SignedDuration::from_mins(59);
    world.from[0].measured = Ok(fleet(1));
    world.settle();
    world.now += SignedDuration::from_mins(59);
    world.settle();
    assert_eq!(world.proved(), "r1");
    world.now += SignedDuration::from_mins(1);
    world.settle();
    assert_eq!(world.proved(), "r2");
}

#[test]
fn the_head_moves_if_there_is_no_environment_before() {
    let mut world = World::new(&[]);
    assert_eq!((world.current().as_str(), &*world.settle().waiting[0].what), ("r9", "healthy"));
    world.promotion.gates.clear();
    world.settle();
    assert_eq!(world.proved(), "r9");
}

#[test]
fn a_manual_start_waits_for_a_request() {
    let mut world = World::new(&["stage"]);
    world.promotion.start = Start::Manual;
    world.has(2);
    let report = world.settle();
    assert_eq!((report.phase, &*report.waiting[0].what), (ReportPhase::Gated, "request"));
    world.has(3);
    world.settle();
    assert_eq!(world.current(), "r3");
    world.command(CommandKind::Request { revision: revision(2) });
    world.settle();
    // What the person chose stays, though `r3` was there before.
    assert_eq!((world.proved().as_str(), world.current().as_str(), world.state.requested.clone()), ("r2", "r3", None));
}

#[test]
fn failures_in_the_environment_stop_the_move_and_a_repair_resumes_it() {
    let mut world = World::new(&["stage"]);
    world.has(2);
    world.measured = fleet(1);
    let report = world.settle();
    assert_eq!((report.phase, world.proved().as_str()), (ReportPhase::Stopped, "r1"));
    assert!(report.waiting[0].text.starts_with("1 of 10 reconcilers failed, at most 0 may fail"));
    world.measured = fleet(0);
    world.settle();
    assert_eq!(world.kinds(), "started promoted waiting stopped resumed proved");
}

#[test]
fn failures_return_the_environment_to_the_proved_revision_by_policy() {
    let mut world = World::new(&["stage"]);
    world.promotion.on_failure = OnFailure::RollBackEnvironment;
    world.has(2);
    world.step();
    (world.at, world.measured) = (Some(revision(2)), fleet(3));
    world.step();
    let (report, action) = world.step();
    assert_eq!((report.phase, action), (ReportPhase::RollingBack, Some(AdvanceAction::RollBack { to: revision(1) })));
    let report = world.settle();
    assert_eq!((report.phase, &*report.waiting[0].what), (ReportPhase::Rest, "rejected"));
    let reason = "3 of 10 reconcilers failed, at most 0 may fail";
    assert_eq!((world.at.clone(), world.rejected()), (Some(revision(1)), Some((revision(2), reason.into()))));
    world.measured = fleet(0);
    world.command(CommandKind::Retry);
    world.settle();
    assert_eq!((world.proved().as_str(), world.rejected()), ("r2", None));
}

#[test]
fn revision_requested_during_a_rollback_moves_after_it() {
    let mut world = World::new(&["stage"]);
    world.has(2);
    world.settle();
    assert_eq!(world.proved(), "r2");
    world.command(CommandKind::Rollback { to: None, with_values: false });
    world.step();
    world.command(CommandKind::Request { revision: revision(2) });
    world.settle();
    assert_eq!((world.proved().as_str(), world.rejected()), ("r2", None));
    // A failure does not use the request that began the move.
    world.promotion.on_failure = OnFailure::RollBackEnvironment;
    world.has(3);
    world.command(CommandKind::Request { revision: revision(3) });
    world.measured = fleet(1);
    world.settle();
    assert_eq!(world.rejected().map(|(revision, _)| revision), Some(revision(3)));
}

#[test]
fn a_stopped_revision_gives_way_to_a_newer_one() {
    let mut world = World::new(&["stage"]);
    world.has(2);
    world.measured = fleet(1);
    world.settle();
    world.has(3);
    assert_eq!(world.step().1, Some(AdvanceAction::Write { revision: revision(3) }));
    (world.at, world.measured) = (Some(revision(3)), fleet(0));
    world.settle();
    assert_eq!(world.proved(), "r3");
    assert!(!world.kinds().contains("movedByHand"));
}

#[test]
fn the_budget_of_the_last_ring_counts_if_there_are_rings() {
    let mut world = World::new(&["stage"]);
    let ring = model::object::promotion::Ring {
        name: "rest".into(),
        members: model::object::promotion::RingMembers::Rest,
        at_once: None,
        per: Vec::new(),
        pause: Duration::ZERO,
        failures: Amount::Count(2),
        canary: None,
        enter: Vec::new(),
        prove: Vec::new(),
    };
    world.promotion.rings.push(ring);
    world.has(2);
    world.measured = fleet(2);
    world.settle();
    assert_eq!(world.proved(), "r2");
}

#[test]
fn an_environment_without_reconcilers_blocks_no_newer_revision() {
    let mut world = World::new(&["stage"]);
    world.measured = Measured::default();
    world.has(2);
    let report = world.settle();
    assert_eq!((report.phase, world.proved().as_str()), (ReportPhase::Proving, "r1"));
    world.has(3);
    world.settle();
    assert_eq!(world.at, Some(revision(3)));
}

#[test]
fn a_revision_that_a_person_wrote_is_reported_and_waits_for_its_gates() {
    let mut world = World::new(&["stage"]);
    world.at = Some(revision(4));
    let report = world.settle();
    assert_eq!(
        (report.phase, &*report.waiting[0].what, world.proved().as_str()),
        (ReportPhase::Gated, "settled", "r1")
    );
    world.has(4);
    world.settle();
    assert_eq!(
        (world.kinds().as_str(), world.proved().as_str()),
        ("movedByHand waiting promoted waiting proved", "r4")
    );
    world.at = Some(revision(2));
    world.settle();
    assert_eq!((world.kinds().as_str(), world.admitted().as_str()), ("movedByHand waiting", "r4"));
    world.proves(2);
    world.settle();
    assert_eq!((world.kinds().as_str(), world.proved().as_str()), ("promoted waiting proved", "r2"));
    // What the person removed does not come back by itself.
    world.has(4);
    assert_eq!(&*world.settle().waiting[0].what, "rejected");
}

#[test]
fn manual_return_to_the_proved_revision_rejects_the_current_one() {
    let mut world = World::new(&["stage"]);
    world.has(2);
    world.measured = fleet(1);
    world.settle();
    (world.at, world.measured) = (Some(revision(1)), fleet(0));
    let report = world.settle();
    let reason = "a person wrote an older revision into the environment";
    assert_eq!((&*report.waiting[0].what, world.rejected()), ("rejected", Some((revision(2), reason.into()))));
}

#[test]
fn hold_requests_no_action() {
    let mut world = World::new(&["stage"]);
    world.has(2);
    world.step();
    world.command(CommandKind::Hold);
    let (report, action) = world.step();
    assert_eq!((&*report.waiting[0].text, action), ("held by bob: because", None));
    world.command(CommandKind::Resume);
    assert_eq!(world.step().1, Some(AdvanceAction::Write { revision: revision(2) }));
    // So does a hold of the whole environment.
    world.hold =
        Some(crate::promotion::state::Decision { by: "ann".into(), at: world.now, reason: "inventory".into() });
    world.at = Some(revision(2));
    assert_eq!(&*world.step().0.waiting[0].text, "held by ann: inventory");
    assert_eq!(world.state.admitted, Some(revision(1)));
    world.hold = None;
    world.step();
    assert_eq!(world.state.admitted, Some(revision(2)));
}

#[test]
fn a_newer_revision_replaces_the_current_one_by_policy() {
    let mut world = World::new(&["stage"]);
    world.promotion.newer = Newer::Supersede;
    world.gate("people", GateKind::Manual);
    world.has(2);
    world.settle();
    world.has(3);
    world.settle();
    assert_eq!(
        (world.current().as_str(), world.kinds().as_str()),
        ("r3", "started waiting superseded started waiting")
    );
}

#[test]
fn a_gate_that_was_skipped_before_the_environment_is_not_skipped_in_it() {
    let mut world = World::new(&["stage"]);
    world.promotion.gates[0].name = "compliant".into();
    world.has(2);
    world.from[0].measured = Ok(fleet(1));
    world.settle();
    world.command(CommandKind::Skip { gate: "compliant".into() });
    world.step();
    (world.at, world.measured) = (Some(revision(2)), Measured { succeeded: 9, ..fleet(0) });
    let report = world.settle();
    assert_eq!((report.phase, &*report.waiting[0].what), (ReportPhase::Proving, "compliant"));
}

#[test]
fn an_approval_holds_its_candidate_also_where_the_newest_replaces_others() {
    let approver = |account: &str| Approver {
        account: account.into(),
        at: Timestamp::UNIX_EPOCH,
        by: "command".into(),
        gate: None,
    };
    for is_approved in [false, true] {
        let mut world = World::new(&["stage"]);
        world.promotion.newer = Newer::Supersede;
        world.gate("people", GateKind::Approval(Approval { count: 2, team: None }));
        world.has(2);
        world.settle();
        assert_eq!(world.current(), "r2");
        let candidate = world.state.current.as_mut().unwrap();
        candidate.approvals.extend(is_approved.then(|| approver("bob")));
        world.has(3);
        world.settle();
        assert_eq!(world.current(), if is_approved { "r2" } else { "r3" });
    }
}
