//! Tests of the steps of sources.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use model::object::promotion::{Approval, Gate, GateKind};

use super::{People, SourceInput, SourceStep, UNMERGED_MAX, step};
use crate::promotion::command::{Command, CommandKind, apply_to_advance, gates_passed};
use crate::promotion::evidence::{Approver, Authors};
use crate::promotion::state::{AdvanceState, Decision, Revision, Unmerged};

/// A source with the commits `c0` to `c9`. `c0` is admitted.
struct World {
    gates: Vec<Gate>,
    head: &'static str,
    is_change: bool,
    approvals: Vec<&'static str>,
    authors: Authors,
    /// Whether the newest commit contains the candidate.
    contains: bool,
    hold: Option<Decision>,
    /// Whether what was admitted waits in a pull request.
    unmerged: bool,
    /// Who still approves which revision.
    still: Vec<(&'static str, &'static str)>,
    now: Timestamp,
    state: AdvanceState,
    events: Vec<String>,
}

impl World {
    fn new(gates: Vec<Gate>) -> Self {
        let (state, events, approvals, still) = Default::default();
        let now = "2026-03-02T10:00:00Z".parse().unwrap();
        let mut world = Self {
            gates,
            head: "c0",
            is_change: false,
            approvals,
            authors: Authors::one(Some("ann".into())),
            contains: true,
            hold: None,
            unmerged: false,
            still,
            now,
            state,
            events,
        };
        world.step();
        world.is_change = true;
        world
    }

    fn step(&mut self) -> SourceStep {
        let found = self.decide(&self.state);
        self.state = found.state.clone();
        self.events.extend(found.events.iter().map(|event| format!("{}: {}", event.kind.name(), event.text)));
        // The same step again changes nothing. What was admitted is published before it.
        self.state.unmerged.retain(|_| self.unmerged);
        let again = self.decide(&self.state);
        assert_eq!((&again.state, again.events.len()), (&self.state, 0));
        found
    }

    fn decide(&self, state: &AdvanceState) -> SourceStep {
        let approvals = self.approvals_by(&self.approvals);
        let still = |unmerged: &Unmerged| {
            let of_change = self.still.iter().filter(|(revision, _)| *unmerged.change.revision.0 == **revision);
            self.approvals_by(&of_change.map(|(_, account)| *account).collect::<Vec<_>>())
        };
        let still: Vec<_> = state.unmerged.iter().map(still).collect();
        let unmerged: Vec<_> = still.iter().map(|approvals| People { approvals, authors: &self.authors }).collect();
        let input = SourceInput {
            now: self.now,
            gates: &self.gates,
            head: &Revision(self.head.into()),
            is_change: self.is_change,
            people: People { approvals: &approvals, authors: &self.authors },
            candidate: self.contains.then_some(People { approvals: &[], authors: &self.authors }),
            unmerged: self.unmerged.then_some(&unmerged),
            teams: &BTreeMap::new(),
            hold: self.hold.as_ref(),
        };
        step(&input, state)
    }

    fn approvals_by(&self, accounts: &[&str]) -> Vec<Approver> {
        let approver =
            |account: &&str| Approver { account: (*account).into(), at: self.now, by: "review".into(), gate: None };
        accounts.iter().map(approver).collect()
    }

    fn head(&mut self, head: &'static str) -> SourceStep {
        self.head = head;
        self.step()
    }

    fn command(&mut self, kind: CommandKind) {
        let command = Command { kind, by: "bob".into(), at: self.now, reason: "a reason".into() };
        self.state = apply_to_advance(&self.state, &command).unwrap();
    }

    /// Bob overrides the gates for a day.
    fn overrides(&mut self, revision: &str) {
        let revision = Revision(revision.into());
        let gates = gates_passed(&self.state, &revision, &self.gates);
        self.command(CommandKind::Override { revision, gates, expires: self.now + SignedDuration::from_hours(24) });
    }

    fn admitted(&self) -> &str {
        &self.state.admitted.as_ref().unwrap().0
    }
}

fn manual() -> Vec<Gate> {
    vec![Gate::new("person".into(), GateKind::Manual)]
}

#[test]
fn a_newer_commit_waits_for_people() {
    let mut world = World::new(manual());
    let found = world.head("c1");
    assert_eq!((world.admitted(), &*found.report.waiting[0].what), ("c0", "person"));
    world.command(CommandKind::Skip { gate: "person".into() });
    world.step();
    assert_eq!((world.admitted(), world.state.current.is_none()), ("c1", true));
    let events = [
        "started: it is the newest commit",
        "waiting: person: a person must let the change through",
        "promoted: the gates hold",
    ];
    assert_eq!(world.events, events);
}

