//! Going on from what is known gives what compiling from the beginning gives, and recomputes only what has other inputs.

use engine::compile::Compiled;
use model::digest::Digest;
use testkit::directory::fleet_of;
use testkit::generator::ENVIRONMENT;
use testkit::incremental::{Counts, check, check_claims, check_threads};

/// Edits of each seed: as many as take a few seconds. `cargo xtask bench` makes many more.
const EDITS: usize = 20;

#[test]
fn an_updated_fleet_is_as_one_compiled_from_the_beginning() -> Result<(), String> {
    let mut all = Counts::default();
    for seed in 0..2 {
        all += check(seed, EDITS)?;
    }
    assert!(all.recomputed > 0 && all.recomputed < all.assignments / 2, "{all:?}");
    assert!(all.changed > 0 && all.removed > 0 && all.saved > 0 && all.layout > 0, "{all:?}");
    Ok(())
}

#[test]
fn claims_of_applications_come_and_go_without_a_trace() -> Result<(), String> {
    let mut all = Counts::default();
    for seed in 0..2 {
        all += check_claims(seed, 2 * EDITS)?;
    }
    assert!(all.changed > 0 && all.removed > 0, "{all:?}");
    Ok(())
}

#[test]
fn how_many_threads_update_does_not_matter() -> Result<(), String> {
    check_threads(1, EDITS)
}

const PIN: &str = "{apiVersion: fleet.kalypso.io/v1alpha1, kind: ReleasePin, metadata: {name: twice}, spec: {manifests: {branch: b}, \
    deploymentTargetSelector: {labelSelector: {}}, clusterTypeSelector: {labelSelector: {}}}}";

/// What the assignments of a fleet depend on, with one pin in each of these files.
fn inputs(pins: [&str; 2]) -> std::io::Result<Vec<Digest>> {
    let files = testkit::edits::fleet(1).into_iter().map(|(path, text)| (path, text.into_bytes()));
    let pins = pins.map(|path| (path.to_owned(), PIN.as_bytes().to_vec()));
    let mut files: Vec<_> = files.chain(pins).collect();
    files.sort();
    let compiled = Compiled::new(&fleet_of(files, ENVIRONMENT)?.0.into());
    assert_eq!((compiled.good_count(), compiled.is_empty()), (0, false));
    Ok(compiled.assignments().map(|assignment| assignment.inputs()).collect())
}

#[test]
fn where_the_copies_of_a_pin_are_is_no_input() -> std::io::Result<()> {
    assert_eq!(inputs(["pins/a.yaml", "pins/b.yaml"])?, inputs(["a.yaml", "z.yaml"])?);
    Ok(())
}
