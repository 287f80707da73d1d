//! Examples of rollbacks: to which revision a workload returns, and when it moves again.

use model::object::promotion::OnFailure;

use super::world::{Host, World};
use super::{command, two_rings};
use crate::promotion::answer::Answer;
use crate::promotion::command::{Command, CommandKind, CommandRefusal, apply_to_rollout};
use crate::promotion::report::{ReportPhase, Waiting};
use crate::promotion::state::{MoveStage, Revision};
use crate::promotion::vector::Part;

/// Versions 1 to 3 were proved, one after another.
fn three_versions() -> World {
    let mut world = two_rings();
    for version in [2, 3] {
        world.wait(60);
        world.change(version);
        world.settle();
    }
    assert_eq!((world.versions().as_str(), world.stable().as_str()), ("33|3333", "v3"));
    world
}

fn roll_back(world: &mut World, to: Option<&str>) {
    roll_back_with(world, to, false);
}

fn roll_back_with(world: &mut World, to: Option<&str>, with_values: bool) {
    command(world, CommandKind::Rollback { to: to.map(revision), with_values });
}

fn revision(name: &str) -> Revision {
    Revision(name.into())
}

fn check(world: &mut World, expected: (&str, &str)) {
    world.settle();
    assert_eq!((world.versions().as_str(), world.stable().as_str()), expected);
}

#[test]
fn a_proved_revision_returns_to_the_one_before_until_a_retry() {
    let mut world = three_versions();
    roll_back(&mut world, None);
    check(&mut world, ("22|2222", "v2"));
    world.change(4);
    let report = world.settle();
    assert_eq!((world.stable().as_str(), world.state.waiting.len()), ("v2", 1));
    let Waiting { text, answer, .. } = &report.waiting[0];
    let expected = "rolled back by bob: because; nothing newer moves until a person allows it";
    assert_eq!((report.phase, &**text, *answer), (ReportPhase::Rest, expected, Some(Answer::Retry)));
    roll_back(&mut world, None);
    check(&mut world, ("11|1111", "v1"));
    command(&mut world, CommandKind::Retry);
    check(&mut world, ("44|4444", "v4"));
    world.change(3);
    check(&mut world, ("44|4444", "v4"));
    command(&mut world, CommandKind::Retry);
    check(&mut world, ("33|3333", "v3"));
}

#[test]
fn a_rollback_leads_to_any_revision_that_was_proved() {
    let mut world = three_versions();
    world.change(4);
    world.step();
    world.step();
    world.publish();
    roll_back(&mut world, Some("v1"));
    check(&mut world, ("11|1111", "v1"));
    roll_back(&mut world, Some("v3"));
    check(&mut world, ("33|3333", "v3"));
}

#[test]
fn a_hold_does_not_stop_a_rollback() {
    let mut world = three_versions();
    command(&mut world, CommandKind::Hold);
    roll_back(&mut world, None);
    check(&mut world, ("22|2222", "v2"));
    let mut world = two_rings();
    world.promotion.on_failure = OnFailure::RollBackEnvironment;
    world.change(2);
    world.step();
    world.step();
    world.publish();
    command(&mut world, CommandKind::Hold);
    world.hosts[0] = Host::Fails(2);
    check(&mut world, ("11|1111", "v1"));
}

#[test]
fn the_history_is_bounded() {
    let mut world = two_rings();
    for version in 2..80 {
        world.wait(60);
        world.change(version);
        world.step();
        world.step();
        world.publish();
        if version % 2 == 0 {
            command(&mut world, CommandKind::Abort);
        }
        world.settle();
    }
    assert_eq!(world.stable(), "v79");
    assert_eq!((world.state.earlier.len(), world.state.rejected.len()), (20, 39));
    assert!(world.state.earlier.iter().all(|earlier| *earlier.revision.0 != *"v1"));
    roll_back(&mut world, None);
    world.settle();
    assert_eq!(world.stable(), "v77");
}

