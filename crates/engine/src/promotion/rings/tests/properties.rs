//! Properties that hold for each rollout, whatever happens to its fleet.

use model::object::promotion::{Amount, DomainLimit, Newer, OnFailure, Ring};
use proptest::prelude::*;

use super::world::{Host, World, ring};
use crate::promotion::command::{Command, CommandKind, apply_to_rollout};
use crate::promotion::report::MoveReport;
use crate::promotion::rings::rows::Contents;
use crate::promotion::state::{Content, GateRecord, MoveStage};

/// Something that happens to a fleet.
#[derive(Clone, Debug)]
enum Happening {
    Publish,
    Wait(i64),
    Host(usize, Host),
    Change(u32),
    NoHub(bool),
    Sources(bool),
    Command(CommandKind),
}

fn happening() -> impl Strategy<Value = Happening> {
    let host = prop_oneof![
        3 => Just(Host::Healthy),
        1 => (2..6_u32).prop_map(Host::Fails),
        1 => Just(Host::Silent),
        1 => Just(Host::Missing)
    ];
    let command = prop_oneof![
        Just(CommandKind::Hold),
        Just(CommandKind::Resume),
        Just(CommandKind::Abort),
        Just(CommandKind::Retry),
        any::<bool>().prop_map(|with_values| CommandKind::Rollback { to: None, with_values }),
        Just(CommandKind::Skip { gate: "compliant".into() }),
    ];
    prop_oneof![
        6 => Just(Happening::Publish),
        2 => (-30..120_i64).prop_map(Happening::Wait),
        2 => (0..12_usize, host).prop_map(|(place, host)| Happening::Host(place, host)),
        1 => (1..6_u32).prop_map(Happening::Change),
        1 => any::<bool>().prop_map(Happening::NoHub),
        1 => any::<bool>().prop_map(Happening::Sources),
        1 => command.prop_map(Happening::Command),
    ]
}

fn any_ring() -> impl Strategy<Value = Ring> {
    let amount = || proptest::option::of((1..4_u32).prop_map(Amount::Count));
    let per = proptest::option::of(1..3_u32);
    (amount(), per, 0..2_u32, 0..2_u64).prop_map(|(at_once, per, failures, hours)| Ring {
        at_once,
        per: per.map(|at_once| DomainLimit { label: "site".into(), at_once }).into_iter().collect(),
        failures: Amount::Count(failures),
        pause: std::time::Duration::from_hours(hours),
        ..ring("ring")
    })
}

fn any_world() -> impl Strategy<Value = (Vec<Ring>, Newer, OnFailure)> {
    let newer = prop_oneof![Just(Newer::Wait), Just(Newer::Queue), Just(Newer::Supersede)];
    let on_failure =
        prop_oneof![Just(OnFailure::Stop), Just(OnFailure::RollBackRing), Just(OnFailure::RollBackEnvironment)];
    (proptest::collection::vec(any_ring(), 3), newer, on_failure)
}

fn world((rings, newer, on_failure): (Vec<Ring>, Newer, OnFailure)) -> World {
    let mut world = World::new(rings, &[3, 4, 5]);
    (world.promotion.newer, world.promotion.on_failure) = (newer, on_failure);
    world.change(2);
    world
}

fn happen(world: &mut World, happening: &Happening) {
    match happening {
        Happening::Publish => world.publish(),
        Happening::Wait(minutes) => world.wait(*minutes),
        Happening::Host(place, host) => world.hosts[*place] = *host,
        // Half of the places of the even versions stay as they were.
        Happening::Change(version) => {
            let of = |place: usize| if version % 2 == 0 && place.is_multiple_of(2) { 1 } else { *version };
            world.change_to(*version, (0..world.hosts.len()).map(of).collect());
        }
        Happening::NoHub(is_down) => world.hub_error = is_down.then(|| "no answer".into()),
        Happening::Sources(have_errors) if *have_errors => world.desired = None,
        Happening::Sources(_) => {}
        Happening::Command(kind) => {
            let command = Command { kind: kind.clone(), by: "bob".into(), at: world.now, reason: "why".into() };
            if let Ok(state) = apply_to_rollout(&world.state, &command) {
                world.state = state;
            }
        }
    }
}

fn contents(world: &World) -> Vec<Content> {
    (0..world.hosts.len()).map(|place| world.content(place)).collect()
}

/// The number of places of the moving ring that change now, and the largest number at any site.
fn changing(world: &World, is_new: impl Fn(usize) -> bool) -> (u32, u32) {
    let Some(current) = &world.state.current else { return (0, 0) };
    let is_changing = |place: &usize| {
        usize::from(world.ring[*place]) == current.ring
            && world.content(*place) == Content::Moving
            && world.changes(*place)
            && (is_new(*place) || !world.has_succeeded(*place))
    };
    let places: Vec<_> = (0..world.hosts.len()).filter(is_changing).collect();
    let at = |site| places.iter().filter(|place| **place % 3 == site).count();
    (places.len() as u32, (0..3).map(at).max().unwrap_or_default() as u32)
}

