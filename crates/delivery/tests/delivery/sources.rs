//! Values and applications wait for the gates that ask people or the clock.

use std::collections::BTreeMap;
use std::time::Duration;

use delivery::promotion::controller::command::{OverrideRequest, StoredDecision, override_gates};
use delivery::publication::publish::{PlaceOutcome, PublishOptions, Request, publish};
use engine::promotion::command::CommandKind;
use git::Person;
use git::load::ReadRole;
use git_host::pull_request::NewPullRequest;
use hub_api::promotions::{SubjectKind, SubjectStatus};
use jiff::Timestamp;
use model::git_id::GitId;
use testkit::chain::environment;
use testkit::company::CONTROL_PLANE;

use crate::chain::name;
use crate::controller::{DIRECT, World};
use crate::releases::Shop;

const PERSON: &str = "    - {name: person, manual: {}, for: [values, application]}\n";

/// What a publication of `stage` has and says, without a step.
fn published(world: &World) -> PlaceOutcome {
    let options = PublishOptions { is_direct: true, ..PublishOptions::default() };
    let environment = &name("stage");
    let request = Request { environment, gitops_repo: None, options, hub: None, is_hub_only: false };
    publish(&world.chain.access, &request, &|_, _| {}).unwrap().places.remove(0)
}

/// The commit of the branch of `stage` that its output has, and the codes of what is not admitted.
fn values(world: &World) -> (GitId, Vec<String>) {
    let place = published(world);
    let own = place.loaded.reads.iter().find(|read| read.role == ReadRole::Environment).unwrap().commit;
    let codes = place.loaded.enforced.not_admitted.iter().map(|found| found.code.to_string());
    (own, codes.collect())
}

fn subject(world: &World, name: &str) -> Option<SubjectStatus> {
    let subjects = world.step("stage").status.unwrap().subjects;
    subjects.into_iter().find(|subject| subject.subject.as_deref() == Some(name))
}