/// Versions 10 and 21 were proved: the last digit is the number of the values.
fn with_values() -> World {
    let mut world = two_rings();
    for version in [10, 21] {
        world.wait(60);
        world.change(version);
        world.settle();
    }
    world.events.clear();
    world
}

#[test]
fn rollback_keeps_the_values_by_default() {
    let mut world = with_values();
    // 11 is the commit of 10 with the present values.
    world.change(11);
    world.change(21);
    world.back = Some(revision("v11"));
    roll_back(&mut world, None);
    assert_eq!(world.state.rolled_back.as_ref().unwrap().target.as_ref().unwrap().revision, revision("v10"));
    check(&mut world, ("1111|11111111", "v11"));
    assert_eq!(world.state.rejected.last().map(|found| found.part), Some(Part::Platform));
    let mut exact = with_values();
    exact.back = Some(revision("v11"));
    roll_back_with(&mut exact, None, true);
    check(&mut exact, ("1010|10101010", "v10"));
    assert_eq!(exact.state.rejected.last().map(|found| found.part), Some(Part::Both));
}

#[test]
fn values_move_after_a_rollback_that_kept_them() {
    for (with_values, expected) in [(false, "1212|12121212"), (true, "1010|10101010")] {
        let mut world = with_values_and(with_values);
        for version in [12, 22] {
            world.change(version);
        }
        world.part = Part::Both;
        world.ahead = Some((revision("v12"), None));
        world.settle();
        assert_eq!(world.versions(), expected, "{with_values}");
        // The commit waits for a person.
        assert!(world.state.rolled_back.is_some());
        command(&mut world, CommandKind::Retry);
        world.ahead = None;
        world.settle();
        assert_eq!(world.versions(), "2222|22222222", "{with_values}");
    }
}

fn with_values_and(with_values: bool) -> World {
    let mut world = self::with_values();
    roll_back_with(&mut world, None, with_values);
    check(&mut world, ("1010|10101010", "v10"));
    world
}

#[test]
fn places_keep_their_content_until_a_rollback_is_rendered() {
    let mut world = with_values();
    command(&mut world, CommandKind::Hold);
    let before = world.versions();
    roll_back(&mut world, Some("v10"));
    let state = world.state.clone();
    world.is_rendered = false;
    let report = world.settle();
    assert_eq!((&world.state, world.versions()), (&state, before));
    let waiting = report.waiting.iter().find(|waiting| &*waiting.what == "rollback").unwrap();
    assert!(
        waiting.text.starts_with("the rollback to `v10` with the present values has not begun"),
        "{}",
        waiting.text
    );
    // Nobody begins another one, and a retry takes it back.
    for kind in [CommandKind::Abort, CommandKind::Rollback { to: None, with_values: true }] {
        let command = Command { kind, by: "bob".into(), at: world.now, reason: "x".into() };
        assert_eq!(apply_to_rollout(&world.state, &command), Err(CommandRefusal::RollsBack));
    }
    command(&mut world, CommandKind::Retry);
    assert_eq!(world.state.rolled_back, None);
    // A hold does not stop a rollback.
    roll_back(&mut world, Some("v10"));
    world.is_rendered = true;
    check(&mut world, ("1010|10101010", "v10"));
}

#[test]
fn a_return_to_another_proved_revision_ends_when_the_places_have_it() {
    let mut world = two_rings();
    let in_first_ring = |version| vec![version, version, 1, 1, 1, 1];
    for version in [2, 3] {
        world.wait(60);
        world.change_to(version, in_first_ring(version));
        world.settle();
    }
    world.promotion.on_failure = OnFailure::RollBackRing;
    world.hosts[0] = Host::Fails(4);
    world.change_to(4, in_first_ring(4));
    world.settle();
    assert_eq!((world.versions().as_str(), world.stable().as_str()), ("33|1111", "v3"));
    // The ring returned to version 3. What its places show then is nothing about version 2.
    world.change_to(2, in_first_ring(2));
    world.step();
    assert!(world.state.current.is_some(), "{:?}", world.state);
    check(&mut world, ("22|1111", "v2"));
}

