//! Steps of an environment from facts in memory.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use model::label::Labels;
use model::object::promotion::ChangeOrigin;
use model::object::{AnyObject, Promotion};
use model::read::read_file;
use model::source::FileId;

use super::*;
use crate::promotion::advance::FromEnvironment;
use crate::promotion::evidence::{Approver, Authors, Measured, PlaceReports};
use crate::promotion::gates::Teams;
use crate::promotion::report::{EventKind, MoveEvent, ReportPhase};
use crate::promotion::state::{BranchPosition, Candidate, CandidatePhase, Exercised, MoveRequest, Proved, Rejection};
use crate::promotion::vector::Part;

/// What a program knows of `prod`, after `stage`.
struct Known {
    head: Option<Promotion>,
    /// The promotions at other commits of the main branch.
    others: BTreeMap<Revision, Promotion>,
    line: Vec<Revision>,
    /// The commit that `stage` has.
    stage: Revision,
    named: Option<Revision>,
    problem: Option<Arc<str>>,
    releases: Vec<ReleaseFacts>,
    sources: Vec<SourceFacts>,
    /// The newest commit of each source.
    heads: BTreeMap<Arc<str>, Revision>,
    /// The revision that the sources give each workload in the rings.
    rollouts: BTreeMap<Arc<str>, Revision>,
    renderer: Option<Renderer>,
    teams: Teams,
    /// What people say about each revision.
    said: BTreeMap<Revision, RevisionEvidence>,
    /// The revisions about which people and checks were asked.
    asked: RefCell<Vec<Revision>>,
}

fn revision(text: &str) -> Revision {
    Revision(text.into())
}

fn promotion(spec: &str) -> Promotion {
    let text = format!(
        "{{apiVersion: fleet.kalypso.io/v1alpha1, kind: Promotion, metadata: {{name: p}}, spec: {{to: prod, from: [stage], {spec}}}}}"
    );
    let read = read_file(FileId::default(), "p.yaml", text.as_bytes());
    let Some(AnyObject::Promotion(found)) = read.objects.first() else { panic!("{:?}", read.diagnostics) };
    found.spec.clone()
}

/// At rest: `prod` has `c1`, and so has `stage`.
fn known(spec: &str) -> Known {
    Known {
        head: Some(promotion(spec)),
        others: BTreeMap::new(),
        line: vec![revision("c1")],
        stage: revision("c1"),
        named: Some(revision("c1")),
        problem: None,
        releases: Vec::new(),
        sources: Vec::new(),
        heads: BTreeMap::new(),
        rollouts: BTreeMap::new(),
        renderer: None,
        teams: BTreeMap::new(),
        said: BTreeMap::new(),
        asked: RefCell::default(),
    }
}

fn proved(text: &str) -> Proved {
    Proved { revision: revision(text), at: BranchPosition::default(), on: Timestamp::UNIX_EPOCH }
}

fn at_rest() -> State {
    let main = AdvanceState { proved: Some(proved("c1")), ..AdvanceState::beginning(revision("c1")) };
    State { main: Some(main.with_admitted()), ..State::default() }
}

fn hold() -> Decision {
    Decision { by: "ann".into(), at: Timestamp::UNIX_EPOCH, reason: "an outage".into() }
}

