//! Releases of workloads move from environment to environment.

use std::collections::BTreeMap;

use delivery::promotion::controller::StepOutcome;
use delivery::promotion::controller::command::CommandError;
use delivery::promotion::controller::settled::{self, SettledBranch};
use delivery::publication::publish::{PublishOptions, Request, publish};
use delivery::states::rollout_store::{self, AdmissionChange, Advances, StateChange, StoredRollout};
use engine::promotion::command::CommandKind;
use engine::promotion::state::{
    AdvanceState, BranchPosition, Candidate, CandidatePhase, GateRecord, GateStatus, Move, MoveStage, Revision,
    RolloutState,
};
use engine::promotion::vector::Part;
use git::Person;
use hub_api::promotions::SubjectStatus;
use jiff::Timestamp;
use testkit::chain::MANIFESTS;
use testkit::objects::{self, registration, workload_with};

use crate::chain::name;
use crate::controller::{DIRECT, PULL_REQUEST, World};

const SOURCE: &str = "https://git.example/acme/shop";
const SELECT: &str = "  select: {platform: false, workloadSelector: {matchLabels: {team: store}}}\n";

/// The chain `dev`, `stage` with the workload `shop` in an application repository. `annotation` is one of its registration.
pub(crate) struct Shop(pub(crate) World);

/// A target with a field of `manifests`.
fn target(name: &str, environment: &str, more: &str) -> String {
    let manifests = format!("repo: {MANIFESTS}, branch: {environment}, path: app, {more}");
    objects::target((name, environment), "shop", &manifests)
}

impl Shop {
    pub(crate) fn new(delivery: &str, annotation: &str) -> Self {
        Self::behind(delivery, SELECT, annotation)
    }

    /// `more` is the end of the promotion into `stage`, from its gates on.
    pub(crate) fn behind(delivery: &str, more: &str, annotation: &str) -> Self {
        let mut world = World::new(delivery, more);
        let metadata = format!("name: shop\n  labels: {{team: store}}\n  annotations: {{{annotation}}}");
        let registration = registration("shop", SOURCE).replace("name: shop", &metadata);
        world.chain.company.write_main("workloads/shop.yaml", &registration);
        // The environments follow the main branch, so that only releases move.
        for name in ["dev", "stage"] {
            world.chain.company.write_environment(name, &testkit::chain::environment(name, None));
        }
        Self(world)
    }

    /// Writes the workload with a field of `manifests` for each environment.
    pub(crate) fn write(&self, dev: &str, stage: &str) {
        let text = workload_with("shop", &[target("shop", "dev", dev), target("shop", "stage", stage)]);
        self.0.chain.company.write(SOURCE, "main", &BTreeMap::from([("workload.yaml".to_owned(), text)]));
    }

    fn write_manifests(&self, branch: &str, files: &[(&str, &str)]) {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        self.0.chain.company.write(MANIFESTS, branch, &files.collect());
    }

    fn status(&self) -> SubjectStatus {
        Self::status_of(self.0.step("stage"))
    }

    fn status_of(outcome: StepOutcome) -> SubjectStatus {
        let subjects = outcome.status.unwrap().subjects;
        subjects.into_iter().find(|subject| subject.subject.as_deref() == Some("shop")).unwrap()
    }

    pub(crate) fn pin(&self) -> Option<String> {
        self.0.chain.company.read(testkit::company::CONTROL_PLANE, "stage", "releases/shop.yaml")
    }
}

