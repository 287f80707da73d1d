//! The objects of a small company as text.

use crate::company::HOST;

/// An object of one of Kalypso's kinds.
pub(crate) fn object(kind: &str, name: &str, spec: &str) -> String {
    labelled(kind, name, "", spec)
}

/// The same with labels in one flow mapping.
pub(crate) fn labelled(kind: &str, name: &str, labels: &str, spec: &str) -> String {
    let labels = if labels.is_empty() { String::new() } else { format!("  labels: {labels}\n") };
    format!(
        "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: {kind}\nmetadata:\n  name: {name}\n{labels}spec:\n{}",
        indented(spec)
    )
}

pub(crate) fn environment(name: &str) -> String {
    object("Environment", name, &format!("controlPlane: {{repo: {HOST}control-plane, branch: {name}, path: .}}"))
}

pub(crate) fn base() -> String {
    object("BaseRepo", "main", &format!("repo: {HOST}control-plane\nbranch: main\npath: ."))
}

pub(crate) fn gitops(name: &str, branch: &str, path: &str) -> String {
    object("GitOpsRepo", name, &format!("repo: {HOST}gitops\nbranch: {branch}\npath: {path}"))
}

pub(crate) fn registration(name: &str, repo: &str) -> String {
    let spec = format!("workload:\n  repo: {repo}\n  branch: main\n  path: .\nworkspace: {name}-team");
    object("WorkloadRegistration", name, &spec)
}

pub(crate) fn cluster_type(name: &str, region: &str) -> String {
    labelled(
        "ClusterType",
        name,
        &format!("{{region: {region}}}"),
        "reconciler: flux\nnamespaceService: default\nconfigType: configmap",
    )
}

/// A policy that assigns targets with the label `purpose` to all cluster types.
pub(crate) fn policy(name: &str, purpose: &str) -> String {
    let spec = format!(
        "deploymentTargetSelector:\n  labelSelector:\n    matchLabels:\n      purpose: {purpose}\nclusterTypeSelector:\n  labelSelector:\n    matchExpressions: [{{key: region, operator: Exists}}]"
    );
    object("SchedulingPolicy", name, &spec)
}

/// A `ConfigMap` with values.
pub(crate) fn config(name: &str, labels: &str, data: &str) -> String {
    let labels = if labels.is_empty() { String::new() } else { format!(", {labels}") };
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  labels: {{platform-config: \"true\"{labels}}}\ndata:\n{}",
        indented(data)
    )
}

pub(crate) fn template(name: &str, kind: &str, manifest: &str) -> String {
    object("Template", name, &format!("type: {kind}\nmanifests:\n  - |\n{}", indented(&indented(manifest))))
}

pub(crate) fn schema(name: &str, labels: &str, json: &str) -> String {
    labelled("ConfigSchema", name, labels, &format!("schema: |\n{}", indented(json)))
}

/// A workload with one target for `dev`, `NAME-test`, with the label `purpose: NAME`.
pub(crate) fn workload(name: &str) -> String {
    let target = format!(
        "deploymentTargets:\n  - name: test\n    labels: {{purpose: {name}}}\n    environment: dev\n    manifests: {{repo: {HOST}{name}-deploy, branch: dev, path: .}}"
    );
    object("Workload", name, &target)
}

/// The three templates that all cluster types use.
pub(crate) fn templates() -> [(&'static str, String); 3] {
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
