//! Decisions of people about the states of an environment.

use std::collections::BTreeMap;

use jiff::Timestamp;
use model::object::AnyObject;
use model::read::read_file;
use model::source::FileId;

use super::*;
use crate::promotion::evidence::{Approver, Authors};
use crate::promotion::state::{
    BranchPosition, Candidate, CandidatePhase, Decision, GateRecord, GateStatus, Move, MoveStage, Proved, Rejection,
};

/// A program that knows a promotion. `ann` is the only member of the team `managers`.
struct Program(Promotion, Teams);

impl DecisionFacts for Program {
    fn promotion(&self) -> Option<&Promotion> {
        Some(&self.0)
    }

    fn teams(&self) -> &Teams {
        &self.1
    }

    fn with_target(&self, _: &str, _: &RolloutState, command: &Command) -> Result<Command, CommandRefusal> {
        Ok(command.clone())
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
    Program(found.spec.clone(), Teams::from([("managers".into(), ["ann".into()].into())]))
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
        base: BranchPosition::default(),
        phase: MoveStage::Moving,
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
    let stable = Proved { revision: revision("r1"), at: BranchPosition::default(), on: Timestamp::UNIX_EPOCH };
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
    let request = DecisionRequest { about, revision: None, command: &command(kind) };
    let applied = apply(state, request, &program(spec)).map_err(|refusal| refusal.to_string())?;
    let name = |(changed, _): &(ChangedMove, MoveEvent)| match changed {
        ChangedMove::Main(_) => "main".to_owned(),
        ChangedMove::Release(name, _) => format!("release of {name}"),
        ChangedMove::Renderer(_) => "renderer".to_owned(),
        ChangedMove::Source(name, _) => format!("source {name}"),
        ChangedMove::Rollout(name, _) => format!("rollout of {name}"),
    };
    Ok(applied.changes.iter().map(name).collect())
}

const ALL: &str = "select: {platform: true, workloadSelector: {}}, rings: [{name: all}]";

#[test]
fn gate_of_two_waiting_revisions_is_skipped_for_the_named_one() {
    let open = |name: &str| {
        let (status, since, text) = (GateStatus::Waiting, Timestamp::UNIX_EPOCH, "".into());
        GateRecord { name: name.into(), status, since, text }
    };
    let mut state = state();
    let release = state.releases.get_mut("shop").and_then(|found| found.current.as_mut()).unwrap();
    release.gates = vec![open("failures"), open("people")];
    let rollout = state.rollouts.get_mut("shop").and_then(|found| found.current.as_mut()).unwrap();
    rollout.gates = vec![open("failures"), open("pause")];
    let skip = |gate: &str, revision: Option<&str>| {
        let command = command(CommandKind::Skip { gate: gate.into() });
        let request = DecisionRequest { about: About::Workload("shop"), revision, command: &command };
        let applied = apply(&state, request, &program(ALL));
        applied.map(|found| found.revision.unwrap().0.to_string()).map_err(|refusal| refusal.to_string())
    };
    let both = "the gate `failures` waits for `r2` in a ring, and for `2.0.0` before the environment. Name one with `--revision`";
    assert_eq!(skip("failures", None), Err(both.to_owned()));
    assert_eq!(skip("failures", Some("2.0.0")), Ok("2.0.0".to_owned()));
    assert_eq!(skip("failures", Some("r2")), Ok("r2".to_owned()));
    assert_eq!(skip("pause", None), Ok("r2".to_owned()));
    assert_eq!(skip("people", None), Ok("2.0.0".to_owned()));
    let unknown = "there is no gate `night` now. The gates are: failures, pause";
    assert_eq!(skip("night", None), Err(unknown.to_owned()));
}

#[test]
fn environment_decisions_apply_to_its_commits_and_their_rollouts() {
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
    let mut at_rest = state();
    at_rest.rollouts.clear();
    assert_eq!(of(&at_rest, CommandKind::Abort, ALL), ["release of shop"]);
}

#[test]
fn decisions_about_unknown_subjects_are_refused() {
    let refused = |about, kind| changed(&state(), about, kind, ALL).unwrap_err();
    assert_eq!(refused(About::Workload("shopp"), CommandKind::Abort), "`shopp` does not move there");
    assert_eq!(refused(About::Renderer, CommandKind::Hold), "`the renderer` does not move there");
    assert_eq!(refused(About::Source("values"), CommandKind::Abort), "`values` does not move there");
    assert_eq!(changed(&state(), About::Source("values"), CommandKind::Hold, ALL).unwrap(), ["source values"]);
    let (about, command) = (About::Environment, command(CommandKind::Abort));
    let other = apply(&state(), DecisionRequest { about, revision: Some("c1"), command: &command }, &program(ALL));
    assert_eq!(other.unwrap_err().to_string(), "the decision is about c1, but c2 moves now");
}

#[test]
fn requested_commit_releases_values_held_by_a_rollback() {
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

/// `people` of the ring waits for `shop`, and `owners` and `managers` for its release and for the commit `c3`. `bob` wrote the release.
fn waiting() -> State {
    let since = Timestamp::UNIX_EPOCH;
    let record = |name: &str| GateRecord {
        name: name.into(),
        status: GateStatus::Waiting,
        since,
        text: "0 of 1 approval".into(),
    };
    let mut state = state();
    let candidate = |revision: Revision, gates: &[&str], author: &str| Candidate {
        gates: gates.iter().map(|name| record(name)).collect(),
        authors: Some(Authors::one(Some(author.into()))),
        ..Candidate::new(revision, since, CandidatePhase::Gated)
    };
    state.main.as_mut().unwrap().current = Some(candidate(revision("c3"), &["owners"], "eve"));
    let release = state.releases.get_mut("shop").unwrap();
    release.current = Some(candidate(revision("2.0.0"), &["owners", "managers"], "bob"));
    let rollout = state.rollouts.get_mut("shop").unwrap().current.as_mut().unwrap();
    (rollout.gates, rollout.authors) = (vec![record("people")], Some(Authors::one(Some("ann".into()))));
    state
}

const PEOPLE: &str = "select: {platform: true, workloadSelector: {}}, \
    gates: [{name: owners, approval: {count: 1}}, {name: managers, approval: {count: 1, team: managers}}], \
    rings: [{name: all, prove: [{name: people, approval: {count: 1}}]}]";

fn approval(by: &str, gate: Option<&str>) -> Command {
    Command { by: by.into(), ..command(CommandKind::Approve { gate: gate.map(Into::into) }) }
}

/// What an approval changes, or why it is refused.
fn approved(state: &State, about: About<'_>, revision: Option<&str>, approval: &Command) -> String {
    match apply(state, DecisionRequest { about, revision, command: approval }, &program(PEOPLE)) {
        Ok(Applied { subject, revision, event, changes }) => {
            assert_eq!(changes.len(), 1);
            format!("{} {}: {}", subject.as_deref().unwrap_or("main"), revision.unwrap().0, event.text)
        }
        Err(refusal) => refusal.to_string(),
    }
}

#[test]
fn an_approval_is_for_one_gate_of_one_change() {
    let of = |by, about, gate, revision| approved(&waiting(), about, revision, &approval(by, gate));
    let shop = About::Workload("shop");
    let several = "several changes wait for approvals. Name one by its workload, its gate or its revision: ";
    let all = "main c3 at the gate `owners` (0 of 1 approval); shop 2.0.0 at the gate `owners` (0 of 1 approval); \
               shop r2 in the ring `all` at the gate `people` (0 of 1 approval)";
    assert_eq!(of("kai", About::Environment, None, None), format!("{several}{all}"));
    assert_eq!(
        of("kai", About::Environment, None, Some("c3")),
        "main c3: approve for the gate `owners` by kai: a reason"
    );
    assert_eq!(of("kai", shop, Some("people"), None), "shop r2: approve for the gate `people` by kai: a reason");
    assert_eq!(of("kai", shop, None, Some("2.0.0")), "shop 2.0.0: approve for the gate `owners` by kai: a reason");
    assert_eq!(of("kai", shop, None, Some("1.9.0")), "the decision is about 1.9.0, but 2.0.0 moves now");
    // The only gate at which the account counts.
    assert_eq!(of("bob", shop, None, None), "shop r2: approve for the gate `people` by bob: a reason");
    let kai = approval("kai", None);
    let mut done = waiting();
    done.rollouts.clear();
    done.releases.get_mut("shop").unwrap().current = None;
    assert_eq!(
        approved(&done, About::Environment, None, &kai),
        "main c3: approve for the gate `owners` by kai: a reason"
    );
    let of_people = approval("kai", Some("people"));
    let others = "nothing of it waits for approvals now. These wait: main c3 at the gate `owners` (0 of 1 approval)";
    assert_eq!(approved(&done, About::Environment, None, &of_people), others);
    // Nothing about others: the token may be limited to the workload.
    assert_eq!(approved(&done, shop, None, &kai), "nothing of it waits for approvals now");
    assert_eq!(approved(&done, About::Workload("shopp"), None, &kai), "`shopp` does not move there");
    assert_eq!(approved(&state(), About::Environment, None, &kai), "nothing of it waits for approvals now");
}

#[test]
fn an_approval_that_does_not_count_is_refused_with_the_reason() {
    let of = |by, gate| approved(&waiting(), About::Workload("shop"), None, &approval(by, Some(gate)));
    let author = "the approval does not count at the gate `owners`: Bob is an author of the change";
    assert_eq!(of("Bob", "owners"), author);
    let team = "the approval does not count at the gate `managers`: kai is not in the team `managers`";
    assert_eq!(of("kai", "managers"), team);
    assert_eq!(of("ann", "managers"), "shop 2.0.0: approve for the gate `managers` by ann: a reason");
    let mut approved_state = waiting();
    let release = approved_state.releases.get_mut("shop").unwrap().current.as_mut().unwrap();
    release.approvals.push(Approver {
        account: "Kai".into(),
        at: Timestamp::UNIX_EPOCH,
        by: "command".into(),
        gate: Some("owners".into()),
    });
    let again = |gate| approved(&approved_state, About::Workload("shop"), None, &approval("kai", Some(gate)));
    assert_eq!(again("owners"), "kai approved it already");
    release_holds(&mut approved_state);
    let again = approved(&approved_state, About::Workload("shop"), None, &approval("eve", Some("owners")));
    assert_eq!(again, "the gate `owners` holds already");
}

fn release_holds(state: &mut State) {
    let release = state.releases.get_mut("shop").unwrap().current.as_mut().unwrap();
    release.gates.iter_mut().for_each(|record| record.status = GateStatus::Passed);
}

#[test]
fn a_retry_of_the_commit_lets_all_that_it_may_bring_start_again() {
    let rejection = |name: &str, part| Rejection {
        revision: revision(name),
        reason: "1 failed".into(),
        part,
        at: Some(Timestamp::UNIX_EPOCH),
    };
    let mut state = state();
    let main = AdvanceState { current: None, ..state.main.take().unwrap() };
    state.main = Some(AdvanceState { rejected: vec![rejection("c2", Part::Both)], ..main });
    // The move to `r0` was taken back after that to `r2`, which `c2` gives.
    let rejected =
        vec![rejection("r2", Part::Platform), rejection("v5", Part::Configuration), rejection("r0", Part::Both)];
    state.rollouts.insert("shop".into(), RolloutState { current: None, rejected, ..moving() });
    let (about, command) = (About::Environment, command(CommandKind::Retry));
    let applied = apply(&state, DecisionRequest { about, revision: None, command: &command }, &program(ALL)).unwrap();
    let rejected = applied.changes.iter().find_map(|(changed, _)| match changed {
        ChangedMove::Rollout(_, rollout) => Some(rollout.rejected.clone()),
        _ => None,
    });
    assert_eq!(rejected, Some(vec![rejection("v5", Part::Configuration)]));
}
