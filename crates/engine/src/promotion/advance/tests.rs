//! Examples of each rule of moves between environments, and what holds whatever happens.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use model::object::promotion::{
    Amount, ChangeDelivery, Gate, GateKind, Newer, OnFailure, Promotion, Require, Selection, Share, Silent, Start,
};
use proptest::prelude::*;

use super::{Action, AdvanceInput, AdvanceStep, FromEnvironment, step};
use crate::promotion::command::{Command, CommandKind, apply_to_advance};
use crate::promotion::evidence::Measured;
use crate::promotion::report::{Report, ReportPhase};
use crate::promotion::state::{AdvanceState, CandidatePhase, Revision};

/// An environment, the environments before it, and the revisions `r0` to `r9`.
struct World {
    now: Timestamp,
    promotion: Promotion,
    state: AdvanceState,
    from: Vec<FromEnvironment>,
    at: Option<Revision>,
    settled: Result<(), Arc<str>>,
    measured: Measured,
    events: Vec<String>,
}

fn revision(number: u32) -> Revision {
    Revision(format!("r{number}").into())
}

fn fleet(failed: u64) -> Measured {
    Measured { places: 1, unpublished: 0, expected: 10, succeeded: 10 - failed, failed, silent: 0 }
}

impl World {
    /// All environments have `r1`, and the last one has proved it. A candidate needs a compliant fleet before.
    fn new(from: &[&str]) -> Self {
        let kind = GateKind::Compliant { share: Share::ALL, silent: Silent::Wait };
        let promotion = Promotion {
            to: "prod".into(),
            from: from.iter().map(|name| Arc::from(*name)).collect(),
            require: Require::All,
            select: Selection { platform: true, workloads: None },
            delivery: ChangeDelivery::Direct,
            start: Start::Automatic,
            newer: Newer::Wait,
            on_failure: OnFailure::Stop,
            gates: vec![Gate { name: "healthy".into(), kind }],
            rings: Vec::new(),
        };
        let environment = |name: &&str| FromEnvironment {
            name: (*name).into(),
            has: Some(revision(1)),
            settled: Ok(()),
            measured: Ok(fleet(0)),
        };
        let mut world = Self {
            now: "2026-03-02T10:00:00Z".parse().unwrap(),
            promotion,
            state: AdvanceState::default(),
            from: from.iter().map(environment).collect(),
            at: Some(revision(1)),
            settled: Ok(()),
            measured: fleet(0),
            events: Vec::new(),
        };
        world.step();
        assert!(world.kinds().starts_with("started proved"));
        world
    }

    fn has(&mut self, number: u32) {
        self.from.iter_mut().for_each(|from| from.has = Some(revision(number)));
    }

    fn gate(&mut self, name: &str, kind: GateKind) {
        self.promotion.gates.push(Gate { name: name.into(), kind });
    }

    fn dry_step(&self) -> AdvanceStep {
        let line: Vec<_> = (0..10).rev().map(revision).collect();
        let (checks, teams) = (BTreeMap::new(), BTreeMap::new());
        let input = AdvanceInput {
            now: self.now,
            promotion: &self.promotion,
            line: &line,
            head: line.first(),
            from: &self.from,
            at: self.at.as_ref(),
            to_settled: self.settled.clone(),
            to_failed: None,
            to_measured: Ok(self.measured),
            checks: &checks,
            approvals: &[],
            author: Some("ann"),
            teams: &teams,
        };
        step(&input, &self.state)
    }

    fn step(&mut self) -> (Report, Option<Action>) {
        let step = self.dry_step();
        self.events.extend(step.events.iter().map(|event| event.kind.name().to_owned()));
        self.state = step.state;
        (step.report, step.action)
    }

    /// Steps, and does what is asked, until nothing is asked any more.
    fn settle(&mut self) -> Report {
        for _ in 0..50 {
            let before = self.state.clone();
            let (report, action) = self.step();
            if action.is_none() && self.state == before {
                return report;
            }
            match action {
                Some(Action::Write { revision } | Action::RollBack { to: revision }) => self.at = Some(revision),
                None => {}
            }
        }
        panic!("the move does not come to rest: {:?}", self.state);
    }

    fn command(&mut self, kind: CommandKind) {
        let command = Command { kind, by: "bob".into(), at: self.now, reason: "because".into() };
        self.state = apply_to_advance(&self.state, &command).unwrap();
    }

