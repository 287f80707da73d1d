//! The audit of an environment, from git alone.

use std::collections::BTreeMap;

use delivery::promotion::audit::{AuditRow, IncompleteAudit, Period, rows};
use delivery::promotion::controller::command::{Confirmed, note_confirmation};
use delivery::reading::{ReadAt, from_git};
use engine::promotion::command::CommandKind;
use git::{NewCommit, Person};
use jiff::Timestamp;
use model::git_id::GitId;
use model::tree::{Tree, closed};
use testkit::chain::environment;
use testkit::company::GITOPS;

use crate::chain::name;
use crate::controller::{DIRECT, World};

const PIN: &str = "apiVersion: fleet.kalypso.io/v1alpha1\nkind: ReleasePin\nmetadata: {name: stay}\nspec:\n  deploymentTargetSelector: {labelSelector: {matchLabels: {edge: \"true\"}}}\n  clusterTypeSelector: {labelSelector: {matchLabels: {type: small}}}\n  manifests: {branch: v1}\n  reason: the new one is too large\n";

fn audit(world: &World, from: Timestamp, until: Timestamp) -> Vec<AuditRow> {
    let mut loaded = from_git(&world.chain.access, Some(&name("stage")), ReadAt::Heads).unwrap();
    rows(&loaded.remove(0), Period { from, until }).unwrap()
}

/// What people did: the kind, the subject, who, and the text.
fn of_people(rows: &[AuditRow]) -> Vec<(&str, Option<&str>, &str, &str)> {
    let found = rows.iter().filter_map(|row| Some((row, row.by.as_deref()?)));
    found.map(|(row, by)| (row.kind.as_str(), row.subject.as_deref(), by, row.text.as_str())).collect()
}

#[test]
fn each_decision_is_a_row_with_its_commit() {
    let world = World::new(DIRECT, "");
    world.settle();
    let begin = world.now();
    world.pass(60);
    world.command(CommandKind::Hold, "inventory days").unwrap();
    world.pass(60);
    let confirmed = Confirmed { word: "7f3a".to_owned(), by: "olga".to_owned(), at: world.now() };
    assert!(note_confirmation(&world.chain.access, &name("stage"), &confirmed, None).unwrap());
    world.pass(60);
    let end = world.now();
    world.command(CommandKind::Resume, "").unwrap();
    let found = audit(&world, begin, end);
    assert_eq!(
        of_people(&found),
        [
            ("held", None, "ann", "hold by ann: inventory days"),
            ("confirmed", None, "olga", "olga confirmed the removals with the word 7f3a"),
        ]
    );
    for row in &found {
        let message = world.chain.message_of(&row.held_in.branch, &row.held_in.commit);
        assert!(message.contains(&row.text), "{row:?}");
    }
    assert_eq!(audit(&world, begin, begin), []);
}

#[test]
fn an_environment_without_states_has_no_place_for_a_confirmation() {
    let world = World::new(DIRECT, "");
    let confirmed = Confirmed { word: "7f3a".to_owned(), by: "olga".to_owned(), at: world.now() };
    assert!(!note_confirmation(&world.chain.access, &name("stage"), &confirmed, None).unwrap());
}

/// Commits files to a branch of the control plane, as a merge of these commits.
fn commit(world: &World, (branch, parents): (&str, &[GitId]), files: &BTreeMap<String, String>) -> GitId {
    let mut tree = Tree::default();
    files.iter().for_each(|(path, text)| tree.write(path, text.as_bytes()));
    let author = Person { name: "Bo".to_owned(), email: "bo@example.com".to_owned() };
    let (message, seconds) = ("A change of Bo", 1_000);
    let new = NewCommit { parents, tree: &tree, open: &closed, message, author: &author, seconds, signer: None };
    world.chain.company.repositories.commit(&world.chain.access.settings.repo, branch, &new).unwrap()
}