/// The files of the branch of `stage`, with a value of its own.
fn with_value(world: &World, value: &str) -> BTreeMap<String, String> {
    let commit = world.chain.company.promoted("stage").and_then(|commit| GitId::from_hex(&commit));
    let mut files = environment("stage", commit);
    let text = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: own, labels: {{platform-config: \"true\"}}}}\ndata: {{OWN: \"{value}\"}}\n"
    );
    files.insert("own.yaml".to_owned(), text);
    files
}

fn write_value(world: &World, value: &str) -> GitId {
    world.chain.company.write_environment("stage", &with_value(world, value))
}

/// Brings a value to the branch of `stage` by a pull request of `kai` that these accounts reviewed. Returns its number.
pub(crate) fn merge_value(world: &World, value: &str, reviewers: &[&str]) -> u64 {
    world.chain.company.write(CONTROL_PLANE, "change", &with_value(world, value));
    let (labels, reviews) = Default::default();
    let new = NewPullRequest {
        head: "change".to_owned(),
        base: "stage".to_owned(),
        title: value.to_owned(),
        body: String::new(),
        labels,
        reviewers: reviews,
    };
    let number = world.chain.host.state().repository("acme/control-plane").unwrap().open("kai", &new).unwrap();
    reviewers.iter().for_each(|account| world.chain.approve(number, account));
    world.chain.merge(number);
    number
}

fn head(world: &World) -> GitId {
    world.chain.company.head("stage").unwrap()
}

fn skip(world: &World, subject: &str) {
    skip_gate(world, subject, "person");
}

fn skip_gate(world: &World, subject: &str, gate: &str) {
    world.command_about(Some(subject), CommandKind::Skip { gate: gate.into() }, "seen").unwrap();
}

#[test]
fn values_wait_for_their_gate_and_do_not_block_commits_of_main() {
    let mut world = World::new(DIRECT, PERSON);
    world.settle();
    let before = head(&world);
    let new = write_value(&world, "new");
    world.settle();
    assert_eq!(values(&world), (before, vec!["K0526".to_owned()]));
    let waiting = subject(&world, "values").unwrap();
    assert_eq!((waiting.kind, waiting.at), (SubjectKind::Values, Some(before.to_string())));
    assert_eq!(waiting.moving.unwrap().waiting_for[0].what, "person");
    // A commit of main is proved meanwhile.
    let second = world.chain.company.change_value("second");
    world.report("dev", 3, 0);
    world.settle();
    assert_eq!(world.status("stage").proved.unwrap().revision, second.to_string());
    assert_eq!(values(&world).0, before);
    skip(&world, "values");
    world.settle();
    let (own, codes) = values(&world);
    // The branch got the promoted commit after the value.
    assert_eq!((own, codes.is_empty()), (head(&world), true));
    assert_ne!(own, new);
    assert!(subject(&world, "values").is_none());
    // What promotions write needs no word.
    let third = world.chain.company.change_value("third");
    world.settle();
    assert_eq!(world.status("stage").proved.unwrap().revision, third.to_string());
    assert_eq!(values(&world), (head(&world), Vec::new()));
}

#[test]
fn application_changes_wait_for_the_gate_of_the_environment() {
    let shop = Shop::behind(DIRECT, PERSON, "");
    shop.write("site: a", "site: a");
    shop.0.settle();
    let site = || {
        let place = published(&shop.0);
        let target = place.loaded.fleet.workloads["shop"].object.spec.deployment_targets.clone();
        target.iter().find(|target| *target.spec.environment == *"stage").unwrap().spec.manifests["site"].to_string()
    };
    // Targets of other environments are no change of this one.
    shop.write("site: b", "site: a");
    shop.0.settle();
    assert!(subject(&shop.0, "application/shop").is_none());
    shop.write("site: b", "site: c");
    shop.0.settle();
    assert_eq!(site(), "a");
    let waiting = subject(&shop.0, "application/shop").unwrap();
    assert_eq!(waiting.moving.unwrap().waiting_for[0].what, "person");
    skip(&shop.0, "application/shop");
    shop.0.settle();
    assert_eq!(site(), "c");
}

#[test]
fn returning_application_keeps_its_admitted_commit() {
    let mut shop = Shop::behind(DIRECT, PERSON, "");
    shop.write("site: a", "site: a");
    shop.0.settle();
    // The registration is away for a while, and the application changes meanwhile.
    let registration = shop.0.chain.company.read(CONTROL_PLANE, "main", "workloads/shop.yaml").unwrap();
    shop.0.chain.company.remove_main("workloads/shop.yaml");
    shop.0.settle();
    shop.write("site: a", "site: evil");
    shop.0.chain.company.write_main("workloads/shop.yaml", &registration);
    shop.0.settle();
    let place = published(&shop.0);
    let workload = &place.loaded.fleet.workloads["shop"];
    let targets = &workload.object.spec.deployment_targets;
    let stage = targets.iter().find(|target| *target.spec.environment == *"stage").unwrap();
    assert_eq!(&*stage.spec.manifests["site"], "a");
}

#[test]
fn a_release_does_not_wait_for_values() {
    let select = "  select: {platform: false, workloadSelector: {matchLabels: {team: store}}}\n";
    let shop = Shop::behind(DIRECT, &format!("{PERSON}{select}"), "");
    shop.write("tag: v1", "tag: v1");
    shop.0.report("dev", 3, 0);
    shop.0.settle();
    let before = head(&shop.0);
    write_value(&shop.0, "new");
    shop.write("tag: v2", "tag: v1");
    shop.0.settle();
    let place = published(&shop.0);
    let pins = place.loaded.fleet.release_pins.values().filter(|pin| pin.is_promoted());
    let tags: Vec<_> = pins.map(|pin| pin.spec.manifests["tag"].to_string()).collect();
    assert_eq!((values(&shop.0).0, tags), (before, vec!["v2".to_owned()]));
}

#[test]
fn a_hold_stops_values_at_once_and_the_end_of_the_hold_lets_them_in() {
    let mut world = World::new(DIRECT, "");
    world.settle();
    let before = head(&world);
    world.command_about(None, CommandKind::Hold, "inventory").unwrap();
    write_value(&world, "new");
    assert_eq!(values(&world).0, before);
    world.settle();
    assert_eq!(values(&world).0, before);
    let waiting = subject(&world, "values").unwrap().moving.unwrap().waiting_for;
    assert_eq!(waiting[0].text, "held by ann: inventory");
    world.command_about(None, CommandKind::Resume, "").unwrap();
    world.settle();
    assert_eq!(values(&world), (head(&world), Vec::new()));
    // A hold of the values alone.
    world.command_about(Some("values"), CommandKind::Hold, "numbers are checked").unwrap();
    let held = head(&world);
    write_value(&world, "newer");
    world.chain.company.change_value("second");
    world.report("dev", 3, 0);
    world.settle();
    assert_eq!(values(&world).0, held);
    world.command_about(Some("values"), CommandKind::Resume, "").unwrap();
    world.settle();
    assert_eq!(values(&world).0, head(&world));
}

fn overrides(world: &World, reason: &str) -> Vec<StoredDecision> {
    let author = Person { name: "Ann".to_owned(), email: "ann@example.com".to_owned() };
    let (by, valid_for, lease) = ("ann", Duration::from_hours(24), None);
    let request = OverrideRequest { by, reason, at: Timestamp::now(), valid_for, author: &author, lease };
    override_gates(&world.chain.access, &name("stage"), &request).unwrap()
}

#[test]
fn an_override_admits_the_waiting_values_and_not_the_next_ones() {
    let world = World::new(DIRECT, PERSON);
    world.settle();
    let new = write_value(&world, "new");
    world.settle();
    let receipts = overrides(&world, "an incident");
    assert_eq!(receipts.len(), 1);
    let until = "override `X` past person until 2026".replace('X', &new.to_string());
    assert!(receipts[0].text.contains(&until) && receipts[0].text.ends_with("by ann: an incident"), "{receipts:?}");
    assert_eq!(values(&world), (new, Vec::new()));
    world.settle();
    write_value(&world, "newer");
    world.settle();
    assert_eq!(values(&world), (new, vec!["K0526".to_owned()]));
    // A commit that no step has seen yet.
    let newest = write_value(&world, "newest");
    let receipts = overrides(&world, "another incident");
    assert_eq!((receipts.len(), values(&world)), (1, (newest, Vec::new())));
    assert!(overrides(&world, "again").is_empty());
}

#[test]
fn only_reviewers_of_all_merged_pull_requests_count_as_approvers() {
    let world = World::new(DIRECT, "    - {name: two-eyes, approval: {count: 1}, for: [values]}\n");
    world.settle();
    let gate = || subject(&world, "values").map(|found| found.moving.unwrap().gates[0].text.clone());
    let merge = |value: &str, reviewers: &[&str]| {
        merge_value(&world, value, reviewers);
        world.settle();
    };
    merge("first", &["kai"]);
    assert_eq!(gate().as_deref(), Some("0 of 1 approval; not counted: kai (an author)"));
    // A second pull request does not take an unreviewed first one along.
    merge("second", &["bob"]);
    assert_eq!(gate().as_deref(), Some("0 of 1 approval"));
    skip_gate(&world, "values", "two-eyes");
    world.settle();
    merge("third", &["bob"]);
    assert_eq!((gate(), values(&world).0), (None, head(&world)));
    // A direct push has no reviews.
    write_value(&world, "fourth");
    world.settle();
    let unknown = "0 of 2 approvals; one more, because the author of the change is not known";
    assert_eq!(gate().as_deref(), Some(unknown));
}
