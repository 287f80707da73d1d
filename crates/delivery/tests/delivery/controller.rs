//! Steps of the controller: commits of the main branch move from environment to environment.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use delivery::access::RepositoryAccess;
use delivery::promotion::controller::command::{CommandError, DecisionCommand, decide};
use delivery::promotion::controller::commit_move::{CommitMove, write};
use delivery::promotion::controller::error::ControllerError;
use delivery::promotion::controller::evidence::Evidence;
use delivery::promotion::controller::published::PublicationFacts;
use delivery::promotion::controller::{Memory, StepOutcome, StepRequest, step};
use delivery::publication::publication_preview::preview;
use delivery::publication::publish::{PublishOptions, Request, publish};
use delivery::states::rollout_store::{self, AdmissionChange, Advances, StateChange, StoredRollout};
use engine::promotion::command::{Command, CommandKind};
use engine::promotion::gates::Teams;
use engine::promotion::state::{AdvanceState, Rejection, Revision, RolloutState};
use engine::promotion::vector::Part;
use git::{MemoryRepositories, Person, Repositories as _, RepositoryUrl};
use hub_api::client::ClientError;
use hub_api::deployments::TargetNames;
use hub_api::evidence::{PlaceEvidence, PromotionEvents};
use hub_api::places::PlaceState;
use hub_api::promotions::{MovePhase, PromotionEvent, SubjectStatus};
use jiff::Timestamp;
use model::git_id::GitId;
use model::rollout::Counts;
use model::tree::Child;
use testkit::chain::environment;
use testkit::company::GITOPS;
use testkit::objects::object;

use crate::chain::{Chain, name};

/// A hub in which each environment has one place, with numbers of expected, succeeded and failed reconcilers.
struct FakeHub {
    repositories: Arc<MemoryRepositories>,
    counts: Mutex<BTreeMap<String, Counts>>,
    events: Mutex<Vec<PromotionEvent>>,
}

impl PlaceEvidence for FakeHub {
    fn place_states(&self, environment: &str, workload: Option<&str>) -> Result<Vec<PlaceState>, ClientError> {
        let all = Counts { expected: 3, succeeded: 3, ..Counts::default() };
        let counts = self.counts.lock().unwrap().get(environment).copied().unwrap_or(all);
        // It has read the branch.
        let url = RepositoryUrl::from_object(GITOPS).unwrap();
        let head = self.repositories.resolve(&url, &git::Revision::branch(environment)).unwrap();
        let tree = self.repositories.tree(&head).unwrap();
        let row = |path: String, child: &Child| PlaceState {
            place: path.split('/').next().unwrap_or_default().to_owned(),
            // One of the two places has reconcilers.
            counts: if path.starts_with("east") { counts } else { Counts::default() },
            path,
            repository: GITOPS.to_owned(),
            branch: environment.to_owned(),
            tree: child.id().to_string(),
            ..PlaceState::default()
        };
        let places = tree.children().filter(|(name, child)| child.is_folder() && !name.starts_with('.'));
        let Some(begin) = workload.map(|workload| format!("{workload}-")) else {
            return Ok(places.map(|(name, child)| row(name.to_string(), child)).collect());
        };
        let mut rows = Vec::new();
        for (name, child) in places {
            let folder = child.opened(&|sealed| git::opener(&*self.repositories, &head)(sealed)).unwrap().unwrap();
            let targets = folder.children().filter(|(name, child)| child.is_folder() && name.starts_with(&begin));
            let target = |(target, child): (&Arc<str>, &Child)| PlaceState {
                target: Some(TargetNames::default()),
                ..row(format!("{name}/{target}"), child)
            };
            rows.extend(targets.map(target));
        }
        Ok(rows)
    }
}

impl PromotionEvents for FakeHub {
    fn record(&self, events: &[PromotionEvent]) -> Result<(), ClientError> {
        let mut known = self.events.lock().unwrap();
        let ids: BTreeSet<_> = known.iter().map(|event| event.id.clone()).collect();
        known.extend(events.iter().filter(|event| !ids.contains(&event.id)).cloned());
        Ok(())
    }
}

pub(crate) struct World {
    pub(crate) chain: Chain,
    hub: FakeHub,
    memory: Mutex<Memory>,
    pub(crate) has_hub: bool,
    /// The accounts whose commit statuses count.
    pub(crate) status_accounts: BTreeSet<String>,
    /// The environment whose output is proposed. The output of others is pushed to the branches that clusters pull.
    pub(crate) proposing: Option<&'static str>,
    seconds: Mutex<i64>,
}