#[test]
fn rollback_stops_if_its_target_cannot_be_rendered() {
    let mut world = three_versions();
    world.change(4);
    world.step();
    world.step();
    world.publish();
    roll_back(&mut world, None);
    world.step();
    assert!(matches!(world.state.current.as_ref().unwrap().phase, MoveStage::RollingBack { .. }), "{:?}", world.state);
    world.publish();
    assert_eq!(world.versions(), "33|3333");
    world.is_lost = true;
    let report = world.step();
    world.publish();
    assert_eq!(world.versions(), "33|3333");
    let reason = "rollback by bob: because; what it returns to can't be rendered any more";
    let is_told = |waiting: &Waiting| *waiting.text == *reason && waiting.answer == Some(Answer::Retry);
    assert!(report.waiting.iter().any(is_told), "{report:?}");
    // It does not go on by itself.
    world.is_lost = false;
    world.settle();
    assert!(matches!(world.state.current.as_ref().unwrap().phase, MoveStage::Stopped { .. }), "{:?}", world.state);
    command(&mut world, CommandKind::Retry);
    check(&mut world, ("44|4444", "v4"));
}

#[test]
fn failed_move_without_a_rollback_waits_for_a_retry() {
    let mut world = three_versions();
    world.promotion.on_failure = OnFailure::RollBackEnvironment;
    world.change(4);
    world.step();
    world.step();
    world.publish();
    world.hosts[0] = Host::Fails(4);
    world.step();
    assert!(matches!(world.state.current.as_ref().unwrap().phase, MoveStage::RollingBack { .. }), "{:?}", world.state);
    world.is_lost = true;
    world.step();
    world.is_lost = false;
    let report = world.settle();
    assert_eq!((report.phase, world.versions().as_str()), (ReportPhase::Stopped, "44|3333"));
    assert_eq!(report.waiting[0].answer, Some(Answer::Retry), "{report:?}");
}

#[test]
fn retry_of_a_proved_revision_passes_all_rings_again() {
    let mut world = three_versions();
    // The environment could not prove it, and its sources have the version before again.
    world.change(2);
    world.step();
    assert!(matches!(world.state.current.as_ref().unwrap().phase, MoveStage::RollingBack { .. }), "{:?}", world.state);
    world.publish();
    assert_eq!(world.versions(), "22|2222");
    command(&mut world, CommandKind::Retry);
    world.change(3);
    world.step();
    world.step();
    world.publish();
    assert_eq!(world.versions(), "33|2222");
    check(&mut world, ("33|3333", "v3"));
}

#[test]
fn values_after_a_rollback_end_if_they_cannot_be_rendered() {
    let mut world = with_values();
    world.change(11);
    world.change(21);
    world.back = Some(revision("v11"));
    roll_back(&mut world, None);
    world.settle();
    world.change(22);
    world.change(12);
    world.ahead = Some((revision("v12"), None));
    world.change(22);
    world.step();
    assert_eq!(world.state.present(), Some(&revision("v12")), "{:?}", world.state);
    (world.is_lost, world.ahead) = (true, None);
    let report = world.step();
    assert_eq!((world.state.current.as_ref(), report.phase), (None, ReportPhase::Rest));
    assert_eq!(report.waiting[0].answer, Some(Answer::Retry), "{report:?}");
    world.is_lost = false;
    command(&mut world, CommandKind::Retry);
    world.settle();
    assert_eq!(world.stable(), "v22");
}

#[test]
fn revert_of_an_unrenderable_revision_returns_at_once() {
    let mut world = two_rings();
    world.change(2);
    world.step();
    world.step();
    world.publish();
    assert_eq!(world.versions(), "22|1111");
    (world.is_lost, world.desired) = (true, Some(revision("v1")));
    let report = world.step();
    assert_eq!(report.phase, ReportPhase::RollingBack);
    assert!(!world.kinds().contains("stopped"), "{:?}", world.events);
    world.is_lost = false;
    world.settle();
    assert_eq!((world.versions().as_str(), world.stable().as_str()), ("11|1111", "v1"));
}