    fn kinds(&mut self) -> String {
        std::mem::take(&mut self.events).join(" ")
    }

    fn proved(&self) -> String {
        self.state.proved.as_ref().map(|proved| proved.revision.0.to_string()).unwrap_or_default()
    }

    fn current(&self) -> String {
        self.state.current.as_ref().map(|current| current.revision.0.to_string()).unwrap_or_default()
    }
}

#[test]
fn a_revision_that_the_environment_before_has_proved_enters() {
    let mut world = World::new(&["stage"]);
    world.has(2);
    let (report, action) = world.step();
    assert_eq!(action, Some(Action::Write { revision: revision(2) }));
    assert_eq!((report.phase, &*report.waiting[0].what), (ReportPhase::Entering, "write"));
    // The action stays until the environment has the revision.
    assert_eq!(world.step().1, action);
    world.at = Some(revision(2));
    let (report, action) = world.step();
    assert_eq!((action, report.phase, report.waiting), (None, ReportPhase::Rest, Vec::new()));
    assert_eq!((world.proved().as_str(), world.kinds().as_str()), ("r2", "started promoted proved"));
}

#[test]
fn a_revision_waits_until_the_environment_before_has_proved_it() {
    let mut world = World::new(&["stage"]);
    world.has(2);
    world.from[0].settled = Err("the rollout of `checkout` is in the ring `canary`".into());
    let report = world.settle();
    assert_eq!(&*report.waiting[0].text, "`stage`: the rollout of `checkout` is in the ring `canary`");
    world.from[0].settled = Ok(());
    world.from[0].measured = Ok(fleet(1));
    let report = world.settle();
    assert_eq!((&*report.waiting[0].what, report.phase), ("healthy", ReportPhase::Gated));
    world.from[0].measured = Ok(fleet(0));
    world.settle();
    assert_eq!(world.proved(), "r2");
}

#[test]
fn a_gate_that_ends_before_the_write_counts() {
    let mut world = World::new(&["stage"]);
    world.gate("soak", GateKind::Soak(Duration::from_hours(1)));
    world.has(2);
    world.settle();
    world.now += SignedDuration::from_hours(1);
    let write = Some(Action::Write { revision: revision(2) });
    assert_eq!(world.step().1, write);
    // Evidence that is missing for a while takes nothing back.
    world.from[0].measured = Err("the hub does not answer".into());
    assert_eq!(world.step().1, write);
    world.from[0].measured = Ok(fleet(1));
    world.kinds();
    let (report, action) = world.step();
    assert_eq!((action, report.phase, &*report.waiting[0].what), (None, ReportPhase::Gated, "healthy"));
    assert_eq!(world.kinds(), "waiting");
    world.from[0].measured = Ok(fleet(0));
    assert_eq!(&*world.settle().waiting[0].what, "soak");
    world.now += SignedDuration::from_hours(1);
    world.settle();
    assert_eq!(world.proved(), "r2");
}

#[test]
fn a_newer_revision_in_the_environment_before_contains_the_candidate() {
    let mut world = World::new(&["stage"]);
    world.gate("soak", GateKind::Soak(Duration::from_hours(1)));
    world.has(2);
    world.settle();
    world.has(3);
    world.now += SignedDuration::from_hours(1);
    world.promotion.newer = Newer::Queue;
    world.step();
    assert_eq!((world.current().as_str(), world.state.waiting.as_slice()), ("r2", &[revision(3)][..]));
    assert_eq!(world.step().1, Some(Action::Write { revision: revision(2) }));
}

#[test]
fn an_environment_that_goes_back_does_not_have_the_candidate_any_more() {
    let mut world = World::new(&["stage"]);
    world.gate("soak", GateKind::Soak(Duration::from_hours(1)));
    world.has(2);
    world.settle();
    world.has(1);
    let report = world.settle();
    assert_eq!(&*report.waiting[0].text, "`stage` has `r1`, which does not contain the revision");
}

#[test]
fn all_environments_before_or_any_of_them_must_have_proved_a_revision() {
    let mut world = World::new(&["a", "b"]);
    world.from[0].has = Some(revision(3));
    world.settle();
    assert_eq!(world.current(), "");
    world.from[1].has = Some(revision(2));
    world.from[1].measured = Ok(fleet(1));
    let report = world.settle();
    assert_eq!((world.current().as_str(), &*report.waiting[0].what), ("r2", "b/healthy"));
    world.promotion.require = Require::Any;
    world.settle();
    assert_eq!(world.proved(), "r3");
}