pub(crate) const DIRECT: &str = "delivery: direct";
pub(crate) const PULL_REQUEST: &str = "delivery: pullRequest";

/// A promotion with the gate that all reconcilers of the environments before applied the commit.
fn promotion(to: &str, from: &str, delivery: &str, more: &str) -> String {
    let gates = "gates:\n  - name: compliant\n    compliant: {share: 100%}";
    object("Promotion", &format!("to-{to}"), &format!("to: {to}\nfrom: [{from}]\n{delivery}\n{gates}")) + more
}

impl World {
    /// `dev` follows the main branch by direct commits, `stage` follows `dev`.
    pub(crate) fn new(delivery: &str, more: &str) -> Self {
        let mut chain = Chain::new(&["dev", "stage"]);
        let first = object("Promotion", "to-dev", "to: dev\ndelivery: direct");
        chain.company.write_main(".environments/to-dev.yaml", &first);
        chain.company.write_main(".environments/to-stage.yaml", &promotion("stage", "dev", delivery, more));
        let (counts, events, memory) = (Mutex::default(), Mutex::default(), Mutex::default());
        let hub = FakeHub { repositories: Arc::clone(&chain.company.repositories), counts, events };
        let status_accounts = BTreeSet::new();
        Self { chain, hub, memory, has_hub: true, status_accounts, proposing: None, seconds: Mutex::new(10_000) }
    }

    /// Publishes an environment, and makes a step for it.
    pub(crate) fn try_step(&self, environment: &str) -> Result<StepOutcome, ControllerError> {
        self.step_with(&self.chain.access, environment)
    }

    pub(crate) fn step_with(
        &self,
        access: &Arc<RepositoryAccess>,
        environment: &str,
    ) -> Result<StepOutcome, ControllerError> {
        let is_direct = self.proposing != Some(environment);
        let environment = &name(environment);
        let options = PublishOptions { is_direct, hosts: Some(&self.chain.hosts), ..PublishOptions::default() };
        let request = Request { environment, gitops_repo: None, options, hub: None, is_hub_only: false };
        let output = publish(access, &request, &|_, _| {}).ok();
        let published = output.as_ref().map(PublicationFacts::from_outcome);
        self.pass(15);
        let request = StepRequest {
            environment,
            hosts: Some(&self.chain.hosts),
            evidence: self.evidence(self.has_hub),
            history: Some(&self.hub),
            lease: None,
            published: published.as_ref(),
            output: output.as_ref(),
            is_read_only: false,
            now: self.now(),
        };
        step(access, &request, &mut self.memory.lock().unwrap())
    }

