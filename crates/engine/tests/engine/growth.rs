//! Counts the work: it grows with the number of different inputs, not with the number of assignments.

use std::collections::BTreeMap;
use std::io::Result;
use std::sync::Arc;

use engine::compile::{Compiled, Work};
use model::fleet::{AuthorRole, FileScope, Sources, sources};
use model::git_id::GitId;
use model::source::{File, Source};
use testkit::generator::change::GeneratedChange;
use testkit::generator::{self, ENVIRONMENT, Size};

/// The numbers of compositions, checks and rendered assignments.
fn work(size: Size) -> Result<[usize; 3]> {
    let files = generator::fleet(size, 1).into_iter().map(|(path, text)| (path, text.into_bytes()));
    let (fleet, _) = testkit::directory::fleet_of(files.collect(), ENVIRONMENT)?;
    let Work { compositions, checks, renderings, .. } = Compiled::new(&fleet.into()).last_update().work;
    Ok([compositions, checks, renderings])
}

/// Six maps. No map is for a team or a workload, so that all targets on a cluster type have the same values.
const SIZE: Size = Size { cluster_types: 10, targets: 8, config_maps: 6, schemas: 2 };

#[test]
fn values_are_composed_and_checked_once_for_all_that_share_them() -> Result<()> {
    // Five of the six maps are for one region each. The other five regions use only the map without conditions.
    assert_eq!(work(SIZE)?, [6, 12, 80]);
    assert_eq!(work(Size { targets: 80, ..SIZE })?, [6, 12, 800]);
    assert_eq!(work(Size { cluster_types: 100, ..SIZE })?, [6, 12, 800]);
    Ok(())
}

#[test]
fn each_further_schema_checks_each_composition_once() -> Result<()> {
    assert_eq!(work(Size { schemas: 5, ..SIZE })?, [6, 30, 80]);
    Ok(())
}

/// The bytes of rendered files that were read completely, for each assignment.
fn checked_bytes(files: BTreeMap<String, String>) -> Result<usize> {
    let files = files.into_iter().map(|(path, text)| (path, text.into_bytes()));
    let (fleet, _) = testkit::directory::fleet_of(files.collect(), ENVIRONMENT)?;
    let compiled = Compiled::new(&fleet.into());
    assert_eq!(compiled.rendered_count(), compiled.len());
    Ok(compiled.checked_bytes() / compiled.len())
}

#[test]
fn files_with_warnings_about_values_are_read_once_for_each_set_of_values() -> Result<()> {
    // Kubernetes refuses the lists and mappings that this fleet prints as data of ConfigMaps.
    let of_targets = |targets| checked_bytes(generator::fleet(Size { targets, ..SIZE }, 1));
    let (few, many) = (of_targets(8)?, of_targets(80)?);
    assert!(many > 0 && many <= few / 5, "{few} bytes of each assignment, {many} with ten times as many targets");
    Ok(())
}

#[test]
fn files_of_a_known_form_are_not_read_again_to_check_them() -> Result<()> {
    let of_size = |cluster_types, targets| {
        // More than 128 values in a set.
        let size = Size { cluster_types, targets, config_maps: 600, schemas: 1 };
        checked_bytes(generator::nested(size, 1))
    };
    let (small, large) = (of_size(20, 16)?, of_size(60, 48)?);
    assert!(
        small > 0 && large <= small / 5,
        "{small} bytes of each assignment, {large} in a fleet nine times as large"
    );
    Ok(())
}

