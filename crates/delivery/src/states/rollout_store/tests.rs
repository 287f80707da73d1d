//! State files: what is written is read again, and nothing else is read.

use std::sync::Arc;

use engine::promotion::evidence::{Approver, Authors, Measured};
use engine::promotion::state::{
    BranchPosition, Candidate, CandidatePhase, Decision, Exercised, GateRecord, GateStatus, Interrupted, Move,
    MoveRequest, MoveStage, Override, ProofRecord, Proved, Rejection, RingRecord, RolledBack, Unmerged,
};
use engine::promotion::vector::Part;
use git::{MemoryRepositories, RepositoryUrl};
use jiff::Timestamp;
use model::rollout::EnvironmentOrder;
use proptest::prelude::*;
use testkit::company::memory::put_files;

use super::*;
use crate::access::{ControlPlaneSettings, StateKeys};

fn text() -> impl Strategy<Value = Arc<str>> {
    let special = ["", "true", "12", "1e3", "~", "a: b", "- x", "\u{feff}\n\t\"\\", "site=a,zone=1", "0o7", "null"];
    prop_oneof![any::<String>(), "[a-z0-9-]{1,12}", prop::sample::select(special.to_vec()).prop_map(str::to_owned)]
        .prop_map(Into::into)
}

fn time() -> impl Strategy<Value = Timestamp> {
    (0_i64..4_000_000_000, 0_i32..1_000_000_000)
        .prop_map(|(second, nanosecond)| Timestamp::new(second, nanosecond).unwrap())
}

fn revision() -> impl Strategy<Value = Revision> {
    text().prop_map(Revision)
}

fn decision() -> impl Strategy<Value = Decision> {
    (text(), time(), text()).prop_map(|(by, at, reason)| Decision { by, at, reason })
}

fn proved() -> impl Strategy<Value = Proved> {
    (revision(), text(), time()).prop_map(|(revision, at, on)| Proved { revision, at: BranchPosition(at), on })
}

fn gates() -> impl Strategy<Value = Vec<GateRecord>> {
    let skipped = decision().prop_map(GateStatus::Skipped);
    let status = prop_oneof![Just(GateStatus::Passed), Just(GateStatus::Waiting), Just(GateStatus::Failed), skipped];
    let gate = (text(), status, time(), text());
    prop::collection::vec(gate.prop_map(|(name, status, since, text)| GateRecord { name, status, since, text }), 0..3)
}

fn approvals() -> impl Strategy<Value = Vec<Approver>> {
    let approver = (text(), time(), text(), prop::option::of(text())).prop_map(|(account, at, by, gate)| Approver {
        account,
        at,
        by,
        gate,
    });
    prop::collection::vec(approver, 0..2)
}

fn authors() -> impl Strategy<Value = Option<Authors>> {
    let authors = (prop::collection::btree_set(text(), 0..3), any::<bool>());
    prop::option::of(authors.prop_map(|(accounts, has_unknown)| Authors { accounts, has_unknown }))
}

/// Often without reconcilers that have no heartbeat: files of earlier versions have no number of them.
fn measured() -> impl Strategy<Value = Measured> {
    let without_heartbeat = prop_oneof![Just(0), any::<u64>()];
    let counts = (any::<[u64; 6]>(), without_heartbeat);
    counts.prop_map(|([places, unpublished, expected, succeeded, failed, silent], without_heartbeat)| Measured {
        places,
        unpublished,
        expected,
        succeeded,
        failed,
        silent,
        without_heartbeat,
    })
}

fn rings() -> impl Strategy<Value = Vec<RingRecord>> {
    let ring = (text(), time(), time(), prop::option::of(measured()), gates());
    let ring =
        ring.prop_map(|(name, started, ended, measured, gates)| RingRecord { name, started, ended, measured, gates });
    prop::collection::vec(ring, 0..3)
}