#[test]
fn a_release_moves_on_by_a_pin_when_it_is_proved() {
    let shop = Shop::new(DIRECT, "");
    shop.write("tag: v1.0.0", "tag: v1.0.0");
    shop.0.settle();
    assert_eq!((shop.status().at.as_deref(), shop.pin()), (Some("v1.0.0"), None));
    shop.0.report("dev", 2, 0);
    shop.write("tag: v1.1.0-rc.1", "tag: v1.0.0");
    shop.0.settle();
    let waiting = shop.status().moving.unwrap().waiting_for;
    assert!(waiting[0].text.contains("2 of 3 reconcilers applied the change"), "{waiting:?}");
    assert_eq!(shop.pin(), None);
    shop.0.report("dev", 3, 0);
    shop.0.settle();
    let pin = shop.pin().unwrap();
    assert!(pin.contains("name: promoted-shop\n") && pin.contains("tag: v1.1.0-rc.1\n"), "{pin}");
    let status = shop.status();
    assert_eq!((status.at.as_deref(), status.proved.unwrap().revision.as_str()), (Some("v1.1.0-rc.1"), "v1.1.0-rc.1"));
    assert_eq!(status.moving, None);
}

#[test]
fn each_kind_of_version_moves_on() {
    let digest = |byte: u8| format!("digest: sha256:{byte:064x}");
    let commit = |byte: u8| format!("commit: a{byte:039x}");
    let releases = [
        (digest(1), digest(2)),
        (commit(1), commit(2)),
        ("chart: shop, chartVersion: 1.9.0".to_owned(), "chart: shop, chartVersion: 1.10.0-beta.2+build.7".to_owned()),
        ("targetRevision: release-1".to_owned(), "targetRevision: release-2".to_owned()),
        // The digest says more than the tag beside it, which may move.
        (format!("tag: v1, {}", digest(3)), format!("tag: v1, {}", digest(4))),
    ];
    for (before, after) in releases {
        let shop = Shop::new(DIRECT, "");
        shop.write(&before, &before);
        shop.0.settle();
        shop.write(&after, &before);
        shop.0.settle();
        let named = after.rsplit(", ").next().unwrap();
        let pin = shop.pin().unwrap_or_default();
        assert!(pin.contains(&format!("{named}\n")), "{named}: {pin}");
        let (_, version) = named.split_once(": ").unwrap();
        assert_eq!(shop.status().proved.unwrap().revision, version);
    }
}

#[test]
fn a_failing_release_stops_and_names_the_failures() {
    let shop = Shop::new(DIRECT, "");
    shop.write("tag: v1", "tag: v1");
    shop.0.settle();
    shop.0.report("stage", 2, 1);
    shop.write("tag: v2", "tag: v1");
    shop.0.settle();
    let moving = shop.status().moving.unwrap();
    assert!(moving.waiting_for[0].text.contains('1'), "{moving:?}");
    assert!(shop.0.step("stage").is_stopped);
    assert!(shop.pin().unwrap().contains("tag: v2\n"));
}

#[test]
fn a_release_moves_by_a_pull_request_to_its_manifests() {
    let shop = Shop::new(PULL_REQUEST, "promotion.kalypso.io/release: pullRequest");
    shop.write_manifests("dev", &[("app/a.yaml", "image: 1\n"), ("app/b.yaml", "b\n"), ("README.md", "dev\n")]);
    shop.write_manifests("stage", &[("app/a.yaml", "image: 0\n"), ("app/old.yaml", "old\n"), ("README.md", "stage\n")]);
    shop.write("cluster: a", "cluster: a");
    shop.0.settle();
    let read = |path: &str| shop.0.chain.company.read(MANIFESTS, "kalypso-promote/stage--shop", path);
    assert_eq!([read("app/a.yaml"), read("app/b.yaml")], ["image: 1\n", "b\n"].map(|text| Some(text.to_owned())));
    assert_eq!((read("app/old.yaml"), read("README.md").as_deref()), (None, Some("stage\n")));
    assert!(shop.status().at.is_none());
    // A person merges it, here by a squash.
    shop.write_manifests("stage", &[("app/a.yaml", "image: 1\n"), ("app/b.yaml", "b\n"), ("README.md", "stage\n")]);
    shop.0.settle();
    let status = shop.status();
    assert_eq!(status.at, status.proved.map(|proved| proved.revision));
    assert!(status.at.is_some() && status.moving.is_none());
}

