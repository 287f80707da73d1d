//! The answers of an inventory are compared with a full scan of all assignments.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::answers::inventory::{AssignmentSet, Inventory};
use engine::compile::{Assignment, Compiled, Prepared};
use model::diagnostic::{AssignmentId, Origin};
use model::name::ConfigMapName;
use model::object::deployment_target::WORKSPACE_LABEL;
use model::selector::{LabelSelector, Operator, Requirement};
use testkit::edits::FleetEdits;
use testkit::generator::ENVIRONMENT;

/// The number of edits of a fleet before each comparison.
const EDITS: usize = 15;

/// Objects that the generated fleets do not have: conditions by name, keys with dots and labels, values that are merged or replaced, a sensitive value
/// of one workload.
const ODDITIES: &str = r#"
apiVersion: v1
kind: ConfigMap
metadata: {name: azure-app-config-odd}
data: {region.region-0.LEVEL: high, region.region-0.ring.early.LEVEL: '{"a": 1}', cluster.edge-03.LEVEL: "3", workload.app-1.LEVEL.MORE: dotted, LEVEL: low}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: odd-a, labels: {platform-config: "true", cluster-type: ct-1}}
data: {LEVEL: "{a: {b: 2, c: '{{ .ClusterType }}'}, list: [{name: x, v: 1}]}", a.b: dot}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: odd-b, labels: {platform-config: "true", workload: app-0}, annotations: {config.kalypso.io/priority: "-5", config.kalypso.io/merge: "LEVEL=replace"}}
data: {LEVEL: "{a: {b: 3}}", a: "{b: nested}"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: odd-c, labels: {platform-config: "true", cluster: edge-04}}
data: {LEVEL: "{list: [{name: x, v: 2}, {name: y}]}", SECRET: hidden}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ConfigSchema
metadata: {name: secrets, labels: {workload: app-2}}
spec: {schema: '{"properties": {"SECRET": {"writeOnly": true}}}'}
"#;

fn fleet(seed: u64, edits: usize) -> Compiled {
    let mut script = FleetEdits::new(seed);
    script.by_ref().take(edits).for_each(drop);
    let mut files: Vec<_> =
        script.files().iter().map(|(path, text)| (path.clone(), text.clone().into_bytes())).collect();
    files.push(("oddities.yaml".to_owned(), ODDITIES.as_bytes().to_vec()));
    let (fleet, _) = testkit::directory::fleet_of(files, ENVIRONMENT).unwrap();
    Compiled::new(&Arc::new(fleet))
}

fn fleets() -> impl Iterator<Item = Compiled> {
    (0..4).map(|seed| fleet(seed, EDITS * seed as usize))
}

