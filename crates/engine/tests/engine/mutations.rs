//! The content of one application's repository never changes the output of other applications.

use std::collections::BTreeMap;
use std::env;
use std::path::Path;

use model::tree::closed;
use testkit::mutation::{Chance, mutated};
use testkit::suite::{self, Case, run_with};

/// The number of mutated repositories in a usual run.
const COUNT: u64 = 2_000;

type RenderedFiles = Vec<(String, Vec<u8>)>;

/// The first case of `shop.md`: a small shop.
fn shop() -> Case {
    suite::cases(&Path::new(suite::FOLDER).join("shop.md")).unwrap().remove(0)
}

const REGISTRATIONS: &str = "
apiVersion: scheduler.kalypso.io/v1alpha1
kind: WorkloadRegistration
metadata: {name: checkout}
spec: {workspace: money-team, workload: {repo: https://git.example/acme/checkout, branch: main, path: workload}}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: WorkloadRegistration
metadata: {name: monitor}
spec: {workspace: shop-team, workload: {repo: https://git.example/acme/monitor, branch: main, path: workload}}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: SchedulingPolicy
metadata: {name: money}
spec:
  deploymentTargetSelector: {workspace: money-team, labelSelector: {matchLabels: {purpose: live}}}
  clusterTypeSelector: {labelSelector: {matchLabels: {region: east}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: money, labels: {platform-config: \"true\", workspace: money-team}}
data: {TOKEN: \"s3cret-of-money\", PORT: \"8080\"}
";

const CHECKOUT: &str = "
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Workload
metadata:
  name: checkout
  labels:
    type: application
spec:
  deploymentTargets:
    - name: live
      labels:
        purpose: live
      environment: dev
      manifests:
        repo: https://git.example/acme/checkout-gitops
        branch: dev
        path: ./live
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ConfigSchema
metadata:
  name: checkout
  labels:
    workload: checkout
spec:
  schema: |
    {\"type\": \"object\", \"properties\": {\"PORT\": {\"type\": \"integer\"}, \"TOKEN\": {\"x-sensitive\": true}}}
";

const MONITOR: &str = "
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Workload
metadata:
  name: monitor
spec:
  deploymentTargets:
    - name: all
      environment: dev
      labels:
        purpose: watch
      manifests:
        path: ./all
";

/// The shop with two more teams.
fn company() -> RenderedFiles {
    let mut files = shop().files();
    files.push(("registrations.yaml".to_owned(), REGISTRATIONS.into()));
    files.push(("checkout@main:workload.yaml".to_owned(), CHECKOUT.into()));
    files.push(("monitor@main:workload.yaml".to_owned(), MONITOR.into()));
    files
}

/// The files in folders of targets whose names begin with none of these prefixes.
fn others(case: &Case, files: &RenderedFiles, names: &[&str]) -> BTreeMap<String, Vec<u8>> {
    let tree = run_with(case, files).unwrap().tree;
    let files = tree.files(&closed).map(Result::unwrap);
    let is_of =
        |path: &str| path.split('/').nth(1).is_some_and(|target| names.iter().any(|name| target.starts_with(name)));
    let others = files.filter(|(path, _)| !is_of(path) && !path.ends_with("README.md"));
    others.map(|(path, entry)| (path, entry.blob.bytes().unwrap().to_vec())).collect()
}

#[test]
fn applications_cannot_change_the_output_of_others() {
    let (case, company) = (shop(), company());
    let expected = others(&case, &company, &["monitor-"]);
    assert_eq!(expected.len(), 4 * 3, "{:?}", expected.keys());
    let texts: Vec<_> = company.iter().map(|(_, text)| String::from_utf8_lossy(text).into_owned()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let variable = |name: &str| env::var(name).ok()?.parse::<u64>().ok();
    let seed = variable("KALYPSO_FUZZ_SEED").unwrap_or_default();
    for round in seed..seed + variable("KALYPSO_MUTATIONS").unwrap_or(COUNT) {
        let mut chance = Chance::new(round);
        let mut files = company.clone();
        let index = files.iter().position(|(path, _)| path.starts_with("monitor@")).unwrap();
        // The mutation starts from the application's own text, or from a text of another application.
        let from = if chance.one_of(4) == 0 { texts[chance.one_of(texts.len())] } else { MONITOR };
        let text = mutated(from, &texts, &mut chance);
        files[index].1 = text.clone().into_bytes();
        let found = others(&case, &files, &["monitor-"]);
        let new: Vec<_> = found.iter().filter(|(path, bytes)| expected.get(*path) != Some(*bytes)).collect();
        let missing: Vec<_> = expected.keys().filter(|path| !found.contains_key(*path)).collect();
        assert!(missing.is_empty(), "round {round}: {missing:?} are missing with\n{text}");
        let foreign: Vec<_> = new.iter().filter(|(path, _)| expected.contains_key(*path)).collect();
        assert!(foreign.is_empty(), "round {round}: {foreign:?} are not as before with\n{text}");
        for (path, bytes) in new {
            let content = String::from_utf8_lossy(bytes);
            assert!(!content.contains("s3cret-of-money"), "round {round}: {path} has a value of others with\n{text}");
            assert!(!content.contains("ClusterRoleBinding"), "round {round}: {path} has a document of its own\n{text}");
        }
    }
}