/// Steps, and checks what must hold between the state before and after.
fn step(world: &mut World) -> MoveReport {
    let (before, old) = (contents(world), world.state.clone());
    let over_budget = world.failed() > world.budget();
    let (in_flight, in_site) = changing(world, |_| false);
    let report = world.step();
    let after = contents(world);
    assert!(!report.waiting.is_empty() || world.state.current.is_none(), "it moves, but waits for nothing");
    let (Some(old), Some(new)) = (&old.current, &world.state.current) else { return report };
    if (&old.revision, &old.base) != (&new.revision, &new.base) || !matches!(new.phase, MoveStage::Moving) {
        return report;
    }
    let is_released = |place: usize| before[place] != Content::Moving && after[place] == Content::Moving;
    let released: Vec<_> = (0..after.len()).filter(|place| is_released(*place) && world.changes(*place)).collect();
    for place in 0..after.len() {
        assert!(
            before[place] != Content::Moving || after[place] == Content::Moving,
            "a place is not released any more"
        );
    }
    if !released.is_empty() {
        assert!(!over_budget && world.hub_error.is_none() && world.state.hold.is_none(), "it is released after a stop");
        let ring = &world.promotion.rings[new.ring];
        let (total, site) = changing(world, is_released);
        let (total_before, site_before) = if old.ring == new.ring { (in_flight, in_site) } else { (0, 0) };
        let is_within = |limit: Option<u32>, now, before: u32| limit.is_none_or(|limit| now <= limit.max(before));
        let at_once = ring.at_once.map(|amount| amount.limit(0) as u32);
        assert!(is_within(at_once, total, total_before), "more change at once than the limit");
        assert!(is_within(ring.per.first().map(|limit| limit.at_once), site, site_before), "too many at a site");
    }
    for record in new.done.iter().skip(old.done.len()).filter(|record| record.measured.is_some()) {
        assert!(record.gates.iter().all(GateRecord::holds), "a ring is done too early");
    }
    report
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn limits_budgets_and_gates_hold_whatever_happens(
        start in any_world(),
        happenings in proptest::collection::vec(happening(), 1..80),
    ) {
        let mut world = world(start);
        for happening in &happenings {
            happen(&mut world, happening);
            let (before, old) = (world.state.clone(), contents(&world));
            step(&mut world);
            if before.difference() != world.state.difference() || contents(&world) != old {
                // The places that the move changes, and what reports about their new contents say, are known only now.
                continue;
            }
            let again = world.dry_step();
            prop_assert_eq!(&again.state, &world.state, "a further step changes the state");
            prop_assert!(again.events.is_empty(), "a further step has events: {:?}", again.events);
        }
    }

    #[test]
    fn a_healthy_fleet_always_comes_to_rest(
        start in any_world(),
        happenings in proptest::collection::vec(happening(), 1..60),
    ) {
        let mut world = world(start);
        for happening in &happenings {
            happen(&mut world, happening);
            step(&mut world);
        }
        world.hosts.fill(Host::Healthy);
        // People let it go on.
        (world.hub_error, world.state.hold, world.state.rolled_back) = (None, None, None);
        world.change(7);
        for _ in 0..40 {
            world.settle();
            world.wait(61);
        }
        prop_assert_eq!(world.stable(), "v7");
        prop_assert!(world.published.iter().all(|version| *version == 7));
    }

    #[test]
    fn a_new_place_changes_the_content_of_no_other(
        start in any_world(),
        happenings in proptest::collection::vec(happening(), 1..40),
        (ring, hash) in (0..3_u16, any::<u64>()),
    ) {
        let mut world = world(start);
        for happening in &happenings {
            happen(&mut world, happening);
            step(&mut world);
        }
        let before = contents(&world);
        world.add_place(ring, hash);
        prop_assert_eq!(&contents(&world)[..before.len()], &before[..]);
        if !matches!(world.state.current.as_ref().map(|current| &current.phase), Some(MoveStage::Moving)) {
            return Ok(());
        }
        let before_step = world.state.clone();
        world.desired = before_step.current.as_ref().map(|current| current.revision.clone());
        step(&mut world);
        let is_same = world.state.difference() == before_step.difference();
        let is_moving = |content: &Content| *content == Content::Moving;
        let after = contents(&world);
        let kept = before.iter().zip(&after).all(|(before, after)| !is_moving(before) || is_moving(after));
        prop_assert!(!is_same || kept || !matches!(world.state.current.unwrap().phase, MoveStage::Moving));
    }

    #[test]
    fn the_columns_have_the_contents_of_the_state(
        start in any_world(),
        happenings in proptest::collection::vec(happening(), 1..40),
    ) {
        let mut world = world(start);
        for happening in &happenings {
            happen(&mut world, happening);
            step(&mut world);
        }
        for place in 0..world.hosts.len() {
            let domains = [world.domain(place).into()];
            let columns = Contents::new(&world.state, &domains);
            let content = columns.content(world.ring[place].into(), 0, world.hash[place]);
            prop_assert_eq!(content, world.content(place));
        }
    }
}