fn movement() -> impl Strategy<Value = Move> {
    let phase = prop_oneof![
        Just(MoveStage::Moving),
        (text(), time(), any::<bool>()).prop_map(|(reason, since, is_withdrawn)| MoveStage::Stopped {
            reason,
            since,
            is_withdrawn
        }),
        (text(), time()).prop_map(|(reason, since)| MoveStage::RollingBack { reason, since }),
    ];
    let position = ((revision(), part()), time(), text(), phase, text(), 0_usize..9, time());
    let released = prop::collection::btree_map(text(), any::<u64>(), 0..3);
    let people = (approvals(), authors());
    let evidence = (released, (prop::option::of(time()), any::<bool>()), gates(), people, rings());
    (position, evidence).prop_map(
        |(
            ((revision, part), started, base, phase, layout, ring, ring_started),
            (released, (good_since, is_due), gates, (approvals, authors), done),
        )| Move {
            revision,
            part,
            started,
            base: BranchPosition(base),
            phase,
            layout,
            ring,
            ring_started,
            released,
            good_since,
            is_due,
            gates,
            approvals,
            authors,
            done,
        },
    )
}

fn sources() -> impl Strategy<Value = RevisionSources> {
    let commit = any::<[u8; 20]>().prop_map(GitId::from_bytes);
    let name = (text(), text()).prop_map(|(url, revision)| (url.to_string(), revision.to_string()));
    let sources = prop::collection::btree_map(name, commit, 0..3);
    let promoted = prop::option::of(any::<[u8; 20]>().prop_map(GitId::from_bytes));
    let releases = prop::collection::btree_map(text(), text(), 0..2);
    let all = (sources, promoted, releases, prop::collection::vec(text(), 0..2));
    all.prop_map(|(sources, promoted, releases, kept)| RevisionSources { sources, promoted, releases, kept })
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![Just(Part::Platform), Just(Part::Configuration), Just(Part::Both)]
}

fn interrupted() -> impl Strategy<Value = Interrupted> {
    (movement(), revision()).prop_map(|(movement, rest)| Interrupted { movement, rest })
}

fn rejection() -> impl Strategy<Value = Rejection> {
    let all = (revision(), text(), part(), prop::option::of(time()));
    all.prop_map(|(revision, reason, part, at)| Rejection { revision, reason, part, at })
}

fn rolled_back() -> impl Strategy<Value = RolledBack> {
    let all = (decision(), any::<bool>(), prop::option::of(proved()));
    all.prop_map(|(decision, with_values, target)| RolledBack { decision, with_values, target })
}

fn stored() -> impl Strategy<Value = StoredRollout> {
    let waiting = prop::collection::vec(revision(), 0..3);
    let state = (
        prop::option::of(proved()),
        (prop::option::of(movement()), prop::option::of(interrupted())),
        waiting,
        prop::collection::vec(rejection(), 0..3),
        prop::option::of(decision()),
        prop::option::of(rolled_back()),
        prop::collection::vec(proved(), 0..3),
    );
    let targets = prop::collection::btree_set(text(), 0..3);
    (state, targets, prop::collection::btree_map(revision(), sources(), 0..3)).prop_map(
        |((stable, (current, interrupted), waiting, rejected, hold, rolled_back, earlier), targets, revisions)| {
            StoredRollout {
                state: RolloutState { stable, earlier, current, interrupted, waiting, rejected, rolled_back, hold },
                targets,
                revisions,
            }
        },
    )
}

fn overridden() -> impl Strategy<Value = Override> {
    let all = (decision(), prop::collection::vec(text(), 0..3), time(), prop::option::of(revision()));
    all.prop_map(|(decision, gates, expires, from)| Override { decision, gates, expires, from })
}

