//! Examples of rollbacks: to which revision a workload returns, and when it moves again.

use model::object::promotion::OnFailure;

use super::world::{Host, World};
use super::{command, two_rings};
use crate::promotion::command::CommandKind;
use crate::promotion::report::ReportPhase;
use crate::promotion::state::Revision;

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
    command(world, CommandKind::Rollback { to: to.map(|to| Revision(to.into())) });
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
    let text = "rolled back by bob: because; the newest revision moves again with `kalypso retry`";
    assert_eq!((report.phase, &*report.waiting[0].text), (ReportPhase::Rest, text));
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
