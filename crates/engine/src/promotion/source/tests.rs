//! Tests of the steps of sources.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use model::object::promotion::{Approval, Gate, GateKind};

use super::{SourceInput, SourceStep, step};
use crate::promotion::command::{Command, CommandKind, apply_to_advance};
use crate::promotion::evidence::Approver;
use crate::promotion::state::{AdvanceState, Decision, Revision};

/// A source with the commits `c0` to `c9`. `c0` is admitted.
struct World {
    gates: Vec<Gate>,
    head: &'static str,
    is_change: bool,
    approvals: Vec<&'static str>,
    author: Option<&'static str>,
    hold: Option<Decision>,
    now: Timestamp,
    state: AdvanceState,
    events: Vec<String>,
}

impl World {
    fn new(gates: Vec<Gate>) -> Self {
        let (state, events, approvals) = Default::default();
        let now = "2026-03-02T10:00:00Z".parse().unwrap();
        let mut world = Self {
            gates,
            head: "c0",
            is_change: false,
            approvals,
            author: Some("ann"),
            hold: None,
            now,
            state,
            events,
        };
        world.step();
        world.is_change = true;
        world
    }

    fn step(&mut self) -> SourceStep {
        let approver =
            |account: &&str| Approver { account: (*account).into(), at: self.now, by: "review".into(), gate: None };
        let input = SourceInput {
            now: self.now,
            gates: &self.gates,
            head: &Revision(self.head.into()),
            is_change: self.is_change,
            approvals: &self.approvals.iter().map(approver).collect::<Vec<_>>(),
            author: self.author,
            teams: &BTreeMap::new(),
            hold: self.hold.as_ref(),
        };
        let found = step(&input, &self.state);
        self.state = found.state.clone();
        self.events.extend(found.events.iter().map(|event| format!("{}: {}", event.kind.name(), event.text)));
        // The same step again changes nothing.
        let again = step(&input, &self.state);
        assert_eq!((&again.state, again.events.len()), (&self.state, 0));
        found
    }

    fn head(&mut self, head: &'static str) -> SourceStep {
        self.head = head;
        self.step()
    }

    fn command(&mut self, kind: CommandKind) {
        let command = Command { kind, by: "bob".into(), at: self.now, reason: "a reason".into() };
        self.state = apply_to_advance(&self.state, &command).unwrap();
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
        "waiting: person: a person must let the change through with `kalypso skip`",
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
fn what_people_said_about_a_commit_does_not_count_for_the_next_one() {
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
    let approval = GateKind::Approval(Approval { count: 1, team: None });
    let mut world = World::new(vec![Gate::new("two-eyes".into(), approval)]);
    world.approvals = vec!["ann"];
    world.head("c1");
    assert_eq!(world.admitted(), "c0");
    world.approvals = vec!["ann", "bob"];
    world.author = None;
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
    world.command(CommandKind::Override { revision: Revision("c1".into()) });
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
    world.step();
    assert_eq!(world.admitted(), "c1");
}