#[test]
fn a_soak_begins_again_if_another_environment_holds_the_gates() {
    let mut world = World::new(&["a", "b"]);
    world.promotion.require = Require::Any;
    world.gate("soak", GateKind::Soak(Duration::from_hours(1)));
    world.has(2);
    world.settle();
    world.now += SignedDuration::from_mins(59);
    world.from[0].measured = Ok(fleet(1));
    world.settle();
    world.now += SignedDuration::from_mins(59);
    world.settle();
    assert_eq!(world.proved(), "r1");
    world.now += SignedDuration::from_mins(1);
    world.settle();
    assert_eq!(world.proved(), "r2");
}

#[test]
fn the_head_moves_if_there_is_no_environment_before() {
    let mut world = World::new(&[]);
    assert_eq!((world.current().as_str(), &*world.settle().waiting[0].what), ("r9", "healthy"));
    world.promotion.gates.clear();
    world.settle();
    assert_eq!(world.proved(), "r9");
}

#[test]
fn a_manual_start_waits_for_a_request() {
    let mut world = World::new(&["stage"]);
    world.promotion.start = Start::Manual;
    world.has(2);
    let report = world.settle();
    assert_eq!((report.phase, &*report.waiting[0].what), (ReportPhase::Gated, "request"));
    world.has(3);
    world.settle();
    assert_eq!(world.current(), "r3");
    world.command(CommandKind::Request { revision: revision(2) });
    world.settle();
    assert_eq!((world.proved().as_str(), world.current().as_str(), world.state.requested.clone()), ("r2", "r3", None));
}

#[test]
fn failures_in_the_environment_stop_the_move_and_a_repair_resumes_it() {
    let mut world = World::new(&["stage"]);
    world.has(2);
    world.measured = fleet(1);
    let report = world.settle();
    assert_eq!((report.phase, world.proved().as_str()), (ReportPhase::Stopped, "r1"));
    assert!(report.waiting[0].text.starts_with("1 of 10 reconcilers failed, at most 0 may fail"));
    world.measured = fleet(0);
    world.settle();
    assert_eq!(world.kinds(), "started promoted stopped resumed proved");
}

#[test]
fn failures_return_the_environment_to_the_proved_revision_by_policy() {
    let mut world = World::new(&["stage"]);
    world.promotion.on_failure = OnFailure::RollBackEnvironment;
    world.has(2);
    world.step();
    (world.at, world.measured) = (Some(revision(2)), fleet(3));
    let (report, action) = world.step();
    assert_eq!((report.phase, action), (ReportPhase::RollingBack, Some(Action::RollBack { to: revision(1) })));
    let report = world.settle();
    assert_eq!((report.phase, &*report.waiting[0].what), (ReportPhase::Rest, "rejected"));
    assert_eq!((world.at.clone(), world.state.rejected.clone()), (Some(revision(1)), Some(revision(2))));
    world.measured = fleet(0);
    world.command(CommandKind::Retry);
    world.settle();
    assert_eq!((world.proved().as_str(), world.state.rejected.clone()), ("r2", None));
}

#[test]
fn a_stopped_revision_gives_way_to_a_newer_one() {
    let mut world = World::new(&["stage"]);
    world.has(2);
    world.measured = fleet(1);
    world.settle();
    world.has(3);
    assert_eq!(world.step().1, Some(Action::Write { revision: revision(3) }));
    (world.at, world.measured) = (Some(revision(3)), fleet(0));
    world.settle();
    assert_eq!(world.proved(), "r3");
    assert!(!world.kinds().contains("movedByHand"));
}

#[test]
fn the_budget_of_the_last_ring_counts_if_there_are_rings() {
    let mut world = World::new(&["stage"]);
    let ring = model::object::promotion::Ring {
        name: "rest".into(),
        members: model::object::promotion::RingMembers::Rest,
        at_once: None,
        per: Vec::new(),
        pause: Duration::ZERO,
        failures: Amount::Count(2),
        gates: Vec::new(),
    };
    world.promotion.rings.push(ring);
    world.has(2);
    world.measured = fleet(2);
    world.settle();
    assert_eq!(world.proved(), "r2");
}

