//! Examples of newer revisions: what happens to them, and to the one that moves.

use model::object::promotion::Newer;

use super::two_rings;
use super::world::Host;
use crate::promotion::state::Revision;

/// Begins to move version 2, then 3 and 4, and returns the versions that became stable.
fn stable_versions(newer: Newer) -> String {
    let mut world = two_rings();
    world.promotion.newer = newer;
    for version in 2..5 {
        world.change(version);
        world.step();
        world.publish();
    }
    let mut stable = vec![world.stable()];
    for _ in 0..20 {
        world.step();
        world.publish();
        stable.push(world.stable());
    }
    stable.dedup();
    stable.join(" ")
}

#[test]
fn newer_revisions_wait_queue_or_replace_the_current_one() {
    assert_eq!(stable_versions(Newer::Wait), "v1 v2 v4");
    assert_eq!(stable_versions(Newer::Queue), "v1 v2 v3 v4");
    assert_eq!(stable_versions(Newer::Supersede), "v1 v4");
}

#[test]
fn newer_revision_starts_at_the_first_ring_and_keeps_published_content() {
    let mut world = two_rings();
    world.promotion.newer = Newer::Supersede;
    world.change(2);
    world.step();
    world.step();
    world.publish();
    world.step();
    world.publish();
    assert_eq!(world.versions(), "22|2222");
    world.change(3);
    world.step();
    world.step();
    world.publish();
    assert_eq!(world.versions(), "33|2222");
}

#[test]
fn sources_that_return_to_the_stable_revision_move_like_a_newer_one() {
    let mut world = two_rings();
    world.promotion.newer = Newer::Supersede;
    world.change(2);
    world.step();
    world.step();
    world.publish();
    world.change(1);
    world.settle();
    assert_eq!((world.versions().as_str(), world.stable().as_str()), ("11|1111", "v1"));
}

#[test]
fn a_stopped_move_gives_way_to_a_newer_revision_under_each_policy() {
    for newer in [Newer::Wait, Newer::Queue, Newer::Supersede] {
        let mut world = two_rings();
        world.promotion.newer = newer;
        world.hosts[0] = Host::Fails(2);
        world.change(2);
        world.settle();
        world.hosts[0] = Host::Healthy;
        world.change(3);
        world.settle();
        assert_eq!(world.stable(), "v3");
    }
}

#[test]
fn lost_revision_is_replaced_by_the_next_in_the_queue() {
    let mut world = two_rings();
    world.promotion.newer = Newer::Queue;
    for version in 2..5 {
        world.change(version);
        world.step();
    }
    world.is_lost = true;
    world.step();
    assert_eq!((world.state.present(), world.state.waiting.len()), (Some(&Revision("v3".into())), 1));
}

#[test]
fn queue_does_not_start_while_the_places_are_kept() {
    let mut world = two_rings();
    world.promotion.newer = Newer::Queue;
    world.change(2);
    world.step();
    world.change(3);
    world.step();
    assert_eq!(world.state.waiting, [Revision("v3".into())]);
    // Another version of the program that renders is installed, and waits for its gates.
    (world.is_lost, world.is_kept, world.desired) = (true, true, Some(Revision("v2".into())));
    world.events.clear();
    world.step();
    assert_eq!((world.state.present(), world.state.waiting.len()), (Some(&Revision("v2".into())), 1));
    assert!(!world.kinds().contains("started"), "{:?}", world.events);
    (world.is_lost, world.is_kept, world.desired) = (false, false, Some(Revision("v3".into())));
    world.settle();
    assert_eq!(world.stable(), "v3");
}

#[test]
fn unrenderable_revision_is_replaced_by_a_newer_one() {
    let mut world = two_rings();
    world.change(2);
    world.step();
    world.step();
    world.publish();
    world.is_lost = true;
    world.step();
    assert_eq!(world.versions(), "22|1111");
    world.change(3);
    world.step();
    world.is_lost = false;
    world.settle();
    assert_eq!(world.stable(), "v3");
}
