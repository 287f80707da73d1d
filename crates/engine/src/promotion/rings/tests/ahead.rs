//! Examples of values that go ahead of a commit of the main branch which is half-way.
//!
//! The versions: 10 is the beginning, 20 the next commit, and the last digit is the number of the values.

use model::object::promotion::{Newer, OnFailure};

use super::two_rings;
use super::world::{Host, World};
use crate::promotion::answer::Answer;
use crate::promotion::command::{Command, CommandKind, apply_to_rollout};
use crate::promotion::report::{MoveReport, ReportPhase};
use crate::promotion::state::Revision;
use crate::promotion::vector::Part;

/// Version 20 is in the first ring.
fn half_way() -> World {
    let mut world = two_rings();
    world.change(10);
    world.settle();
    world.part = Part::Platform;
    world.change(20);
    assert_eq!((turn(&mut world).as_str(), world.stable().as_str()), ("2020|10101010", "v10"));
    world.events.clear();
    world
}

/// Until places get other content.
fn turn(world: &mut World) -> String {
    let before = world.versions();
    for _ in 0..4 {
        world.step();
        world.publish();
        if world.versions() != before {
            break;
        }
    }
    world.versions()
}

/// The newest values come: on top of 20 for places that have it, and of 10 for the others.
fn values(world: &mut World, number: u32) {
    world.change(10 + number);
    world.change(20 + number);
    world.part = Part::Both;
    world.ahead = Some((revision(20 + number), Some(revision(10 + number))));
}

fn revision(version: u32) -> Revision {
    Revision(format!("v{version}").into())
}

#[test]
fn values_reach_all_rings_before_the_commit_that_is_half_way() {
    let mut world = half_way();
    values(&mut world, 1);
    let seen = [(); 3].map(|()| turn(&mut world));
    assert_eq!(seen, ["2121|10101010", "2121|11111111", "2121|21212121"].map(str::to_owned));
    assert_eq!(world.stable(), "v11");
}

#[test]
fn a_failure_of_the_commit_returns_to_the_newest_values() {
    let mut world = half_way();
    world.promotion.on_failure = OnFailure::RollBackEnvironment;
    values(&mut world, 1);
    assert_eq!([turn(&mut world), turn(&mut world)][1], "2121|11111111");
    // The values are in all rings with the next step, and the host fails right after it.
    world.step();
    world.hosts[0] = Host::Fails(20);
    world.settle();
    assert_eq!(world.versions(), "1111|11111111");
    assert_eq!((world.stable(), world.state.rejected[0].part), ("v11".to_owned(), Part::Platform));
}

#[test]
fn a_failure_of_the_values_leaves_the_commit_where_it_was() {
    let mut world = half_way();
    world.promotion.on_failure = OnFailure::RollBackEnvironment;
    world.hosts[0] = Host::Fails(21);
    values(&mut world, 1);
    assert_eq!(turn(&mut world), "2121|10101010");
    assert_eq!(turn(&mut world), "2020|10101010");
    for _ in 0..3 {
        world.ahead = None;
        world.step();
    }
    assert!(world.state.is_rejected(&revision(21)) && world.state.interrupted.is_none());
    assert_eq!(world.state.current.as_ref().map(|current| current.revision.clone()), Some(revision(20)));
}

#[test]
fn newer_values_wait_for_or_replace_moving_values() {
    for (newer, expected) in [(Newer::Wait, "v21"), (Newer::Supersede, "v22")] {
        let mut world = half_way();
        world.promotion.newer = newer;
        values(&mut world, 1);
        world.step();
        values(&mut world, 2);
        world.step();
        assert_eq!(world.state.current.as_ref().map(|current| &*current.revision.0), Some(expected));
        assert_eq!(world.state.interrupted.as_ref().map(|found| &*found.movement.revision.0), Some("v20"));
    }
}

#[test]
fn reverted_values_leave_all_places_at_once() {
    let mut world = half_way();
    values(&mut world, 1);
    assert_eq!(turn(&mut world), "2121|10101010");
    (world.ahead, world.desired) = (None, Some(revision(20)));
    let report = world.step();
    world.publish();
    assert_eq!((report.phase, world.versions().as_str()), (ReportPhase::RollingBack, "2020|10101010"));
}

