//! A reference implementation of scheduling and matching: it compares every policy and every container with every place and every target.

use std::collections::{BTreeMap, BTreeSet};

use engine::compile::Compiled;
use engine::schedule::place::Place;
use engine::schedule::target::Target;
use model::fleet::Fleet;
use model::label::Labels;
use model::name::{ClusterName, ClusterTypeName, ConfigMapName, PolicyName};
use model::object::config_map::{AZURE_PREFIX, PLATFORM_CONFIG, PRIORITY};
use model::object::{AnyObject, ConfigMap, Object, SchedulingPolicy};

use super::visible_result::same;

/// Checks that the assignments, and the `ConfigMap`s of each assignment, are those that the labels select.
pub(super) fn check(compiled: &Compiled) -> Result<(), String> {
    let containers = containers(compiled.fleet());
    for assignment in compiled.assignments() {
        let (Some(place), Some(target)) = (assignment.place(), assignment.target()) else { continue };
        let is_met = |(key, value): &(String, String)| is_met(key, value, place, target);
        let matching = containers.iter().filter(|container| container.conditions.iter().all(is_met));
        let expected: Vec<_> = matching.map(|container| container.name.clone()).collect();
        let what = format!("the ConfigMaps of {}/{}", place.name(), target.name);
        same(&what, &expected, &assignment.config_maps())?;
    }
    let found =
        compiled.assignments().filter_map(|assignment| Some((assignment.id()?.to_string(), assignment.policies())));
    same("the assignments", &scheduled(compiled), &found.collect())
}

/// The assignments with the policies that create them.
fn scheduled(compiled: &Compiled) -> BTreeMap<String, BTreeSet<PolicyName>> {
    let (fleet, targets) = (compiled.fleet(), compiled.prepared().targets());
    let types = fleet.cluster_types.keys().map(ClusterTypeName::as_str);
    let names: BTreeSet<&str> = types.chain(fleet.clusters.keys().map(ClusterName::as_str)).collect();
    let mut scheduled: BTreeMap<String, BTreeSet<PolicyName>> = BTreeMap::new();
    for place in names.into_iter().filter_map(|name| Place::find(fleet, name)) {
        for (policy, target) in
            policies(fleet).into_iter().flat_map(|policy| targets.iter().map(move |to| (policy, to)))
        {
            let SchedulingPolicy { workspace, targets, cluster_types } = &policy.spec;
            if (workspace.is_empty() || **workspace == *target.workspace())
                && targets.matches(&target.labels)
                && cluster_types.matches(&place.labels())
            {
                let id = format!("{}/{}", place.name(), target.name);
                scheduled.entry(id).or_default().insert(policy.name.clone());
            }
        }
    }
    scheduled
}

fn policies(fleet: &Fleet) -> Vec<&Object<SchedulingPolicy>> {
    let copies = fleet.duplicates.values().flatten().filter_map(|copy| match copy {
        AnyObject::SchedulingPolicy(policy) => Some(&**policy),
        _ => None,
    });
    fleet.policies.values().map(|policy| &**policy).chain(copies).collect()
}

struct Container {
    name: ConfigMapName,
    conditions: Vec<(String, String)>,
}

/// All containers in the order of the merge.
fn containers(fleet: &Fleet) -> Vec<Container> {
    let copies = fleet.duplicates.values().flatten().filter_map(|copy| match copy {
        AnyObject::ConfigMap(map) => Some(&**map),
        _ => None,
    });
    let maps: Vec<&Object<ConfigMap>> = fleet.config_maps.values().map(|map| &**map).chain(copies).collect();
    let is_platform =
        |map: &&&Object<ConfigMap>| map.labels.get(PLATFORM_CONFIG).is_some_and(|value| &**value == "true");
    let mut platform: Vec<_> = maps.iter().filter(is_platform).collect();
    let priority = |map: &Object<ConfigMap>| map.annotations.get(PRIORITY).and_then(|text| text.parse::<i64>().ok());
    platform.sort_by_key(|map| (priority(map).unwrap_or(0), map.name.clone()));
    let platform = platform.into_iter().map(|map| (map.name.clone(), conditions_of(&map.labels)));
    let is_azure = |map: &&&Object<ConfigMap>| map.name.as_str().starts_with(AZURE_PREFIX);
    let keys = maps.iter().filter(is_azure).flat_map(|map| map.spec.data.keys().map(move |key| (key, &map.name)));
    let mut azure: Vec<_> = keys.collect();
    azure.sort_by_key(|(key, name)| (key.len(), (*key).clone(), (*name).clone()));
    let azure = azure.into_iter().map(|(key, name)| (name.clone(), conditions_in(key)));
    platform.chain(azure).map(|(name, conditions)| Container { name, conditions }).collect()
}

fn conditions_of(labels: &Labels) -> Vec<(String, String)> {
    let ignored = [PLATFORM_CONFIG, "kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace"];
    let counts = labels.iter().filter(|(key, _)| !ignored.contains(&&***key));
    counts.map(|(key, value)| (key.to_string(), value.to_string())).collect()
}

/// The conditions of a key `label.value.label.value.KEY`. If a label occurs twice, the last value counts.
fn conditions_in(key: &str) -> Vec<(String, String)> {
    let parts: Vec<&str> = key.split('.').collect();
    let pairs = parts[..parts.len() - 1].chunks_exact(2);
    let pairs: BTreeMap<_, _> = pairs.map(|pair| (pair[0].to_owned(), pair[1].to_owned())).collect();
    pairs.into_iter().collect()
}

/// Whether the place or the target has this label and value. Names do not count as labels.
fn is_met(key: &str, value: &str, place: &Place, target: &Target) -> bool {
    let is_value = |label: Option<&std::sync::Arc<str>>| label.is_some_and(|label| **label == *value);
    match (key, &place.cluster) {
        ("cluster-type", _) => place.cluster_type.name.as_str() == value,
        ("cluster", Some(cluster)) => cluster.name.as_str() == value,
        ("cluster", None) => is_value(place.cluster_type.labels.get(key)),
        ("deployment-target", _) => target.name.as_str() == value,
        ("workload", _) => target.workload() == value,
        _ => is_value(place.label(key)) || is_value(target.labels.get(key)),
    }
}