fn advance() -> impl Strategy<Value = AdvanceState> {
    let phase = prop_oneof![
        Just(CandidatePhase::Gated),
        time().prop_map(|since| CandidatePhase::Entering { since }),
        time().prop_map(|since| CandidatePhase::Proving { since }),
        (text(), time()).prop_map(|(reason, since)| CandidatePhase::Stopped { reason, since }),
        (text(), time()).prop_map(|(reason, since)| CandidatePhase::RollingBack { reason, since }),
    ];
    let times = (any::<bool>(), prop::option::of(time()), prop::option::of(time()));
    let people = (approvals(), authors(), prop::option::of(overridden()));
    let candidate = (revision(), time(), phase, times, (gates(), gates()), people).prop_map(
        |(revision, since, phase, (has_failed, good_since, steady_since), (gates, entry), people)| Candidate {
            has_failed,
            good_since,
            steady_since,
            gates,
            entry,
            approvals: people.0,
            authors: people.1,
            overridden: people.2,
            ..Candidate::new(revision, since, phase)
        },
    );
    let candidate = candidate.boxed();
    let request = (revision(), decision(), any::<bool>()).prop_map(|(revision, decision, is_retry)| MoveRequest {
        revision,
        decision,
        is_retry,
    });
    let proof = (revision(), time(), prop::option::of(measured())).prop_map(|(revision, on, measured)| ProofRecord {
        revision,
        on,
        measured,
    });
    let exercised = (text(), revision(), time()).prop_map(|(environment, revision, since)| Exercised {
        environment,
        revision,
        since,
    });
    let decisions = (prop::option::of(decision()), prop::option::of(decision()), prop::option::of(request));
    let rest = (prop::collection::vec(revision(), 0..3), prop::collection::vec(rejection(), 0..3), decisions);
    let shown = (prop::collection::vec(proof, 0..3), prop::collection::vec(exercised, 0..3));
    let change = (candidate.clone(), prop::option::of(revision()));
    let unmerged = prop::collection::vec(change.prop_map(|(change, from)| Unmerged { change, from }), 0..3);
    (prop::option::of(proved()), prop::option::of(candidate), rest, (shown, unmerged)).prop_map(
        |(proved, current, (waiting, rejected, (hold, stays, requested)), ((proofs, evidence), unmerged))| {
            let at = waiting.first().cloned();
            let state = AdvanceState {
                admitted: at.clone(),
                at,
                proved,
                proofs,
                current,
                waiting,
                rejected,
                hold,
                stays,
                requested,
                evidence,
                unmerged,
            };
            state.with_admitted()
        },
    )
}

fn source() -> impl Strategy<Value = StoredSource> {
    let name = (text(), text()).prop_map(|(repo, branch)| (repo.to_string(), branch.to_string()));
    (name, advance()).prop_map(|(source, state)| StoredSource { source, state })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn a_written_rollout_is_read_again(stored in stored()) {
        let text = rollout_text(("prod", "shop"), &stored);
        prop_assert_eq!(parse_rollout(("f", &text), ("prod", "shop")), Ok(stored), "{}", text);
    }

    #[test]
    fn written_changes_are_read_again(
        platform in prop::option::of(advance()),
        releases in prop::collection::btree_map(text(), advance(), 0..3),
        sources in prop::collection::btree_map(text(), source(), 0..3),
    ) {
        let advances = Advances { platform, releases, sources };
        let text = advances_text("prod", &advances);
        prop_assert_eq!(parse_advances(("f", &text), "prod"), Ok(advances), "{}", text);
    }
}

const ROLLOUT: &str = "\
apiVersion: fleet.kalypso.io/v1alpha1
kind: Rollout
environment: prod
workload: shop
current:
  revision: a1
  started: \"2026-11-24T09:00:00Z\"
  base: \"prod=c1\"
  stopped:
    reason: \"3 of 40 failed\"
    since: \"2026-11-24T09:10:00Z\"
    withdrawn: false
  ring: 1
  ringStarted: \"2026-11-24T09:05:00Z\"
  released:
    \"site=a\": \"00ffffffffffffff\"
  gates:
    - name: failures
      status: failed
      since: \"2026-11-24T09:10:00Z\"
      text: \"3 of 40 failed\"
waiting:
  - b2
targets:
  - shop-eu
revisions:
  a1:
    sources:
      - repo: \"https://git.example/platform\"
        revision: prod
        commit: \"4fb8c440e19eca604bbdc14dbba63e5fb98b2c52\"
";

fn parsed(text: &str) -> Result<StoredRollout, StateFileError> {
    parse_rollout(("rollouts/shop.yaml", text), ("prod", "shop"))
}

#[test]
fn people_can_read_a_state() {
    assert_eq!(parsed(ROLLOUT).map(|stored| rollout_text(("prod", "shop"), &stored)), Ok(ROLLOUT.to_owned()));
}