#[test]
fn abort_stops_values_and_commit_and_keeps_the_places() {
    let mut world = half_way();
    values(&mut world, 1);
    assert_eq!(turn(&mut world), "2121|10101010");
    let (kind, by, reason) = (CommandKind::Abort, "bob".into(), "because".into());
    world.state = apply_to_rollout(&world.state, &Command { kind, by, at: world.now, reason }).unwrap();
    assert!(world.state.interrupted.is_none());
    assert!([20, 21].iter().all(|version| world.state.is_rejected(&revision(*version))));
    world.ahead = None;
    world.settle();
    assert_eq!(world.versions(), "2121|10101010");
}

#[test]
fn values_move_alone_after_a_commit_was_rejected() {
    let mut world = half_way();
    world.promotion.on_failure = OnFailure::RollBackEnvironment;
    world.hosts[0] = Host::Fails(20);
    world.settle();
    assert_eq!(world.versions(), "1010|10101010");
    values(&mut world, 1);
    // The sources give 21, which has the rejected commit.
    (world.desired, world.ahead) = (Some(revision(20)), Some((revision(11), None)));
    let report = world.settle();
    assert_eq!((world.versions().as_str(), world.stable().as_str()), ("1111|11111111", "v11"));
    assert!(report.waiting.iter().any(|waiting| &*waiting.what == "rejected"), "{report:?}");
}

#[test]
fn values_that_move_alone_end_if_they_cannot_be_rendered() {
    let mut world = half_way();
    world.promotion.on_failure = OnFailure::RollBackEnvironment;
    world.hosts[0] = Host::Fails(20);
    world.settle();
    values(&mut world, 1);
    (world.desired, world.ahead) = (Some(revision(20)), Some((revision(11), None)));
    assert_eq!(turn(&mut world), "1111|10101010");
    // Another version renders the newest values, which can't go ahead of what some places have.
    (world.is_lost, world.ahead) = (true, None);
    let report = world.step();
    assert_eq!((world.state.current.as_ref(), world.versions().as_str()), (None, "1111|10101010"));
    assert_eq!(report.waiting[0].answer, Some(Answer::Retry), "{report:?}");
    (world.is_lost, world.hosts[0]) = (false, Host::Healthy);
    let (kind, by, reason) = (CommandKind::Retry, "bob".into(), "".into());
    world.state = apply_to_rollout(&world.state, &Command { kind, by, at: world.now, reason }).unwrap();
    world.settle();
    assert_eq!(world.stable(), "v20");
}

#[test]
fn stop_of_the_values_is_named_in_its_reason() {
    let mut world = half_way();
    world.hosts[0] = Host::Fails(20);
    let stopped =
        |report: &MoveReport| report.waiting.iter().find(|waiting| &*waiting.what == "stopped").cloned().unwrap();
    let commit = stopped(&world.settle());
    values(&mut world, 1);
    let values = stopped(&world.settle());
    assert!(world.state.interrupted.is_some());
    assert_eq!(values.text, format!("the newest values: {}", commit.text).into());
}

#[test]
fn values_pass_a_commit_that_stopped_again_and_again() {
    let mut world = half_way();
    world.promotion.on_failure = OnFailure::RollBackRing;
    world.hosts[0] = Host::Fails(20);
    assert_eq!(world.settle().phase, ReportPhase::Stopped);
    for number in 1..=3 {
        values(&mut world, number);
        assert_eq!(world.settle().phase, ReportPhase::Stopped);
        assert_eq!(world.versions(), format!("1{number}1{number}|1{number}1{number}1{number}1{number}"));
    }
}

#[test]
fn failure_seen_with_new_values_restarts_the_pause_of_the_commit() {
    let good_since = |host: Host| {
        let mut world = half_way();
        world.promotion.rings[0].pause = std::time::Duration::from_hours(1);
        world.step();
        world.wait(50);
        world.hosts[0] = host;
        values(&mut world, 1);
        world.step();
        world.state.interrupted.unwrap().movement.good_since
    };
    assert_eq!([Host::Healthy, Host::Fails(20)].map(|host| good_since(host).is_some()), [true, false]);
}
