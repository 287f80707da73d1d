//! Revisions that can't be rendered everywhere.

use super::world::{World, ring};
use super::{command, two_rings};
use crate::promotion::command::CommandKind;
use crate::promotion::report::ReportPhase;

/// The second version can't be rendered in the first ring, so its folders stay as they are.
fn unrendered() -> World {
    let mut world = two_rings();
    world.change_to(2, vec![1, 1, 2, 2, 2, 2]);
    world.failing = vec![true, true, false, false, false, false];
    let report = world.settle();
    assert_eq!((world.versions().as_str(), report.phase), ("11|1111", ReportPhase::Moving));
    let text = "2 places of the ring can't be rendered, so nothing proves the revision there";
    assert_eq!((&*report.waiting[0].what, &*report.waiting[0].text), ("rendered", text));
    world
}

#[test]
fn a_ring_where_nothing_can_be_rendered_proves_nothing() {
    let mut world = unrendered();
    let before = world.state.clone();
    world.settle();
    assert_eq!(world.state, before);
    // The repair is a newer revision: it does not wait for the broken one.
    world.failing.clear();
    world.change(3);
    assert_eq!(world.settle().phase, ReportPhase::Rest);
    assert_eq!((world.versions().as_str(), world.stable().as_str()), ("33|3333", "v3"));
}

#[test]
fn a_person_lets_a_revision_through_that_cannot_be_rendered_in_a_ring() {
    let mut world = unrendered();
    command(&mut world, CommandKind::Skip { gate: "rendered".into() });
    assert_eq!(world.settle().phase, ReportPhase::Rest);
    assert_eq!((world.versions().as_str(), world.stable().as_str()), ("11|2222", "v2"));
}

#[test]
fn a_place_that_can_be_rendered_proves_the_revision_for_its_ring() {
    let mut world = World::new(vec![ring("canary"), ring("rest")], &[2, 1]);
    world.change_to(2, vec![1, 2, 2]);
    world.failing = vec![true, false, false];
    assert_eq!(world.settle().phase, ReportPhase::Rest);
    assert_eq!(world.stable(), "v2");
}