impl Facts for Known {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }

    fn teams(&self) -> &Teams {
        &self.teams
    }

    fn promotion(&self, commit: Option<&Revision>) -> Option<Promotion> {
        commit.map_or(self.head.as_ref(), |commit| self.others.get(commit)).cloned()
    }

    fn problem(&self, _: &Promotion) -> Option<Arc<str>> {
        self.problem.clone()
    }

    fn line(&self) -> &[Revision] {
        &self.line
    }

    fn named(&self) -> Option<&Revision> {
        self.named.as_ref()
    }

    fn baseline(&self) -> Option<&Revision> {
        None
    }

    fn reverts_to(&self, _: &AdvanceState) -> Option<Revision> {
        None
    }

    fn settled(&self) -> Settled {
        Settled::default()
    }

    fn is_proposed(&self) -> bool {
        false
    }

    fn is_published(&self) -> bool {
        true
    }

    fn before(&self, environment: &Arc<str>, subject: &Subject) -> FromEnvironment {
        let has = match subject {
            Subject::Main => Some(self.stage.clone()),
            Subject::Release(_) => Some(revision("2.0.0")),
            Subject::Renderer => self.renderer.as_ref().map(|renderer| renderer.version.clone()),
        };
        FromEnvironment::new(Arc::clone(environment), (has, Ok(())), None)
    }

    fn measured(&self, _: Option<&Arc<str>>, _: &Subject) -> facts::Known<Measured> {
        Ok(Measured { places: 2, expected: 2, succeeded: 2, ..Measured::default() })
    }

    fn evidence(&self, _: &Subject, revision: &Revision, _: &Promotion) -> RevisionEvidence {
        self.asked.borrow_mut().push(revision.clone());
        self.said.get(revision).cloned().unwrap_or_default()
    }

    fn releases(&self) -> Option<Vec<ReleaseFacts>> {
        Some(self.releases.clone())
    }

    fn named_release(&self, _: &Arc<str>, _: &Promotion) -> Option<Revision> {
        Some(revision("1.0.0"))
    }

    fn renderer(&self) -> Option<Renderer> {
        self.renderer.clone()
    }

    fn sources(&self) -> Option<Vec<SourceFacts>> {
        Some(self.sources.clone())
    }

    fn heads(&self, waiting: &[WaitingSource]) -> Vec<facts::Known<SourceHead>> {
        let head = |waiting: &WaitingSource| {
            let revision = self.heads.get(&waiting.source.name).cloned().ok_or("it can't be reached")?;
            let is_change = revision != waiting.source.commit;
            let evidence = RevisionEvidence::default();
            Ok(SourceHead { revision, is_change, evidence, candidate: None, unmerged: None })
        };
        waiting.iter().map(head).collect()
    }

    fn rollouts(&self) -> Vec<Arc<str>> {
        self.rollouts.keys().cloned().collect()
    }

    fn rollout(&self, workload: &Arc<str>, _: &RolloutState, _: &Promotion) -> facts::Known<RolloutFacts<'_>> {
        let places: Vec<PlaceReports> = Vec::new();
        Ok(RolloutFacts {
            desired: self.rollouts.get(workload).cloned(),
            part: Part::Both,
            is_lost: false,
            is_kept: false,
            ahead: None,
            back: None,
            position: BranchPosition::default(),
            ring: Vec::new().into(),
            domain: Vec::new().into(),
            hash: Vec::new().into(),
            domains: Vec::new().into(),
            failing: Vec::new(),
            measured: Ok(places.into()),
            changed: None,
            is_only_new: false,
            evidence: RevisionEvidence::default(),
        })
    }
}

/// The moves of a plan: subject, phase and what is written.
fn moves(plan: &StepPlan) -> Vec<String> {
    let one = |planned: &PlannedMove| {
        let admitted = planned.step.state.admitted.as_ref().map_or("nothing", |admitted| &admitted.0);
        format!("{:?} {} has {admitted}: {:?}", planned.subject, planned.step.report.phase.name(), planned.write)
    };
    plan.moves.iter().map(one).collect()
}

#[test]
fn settled_environment_needs_no_queries_and_no_writes() {
    let known = known("select: {platform: true}");
    let plan = step(&known, &at_rest());
    assert_eq!(moves(&plan), ["Main rest has c1: Withdraw { keep: None }"]);
    assert_eq!((plan.settled, plan.problem, plan.admits), (Settled::default(), None, Some(revision("c1"))));
    assert!(known.asked.borrow().is_empty());
}

#[test]
fn a_newer_commit_is_written_when_its_own_gates_hold_too() {
    let mut known = known("select: {platform: true}, delivery: direct");
    known.line.insert(0, revision("c2"));
    known.stage = revision("c2");
    let plan = step(&known, &at_rest());
    let written = "Main entering has c1: Put { revision: Revision(\"c2\"), is_rollback: false }";
    assert_eq!(moves(&plan), [written]);
    assert_eq!(*known.asked.borrow(), [revision("c2")]);
    // The head has no gate any more. The commit that moves, which is older, has one.
    known.line.insert(0, revision("c3"));
    known.others.insert(revision("c2"), promotion("select: {platform: true}, gates: [{name: person, manual: {}}]"));
    let mut state = at_rest();
    let current = Candidate::new(revision("c2"), Timestamp::UNIX_EPOCH, CandidatePhase::Gated);
    state.main.iter_mut().for_each(|main| main.current = Some(current.clone()));
    let plan = step(&known, &state);
    let gates: Vec<_> = plan.moves[0].step.state.current.iter().flat_map(|found| &found.gates).collect();
    assert!(gates.iter().any(|gate| *gate.name == *"person" && !gate.holds()), "{gates:?}");
    assert_eq!(plan.moves[0].step.report.phase, ReportPhase::Gated);
}