#[test]
fn pin_is_attributed_to_its_commit_and_not_to_the_merge() {
    let world = World::new(DIRECT, "");
    world.settle();
    let pins = |world: &World| {
        let all = audit(world, Timestamp::MIN, Timestamp::MAX).into_iter();
        all.filter(|row| row.subject.is_some() && row.kind == "pinned")
            .map(|row| row.held_in.commit)
            .collect::<Vec<_>>()
    };
    let head = world.chain.company.head("stage").unwrap();
    let without = environment("stage", Some(world.at("stage")));
    let mut with_pin = without.clone();
    with_pin.insert("pins.yaml".to_owned(), PIN.to_owned());
    let topic = commit(&world, ("topic", &[head]), &with_pin);
    let merge = commit(&world, ("stage", &[head, topic]), &with_pin);
    assert_eq!(pins(&world), [topic.to_string()]);
    // A merge that adds a pin which none of its parents has.
    let other = commit(&world, ("other", &[merge]), &with_pin);
    with_pin.insert("more.yaml".to_owned(), PIN.replace("stay", "added"));
    let hidden = commit(&world, ("stage", &[merge, other]), &with_pin);
    assert_eq!(pins(&world), [topic.to_string(), hidden.to_string()]);
}

#[test]
fn the_hub_gets_each_pin_once() {
    let world = World::new(DIRECT, "");
    world.settle();
    let mut files = environment("stage", Some(world.at("stage")));
    let without = files.clone();
    files.insert("pins.yaml".to_owned(), PIN.to_owned());
    world.chain.company.write_environment("stage", &files);
    world.step("stage");
    let row = |kind: &str| {
        let text = "branch=v1: the new one is too large".to_owned();
        (kind.to_owned(), "stay".to_owned(), "Ann <ann@example.com>".to_owned(), text)
    };
    assert_eq!(world.pin_events("stage"), [row("pinned")]);
    // Another process sends them again, and the hub knows them.
    world.restart();
    world.step("stage");
    assert_eq!(world.pin_events("stage"), [row("pinned")]);
    world.chain.company.write_environment("stage", &without);
    world.step("stage");
    assert_eq!(world.pin_events("stage"), [row("pinned"), row("unpinned")]);
    assert_eq!(world.pin_events("dev"), []);
}

#[test]
fn deleted_state_branch_is_an_error() {
    let world = World::new(DIRECT, "");
    world.settle();
    world.chain.company.delete_environment("kalypso-rollouts/stage");
    let mut loaded = from_git(&world.chain.access, Some(&name("stage")), ReadAt::Heads).unwrap();
    let all = Period { from: Timestamp::MIN, until: Timestamp::MAX };
    let refused = rows(&loaded.remove(0), all).unwrap_err();
    assert!(matches!(&refused, IncompleteAudit::States(_)), "{refused}");
}

#[test]
fn publications_pins_and_foreign_pushes_are_rows() {
    let world = World::new(DIRECT, "");
    world.settle();
    let mut files = environment("stage", Some(world.at("stage")));
    let promoted = files.clone();
    files.insert("pins.yaml".to_owned(), PIN.to_owned());
    world.chain.company.write_environment("stage", &files);
    world.chain.company.write_environment("stage", &promoted);
    let found = audit(&world, Timestamp::MIN, Timestamp::MAX);
    let ann = "Ann <ann@example.com>";
    let pin = "branch=v1: the new one is too large";
    let pins: Vec<_> = of_people(&found).into_iter().filter(|row| row.1 == Some("stay")).collect();
    assert_eq!(pins, [("pinned", Some("stay"), ann, pin), ("unpinned", Some("stay"), ann, pin)]);
    let mut kinds = BTreeMap::<_, usize>::new();
    found.iter().for_each(|row| *kinds.entry(row.kind.as_str()).or_default() += 1);
    // The README of other people comes before the publications.
    let all = world.chain.commit_count(GITOPS, "stage");
    assert_eq!((kinds.get("pushed"), kinds.get("published")), (Some(&1), Some(&(all - 1))), "{kinds:?}");
    let published = found.iter().rfind(|row| row.kind == "published").unwrap();
    assert_eq!(published.revision, Some(world.at("stage").to_string()));
}