#[test]
fn an_environment_without_reconcilers_blocks_no_newer_revision() {
    let mut world = World::new(&["stage"]);
    world.measured = Measured::default();
    world.has(2);
    let report = world.settle();
    assert_eq!((report.phase, world.proved().as_str()), (ReportPhase::Proving, "r1"));
    world.has(3);
    world.settle();
    assert_eq!(world.at, Some(revision(3)));
}

#[test]
fn a_revision_that_a_person_wrote_is_reported_and_waits_for_its_gates() {
    let mut world = World::new(&["stage"]);
    world.at = Some(revision(4));
    let report = world.settle();
    assert_eq!(
        (report.phase, &*report.waiting[0].what, world.proved().as_str()),
        (ReportPhase::Gated, "settled", "r1")
    );
    world.has(4);
    world.settle();
    assert_eq!((world.kinds().as_str(), world.proved().as_str()), ("movedByHand waiting promoted proved", "r4"));
    world.at = Some(revision(2));
    world.settle();
    assert_eq!((world.kinds().as_str(), world.proved().as_str()), ("movedByHand promoted proved", "r2"));
    // What the person removed does not come back by itself.
    world.has(4);
    assert_eq!(&*world.settle().waiting[0].what, "rejected");
}

#[test]
fn a_person_who_returns_to_the_proved_revision_rejects_the_current_one() {
    let mut world = World::new(&["stage"]);
    world.has(2);
    world.measured = fleet(1);
    world.settle();
    world.at = Some(revision(1));
    let report = world.settle();
    assert_eq!((&*report.waiting[0].what, world.state.rejected.clone()), ("rejected", Some(revision(2))));
}

#[test]
fn a_hold_asks_for_nothing() {
    let mut world = World::new(&["stage"]);
    world.has(2);
    world.step();
    world.command(CommandKind::Hold);
    let (report, action) = world.step();
    assert_eq!((&*report.waiting[0].text, action), ("held by bob: because", None));
    world.command(CommandKind::Resume);
    assert_eq!(world.step().1, Some(Action::Write { revision: revision(2) }));
}

#[test]
fn a_newer_revision_replaces_the_current_one_by_policy() {
    let mut world = World::new(&["stage"]);
    world.promotion.newer = Newer::Supersede;
    world.gate("people", GateKind::Manual);
    world.has(2);
    world.settle();
    world.has(3);
    world.settle();
    assert_eq!(
        (world.current().as_str(), world.kinds().as_str()),
        ("r3", "started waiting superseded started waiting")
    );
}

#[test]
fn a_gate_that_was_skipped_before_the_environment_is_not_skipped_in_it() {
    let mut world = World::new(&["stage"]);
    world.promotion.gates[0].name = "compliant".into();
    world.has(2);
    world.from[0].measured = Ok(fleet(1));
    world.settle();
    world.command(CommandKind::Skip { gate: "compliant".into() });
    world.step();
    (world.at, world.measured) = (Some(revision(2)), Measured { succeeded: 9, ..fleet(0) });
    let report = world.settle();
    assert_eq!((report.phase, &*report.waiting[0].what), (ReportPhase::Proving, "compliant"));
}

/// Something that happens to the environments.
#[derive(Clone, Debug)]
enum Happening {
    Has(usize, u32),
    Before(usize, u64),
    Settled(bool),
    Fleet(u64),
    Act,
    Hand(u32),
    Wait(i64),
    Command(CommandKind),
}

fn happening() -> impl Strategy<Value = Happening> {
    let command = prop_oneof![
        Just(CommandKind::Hold),
        Just(CommandKind::Resume),
        Just(CommandKind::Abort),
        Just(CommandKind::Retry),
        Just(CommandKind::Rollback),
        (1..9_u32).prop_map(|number| CommandKind::Request { revision: revision(number) }),
    ];
    prop_oneof![
        3 => (0..2_usize, 1..9_u32).prop_map(|(from, number)| Happening::Has(from, number)),
        1 => (0..2_usize, 0..2_u64).prop_map(|(from, failed)| Happening::Before(from, failed)),
        1 => any::<bool>().prop_map(Happening::Settled),
        2 => (0..2_u64).prop_map(Happening::Fleet),
        5 => Just(Happening::Act),
        1 => (1..9_u32).prop_map(Happening::Hand),
        2 => (-30..120_i64).prop_map(Happening::Wait),
        1 => command.prop_map(Happening::Command),
    ]
}

