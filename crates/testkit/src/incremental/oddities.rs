//! Unusual files, each in several forms: duplicate names, workloads claimed by applications, copies, conflicts, values that are templates, sensitive
//! values.

use std::collections::BTreeMap;

use simulator::random::Random;

use super::limited::FOLDER;
use crate::generator::ENVIRONMENT;

/// The files that are present.
#[derive(Debug, Default)]
pub(super) struct Oddities {
    present: BTreeMap<&'static str, usize>,
}

impl Oddities {
    /// Adds, changes or removes a file. Returns a description, the path and the text, which is `None` for a removed file. With `only_claims`, only files
    /// with claims change.
    pub(super) fn next(&mut self, random: &mut Random, only_claims: bool) -> (String, String, Option<String>) {
        let number = random.below(if only_claims { CLAIMS.len() } else { ALL.len() + CLAIMS.len() } as u64) as usize;
        let (name, forms) = CLAIMS.iter().chain(ALL).nth(number).unwrap_or(&ALL[0]);
        let path = match name.split_once('@') {
            Some((registration, file)) => format!("applications/{registration}/{file}.yaml"),
            None if name.starts_with(FOLDER) => format!("{name}.yaml"),
            None => format!("odd/{name}.yaml"),
        };
        let present = self.present.remove(name);
        if present.is_some() && random.below(3) > 0 {
            return (format!("{name} goes"), path, None);
        }
        let form = random.below(forms.len() as u64) as usize;
        self.present.insert(*name, form);
        let text = forms.get(form).map(|(kind, rest)| object(name, kind, rest));
        (format!("{name} in form {form}"), path, text)
    }
}

/// The text of one or more objects. `rest` is the text after the name of the first one.
fn object(name: &str, kind: &str, rest: &str) -> String {
    let name = name.rsplit(['@', '/']).next().unwrap_or(name).trim_end_matches('+');
    let group = match kind {
        "ConfigMap" => "v1",
        "Cluster" | "LabelMapping" | "ReleasePin" => "fleet.kalypso.io/v1alpha1",
        _ => "scheduler.kalypso.io/v1alpha1",
    };
    let rest = rest.replace("ENVIRONMENT", ENVIRONMENT);
    format!("apiVersion: {group}\nkind: {kind}\nmetadata:\n  name: {name}\n{rest}")
}

/// A kind, and the text that follows the name.
type Form = (&'static str, &'static str);

