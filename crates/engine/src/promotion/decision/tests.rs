//! Decisions of people about the states of an environment.

use std::collections::BTreeMap;

use jiff::Timestamp;
use model::object::AnyObject;
use model::read::read_file;
use model::source::FileId;

use super::*;
use crate::promotion::state::{Candidate, CandidatePhase, Decision, Move, Phase, Position, Proved};
use crate::promotion::vector::Part;

/// A program that knows a promotion.
struct Program(Promotion);

impl DecisionFacts for Program {
    fn promotion(&self) -> Option<&Promotion> {
        Some(&self.0)
    }

    fn with_target(&self, _: &str, _: &RolloutState, command: &Command) -> Result<Command, Refusal> {
        Ok(command.clone())
    }

    fn with_whole_name(&self, _: &str, _: &AdvanceState, command: &Command) -> Command {
        command.clone()
    }

    fn beginning(&self, source: &str) -> Option<AdvanceState> {
        (source == "values").then(|| AdvanceState::beginning(revision("v1")))
    }
}

fn revision(text: &str) -> Revision {
    Revision(text.into())
}

fn program(spec: &str) -> Program {
    let text = format!(
        "{{apiVersion: fleet.kalypso.io/v1alpha1, kind: Promotion, metadata: {{name: p}}, spec: {{to: prod, from: [stage], {spec}}}}}"
    );
    let read = read_file(FileId::default(), "p.yaml", text.as_bytes());
    let Some(AnyObject::Promotion(found)) = read.objects.first() else { panic!("{:?}", read.diagnostics) };
    Program(found.spec.clone())
}

fn command(kind: CommandKind) -> Command {
    Command { kind, by: "ann".into(), at: Timestamp::UNIX_EPOCH, reason: "a reason".into() }
}

/// `shop` moves to `r2` in the first ring.
fn moving() -> RolloutState {
    let current = Move {
        part: Part::Both,
        is_due: false,
        revision: revision("r2"),
        started: Timestamp::UNIX_EPOCH,
        base: Position::default(),
        phase: Phase::Moving,
        layout: "".into(),
        ring: 0,
        ring_started: Timestamp::UNIX_EPOCH,
        released: BTreeMap::new(),
        good_since: None,
        gates: Vec::new(),
        approvals: Vec::new(),
        authors: None,
        done: Vec::new(),
    };
    let stable = Proved { revision: revision("r1"), at: Position::default(), on: Timestamp::UNIX_EPOCH };
    RolloutState { stable: Some(stable), current: Some(current), ..RolloutState::default() }
}

/// `c2` proves itself, `shop` moves, and its release 2.0.0 waits.
fn state() -> State {
    let since = Timestamp::UNIX_EPOCH;
    let at = |admitted: &str, moving: &str, phase| AdvanceState {
        current: Some(Candidate::new(revision(moving), since, phase)),
        ..AdvanceState::beginning(revision(admitted))
    };
    let mut state = State { main: Some(at("c2", "c2", CandidatePhase::Proving { since })), ..State::default() };
    state.releases.insert("shop".into(), at("1.0.0", "2.0.0", CandidatePhase::Gated));
    state.rollouts.insert("shop".into(), moving());
    state
}

/// The names of what a command changes.
fn changed(state: &State, about: About<'_>, kind: CommandKind, spec: &str) -> Result<Vec<String>, String> {
    let applied = apply(state, (about, None), &command(kind), &program(spec)).map_err(|refusal| refusal.to_string())?;
    let name = |(changed, _): &(Changed, Event)| match changed {
        Changed::Main(_) => "main".to_owned(),
        Changed::Release(name, _) => format!("release of {name}"),
        Changed::Renderer(_) => "renderer".to_owned(),
        Changed::Source(name, _) => format!("source {name}"),
        Changed::Rollout(name, _) => format!("rollout of {name}"),
    };
    Ok(applied.changes.iter().map(name).collect())
}

const ALL: &str = "select: {platform: true, workloadSelector: {}}, rings: [{name: all}]";

