//! Examples of each rule of rollouts.

mod ahead;
mod entering;
mod failures;
mod newer;
mod order;
mod properties;
mod rendered;
mod returning;
mod world;

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use model::object::promotion::{Amount, DomainLimit, Gate, GateKind, Newer, Ring, Share, Silent};

use self::world::{Host, World, ring};
use crate::promotion::command::{Command, CommandKind, apply_to_rollout};
use crate::promotion::report::ReportPhase;

fn two_rings() -> World {
    World::new(vec![ring("canary"), ring("rest")], &[2, 4])
}

fn limited(ring: Ring, at_once: Amount) -> Ring {
    Ring { at_once: Some(at_once), ..ring }
}

fn command(world: &mut World, kind: CommandKind) {
    let command = Command { kind, by: "bob".into(), at: world.now, reason: "because".into() };
    world.state = apply_to_rollout(&world.state, &command).unwrap();
}

#[test]
fn a_change_moves_ring_by_ring_and_is_stable_then() {
    let mut world = two_rings();
    world.change(2);
    world.step();
    assert_eq!((world.kinds().as_str(), world.versions().as_str()), ("started", "11|1111"));
    world.step();
    world.publish();
    assert_eq!((world.kinds().as_str(), world.versions().as_str()), ("ringStarted released waiting", "22|1111"));
    world.step();
    world.publish();
    let events = "ringDone ringStarted released waiting";
    assert_eq!((world.kinds().as_str(), world.versions().as_str()), (events, "22|2222"));
    let report = world.step();
    assert_eq!((world.kinds().as_str(), world.stable().as_str()), ("ringDone completed", "v2"));
    assert_eq!((report.phase, report.waiting), (ReportPhase::Rest, Vec::new()));
}

#[test]
fn the_first_revision_of_a_workload_also_moves_ring_by_ring() {
    let mut world = two_rings();
    world.state.stable = None;
    world.change(2);
    world.step();
    world.step();
    world.publish();
    assert_eq!((world.versions().as_str(), world.stable().as_str()), ("22|1111", ""));
}

#[test]
fn a_revision_that_is_published_already_is_stable_at_once() {
    let mut world = two_rings();
    world.state.stable = None;
    world.step();
    world.step();
    assert_eq!((world.kinds().as_str(), world.stable().as_str()), ("started ringDone ringDone completed", "v1"));
}

#[test]
fn a_ring_without_changes_is_done_at_once() {
    let mut world = World::new(vec![ring("canary"), ring("middle"), ring("rest")], &[2, 1, 2]);
    world.change_to(2, vec![1, 1, 1, 2, 1]);
    let report = world.settle();
    assert_eq!((world.versions().as_str(), world.stable().as_str()), ("11|1|21", "v2"));
    assert_eq!(report.phase, ReportPhase::Rest);
    let passed = world.events.iter().filter(|event| event.contains("nothing changes in the ring")).count();
    assert_eq!(passed, 2);
}

#[test]
fn a_ring_releases_as_many_places_as_may_change_at_once() {
    let mut world = World::new(vec![limited(ring("all"), Amount::Count(2))], &[5]);
    world.change(2);
    let mut changed = Vec::new();
    for _ in 0..5 {
        world.step();
        world.publish();
        changed.push(world.published.iter().filter(|version| **version == 2).count());
    }
    assert_eq!(changed, [0, 2, 4, 5, 5]);
    assert_eq!(world.stable(), "v2");
}

#[test]
fn a_share_of_a_small_ring_is_at_least_one_place() {
    let share = Amount::Share(Share::of_hundredths(100));
    let mut world = World::new(vec![limited(ring("all"), share)], &[5]);
    world.change(2);
    world.step();
    world.step();
    world.publish();
    assert_eq!(world.versions().matches('2').count(), 1);
    world.settle();
    assert_eq!(world.stable(), "v2");
}

