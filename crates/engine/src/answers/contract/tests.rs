//! Compares contracts with all assignments, one by one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::diagnostic::{AssignmentId, Code, Diagnostic};
use model::fleet::Fleet;
use testkit::directory::fleet_of;

use super::*;
use crate::compile::Compiled;
use crate::compose::compose;

/// A schema with rules of all kinds, which some assignments violate.
const SCHEMA: &str = r#"
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ConfigSchema
metadata: {name: contract}
spec:
  schema: |
    {
      "required": ["SETTING_03", "DATABASE"],
      "properties": {
        "LIMIT_05": { "type": "integer", "maximum": 50000 },
        "SETTING_01": { "type": "string", "maxLength": 16 },
        "CACHE": { "type": "object", "required": ["secret"], "properties": { "port": { "type": "integer", "maximum": 30000 } } },
        "FEATURES": { "type": "array", "maxItems": 2 }
      },
      "dependencies": { "SETTING_05": ["SETTING_06"] },
      "if": { "required": ["SETTING_07"] },
      "then": { "required": ["SETTING_08"] },
      "anyOf": [{ "required": ["SETTING_09"] }, { "required": ["SETTING_10"] }]
    }
"#;

fn fleet(files: &BTreeMap<String, String>) -> Arc<Fleet> {
    let mut files: Vec<_> = files.iter().map(|(path, text)| (path.clone(), text.clone().into_bytes())).collect();
    files.push(("contract.yaml".to_owned(), SCHEMA.as_bytes().to_vec()));
    Arc::new(fleet_of(files, testkit::generator::ENVIRONMENT).unwrap().0)
}

/// The number of assignments by workload and message.
type Counts = BTreeMap<(String, String), u64>;

/// The violations in diagnostics.
fn reported(compiled: &Compiled) -> Counts {
    let is_violation = |found: &Diagnostic| matches!(found.code, Code::MissingValue | Code::WrongValue);
    let mut reached: BTreeMap<(String, String), BTreeSet<AssignmentId>> = BTreeMap::new();
    for found in compiled.diagnostics().into_iter().filter(is_violation) {
        for id in found.assignments {
            let target = compiled.prepared().target_id(id.target.as_str()).unwrap();
            let workload = compiled.prepared().target(target).unwrap().target.workload().to_owned();
            reached.entry((workload, found.message.clone())).or_default().insert(id);
        }
    }
    reached.into_iter().map(|(key, ids)| (key, ids.len() as u64)).collect()
}

/// The violations in a contract.
fn agreed(contract: &Contract) -> Counts {
    let mut counts = Counts::new();
    for workload in contract.workloads.iter().filter(|workload| !workload.is_hypothetical) {
        assert_eq!(workload.unchecked, 0);
        for value in &workload.values {
            let missing =
                value.missing.iter().map(|missing| (format!("`{}` is missing", value.key), missing.assignments));
            let wrong = value.wrong.iter().map(|wrong| (wrong.message.clone(), wrong.assignments));
            for (message, count) in missing.chain(wrong) {
                *counts.entry((workload.workload.to_string(), message)).or_default() += count;
            }
        }
    }
    counts
}

/// How many assignments have a value for a key that one of their schemas names, by workload and key.
fn given(compiled: &Compiled) -> Counts {
    let prepared = compiled.prepared();
    let mut counts = Counts::new();
    for (place, _) in prepared.places() {
        for target in prepared.schedule.targets_on(place).iter() {
            let (containers, schemas) = prepared.inputs_of(place, *target);
            let composition = compose(&containers);
            let usable = schemas.iter().filter(|schema| schema.compiled.is_ok());
            let asked = usable.flat_map(|schema| {
                crate::schema::RequestedValues::read(&schema.text.text, &|_| false).properties.into_keys()
            });
            let workload = prepared.target(*target).unwrap().target.workload();
            for key in asked.collect::<BTreeSet<_>>() {
                *counts.entry((workload.to_owned(), key.clone())).or_default() +=
                    u64::from(composition.get(&key).is_some());
            }
        }
    }
    counts
}

#[test]
fn contract_agrees_with_each_assignment() {
    let mut violations = 0;
    for seed in 0..2 {
        let mut edits = testkit::edits::FleetEdits::new(seed);
        for _ in 0..6 {
            edits.next().unwrap();
            let compiled = Compiled::new(&fleet(edits.files()));
            let contract =
                compiled.prepared().contract(ContractScope { has_details: true, ..ContractScope::default() });
            let reported = reported(&compiled);
            assert_eq!(agreed(&contract), reported, "seed {seed}");
            violations += reported.len();
            let given = given(&compiled);
            for workload in contract.workloads.iter().filter(|workload| !workload.is_hypothetical) {
                for value in &workload.values {
                    let expected = given.get(&(workload.workload.to_string(), value.key.to_string()));
                    assert!(expected.is_none_or(|count| *count == value.given), "seed {seed}: {value:?} {expected:?}");
                }
            }
        }
    }
    assert!(violations > 30, "{violations}");
}

