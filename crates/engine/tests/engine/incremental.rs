//! An update gives the same result as a new compilation, and computes only assignments with changed inputs again.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::compile::memo::Memo;
use engine::compile::{CompileOptions, Compiled};
use model::diagnostic::Diagnostic;
use model::digest::Digest;
use model::fleet::Fleet;
use testkit::directory::fleet_of;
use testkit::generator::{self, ENVIRONMENT, Size};
use testkit::incremental::{WorkCounts, check, check_claims, check_threads};

/// The number of edits for each seed, for a run of a few seconds. `cargo xtask bench` uses many more.
const EDITS: usize = 20;

#[test]
fn updated_fleet_equals_a_full_compilation() -> Result<(), String> {
    let mut all = WorkCounts::default();
    for seed in 0..2 {
        all += check(seed, EDITS)?;
    }
    assert!(all.recomputed > 0 && all.recomputed < all.assignments / 2, "{all:?}");
    assert!(all.changed > 0 && all.removed > 0 && all.saved > 0 && all.layout > 0, "{all:?}");
    Ok(())
}

#[test]
fn removed_application_claims_leave_no_trace() -> Result<(), String> {
    let mut all = WorkCounts::default();
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

/// The digests of the inputs of a fleet's assignments, with one copy of a pin in each of these files.
fn inputs(pins: [&str; 2]) -> std::io::Result<Vec<Digest>> {
    let files = testkit::edits::fleet(1).into_iter().map(|(path, text)| (path, text.into_bytes()));
    let pins = pins.map(|path| (path.to_owned(), PIN.as_bytes().to_vec()));
    let mut files: Vec<_> = files.chain(pins).collect();
    files.sort();
    let compiled = Compiled::new(&fleet_of(files, ENVIRONMENT)?.0.into());
    assert_eq!((compiled.rendered_count(), compiled.is_empty()), (0, false));
    Ok(compiled.assignments().map(|assignment| assignment.inputs()).collect())
}

#[test]
fn paths_of_pin_copies_are_not_inputs() -> std::io::Result<()> {
    assert_eq!(inputs(["pins/a.yaml", "pins/b.yaml"])?, inputs(["a.yaml", "z.yaml"])?);
    Ok(())
}

/// A fleet whose configuration template ends with `line`, has `annotation`, and prints `value`.
fn printing((line, annotation, value): (&str, &str, &str)) -> std::io::Result<Arc<Fleet>> {
    const SIZE: Size = Size { cluster_types: 6, targets: 8, config_maps: 20, schemas: 2 };
    let mut files: BTreeMap<_, _> = generator::fleet(SIZE, 1);
    let template = format!(
        "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: Template\nmetadata:\n  name: config-map\n  annotations: {{{annotation}}}\nspec:\n  \
         type: config\n  manifests:\n    - |\n      name: {{{{ .Namespace }}}}\n      data:\n      {{{{ toYaml .ConfigData | indent 2 }}}}\n      {line}\n"
    );
    files.insert("templates/config-map.yaml".to_owned(), template);
    let map = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: note\n  labels: {{platform-config: \"true\", region: region-1}}\ndata:\n  NOTE: {value:?}\n"
    );
    files.insert("configs/note.yaml".to_owned(), map);
    let files = files.into_iter().map(|(path, text)| (path, text.into_bytes())).collect();
    Ok(Arc::new(fleet_of(files, ENVIRONMENT)?.0))
}

#[test]
fn rendered_files_break_and_recover_as_in_a_new_compilation() -> std::io::Result<()> {
    const NOTE: &str = "note: {{ .ConfigData.NOTE | default \"none\" }}";
    const UNCHECKED: &str = "template.kalypso.io/unchecked: \"true\"";
    // Five of six cluster types use the template. One of the five has the value.
    let states = [
        ((NOTE, "", "fine"), 48),
        ((NOTE, "", "@broken"), 40),
        ((NOTE, "", "[broken"), 40),
        ((NOTE, UNCHECKED, "[broken"), 48),
        (("@broken: {{ .ClusterType }}", UNCHECKED, "fine"), 48),
        (("@broken: {{ .ClusterType }}", "", "fine"), 8),
        (("name: twice", "", "fine"), 8),
        ((NOTE, "", "fixed"), 48),
        ((NOTE, "", "@broken"), 40),
        ((NOTE, "", "fine"), 48),
    ];
    let mut warm = Compiled::new(&printing(states[0].0)?);
    let mut memo = Memo::default();
    for (state, good) in states {
        let fleet = printing(state)?;
        warm.update(&fleet);
        let mut saved = Compiled::with(&fleet, CompileOptions { memo, ..CompileOptions::default() });
        let cold = Compiled::new(&fleet);
        assert_eq!(cold.rendered_count(), good, "{state:?}");
        let is_wrong = cold.diagnostics().iter().any(Diagnostic::is_error);
        assert_eq!(is_wrong, good != cold.len(), "{state:?}");
        for other in [&warm, &saved] {
            assert_eq!((other.tree().id(), other.diagnostics()), (cold.tree().id(), cold.diagnostics()), "{state:?}");
        }
        memo = saved.take_memo();
        memo.extend(saved.results());
    }
    Ok(())
}