#[test]
fn unselected_workloads_are_not_promoted() {
    let mut shop = Shop::new(DIRECT, "");
    let other = "  select: {platform: false, workloadSelector: {matchLabels: {team: other}}}\n";
    let text =
        shop.0.chain.company.read(testkit::company::CONTROL_PLANE, "main", ".environments/to-stage.yaml").unwrap();
    shop.0.chain.company.write_main(".environments/to-stage.yaml", &text.replace(SELECT, other));
    shop.write("tag: v2", "tag: v1");
    shop.0.settle();
    assert_eq!(shop.0.step("stage").status.unwrap().subjects, []);
    assert_eq!(shop.pin(), None);
}

#[test]
fn manifests_that_are_missing_are_a_problem_of_their_workload() {
    let shop = Shop::new(PULL_REQUEST, "promotion.kalypso.io/release: pullRequest");
    shop.write_manifests("dev", &[("moved/a.yaml", "image: 1\n")]);
    shop.write_manifests("stage", &[("app/a.yaml", "image: 0\n")]);
    shop.write("cluster: a", "cluster: a");
    drop((shop.0.try_step("dev"), shop.0.try_step("dev")));
    let outcome = shop.0.try_step("stage").unwrap();
    let [refused] = outcome.refused.as_slice() else { panic!("{:?}", outcome.refused) };
    assert!(refused.starts_with("shop: ") && refused.ends_with("has no folder `app`"), "{refused}");
    assert_eq!(outcome.status.unwrap().subjects.len(), 1);
}

#[test]
fn people_decide_about_a_release() {
    let shop = Shop::new(DIRECT, "");
    shop.write("tag: v1", "tag: v1");
    shop.0.settle();
    let decide = |kind, reason| shop.0.command_about(Some("shop"), kind, reason);
    assert_eq!(decide(CommandKind::Hold, "inventory").unwrap(), "stage: shop: hold by ann: inventory");
    shop.write("tag: v2", "tag: v1");
    shop.0.settle();
    assert_eq!((shop.pin(), shop.status().hold.unwrap().reason), (None, "inventory".to_owned()));
    decide(CommandKind::Resume, "").unwrap();
    shop.0.settle();
    assert!(shop.pin().unwrap().contains("tag: v2\n"));
    let unknown = shop.0.command_about(Some("cart"), CommandKind::Hold, "x");
    assert!(matches!(unknown, Err(CommandError::UnknownSubject { .. })));
}

#[test]
fn a_hold_of_the_environment_holds_its_releases() {
    let shop = Shop::new(DIRECT, "");
    shop.write("tag: v1", "tag: v1");
    shop.0.settle();
    // No commit of the main branch moves here, only releases.
    assert_eq!(shop.0.command(CommandKind::Hold, "inventory").unwrap(), "stage: main: hold by ann: inventory");
    shop.write("tag: v2", "tag: v1");
    shop.0.settle();
    assert_eq!(shop.pin(), None);
    let subjects = shop.0.step("stage").status.unwrap().subjects;
    let held = subjects.iter().filter_map(|subject| subject.hold.as_ref()).map(|hold| hold.reason.as_str());
    assert_eq!(held.collect::<Vec<_>>(), ["inventory"]);
    shop.0.command(CommandKind::Resume, "").unwrap();
    shop.0.settle();
    assert!(shop.pin().unwrap().contains("tag: v2\n"));
}

