//! New objects of each kind, from what a command line says.

use std::sync::Arc;

use model::kind::Kind;
use model::name::{ClusterName, ClusterTypeName, ConfigMapName, ConfigSchemaName, PolicyName, RegistrationName};
use model::object::config_map::PLATFORM_CONFIG;
use model::selector::{LabelSelector, Operator, Requirement};

use crate::new_object::NewObject;
use crate::value::{MappingEntry, NewValue};

/// Labels, in the order in which they are written.
pub type LabelList = Vec<(Arc<str>, Arc<str>)>;

/// The names of the templates of a cluster type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterTypeTemplates {
    /// The template of the reconciler's manifests.
    pub reconciler: Arc<str>,
    /// The template of the namespace's manifest.
    pub namespace_service: Arc<str>,
    /// The template of the configuration.
    pub config_type: Arc<str>,
}

/// A `ClusterType`.
pub fn cluster_type(name: &ClusterTypeName, templates: &ClusterTypeTemplates, labels: LabelList) -> NewObject {
    let spec = NewValue::mapping([
        ("reconciler", NewValue::Text(Arc::clone(&templates.reconciler))),
        ("namespaceService", NewValue::Text(Arc::clone(&templates.namespace_service))),
        ("configType", NewValue::Text(Arc::clone(&templates.config_type))),
    ]);
    NewObject::new(Kind::ClusterType, Arc::clone(name.as_arc()), spec).labelled(labels)
}

/// A `Cluster`.
pub fn cluster(name: &ClusterName, cluster_type: &ClusterTypeName, labels: LabelList) -> NewObject {
    let spec = NewValue::mapping([("clusterType", NewValue::Text(Arc::clone(cluster_type.as_arc())))]);
    NewObject::new(Kind::Cluster, Arc::clone(name.as_arc()), spec).labelled(labels)
}

/// The selection of a policy.
#[derive(Clone, Debug, Default)]
pub struct PolicySelection {
    /// The workspace of the deployment targets. None for all.
    pub workspace: Option<Arc<str>>,
    /// Selects deployment targets.
    pub targets: LabelSelector,
    /// Selects cluster types and clusters.
    pub places: LabelSelector,
}

/// A `SchedulingPolicy`.
pub fn policy(name: &PolicyName, selection: &PolicySelection) -> NewObject {
    let spec = NewValue::Mapping(self::selection(selection));
    NewObject::new(Kind::SchedulingPolicy, Arc::clone(name.as_arc()), spec)
}

/// The fields that select deployment targets and places.
pub(crate) fn selection(selection: &PolicySelection) -> Vec<MappingEntry> {
    let workspace =
        selection.workspace.iter().map(|workspace| ("workspace".into(), NewValue::Text(Arc::clone(workspace))));
    let targets = workspace.chain([("labelSelector".into(), selector(&selection.targets))]).collect();
    vec![
        ("deploymentTargetSelector".into(), NewValue::Mapping(targets)),
        ("clusterTypeSelector".into(), NewValue::mapping([("labelSelector", selector(&selection.places))])),
    ]
}

/// A selector as objects have it: `matchLabels` for single values, `matchExpressions` for all else.
pub fn selector(selector: &LabelSelector) -> NewValue {
    let mut labels: Vec<MappingEntry> = Vec::new();
    let mut expressions = Vec::new();
    for requirement in &selector.requirements {
        match &requirement.operator {
            Operator::In(values) if values.len() == 1 && labels.iter().all(|(key, _)| *key != requirement.key) => {
                labels.extend(
                    values.iter().map(|value| (Arc::clone(&requirement.key), NewValue::Text(Arc::clone(value)))),
                );
            }
            _ => expressions.push(expression(requirement)),
        }
    }
    let labels = (!labels.is_empty()).then(|| ("matchLabels".into(), NewValue::Mapping(labels)));
    let expressions = (!expressions.is_empty()).then(|| ("matchExpressions".into(), NewValue::List(expressions)));
    NewValue::Mapping(labels.into_iter().chain(expressions).collect())
}

