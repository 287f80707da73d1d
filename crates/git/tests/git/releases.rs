//! The admitted releases of workloads, when an environment is loaded.

use git::load::{BrokenFiles, ControlPlane, load};
use model::fleet::Fleet;
use model::name::EnvironmentName;
use model::progress::Progress;

use crate::load::{Branch, fill};
use crate::objects::environment;
use crate::playground::{control_plane, memory, url};

#[test]
fn admitted_releases_stand_in_the_place_of_promoted_pins() {
    let repositories = memory("control-plane");
    let main: Branch<'_> = ("control-plane", "main", &[(".environments/dev.yaml", &environment("dev"))]);
    let pin = |name: &str, tag: &str| {
        format!(
            "apiVersion: fleet.kalypso.io/v1alpha1\nkind: ReleasePin\nmetadata: {{name: {name}}}\nspec:\n  deploymentTargetSelector: \
             {{labelSelector: {{}}}}\n  clusterTypeSelector: {{labelSelector: {{}}}}\n  manifests: {{tag: \"{tag}\"}}\n"
        )
    };
    let workload = "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: Workload\nmetadata: {name: shop}\nspec:\n  deploymentTargets:\n    - \
                    {name: shop, environment: dev, manifests: {repo: r, branch: main, path: p, tag: \"1\"}}\n";
    let (own, by_hand) = (pin("mine", "7"), pin("promoted-shop", "9"));
    fill(
        &repositories,
        &[main, ("control-plane", "dev", &[("w.yaml", workload), ("a.yaml", &own), ("b.yaml", &by_hand)])],
    );
    let url = url("control-plane");
    let (progress, broken) = (&Progress::default(), &BrokenFiles::default());
    let pins = |releases: &[(&str, &str)]| {
        let releases = &releases.iter().map(|(name, version)| ((*name).into(), (*version).into())).collect();
        let platform = ControlPlane { releases, ..control_plane(&url, (progress, broken)) };
        let (fleet, found) = Fleet::build(load(&repositories, platform, &EnvironmentName::new("dev").unwrap()).input);
        assert!(found.iter().all(|found| !found.is_error()), "{found:?}");
        let pins = fleet.release_pins.values();
        pins.map(|pin| format!("{}: {:?}", pin.name, pin.spec.manifests)).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(pins(&[]), r#"mine: {"tag": "7"}; promoted-shop: {"tag": "9"}"#);
    assert_eq!(pins(&[("shop", "2 \"\\ü")]), r#"mine: {"tag": "7"}; promoted-shop: {"tag": "2 \"\\ü"}"#);
    assert_eq!(pins(&[("other", "2")]), r#"mine: {"tag": "7"}; promoted-shop: {"tag": "9"}"#);
}
