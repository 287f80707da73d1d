//! The audit of an environment, from git alone.

use std::collections::BTreeMap;

use delivery::audit::{AuditRow, Period, rows};
use delivery::controller::command::{Confirmed, note_confirmation};
use delivery::reading::{ReadAt, from_git};
use engine::promotion::command::CommandKind;
use jiff::Timestamp;
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

#[test]
fn publications_pins_and_what_others_pushed_are_rows() {
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