#[test]
fn each_value_of_a_label_has_its_own_limit() {
    let per = vec![DomainLimit { label: "site".into(), at_once: 1 }];
    let mut world = World::new(vec![Ring { per, ..ring("all") }], &[9]);
    world.change(2);
    world.step();
    world.step();
    world.publish();
    let sites: Vec<_> = (0..9).filter(|place| world.published[*place] == 2).map(|place| place % 3).collect();
    assert_eq!(sites.len(), 3);
    assert!((0..3).all(|site| sites.contains(&site)));
    world.settle();
    assert_eq!(world.stable(), "v2");
}

#[test]
fn the_limit_of_a_site_holds_across_rings() {
    let per = vec![DomainLimit { label: "site".into(), at_once: 1 }];
    let canary = Ring { per: per.clone(), failures: Amount::Count(1), ..ring("canary") };
    let share = GateKind::Compliant { share: Share::of_hundredths(5_000), silent: Silent::Wait };
    let canary = Ring { prove: vec![Gate::new("most".into(), share)], ..canary };
    let mut world = World::new(vec![canary, Ring { per, failures: Amount::Count(1), ..ring("rest") }], &[3, 6]);
    world.hosts[0] = Host::Fails(2);
    world.change(2);
    let report = world.settle();
    // At the site of the failed place, no other place may change.
    assert_eq!((world.versions().as_str(), &*report.waiting[0].what), ("222|122122", "limits"));
    world.hosts[0] = Host::Healthy;
    world.settle();
    assert_eq!(world.stable(), "v2");
}

#[test]
fn a_place_that_does_not_succeed_counts_as_changing() {
    let mut world =
        World::new(vec![Ring { failures: Amount::Count(1), ..limited(ring("all"), Amount::Count(2)) }], &[5]);
    (world.hosts[0], world.hosts[4]) = (Host::Fails(2), Host::Silent);
    world.change(2);
    let report = world.settle();
    let text =
        "3 of 5 changed places of the ring `all` are released; simultaneous changes are limited to 2 of the ring";
    assert!(world.published.contains(&1), "{}", world.versions());
    assert_eq!(report.waiting[0].what, "limits".into());
    assert_eq!(&*report.waiting[0].text, text);
}

#[test]
fn silent_hosts_hold_a_ring_unless_its_gate_ignores_them() {
    let mut world = two_rings();
    world.hosts[0] = Host::Silent;
    world.change(2);
    let report = world.settle();
    assert_eq!(world.versions(), "22|1111");
    let text = "1 of 2 reconcilers applied the change, 100% are needed, 1 are silent";
    assert_eq!((&*report.waiting[0].what, &*report.waiting[0].text), ("compliant", text));
    let gate = Gate::new("healthy".into(), GateKind::Compliant { share: Share::ALL, silent: Silent::Ignore });
    world.promotion.rings[0].prove.push(gate);
    world.settle();
    assert_eq!(world.stable(), "v2");
}

#[test]
fn dead_host_stops_a_ring_if_silence_fails_until_it_reports_again() {
    let mut world = two_rings();
    let gate = Gate::new("healthy".into(), GateKind::Compliant { share: Share::ALL, silent: Silent::Fail });
    world.promotion.rings[0].prove.push(gate);
    world.promotion.rings[0].pause = Duration::from_mins(30);
    world.change(2);
    world.settle();
    world.hosts[0] = Host::Silent;
    let report = world.settle();
    assert_eq!(report.phase, ReportPhase::Stopped);
    assert!(report.waiting[0].text.contains("1 of 2 reconcilers failed (1 are silent)"), "{:?}", report.waiting);
    world.hosts[0] = Host::Healthy;
    world.wait(40);
    assert_eq!(&*world.settle().waiting[0].what, "pause");
    assert_eq!(world.versions(), "22|1111");
    world.wait(31);
    world.settle();
    assert_eq!(world.versions(), "22|2222");
}