/// Lets something happen. Returns whether a person or a command may have moved the environment.
fn happen(world: &mut World, happening: &Happening, action: Option<&Action>) {
    match happening {
        Happening::Has(from, number) => world.from[*from].has = Some(revision(*number)),
        Happening::Before(from, failed) => world.from[*from].measured = Ok(fleet(*failed)),
        Happening::Settled(is_settled) => world.settled = if *is_settled { Ok(()) } else { Err("it moves".into()) },
        Happening::Fleet(failed) => world.measured = fleet(*failed),
        Happening::Act => match action {
            Some(Action::Write { revision } | Action::RollBack { to: revision }) => world.at = Some(revision.clone()),
            None => {}
        },
        Happening::Hand(number) => world.at = Some(revision(*number)),
        Happening::Wait(minutes) => world.now += SignedDuration::from_mins(*minutes),
        Happening::Command(kind) => {
            let command = Command { kind: kind.clone(), by: "bob".into(), at: world.now, reason: "why".into() };
            if let Ok(state) = apply_to_advance(&world.state, &command) {
                world.state = state;
            }
        }
    }
}

fn any_world() -> impl Strategy<Value = (Newer, OnFailure, Require, Start)> {
    (
        prop_oneof![Just(Newer::Wait), Just(Newer::Queue), Just(Newer::Supersede)],
        prop_oneof![Just(OnFailure::Stop), Just(OnFailure::RollBackEnvironment)],
        prop_oneof![Just(Require::All), Just(Require::Any)],
        prop_oneof![Just(Start::Automatic), Just(Start::Manual)],
    )
}

fn world((newer, on_failure, require, start): (Newer, OnFailure, Require, Start)) -> World {
    let mut world = World::new(&["a", "b"]);
    world.promotion = Promotion { newer, on_failure, require, start, ..world.promotion };
    world.gate("soak", GateKind::Soak(Duration::from_mins(30)));
    world
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn nothing_is_written_before_its_gates_hold(
        start in any_world(),
        happenings in proptest::collection::vec(happening(), 1..80),
    ) {
        let mut world = world(start);
        let mut action = None;
        for happening in &happenings {
            happen(&mut world, happening, action.as_ref());
            let before = world.state.current.clone();
            let (report, next) = world.step();
            prop_assert!(!report.waiting.is_empty() || world.state.current.is_none());
            if let Some(Action::Write { revision }) = &next {
                let current = world.state.current.as_ref().unwrap();
                let was_entering = before.is_some_and(|before| {
                    before.revision == *revision && matches!(before.phase, CandidatePhase::Entering { .. })
                });
                prop_assert!(was_entering || report.gates.iter().all(crate::promotion::state::GateRecord::holds));
                prop_assert_eq!(&current.revision, revision);
            }
            if let Some(Action::RollBack { to }) = &next {
                prop_assert_eq!(Some(to), world.state.proved.as_ref().map(|proved| &proved.revision));
            }
            let again = world.dry_step();
            prop_assert_eq!(&again.state, &world.state, "a further step changes the state");
            prop_assert_eq!(&again.action, &next);
            prop_assert!(again.events.is_empty(), "a further step has events: {:?}", again.events);
            action = next;
        }
    }

    #[test]
    fn healthy_environments_always_come_to_rest(
        start in any_world(),
        happenings in proptest::collection::vec(happening(), 1..60),
    ) {
        let mut world = world((start.0, start.1, start.2, Start::Automatic));
        let mut action = None;
        for happening in &happenings {
            happen(&mut world, happening, action.as_ref());
            action = world.step().1;
        }
        world.from.iter_mut().for_each(|from| (from.settled, from.measured) = (Ok(()), Ok(fleet(0))));
        (world.settled, world.measured, world.state.hold, world.state.requested) = (Ok(()), fleet(0), None, None);
        world.has(9);
        for _ in 0..20 {
            world.settle();
            world.now += SignedDuration::from_mins(60);
        }
        prop_assert_eq!((world.at.clone(), world.proved()), (Some(revision(9)), "r9".to_owned()));
    }
}