/// Compares a set with the assignments that a condition selects.
fn check(compiled: &Compiled, set: &AssignmentSet, what: &str, is_in: impl Fn(&Assignment<'_>) -> bool) {
    let inventory = Inventory::new(compiled.prepared());
    let expected: Vec<_> = compiled.assignments().filter(|assignment| is_in(assignment)).collect();
    let ids: BTreeSet<AssignmentId> = expected.iter().map(|assignment| assignment.id().unwrap()).collect();
    let found: Vec<_> = inventory.assignments(set, None).map(|assigned| assigned.id()).collect();
    assert_eq!(found, ids.iter().cloned().collect::<Vec<_>>(), "{what}");
    let counts = inventory.counts(set);
    let places = |is_cluster: bool| {
        let of_kind = expected.iter().filter(|one| one.place().unwrap().cluster.is_some() == is_cluster);
        of_kind.map(|one| one.id().unwrap().place).collect::<BTreeSet<_>>().len()
    };
    let workloads: BTreeSet<_> = expected.iter().map(Assignment::workload).filter(|name| !name.is_empty()).collect();
    let targets: BTreeSet<_> = ids.iter().map(|id| &id.target).collect();
    assert_eq!((counts.assignments, inventory.len(set)), (ids.len(), ids.len()), "{what}");
    assert_eq!((counts.cluster_types, counts.clusters), (places(false), places(true)), "{what}");
    assert_eq!((counts.targets, counts.workloads), (targets.len(), workloads.len()), "{what}");
    let sum = |groups: BTreeMap<Arc<str>, usize>| groups.values().sum::<usize>();
    let sums = [inventory.by_workload(set), inventory.by_target(set), inventory.by_cluster_type(set)].map(sum);
    assert_eq!(sums, [ids.len(); 3], "{what}");
}

#[test]
fn inventory_sets_agree_with_each_assignment() {
    for compiled in fleets() {
        let (fleet, inventory) = (compiled.fleet(), Inventory::new(compiled.prepared()));
        check(&compiled, &inventory.all(), "all", |_| true);
        for name in fleet.cluster_types.keys() {
            let is_of = |one: &Assignment<'_>| one.place().unwrap().cluster_type.name == *name;
            check(&compiled, &inventory.on(name.as_str()).unwrap(), "type", is_of);
        }
        for name in fleet.workloads.keys() {
            check(&compiled, &inventory.of_workload(name.as_str()), "workload", |one| one.workload() == name.as_str());
        }
        for policy in fleet.policies.values().filter(|policy| !fleet.duplicates.contains_key(&policy.key())) {
            let is_by = |one: &Assignment<'_>| one.policies().contains(&policy.name);
            check(&compiled, &inventory.of_policy(&policy.spec), policy.name.as_str(), is_by);
        }
        for map in fleet.config_maps.values() {
            let set = inventory.of_config_map(&map.name).unwrap_or_default();
            check(&compiled, &set, map.name.as_str(), |one| one.config_maps().contains(&map.name));
        }
        for pin in fleet.release_pins.values().filter(|pin| !fleet.duplicates.contains_key(&pin.key())) {
            let all = inventory.all();
            let listed = inventory.assignments(&all, None);
            let held = listed.filter(|one| one.pins().iter().any(|held| held.name == pin.name)).map(|one| one.id());
            let held: BTreeSet<_> = held.collect();
            let set = inventory.of_policy(&pin.spec.selection);
            check(&compiled, &set, pin.name.as_str(), |one| held.contains(&one.id().unwrap()));
        }
    }
}

fn is_met(requirement: &Requirement, one: &Assignment<'_>) -> bool {
    let (place, target) = (one.place().unwrap().labels(), &one.target().unwrap().labels);
    let each = [requirement.matches(&place), requirement.matches(target)];
    match requirement.operator {
        Operator::In(_) | Operator::Exists => each.contains(&true),
        Operator::NotIn(_) | Operator::DoesNotExist => !each.contains(&false),
    }
}

#[test]
fn selectors_match_labels_of_place_and_target() {
    let texts = [
        "",
        "ring=early",
        "size=large,!site",
        "purpose in (live,functional),region!=region-1",
        "team,tier",
        "nothing=here",
    ];
    for compiled in fleets() {
        let inventory = Inventory::new(compiled.prepared());
        for text in texts {
            let selector = LabelSelector::parse(text).unwrap();
            let is_selected = |one: &Assignment<'_>| selector.requirements.iter().all(|required| is_met(required, one));
            check(&compiled, &inventory.selected(&selector), text, is_selected);
            let on = inventory.on("ct-1").unwrap_or_default();
            let both = inventory.selected(&selector).and(&on);
            let is_on = |one: &Assignment<'_>| one.place().unwrap().cluster_type.name.as_str() == "ct-1";
            check(&compiled, &both, text, |one| is_selected(one) && is_on(one));
        }
        let workspace = format!("{WORKSPACE_LABEL}=team-1");
        let selector = LabelSelector::parse(&workspace).unwrap();
        let is_of = |one: &Assignment<'_>| one.target().unwrap().workspace() == "team-1";
        check(&compiled, &inventory.selected(&selector), &workspace, is_of);
    }
}

#[test]
fn lists_continue_after_any_assignment() {
    let compiled = fleet(1, 0);
    let inventory = Inventory::new(compiled.prepared());
    let all = inventory.all();
    let whole: Vec<_> = inventory.assignments(&all, None).map(|one| one.id()).collect();
    for (position, id) in whole.iter().enumerate() {
        let rest: Vec<_> = inventory.assignments(&all, Some(id)).take(3).map(|one| one.id()).collect();
        assert_eq!(rest[..], whole[position + 1..][..rest.len()], "{id}");
    }
    assert!(whole.len() > 100);
}

#[test]
fn value_reach_agrees_with_the_explanations() {
    let compiled = fleet(0, 0);
    let (prepared, inventory) = (compiled.prepared(), Inventory::new(compiled.prepared()));
    let (mut effective, mut overridden) = (0, 0);
    for name in ["odd-a", "odd-b", "odd-c"].map(|name| ConfigMapName::new(name).unwrap()) {
        let reach = inventory.value_reach(&name, "LEVEL");
        let with_map: Vec<_> = compiled.assignments().filter(|one| one.config_maps().contains(&name)).collect();
        let sets = |one: &&Assignment<'_>| {
            let reason = prepared.explain_value(&one.id().unwrap(), "LEVEL").unwrap();
            let parts = reason.composed_of.iter().map(|part| &part.source);
            reason.set_by.iter().chain(parts).any(|source| source.container == name)
        };
        assert_eq!((reach.matching, reach.effective), (with_map.len(), with_map.iter().filter(sets).count()), "{name}");
        assert!(reach.effective == reach.matching || !reach.overriding.is_empty());
        effective += reach.effective;
        overridden += reach.matching - reach.effective;
    }
    assert!(effective + overridden > 0, "{effective} {overridden}");
    let none = inventory.value_reach(&ConfigMapName::new("odd-a").unwrap(), "NONE");
    assert_eq!((none.origin, none.matching), (None, 0));
}

