//! An environment before whose own move has stopped.

use std::time::Duration;

use jiff::SignedDuration;
use model::object::promotion::{Gate, GateKind};

use super::world::{World, fleet, revision};
use crate::promotion::advance::FromEnvironment;
use crate::promotion::command::CommandKind;
use crate::promotion::evidence::Measured;
use crate::promotion::state::AdvanceState;

#[test]
fn stopped_environment_blocks_moves_until_it_proves_the_revision() {
    let mut stage = World::new(&["dev"]);
    stage.has(2);
    stage.measured = fleet(1);
    stage.settle();
    let before = |stage: &World| FromEnvironment {
        measured: Ok(fleet(0)),
        ..FromEnvironment::new("stage".into(), (stage.at.clone(), Ok(())), Some(&stage.state))
    };
    let mut prod = World::new(&["stage"]);
    prod.from = vec![before(&stage)];
    let report = prod.settle();
    assert_eq!(prod.at, Some(revision(1)));
    assert!(report.waiting[0].text.starts_with("`stage`: its move stopped: 1 of 10"), "{:?}", report.waiting);
    // The failure is gone, but not all have applied the revision: the environment proves it first, although the fleet is good a moment later.
    stage.measured = Measured { succeeded: 9, ..fleet(0) };
    stage.settle();
    prod.from = vec![before(&stage)];
    let report = prod.settle();
    assert_eq!(prod.at, Some(revision(1)));
    assert!(report.waiting[0].text.contains("has not proved it since"), "{:?}", report.waiting);
    stage.measured = fleet(0);
    stage.settle();
    prod.from = vec![before(&stage)];
    prod.settle();
    assert_eq!(prod.at, Some(revision(2)));
}

#[test]
fn a_stop_in_the_environment_before_begins_a_soak_again() {
    let mut prod = World::new(&["stage"]);
    prod.promotion.gates.push(Gate::new("soaked".into(), GateKind::Soak(Duration::from_hours(1))));
    let from = |state: Option<&AdvanceState>| FromEnvironment {
        measured: Ok(fleet(0)),
        ..FromEnvironment::new("stage".into(), (Some(revision(2)), Ok(())), state)
    };
    prod.from = vec![from(None)];
    prod.settle();
    let good_since = |world: &World| world.state.current.as_ref().and_then(|current| current.good_since);
    assert!(good_since(&prod).is_some());
    let mut stage = World::new(&["dev"]);
    stage.has(2);
    stage.measured = fleet(1);
    stage.settle();
    prod.from = vec![from(Some(&stage.state))];
    prod.settle();
    assert_eq!(good_since(&prod), None);
}

#[test]
fn reverted_revision_is_no_proof_until_its_gates_hold_again() {
    let mut stage = World::new(&["dev"]);
    stage.has(2);
    stage.measured = Measured { succeeded: 9, ..fleet(0) };
    stage.settle();
    // It was never proved here, so it waits, and the output stays.
    stage.at = Some(revision(0));
    stage.settle();
    assert_eq!((stage.admitted().as_str(), stage.rejected().is_some()), ("r2", true));
    stage.measured = fleet(0);
    stage.gate("soaked", GateKind::Soak(Duration::from_hours(1)));
    stage.command(CommandKind::Request { revision: revision(2) });
    stage.settle();
    assert_eq!(stage.rejected(), None);
    let mut prod = World::new(&["stage"]);
    let before = |stage: &World| FromEnvironment {
        measured: Ok(fleet(0)),
        ..FromEnvironment::new("stage".into(), (stage.state.admitted.clone(), Ok(())), Some(&stage.state))
    };
    prod.from = vec![before(&stage)];
    let report = prod.settle();
    assert_eq!(prod.admitted(), "r1");
    assert!(report.waiting[0].text.contains("waits for its gates again"), "{:?}", report.waiting);
    stage.now += SignedDuration::from_hours(1);
    stage.settle();
    prod.from = vec![before(&stage)];
    prod.settle();
    assert_eq!(prod.admitted(), "r2");
}