const PLATFORM: &str = "\
{apiVersion: scheduler.kalypso.io/v1alpha1, kind: ClusterType, metadata: {name: east, labels: {region: east}}, spec: {reconciler: r, namespaceService: r, configType: r}}
---
{apiVersion: scheduler.kalypso.io/v1alpha1, kind: ClusterType, metadata: {name: west, labels: {region: west}}, spec: {reconciler: r, namespaceService: r, configType: r}}
---
{apiVersion: scheduler.kalypso.io/v1alpha1, kind: Template, metadata: {name: r}, spec: {type: config, manifests: ['a: {{ .Namespace }}']}}
---
{apiVersion: scheduler.kalypso.io/v1alpha1, kind: SchedulingPolicy, metadata: {name: all}, spec: {deploymentTargetSelector: {labelSelector: {matchLabels: {runs: 'yes'}}}, clusterTypeSelector: {labelSelector: {}}}}
---
{apiVersion: scheduler.kalypso.io/v1alpha1, kind: Workload, metadata: {name: shop}, spec: {deploymentTargets: [{name: eu, environment: prod, labels: {runs: 'yes'}, manifests: {repo: r}}, {name: us, environment: prod, manifests: {repo: r}}], configSchemas: ['{\"required\": [\"LEVEL\"], \"properties\": {\"LEVEL\": {\"type\": \"string\"}, \"PASSWORD\": {\"writeOnly\": true}}}']}}
";

fn config(name: &str, labels: &str, data: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}, labels: {{platform-config: 'true'{labels}}}}}, data: {{{data}}}}}"
    )
}

/// The contract of workload `shop`.
fn shop(configs: &[&str]) -> (Contract, String) {
    contract_of(PLATFORM, configs)
}

fn contract_of(platform: &str, configs: &[&str]) -> (Contract, String) {
    let files = std::iter::once(&platform).chain(configs).enumerate();
    let files = files.map(|(index, text)| (format!("{index}.yaml"), text.as_bytes().to_vec()));
    let (fleet, found) = fleet_of(files.collect(), "prod").unwrap();
    assert_eq!(found, []);
    let prepared = Prepared::new(&Arc::new(fleet));
    let contract = prepared.contract(ContractScope { has_details: true, ..ContractScope::default() });
    let shown = format!("{contract:?}");
    (contract, shown)
}

#[test]
fn a_missing_value_has_advice() {
    let west = config("west", ", region: west", "LEVEL: info");
    let (contract, _) = shop(&[&west, &config("all", "", "LEVLE: debug")]);
    let level = &contract.workloads[0].values[0];
    assert_eq!((level.asked, level.given, level.missing.as_ref().unwrap().assignments), (2, 1, 1));
    let said = format!("{:?}", level.advice);
    assert!(said.contains("Spelling { key: \"LEVLE\""), "{said}");
    assert!(said.contains("key: \"region\", value: \"west\", actual: Some(\"east\"), is_near: false"), "{said}");
}

#[test]
fn a_label_that_is_only_misspelled_is_near() {
    let near = |labels: &str| {
        let (_, shown) = shop(&[&config("east", labels, "LEVEL: info")]);
        shown.contains("is_near: true")
    };
    assert!(near(", region: eats"));
    assert!(near(", regoin: east"));
    assert!(!near(", zone: x"));
}

#[test]
fn a_target_without_a_policy_takes_part() {
    let (contract, _) = shop(&[&config("west", ", region: west", "LEVEL: info")]);
    let unassigned = &contract.workloads[0].unassigned;
    let one = PlaceCount { cluster_types: 1, clusters: 0 };
    assert_eq!((&*unassigned[0].name, &unassigned[0].missing[..]), ("shop-us", &[("LEVEL".into(), one)][..]));
}

#[test]
fn values_that_no_template_reads_and_no_schema_names_are_unused() {
    let values = config("all", "", "LEVEL: info, OTHER: x");
    let unused = |template: &str| {
        let (contract, _) = contract_of(&PLATFORM.replace(".Namespace", template), &[&values]);
        assert_eq!(contract.unused.len(), contract.unused_count);
        contract.unused.iter().map(|value| value.key.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(unused(".Namespace"), ["OTHER"]);
    assert_eq!(unused(".ConfigData.LEVEL"), ["OTHER"]);
    assert!(unused(".ConfigData.OTHER").is_empty() && unused("toYaml .ConfigData").is_empty());
    let (contract, _) = shop(&[&values]);
    assert_eq!(contract.workloads[0].unasked.iter().map(|value| &*value.key).collect::<Vec<_>>(), ["OTHER"]);
}

#[test]
fn a_sensitive_value_is_not_shown() {
    let (_, shown) = shop(&[&config("all", "", "LEVEL: info, PASSWORD: pa55word")]);
    assert!(shown.contains("sha256") && !shown.contains("pa55word"), "{shown}");
}
