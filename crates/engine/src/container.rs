//! Containers of values: the `ConfigMap`s of a fleet, read and put into the order in which they are merged.

use std::sync::Arc;

use gotemplate::Text;
use model::diagnostic::{Code, Diagnostic, ObjectKey, Origin, Part};
use model::field_path::FieldPath;
use model::fleet::Fleet;
use model::label::Labels;
use model::name::ConfigMapName;
use model::object::config_map::{AZURE_PREFIX, PLATFORM_CONFIG};
use model::object::{AnyObject, ClusterType, ConfigMap, Object};

use crate::settings::{self, Strategies, Strategy};
use crate::target::Target;
use crate::value::{self, Parsed};

/// Labels of a container that say nothing about what it matches.
const IGNORED_LABELS: [&str; 3] =
    [PLATFORM_CONFIG, "kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace"];

/// A set of values with the labels that say for whom they are: a `ConfigMap`, or a single key of an `azure-app-config` map.
#[derive(Clone, Debug)]
pub(crate) struct Container {
    pub(crate) name: ConfigMapName,
    pub(crate) conditions: Conditions,
    pub(crate) entries: Vec<Entry>,
    /// Why whatever it matches can't be composed.
    pub(crate) problem: Option<Diagnostic>,
}

/// A value of a container.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Its key in the composed data.
    pub(crate) key: Arc<str>,
    /// The same, as templates have it.
    pub(crate) text: Text,
    /// Its key in the `ConfigMap`'s `data`.
    pub(crate) data_key: Arc<str>,
    pub(crate) value: Parsed,
    pub(crate) strategy: Strategy,
}

/// The labels of a container (or of a schema) that an assignment has to meet, all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Conditions(Vec<(Arc<str>, Arc<str>)>);

/// What a cluster type meets of the conditions of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Met {
    /// No target can meet what is left.
    Never,
    /// What is left is up to the target; nothing left means that every target will do.
    If(Conditions),
}

impl Container {
    /// Where an entry is written.
    pub(crate) fn origin(&self, entry: &Entry, part: Part) -> Origin {
        Origin::part(&self.key(), FieldPath::from(["data"]).key(Arc::clone(&entry.data_key)), part)
    }

    pub(crate) fn key(&self) -> ObjectKey {
        ObjectKey { kind: model::object::Kind::ConfigMap, name: Arc::clone(self.name.as_arc()) }
    }
}

impl Conditions {
    /// Those that an object's labels are.
    pub(crate) fn of(labels: &Labels) -> Self {
        let says_something = |(key, _): &(&Arc<str>, &Arc<str>)| !IGNORED_LABELS.contains(&&***key);
        Self(labels.iter().filter(says_something).map(|(key, value)| (Arc::clone(key), Arc::clone(value))).collect())
    }

    /// The conditions, by key.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(Arc<str>, Arc<str>)> {
        self.0.iter()
    }

    /// What is left of them for the targets on a cluster type.
    pub(crate) fn on(&self, cluster_type: &Object<ClusterType>) -> Met {
        let mut left = Vec::new();
        for (key, value) in &self.0 {
            match &**key {
                "cluster-type" if **value == *cluster_type.name.as_str() => {}
                "cluster-type" => return Met::Never,
                "deployment-target" | "workload" => left.push((Arc::clone(key), Arc::clone(value))),
                _ if cluster_type.labels.get(key) == Some(value) => {}
                _ => left.push((Arc::clone(key), Arc::clone(value))),
            }
        }
        Met::If(Self(left))
    }

    /// Whether a target meets them.
    pub(crate) fn are_met_by(&self, target: &Target) -> bool {
        self.0.iter().all(|(key, value)| is_met_by_target(key, value, target))
    }
}

/// Whether a target meets one condition on its own.
pub(crate) fn is_met_by_target(key: &str, value: &str, target: &Target) -> bool {
    match key {
        "deployment-target" => value == target.name.as_str(),
        "workload" => value == target.workload(),
        _ => target.labels.get(key).is_some_and(|label| &**label == value),
    }
}