#[test]
fn an_open_rollout_keeps_the_environment_from_being_settled() {
    let mut known = known("select: {platform: true}, rings: [{name: all}]");
    known.rollouts.insert("shop".into(), revision("r2"));
    let mut state = at_rest();
    let proving = CandidatePhase::Proving { since: Timestamp::UNIX_EPOCH };
    let current = Candidate::new(revision("c1"), Timestamp::UNIX_EPOCH, proving);
    state.main.iter_mut().for_each(|main| (main.proved, main.current) = (None, Some(current.clone())));
    state.rollouts.insert("shop".into(), RolloutState { stable: Some(proved("r1")), ..RolloutState::default() });
    let plan = step(&known, &state);
    assert!(plan.rollouts[0].is_open());
    assert!(plan.settled.check(&Subject::Main).is_err_and(|reason| reason.contains("shop")), "{:?}", plan.settled);
    assert_eq!(plan.moves[0].step.report.phase, ReportPhase::Proving);
    // With what it has, it is proved.
    known.rollouts.insert("shop".into(), revision("r1"));
    let plan = step(&known, &state);
    assert_eq!(plan.settled, Settled::default());
    assert!(plan.moves[0].step.state.proved.is_some());
}

#[test]
fn open_or_failed_rollout_does_not_block_releases_of_others() {
    let mut known = known("select: {platform: true, workloadSelector: {}}, rings: [{name: all}]");
    let release = |name: &str| ReleaseFacts { workload: name.into(), labels: Some(Labels::default()) };
    known.releases = vec![release("cart"), release("shop")];
    known.rollouts = BTreeMap::from([("cart".into(), revision("r1")), ("shop".into(), revision("r2"))]);
    let mut state = at_rest();
    let proving = |text: &str| {
        let phase = CandidatePhase::Proving { since: Timestamp::UNIX_EPOCH };
        let current = Some(Candidate::new(revision(text), Timestamp::UNIX_EPOCH, phase));
        AdvanceState { current, ..AdvanceState::beginning(revision(text)) }
    };
    state.main = Some(proving("c1"));
    let stable = RolloutState { stable: Some(proved("r1")), ..RolloutState::default() };
    for name in ["cart", "shop"] {
        state.releases.insert(name.into(), proving("1.0.0"));
        state.rollouts.insert(name.into(), stable.clone());
    }
    let proofs = |plan: &StepPlan| plan.moves.iter().map(|planned| planned.step.state.proofs.len()).collect::<Vec<_>>();
    let plan = step(&known, &state);
    assert_eq!(plan.settled.open.keys().map(|name| &**name).collect::<Vec<_>>(), ["shop"]);
    assert_eq!(proofs(&plan), [0, 1, 0]);
    // The one that stopped stops its own release, and the commit of the main branch.
    let reason = "it was rolled back".into();
    let rejection = Rejection { revision: revision("r2"), reason, part: Part::Both, at: None };
    state.rollouts.get_mut("shop").unwrap().rejected.push(rejection);
    let plan = step(&known, &state);
    let is_stop = |event: &MoveEvent| event.kind == EventKind::Stopped;
    let stops: Vec<_> = plan.moves.iter().map(|planned| planned.step.events.iter().any(is_stop)).collect();
    assert_eq!(plan.settled.failed.keys().map(|name| &**name).collect::<Vec<_>>(), ["shop"]);
    assert_eq!(proofs(&plan), [0, 1, 0]);
    assert_eq!(stops, [true, false, true]);
}

#[test]
fn problem_blocks_new_changes_and_not_running_rollouts() {
    let mut known = known("select: {platform: true}, rings: [{name: all}]");
    known.problem = Some("a circle".into());
    known.rollouts.insert("shop".into(), revision("r1"));
    let plan = step(&known, &at_rest());
    assert_eq!((plan.moves.len(), plan.rollouts.len(), plan.problem.as_deref()), (0, 1, Some("a circle")));
    // Without any promotion, nothing moves at all.
    known.head = None;
    let plan = step(&known, &at_rest());
    assert_eq!((plan.moves.len(), plan.rollouts.len(), plan.problem), (0, 0, None));
}