/// The workload moves through the ring of `stage`, and a newer release of it waits for its approval before the environment.
fn store_move_and_release(shop: &Shop, started: Timestamp) {
    let record = |name: &str| GateRecord {
        name: name.into(),
        status: GateStatus::Waiting,
        since: started,
        text: "0 of 1 approval".into(),
    };
    let moving = Move {
        revision: Revision("digest".into()),
        part: Part::Configuration,
        started,
        base: BranchPosition::default(),
        phase: MoveStage::Moving,
        layout: "".into(),
        ring: 0,
        ring_started: started,
        released: BTreeMap::new(),
        good_since: None,
        is_due: false,
        gates: vec![record("people")],
        approvals: Vec::new(),
        authors: None,
        done: Vec::new(),
    };
    let state = RolloutState { current: Some(moving), ..RolloutState::default() };
    let waiting = Candidate::new(Revision("v2".into()), started, CandidatePhase::Gated);
    let waiting = Candidate { gates: vec![record("managers")], ..waiting };
    let release = AdvanceState { current: Some(waiting), ..AdvanceState::default() };
    let advances = Advances { releases: [("shop".into(), release)].into(), ..Advances::default() };
    let change = StateChange {
        rollouts: [("shop".into(), Some(StoredRollout { state, ..StoredRollout::default() }))].into(),
        advances: Some(advances),
        promotion: AdmissionChange::Keep,
        message: "Move",
        author: &Person { name: "Ann".to_owned(), email: "ann@example.com".to_owned() },
        seconds: started.as_second(),
        lease: None,
    };
    rollout_store::write(&shop.0.chain.access, &name("stage"), None, &change).unwrap();
}

#[test]
fn approvals_apply_to_the_waiting_change() {
    let approved = |rings: &str, gate: Option<&str>| {
        let more = format!("    - {{name: managers, approval: {{count: 1}}}}\n{SELECT}  rings: [{rings}]\n");
        let shop = Shop::behind(DIRECT, &more, "");
        shop.write("tag: v1", "tag: v1");
        store_move_and_release(&shop, Timestamp::from_second(1_000).unwrap());
        let kind = CommandKind::Approve { gate: gate.map(Into::into) };
        let decided = shop.0.command_about(Some("shop"), kind, "").map_err(|refusal| refusal.to_string());
        let stored = rollout_store::read(&shop.0.chain.access, &name("stage")).unwrap();
        let rollout = stored.rollouts["shop"].as_ref().unwrap().state.current.as_ref().unwrap().approvals.len();
        let release = stored.advances.unwrap().unwrap().releases["shop"].current.as_ref().unwrap().approvals.len();
        (decided, rollout, release)
    };
    let of_release = Ok("stage: shop v2: approve for the gate `managers` by ann".to_owned());
    assert_eq!(approved("{name: all}", None), (of_release, 0, 1));
    let both = "{name: all, prove: [{name: people, approval: {count: 1}}]}";
    let several = "several changes wait for approvals. Name one by its workload, its gate or its revision: shop v2 at the gate `managers` (0 of 1 approval); \
                   shop digest in the ring `all` at the gate `people` (0 of 1 approval)";
    assert_eq!(approved(both, None), (Err(several.to_owned()), 0, 0));
    let of_ring = Ok("stage: shop digest: approve for the gate `people` by ann".to_owned());
    assert_eq!(approved(both, Some("people")), (of_ring, 1, 0));
}

#[test]
fn decisions_refused_by_rings_do_not_apply_to_the_release() {
    let shop = Shop::behind(DIRECT, &format!("{SELECT}  rings: [{{name: all}}]\n"), "");
    shop.write("tag: v1", "tag: v1");
    store_move_and_release(&shop, Timestamp::from_second(1_000).unwrap());
    let decide = |kind| shop.0.command_about(Some("shop"), kind, "slow").map_err(|error| error.to_string());
    decide(CommandKind::Hold).unwrap();
    assert_eq!(decide(CommandKind::Hold).unwrap_err(), "ann holds it already: slow");
    let rollback = |with_values| CommandKind::Rollback { to: None, with_values };
    assert_eq!(decide(rollback(false)).unwrap_err(), "there is no earlier proved revision to return to");
    // The hold is of both, so neither a release nor what moves in the rings goes on.
    let stored = rollout_store::read(&shop.0.chain.access, &name("stage")).unwrap();
    let release = &stored.advances.unwrap().unwrap().releases["shop"];
    let rollout = &stored.rollouts["shop"].as_ref().unwrap().state;
    assert_eq!((&release.hold, release.hold.is_some(), release.stays.is_some()), (&rollout.hold, true, false));
    decide(CommandKind::Resume).unwrap();
    assert_eq!(decide(CommandKind::Resume).unwrap_err(), "there is no hold");
}

