//! The small fleet from which edits start. It contains objects of every kind.

use std::collections::BTreeMap;

use simulator::random::Random;

use crate::generator::{ENVIRONMENT, GeneratedFile, config, schema};

pub(super) const REGIONS: [&str; 3] = ["region-0", "region-1", "region-2"];
pub(super) const SIZES: [&str; 2] = ["small", "large"];
pub(super) const RINGS: [&str; 2] = ["early", "late"];
pub(super) const TEAMS: [&str; 3] = ["team-0", "team-1", "team-2"];
pub(super) const PURPOSES: [&str; 4] = ["functional", "performance", "acceptance", "live"];
const CLUSTER_TYPES: usize = 6;
const CLUSTERS: usize = 30;
const CLUSTERS_PER_FILE: usize = 10;
const WORKLOADS: usize = 3;

/// 6 cluster types, 30 clusters in three files, 12 targets of three workloads, 20 `ConfigMap`s, 2 schemas, a label mapping, a pin.
pub(super) fn files(seed: u64) -> BTreeMap<String, String> {
    let mut random = Random::new(seed);
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    files.extend((0..CLUSTER_TYPES).map(|index| {
        let name = format!("ct-{index}");
        (format!("cluster-types/{name}.yaml"), cluster_type(&name, index))
    }));
    files.extend((0..CLUSTERS / CLUSTERS_PER_FILE).map(|file| {
        let first = file * CLUSTERS_PER_FILE;
        let clusters = (first..first + CLUSTERS_PER_FILE).map(|index| cluster(&format!("edge-{index:02}"), index));
        (format!("clusters/clusters-{file}.yaml"), clusters.collect::<Vec<_>>().join("---\n"))
    }));
    files.extend((0..WORKLOADS).flat_map(workload));
    let maps = config_labels().into_iter().enumerate();
    files.extend(maps.map(|(index, labels)| config::config_map(index, labels, &mut random)));
    files.extend((0..2).map(schema::config_schema));
    files.extend(policies());
    files.extend(TEMPLATES.map(|(name, kind, text)| {
        let head = "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: Template\nmetadata:\n  name: ";
        (format!("templates/{name}.yaml"), format!("{head}{name}\nspec:\n  type: {kind}\n{text}"))
    }));
    files.extend([
        ("mappings/storefront.yaml".to_owned(), mapping("storefront", "tier: web", "size: large")),
        ("pins/hold.yaml".to_owned(), pin("hold", "purpose: live", "region: region-1", "release-1")),
        ("environment.yaml".to_owned(), environment()),
    ]);
    files
}

pub(super) fn cluster_type(name: &str, index: usize) -> String {
    let region = REGIONS[index % REGIONS.len()];
    let size = SIZES[index / REGIONS.len() % SIZES.len()];
    let ring = RINGS[index % RINGS.len()];
    let config = if index % 3 == 2 { "env-file" } else { "config-map" };
    format!(
        "\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata:
  name: {name}
  labels:
    region: {region}
    size: {size}
    ring: {ring}
spec:
  reconciler: flux
  namespaceService: namespace
  configType: {config}
"
    )
}

pub(super) fn cluster(name: &str, index: usize) -> String {
    let (cluster_type, site) = (index % CLUSTER_TYPES, index / 5);
    let ring = RINGS[index / 2 % RINGS.len()];
    format!(
        "\
apiVersion: fleet.kalypso.io/v1alpha1
kind: Cluster
metadata:
  name: {name}
  labels:
    ring: {ring}
    site: site-{site}
spec:
  clusterType: ct-{cluster_type}
"
    )
}

fn workload(index: usize) -> [GeneratedFile; 2] {
    let (name, team, tier) = (format!("app-{index}"), TEAMS[index], if index == 0 { "web" } else { "batch" });
    let targets: String = PURPOSES.iter().map(|purpose| target(purpose, tier, &name)).collect();
    let workload = format!(
        "\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Workload
metadata:
  name: {name}
  labels:
    team: {team}
spec:
  deploymentTargets:
{targets}"
    );
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
    [(format!("workloads/{name}.yaml"), workload), (format!("registrations/{name}.yaml"), registration)]
}

pub(super) fn target(purpose: &str, tier: &str, workload: &str) -> String {
    format!(
        "    - name: {purpose}
      labels:
        purpose: {purpose}
        tier: {tier}
      environment: {ENVIRONMENT}
      manifests:
        repo: https://git.example/{workload}-gitops
        branch: {ENVIRONMENT}
        path: ./{purpose}
"
    )
}