    fn evidence(&self, has_hub: bool) -> Evidence<'_> {
        const NO_TEAMS: &Teams = &Teams::new();
        let hub = has_hub.then_some(&self.hub as &dyn PlaceEvidence);
        Evidence { hub, status_accounts: &self.status_accounts, checks: None, teams: NO_TEAMS }
    }

    pub(crate) fn step(&self, environment: &str) -> StepOutcome {
        let outcome = self.try_step(environment).unwrap();
        assert_eq!(outcome.warnings, [""; 0]);
        outcome
    }

    /// Where changes into an environment stand, as a publication would find them.
    pub(crate) fn look(&self, environment: &str) -> Vec<SubjectStatus> {
        let environment = &name(environment);
        let output = preview(&self.chain.access, environment).unwrap();
        let published = PublicationFacts::from_outcome(&output);
        let request = StepRequest {
            environment,
            hosts: Some(&self.chain.hosts),
            evidence: self.evidence(true),
            history: Some(&self.hub),
            lease: None,
            published: Some(&published),
            output: Some(&output),
            is_read_only: true,
            now: self.now(),
        };
        step(&self.chain.access, &request, &mut Memory::default()).unwrap().status.unwrap().subjects
    }

    /// Steps for all environments until nothing is to be published again.
    pub(crate) fn settle(&self) {
        for _ in 0..6 {
            ["dev", "stage"].iter().for_each(|environment| drop(self.step(environment)));
        }
    }

    /// The platform's commits in an environment, after a step.
    pub(crate) fn status(&self, environment: &str) -> SubjectStatus {
        self.step(environment).status.unwrap().subjects.remove(0)
    }

    /// What the move into an environment waits for, after a step.
    pub(crate) fn waits(&self, environment: &str) -> String {
        let moving = self.status(environment).moving.unwrap();
        moving.waiting_for.first().map(|wait| format!("{}: {}", wait.what, wait.text)).unwrap_or_default()
    }

    /// The state of the three reconcilers of an environment.
    pub(crate) fn report(&self, environment: &str, succeeded: i64, failed: i64) {
        self.report_counts(environment, Counts { expected: 3, succeeded, failed, ..Counts::default() });
    }

    pub(crate) fn report_counts(&self, environment: &str, counts: Counts) {
        self.hub.counts.lock().unwrap().insert(environment.to_owned(), counts);
    }

    pub(crate) fn at(&self, environment: &str) -> GitId {
        self.chain.promoted(environment).commit.unwrap()
    }

    pub(crate) fn command(&self, kind: CommandKind, reason: &str) -> Result<String, CommandError> {
        self.command_about(None, kind, reason)
    }

    pub(crate) fn command_about(
        &self,
        subject: Option<&str>,
        kind: CommandKind,
        reason: &str,
    ) -> Result<String, CommandError> {
        self.decide(subject, &Command { kind, by: "ann".into(), at: self.now(), reason: reason.into() })
    }

    fn command_by(&self, by: &str, kind: CommandKind, reason: &str) -> Result<String, CommandError> {
        self.decide(None, &Command { kind, by: by.into(), at: self.now(), reason: reason.into() })
    }

    fn decide(&self, subject: Option<&str>, command: &Command) -> Result<String, CommandError> {
        let author = &Person { name: "Ann".to_owned(), email: "ann@example.com".to_owned() };
        let environment = &name("stage");
        let teams = &BTreeMap::new();
        let decision = DecisionCommand { environment, subject, command, revision: None, teams, author, lease: None };
        decide(&self.chain.access, &decision).map(|receipt| receipt.text)
    }

    /// The time of the next step, and of the next decision.
    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_second(*self.seconds.lock().unwrap()).unwrap()
    }

    pub(crate) fn pass(&self, seconds: i64) {
        *self.seconds.lock().unwrap() += seconds;
    }

    /// Another process goes on.
    pub(crate) fn restart(&self) {
        *self.memory.lock().unwrap() = Memory::default();
    }

    /// The number of commits of an environment's branch that promote a commit.
    pub(crate) fn commits_of(&self, environment: &str, commit: GitId) -> usize {
        let repositories = &*self.chain.access.repositories;
        let head = self.chain.promoted(environment).head;
        let history = repositories.history(&head, 50).unwrap();
        let title = format!("Promote {} to", commit.short());
        history.iter().filter(|commit| repositories.info(commit).unwrap().message.starts_with(&title)).count()
    }

    /// The number of events of a kind about a commit in an environment.
    pub(crate) fn events(&self, environment: &str, kind: &str, commit: GitId) -> usize {
        let (events, revision) = (self.hub.events.lock().unwrap(), Some(commit.to_string()));
        let of = |event: &&PromotionEvent| event.environment == environment && event.kind == kind;
        events.iter().filter(of).filter(|event| event.revision == revision).count()
    }

    /// The events of pins in an environment: the kind, the pin, who, and the text.
    pub(crate) fn pin_events(&self, environment: &str) -> Vec<(String, String, String, String)> {
        let events = self.hub.events.lock().unwrap();
        let of = |event: &&PromotionEvent| event.environment == environment && event.kind.ends_with("pinned");
        let row = |event: &PromotionEvent| {
            let (pin, by) = (event.subject.clone().unwrap(), event.by.clone().unwrap());
            (event.kind.clone(), pin, by, event.text.clone())
        };
        events.iter().filter(of).map(row).collect()
    }

    /// The kinds of the events about an environment.
    fn kinds(&self, environment: &str) -> Vec<String> {
        let events = self.hub.events.lock().unwrap();
        events.iter().filter(|event| event.environment == environment).map(|event| event.kind.clone()).collect()
    }
}

