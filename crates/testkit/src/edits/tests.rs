//! Tests of the edits.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::compile::Compiled;
use model::diagnostic::Code;
use model::git_id::GitId;
use model::read::read_file;
use model::source::{File, Files, Source};

use super::{FleetEdits, KINDS, LAYOUT, REPAIRS, fleet};
use crate::directory::fleet_of;
use crate::generator::ENVIRONMENT;

fn problems(files: &BTreeMap<String, String>) -> Vec<String> {
    let files = files.iter().map(|(path, text)| (path.clone(), text.clone().into_bytes())).collect();
    let (_, diagnostics) = fleet_of(files, ENVIRONMENT).expect("the environment name is valid");
    // A file is not broken if the type of a cluster is missing, or if a second object takes a name that became free.
    let is_known = |code| matches!(code, Code::UnknownClusterType | Code::DuplicateObject);
    let unknown = diagnostics.into_iter().filter(|diagnostic| !is_known(diagnostic.code));
    unknown.map(|diagnostic| format!("{diagnostic:?}")).collect()
}

#[test]
fn a_seed_always_gives_the_same_edits() {
    let some = |seed| FleetEdits::new(seed).take(50).collect::<Vec<_>>();
    assert_eq!(some(1), some(1));
    assert_ne!(some(1), some(2));
}

#[test]
fn every_kind_of_edit_occurs_and_changes_something() {
    let mut edits = FleetEdits::new(3);
    let mut files = fleet(3);
    let mut kinds = BTreeSet::new();
    for _ in 0..1_000 {
        let edit = edits.next().expect("the sequence is endless");
        let before = files.clone();
        assert!(!edit.apply(&mut files).is_empty(), "{edit}");
        assert_ne!(before, files, "{edit}");
        assert_eq!(&files, edits.files(), "{edit}");
        kinds.insert(edit.kind());
    }
    assert_eq!(kinds, LAYOUT.iter().chain(&KINDS).chain(&REPAIRS).map(|(kind, _)| *kind).collect());
}

#[test]
fn files_are_valid_until_they_are_broken_or_duplicated() {
    assert_eq!(problems(&fleet(1)), [""; 0]);
    let mut edits = FleetEdits::new(1);
    for _ in 0..200 {
        let edit = edits.next().expect("the sequence is endless");
        let broken = &edits.state.broken;
        let good = edits.files().iter().filter(|(path, _)| !broken.contains_key(*path) && !path.starts_with("copies/"));
        let good = good.map(|(path, text)| (path.clone(), text.clone())).collect();
        let problems = problems(&good);
        assert_eq!(problems, [""; 0], "{edit}");
    }
}
/// The objects in the files, without their paths, order and formatting.
fn meaning(files: &BTreeMap<String, String>) -> Vec<String> {
    let (source, id) = (Arc::new(Source::directory()), GitId::of_blob(b""));
    let file = Files::default().add(File { source, path: "any".into(), id, content: [].as_slice().into() });
    let objects = files.iter().flat_map(|(path, text)| read_file(file, path, text.as_bytes()).objects);
    let mut digests: Vec<_> = objects.map(|object| format!("{:?} {:?}", object.key(), object.digest())).collect();
    digests.sort();
    digests
}

#[test]
fn comments_order_and_names_of_files_change_no_meaning() {
    let layout: BTreeSet<_> = LAYOUT.iter().map(|(kind, _)| *kind).collect();
    let mut edits = FleetEdits::new(7);
    for _ in 0..150 {
        let before = edits.files().clone();
        let edit = edits.next().expect("the sequence is endless");
        if layout.contains(edit.kind()) {
            assert_eq!(meaning(&before), meaning(edits.files()), "{edit}");
        }
    }
}

#[test]
fn most_assignments_are_good_most_of_the_time() {
    let mut edits = FleetEdits::new(5);
    let mut shares = Vec::new();
    for _ in 0..20 {
        edits.by_ref().nth(4);
        let files = edits.files().iter().map(|(path, text)| (path.clone(), text.clone().into_bytes())).collect();
        let (fleet, _) = fleet_of(files, ENVIRONMENT).expect("the environment name is valid");
        let compiled = Compiled::new(&fleet.into());
        shares.push(compiled.rendered_count() * 100 / compiled.len().max(1));
    }
    let healthy = shares.iter().filter(|share| **share > 80).count();
    assert!((11..20).contains(&healthy), "{shares:?}");
}
