//! Tests of the generator.

use std::collections::{BTreeMap, BTreeSet};

use engine::compile::Compiled;
use model::diagnostic::Diagnostic;

use super::change::GeneratedChange;
use super::clusters::{self, Clusters};
use super::{ENVIRONMENT, GeneratedFile, Size, fleet, million, sets};

const SMALL: Size = Size { cluster_types: 6, targets: 10, config_maps: 40, schemas: 2 };

fn compile(files: impl IntoIterator<Item = GeneratedFile>) -> Compiled {
    let files = files.into_iter().map(|(path, text)| (path, text.into_bytes())).collect();
    let (fleet, read) = crate::directory::fleet_of(files, ENVIRONMENT).expect("the environment name is valid");
    assert!(read.is_empty(), "{read:?}");
    Compiled::new(&fleet.into())
}

#[test]
fn a_seed_always_gives_the_same_files() {
    assert_eq!(fleet(SMALL, 7), fleet(SMALL, 7));
    assert_ne!(fleet(SMALL, 7), fleet(SMALL, 8));
}

#[test]
fn the_fleet_that_was_always_measured_never_changes() {
    let text: String = fleet(Size::HUNDRED, 1).into_iter().map(|(path, text)| path + text.as_str()).collect();
    assert_eq!(model::git_id::GitId::of_blob(text.as_bytes()).to_string(), "4fe8c7c9759ff77a34407916e40e2541b1eea03a");
}

/// The errors. Maps without priorities and with overlapping labels set some keys to different values, but this is only a warning.
fn errors(compiled: &Compiled) -> Vec<Diagnostic> {
    compiled.diagnostics().into_iter().filter(Diagnostic::is_error).collect()
}

#[test]
fn every_target_is_rendered_on_every_cluster_type() {
    for files in [fleet(SMALL, 1), million(SMALL, 1), sets(SMALL, 1)] {
        let compiled = compile(files);
        assert_eq!(errors(&compiled), []);
        assert_eq!(compiled.len(), SMALL.assignments());
        assert!(compiled.assignments().all(|assignment| assignment.files().is_ok_and(|files| files.len() == 3)));
    }
}

#[test]
fn a_part_of_the_maps_matches_an_assignment() {
    for size in [Size::HUNDRED, Size::MILLION] {
        let compiled = compile(fleet(Size { cluster_types: 4, targets: 4, ..size }, 1));
        assert_eq!(errors(&compiled), []);
        let compositions = compiled.assignments().filter_map(|assignment| assignment.composition());
        // Every map except the first has a text that only this map sets.
        let own = |composition: std::sync::Arc<engine::compose::Composition>| {
            composition.entries().keys().filter(|key| format!("{key:?}").contains("OWN_TEXT_")).count()
        };
        let matching: Vec<_> = compositions.map(own).collect();
        assert!(matching.iter().all(|count| (10..25).contains(count)), "{matching:?}");
    }
}

/// The labels in the metadata of an object.
fn labels(text: &str) -> BTreeMap<&str, &str> {
    let (_, after) = text.split_once("\n  labels:\n").unwrap_or_default();
    after.lines().map_while(|line| line.strip_prefix("    ")?.split_once(": ")).collect()
}

