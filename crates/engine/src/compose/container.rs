//! Containers of values: reads the `ConfigMap`s of a fleet, and sorts them into merge order.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use gotemplate::Text;
use model::diagnostic::{Code, Diagnostic, FieldPart, Origin};
use model::digest::Digest;
use model::field_path::FieldPath;
use model::fleet::Fleet;
use model::label::Labels;
use model::name::ConfigMapName;
use model::object::config_map::{AZURE_PREFIX, AzureKey, IGNORED_LABELS, PLATFORM_CONFIG};
use model::object::{AnyObject, ConfigMap, Object};
use model::object_key::ObjectKey;
use rayon::prelude::*;

use crate::compose::credential_search::{self, ClearCredential};
use crate::compose::key_ranks::KeyRanks;
use crate::compose::precedence::{MergePosition, Order};
use crate::compose::value::{self, Parsed};
use crate::settings::{self, PrecedenceSetting, Strategies, Strategy};

/// A set of values and the conditions that an assignment must meet to get them. A container is a `ConfigMap`, or a single key of an `azure-app-config` map.
#[derive(Clone, Debug)]
pub(crate) struct Container {
    pub(crate) name: ConfigMapName,
    pub(crate) conditions: Conditions,
    pub(crate) entries: Vec<Entry>,
    /// Values that look like credentials in clear.
    pub(crate) credentials: Vec<ClearCredential>,
    /// The reason why assignments that match the container can't be composed.
    pub(crate) problem: Option<Diagnostic>,
    /// Whether a value of the container is itself a template. Such a template may use all data.
    pub(crate) has_nested: bool,
    /// The digest of the name, the merge strategies and the values. The conditions are not part of it.
    pub(crate) digest: Digest,
    pub(crate) position: MergePosition,
}

/// A value of a container.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The key in the composed data.
    pub(crate) key: Arc<str>,
    /// The same key as a text of the template engine.
    pub(crate) text: Text,
    /// The key in the `ConfigMap`'s `data`.
    pub(crate) data_key: Arc<str>,
    pub(crate) value: Parsed,
    pub(crate) strategy: Strategy,
    /// The digest of the key.
    pub(crate) key_digest: Digest,
    /// The digest of the value.
    pub(crate) value_digest: Digest,
}

impl Entry {
    fn new((key, data_key): (Arc<str>, &Arc<str>), text: &str, strategy: Strategy) -> Self {
        let value = value::parse(text);
        let (key_digest, value_digest) = (Digest::from_value(&*key), value::digest(&value.value));
        let data_key = Arc::clone(data_key);
        Self { text: (&*key).into(), key, data_key, value, strategy, key_digest, value_digest }
    }
}

/// The labels of a container or a schema. An assignment matches if it has all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Conditions(Vec<(Arc<str>, Arc<str>)>);

impl Container {
    /// The keys of the entries with their digests.
    pub(crate) fn ranked_keys(&self) -> impl Iterator<Item = (Digest, &Text)> {
        self.entries.iter().map(|entry| (entry.key_digest, &entry.text))
    }

    /// The place of an entry in the `ConfigMap`.
    pub(crate) fn origin(&self, entry: &Entry, part: FieldPart) -> Origin {
        Origin::part(&self.key(), FieldPath::from(["data"]).key(Arc::clone(&entry.data_key)), part)
    }

    /// The place of the value that the container gives to a key of the composed data.
    pub(crate) fn origin_of(&self, key: &str) -> Option<Origin> {
        let entry = self.entries.iter().find(|entry| &*entry.key == key)?;
        Some(self.origin(entry, FieldPart::Value))
    }

    /// The priority of a platform container. Among containers of the same priority, the name decides the order. None for keys of an `azure-app-config` map.
    pub(crate) fn priority(&self) -> Option<i64> {
        match self.position.order {
            Order::Platform(priority) => Some(priority),
            Order::Azure(..) => None,
        }
    }

    /// The display name in messages.
    pub(crate) fn display_name(&self) -> String {
        match &self.position.order {
            Order::Platform(_) => self.key().to_string(),
            Order::Azure(_, key) => format!("key `{key}` of {}", self.key()),
        }
    }

    /// The place of the field that holds a condition.
    pub(crate) fn condition_origin(&self, label: &str) -> Origin {
        match &self.position.order {
            Order::Platform(_) => Origin::field(&self.key(), FieldPath::from(["metadata", "labels"]).key(label)),
            Order::Azure(_, key) => {
                Origin::part(&self.key(), FieldPath::from(["data"]).key(Arc::clone(key)), FieldPart::Key)
            }
        }
    }