/// The labels of the maps. Every way to select assignments occurs.
fn config_labels() -> [&'static str; 20] {
    [
        "",
        "",
        "    region: region-0\n",
        "    region: region-0\n    size: large\n",
        "    region: region-1\n",
        "    region: region-2\n",
        "    size: small\n",
        "    size: large\n",
        "    ring: early\n",
        "    ring: late\n",
        "    team: team-0\n",
        "    team: team-1\n",
        "    team: team-2\n    ring: late\n",
        "    region: region-1\n    team: team-0\n",
        "    cluster-type: ct-1\n",
        "    cluster-type: ct-4\n    workload: app-1\n",
        "    cluster: edge-03\n",
        "    cluster: edge-17\n    workload: app-0\n",
        "    workload: app-2\n",
        "    deployment-target: app-1-live\n    site: site-2\n",
    ]
}

fn policies() -> [GeneratedFile; 4] {
    let target = |purpose| format!("      matchLabels:\n        purpose: {purpose}\n");
    [
        ("functional", "      matchExpressions:\n        - key: region\n          operator: Exists\n"),
        (
            "performance",
            "      matchExpressions:\n        - key: size\n          operator: In\n          values: [large]\n",
        ),
        (
            "acceptance",
            "      matchExpressions:\n        - key: site\n          operator: NotIn\n          values: [site-1]\n",
        ),
        ("live", "      matchLabels:\n        region: region-0\n"),
    ]
    .map(|(purpose, clusters)| (format!("policies/{purpose}.yaml"), policy(purpose, &target(purpose), clusters)))
}

/// A policy with the lines of its two label selectors.
pub(super) fn policy(name: &str, targets: &str, clusters: &str) -> String {
    format!(
        "\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: SchedulingPolicy
metadata:
  name: {name}
spec:
  deploymentTargetSelector:
    labelSelector:
{targets}  clusterTypeSelector:
    labelSelector:
{clusters}"
    )
}

/// A mapping from one label, as `KEY: VALUE`, to another one.
pub(super) fn mapping(name: &str, from: &str, add: &str) -> String {
    format!(
        "\
apiVersion: fleet.kalypso.io/v1alpha1
kind: LabelMapping
metadata:
  name: {name}
spec:
  from:
    {from}
  add:
    {add}
"
    )
}

/// A pin of the targets and the cluster types that have a label, as `KEY: VALUE`.
pub(super) fn pin(name: &str, target: &str, cluster: &str, branch: &str) -> String {
    format!(
        "\
apiVersion: fleet.kalypso.io/v1alpha1
kind: ReleasePin
metadata:
  name: {name}
spec:
  deploymentTargetSelector:
    labelSelector:
      matchLabels:
        {target}
  clusterTypeSelector:
    labelSelector:
      matchLabels:
        {cluster}
  manifests:
    branch: {branch}
  reason: They wait for the new scanners.
"
    )
}

fn environment() -> String {
    format!(
        "\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Environment
metadata:
  name: {ENVIRONMENT}
spec:
  controlPlane:
    repo: https://git.example/acme/control-plane
    branch: {ENVIRONMENT}
    path: .
"
    )
}

/// The first two templates read no labels, the third reads the labels of the target, the fourth reads the labels of the cluster type.
const TEMPLATES: [(&str, &str, &str); 4] = [
    ("flux", "reconciler", FLUX),
    ("config-map", "config", CONFIG_MAP),
    ("namespace", "namespace", NAMESPACE),
    ("env-file", "config", ENV_FILE),
];

const FLUX: &str = r#"  manifests:
    - |
      # revision 0
      apiVersion: kustomize.toolkit.fluxcd.io/v1
      kind: Kustomization
      metadata:
        name: "{{ .DeploymentTargetName }}"
      spec:
        targetNamespace: "{{ .Namespace }}"
        branch: "{{ .Manifests.branch }}"
        path: "{{ .Manifests.path }}"
"#;

const CONFIG_MAP: &str = r"  manifests:
    - |
      # revision 0
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: platform-config
        namespace: {{ .Namespace }}
      data:
      {{ toYaml .ConfigData | indent 2 }}
";

const NAMESPACE: &str = r#"  manifests:
    - |
      # revision 0
      apiVersion: v1
      kind: Namespace
      metadata:
        name: "{{ .Namespace }}"
        labels:
          workload: "{{ .Workload }}"
          purpose: "{{ .Labels.purpose }}"
          size: "{{ .Labels.size }}"
"#;

const ENV_FILE: &str = r"  contentType: sh
  manifests:
    - |
      # revision 0
      # {{ .Workload }} on {{ .ClusterType }}
      {{- range $key, $value := .ClusterTypeLabels }}
      # {{ $key }} is {{ $value }}
      {{- end }}
      {{- range $key, $value := .ConfigData }}
      export {{ $key }}={{ $value | toJson | squote }}
      {{- end }}
";