#[test]
fn a_commit_moves_on_when_the_environment_before_proved_it() {
    let mut world = World::new(DIRECT, "");
    world.settle();
    let second = world.chain.company.change_value("second");
    let first = world.step("dev");
    assert!(first.must_publish, "{first:#?}");
    assert_eq!(world.at("dev"), second);
    assert_ne!(world.at("stage"), second);
    world.report("dev", 2, 0);
    world.settle();
    assert_eq!(world.waits("stage"), "compliant: 2 of 3 reconcilers applied the change, 100% are needed");
    world.report("dev", 3, 0);
    world.settle();
    assert_eq!(world.at("stage"), second);
    let status = world.status("stage");
    assert_eq!(status.moving, None);
    assert_eq!(status.proved.unwrap().revision, second.to_string());
    let head = world.chain.company.head("stage");
    world.settle();
    assert_eq!(world.chain.company.head("stage"), head);
}

#[test]
fn preview_equals_a_step_and_writes_nothing() {
    let mut world = World::new(DIRECT, "  rings: [{name: canary, names: [east]}, {name: rest}]\n");
    world.settle();
    world.chain.company.change_value("second");
    world.settle();
    let branches = ["main", "stage", "kalypso-rollouts/stage"];
    let heads = |world: &World| branches.map(|branch| world.chain.company.head(branch));
    let stepped = world.step("stage").status.unwrap().subjects;
    let (before, messages) = (heads(&world), world.chain.company.message(GITOPS, "stage"));
    let looked = world.look("stage");
    assert!(looked.iter().any(|subject| subject.moving.iter().any(|moving| moving.rings.len() == 2)), "{looked:#?}");
    assert_eq!(looked, stepped);
    world.chain.company.change_value("third");
    world.look("dev");
    world.look("stage");
    assert_eq!(heads(&world)[1..], before[1..]);
    assert_eq!(world.chain.company.message(GITOPS, "stage"), messages);
}

#[test]
fn a_failure_stops_and_its_repair_resumes() {
    let mut world = World::new(DIRECT, "");
    world.settle();
    world.chain.company.change_value("second");
    world.settle();
    world.report("stage", 2, 1);
    let third = world.chain.company.change_value("third");
    world.settle();
    assert_eq!(world.at("stage"), third);
    assert!(world.step("stage").is_stopped);
    assert_eq!(world.status("stage").moving.unwrap().phase, MovePhase::Stopped);
    world.report("stage", 3, 0);
    world.settle();
    assert_eq!(world.status("stage").proved.unwrap().revision, third.to_string());
    let kinds = world.kinds("stage");
    let of = |kind: &str| kinds.iter().filter(|found| *found == kind).count();
    assert_eq!([of("stopped"), of("resumed")], [1, 1], "{kinds:?}");
}

#[test]
fn people_hold_resume_and_roll_back() {
    let mut world = World::new(DIRECT, "");
    world.settle();
    let before = world.at("stage");
    world.command(CommandKind::Hold, "inventory").unwrap();
    assert!(matches!(world.command(CommandKind::Hold, "again"), Err(CommandError::Refused(_))));
    let second = world.chain.company.change_value("second");
    world.settle();
    assert_eq!(world.at("stage"), before);
    assert_eq!(world.status("stage").hold.unwrap().reason, "inventory");
    assert_eq!(world.command(CommandKind::Resume, "").unwrap(), "stage: main: resume by ann");
    world.report("stage", 1, 0);
    world.settle();
    assert_eq!(world.at("stage"), second);
    world.command(CommandKind::Rollback { to: None, with_values: false }, "slow").unwrap();
    world.settle();
    assert_eq!(world.at("stage"), before);
    let status = world.status("stage");
    assert_eq!(
        (status.rejected, status.rejected_because.as_deref()),
        (Some(second.to_string()), Some("rollback by ann: slow"))
    );
    assert!(matches!(
        world.command(CommandKind::Request { revision: engine::promotion::state::Revision("0000".into()) }, ""),
        Err(CommandError::NoCommit { found: 0, .. })
    ));
}