#[test]
fn without_a_gate_or_a_change_nothing_waits() {
    let mut world = World::new(Vec::new());
    world.head("c1");
    assert_eq!(world.admitted(), "c1");
    let mut world = World::new(manual());
    world.is_change = false;
    world.head("c1");
    assert_eq!((world.admitted(), world.events.len()), ("c1", 0));
}

#[test]
fn decisions_do_not_carry_over_to_the_next_commit() {
    let mut world = World::new(manual());
    world.head("c1");
    world.command(CommandKind::Skip { gate: "person".into() });
    world.head("c2");
    assert_eq!(world.admitted(), "c0");
    // The mistake is reverted: nothing waits any more.
    world.is_change = false;
    world.head("c3");
    assert_eq!((world.admitted(), world.state.current.is_none()), ("c3", true));
}

#[test]
fn an_author_does_not_approve() {
    let mut world = World::new(two_eyes());
    world.approvals = vec!["ann"];
    world.head("c1");
    assert_eq!(world.admitted(), "c0");
    world.approvals = vec!["ann", "bob"];
    world.authors = Authors::default();
    world.head("c1");
    assert_eq!(world.admitted(), "c1");
}

#[test]
fn nothing_is_admitted_during_a_hold() {
    let mut world = World::new(Vec::new());
    world.hold = Some(Decision { by: "ann".into(), at: world.now, reason: "inventory".into() });
    let found = world.head("c1");
    assert_eq!((world.admitted(), &*found.report.waiting[0].text), ("c0", "held by ann: inventory"));
    world.hold = None;
    world.command(CommandKind::Hold);
    world.step();
    assert_eq!(world.admitted(), "c0");
    world.command(CommandKind::Resume);
    world.step();
    assert_eq!(world.admitted(), "c1");
}

#[test]
fn an_aborted_commit_stays_out_until_a_person_lets_it_in_again() {
    let mut world = World::new(manual());
    world.head("c1");
    world.command(CommandKind::Abort);
    let found = world.step();
    assert_eq!((world.admitted(), world.state.current.is_none()), ("c0", true));
    assert_eq!(&*found.report.waiting[0].what, "rejected");
    world.command(CommandKind::Retry);
    world.step();
    assert_eq!(world.state.current.as_ref().map(|current| &*current.revision.0), Some("c1"));
    world.overrides("c1");
    world.step();
    assert_eq!((world.admitted(), world.state.current.is_none()), ("c1", true));
}

#[test]
fn a_window_opens_and_closes() {
    let text = r#"{apiVersion: fleet.kalypso.io/v1alpha1, kind: Promotion, metadata: {name: p}, spec: {to: prod,
        gates: [{name: night, window: {zone: UTC, from: "22:00", until: "23:00"}}]}}"#;
    let read = model::read::read_file(model::source::FileId::default(), "p.yaml", text.as_bytes());
    let Some(model::object::AnyObject::Promotion(found)) = read.objects.first() else {
        panic!("{:?}", read.diagnostics)
    };
    let mut world = World::new(found.spec.gates.clone());
    world.head("c1");
    assert_eq!(world.admitted(), "c0");
    world.now += SignedDuration::from_hours(12);
    world.unmerged = true;
    world.step();
    assert_eq!(world.admitted(), "c1");
    // Its pull request is still open in the morning.
    world.now += SignedDuration::from_hours(2);
    assert_eq!(ended(world.step()), ["night"]);
}

fn two_eyes() -> Vec<Gate> {
    vec![Gate::new("two-eyes".into(), GateKind::Approval(Approval { count: 1, team: None }))]
}

/// A source whose commit `c1` was approved by bob, and waits in a pull request.
fn proposed() -> World {
    let mut world = World::new(two_eyes());
    (world.approvals, world.still, world.unmerged) = (vec!["bob"], vec![("c1", "bob")], true);
    world.head("c1");
    assert_eq!(world.admitted(), "c1");
    world
}

/// The gates of the admitted change that do not hold any more.
fn ended(found: SourceStep) -> Vec<String> {
    found.report.waiting.iter().map(|waiting| waiting.what.to_string()).collect()
}

#[test]
fn proposed_values_must_stay_approved_until_the_merge() {
    let mut world = proposed();
    assert!(ended(world.step()).is_empty());
    world.still.clear();
    let found = world.step();
    assert_eq!(found.report.revision, Some(Revision("c1".into())));
    assert_eq!(ended(found), ["two-eyes"]);
    // Merged nevertheless: that it was not approved any more is not forgotten.
    let merged = std::mem::replace(&mut world.unmerged, false);
    assert_eq!(ended(world.decide(&world.state)), ["two-eyes"]);
    world.unmerged = merged;
    world.command(CommandKind::Approve { gate: None });
    assert!(ended(world.step()).is_empty());
}