/// The forms by name. A plus sign after the name makes another file with an object of the same name. `NAME@` before it puts the file into the
/// repository of the registration `NAME`.
const ALL: &[(&str, &[Form])] = &[
    // Names that both clusters and cluster types have.
    ("ct-2", &[("Cluster", "spec: {clusterType: ct-0}\n"), ("Cluster", "spec: {clusterType: ct-2}\n")]),
    (
        "edge-03",
        &[(
            "ClusterType",
            "  labels: {region: region-0, ring: early}\nspec: {reconciler: flux, namespaceService: namespace, configType: env-file}\n",
        )],
    ),
    (
        "ct-none",
        &[(
            "ClusterType",
            "  labels: {size: large}\nspec: {reconciler: flux, namespaceService: namespace, configType: config-map}\n",
        )],
    ),
    (
        "0-first",
        &[
            (
                "ClusterType",
                "  labels: {region: region-1, cluster: edge-03}\nspec: {reconciler: absent, namespaceService: namespace, configType: config-map}\n",
            ),
            (
                "ClusterType",
                "  labels: {region: region-1}\nspec: {reconciler: flux, namespaceService: namespace, configType: env-file}\n",
            ),
        ],
    ),
    (
        "absent",
        &[
            ("Template", "spec: {type: reconciler, manifests: [\"a: {{ .Manifests.path }}\"]}\n"),
            ("Template", "spec: {type: reconciler, manifests: [\"a: {{ .Labels.team\"]}\n"),
            (
                "Template",
                "  annotations: {template.kalypso.io/literal: \"true\"}\nspec: {type: reconciler, manifests: [\"a: {{ .Manifests.path }}\"]}\n",
            ),
        ],
    ),
    // Values that are templates, and sensitive values.
    (
        "nested",
        &[
            (
                "ConfigMap",
                "  labels: {platform-config: \"true\", region: region-0}\ndata: {NESTED: \"{{ .ClusterTypeLabels.ring }}\"}\n",
            ),
            ("ConfigMap", "  labels: {platform-config: \"true\", region: region-0}\ndata: {NESTED: \"plain\"}\n"),
            (
                "ConfigMap",
                "  labels: {platform-config: \"true\", region: region-0}\ndata: {NESTED: \"{{ .ConfigVersion }} {{ .Labels.size }}\"}\n",
            ),
            (
                "ConfigMap",
                "  labels: {platform-config: \"true\", region: region-0}\ndata: {NESTED: \"{{ fail .Cluster }}\"}\n",
            ),
        ],
    ),
    (
        "azure-app-config-odd",
        &[
            ("ConfigMap", "data: {region.region-1.FRESH: a, region.region-1.ring.late.FRESH: b, odd.FRESH: c}\n"),
            (
                "ConfigMap",
                "  labels: {platform-config: \"true\", ring: late}\ndata: {region.region-1.FRESH: a, workload.app-1.SETTING_03: d}\n",
            ),
        ],
    ),
    (
        "secret",
        &[
            (
                "ConfigSchema",
                "spec: {schema: '{\"properties\": {\"SETTING_03\": {\"writeOnly\": true}, \"NESTED\": {\"x-sensitive\": true}}}'}\n",
            ),
            (
                "ConfigSchema",
                "  labels: {region: region-2}\nspec: {schema: '{\"properties\": {\"SETTING_11\": {\"writeOnly\": true, \"maxLength\": 2}}}'}\n",
            ),
            (
                "ConfigSchema",
                "  annotations: {schema.kalypso.io/missing: warn}\nspec: {schema: '{\"required\": [\"FRESH\"]}'}\n",
            ),
            (
                "ConfigSchema",
                "  annotations: {schema.kalypso.io/missing: never}\nspec: {schema: '{\"required\": [\"FRESH\"]}'}\n",
            ),
        ],
    ),
    // Objects of a limited repository: allowed or not, also with the names of objects above it.
    (
        "limited/edge-03",
        &[
            ("Cluster", "  labels: {region: region-0}\nspec: {clusterType: ct-0}\n"),
            ("Cluster", "  labels: {region: region-1}\nspec: {clusterType: ct-0}\n"),
            (
                "ClusterType",
                "  labels: {region: region-0}\nspec: {reconciler: flux, namespaceService: namespace, configType: env-file}\n",
            ),
        ],
    ),
    (
        "limited/secret",
        &[
            (
                "ConfigSchema",
                "  labels: {region: region-0}\nspec: {schema: '{\"properties\": {\"SETTING_03\": {\"writeOnly\": true}}}'}\n",
            ),
            ("ConfigSchema", "spec: {schema: '{\"required\": [\"FRESH\"]}'}\n"),
        ],
    ),
    (
        "limited/nested",
        &[
            ("ConfigMap", "  labels: {platform-config: \"true\", region: region-0}\ndata: {FRESH: limited}\n"),
            ("ConfigMap", "  labels: {platform-config: \"true\", region: region-0}\ndata: {OTHER: refused}\n"),
            ("ConfigMap", "  labels: {platform-config: \"true\"}\ndata: {FRESH: refused}\n"),
        ],
    ),
    (
        "limited/twice",
        &[
            (
                "SchedulingPolicy",
                "spec: {deploymentTargetSelector: {labelSelector: {}}, clusterTypeSelector: {labelSelector: {matchLabels: {region: region-0}}}}\n",
            ),
            (
                "SchedulingPolicy",
                "spec: {deploymentTargetSelector: {labelSelector: {}}, clusterTypeSelector: {labelSelector: {}}}\n",
            ),
        ],
    ),
    (
        "limited/9th",
        &[(
            "Workload",
            "spec: {deploymentTargets: [{name: live, labels: {purpose: live}, environment: ENVIRONMENT, manifests: {branch: b, path: p}}]}\n",
        )],
    ),
    // Targets with their own schemas, with braces in data that templates read, and with duplicate names.
    (
        "9th",
        &[
            (
                "Workload",
                "  labels: {team: team-0}\nspec: {deploymentTargets: [{name: live, labels: {purpose: live}, environment: ENVIRONMENT, manifests: {branch: b, path: \"{{ .ClusterTypeLabels.ring }}{{ .ConfigVersion }}\"}, configSchemas: ['{\"required\": [\"FRESH\"]}']}]}\n",
            ),
            (
                "Workload",
                "  labels: {team: team-0}\nspec: {deploymentTargets: [{name: live, labels: {purpose: live}, environment: ENVIRONMENT, manifests: {branch: b, path: p}, configSchemas: ['{\"properties\": {\"LOG_LEVEL\": {\"const\": \"debug\"}}}']}]}\n",
            ),
            (
                "Workload",
                "  labels: {team: team-1}\nspec: {deploymentTargets: [{name: functional, labels: {purpose: functional}, environment: ENVIRONMENT, manifests: {branch: b, path: p}}, {name: live, labels: {purpose: live}, environment: ENVIRONMENT, manifests: {branch: \"{{ .Labels.team }}\", path: p}}]}\n",
            ),
        ],
    ),
    (
        "app-1-live",
        &[
            (
                "DeploymentTarget",
                "  labels: {purpose: live, workload: app-1}\nspec: {environment: ENVIRONMENT, manifests: {branch: b, path: p}}\n",
            ),
            (
                "DeploymentTarget",
                "  labels: {purpose: other}\nspec: {environment: elsewhere, manifests: {branch: b, path: p}}\n",
            ),
        ],
    ),
    (
        "readme.md",
        &[(
            "DeploymentTarget",
            "  labels: {purpose: functional, workspace: team-0}\nspec: {environment: ENVIRONMENT, manifests: {branch: b, path: p}}\n",
        )],
    ),
    // Two objects of one name, and objects that contradict each other.
    (
        "twice",
        &[
            (
                "ReleasePin",
                "spec: {deploymentTargetSelector: {labelSelector: {matchLabels: {purpose: live}}}, clusterTypeSelector: {labelSelector: {}}, manifests: {branch: b1}}\n",
            ),
            ("LabelMapping", "spec: {from: {tier: batch}, add: {size: small}}\n"),
            (
                "SchedulingPolicy",
                "spec: {deploymentTargetSelector: {workspace: team-1, labelSelector: {}}, clusterTypeSelector: {labelSelector: {matchLabels: {ring: early}}}}\n",
            ),
        ],
    ),
    (
        "twice+",
        &[
            (
                "ReleasePin",
                "spec: {deploymentTargetSelector: {labelSelector: {matchLabels: {purpose: live}}}, clusterTypeSelector: {labelSelector: {matchLabels: {ring: late}}}, manifests: {branch: b2}}\n",
            ),
            ("LabelMapping", "spec: {from: {tier: batch}, add: {size: large}}\n"),
            (
                "SchedulingPolicy",
                "spec: {deploymentTargetSelector: {labelSelector: {matchLabels: {purpose: live}}}, clusterTypeSelector: {labelSelector: {matchLabels: {ring: late}}}}\n",
            ),
        ],
    ),
    (
        "thrice",
        &[
            (
                "ReleasePin",
                "spec: {deploymentTargetSelector: {labelSelector: {matchLabels: {workload: app-1}}}, clusterTypeSelector: {labelSelector: {}}, manifests: {branch: b3}}\n",
            ),
            ("LabelMapping", "spec: {from: {tier: batch}, add: {size: medium, ring: late}}\n"),
            (
                "SchedulingPolicy",
                "spec: {deploymentTargetSelector: {labelSelector: {}}, clusterTypeSelector: {labelSelector: {matchLabels: {nobody: has}}}}\n",
            ),
        ],
    ),
    // Files that are broken as a whole.
    (
        "broken",
        &[
            ("SchedulingPolicy", "spec: {clusterTypeSelector: {}}\n"),
            (
                "SchedulingPolicy",
                "spec: {deploymentTargetSelector: {labelSelector: {}}, clusterTypeSelector: {labelSelector: {matchLabels: {size: small}}}}\n",
            ),
            ("SchedulingPolicy", "  spec: ]\n"),
        ],
    ),
];