#[test]
fn a_pull_request_waits_for_reviews_and_its_merge() {
    let world = World::new(PULL_REQUEST, "    - name: people\n      approval: {count: 1}\n");
    let second = world.chain.company.head("main").unwrap();
    world.settle();
    // The author of a pushed commit is not known, which needs one more approval.
    assert!(world.waits("stage").contains("0 of 2 approvals"), "{}", world.waits("stage"));
    let found = world.chain.pull_requests().pop().unwrap();
    assert!(found.is_open() && found.base == "stage", "{found:?}");
    let number = found.number;
    for account in ["ann", "bob"] {
        world.chain.approve(number, account);
    }
    assert_eq!(world.status("stage").moving.unwrap().phase, MovePhase::Entering);
    world.chain.merge(number);
    world.settle();
    assert_eq!(world.status("stage").proved.unwrap().revision, second.to_string());
    let statuses = world.chain.statuses(second);
    assert_eq!(
        statuses,
        [
            ("dev environment".to_owned(), "Deployed".to_owned()),
            ("stage environment".to_owned(), "Deployed".to_owned())
        ]
    );
}

#[test]
fn a_hold_and_a_retry_propose_the_commit_again() {
    let world = World::new(PULL_REQUEST, "");
    let second = world.chain.company.head("main").unwrap();
    world.settle();
    let numbers =
        || world.chain.pull_requests().iter().map(|found| (found.number, found.is_open())).collect::<Vec<_>>();
    assert_eq!(numbers(), [(1, true)]);
    world.command(CommandKind::Hold, "inventory").unwrap();
    world.settle();
    assert_eq!(numbers(), [(1, false)]);
    world.command(CommandKind::Resume, "").unwrap();
    world.settle();
    assert_eq!(numbers(), [(1, false), (2, true)]);
    // A person closes it, and changes the decision later.
    world.chain.close(2);
    world.settle();
    assert_eq!(world.status("stage").rejected, Some(second.to_string()));
    world.command(CommandKind::Retry, "").unwrap();
    world.settle();
    assert_eq!(numbers(), [(1, false), (2, false), (3, true)]);
    world.chain.merge(3);
    world.settle();
    assert_eq!(world.status("stage").proved.unwrap().revision, second.to_string());
}

#[test]
fn a_retry_also_reaches_the_rollouts_that_rejected_the_commit() {
    let world = World::new(DIRECT, "  rings: [{name: all}]\n");
    let rejected =
        |text: &str| Rejection { revision: Revision(text.into()), reason: "failed".into(), part: Part::Both, at: None };
    let store = |platform: Option<AdvanceState>| {
        let state = RolloutState { rejected: vec![rejected("digest")], ..RolloutState::default() };
        let rollout = StoredRollout { state, ..StoredRollout::default() };
        let advances = Advances { platform, ..Advances::default() };
        let author = &Person { name: "Ann".to_owned(), email: "ann@example.com".to_owned() };
        let before = rollout_store::read(&world.chain.access, &name("stage")).unwrap().head;
        let rollouts = ["shop", "search"].map(|workload| (workload.into(), Some(rollout.clone()))).into();
        let change = StateChange {
            rollouts,
            advances: Some(advances),
            promotion: AdmissionChange::Keep,
            message: "Reject",
            author,
            seconds: 1_000,
            lease: None,
        };
        rollout_store::write(&world.chain.access, &name("stage"), before.as_ref(), &change).unwrap();
    };
    let left = || {
        let stored = rollout_store::read(&world.chain.access, &name("stage")).unwrap();
        let platform = stored.advances.unwrap().unwrap().platform.and_then(|state| state.last_rejected().cloned());
        let rollouts =
            stored.rollouts.into_iter().filter(|(_, found)| !found.as_ref().unwrap().state.rejected.is_empty());
        (platform.is_some(), rollouts.map(|(name, _)| name.to_string()).collect::<Vec<_>>())
    };
    store(Some(AdvanceState { rejected: vec![rejected("5567")], ..AdvanceState::default() }));
    assert_eq!(left(), (true, vec!["search".to_owned(), "shop".to_owned()]));
    assert_eq!(world.command(CommandKind::Retry, "").unwrap(), "stage: main 5567: retry by ann");
    assert_eq!(left(), (false, Vec::new()));
    let refused = world.command(CommandKind::Retry, "").unwrap_err().to_string();
    assert_eq!(refused, "no revision was stopped, aborted or rolled back");
    // A configuration of the environment may be rejected, too: no commit of the main branch is.
    store(None);
    world.command_about(Some("shop"), CommandKind::Retry, "").unwrap();
    assert_eq!(left(), (false, vec!["search".to_owned()]));
    assert_eq!(world.command(CommandKind::Retry, "").unwrap(), "stage: main: retry by ann");
    assert_eq!(left(), (false, Vec::new()));
}

