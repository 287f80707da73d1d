//! YAML texts of small objects.

pub(crate) use testkit::objects::environment;
use testkit::objects::{HOST, object};

pub(crate) fn base(name: &str, branch: &str, commit: &str) -> String {
    let commit = if commit.is_empty() { String::new() } else { format!("\ncommit: {commit}") };
    object("BaseRepo", name, &format!("repo: {HOST}{name}\nbranch: {branch}\npath: .{commit}"))
}

pub(crate) fn registration(name: &str, url: &str, path: &str) -> String {
    let place = format!("workload:\n  repo: {url}\n  branch: main\n  path: {path}");
    object("WorkloadRegistration", name, &format!("{place}\nworkspace: team"))
}

pub(crate) fn gitops(name: &str, repo: &str, branch: &str) -> String {
    object("GitOpsRepo", name, &format!("repo: {repo}\nbranch: {branch}\npath: ."))
}

pub(crate) fn workload(name: &str) -> String {
    object("Workload", name, "deploymentTargets: []")
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
