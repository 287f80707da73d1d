//! Examples of each rule of rollouts.

mod world;

use model::object::promotion::{Amount, Ring};

use self::world::{Host, World, ring};
use crate::promotion::report::ReportPhase;

fn two_rings() -> World {
    World::new(vec![ring("canary"), ring("rest")], &[2, 4])
}

fn limited(ring: Ring, at_once: Amount) -> Ring {
    Ring { at_once: Some(at_once), ..ring }
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
    assert_eq!(
        (world.kinds().as_str(), world.versions().as_str()),
        ("ringDone ringStarted released waiting", "22|2222")
    );
    let report = world.step();
    assert_eq!((world.kinds().as_str(), world.stable().as_str()), ("ringDone completed", "v2"));
    assert_eq!((report.phase, report.waiting), (ReportPhase::Rest, Vec::new()));
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
fn a_place_that_does_not_succeed_counts_as_changing() {
    let mut world =
        World::new(vec![Ring { failures: Amount::Count(1), ..limited(ring("all"), Amount::Count(2)) }], &[5]);
    (world.hosts[0], world.hosts[4]) = (Host::Fails(2), Host::Silent);
    world.change(2);
    let report = world.settle();
    let text = "3 of 5 changed places of the ring `all` are released; at once, at most 2 of the ring may change";
    assert!(world.published.iter().any(|version| *version == 1), "{}", world.versions());
    assert_eq!(report.waiting[0].what, "limits".into());
    assert_eq!(&*report.waiting[0].text, text);
}