#[test]
fn a_ring_that_nothing_can_prove_waits() {
    let mut world = two_rings();
    (world.hosts[0], world.hosts[1]) = (Host::Missing, Host::Missing);
    world.change(2);
    let report = world.settle();
    assert_eq!(world.versions(), "22|1111");
    assert_eq!(&*report.waiting[0].text, "no reconciler is expected, so nothing can prove the change");
}

#[test]
fn a_ring_must_have_been_good_for_its_pause() {
    let mut world = World::new(vec![Ring { pause: Duration::from_hours(1), ..ring("canary") }, ring("rest")], &[2, 4]);
    world.change(2);
    world.settle();
    assert_eq!(world.versions(), "22|1111");
    world.wait(50);
    world.settle();
    assert_eq!(world.versions(), "22|1111");
    world.wait(10);
    world.settle();
    assert_eq!(world.stable(), "v2");
}

/// The first ring of three has version 2, and the second one gets it now.
fn in_the_second_ring() -> World {
    let stores = Ring { pause: Duration::from_hours(1), ..limited(ring("stores"), Amount::Count(1)) };
    let mut world = World::new(vec![ring("canary"), stores, ring("rest")], &[2, 2, 2]);
    world.change(2);
    (0..3).for_each(|_| {
        world.step();
        world.publish();
    });
    assert_eq!(world.versions(), "22|21|11");
    world
}

#[test]
fn other_rings_release_nothing_by_the_state_of_a_move() {
    let mut world = in_the_second_ring();
    world.promotion.rings.rotate_right(1);
    world.ring.iter_mut().for_each(|ring| *ring = (*ring + 1) % 3);
    world.hosts[4] = Host::Silent;
    world.step();
    world.publish();
    assert_eq!(world.versions(), "22|21|11");
    assert!(world.events.iter().any(|event| event == "started: the rings changed, so the move begins again"));
    // The last ring is the first one now, and the canary waits for it.
    let report = world.settle();
    assert_eq!((world.versions().as_str(), &*report.waiting[0].what), ("22|21|22", "compliant"));
    world.hosts[4] = Host::Healthy;
    world.wait(600);
    world.settle();
    world.wait(61);
    world.settle();
    assert_eq!(world.stable(), "v2");
}

#[test]
fn released_places_with_the_new_content_count_as_published() {
    let mut world = World::new(vec![limited(ring("all"), Amount::Count(2))], &[4]);
    world.promotion.newer = Newer::Supersede;
    world.change(2);
    world.step();
    world.step();
    world.publish();
    // The newer revision changes only the places without the earlier one.
    let contents = world.published.iter().map(|version| if *version == 2 { 2 } else { 3 }).collect();
    world.change_to(3, contents);
    world.step();
    world.step();
    world.promotion.rings[0].name = "everything".into();
    let report = world.step();
    let measured = report.rings[0].measured.unwrap();
    assert_eq!((report.rings[0].released, measured.unpublished, measured.succeeded), (2, 2, 2));
    world.settle();
    assert_eq!(world.stable(), "v3");
}

#[test]
fn a_stopped_move_stays_stopped_when_the_rings_change() {
    let mut world = in_the_second_ring();
    world.hosts[2] = Host::Fails(2);
    world.hosts[3] = Host::Fails(2);
    world.settle();
    world.promotion.rings.remove(0);
    world.ring.iter_mut().for_each(|ring| *ring = ring.saturating_sub(1));
    let (before, report) = (world.versions(), world.settle());
    assert_eq!((report.phase, world.versions().replace('|', "")), (ReportPhase::Stopped, before.replace('|', "")));
    assert!(report.waiting.iter().any(|waiting| &*waiting.what == "rings"), "{report:?}");
    world.hosts = vec![Host::Healthy; 6];
    command(&mut world, CommandKind::Retry);
    world.settle();
    world.wait(61);
    world.settle();
    assert_eq!(world.stable(), "v2");
}

