//! Compares the schemas of Kubernetes in the program with those that Kubernetes publishes. The program leaves out what validation does not need.
//!
//! With `KALYPSO_BLESS=1`, the test writes the file. The variable `KALYPSO_KUBERNETES_SCHEMAS` names the folder with the published schemas.

#![allow(clippy::unwrap_used, clippy::panic, reason = "what a test can't set up fails it")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::{env, fs};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::{Map, Value, json};

/// The version that is part of the program.
const VERSION: &str = "1.37";

const VARIABLE: &str = "KALYPSO_KUBERNETES_SCHEMAS";

const METADATA: &str = "#/$defs/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

const KINDS: &str = "x-kubernetes-group-version-kind";

/// The keywords whose values are schemas by name.
const MAPS: [&str; 1] = ["properties"];

/// The keywords that stay, beside those with schemas.
const KEPT: [&str; 5] = ["$ref", "enum", "format", "required", "type"];

/// Fields that may have only certain values: definitions, a field of each, and its values. Kubernetes has them as constants in `k8s.io/api`, or in its
/// validation; the published schemas have them at most in descriptions. For a field with a list, they are the values of its items.
const LISTED: &[(&[&str], &str, &[&str])] = &[
    (&["admissionregistration.v1.MutatingWebhook"], "reinvocationPolicy", &["IfNeeded", "Never"]),
    (WEBHOOKS, "failurePolicy", &["Fail", "Ignore"]),
    (WEBHOOKS, "matchPolicy", &["Equivalent", "Exact"]),
    (WEBHOOKS, "sideEffects", &["None", "NoneOnDryRun"]),
    (&["apps.v1.DaemonSetUpdateStrategy", "apps.v1.StatefulSetUpdateStrategy"], "type", &["OnDelete", "RollingUpdate"]),
    (&["apps.v1.DeploymentStrategy"], "type", &["Recreate", "RollingUpdate"]),
    (&["apps.v1.StatefulSetSpec"], "podManagementPolicy", &["OrderedReady", "Parallel"]),
    (&["autoscaling.v2.HPAScalingPolicy"], "type", &["Percent", "Pods"]),
    (&["autoscaling.v2.HPAScalingRules"], "selectPolicy", &["Disabled", "Max", "Min"]),
    (&["autoscaling.v2.MetricSpec"], "type", &["ContainerResource", "External", "Object", "Pods", "Resource"]),
    (&["autoscaling.v2.MetricTarget"], "type", &["AverageValue", "Utilization", "Value"]),
    (&["batch.v1.CronJobSpec"], "concurrencyPolicy", &["Allow", "Forbid", "Replace"]),
    (&["batch.v1.JobSpec"], "completionMode", &["Indexed", "NonIndexed"]),
    (&["core.v1.Container", "core.v1.EphemeralContainer"], "imagePullPolicy", &["Always", "IfNotPresent", "Never"]),
    (
        &["core.v1.Container", "core.v1.EphemeralContainer"],
        "terminationMessagePolicy",
        &["FallbackToLogsOnError", "File"],
    ),
    (
        &["core.v1.ContainerPort", "core.v1.ServicePort", "networking.v1.NetworkPolicyPort"],
        "protocol",
        &["SCTP", "TCP", "UDP"],
    ),
    (&["core.v1.HTTPGetAction"], "scheme", &["HTTP", "HTTPS"]),
    (&["core.v1.NodeSelectorRequirement"], "operator", &["DoesNotExist", "Exists", "Gt", "In", "Lt", "NotIn"]),
    (&["core.v1.PersistentVolumeClaimSpec", "core.v1.PersistentVolumeSpec"], "accessModes", ACCESS_MODES),
    (&["core.v1.PersistentVolumeClaimSpec", "core.v1.PersistentVolumeSpec"], "volumeMode", &["Block", "Filesystem"]),
    (&["core.v1.PersistentVolumeSpec"], "persistentVolumeReclaimPolicy", &["Delete", "Recycle", "Retain"]),
    (&["core.v1.PodSpec"], "dnsPolicy", &["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"]),
    (&["core.v1.PodSpec"], "restartPolicy", &["Always", "Never", "OnFailure"]),
    (&["core.v1.PodSpec", "scheduling.v1.PriorityClass"], "preemptionPolicy", &["Never", "PreemptLowerPriority"]),
    (&["core.v1.SeccompProfile"], "type", &["Localhost", "RuntimeDefault", "Unconfined"]),
    (&["core.v1.ServiceSpec"], "externalTrafficPolicy", &["Cluster", "Local"]),
    (&["core.v1.ServiceSpec"], "internalTrafficPolicy", &["Cluster", "Local"]),
    (&["core.v1.ServiceSpec"], "ipFamilyPolicy", &["PreferDualStack", "RequireDualStack", "SingleStack"]),
    (&["core.v1.ServiceSpec"], "sessionAffinity", &["ClientIP", "None"]),
    (&["core.v1.ServiceSpec"], "type", &["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"]),
    (&["core.v1.Taint", "core.v1.Toleration"], "effect", &["NoExecute", "NoSchedule", "PreferNoSchedule"]),
    (&["core.v1.TopologySpreadConstraint"], "whenUnsatisfiable", &["DoNotSchedule", "ScheduleAnyway"]),
    (&["core.v1.VolumeMount"], "mountPropagation", &["Bidirectional", "HostToContainer", "None"]),
    (&["networking.v1.HTTPIngressPath"], "pathType", &["Exact", "ImplementationSpecific", "Prefix"]),
    (&["networking.v1.NetworkPolicySpec"], "policyTypes", &["Egress", "Ingress"]),
    (&["policy.v1.PodDisruptionBudgetSpec"], "unhealthyPodEvictionPolicy", &["AlwaysAllow", "IfHealthyBudget"]),
    (&["storage.v1.StorageClass"], "reclaimPolicy", &["Delete", "Recycle", "Retain"]),
    (&["storage.v1.StorageClass"], "volumeBindingMode", &["Immediate", "WaitForFirstConsumer"]),
];

