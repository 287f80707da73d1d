//! Tests of the generator.

use engine::compile::{Compiled, Prepared};

use super::{ENVIRONMENT, Size, fleet};

const SMALL: Size = Size { cluster_types: 6, targets: 10, config_maps: 40, schemas: 2 };

fn compile(size: Size) -> Compiled {
    let files = fleet(size, 1).into_iter().map(|(path, text)| (path, text.into_bytes())).collect();
    let (fleet, read) = crate::directory::fleet_of(files, ENVIRONMENT).expect("the name is one");
    assert!(read.is_empty(), "{read:?}");
    Prepared::new(&fleet).compile()
}

#[test]
fn a_seed_always_gives_the_same_files() {
    assert_eq!(fleet(SMALL, 7), fleet(SMALL, 7));
    assert_ne!(fleet(SMALL, 7), fleet(SMALL, 8));
}

#[test]
fn every_target_is_rendered_on_every_cluster_type() {
    let compiled = compile(SMALL);
    assert!(compiled.diagnostics.is_empty(), "{:?}", compiled.diagnostics);
    assert_eq!(compiled.assignments.len(), SMALL.assignments());
    assert!(
        compiled.assignments.values().all(|assignment| assignment.files.as_ref().is_some_and(|files| files.len() == 3))
    );
}

#[test]
fn a_part_of_the_maps_matches_an_assignment() {
    let own_keys = |composition: &engine::compose::Composition| {
        let names = composition.entries().keys().filter(|key| format!("{key:?}").contains("OWN_TEXT_"));
        names.count()
    };
    let compiled = compile(Size { cluster_types: 4, targets: 4, ..Size::HUNDRED });
    let compositions = compiled.assignments.values().filter_map(|assignment| assignment.composition.as_deref());
    let matching: Vec<_> = compositions.map(own_keys).collect();
    assert!(matching.iter().all(|count| (10..25).contains(count)), "{matching:?}");
}