/// A value with its origins, as an explanation of a single assignment has it.
type Explained = (Option<String>, Vec<Origin>);

fn explained(prepared: &Prepared, id: &AssignmentId, key: &str) -> Explained {
    let reason = prepared.explain_value(id, key).unwrap();
    let parts = reason.composed_of.into_iter().map(|part| part.source.origin);
    let origins = reason.set_by.into_iter().map(|source| source.origin).chain(parts).collect();
    (reason.shown, origins)
}

fn check_values(compiled: &Compiled, key: &str, selector: &str) -> usize {
    let prepared = compiled.prepared();
    let inventory = Inventory::new(prepared);
    let set = inventory.selected(&LabelSelector::parse(selector).unwrap());
    let mut expected: BTreeMap<Explained, BTreeSet<AssignmentId>> = BTreeMap::new();
    for id in inventory.assignments(&set, None).map(|one| one.id()) {
        expected.entry(explained(prepared, &id, key)).or_default().insert(id);
    }
    let values = inventory.values(key, &set);
    assert!(values.iter().any(|value| value.shown.is_some()) <= inventory.has_key(key));
    let found = values.into_iter().map(|value| {
        let ids = inventory.assignments(&value.set, None).map(|one| one.id()).collect();
        assert_eq!(inventory.len(&value.set), BTreeSet::len(&ids));
        ((value.shown, value.set_by.into_iter().map(|by| by.origin).collect()), ids)
    });
    let found: BTreeMap<Explained, BTreeSet<AssignmentId>> = found.collect();
    assert_eq!(found, expected, "{key} of {selector}");
    found.len()
}

#[test]
fn inventory_values_agree_with_the_explanations() {
    let keys = ["LEVEL", "LEVEL.a", "LEVEL.a.b", "LEVEL.list[0].v", "LEVEL.MORE", "a.b", "a", "DATABASE", "NONE.x"];
    let mut different = 0;
    for (number, compiled) in fleets().enumerate() {
        let selector = ["region=region-1,ring=late", "purpose=live,region=region-0", "site=site-0"][number % 3];
        different += keys.iter().map(|key| check_values(&compiled, key, selector)).sum::<usize>();
    }
    assert!(different > 40, "{different}");
}

#[test]
fn value_sensitive_for_one_workload_is_hidden_for_all() {
    let compiled = fleet(0, 0);
    let inventory = Inventory::new(compiled.prepared());
    let values = inventory.values("SECRET", &inventory.all());
    let shown: Vec<_> = values.iter().filter_map(|value| value.shown.as_deref()).collect();
    assert!(shown.iter().all(|shown| shown.starts_with("(sensitive, sha256 ")), "{shown:?}");
    assert!(values.iter().any(|value| value.is_sensitive && !value.is("hidden")));
    let (keys, on_edge) = (inventory.keys(None), inventory.keys(inventory.on("edge-03").as_ref()));
    assert_eq!((keys.get("SECRET"), keys.get("LEVEL")), (Some(&1), Some(&4)));
    assert_eq!((on_edge.get("SECRET"), on_edge.get("LEVEL")), (None, Some(&2)));
    assert!(inventory.key_paths().contains("LEVEL.a.b"));
}
