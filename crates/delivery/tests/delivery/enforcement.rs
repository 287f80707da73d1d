//! Commits of the main branch behind gates: what is published, and what is refused.

use std::collections::BTreeMap;

use delivery::output::refusal::Refusal;
use delivery::publication::publish::{Outcome, PublishOptions, Request, publish};
use delivery::states::rollout_store::{self, AdmissionChange, Advances, StateChange};
use engine::promotion::state::{
    AdvanceState, BranchPosition, Candidate, CandidatePhase, GateRecord, GateStatus, Proved, Revision,
};
use git::Person;
use jiff::Timestamp;
use model::git_id::GitId;
use testkit::chain::environment;
use testkit::company::{CONTROL_PLANE, GITOPS};
use testkit::objects::{config, object, pinned_base};

use crate::chain::{Chain, name};

const GATE: &str = "gates: [{name: healthy, compliant: {share: 100%}}]";

/// What nothing is known of.
const NO_STEP: &str =
    "K0523 no step of promotions was made for it yet: `kalypso publish` and `kalypso rollout advance` make one";

/// Two environments, both published, with a promotion from `dev` to `prod`, and a newer commit of the main branch in `prod`.
struct World {
    chain: Chain,
    first: GitId,
    newer: GitId,
}

impl World {
    fn new(gates: &str) -> Self {
        let mut chain = Chain::new(&["dev", "prod"]);
        let promotion = object("Promotion", "to-prod", &format!("from: [dev]\nto: prod\n{gates}"));
        let first = chain.company.write_main(".environments/to-prod.yaml", &promotion);
        chain.company.write_environment("dev", &environment("dev", Some(first)));
        chain.company.write_environment("prod", &environment("prod", Some(first)));
        let world = Self { chain, first, newer: first };
        assert_eq!(
            [world.word("dev", PublishOptions::default()), world.word("prod", PublishOptions::default())],
            ["published"; 2]
        );
        world.moved()
    }

    /// Moves both environments to a newer commit. `dev` publishes it.
    fn moved(mut self) -> Self {
        self.newer = self.chain.company.change_value("second");
        for name in ["dev", "prod"] {
            self.chain.company.write_environment(name, &environment(name, Some(self.newer)));
        }
        assert_eq!(self.word("dev", PublishOptions::default()), "published");
        self
    }

    fn publish(&self, environment: &str, options: PublishOptions<'_>) -> Outcome {
        let environment = &name(environment);
        let options = PublishOptions { is_direct: true, ..options };
        let request = Request { environment, gitops_repo: None, options, hub: None, is_hub_only: false };
        publish(&self.chain.access, &request, &|_, _| {}).unwrap()
    }

    fn word(&self, environment: &str, options: PublishOptions<'_>) -> String {
        let outcome = self.publish(environment, options);
        let [place] = &outcome.places[..] else { panic!("{} places", outcome.places.len()) };
        let refusal = |refusal: &Refusal| match refusal {
            Refusal::Diagnostic(found) => format!("{} {}", found.code, found.notes.join("; ")),
            Refusal::Unconfirmed { .. } => "unconfirmed".to_owned(),
        };
        let not_admitted = place.loaded.enforced.not_admitted.iter().cloned().map(Refusal::Diagnostic);
        let refusals: Vec<_> = not_admitted.chain(place.refusals.clone()).map(|found| refusal(&found)).collect();
        if refusals.is_empty() { "published".to_owned() } else { refusals.join(", ") }
    }

    fn prod(&self) -> String {
        self.word("prod", PublishOptions::default())
    }

    fn store(&self, environment: &str, state: AdvanceState) {
        let author = Person { name: "Ann".to_owned(), email: "ann@example.com".to_owned() };
        let change = StateChange {
            promotion: AdmissionChange::Keep,
            rollouts: BTreeMap::new(),
            advances: Some(Advances { platform: Some(state), ..Advances::default() }),
            message: "A step",
            author: &author,
            seconds: 1_000,
            lease: None,
        };
        rollout_store::write(&self.chain.access, &name(environment), None, &change).unwrap();
    }
}

fn revision(commit: GitId) -> Revision {
    Revision(commit.to_string().into())
}

fn proved(commit: GitId) -> AdvanceState {
    let proved = Proved { revision: revision(commit), at: BranchPosition::default(), on: Timestamp::UNIX_EPOCH };
    AdvanceState { proved: Some(proved), ..AdvanceState::default() }
}

fn candidate(commit: GitId, phase: CandidatePhase) -> AdvanceState {
    let gate = |name: &str, status| GateRecord {
        name: name.into(),
        status,
        since: Timestamp::UNIX_EPOCH,
        text: "two of three".into(),
    };
    let gates = vec![gate("healthy", GateStatus::Passed), gate("approved", GateStatus::Waiting)];
    let (since, revision) = (Timestamp::UNIX_EPOCH, revision(commit));
    let current = Candidate { gates, ..Candidate::new(revision, since, phase) };
    AdvanceState { current: Some(current), ..AdvanceState::default() }
}

#[test]
fn before_the_first_step_another_commit_is_refused() {
    assert_eq!(World::new(GATE).prod(), NO_STEP);
    // What another environment has proved admits nothing here.
    let world = World::new(GATE);
    world.store("dev", proved(world.newer));
    assert_eq!(world.prod(), NO_STEP);
}

