//! What holds for moves between environments, whatever happens.

use std::time::Duration;

use jiff::SignedDuration;
use model::object::promotion::{GateKind, Newer, OnFailure, Promotion, Require, Start};
use proptest::prelude::*;

use super::world::{World, fleet, revision};
use crate::promotion::advance::AdvanceAction;
use crate::promotion::command::{Command, CommandKind, apply_to_advance};
use crate::promotion::state::CandidatePhase;

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
        any::<bool>().prop_map(|with_values| CommandKind::Rollback { to: None, with_values }),
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
fn happen(world: &mut World, happening: &Happening, action: Option<&AdvanceAction>) {
    match happening {
        Happening::Has(from, number) => world.from[*from].has = Some(revision(*number)),
        Happening::Before(from, failed) => world.from[*from].measured = Ok(fleet(*failed)),
        Happening::Settled(is_settled) => world.settled = if *is_settled { Ok(()) } else { Err("it moves".into()) },
        Happening::Fleet(failed) => world.measured = fleet(*failed),
        Happening::Act => match action {
            Some(AdvanceAction::Write { revision } | AdvanceAction::RollBack { to: revision }) => {
                world.at = Some(revision.clone());
            }
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
            if let Some(AdvanceAction::Write { revision }) = &next {
                let current = world.state.current.as_ref().unwrap();
                let was_entering = before.is_some_and(|before| {
                    before.revision == *revision && matches!(before.phase, CandidatePhase::Entering { .. })
                });
                prop_assert!(was_entering || report.gates.iter().all(crate::promotion::state::GateRecord::holds));
                prop_assert_eq!(&current.revision, revision);
            }
            if let Some(AdvanceAction::RollBack { to }) = &next {
                prop_assert!(world.state.has_proved(to));
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
        (world.state.stays, world.state.rejected) = (None, Vec::new());
        world.has(9);
        for _ in 0..20 {
            world.settle();
            world.now += SignedDuration::from_mins(60);
        }
        prop_assert_eq!((world.at.clone(), world.proved()), (Some(revision(9)), "r9".to_owned()));
    }
}