#[test]
fn a_decision_about_the_environment_is_about_its_commits_and_what_they_bring() {
    let of = |kind| changed(&state(), About::Environment, kind, ALL).unwrap();
    assert_eq!(of(CommandKind::Hold), ["main"]);
    assert_eq!(of(CommandKind::Abort), ["main", "rollout of shop"]);
    let mut waiting = state();
    let gated = Candidate::new(revision("c3"), Timestamp::UNIX_EPOCH, CandidatePhase::Gated);
    waiting.main.iter_mut().for_each(|main| main.current = Some(gated.clone()));
    assert_eq!(changed(&waiting, About::Environment, CommandKind::Abort, ALL).unwrap(), ["main"]);
    // Where only releases move, the environment can be held, and nothing else.
    let releases = "select: {platform: false, workloadSelector: {}}";
    assert_eq!(changed(&state(), About::Environment, CommandKind::Hold, releases).unwrap(), ["main"]);
    let refused = changed(&state(), About::Environment, CommandKind::Abort, releases);
    assert_eq!(refused.unwrap_err(), "`main` does not move there");
}

#[test]
fn a_decision_about_a_workload_is_about_its_rings_first() {
    let of = |state: &State, kind, spec| changed(state, About::Workload("shop"), kind, spec).unwrap();
    assert_eq!(of(&state(), CommandKind::Abort, ALL), ["rollout of shop"]);
    assert_eq!(of(&state(), CommandKind::Hold, ALL), ["release of shop", "rollout of shop"]);
    let request = CommandKind::Request { revision: revision("3.0.0") };
    assert_eq!(of(&state(), request, ALL), ["release of shop"]);
    // The ring asks for no approval, so the release that waits is approved.
    let approve = CommandKind::Approve { gate: None };
    assert_eq!(of(&state(), approve.clone(), ALL), ["release of shop"]);
    let asks = "select: {workloadSelector: {}}, rings: [{name: all, prove: [{name: people, approval: {count: 1}}]}]";
    assert_eq!(of(&state(), approve, asks), ["rollout of shop"]);
    let mut at_rest = state();
    at_rest.rollouts.clear();
    assert_eq!(of(&at_rest, CommandKind::Abort, ALL), ["release of shop"]);
}

#[test]
fn what_is_not_there_is_refused() {
    let refused = |about, kind| changed(&state(), about, kind, ALL).unwrap_err();
    assert_eq!(refused(About::Workload("shopp"), CommandKind::Abort), "`shopp` does not move there");
    assert_eq!(refused(About::Renderer, CommandKind::Hold), "`the renderer` does not move there");
    assert_eq!(refused(About::Source("values"), CommandKind::Abort), "`values` does not move there");
    assert_eq!(changed(&state(), About::Source("values"), CommandKind::Hold, ALL).unwrap(), ["source values"]);
    let other = apply(&state(), (About::Environment, Some("c1")), &command(CommandKind::Abort), &program(ALL));
    assert_eq!(other.unwrap_err().to_string(), "the decision is about c1, but c2 moves now");
}

#[test]
fn a_person_who_moves_a_commit_frees_what_a_rollback_with_values_holds() {
    let mut rolled_back = state();
    let decision = command(CommandKind::Hold).decision();
    rolled_back.main.iter_mut().for_each(|main| main.stays = Some(decision.clone()));
    let held = |hold| AdvanceState { hold, ..AdvanceState::beginning(revision("v1")) };
    rolled_back.sources.insert("values".into(), held(Some(decision)));
    rolled_back.sources.insert("application/shop".into(), held(Some(command(CommandKind::Resume).decision())));
    let other = Decision { by: "ben".into(), ..command(CommandKind::Hold).decision() };
    rolled_back.sources.insert("values/more".into(), held(Some(other)));
    let request = CommandKind::Request { revision: revision("c3") };
    let found = changed(&rolled_back, About::Environment, request, ALL).unwrap();
    assert_eq!(found, ["main", "source application/shop", "source values"]);
}
