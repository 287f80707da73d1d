//! What places hold where the rings of an environment do not have the desired content yet.

use std::collections::BTreeSet;

use delivery::output::rings::HeldContents;
use engine::promotion::state::{Decision, GateRecord, GateStatus, MoveStage, Proved, Rejection, RolledBack};
use engine::promotion::vector::Part;

use crate::rings::{ONE, OTHER, Ringed, release_ring};

/// What the assignments of a workload hold that is not desired, by place: each content once.
pub(crate) fn held(ringed: &Ringed, workload: &str) -> BTreeSet<(String, String, String)> {
    let outcome = ringed.publish();
    let (loaded, compiled) = (&outcome.places[0].loaded, &outcome.places[0].planned.compiled);
    let of_workload = compiled.assignments().filter(|assignment| assignment.workload() == workload);
    let (ids, folders): (Vec<_>, Vec<_>) =
        of_workload.map(|assignment| (assignment.id().unwrap(), assignment.folder())).unzip();
    let mut contents = HeldContents::read(loaded, compiled.prepared()).unwrap().unwrap();
    let found = contents.find(&ids, &folders).unwrap().into_iter();
    found.map(|(id, held)| (id.place.to_string(), held.to_string(), held.reason.to_string())).collect()
}

#[test]
fn places_hold_the_earlier_content_until_their_ring_gets_the_new_one() {
    let mut ringed = Ringed::new();
    let (proved, sources) = ringed.revision(ONE);
    ringed.release(ONE, "v2");
    let row = |place: &str, held: &str, reason: &str| (place.to_owned(), held.to_owned(), reason.to_owned());
    let first = |ring, place| {
        row(place, &format!("v2 desired, other content published in ring {ring}"), "its first rollout has not begun")
    };
    assert_eq!(held(&ringed, ONE), BTreeSet::from([first("first", "ct-0000"), first("others", "ct-0001")]));
    assert_eq!(held(&ringed, OTHER), BTreeSet::new());
    let mut rollout = ringed.begin(ONE);
    // Nothing tells yet which revision has the folders of the others.
    ringed.step(ONE, &mut rollout, release_ring);
    let moving = "the rollout is in ring first";
    let unknown = row("ct-0001", "v2 desired, other content published in ring others", moving);
    assert_eq!(held(&ringed, ONE), BTreeSet::from([unknown]));
    rollout.state.stable = Some(Proved { revision: proved.clone(), ..rollout.state.stable.unwrap() });
    rollout.revisions.insert(proved, sources);
    ringed.store(ONE, &rollout);
    let known = "v2 desired, v1 published in ring others";
    assert_eq!(held(&ringed, ONE), BTreeSet::from([row("ct-0001", known, moving)]));
    let night = GateRecord {
        name: "night".into(),
        status: GateStatus::Waiting,
        since: "1970-01-01T00:00:00Z".parse().unwrap(),
        text: "it opens at 22:00".into(),
    };
    ringed.step(ONE, &mut rollout, |current| current.gates = vec![night]);
    let waits = "the rollout is in ring first, and waits for night: it opens at 22:00";
    assert_eq!(held(&ringed, ONE), BTreeSet::from([row("ct-0001", known, waits)]));
    ringed.step(ONE, &mut rollout, |current| {
        current.ring = 1;
        current.released.clear();
    });
    let waits = "waits for night: it opens at 22:00";
    assert_eq!(held(&ringed, ONE), BTreeSet::from([row("ct-0001", known, waits)]));
    let hold = Decision { by: "paula".into(), at: "1970-01-01T00:00:00Z".parse().unwrap(), reason: "holiday".into() };
    rollout.state.hold = Some(hold);
    ringed.store(ONE, &rollout);
    let on_hold = format!("{waits}; held by paula: holiday");
    assert_eq!(held(&ringed, ONE), BTreeSet::from([row("ct-0001", known, &on_hold)]));
}

#[test]
fn places_hold_the_proved_content_after_a_rollback() {
    let mut ringed = Ringed::new();
    let (proved, sources) = ringed.revision(ONE);
    ringed.release(ONE, "v2");
    let mut rollout = ringed.begin(ONE);
    rollout.state.stable = Some(Proved { revision: proved.clone(), ..rollout.state.stable.unwrap() });
    rollout.revisions.insert(proved, sources);
    ringed.step(ONE, &mut rollout, release_ring);
    ringed.step(ONE, &mut rollout, |current| {
        current.phase = MoveStage::RollingBack { reason: "a host failed".into(), since: current.started };
    });
    let row = |ring: &str, place: &str, reason: &str| {
        (place.to_owned(), format!("v2 desired, v1 published in ring {ring}"), reason.to_owned())
    };
    let both = |reason| BTreeSet::from([row("first", "ct-0000", reason), row("others", "ct-0001", reason)]);
    assert_eq!(held(&ringed, ONE), both("it is rolled back: a host failed"));
    let revision = rollout.state.current.take().unwrap().revision;
    rollout.state.rejected.push(Rejection { revision, reason: "a host failed".into(), part: Part::Both, at: None });
    ringed.store(ONE, &rollout);
    assert_eq!(held(&ringed, ONE), both("its rollout ended: a host failed"));
    let decision = Decision { by: "paula".into(), at: "1970-01-01T00:00:00Z".parse().unwrap(), reason: "hurry".into() };
    rollout.state.rolled_back = Some(RolledBack { decision, with_values: false, target: None });
    ringed.store(ONE, &rollout);
    assert_eq!(held(&ringed, ONE), both("rolled back by paula: hurry"));
}