    /// Whether both have the same position in the merge order and the same conditions.
    pub(crate) fn has_same_position(&self, other: &Self) -> bool {
        self.name == other.name && self.position == other.position && self.conditions == other.conditions
    }

    /// The container with only those entries whose keys are selected. None if there are none.
    pub(crate) fn with_keys(&self, is_selected: impl Fn(&str) -> bool) -> Option<Self> {
        let entries: Vec<_> = self.entries.iter().filter(|entry| is_selected(&entry.key)).cloned().collect();
        let Self { name, conditions, problem, position, .. } = self;
        let credentials = self.credentials.iter().filter(|found| is_selected(found.key())).cloned().collect();
        let (name, conditions, problem) = (name.clone(), conditions.clone(), problem.clone());
        let (has_nested, digest) = (self.has_nested, self.digest);
        (!entries.is_empty()).then_some(Self {
            name,
            conditions,
            entries,
            credentials,
            problem,
            has_nested,
            digest,
            position: position.clone(),
        })
    }

    pub(crate) fn key(&self) -> ObjectKey {
        ObjectKey { kind: model::kind::Kind::ConfigMap, name: Arc::clone(self.name.as_arc()), of: None }
    }
}

/// The paths of the credentials in these containers.
pub(crate) fn hidden_paths<'c>(
    containers: impl IntoIterator<Item = &'c Arc<Container>>,
) -> impl Iterator<Item = FieldPath> {
    containers.into_iter().flat_map(|container| container.credentials.iter().map(ClearCredential::hidden_path))
}

impl Conditions {
    /// Creates conditions from the labels of an object.
    pub(crate) fn from_labels(labels: &Labels) -> Self {
        let is_condition = |(key, _): &(&Arc<str>, &Arc<str>)| !IGNORED_LABELS.contains(&&***key);
        Self(labels.iter().filter(is_condition).map(|(key, value)| (Arc::clone(key), Arc::clone(value))).collect())
    }

    /// Adds a condition.
    pub(crate) fn and(mut self, key: &str, value: Arc<str>) -> Self {
        self.0.push((key.into(), value));
        self
    }

    /// Whether these conditions include all of `other`.
    pub(crate) fn has_all(&self, other: &Self) -> bool {
        other.0.iter().all(|condition| self.0.contains(condition))
    }

    /// Iterates over the conditions.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(Arc<str>, Arc<str>)> {
        self.0.iter()
    }
}

/// All containers of a fleet, in merge order.
#[derive(Debug, Default)]
pub(crate) struct Containers {
    pub(crate) list: Vec<Arc<Container>>,
    /// Diagnostics about the containers.
    pub(crate) diagnostics: Vec<Diagnostic>,
    by_object: HashMap<ConfigMapName, ObjectContainers>,
    /// The order of the list.
    pub(crate) order: PrecedenceSetting,
    ranks: OnceLock<KeyRanks>,
}

/// The containers of one `ConfigMap`.
#[derive(Clone, Debug)]
struct ObjectContainers {
    object: Digest,
    containers: Vec<Arc<Container>>,
    diagnostics: Vec<Diagnostic>,
}

impl Containers {
    /// Reads the containers of a fleet. Containers of unchanged objects are taken from `before`.
    ///
    /// The platform's `ConfigMap`s come first, by the precedence of the environment. The keys of `azure-app-config` maps follow, by length and key.
    pub(crate) fn new(fleet: &Fleet, before: &Self, order: &PrecedenceSetting) -> Self {
        let mut all = Self { order: order.clone(), ..Self::default() };
        // Diagnostics about copies contain the places of the copies. The places may have changed.
        let unchanged = |object: &Object<ConfigMap>| {
            let known = before.by_object.get(&object.name).filter(|known| known.object == object.digest);
            known
                .filter(|_| fleet.duplicates.is_empty())
                .filter(|known| known.containers.iter().all(|container| container.problem.is_none()))
        };
        let originals: Vec<_> = fleet.config_maps.values().collect();
        let read: Vec<_> = originals
            .par_iter()
            .map(|object| unchanged(object).cloned().unwrap_or_else(|| of_object(fleet, object)))
            .collect();
        let copies = fleet.duplicates.values().flatten().filter_map(|object| match object {
            AnyObject::ConfigMap(object) => Some(of_object(fleet, object)),
            _ => None,
        });
        for found in read.iter().cloned().chain(copies) {
            all.list.extend(found.containers);
            all.diagnostics.extend(found.diagnostics);
        }
        all.by_object = originals.iter().map(|object| object.name.clone()).zip(read).collect();
        let precedence = order.precedence;
        all.list.sort_by(|one, other| {
            let [one_key, other_key] = [one, other].map(|container| precedence.order_key(&container.position));
            one_key.cmp(&other_key).then_with(|| one.name.cmp(&other.name))
        });
        if let Some(problem) = &order.problem {
            let stop = |container: &mut Arc<Container>| {
                Arc::make_mut(container).problem.get_or_insert_with(|| problem.clone());
            };
            all.list.iter_mut().for_each(stop);
        }
        all
    }
}