#[test]
fn a_commit_that_is_published_already_needs_no_proof() {
    let world = World::new(GATE);
    let mut files = environment("prod", Some(world.first));
    files.insert("more.yaml".to_owned(), config("more", "", "MORE: x"));
    world.chain.company.write_environment("prod", &files);
    assert_eq!(world.prod(), "published");
}

#[test]
fn a_commit_of_main_is_recognized_however_it_is_spelled() {
    let refused = |place: &str| {
        let world = World::new(GATE);
        let mut files = environment("prod", Some(world.first));
        let base =
            object("BaseRepo", "more", &format!("repo: {CONTROL_PLANE}\npath: .\n{}", place.replace(", ", "\n")));
        files.insert("more.yaml".to_owned(), base.replace("NEWER", &world.newer.to_string()));
        world.chain.company.write_environment("prod", &files);
        world.prod()
    };
    for place in
        ["branch: main, commit: NEWER", "branch: refs/heads/main, commit: NEWER", "branch: other, commit: NEWER"]
    {
        assert_eq!(refused(place), NO_STEP, "{place}");
    }
}

#[test]
fn newer_commit_in_a_publication_is_not_admitted_by_it() {
    let world = World::new(GATE);
    let past = PublishOptions { override_reason: Some("a test"), ..PublishOptions::default() };
    assert_eq!(world.word("prod", past), "published");
    let admitted = |commit| AdvanceState { admitted: Some(revision(commit)), ..proved(commit) };
    world.store("prod", admitted(world.first));
    let mut files = environment("prod", Some(world.first));
    let more = pinned_base(world.newer).replace("name: main", "name: more");
    files.insert("more.yaml".to_owned(), more);
    world.chain.company.write_environment("prod", &files);
    assert_eq!(world.prod(), "K0522 the controller has not let it in");
}

#[test]
fn the_controller_decides_where_it_has_a_state() {
    let world = World::new(GATE);
    world.store("prod", candidate(world.newer, CandidatePhase::Gated));
    let waits = "K0522 gate `approved` waits since 1970-01-01T00:00:00Z: two of three";
    assert_eq!(world.prod(), waits);
    let world = World::new(GATE);
    world.store("prod", proved(world.first));
    let stays = format!("the output stays at commit {}, which was admitted", world.first.short());
    let edit = world.chain.company.head("prod").unwrap().short();
    let edit = format!("`base.yaml` of branch `prod` was edited in {edit} by Ann");
    assert_eq!(world.prod(), format!("K0522 {stays}; {edit}; the controller has not let it in"));
    let world = World::new(GATE);
    world.store("prod", candidate(world.newer, CandidatePhase::Entering { since: Timestamp::UNIX_EPOCH }));
    assert_eq!(world.prod(), "published");
}

#[test]
fn a_base_repo_without_a_commit_is_refused() {
    let world = World::new(GATE);
    world.chain.company.write_environment("prod", &environment("prod", None));
    assert_eq!(world.prod(), "K0521 ");
    let outcome = world.publish("prod", PublishOptions::default());
    let help = format!("write `commit: {}` into its `spec`: the environment has this commit now", world.first);
    assert!(format!("{:?}", outcome.places[0].refusals).contains(&help), "{:?}", outcome.places[0].refusals);
}

#[test]
fn an_override_is_kept_and_shown() {
    let world = World::new(GATE);
    let outcome =
        world.publish("prod", PublishOptions { override_reason: Some("an outage"), ..PublishOptions::default() });
    let place = &outcome.places[0];
    assert!(place.refusals.is_empty());
    let shown = |outcome: &Outcome| {
        let found = outcome.places[0].diagnostics.iter().filter(|found| found.code.id() == "K0525");
        found.map(|found| found.message.clone()).collect::<Vec<_>>()
    };
    let (newer, ()) = (world.newer.short(), ());
    assert_eq!(
        shown(&outcome),
        [format!("nothing proves that commit {newer} may enter `prod`; published nevertheless: an outage")]
    );
    let message = world.chain.company.message(GITOPS, "prod");
    assert!(message.contains("Kalypso-Override: an outage"), "{message}");
    let next = world.publish("prod", PublishOptions::default());
    assert_eq!(shown(&next), [format!("commit {newer} was published into `prod` past its gates: an outage")]);
}

#[test]
fn without_a_promotion_nothing_is_refused() {
    let mut chain = Chain::new(&["dev", "prod"]);
    let first = chain.company.change_value("first");
    let world = World { chain, first, newer: first };
    assert_eq!(world.prod(), "published");
    world.chain.company.write_environment("prod", &environment("prod", None));
    assert_eq!(world.prod(), "published");
}

#[test]
fn unreadable_promotion_never_passes_its_gates() {
    let mut chain = Chain::new(&["dev", "prod"]);
    let broken = "{apiVersion: fleet.kalypso.io/v1alpha1, kind: Promotion, metadata: {name: to-prod}, spec: {to: prod, rings: 7}}";
    let first = chain.company.write_main(".environments/to-prod.yaml", broken);
    let world = World { chain, first, newer: first };
    assert_eq!(world.prod(), "K0524 an unknown gate is never passed");
}