#[test]
fn only_rings_and_environments_have_values_to_restore() {
    let shop = Shop::new(DIRECT, "");
    shop.write("tag: v1", "tag: v1");
    shop.0.settle();
    for subject in ["shop", "values"] {
        let kind = CommandKind::Rollback { to: None, with_values: true };
        let refused = shop.0.command_about(Some(subject), kind, "slow").unwrap_err().to_string();
        assert_eq!(refused, "`--with-values` restores a workload in rings, or a whole environment", "{subject}");
    }
}

/// The tag that the output of `stage` has.
fn published_tag(shop: &Shop) -> String {
    let options = PublishOptions { is_direct: true, ..PublishOptions::default() };
    let environment = &name("stage");
    let request = Request { environment, gitops_repo: None, options, hub: None, is_hub_only: false };
    let outcome = publish(&shop.0.chain.access, &request, &|_, _| {}).unwrap();
    let pins = &outcome.places[0].loaded.fleet.release_pins;
    pins.values().filter(|pin| pin.is_promoted()).map(|pin| pin.spec.manifests["tag"].to_string()).collect()
}

#[test]
fn a_release_that_an_application_or_a_person_writes_waits_for_its_proof() {
    let shop = Shop::new(DIRECT, "");
    shop.write("tag: v1", "tag: v1");
    shop.0.report("dev", 2, 0);
    shop.0.settle();
    assert_eq!(published_tag(&shop), "v1");
    // The application team writes another release into its target of `stage`.
    shop.write("tag: v2", "tag: v9");
    shop.0.settle();
    assert_eq!((published_tag(&shop), shop.status().at.as_deref()), ("v1".to_owned(), Some("v1")));
    // A person writes the pin that the promotion would write.
    let mut files = testkit::chain::environment("stage", None);
    let pin = "apiVersion: fleet.kalypso.io/v1alpha1\nkind: ReleasePin\nmetadata: {name: promoted-shop}\nspec:\n  deploymentTargetSelector: \
               {labelSelector: {matchLabels: {workload: shop}}}\n  clusterTypeSelector: {labelSelector: {}}\n  manifests: {tag: v2}\n";
    files.insert("releases/shop.yaml".to_owned(), pin.to_owned());
    shop.0.chain.company.write_environment("stage", &files);
    shop.0.settle();
    assert_eq!(published_tag(&shop), "v1");
    assert_eq!(shop.status().moving.unwrap().revision, "v2");
    // It is admitted when the environment before has proved it. Reports about the output that it replaces do not prove it.
    shop.0.report("dev", 3, 0);
    shop.0.step("dev");
    let admitting = shop.0.step("stage");
    assert!(admitting.must_publish);
    assert_eq!(Shop::status_of(admitting).proved.unwrap().revision, "v1");
    shop.0.settle();
    assert_eq!((published_tag(&shop), shop.status().at.as_deref()), ("v2".to_owned(), Some("v2")));
}

#[test]
fn a_workload_that_no_promotion_moves_any_more_has_its_own_release() {
    let mut shop = Shop::new(DIRECT, "");
    shop.write("tag: v1", "tag: v1");
    shop.0.report("dev", 3, 0);
    shop.0.settle();
    let promotion = "apiVersion: fleet.kalypso.io/v1alpha1\nkind: Promotion\nmetadata: {name: to-stage}\nspec:\n  to: stage\n  from: [dev]\n  \
                     delivery: direct\n  select: {platform: false, workloadSelector: {matchLabels: {team: other}}}\n";
    shop.0.chain.company.write_main(".environments/to-stage.yaml", promotion);
    shop.write("tag: v1", "tag: v9");
    shop.0.settle();
    assert_eq!(published_tag(&shop), "");
}