impl Containers {
    /// The ranks of the keys in the list.
    pub(crate) fn ranks(&self) -> &KeyRanks {
        self.ranks.get_or_init(|| KeyRanks::new(self.list.iter().map(|container| container.ranked_keys())))
    }

    /// The containers of a `ConfigMap`, in merge order.
    pub(crate) fn of_config_map(&self, name: &ConfigMapName) -> Vec<Arc<Container>> {
        let mut found = self.by_object.get(name).map(|known| known.containers.clone()).unwrap_or_default();
        found.sort_by(|one, other| one.position.order.cmp(&other.position.order));
        found
    }
}

fn of_object(fleet: &Fleet, object: &Object<ConfigMap>) -> ObjectContainers {
    let mut of_object = ObjectContainers { object: object.digest, containers: Vec::new(), diagnostics: Vec::new() };
    if object.labels.get(PLATFORM_CONFIG).is_some_and(|value| &**value == "true") {
        of_object.containers.push(Arc::new(platform_container(fleet, object)));
    }
    if object.name.as_str().starts_with(AZURE_PREFIX) {
        for (key, text) in &object.spec.data {
            let container = azure_container(object, key, text, &mut of_object.diagnostics);
            let problem = fleet.duplicate_diagnostic(&object.key());
            of_object.containers.push(Arc::new(Container { problem, ..container }));
        }
    }
    of_object
}

fn credentials_of(entries: &[Entry]) -> Vec<ClearCredential> {
    entries.iter().flat_map(|entry| credential_search::of_value(&entry.key, &entry.value.value)).collect()
}

fn platform_container(fleet: &Fleet, object: &Object<ConfigMap>) -> Container {
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
    let entry = |(key, text): (&Arc<str>, &Arc<str>)| Entry::new((Arc::clone(key), key), text, strategies.get(key));
    let entries: Vec<_> = object.spec.data.iter().map(entry).collect();
    let merging = object.annotations.get(model::object::config_map::MERGE);
    let digest = Digest::from_value(&("platform", object.name.as_str(), merging, &object.spec.data));
    let conditions = Conditions::from_labels(&object.labels);
    Container {
        name: object.name.clone(),
        position: MergePosition::new(Order::Platform(priority), conditions.iter()),
        conditions,
        credentials: credentials_of(&entries),
        entries,
        problem,
        has_nested: object.spec.data.values().any(|text| text.contains("{{")),
        digest,
    }
}

fn azure_container(
    object: &Object<ConfigMap>,
    data_key: &Arc<str>,
    text: &Arc<str>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Container {
    let AzureKey { labels, key, odd } = AzureKey::parse(data_key);
    if let Some(odd) = odd {
        let path = FieldPath::from(["data"]).key(Arc::clone(data_key));
        let message = format!("`{odd}` in the key `{data_key}` is a label without a value: it is ignored");
        let diagnostic = Diagnostic::warning(Code::OddKeyParts, message)
            .at(Origin::part(&object.key(), path, FieldPart::Key), "")
            .help("keys are `label.value.label.value.KEY`");
        diagnostics.push(diagnostic.about(&object.key()));
    }
    let entries = vec![Entry::new((key.into(), data_key), text, Strategy::default())];
    let conditions = Conditions::from_labels(&labels);
    Container {
        name: object.name.clone(),
        position: MergePosition::new(Order::Azure(data_key.len(), Arc::clone(data_key)), conditions.iter()),
        conditions,
        credentials: credentials_of(&entries),
        entries,
        problem: None,
        has_nested: text.contains("{{"),
        digest: Digest::from_value(&("azure", object.name.as_str(), data_key, text)),
    }
}