fn expression(requirement: &Requirement) -> NewValue {
    let (operator, values) = match &requirement.operator {
        Operator::In(values) => ("In", Some(values)),
        Operator::NotIn(values) => ("NotIn", Some(values)),
        Operator::Exists => ("Exists", None),
        Operator::DoesNotExist => ("DoesNotExist", None),
    };
    let mut entries = vec![
        ("key".into(), NewValue::Text(Arc::clone(&requirement.key))),
        ("operator".into(), NewValue::text(operator)),
    ];
    entries.extend(values.map(|values| ("values".into(), NewValue::ShortList(values.clone()))));
    NewValue::Mapping(entries)
}

/// A place in a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryFolder {
    /// The URL of the repository.
    pub repo: Arc<str>,
    /// The branch.
    pub branch: Arc<str>,
    /// The folder.
    pub path: Arc<str>,
}

impl RepositoryFolder {
    pub(crate) fn value(&self) -> NewValue {
        NewValue::mapping([
            ("repo", NewValue::Text(Arc::clone(&self.repo))),
            ("branch", NewValue::Text(Arc::clone(&self.branch))),
            ("path", NewValue::Text(Arc::clone(&self.path))),
        ])
    }
}

/// A `WorkloadRegistration`.
pub fn registration(name: &RegistrationName, place: &RepositoryFolder, workspace: Option<&Arc<str>>) -> NewObject {
    let mut spec = vec![("workload".into(), place.value())];
    spec.extend(workspace.map(|workspace| ("workspace".into(), NewValue::Text(Arc::clone(workspace)))));
    NewObject::new(Kind::WorkloadRegistration, Arc::clone(name.as_arc()), NewValue::Mapping(spec))
}

/// A `ConfigMap` that takes part in composition, for assignments with these labels.
pub fn config_map(name: &ConfigMapName, labels: LabelList, values: &[(Arc<str>, Arc<str>)]) -> NewObject {
    let mark = (PLATFORM_CONFIG.into(), "true".into());
    let data = values.iter().map(|(key, value)| (Arc::clone(key), NewValue::Text(Arc::clone(value)))).collect();
    let mut object = NewObject::new(Kind::ConfigMap, Arc::clone(name.as_arc()), NewValue::Mapping(Vec::new()));
    object.fields = vec![("data".into(), NewValue::Mapping(data))];
    object.labelled([mark].into_iter().chain(labels))
}

/// A `ConfigSchema`, for assignments with these labels. `schema` is JSON text.
pub fn config_schema(name: &ConfigSchemaName, labels: LabelList, schema: &str) -> NewObject {
    let spec = NewValue::mapping([("schema", NewValue::text(schema))]);
    NewObject::new(Kind::ConfigSchema, Arc::clone(name.as_arc()), spec).labelled(labels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::Style;

    fn check(targets: &str, places: &str, expected: &str) {
        let [targets, places] = [targets, places].map(|text| LabelSelector::parse(text).unwrap());
        let name = PolicyName::new("p").unwrap();
        let text = policy(&name, &PolicySelection { workspace: None, targets, places }).write(&Style::default(), None);
        assert_eq!(text.split_once("spec:\n").unwrap().1, expected);
    }

    #[test]
    fn selectors_are_written_as_short_as_kubernetes_allows() {
        check(
            "purpose=test",
            "size=large,region in (west-us, on),!edge",
            "  deploymentTargetSelector:\n    labelSelector:\n      matchLabels:\n        purpose: test\n  clusterTypeSelector:\n    labelSelector:\n      \
             matchLabels:\n        size: large\n      matchExpressions:\n        - key: region\n          operator: In\n          \
             values: [west-us, \"on\"]\n        - key: edge\n          operator: DoesNotExist\n",
        );
        check(
            "",
            "a=1,a=2,b!=c",
            "  deploymentTargetSelector:\n    labelSelector: {}\n  clusterTypeSelector:\n    labelSelector:\n      matchLabels:\n        a: \"1\"\n      \
             matchExpressions:\n        - key: a\n          operator: In\n          values: [\"2\"]\n        - key: b\n          operator: NotIn\n          \
             values: [c]\n",
        );
    }
}
