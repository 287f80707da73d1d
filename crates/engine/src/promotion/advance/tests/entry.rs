//! The gates by which a revision was admitted count until its output is merged, also after an override has expired.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use model::object::promotion::{GateKind, Newer};

use super::world::{World, fleet, revision};
use crate::promotion::command::CommandKind;
use crate::promotion::state::{Candidate, CandidatePhase, Decision, GateRecord, GateStatus};

#[test]
fn gates_of_an_admitted_revision_count_until_the_merge() {
    let mut world = World::new(&["stage"]);
    world.gate("soak", GateKind::Soak(Duration::from_hours(1)));
    world.has(2);
    world.step();
    world.now += SignedDuration::from_hours(2);
    world.settled = Err("its output is not on the branch that clusters pull".into());
    world.is_proposed = true;
    world.settle();
    assert_eq!((world.admitted().as_str(), open_entry(&world)), ("r2", vec![]));
    world.from[0].measured = Ok(fleet(1));
    let report = world.settle();
    assert_eq!((open_entry(&world), &*report.waiting[0].what), (vec!["healthy"], "healthy"));
    // What is not known for a while takes nothing back, and what was good for long enough does not begin again.
    world.from[0].measured = Err("the hub does not answer".into());
    world.settle();
    assert_eq!(open_entry(&world), ["healthy"]);
    world.from[0].measured = Ok(fleet(0));
    world.settle();
    assert_eq!(open_entry(&world), [""; 0]);
    world.from[0].measured = Err("the hub does not answer".into());
    world.settle();
    assert_eq!(open_entry(&world), [""; 0]);
}

#[test]
fn revision_merged_against_its_gates_is_not_proved() {
    for is_skipped in [false, true] {
        let mut world = World::new(&["stage"]);
        world.has(2);
        (world.settled, world.is_proposed) = (Err("it waits for its merge".into()), true);
        world.settle();
        world.from[0].measured = Ok(fleet(1));
        world.settle();
        (world.settled, world.is_proposed) = (Ok(()), false);
        assert_eq!(&*world.settle().waiting[0].what, "healthy");
        assert_eq!((world.admitted().as_str(), world.proved().as_str()), ("r2", "r1"));
        if is_skipped {
            world.command(CommandKind::Skip { gate: "healthy".into() });
        } else {
            world.from[0].measured = Ok(fleet(0));
        }
        world.settle();
        assert_eq!(world.proved(), "r2");
    }
}

/// `r2`, which bob overrides for a day while `stage` does not have it. It waits in a pull request.
fn overridden() -> World {
    let mut world = World::new(&["stage"]);
    world.gate("soak", GateKind::Soak(Duration::from_hours(1)));
    (world.settled, world.is_proposed) = (Err("it waits for its merge".into()), true);
    world.overrides(2);
    world.settle();
    assert_eq!((world.admitted().as_str(), open_entry(&world)), ("r2", vec![]));
    world
}

/// The gates of the admitted revision that do not hold.
fn open_entry(world: &World) -> Vec<&str> {
    let entry = world.state.current.iter().flat_map(|current| &current.entry);
    entry.filter(|record| !record.holds()).map(|record| &*record.name).collect()
}

#[test]
fn an_expired_override_needs_the_gates_again_and_takes_nothing_back() {
    let mut world = overridden();
    world.now += SignedDuration::from_hours(23);
    world.settle();
    assert_eq!(open_entry(&world), [""; 0]);
    world.now += SignedDuration::from_hours(1);
    let report = world.settle();
    assert_eq!((world.admitted().as_str(), &*report.waiting[0].what), ("r2", "settled"));
    assert_eq!(open_entry(&world), ["settled", "healthy", "soak"]);
    // The gates hold by themselves later. A soak begins when the override expires.
    world.has(2);
    world.settle();
    assert_eq!(open_entry(&world), ["soak"]);
    world.now += SignedDuration::from_hours(1);
    world.settle();
    assert_eq!(open_entry(&world), [""; 0]);
}

#[test]
fn overridden_revision_stays_published_after_expiry() {
    let mut world = overridden();
    // The hub has not measured it yet, and later values wait in another pull request.
    (world.settled, world.is_proposed, world.measured) = (Ok(()), false, fleet(1));
    world.step();
    (world.settled, world.is_proposed) = (Err("other values wait for their merge".into()), true);
    world.now += SignedDuration::from_hours(48);
    world.settle();
    assert_eq!((world.admitted().as_str(), open_entry(&world)), ("r2", vec![]));
}

#[test]
fn an_override_is_only_for_its_revision() {
    let mut world = overridden();
    world.has(3);
    world.promotion.newer = Newer::Supersede;
    world.settle();
    let current = world.state.current.as_ref().unwrap();
    assert_eq!((world.current().as_str(), world.admitted().as_str()), ("r3", "r2"));
    assert!(current.overridden.is_none() && current.gates.iter().any(|gate| !gate.holds()));
}

#[test]
fn head_replaces_commits_that_are_or_were_on_main() {
    let skipped = || {
        let decision = Decision { by: "ana".into(), at: Timestamp::UNIX_EPOCH, reason: "a fix".into() };
        let status = GateStatus::Skipped(decision);
        GateRecord { name: "main".into(), status, since: Timestamp::UNIX_EPOCH, text: "skipped".into() }
    };
    // `r42` is not on the main branch: a person let it in, or the branch was rewritten since. `r3` was merged after a person had let it in.
    let cases =
        [(42, vec![skipped()], "r42"), (42, Vec::new(), "r9"), (3, vec![skipped()], "r9"), (3, Vec::new(), "r9")];
    for (admitted, entry, expected) in cases {
        let mut world = World::new(&["stage"]);
        let phase = CandidatePhase::Proving { since: world.now };
        world.state.current = Some(Candidate { entry, ..Candidate::new(revision(admitted), world.now, phase) });
        (world.state.admitted, world.at) = (Some(revision(admitted)), Some(revision(admitted)));
        world.settled = Err("a rollout is open".into());
        world.reverts_to = Some(revision(1));
        world.step();
        assert_eq!(world.current(), expected, "{admitted}");
    }
}

#[test]
fn head_does_not_replace_an_overridden_commit_outside_main() {
    let mut world = World::new(&["stage"]);
    world.settled = Err("a rollout is open".into());
    world.overrides(42);
    world.reverts_to = Some(revision(1));
    for _ in 0..3 {
        world.step();
    }
    assert_eq!((world.current().as_str(), world.admitted().as_str()), ("r42", "r42"));
}