/// The number of maps that apply to an assignment (minimum, mean, maximum), and the number of different sets of maps over all assignments.
fn reach(size: Size) -> (usize, f64, usize, usize) {
    let files = fleet(size, 1);
    let below = |folder: &'static str| files.iter().filter(move |(path, _)| path.starts_with(folder));
    let maps: Vec<_> = below("configs/").map(|(_, text)| labels(text)).collect();
    let name = |path: &str| path.rsplit('/').next().unwrap().strip_suffix(".yaml").unwrap().to_owned();
    let is_for = |conditions: &BTreeMap<&str, &str>, keys: [&str; 4], known: &[(&str, &str)]| {
        conditions.iter().filter(|(key, _)| keys.contains(key)).all(|(key, value)| known.contains(&(key, value)))
    };
    let (mut sets, mut counts) = (BTreeSet::new(), Vec::new());
    for (path, text) in below("cluster-types/") {
        let (name_here, known) = (name(path), labels(text));
        let known: Vec<_> = known.into_iter().chain([("cluster-type", &*name_here)]).collect();
        let keys = ["cluster-type", "region", "size", "ring"];
        let here: Vec<_> = (0..maps.len()).filter(|map| is_for(&maps[*map], keys, &known)).collect();
        for (path, text) in below("workloads/") {
            for purpose in 0..text.matches("    - name: ").count() {
                let (workload, team) = (name(path), labels(text)["team"]);
                let target = format!("{workload}-{}", super::names::PURPOSES[purpose]);
                let known = [("workload", &*workload), ("team", team), ("deployment-target", &*target)];
                let keys = ["workload", "team", "deployment-target", ""];
                let set: Vec<_> = here.iter().copied().filter(|map| is_for(&maps[*map], keys, &known)).collect();
                counts.push(set.len());
                sets.insert(set);
            }
        }
    }
    let mean = counts.iter().sum::<usize>() as f64 / counts.len() as f64;
    (*counts.iter().min().unwrap(), (mean * 10.0).round() / 10.0, *counts.iter().max().unwrap(), sets.len())
}

#[test]
fn number_of_matching_maps_is_similar_in_a_large_fleet() {
    assert_eq!(reach(Size::HUNDRED), (15, 16.7, 20, 1_500));
    assert_eq!(reach(Size { cluster_types: 100, targets: 100, ..Size::MILLION }), (17, 18.3, 21, 2_505));
}

#[test]
fn generated_changes_reach_the_declared_assignments() {
    let size = Size { cluster_types: 5, targets: 8, config_maps: 220, schemas: 3 };
    let before = compile(fleet(size, 1));
    let changes = [
        GeneratedChange::value_on_cluster_type(size),
        GeneratedChange::value_of_assignment(size),
        GeneratedChange::label_of_cluster_type(size),
    ];
    for change in changes.into_iter().chain([GeneratedChange::comment()]) {
        let mut files = fleet(size, 1);
        let text = change.apply(&files[&change.path], 0);
        assert_ne!(text, change.apply(&files[&change.path], 1));
        assert_ne!(files.insert(change.path.clone(), text.clone()), Some(text));
        let after = compile(files);
        let folders =
            |compiled: &Compiled| compiled.assignments().map(|assignment| assignment.folder()).collect::<Vec<_>>();
        let both = folders(&before).into_iter().zip(folders(&after));
        assert_eq!(both.filter(|(before, after)| before != after).count(), change.reached, "{change:?}");
    }
}

#[test]
fn clusters_are_written_in_files_of_thousands() {
    let size = Clusters { clusters: 12_000, ..Clusters::MILLION };
    let counts: Vec<_> =
        clusters::files(size, 1).map(|(_, text)| text.matches("kind: Cluster\n").count()).filter(|n| *n > 0).collect();
    assert_eq!(counts, [5_000, 5_000, 2_000]);
    let own: Vec<_> = clusters::files(size, 1).filter(|(path, _)| path.starts_with("configs/clusters/")).collect();
    assert_eq!(own.iter().map(|(_, text)| text.matches("kind: ConfigMap\n").count()).sum::<usize>(), 120);
    assert!(clusters::files(size, 1).eq(clusters::files(size, 1)));
}

#[test]
fn clusters_are_read_without_diagnostics() {
    let files = clusters::files(Clusters { clusters: 300, ..Clusters::MILLION }, 1);
    let files = files.map(|(path, text)| (path, text.into_bytes())).collect();
    let (fleet, read) = crate::directory::fleet_of(files, ENVIRONMENT).expect("the environment name is valid");
    assert!(read.is_empty(), "{read:?}");
    assert_eq!((fleet.clusters.len(), fleet.cluster_types.len(), fleet.config_maps.len()), (300, 20, 33));
}