#[test]
fn a_commit_that_was_moved_by_hand_is_not_published_before_its_gates_hold() {
    let mut world = World::new(DIRECT, "");
    world.settle();
    world.report("dev", 1, 0);
    let second = world.chain.company.change_value("second");
    world.settle();
    let (environment, promoted) = (&name("stage"), &world.chain.promoted("stage"));
    let delivery = model::object::promotion::ChangeDelivery::Direct;
    let change = CommitMove { environment, promoted, to: second, delivery, title: "By hand", body: "", seconds: 2_000 };
    write(&world.chain.access, Some(&world.chain.hosts), &change).unwrap();
    let not_admitted = || {
        let options = PublishOptions { is_direct: true, ..PublishOptions::default() };
        let request = Request { environment, gitops_repo: None, options, hub: None, is_hub_only: false };
        publish(&world.chain.access, &request, &|_, _| {}).unwrap().places[0].loaded.enforced.not_admitted.len()
    };
    for _ in 0..3 {
        assert_eq!(not_admitted(), 1);
        world.settle();
    }
    assert_eq!(world.status("stage").moving.unwrap().phase, MovePhase::Gated);
    world.report("dev", 3, 0);
    world.settle();
    assert_eq!((not_admitted(), world.status("stage").proved.unwrap().revision), (0, second.to_string()));
}

#[test]
fn an_environment_behind_a_gate_needs_a_commit_before_anything_moves() {
    let mut world = World::new(DIRECT, "");
    let first = world.at("stage");
    world.chain.company.write_environment("stage", &environment("stage", None));
    let second = world.chain.company.change_value("second");
    world.settle();
    let status = world.step("stage").status.unwrap();
    let problem = "BaseRepo `main` has no commit, although a promotion moves the main branch into `stage`: `kalypso check -e stage` shows the commit to write";
    assert_eq!((status.problem.as_deref(), status.subjects.len()), (Some(problem), 0));
    world.chain.company.write_environment("stage", &environment("stage", Some(first)));
    world.settle();
    assert_eq!((world.at("stage"), world.status("stage").proved.unwrap().revision), (second, second.to_string()));
    assert!(!world.kinds("stage").contains(&"movedByHand".to_owned()), "{:?}", world.kinds("stage"));
}

#[test]
fn approvals_count_if_the_merge_follows_at_once() {
    let world = World::new(PULL_REQUEST, "    - name: people\n      approval: {count: 1}\n");
    let second = world.chain.company.head("main").unwrap();
    world.settle();
    ["ann", "bob"].iter().for_each(|account| world.chain.approve(1, account));
    world.chain.merge(1);
    world.settle();
    assert_eq!(world.status("stage").proved.unwrap().revision, second.to_string());
}

#[test]
fn a_commit_that_loosens_a_gate_waits_for_it() {
    let mut world = World::new(DIRECT, "    - name: people\n      approval: {count: 1}\n");
    let approve = |world: &World, names: &[&str]| {
        for name in names {
            world.command_by(name, CommandKind::Approve { gate: None }, "").unwrap();
        }
        world.settle();
    };
    world.settle();
    let of = |gate: &str| CommandKind::Approve { gate: Some(gate.into()) };
    let refused = world.command(of("compliant"), "").unwrap_err().to_string();
    assert_eq!(refused, "`compliant` does not wait for approvals. The gates for approvals are: people");
    let approved = world.command_by("eve", of("people"), "").unwrap();
    assert!(approved.ends_with(": approve for the gate `people` by eve"), "{approved}");
    approve(&world, &["bob"]);
    let before = world.at("stage");
    assert_eq!(Some(before), world.chain.company.head("main"));
    let looser = promotion("stage", "dev", DIRECT, "");
    let loosening = world.chain.company.write_main(".environments/to-stage.yaml", &looser);
    world.settle();
    assert_eq!(world.at("stage"), before);
    assert!(world.waits("stage").contains("0 of 2 approvals"), "{}", world.waits("stage"));
    // The head of the main branch does not have the gate any more.
    world.command_by("bob", of("people"), "").unwrap();
    approve(&world, &["eve"]);
    assert_eq!(world.at("stage"), loosening);
    let next = world.chain.company.change_value("next");
    world.settle();
    assert_eq!(world.at("stage"), next);
}