#[test]
fn all_keys_of_a_release_move_together() {
    let shop = Shop::new(DIRECT, "");
    let write = |dev: [&str; 2], stage: [&str; 2]| {
        let targets = |environment: &str, [tag, version]: [&str; 2]| {
            let cluster = target("cluster", environment, &format!("tag: {tag}"));
            [cluster, target("host", environment, &format!("version: {version}"))]
        };
        let text = workload_with("shop", &[targets("dev", dev), targets("stage", stage)].concat());
        shop.0.chain.company.write(SOURCE, "main", &BTreeMap::from([("workload.yaml".to_owned(), text)]));
    };
    shop.0.report("dev", 3, 0);
    write(["v1", "1.0-1"], ["v1", "1.0-1"]);
    shop.0.settle();
    write(["v2", "2.0-1"], ["v1", "1.0-1"]);
    shop.0.settle();
    let pin = shop.pin().unwrap();
    assert!(pin.contains("tag: v2\n") && pin.contains("version: \"2.0-1\"\n"), "{pin}");
    assert_eq!(shop.status().at.as_deref(), Some("tag=v2,version=2.0-1"));
}

const CART: &str = "https://git.example/acme/cart";

/// A second workload, whose targets run in these environments.
fn write_cart(shop: &mut Shop, environments: &[&str]) {
    let registration = registration("cart", CART).replace("name: cart\n", "name: cart\n  labels: {team: store}\n");
    let target = |name: &&str| {
        objects::target(("cart", name), "shop", &format!("repo: {MANIFESTS}, branch: {name}, path: cart, tag: c1"))
    };
    let text = workload_with("cart", &environments.iter().map(target).collect::<Vec<_>>());
    shop.0.chain.company.write(CART, "main", &BTreeMap::from([("workload.yaml".to_owned(), text)]));
    shop.0.chain.company.write_main("cart.yaml", &registration);
}

/// What is not settled in `dev`, and the release of the shop there, by the record.
fn recorded(shop: &Shop) -> (Vec<String>, Option<String>) {
    let record = settled::read(&shop.0.chain.access, &name("dev")).unwrap().unwrap();
    let removals = record.has_removals().then(|| "removals".to_owned());
    let open = record.open.iter().map(ToString::to_string).chain(removals);
    (open.collect(), record.releases.get("shop").map(ToString::to_string))
}

#[test]
fn unconfirmed_removals_do_not_block_other_releases() {
    let mut shop = shop_and_cart();
    // All assignments of the cart in `dev` go, so a person has to confirm it.
    write_cart(&mut shop, &["stage"]);
    for version in ["v2", "v3"] {
        shop.write(&format!("tag: {version}"), "tag: v1");
        shop.0.settle();
        assert_eq!(recorded(&shop), (vec!["removals".to_owned()], Some(version.to_owned())));
        assert_eq!(shop.status().at.as_deref(), Some(version));
    }
    // The commit of the main branch is not proved: this part of it was not tried.
    let main = shop.0.status("dev");
    let moving = main.moving.unwrap();
    assert!(moving.waiting_for.iter().any(|wait| wait.text.contains("its removals wait")), "{moving:?}");
    assert_eq!(main.at, Some(moving.revision));
    write_cart(&mut shop, &["dev", "stage"]);
    shop.0.settle();
    assert_eq!(recorded(&shop), (Vec::new(), Some("v3".to_owned())));
    assert_eq!(shop.0.status("dev").moving, None);
}

#[test]
fn a_record_that_could_not_be_read_is_not_written() {
    let shop = shop_and_cart();
    let (access, dev) = (&shop.0.chain.access, &name("dev"));
    let record = settled::read(access, dev).unwrap().unwrap();
    let mut large = record.clone();
    large.gitops[0].removals = (0..200_000).map(|number| format!("place-{number:020}")).collect();
    assert!(SettledBranch { access, environment: dev, head: None }.write(&large, None).unwrap());
    assert_eq!(settled::read(access, dev).unwrap(), Some(record));
}