const ADVANCES: &str = "\
apiVersion: fleet.kalypso.io/v1alpha1
kind: PromotionState
environment: prod
platform:
  at: c3
  admitted: c1
  hold:
    by: \"Ann <ann@example.com>\"
    at: \"2026-11-24T09:00:00Z\"
    reason: audit
  current:
    revision: c3
    since: \"2026-11-24T09:00:00Z\"
    proving:
      since: \"2026-11-24T09:10:00Z\"
    failed: true
    goodSince: \"2026-11-24T09:05:00Z\"
    gates:
      - name: soak
        skipped:
          by: ann
          at: \"2026-11-24T09:10:00Z\"
          reason: urgent
        since: \"2026-11-24T09:10:00Z\"
        text: \"skipped by ann\"
    approvals:
      - account: ann
        at: \"2026-11-24T09:10:00Z\"
        by: review
  waiting:
    - c4
  proved:
    revision: c1
    position: \"prod=d1\"
    proved: \"2026-11-23T09:00:00Z\"
  proofs:
    - revision: c1
      proved: \"2026-11-23T09:00:00Z\"
      measured:
        places: 2
        unpublished: 0
        expected: 4
        succeeded: 4
        failed: 0
        silent: 0
  rejected:
    - revision: c2
      reason: \"1 of 4 failed\"
      part: platform
  requested:
    revision: c2
    decision:
      by: ann
      at: \"2026-11-24T09:10:00Z\"
      reason: fixed
    retry: true
  evidence:
    - environment: stage
      revision: c3
      since: \"2026-11-24T08:00:00Z\"
sources:
  shop-config:
    repo: \"https://git.example/shop\"
    branch: main
    state:
      at: e1
";

#[test]
fn fields_keep_their_names_and_their_order() {
    assert_eq!(
        parse_advances(("f", ADVANCES), "prod").map(|read| advances_text("prod", &read)),
        Ok(ADVANCES.to_owned())
    );
}

#[test]
fn a_rejected_revision_of_an_earlier_version_is_read() {
    let rejected = |text: &str| {
        let text = ROLLOUT.replacen("waiting:", &format!("rejected:{text}\nwaiting:"), 1);
        parsed(&text).unwrap().state.rejected
    };
    let expected =
        |reason: &str| Rejection { revision: Revision("b0".into()), reason: reason.into(), part: Part::Both, at: None };
    assert_eq!(rejected(" b0"), [expected("")]);
    assert_eq!(rejected("\n  revision: b0\n  reason: \"3 failed\""), [expected("3 failed")]);
    assert_eq!(rejected("\n  - b0\n  - revision: b0\n    reason: \"3 failed\""), [expected(""), expected("3 failed")]);
}

#[track_caller]
fn check(from: &str, to: &str, expected: &str) {
    assert!(ROLLOUT.contains(from), "{from}");
    let found = parsed(&ROLLOUT.replacen(from, to, 1)).unwrap_err();
    assert_eq!(found.to_string(), format!("rollouts/shop.yaml:{expected}"));
}

#[test]
fn invalid_states_are_errors_with_their_line() {
    check("waiting:", "wait:", "22:1: unknown field `wait`");
    let newer = "`fleet.kalypso.io/v1alpha1` is expected, not `fleet.kalypso.io/v2`: a newer Kalypso wrote this file";
    check("v1alpha1", "v2", &format!("1:13: {newer}"));
    check("fleet.kalypso.io/v1alpha1", "v1", "1:13: `fleet.kalypso.io/v1alpha1` is expected, not `v1`");
    check("kind: Rollout", "kind: Workload", "2:7: `Rollout` is expected, not `Workload`");
    check("workload: shop", "workload: till", "4:11: `shop` is expected, not `till`");
    check("environment: prod\n", "", "1:1: field `environment` is missing");
    check("ring: 1", "ring: -1", "13:9: a number is expected that is not negative");
    check("withdrawn: false", "withdrawn: no-idea", "12:16: `true` or `false` is expected");
    check("00ffffffffffffff", "+0ffffffffffffff", "16:15: 16 hexadecimal digits are expected");
    check("status: failed", "status: good", "19:15: `passed`, `waiting` or `failed` is expected");
    check("  - b2", "  - {}", "23:5: a text is expected");
    check("2026-11-24T09:00", "2026-11-24 at nine", "7:12: a time such as `2026-11-24T09:30:00Z` is expected");
    check("4fb8c440", "4fb8", "31:17: the id of a commit is expected");
    check("ring: 1", "ring: 1\n  ring: 1", "14:3: the key `ring` is twice in this mapping");
}

struct Store {
    access: RepositoryAccess,
    repositories: Arc<MemoryRepositories>,
    environment: EnvironmentName,
}