const WEBHOOKS: &[&str] = &["admissionregistration.v1.MutatingWebhook", "admissionregistration.v1.ValidatingWebhook"];

const ACCESS_MODES: &[&str] = &["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/schemas/kubernetes.json.gz")
}

/// A schema without descriptions, and without the type null. Alternatives of types become one list of types.
fn reduced(schema: &Value) -> Value {
    let Some(fields) = schema.as_object() else { return schema.clone() };
    let mut kept = Map::new();
    for (keyword, value) in fields {
        match keyword.as_str() {
            "type" => drop(kept.insert("type".to_owned(), one_or_several(types(value)))),
            "oneOf" => {
                let all = value.as_array().unwrap().iter().flat_map(|one| types(&one["type"]));
                kept.insert("type".to_owned(), one_or_several(all.collect()));
            }
            "items" | "additionalProperties" => drop(kept.insert(keyword.clone(), reduced(value))),
            name if MAPS.contains(&name) => {
                let all = value.as_object().unwrap().iter().map(|(name, schema)| (name.clone(), reduced(schema)));
                kept.insert(keyword.clone(), all.collect());
            }
            name if KEPT.contains(&name) => drop(kept.insert(keyword.clone(), value.clone())),
            "description" | "default" => {}
            name => assert!(name.starts_with("x-kubernetes-"), "a keyword that the reduction does not know: {name}"),
        }
    }
    kept.into()
}

fn types(value: &Value) -> BTreeSet<String> {
    let names = value.as_array().map_or_else(|| vec![value], |names| names.iter().collect());
    names.into_iter().map(|name| name.as_str().unwrap().to_owned()).filter(|name| name != "null").collect()
}

fn one_or_several(mut types: BTreeSet<String>) -> Value {
    if types.len() == 1 { types.pop_first().unwrap().into() } else { json!(types) }
}

/// The names of the definitions that a schema refers to.
fn references(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(fields) => {
            let reference = fields.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix("#/$defs/"));
            found.extend(reference.map(str::to_owned));
            fields.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

/// The schemas of the kinds that manifests can contain: those with the metadata of objects. A cluster ignores their states, so they are left out.
fn reduction(published: &Value) -> Value {
    let published = published["$defs"].as_object().unwrap();
    let mut all: BTreeMap<_, _> = published.iter().map(|(name, schema)| (name.clone(), reduced(schema))).collect();
    for (definitions, field, values) in LISTED {
        for definition in *definitions {
            let schema = all.get_mut(&format!("io.k8s.api.{definition}")).unwrap();
            let field = schema["properties"].get_mut(*field).unwrap_or_else(|| panic!("{definition} has no {field}"));
            let of_items = field.get("items").is_some();
            let field = if of_items { &mut field["items"] } else { field };
            assert_eq!(field["type"], "string", "{definition}");
            field["enum"] = json!(values);
        }
    }
    let mut kinds = Vec::new();
    for (name, schema) in published {
        if schema["properties"]["metadata"]["$ref"] != METADATA {
            continue;
        }
        for kind in schema.get(KINDS).and_then(Value::as_array).into_iter().flatten() {
            let mut kind = kind.clone();
            kind["definition"] = name.as_str().into();
            kinds.push(kind);
            all.get_mut(name).unwrap()["properties"]["status"] = json!(true);
        }
    }
    kinds.sort_by_key(|kind| ["group", "kind", "version"].map(|field| kind[field].as_str().unwrap().to_owned()));
    let mut open: Vec<_> = kinds.iter().map(|kind| kind["definition"].as_str().unwrap().to_owned()).collect();
    let mut definitions = BTreeMap::new();
    while let Some(name) = open.pop() {
        if let Some(schema) = all.remove(&name) {
            references(&schema, &mut open);
            definitions.insert(name, schema);
        }
    }
    json!({ "version": VERSION, "kinds": kinds, "definitions": definitions })
}

fn compressed(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn the_schemas_are_those_that_kubernetes_publishes() {
    let Some(folder) = env::var_os(VARIABLE).map(PathBuf::from) else {
        println!("skipped: the variable {VARIABLE} does not name the folder with the schemas");
        return;
    };
    let path = folder.join(format!("v{VERSION}.0-local-strict/_definitions.json"));
    let published = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let expected = reduction(&serde_json::from_slice(&published).unwrap()).to_string();
    if env::var_os("KALYPSO_BLESS").is_some() {
        fs::write(file(), compressed(&expected)).unwrap();
    }
    let mut text = String::new();
    GzDecoder::new(fs::File::open(file()).unwrap()).read_to_string(&mut text).unwrap();
    // The difference of the texts is too long for a message.
    assert!(text == expected, "the schemas differ: run this test with KALYPSO_BLESS=1");
}
