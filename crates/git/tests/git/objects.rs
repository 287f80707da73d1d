//! YAML texts of small objects.

use crate::playground::HOST;

fn object(kind: &str, name: &str, rest: &str) -> String {
    format!("apiVersion: scheduler.kalypso.io/v1alpha1\nkind: {kind}\nmetadata:\n  name: {name}\n{rest}")
}

pub(crate) fn environment(name: &str) -> String {
    let place = format!("    repo: {HOST}control-plane\n    branch: {name}\n    path: .\n");
    object("Environment", name, &format!("spec:\n  controlPlane:\n{place}"))
}

pub(crate) fn base(name: &str, branch: &str, commit: &str) -> String {
    let commit = if commit.is_empty() { String::new() } else { format!("  commit: {commit}\n") };
    object("BaseRepo", name, &format!("spec:\n  repo: {HOST}{name}\n  branch: {branch}\n  path: .\n{commit}"))
}

pub(crate) fn registration(name: &str, url: &str, path: &str) -> String {
    let place = format!("    repo: {url}\n    branch: main\n    path: {path}\n");
    object("WorkloadRegistration", name, &format!("spec:\n  workload:\n{place}  workspace: team\n"))
}

pub(crate) fn gitops(name: &str, repo: &str, branch: &str) -> String {
    object("GitOpsRepo", name, &format!("spec:\n  repo: {repo}\n  branch: {branch}\n  path: .\n"))
}

pub(crate) fn workload(name: &str) -> String {
    object("Workload", name, "spec:\n  deploymentTargets: []\n")
}

pub(crate) fn config(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata: {{}}\n")
}

pub(crate) fn flux_pair(name: &str, path: &str) -> [String; 2] {
    let repository = format!(
        "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata:\n  name: {name}\nspec:\n  url: {HOST}{name}\n  ref:\n    branch: main\n"
    );
    let kustomization = format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: {name}\nspec:\n  path: {path}\n  sourceRef:\n    kind: GitRepository\n    name: {name}\n"
    );
    [repository, kustomization]
}