#[test]
fn sources_wait_for_gates_and_holds_and_else_follow_their_heads() {
    let source = |name: &str, origin| SourceFacts { name: name.into(), origin, commit: revision("v1") };
    let mut known = known("select: {platform: true}, gates: [{name: person, for: [values], manual: {}}]");
    known.sources = vec![source("values", ChangeOrigin::Values), source("application/shop", ChangeOrigin::Application)];
    known.heads = known.sources.iter().map(|source| (Arc::clone(&source.name), revision("v2"))).collect();
    let names = |plan: &StepPlan| plan.sources.iter().map(|source| source.name.to_string()).collect::<Vec<_>>();
    let plan = step(&known, &at_rest());
    assert_eq!(names(&plan), ["values"]);
    assert_eq!(plan.sources[0].state().admitted, Some(revision("v1")));
    let mut held = at_rest();
    held.main.iter_mut().for_each(|main| main.hold = Some(hold()));
    assert_eq!(names(&step(&known, &held)), ["values", "application/shop"]);
    // A recorded source that nothing holds any more follows its head.
    held.sources.insert("application/shop".into(), AdvanceState::beginning(revision("v1")));
    held.main = at_rest().main;
    assert_eq!(step(&known, &held).released_sources, ["application/shop".into()]);
    // One that can't be read keeps its state, and stops no other.
    known.heads.clear();
    let plan = step(&known, &at_rest());
    assert_eq!(plan.problems, ["values: it can't be reached"]);
    assert_eq!(plan.sources[0].state().admitted, Some(revision("v1")));
}

#[test]
fn releases_move_where_they_are_selected_and_are_forgotten_elsewhere() {
    let mut known =
        known("select: {platform: false, workloadSelector: {matchLabels: {tier: front}}}, delivery: direct");
    let release = |workload: &str, tier: &str| ReleaseFacts {
        workload: workload.into(),
        labels: Some(Labels::from_iter([("tier", tier)])),
    };
    known.releases = vec![release("shop", "front"), release("search", "back")];
    let mut state = at_rest();
    for workload in ["shop", "search"] {
        state.releases.insert(workload.into(), AdvanceState::beginning(revision("1.0.0")));
    }
    let plan = step(&known, &state);
    let written = "Release(\"shop\") entering has 1.0.0: Put { revision: Revision(\"2.0.0\"), is_rollback: false }";
    assert_eq!(moves(&plan), [written]);
    assert_eq!(plan.forgotten, ["search".into()]);
    state.main.iter_mut().for_each(|main| main.hold = Some(hold()));
    let held = step(&known, &state);
    assert!(held.moves[0].step.report.is_held);
    assert_eq!((&held.moves[0].write, &held.moves[0].step.state.current), (&Write::Nothing, &None));
}

#[test]
fn a_renderer_that_changes_output_passes_the_gates_of_commits() {
    let mut known = known("select: {platform: true}, gates: [{name: person, manual: {}}]");
    let (version, changes) = (revision("2"), Some(revision("1")));
    known.renderer = Some(Renderer { version, changes, is_known: true });
    let state = at_rest();
    let plan = step(&known, &state);
    assert_eq!(moves(&plan)[1], "Renderer gated has 1: Nothing");
    // One that changes nothing needs no gate.
    let mut recorded = at_rest();
    recorded.renderer = Some(plan.moves[1].step.state.clone());
    known.renderer.iter_mut().for_each(|renderer| renderer.changes = None);
    assert_eq!(moves(&step(&known, &recorded))[1], "Renderer rest has 2: Nothing");
    assert_eq!(step(&known, &state).moves.len(), 1);
}

