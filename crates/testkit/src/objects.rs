//! The objects of a small company as text. Their repositories are below [`HOST`].

#![expect(clippy::expect_used, reason = "a kind that does not exist is a broken test")]

use std::fmt::Display;

use model::kind::Kind;

/// The base of the company's URLs.
pub const HOST: &str = "https://git.example/acme/";

/// An object of one of Kalypso's kinds.
///
/// # Panics
/// Panics if there is no such kind.
pub fn object(kind: &str, name: &str, spec: &str) -> String {
    labelled(kind, name, "", spec)
}

/// The same with labels in one flow mapping.
pub fn labelled(kind: &str, name: &str, labels: &str, spec: &str) -> String {
    let labels = if labels.is_empty() { String::new() } else { format!("  labels: {labels}\n") };
    let found = Kind::ALL.iter().find(|found| found.name() == kind);
    let version = found.expect("the kind exists").api_version();
    format!("apiVersion: {version}\nkind: {kind}\nmetadata:\n  name: {name}\n{labels}spec:\n{}", indented(spec))
}

/// An environment whose branch of the control plane has its name.
pub fn environment(name: &str) -> String {
    object("Environment", name, &format!("controlPlane: {{repo: {HOST}control-plane, branch: {name}, path: .}}"))
}

/// The main branch of the control plane.
pub fn base() -> String {
    object("BaseRepo", "main", &format!("repo: {HOST}control-plane\nbranch: main\npath: ."))
}

/// A commit of the main branch of the control plane.
pub fn pinned_base(commit: impl Display) -> String {
    format!("{}  commit: {commit}\n", base())
}

/// A branch and a folder of the GitOps repository.
pub fn gitops(name: &str, branch: &str, path: &str) -> String {
    object("GitOpsRepo", name, &format!("repo: {HOST}gitops\nbranch: {branch}\npath: {path}"))
}

/// A workload in the main branch of a repository.
pub fn registration(name: &str, repo: &str) -> String {
    let spec = format!("workload:\n  repo: {repo}\n  branch: main\n  path: .\nworkspace: {name}-team");
    object("WorkloadRegistration", name, &spec)
}

/// A cluster type with the label `region`.
pub fn cluster_type(name: &str, region: &str) -> String {
    labelled(
        "ClusterType",
        name,
        &format!("{{region: {region}}}"),
        "reconciler: flux\nnamespaceService: default\nconfigType: configmap",
    )
}

/// A policy that assigns targets with the label `purpose` to all cluster types.
pub fn policy(name: &str, purpose: &str) -> String {
    let spec = format!(
        "deploymentTargetSelector:\n  labelSelector:\n    matchLabels:\n      purpose: {purpose}\nclusterTypeSelector:\n  labelSelector:\n    matchExpressions: [{{key: region, operator: Exists}}]"
    );
    object("SchedulingPolicy", name, &spec)
}

/// A `ConfigMap` with values.
pub fn config(name: &str, labels: &str, data: &str) -> String {
    let labels = if labels.is_empty() { String::new() } else { format!(", {labels}") };
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  labels: {{platform-config: \"true\"{labels}}}\ndata:\n{}",
        indented(data)
    )
}

/// A template with one manifest. `kind` is its type.
pub fn template(name: &str, kind: &str, manifest: &str) -> String {
    object("Template", name, &format!("type: {kind}\nmanifests:\n  - |\n{}", indented(&indented(manifest))))
}

/// A schema of values, in JSON.
pub fn schema(name: &str, labels: &str, json: &str) -> String {
    labelled("ConfigSchema", name, labels, &format!("schema: |\n{}", indented(json)))
}

/// A workload with one target for `dev`, `NAME-test`, with the label `purpose: NAME`.
pub fn workload(name: &str) -> String {
    let manifests = format!("repo: {HOST}{name}-deploy, branch: dev, path: .");
    workload_with(name, &[target(("test", "dev"), name, &manifests)])
}

/// A workload with a target in each environment, named after it, with the label `purpose: NAME`.
pub fn workload_in(name: &str, environments: &[&str]) -> String {
    let target = |environment: &&str| {
        let manifests = format!("repo: {HOST}{name}-deploy, branch: {environment}, path: .");
        target((environment, environment), name, &manifests)
    };
    workload_with(name, &environments.iter().map(target).collect::<Vec<_>>())
}

/// A workload with these targets.
pub fn workload_with(name: &str, targets: &[String]) -> String {
    object("Workload", name, &format!("deploymentTargets:\n{}", targets.concat()))
}

/// A target of a workload, with the label `purpose`. `manifests` are the fields of its manifests.
pub fn target((name, environment): (&str, &str), purpose: &str, manifests: &str) -> String {
    format!(
        "  - name: {name}\n    labels: {{purpose: {purpose}}}\n    environment: {environment}\n    manifests: {{{manifests}}}\n"
    )
}

/// The three templates that all cluster types use.
pub fn templates() -> [(&'static str, String); 3] {
    let reconciler = "kind: Reconciler\nname: {{ .DeploymentTargetName }}\nrepo: {{ .Manifests.repo }}\n";
    let config = "kind: ConfigMap\nmetadata:\n  name: platform-config\ndata:\n{{ toYaml .ConfigData | indent 2 }}\n";
    [
        ("templates/flux.yaml", template("flux", "reconciler", reconciler)),
        ("templates/default.yaml", template("default", "namespace", "kind: Namespace\nname: {{ .Namespace }}\n")),
        ("templates/configmap.yaml", template("configmap", "config", config)),
    ]
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}
