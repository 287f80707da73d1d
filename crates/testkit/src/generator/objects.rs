//! Cluster types, workloads, policies and templates of a generated fleet.

use std::fmt::Write as _;

use super::labels::Spread;
use super::names::{PURPOSES, cluster_type_name, workload_name};
use super::{ENVIRONMENT, GeneratedFile};

/// A cluster type in a region.
pub(super) fn cluster_type(index: usize, spread: Spread) -> GeneratedFile {
    let (region, size, ring) = (spread.region(index), spread.size(index), spread.ring(index));
    let labels = format!("    region: {region}\n    size: {size}\n    ring: {ring}\n");
    (cluster_type_path(index, spread), cluster_type_with(index, &labels))
}

pub(super) fn cluster_type_path(index: usize, spread: Spread) -> String {
    format!("cluster-types/{}/{}.yaml", spread.region(index), cluster_type_name(index))
}

/// A cluster type with these lines as its labels. One of five cluster types is for hosts that read an environment file.
pub(super) fn cluster_type_with(index: usize, labels: &str) -> String {
    let name = cluster_type_name(index);
    let config = if index % 5 == 4 { "env-file" } else { "config-map" };
    format!(
        "\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata:
  name: {name}
  labels:
{labels}spec:
  reconciler: flux
  namespaceService: namespace
  configType: {config}
"
    )
}

/// A workload with its registration.
pub(super) fn workload(index: usize, targets: usize, spread: Spread) -> [GeneratedFile; 2] {
    let name = workload_name(index);
    let team = spread.team(index);
    let mut text = format!(
        "\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Workload
metadata:
  name: {name}
  labels:
    team: {team}
    type: application
spec:
  deploymentTargets:
"
    );
    for purpose in &PURPOSES[..targets] {
        let _ = write!(
            text,
            "    - name: {purpose}
      labels:
        purpose: {purpose}
      environment: {ENVIRONMENT}
      manifests:
        repo: https://git.example/{team}/{name}-gitops
        branch: {ENVIRONMENT}
        path: ./{purpose}
"
        );
    }
    let registration = format!(
        "\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: WorkloadRegistration
metadata:
  name: {name}
spec:
  workload:
    repo: https://git.example/{team}/{name}
    branch: main
    path: workload/
  workspace: {team}
"
    );
    [(format!("workloads/{name}.yaml"), text), (format!("registrations/{name}.yaml"), registration)]
}

/// The policies and templates. Their number does not depend on the size.
pub(super) fn fixed() -> Vec<GeneratedFile> {
    let policies = PURPOSES.iter().map(|purpose| (format!("policies/{purpose}.yaml"), policy(purpose)));
    let templates = [
        ("flux", "reconciler", FLUX),
        ("namespace", "namespace", NAMESPACE),
        ("config-map", "config", CONFIG_MAP),
        ("env-file", "config", ENV_FILE),
    ];
    policies.chain(templates.into_iter().map(template)).collect()
}

/// The config template for fleets that print lists and maps as texts: clusters refuse a `ConfigMap` with others.
pub(super) fn printing_texts() -> GeneratedFile {
    template(("config-map", "config", &CONFIG_MAP.replace("toYaml", "stringify")))
}

/// The config templates for fleets in which both templates print a hash of the values and all values as texts.
pub(super) fn hashing() -> impl Iterator<Item = GeneratedFile> {
    ["config-map", "env-file"].into_iter().map(|name| template((name, "config", HASHING)))
}

fn template((name, kind, manifests): (&str, &str, &str)) -> GeneratedFile {
    let text = format!(
        "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: Template\nmetadata:\n  name: {name}\nspec:\n  type: {kind}\n{manifests}"
    );
    (format!("templates/{name}.yaml"), text)
}

fn policy(purpose: &str) -> String {
    format!(
        "\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: SchedulingPolicy
metadata:
  name: {purpose}
spec:
  deploymentTargetSelector:
    labelSelector:
      matchLabels:
        purpose: {purpose}
  clusterTypeSelector:
    labelSelector:
      matchExpressions:
        - key: region
          operator: Exists
"
    )
}

const FLUX: &str = r#"  manifests:
    - |
      apiVersion: source.toolkit.fluxcd.io/v1
      kind: GitRepository
      metadata:
        name: "{{ .DeploymentTargetName }}"
        namespace: flux-system
      spec:
        interval: 30s
        url: "{{ .Manifests.repo }}"
        ref:
          branch: "{{ .Manifests.branch }}"
        secretRef:
          name: repo-secret
    - |
      apiVersion: kustomize.toolkit.fluxcd.io/v1
      kind: Kustomization
      metadata:
        name: "{{ .DeploymentTargetName }}"
        namespace: flux-system
      spec:
        interval: 30s
        targetNamespace: "{{ .Namespace }}"
        sourceRef:
          kind: GitRepository
          name: "{{ .DeploymentTargetName }}"
        path: "{{ .Manifests.path }}"
        prune: true
"#;

const NAMESPACE: &str = r#"  manifests:
    - |
      apiVersion: v1
      kind: Namespace
      metadata:
        name: "{{ .Namespace }}"
        labels:
          environment: "{{ .Environment }}"
          workspace: "{{ .Workspace }}"
          workload: "{{ .Workload }}"
          deploymentTarget: "{{ .DeploymentTargetName }}"
"#;

const CONFIG_MAP: &str = r"  manifests:
    - |
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: platform-config
        namespace: {{ .Namespace }}
      data:
      {{ toYaml .ConfigData | indent 2 }}
";

const HASHING: &str = r#"  manifests:
    - |
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: platform-config
        namespace: {{ .Namespace }}
        annotations:
          config-hash: "{{ hash .ConfigData }}"
      data:
      {{ stringify .ConfigData | indent 2 }}
"#;

const ENV_FILE: &str = r"  contentType: sh
  manifests:
    - |
      # {{ .Workload }} on {{ .ClusterType }}
      {{- range $key, $value := .ConfigData }}
      export {{ $key }}={{ $value | toJson | squote }}
      {{- end }}
";