/// All containers of a fleet in the order in which they are merged, and what is to be said about them.
///
/// First the platform's `ConfigMap`s by priority and name, then the keys of `azure-app-config` maps by length and key.
pub(crate) fn containers(fleet: &Fleet) -> (Vec<Container>, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let copies = fleet.duplicates.values().flatten().filter_map(|object| match object {
        AnyObject::ConfigMap(object) => Some(&**object),
        _ => None,
    });
    let all: Vec<_> = fleet.config_maps.values().map(|object| &**object).chain(copies).collect();
    let is_platform =
        |object: &&&Object<ConfigMap>| object.labels.get(PLATFORM_CONFIG).is_some_and(|value| &**value == "true");
    let mut platform: Vec<_> = all.iter().filter(is_platform).map(|object| platform_container(fleet, object)).collect();
    platform.sort_by(|(left, a), (right, b)| (left, &a.name).cmp(&(right, &b.name)));
    let mut azure = Vec::new();
    for object in all.iter().filter(|object| object.name.as_str().starts_with(AZURE_PREFIX)) {
        azure.extend(
            object.spec.data.iter().map(|(key, text)| azure_container(fleet, object, (key, text), &mut diagnostics)),
        );
    }
    azure.sort_by(|a, b| azure_order(a).cmp(&azure_order(b)));
    (platform.into_iter().map(|(_, container)| container).chain(azure).collect(), diagnostics)
}

fn platform_container(fleet: &Fleet, object: &Object<ConfigMap>) -> (i64, Container) {
    let key = object.key();
    let mut problem = fleet.duplicate_diagnostic(&key);
    let priority = settings::priority(&key, &object.annotations).unwrap_or_else(|diagnostic| {
        problem.get_or_insert(diagnostic);
        0
    });
    let strategies = settings::strategies(&key, &object.annotations).unwrap_or_else(|diagnostic| {
        problem.get_or_insert(diagnostic);
        Strategies::default()
    });
    let entry = |(key, text): (&Arc<str>, &Arc<str>)| Entry {
        key: Arc::clone(key),
        text: (&**key).into(),
        data_key: Arc::clone(key),
        value: value::parse(text),
        strategy: strategies.of(key),
    };
    let entries = object.spec.data.iter().map(entry).collect();
    (priority, Container { name: object.name.clone(), conditions: Conditions::of(&object.labels), entries, problem })
}

fn azure_container(
    fleet: &Fleet,
    object: &Object<ConfigMap>,
    (data_key, text): (&Arc<str>, &Arc<str>),
    diagnostics: &mut Vec<Diagnostic>,
) -> Container {
    let mut parts: Vec<&str> = data_key.split('.').collect();
    let key = parts.pop().unwrap_or_default();
    let pairs = parts.chunks_exact(2);
    if let [odd] = pairs.remainder() {
        let path = FieldPath::from(["data"]).key(Arc::clone(data_key));
        let message = format!("`{odd}` in the key `{data_key}` is a label without a value: it is ignored");
        let diagnostic = Diagnostic::warning(Code::OddKeyParts, message)
            .at(Origin::part(&object.key(), path, Part::Key), "")
            .help("keys are `label.value.label.value.KEY`");
        diagnostics.push(diagnostic.about(&object.key()));
    }
    let labels = pairs.map(|pair| (pair[0], pair[1])).collect();
    let entry = Entry {
        key: key.into(),
        text: key.into(),
        data_key: Arc::clone(data_key),
        value: value::parse(text),
        strategy: Strategy::default(),
    };
    Container {
        name: object.name.clone(),
        conditions: Conditions::of(&labels),
        entries: vec![entry],
        problem: fleet.duplicate_diagnostic(&object.key()),
    }
}

fn azure_order(container: &Container) -> (usize, Option<&Arc<str>>, &ConfigMapName) {
    let key = container.entries.first().map(|entry| &entry.data_key);
    (key.map_or(0, |key| key.len()), key, &container.name)
}
