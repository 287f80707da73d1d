//! Gates with `silent: fail`: reconcilers that die after success, and those that would never become silent.

use model::rollout::Counts;

use crate::controller::{DIRECT, World};

const ALIVE: &str =
    "    - name: alive\n      compliant: {share: 100%, silent: fail}\n    - name: soaked\n      soak: 10m\n";

/// Three reconcilers that applied the change.
const APPLIED: Counts = Counts {
    expected: 3,
    succeeded: 3,
    failed: 0,
    in_progress: 0,
    silent: 0,
    outdated: 0,
    never_reported: 0,
    succeeded_but_silent: 0,
    succeeded_without_heartbeat: 0,
};

/// Half an hour.
fn wait(world: &World) {
    (0..10).for_each(|_| world.settle());
}

#[test]
fn reconciler_silent_after_success_restarts_a_soak() {
    let mut world = World::new(DIRECT, ALIVE);
    world.settle();
    let second = world.chain.company.change_value("second");
    world.settle();
    assert!(world.waits("stage").starts_with("soaked: good since"), "{}", world.waits("stage"));
    world.report_counts("dev", Counts { succeeded_but_silent: 1, ..APPLIED });
    wait(&world);
    let text = "compliant: 2 of 3 reconcilers applied the change, 100% are needed, 1 are silent";
    assert_eq!(world.waits("stage"), text);
    world.report_counts("dev", APPLIED);
    world.settle();
    assert!(world.waits("stage").starts_with("soaked: good since"), "{}", world.waits("stage"));
    wait(&world);
    assert_eq!(world.at("stage"), second);
}

#[test]
fn a_gate_waits_for_reconcilers_of_unknown_liveness() {
    let mut world = World::new(DIRECT, ALIVE);
    world.settle();
    let second = world.chain.company.change_value("second");
    world.report_counts("dev", Counts { succeeded_without_heartbeat: 2, ..APPLIED });
    wait(&world);
    let text = "alive: liveness unknown: 2 of 3 reconcilers declare no interval; set `heartbeatSeconds`";
    assert!(world.waits("stage").starts_with(text), "{}", world.waits("stage"));
    assert_ne!(world.at("stage"), second);
}