#[test]
fn places_to_be_removed_prove_no_release() {
    let shop = shop_and_cart();
    let mut files = testkit::chain::environment("dev", None);
    let before = files.len();
    files.retain(|path, _| !path.contains("east"));
    assert_eq!(files.len() + 1, before);
    shop.0.chain.company.write_environment("dev", &files);
    shop.0.settle();
    assert_eq!(recorded(&shop).0, ["removals"]);
    // Its folder stays as it was, and all of its reconcilers have applied that.
    shop.write("tag: v2", "tag: v1");
    shop.0.settle();
    assert_eq!(recorded(&shop).1.as_deref(), Some("v2"));
    let waiting = shop.status().moving.unwrap().waiting_for;
    assert!(waiting[0].text.starts_with("no reconciler is expected"), "{waiting:?}");
}

/// Two workloads at rest.
fn shop_and_cart() -> Shop {
    let mut shop = Shop::new(DIRECT, "");
    shop.0.report("dev", 3, 0);
    write_cart(&mut shop, &["dev", "stage"]);
    shop.write("tag: v1", "tag: v1");
    shop.0.settle();
    assert_eq!(recorded(&shop), (Vec::new(), Some("v1".to_owned())));
    shop
}

#[test]
fn error_of_one_workload_does_not_block_other_releases() {
    let shop = shop_and_cart();
    let mut files = testkit::chain::environment("dev", None);
    for (pin, tag) in [("a", "c2"), ("b", "c3")] {
        let text = format!(
            "apiVersion: fleet.kalypso.io/v1alpha1\nkind: ReleasePin\nmetadata: {{name: {pin}}}\nspec:\n  deploymentTargetSelector: \
             {{labelSelector: {{matchLabels: {{workload: cart}}}}}}\n  clusterTypeSelector: {{labelSelector: {{}}}}\n  manifests: {{tag: {tag}}}\n"
        );
        files.insert(format!("releases/{pin}.yaml"), text);
    }
    shop.0.chain.company.write_environment("dev", &files);
    shop.write("tag: v2", "tag: v1");
    shop.0.settle();
    assert_eq!(recorded(&shop), (vec!["cart".to_owned()], Some("v2".to_owned())));
    assert_eq!(shop.status().at.as_deref(), Some("v2"));
}

#[test]
fn broken_application_file_does_not_block_other_releases() {
    let wrong = objects::object("Workload", "cart", "deploymentTargets: 7");
    for text in ["a: [", &wrong] {
        let shop = shop_and_cart();
        shop.0.chain.company.write(CART, "main", &BTreeMap::from([("workload.yaml".to_owned(), text.to_owned())]));
        shop.write("tag: v2", "tag: v1");
        shop.0.settle();
        assert_eq!(recorded(&shop), (vec!["cart".to_owned()], Some("v2".to_owned())), "{text}");
        assert_eq!(shop.status().at.as_deref(), Some("v2"), "{text}");
    }
    // The name of another team's workload is an error of the one who brings it.
    let shop = shop_and_cart();
    let taken = wrong.replace("name: cart", "name: shop").replace('7', "[]");
    shop.0.chain.company.write(CART, "main", &BTreeMap::from([("workload.yaml".to_owned(), taken)]));
    shop.write("tag: v2", "tag: v1");
    shop.0.settle();
    assert_eq!(recorded(&shop), (vec!["cart".to_owned(), "removals".to_owned()], Some("v2".to_owned())));
    assert_eq!(shop.status().at.as_deref(), Some("v2"));
    // An error of the platform team concerns all.
    let shop = shop_and_cart();
    let mut files = testkit::chain::environment("dev", None);
    files.insert("broken.yaml".to_owned(), "a: [".to_owned());
    shop.0.chain.company.write_environment("dev", &files);
    shop.write("tag: v2", "tag: v1");
    shop.0.settle();
    assert_eq!(recorded(&shop), (Vec::new(), Some("v1".to_owned())));
    assert_eq!(shop.status().at.as_deref(), Some("v1"));
}