#[test]
fn clock_set_back_does_not_end_a_pause() {
    let mut world = World::new(vec![Ring { pause: Duration::from_hours(1), ..ring("canary") }, ring("rest")], &[2, 4]);
    world.change(2);
    world.settle();
    for now in [world.now - SignedDuration::from_hours(9), Timestamp::MIN] {
        world.now = now;
        world.step();
        world.publish();
        assert_eq!(world.versions(), "22|1111");
    }
}

#[test]
fn sources_with_errors_start_nothing() {
    let mut world = two_rings();
    world.desired = None;
    let report = world.step();
    assert_eq!((report.phase, &*report.waiting[0].what), (ReportPhase::Rest, "sources"));
}

#[test]
fn a_hold_stops_everything_but_the_evidence() {
    let mut world = two_rings();
    world.change(2);
    world.step();
    world.step();
    world.publish();
    command(&mut world, CommandKind::Hold);
    world.hosts[0] = Host::Fails(2);
    let report = world.settle();
    assert_eq!((report.phase, &*report.waiting[0].what), (ReportPhase::Moving, "hold"));
    assert_eq!(&*report.gates[0].text, "1 of 2 reconcilers failed, at most 0 may fail");
    world.hosts[0] = Host::Healthy;
    world.settle();
    assert_eq!(world.versions(), "22|1111");
    command(&mut world, CommandKind::Resume);
    // So does a hold of the whole environment.
    world.hold =
        Some(crate::promotion::state::Decision { by: "ann".into(), at: world.now, reason: "inventory".into() });
    let report = world.settle();
    assert_eq!((world.versions().as_str(), &*report.waiting[0].text), ("22|1111", "held by ann: inventory"));
    world.hold = None;
    world.settle();
    assert_eq!(world.stable(), "v2");
}

#[test]
fn an_unknown_state_of_the_fleet_releases_nothing() {
    let mut world = two_rings();
    world.change(2);
    world.hub_error = Some("the hub does not answer".into());
    let report = world.settle();
    assert_eq!(world.versions(), "11|1111");
    let text = "0 of 2 changed places of the ring `canary` are released; the state of the fleet is not known: the hub does \
        not answer";
    assert_eq!(&*report.waiting[0].text, text);
    world.hub_error = None;
    world.settle();
    assert_eq!(world.stable(), "v2");
}

#[test]
fn aborted_move_keeps_the_places_until_a_newer_revision_or_a_retry() {
    let mut world = two_rings();
    world.change(2);
    world.step();
    world.step();
    world.publish();
    command(&mut world, CommandKind::Abort);
    let report = world.settle();
    assert_eq!((world.versions().as_str(), world.stable().as_str()), ("22|1111", "v1"));
    assert_eq!((report.phase, &*report.waiting[0].what), (ReportPhase::Rest, "rejected"));
    world.change(3);
    world.step();
    command(&mut world, CommandKind::Abort);
    // The second abort does not forget the first.
    world.change(2);
    world.settle();
    assert_eq!((world.versions().as_str(), world.stable().as_str()), ("22|1111", "v1"));
    command(&mut world, CommandKind::Retry);
    world.settle();
    assert_eq!(world.stable(), "v2");
    world.change(3);
    world.settle();
    assert_eq!(world.stable(), "v2", "the other revision stays rejected");
}

#[test]
fn an_environment_that_loses_its_rings_ends_the_move() {
    let mut world = two_rings();
    world.change(2);
    world.step();
    world.promotion.rings.clear();
    world.step();
    assert_eq!((world.kinds().as_str(), world.state.current.is_none()), ("started aborted", true));
}

#[test]
fn removing_rings_does_not_withdraw_released_content() {
    let mut world = two_rings();
    world.hosts[5] = Host::Silent;
    world.change(2);
    world.settle();
    assert_eq!(world.versions(), "22|2222");
    world.promotion.rings.truncate(1);
    world.ring.fill(0);
    let report = world.settle();
    assert_eq!((world.versions().as_str(), report.phase), ("222222", ReportPhase::Moving));
    world.hosts[5] = Host::Healthy;
    world.settle();
    assert_eq!(world.stable(), "v2");
}