/// Registrations, and workloads that several registrations provide. One workload is provided under the name of its registration.
const CLAIMS: &[(&str, &[Form])] = &[
    ("odd-a", &[("WorkloadRegistration", TEAM_0)]),
    ("odd-b", &[("WorkloadRegistration", TEAM_1)]),
    ("page", &[("WorkloadRegistration", TEAM_0), ("WorkloadRegistration", TEAM_1)]),
    ("odd-a@page", &[("Workload", LIVE), ("Workload", LIVE_AND_MORE), ("Workload", FUNCTIONAL)]),
    ("odd-a@page+", &[("Workload", LIVE_AND_MORE)]),
    ("odd-b@page", &[("Workload", LIVE), ("Workload", HIDING)]),
    ("page@page", &[("Workload", LIVE_AND_MORE), ("Workload", HIDING)]),
    ("odd-a@odd-a", &[("Workload", LIVE), ("Workload", HIDING)]),
    ("odd-b@odd-a", &[("Workload", FUNCTIONAL)]),
    ("odd-a@app-1", &[("Workload", FUNCTIONAL)]),
    ("odd-b@page-live", &[("Workload", FUNCTIONAL), ("Workload", LIVE)]),
    ("odd-a@values", &[("ConfigSchema", FOR_PAGE), ("ConfigSchema", FOR_ODD_A)]),
    ("odd-b@values", &[("ConfigSchema", FOR_PAGE), ("ConfigSchema", FOR_ODD_A)]),
    ("odd-b@values+", &[("ConfigSchema", FOR_PAGE)]),
];

