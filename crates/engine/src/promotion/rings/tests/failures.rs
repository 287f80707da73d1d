//! Examples of failures: when a move stops, returns to the stable revision, or moves again.

use model::object::promotion::OnFailure;

use super::world::Host;
use super::{command, two_rings};
use crate::promotion::command::CommandKind;
use crate::promotion::report::ReportPhase;
use crate::promotion::state::MoveStage;

#[test]
fn failures_beyond_the_budget_stop_the_move_and_a_repair_resumes_it() {
    let mut world = two_rings();
    world.hosts[1] = Host::Fails(2);
    world.change(2);
    let report = world.settle();
    assert_eq!(world.versions(), "22|1111");
    assert_eq!(report.phase, ReportPhase::Stopped);
    let text = "ring `canary`: 1 of 2 reconcilers failed, at most 0 may fail; it moves again when the failures are resolved, \
        or a newer revision replaces it";
    assert_eq!(&*report.waiting[0].text, text);
    world.hosts[1] = Host::Healthy;
    world.settle();
    assert_eq!(world.stable(), "v2");
    let kinds = world.kinds();
    assert!(kinds.contains("stopped") && kinds.contains("resumed"), "{kinds}");
}

#[test]
fn failures_in_earlier_rings_count_too() {
    let mut world = two_rings();
    world.change(2);
    world.step();
    world.step();
    world.publish();
    world.step();
    world.publish();
    world.hosts[0] = Host::Fails(2);
    let report = world.settle();
    assert_eq!(report.phase, ReportPhase::Stopped);
    assert!(report.waiting[0].text.starts_with("ring `rest`: 1 of 6 reconcilers failed"), "{report:?}");
}

#[test]
fn a_failed_ring_returns_to_the_stable_revision_by_policy() {
    let mut world = two_rings();
    world.promotion.on_failure = OnFailure::RollBackRing;
    world.hosts[5] = Host::Fails(2);
    world.change(2);
    let report = world.settle();
    assert_eq!((world.versions().as_str(), report.phase), ("22|1111", ReportPhase::Stopped));
    world.hosts[5] = Host::Healthy;
    command(&mut world, CommandKind::Retry);
    world.settle();
    assert_eq!(world.stable(), "v2");
}

#[test]
fn a_failed_move_returns_the_whole_environment_by_policy() {
    let mut world = two_rings();
    world.promotion.on_failure = OnFailure::RollBackEnvironment;
    world.hosts[5] = Host::Fails(2);
    world.change(2);
    let report = world.settle();
    assert_eq!((world.versions().as_str(), world.stable().as_str()), ("11|1111", "v1"));
    assert_eq!((report.phase, &*report.waiting[0].what), (ReportPhase::Rest, "rejected"));
    assert!(world.kinds().ends_with("rollingBack rolledBack"));
    let reason = "ring `rest`: 1 of 6 reconcilers failed, at most 0 may fail";
    assert_eq!(world.state.rejected.last().map(|rejected| &*rejected.reason), Some(reason));
    // The revision does not start again by itself, but with `retry`, or when the sources change.
    world.hosts[5] = Host::Healthy;
    command(&mut world, CommandKind::Retry);
    world.settle();
    assert_eq!(world.stable(), "v2");
}

#[test]
fn silent_hosts_do_not_block_a_rollback_or_a_newer_revision() {
    let mut world = two_rings();
    world.promotion.on_failure = OnFailure::RollBackEnvironment;
    world.change(2);
    world.step();
    world.step();
    world.publish();
    (world.hosts[0], world.hosts[1]) = (Host::Silent, Host::Fails(0));
    let report = world.settle();
    assert_eq!((world.versions().as_str(), report.phase), ("11|1111", ReportPhase::RollingBack));
    assert!(report.waiting[0].text.ends_with("4 of 6 reconcilers applied the proved revision, 1 failed"));
    world.promotion.on_failure = OnFailure::Stop;
    world.change(3);
    world.settle();
    assert_eq!(world.versions(), "33|1111");
}

#[test]
fn without_a_stable_revision_a_failed_move_stops() {
    let mut world = two_rings();
    world.state.stable = None;
    world.promotion.on_failure = OnFailure::RollBackEnvironment;
    world.hosts[0] = Host::Fails(2);
    world.change(2);
    let report = world.settle();
    assert_eq!(world.versions(), "22|1111");
    assert!(report.waiting[0].text.contains("there is no earlier proved revision to return to"));
}

#[test]
fn a_skipped_budget_counts_for_one_ring() {
    let mut world = two_rings();
    world.hosts[1] = Host::Fails(2);
    world.change(2);
    world.settle();
    for gate in ["failures", "compliant"] {
        command(&mut world, CommandKind::Skip { gate: gate.into() });
    }
    let report = world.settle();
    assert_eq!(world.state.current.as_ref().unwrap().done[0].gates.len(), 2);
    // The failure also counts for the budget of the next ring.
    assert_eq!((world.versions().as_str(), report.phase), ("22|1111", ReportPhase::Stopped));
    command(&mut world, CommandKind::Skip { gate: "failures".into() });
    world.settle();
    assert_eq!(world.stable(), "v2");
}

#[test]
fn a_stop_has_a_reason_and_a_time() {
    let mut world = two_rings();
    world.hosts[1] = Host::Fails(2);
    world.change(2);
    world.settle();
    let MoveStage::Stopped { reason, since, is_withdrawn } = world.state.current.unwrap().phase else {
        panic!("it moves")
    };
    assert!(reason.contains("ring `canary`") && since < world.now && !is_withdrawn);
}

#[test]
fn content_of_an_earlier_move_is_proved_before_later_rings() {
    let mut world = two_rings();
    world.hosts[1] = Host::Fails(2);
    world.change(2);
    world.settle();
    // The newer revision changes nothing in the ring that has the failing one.
    world.change_to(3, vec![2, 2, 3, 3, 3, 3]);
    let report = world.settle();
    assert_eq!((world.versions().as_str(), report.phase), ("22|1111", ReportPhase::Stopped));
}