#[test]
fn an_override_of_values_expires_while_they_wait_for_their_merge() {
    let mut world = World::new(two_eyes());
    world.unmerged = true;
    world.head("c1");
    world.overrides("c1");
    assert!(ended(world.step()).is_empty());
    world.now += SignedDuration::from_hours(24);
    let found = world.step();
    assert_eq!((world.admitted(), ended(found)), ("c1", vec!["two-eyes".to_owned()]));
    // People can still decide.
    world.command(CommandKind::Approve { gate: None });
    assert!(ended(world.step()).is_empty());
    assert_eq!(world.state.unmerged.len(), 1);
}

#[test]
fn an_override_of_values_ends_with_their_merge() {
    let mut world = World::new(two_eyes());
    world.unmerged = true;
    world.head("c1");
    world.overrides("c1");
    world.step();
    world.unmerged = false;
    world.now += SignedDuration::from_hours(48);
    assert!(ended(world.step()).is_empty());
    assert!(world.state.unmerged.is_empty());
}

#[test]
fn approvals_are_not_required_again_after_the_merge() {
    let mut world = proposed();
    world.unmerged = false;
    world.step();
    world.still.clear();
    assert!(ended(world.step()).is_empty());
}

#[test]
fn newer_commit_does_not_release_unmerged_values() {
    let mut world = proposed();
    (world.approvals, world.still) = (Vec::new(), Vec::new());
    world.head("c2");
    assert_eq!((world.admitted(), world.state.current.is_some()), ("c1", true));
    let entries = |world: &World| {
        let holds =
            |unmerged: &Unmerged| (unmerged.from.clone().unwrap().0.to_string(), unmerged.change.entry[0].holds());
        world.state.unmerged.iter().map(holds).collect::<Vec<_>>()
    };
    assert_eq!(entries(&world), [("c0".to_owned(), false)]);
    // Nor does a commit that changes nothing, or one that is approved.
    world.is_change = false;
    world.head("c3");
    world.is_change = true;
    (world.approvals, world.still) = (vec!["bob"], vec![("c4", "bob")]);
    world.head("c4");
    assert_eq!(world.admitted(), "c4");
    assert_eq!(entries(&world), [("c0".to_owned(), false), ("c3".to_owned(), true)]);
    world.overrides("c4");
    assert!(entries(&world).is_empty());
}

#[test]
fn not_every_change_may_wait_for_its_merge() {
    let mut world = proposed();
    let heads: Vec<&'static str> = (0..UNMERGED_MAX).map(|number| &*format!("d{number}").leak()).collect();
    world.still.extend(heads.iter().map(|head| (*head, "bob")));
    heads.iter().for_each(|head| drop(world.head(head)));
    assert_eq!((world.state.unmerged.len(), world.admitted()), (UNMERGED_MAX, heads[UNMERGED_MAX - 2]));
    let found = world.step();
    assert_eq!(ended(found), ["merge"]);
    world.unmerged = false;
    world.step();
    assert_eq!(world.admitted(), heads[UNMERGED_MAX - 1]);
}

#[test]
fn an_approval_by_command_holds_its_commit_until_people_have_decided() {
    let approved = || {
        let kind = GateKind::Approval(Approval { count: 2, team: None });
        let mut world = World::new(vec![Gate::new("two".into(), kind)]);
        world.head("c1");
        world.command(CommandKind::Approve { gate: None });
        world
    };
    let moving = |world: &World| world.state.current.as_ref().unwrap().revision.0.to_string();
    let mut world = approved();
    world.head("c2");
    assert_eq!((world.admitted(), moving(&world).as_str()), ("c0", "c1"));
    let second = Approver { account: "eve".into(), at: world.now, by: "command".into(), gate: None };
    world.state.current.as_mut().unwrap().approvals.push(second);
    world.step();
    assert_eq!((world.admitted(), moving(&world).as_str()), ("c1", "c2"));
    // The branch does not have it any more.
    let mut world = approved();
    world.contains = false;
    world.head("c2");
    assert_eq!(moving(&world), "c2");
    // A person wants another one.
    let mut world = approved();
    world.command(CommandKind::Request { revision: Revision("c2".into()) });
    world.head("c2");
    assert_eq!(moving(&world), "c2");
    // It has no approval.
    let mut world = approved();
    world.state.current.as_mut().unwrap().approvals.clear();
    world.head("c2");
    assert_eq!(moving(&world), "c2");
}