/// A target on clusters of one type. Only the namespace's template reads data of the place.
const CLUSTERS: &str = r#"
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata: {name: edge}
spec: {reconciler: flux, namespaceService: namespace, configType: values}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata: {name: flux}
spec: {type: reconciler, manifests: ["name: {{ .DeploymentTargetName }}"]}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata: {name: namespace}
spec: {type: namespace, manifests: ["name: {{ .Namespace }}"]}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata: {name: values}
spec: {type: config, manifests: ["{{ toYaml .ConfigData }}"]}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: DeploymentTarget
metadata: {name: shop-live}
spec: {environment: prod, manifests: {repo: https://git.example/shop, branch: prod, path: live}}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: SchedulingPolicy
metadata: {name: all}
spec:
  deploymentTargetSelector: {labelSelector: {}}
  clusterTypeSelector: {labelSelector: {matchLabels: {is: cluster}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: all, labels: {platform-config: "true"}}
data: {REGION: west}
"#;

/// The number of files that are rendered for this number of clusters.
fn files_of_clusters(count: usize) -> Result<usize> {
    let cluster = |number| {
        format!(
            "---\napiVersion: fleet.kalypso.io/v1alpha1\nkind: Cluster\nmetadata: {{name: c{number}, labels: {{is: cluster}}}}\n\
             spec: {{clusterType: edge}}\n"
        )
    };
    let text = (0..count).map(cluster).fold(CLUSTERS.to_owned(), |text, cluster| text + &cluster);
    let (fleet, found) = testkit::directory::fleet_of(vec![("all.yaml".to_owned(), text.into_bytes())], ENVIRONMENT)?;
    assert_eq!(found, []);
    let compiled = Compiled::new(&fleet.into());
    assert_eq!((compiled.rendered_count(), compiled.diagnostics()), (count, Vec::new()));
    Ok(compiled.last_update().work.files)
}

#[test]
fn files_that_many_clusters_have_are_rendered_once() -> Result<()> {
    assert_eq!(files_of_clusters(1)?, 3);
    assert_eq!(files_of_clusters(200)?, 202);
    Ok(())
}

/// The number of assignments that a change of one file computes again, and the counters of work.
fn work_of(size: Size, change: &GeneratedChange) -> Result<(usize, Work)> {
    let files = generator::fleet(size, 1);
    let text = change.apply(&files[&change.path], 0).into_bytes();
    let texts = files.into_iter().map(|(path, text)| (path, text.into_bytes())).collect();
    let mut sources = Sources::new(testkit::directory::input_of(texts, ENVIRONMENT)?);
    let mut compiled = Compiled::new(sources.fleet());
    let (source, path) = (Arc::new(Source::directory()), change.path.as_str().into());
    let file = File { source, path, id: GitId::of_blob(&text), content: text.into() };
    let written = sources::SourceFileChange::Written {
        role: AuthorRole::Platform,
        scope: FileScope::Everything,
        limits: model::fleet::Limits::default(),
        file,
    };
    let update = compiled.update(&sources.update([written]).fleet);
    Ok((update.recomputed_count(), update.work))
}

/// Many maps, among them one for each of some cluster types and one for a single assignment.
const SMALL: Size = Size { cluster_types: 10, targets: 8, config_maps: 201, schemas: 2 };

#[test]
fn a_change_costs_the_same_however_many_places_there_are() -> Result<()> {
    let large = Size { cluster_types: 40, ..SMALL };
    for change in [
        GeneratedChange::value_on_cluster_type(SMALL),
        GeneratedChange::value_of_assignment(SMALL),
        GeneratedChange::comment(),
    ] {
        let (recomputed, work) = work_of(SMALL, &change)?;
        assert_eq!(recomputed, change.reached, "{}", change.what);
        assert_eq!(work_of(large, &change)?, (recomputed, work), "{}", change.what);
    }
    Ok(())
}

#[test]
fn cost_of_one_changed_assignment_does_not_depend_on_target_count() -> Result<()> {
    let change = GeneratedChange::value_of_assignment(SMALL);
    let (recomputed, work) = work_of(SMALL, &change)?;
    assert_eq!((recomputed, work.compositions, work.checks, work.renderings, work.folders), (1, 1, 2, 1, 1));
    assert_eq!(work_of(Size { targets: 32, ..SMALL }, &change)?, (recomputed, work));
    Ok(())
}

#[test]
fn changed_place_label_recomputes_only_the_place() -> Result<()> {
    for size in [SMALL, Size { cluster_types: 40, ..SMALL }] {
        let change = GeneratedChange::label_of_cluster_type(size);
        let (recomputed, work) = work_of(size, &change)?;
        assert_eq!((recomputed, work.folders), (change.reached, 1));
        assert!(work.renderings <= change.reached && work.compositions <= change.reached, "{work:?}");
    }
    Ok(())
}
