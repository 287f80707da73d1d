//! Examples of the entry into a ring: gates before its first place, windows before each place, and canaries before the others.

use std::collections::BTreeSet;

use model::object::promotion::{Amount, Gate, GateKind, Ring, Window};

use super::world::{Host, World, ring};
use super::{command, limited};
use crate::promotion::command::CommandKind;
use crate::promotion::report::{MoveReport, ReportPhase};

/// A window from 09:00 until 10:05. Worlds begin at 10:00 UTC.
fn window(zone: Option<&str>, zone_label: Option<&str>) -> Gate {
    let time = |text: &str| text.parse().unwrap();
    let kind = GateKind::Window(Window {
        zone: zone.map(Into::into),
        zone_label: zone_label.map(Into::into),
        days: Vec::new(),
        from: time("09:00"),
        until: time("10:05"),
        except: BTreeSet::new(),
    });
    Gate::new("night".into(), kind)
}

fn first_reason(report: &MoveReport) -> String {
    report.waiting.first().map(|first| format!("{}: {}", first.what, first.text)).unwrap_or_default()
}

#[test]
fn gates_to_enter_hold_before_the_first_place() {
    let rest = Ring { enter: vec![Gate::new("people".into(), GateKind::Manual)], ..ring("rest") };
    let mut world = World::new(vec![ring("canary"), Ring { enter: Vec::new(), ..rest.clone() }], &[2, 4]);
    world.promotion.rings[1] = rest;
    world.change(2);
    let report = world.settle();
    assert_eq!(world.versions(), "22|1111");
    assert_eq!(first_reason(&report), "people: a person must let the change through");
    command(&mut world, CommandKind::Skip { gate: "people".into() });
    world.settle();
    assert_eq!(world.stable(), "v2");
}

#[test]
fn a_window_binds_each_place_and_not_only_the_first() {
    let all = limited(ring("all"), Amount::Count(1));
    let mut world = World::new(vec![all.clone()], &[9]);
    world.promotion.rings = vec![Ring { enter: vec![window(Some("UTC"), None)], ..all }];
    world.change(2);
    let report = world.settle();
    let released = world.published.iter().filter(|version| **version == 2).count();
    assert!((1..9).contains(&released), "{released}");
    assert_eq!(first_reason(&report), "night: the window opens on Tue 2026-03-03 09:00 (UTC)");
    // A person passes the window.
    command(&mut world, CommandKind::Skip { gate: "night".into() });
    world.settle();
    assert_eq!(world.stable(), "v2");
}

#[test]
fn each_place_has_its_window_in_its_own_time_zone() {
    let mut world = World::new(vec![ring("all")], &[4]);
    world.sites = ["UTC", "Europe.London", "Asia/Tokyo", "unknown"].map(Into::into).to_vec();
    world.promotion.rings = vec![Ring { enter: vec![window(Some("America/New_York"), Some("zone"))], ..ring("all") }];
    world.change(2);
    let report = world.settle();
    assert_eq!(world.versions(), "2211");
    // A place without a known zone has the default one: 09:00 in New York is 14:00 UTC.
    assert_eq!(first_reason(&report), "night: the window opens on Mon 2026-03-02 09:00 (America/New_York)");
    world.wait(4 * 60);
    world.settle();
    assert_eq!(world.versions(), "2212");
    // 09:00 in Tokyo is midnight UTC.
    world.wait(10 * 60);
    world.settle();
    assert_eq!(world.stable(), "v2");
}

#[test]
fn canaries_of_a_ring_are_compliant_before_the_others_begin() {
    let mut world = World::new(vec![Ring { canary: Some(2), failures: Amount::Count(1), ..ring("all") }], &[6]);
    let order = {
        let mut places: Vec<_> = (0..6).collect();
        places.sort_by_key(|place| world.hash[*place]);
        places
    };
    world.hosts[order[0]] = Host::Silent;
    world.change(2);
    let report = world.settle();
    assert_eq!(world.published.iter().filter(|version| **version == 2).count(), 2);
    let text = "canary: 1 of 2 reconcilers applied the change, 100% are needed, 1 are silent";
    assert!(report.waiting.iter().any(|waiting| format!("{}: {}", waiting.what, waiting.text) == text), "{report:?}");
    world.hosts[order[0]] = Host::Healthy;
    world.settle();
    assert_eq!(world.stable(), "v2");
}

#[test]
fn new_places_wait_for_their_publication_while_the_fleet_is_not_known() {
    let mut world = World::new(vec![ring("all")], &[4]);
    world.change_to(2, vec![1, 1, 1, 2]);
    world.is_only_new = true;
    world.step();
    world.hub_error = Some("the hub is down".into());
    world.step();
    assert_eq!((world.versions().as_str(), world.stable().as_str()), ("1111", "v1"));
    world.hub_error = None;
    world.settle();
    assert_eq!(world.stable(), "v2");
}

#[test]
fn new_places_do_not_wait_for_the_gates_of_their_ring() {
    let mut world = World::new(vec![ring("all")], &[4]);
    world.promotion.rings = vec![Ring { enter: vec![Gate::new("people".into(), GateKind::Manual)], ..ring("all") }];
    world.change_to(2, vec![1, 1, 1, 2]);
    let report = world.settle();
    assert_eq!((world.versions().as_str(), report.phase), ("1111", ReportPhase::Moving));
    world.is_only_new = true;
    world.settle();
    assert_eq!(world.stable(), "v2");
}