impl Store {
    fn new() -> Self {
        let repo = RepositoryUrl::from_object("https://git.example/platform").unwrap();
        let repositories = Arc::new(MemoryRepositories::default());
        repositories.create(&repo);
        let (git, branch) = (git::Settings::new("cache"), "main".to_owned());
        let settings = ControlPlaneSettings {
            repo,
            branch,
            git,
            acknowledgements: Arc::default(),
            state_keys: StateKeys::default(),
            environment_order: EnvironmentOrder::default(),
        };
        let access = RepositoryAccess::with(settings, Arc::clone(&repositories) as _, Progress::default());
        Self { access, repositories, environment: EnvironmentName::new("prod").unwrap() }
    }

    fn read(&self) -> StoredStates {
        read(&self.access, &self.environment).unwrap()
    }

    fn write(&self, before: &StoredStates, rollout: Option<StoredRollout>) -> Written {
        let author = Person { name: "Kalypso".to_owned(), email: "kalypso@localhost".to_owned() };
        let change = StateChange {
            rollouts: BTreeMap::from([("shop".into(), rollout)]),
            advances: None,
            promotion: AdmissionChange::Keep,
            message: "shop: begin",
            author: &author,
            seconds: 1,
            lease: None,
        };
        write(&self.access, &self.environment, before.head.as_ref(), &change).unwrap()
    }
}

#[test]
fn states_are_written_to_a_branch_of_their_own() {
    let store = Store::new();
    let (nothing, shop) = (store.read(), parsed(ROLLOUT).unwrap());
    assert!(nothing.head.is_none() && nothing.rollouts.is_empty());
    let Written::Moved(first) = store.write(&nothing, Some(shop.clone())) else { panic!("it is a new branch") };
    let states = store.read();
    assert_eq!(states.head.as_ref().map(|head| head.id), Some(first));
    assert_eq!(states.rollouts, BTreeMap::from([("shop".into(), Ok(shop.clone()))]));
    let info = store.repositories.info(states.head.as_ref().unwrap()).unwrap();
    assert_eq!((info.parents, &*info.message), (vec![], "shop: begin\n\nKalypso-Environment: prod\n"));
    assert_eq!(store.write(&states, Some(shop)), Written::Unchanged);
    assert!(matches!(store.write(&states, None), Written::Moved(_)));
    assert!(store.read().rollouts.is_empty());
}

#[test]
fn two_writers_do_not_overwrite_each_other() {
    let store = Store::new();
    let (before, shop) = (store.read(), parsed(ROLLOUT).unwrap());
    let other = StoredRollout { revisions: BTreeMap::new(), ..shop.clone() };
    assert!(matches!(store.write(&before, Some(other.clone())), Written::Moved(_)));
    assert_eq!(store.write(&before, Some(shop)), Written::LostRace);
    assert_eq!(store.read().rollouts["shop"], Ok(other));
}

#[test]
fn a_broken_file_hides_only_its_own_state() {
    let store = Store::new();
    store.write(&store.read(), Some(parsed(ROLLOUT).unwrap()));
    let (url, branch) = (store.read().head.unwrap().url, branch_name(&store.environment));
    put_files(&store.repositories, (url.as_str(), &branch), &[("rollouts/till.yaml", "kind: Rollout\n")]);
    let states = store.read();
    assert!(states.rollouts["shop"].is_ok());
    let error = states.rollouts["till"].as_ref().unwrap_err();
    assert_eq!(error.to_string(), "rollouts/till.yaml:1:1: field `apiVersion` is missing");
}

#[test]
fn an_unreachable_repository_is_not_an_empty_state() {
    let store = Store::new();
    store.repositories.set_broken(&store.access.settings.repo, Some("no route to host"));
    assert!(matches!(read(&store.access, &store.environment), Err(StoreError::Repository(_))));
}

#[test]
fn trailers_give_the_sources_of_a_publication() {
    let commit = "4fb8c440e19eca604bbdc14dbba63e5fb98b2c52";
    let source = format!("https://git.example/a main {commit}");
    let kept = format!("{source} Workload shop");
    let sources = RevisionSources::of_trailers([&*source], [&*kept]);
    let publication = sources.publication();
    let name = ("https://git.example/a".to_owned(), "main".to_owned());
    assert_eq!(publication.sources, BTreeMap::from([(name.clone(), GitId::from_hex(commit).unwrap())]));
    assert_eq!(publication.kept[&name].len(), 1);
}