const TEAM_0: &str =
    "spec: {workload: {repo: 'https://git.example/odd/a', branch: main, path: .}, workspace: team-0}\n";
const TEAM_1: &str =
    "spec: {workload: {repo: 'https://git.example/odd/b', branch: main, path: .}, workspace: team-1}\n";

const LIVE: &str = "spec: {deploymentTargets: [{name: live, labels: {purpose: live}, environment: ENVIRONMENT, manifests: {branch: b, path: p}}]}\n";
/// The full name of the second target is also the full name of the target `functional` of a workload `…-live`.
const LIVE_AND_MORE: &str = "spec: {deploymentTargets: [{name: live, labels: {purpose: live}, environment: ENVIRONMENT, manifests: {branch: c, path: p}}, {name: live-functional, labels: {purpose: functional}, environment: ENVIRONMENT, manifests: {branch: b, path: p}}]}\n";
const FUNCTIONAL: &str = "spec: {deploymentTargets: [{name: functional, labels: {purpose: functional, workspace: team-2}, environment: ENVIRONMENT, manifests: {branch: b, path: p}}]}\n";
const HIDING: &str = "spec: {configSchemas: ['{\"x-sensitive\": true}'], deploymentTargets: [{name: live, labels: {purpose: live}, environment: ENVIRONMENT, manifests: {branch: b, path: p}}]}\n";

const FOR_PAGE: &str = "  labels: {workload: page}\nspec: {schema: '{\"properties\": {\"SETTING_03\": {\"writeOnly\": true, \"maxLength\": 1}}}'}\n";
const FOR_ODD_A: &str = "  labels: {workload: odd-a}\nspec: {schema: '{\"required\": [\"FRESH\"]}'}\n";