#[test]
fn only_the_installed_renderer_moves() {
    let mut known = known("select: {platform: true}, gates: [{name: person, manual: {}}]");
    known.renderer = Some(Renderer { version: revision("3"), changes: Some(revision("2")), is_known: true });
    let since = Timestamp::UNIX_EPOCH;
    for phase in [CandidatePhase::Gated, CandidatePhase::Entering { since }, CandidatePhase::Proving { since }] {
        let current = Some(Candidate::new(revision("2"), since, phase));
        let renderer = AdvanceState { current, ..AdvanceState::beginning(revision("2")) };
        let state = State { renderer: Some(renderer), ..at_rest() };
        let plan = step(&known, &state);
        let step = &plan.moves[1].step;
        assert_eq!((&step.events[0].revision, &*step.events[0].text), (&Some(revision("2")), "`3` is installed now"));
        // Its folders prove nothing while the installed version waits.
        assert!(!step.state.has_proved(&revision("2")));
        assert_eq!(moves(&plan)[1], "Renderer gated has 2: Nothing");
        assert_eq!(step.state.current.as_ref().unwrap().revision, revision("3"));
    }
}

#[test]
fn a_version_that_is_not_installed_can_not_be_promoted() {
    let mut known = known("select: {platform: true}, gates: [{name: person, manual: {}}]");
    known.renderer = Some(Renderer { version: revision("3"), changes: Some(revision("2")), is_known: true });
    let decision = Decision { by: "ana".into(), at: Timestamp::UNIX_EPOCH, reason: "".into() };
    let requested = Some(MoveRequest { revision: revision("4"), decision, is_retry: false });
    let renderer = AdvanceState { requested, ..AdvanceState::beginning(revision("2")) };
    let plan = step(&known, &State { renderer: Some(renderer), ..at_rest() });
    let step = &plan.moves[1].step;
    let text = "ana asked for it, but `3` is installed: only that version can move";
    assert_eq!((&step.events[0].revision, &*step.events[0].text), (&Some(revision("4")), text));
    assert_eq!(step.state.requested, None);
    assert_eq!(moves(&plan)[1], "Renderer gated has 2: Nothing");
}

/// What people say about a change of `author` that others approved.
fn said(author: &str, approved_by: &[&str]) -> RevisionEvidence {
    let approver = |account: &&str| {
        let at = Timestamp::UNIX_EPOCH;
        Approver { account: Arc::from(*account), at, by: "review".into(), gate: None }
    };
    let authors = Authors::one(Some(author.into()));
    RevisionEvidence { approvals: approved_by.iter().map(approver).collect(), authors, ..RevisionEvidence::default() }
}

#[test]
fn decisions_about_a_newer_commit_do_not_apply_to_the_moving_one() {
    let mut known = known("select: {platform: true}, gates: [{name: people, approval: {count: 1}}]");
    known.line = ["c3", "c2", "c1"].map(revision).into();
    (known.stage, known.named) = (revision("c3"), Some(revision("c2")));
    let since = Timestamp::UNIX_EPOCH;
    let state = |phase| {
        let mut state = at_rest();
        let main = state.main.as_mut().unwrap();
        main.current = Some(Candidate::new(revision("c2"), since, phase));
        main.evidence = vec![Exercised { environment: "stage".into(), revision: revision("c2"), since }];
        state
    };
    // It is approved, and the newer one, whose author approved it, waits.
    known.said = BTreeMap::from([(revision("c2"), said("ann", &["bob"])), (revision("c3"), said("bob", &[]))]);
    let plan = step(&known, &state(CandidatePhase::Entering { since }));
    assert_eq!(moves(&plan), ["Main proving has c2: Withdraw { keep: None }"]);
    // Only the newer one is approved.
    known.said = BTreeMap::from([(revision("c2"), said("ann", &["ann"])), (revision("c3"), said("bob", &["ann"]))]);
    known.named = Some(revision("c1"));
    let plan = step(&known, &state(CandidatePhase::Gated));
    assert_eq!(moves(&plan)[0].split(':').next(), Some("Main gated has c1"), "{:?}", moves(&plan));
    assert_eq!(plan.moves[0].step.state.current.as_ref().unwrap().revision, revision("c2"));
    // What replaces it in the same step is evaluated with what people say about itself.
    known.asked.borrow_mut().clear();
    let mut replaced = state(CandidatePhase::Gated);
    replaced.main.as_mut().unwrap().evidence.clear();
    let plan = step(&known, &replaced);
    assert_eq!(plan.moves[0].step.state.current.as_ref().unwrap().revision, revision("c3"));
    assert_eq!(moves(&plan)[0].split(' ').nth(1), Some("entering"), "{:?}", moves(&plan));
    assert_eq!(*known.asked.borrow(), [revision("c2"), revision("c3")]);
}
