//! Plans say why assignments change.

use std::io::{self, Result};

use engine::compile::{Compiled, Options};
use engine::output::{Destination, assemble};
use engine::plan::{Comparison, Plan, Reason, plan};
use model::tree::{OpenError, Sealed, Tree};
use testkit::generator::ENVIRONMENT;

/// A target wherever there is a place for it.
const FLEET: &str = "
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata: {name: flux}
spec: {type: reconciler, manifests: ['name: {{ .DeploymentTargetName }}']}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: DeploymentTarget
metadata: {name: shop-live}
spec: {environment: prod, manifests: {repo: https://git.example/shop, branch: prod}}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: SchedulingPolicy
metadata: {name: all}
spec: {deploymentTargetSelector: {labelSelector: {}}, clusterTypeSelector: {labelSelector: {}}}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata: {name: edge}
spec: {reconciler: flux, namespaceService: flux, configType: flux}
";

const CLUSTER: &str = "
---
apiVersion: fleet.kalypso.io/v1alpha1
kind: Cluster
metadata: {name: line-7}
spec: {clusterType: edge}
";

const OTHER_TYPE: &str = "
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata: {name: large}
spec: {reconciler: flux, namespaceService: flux, configType: flux}
";

fn compiled(texts: &[&str], is_earlier: bool) -> Result<Compiled> {
    let files = vec![("all.yaml".to_owned(), texts.concat().into_bytes())];
    let (fleet, found) = testkit::directory::fleet_of(files, ENVIRONMENT)?;
    assert_eq!(found, []);
    Ok(Compiled::with(&fleet.into(), Options { is_earlier, ..Options::default() }))
}

fn planned(old: &Compiled, new: &Compiled) -> std::result::Result<Plan, OpenError> {
    let open = |sealed: &Sealed| old.open(sealed).or_else(|_| new.open(sealed));
    let (destination, content) = (Destination::default(), &|_| None);
    let previous = assemble(old, &Tree::default(), &destination, &open)?.tree;
    let output = assemble(new, &previous, &destination, &open)?;
    let (previous, output, folder, old) = (&previous, &output, &destination.folder, Some(old));
    plan(&Comparison { previous, output, folder, new, old, open: &open, content })
}

/// What comes of one assignment when these are gone.
fn check(gone: &str, id: &str, expected: Reason) -> Result<()> {
    let (old, new) = (compiled(&[FLEET, gone], true)?, compiled(&[FLEET], false)?);
    let plan = planned(&old, &new).map_err(io::Error::other)?;
    let reasons =
        plan.changes.iter().map(|(id, change)| (id.to_string(), change.why.as_ref().map(|why| &why.reasons[..])));
    let found: Vec<_> = reasons.collect();
    assert_eq!(found, [(id.to_owned(), Some(&[expected][..]))]);
    Ok(())
}

#[test]
fn a_place_that_is_gone_is_called_what_it_was() -> Result<()> {
    check(CLUSTER, "line-7/shop-live", Reason::ClusterGone)?;
    check(OTHER_TYPE, "large/shop-live", Reason::ClusterTypeGone)
}
