//! Places: where assignments run. A place is a cluster type or a cluster. A cluster works like a cluster type with one member.

use std::sync::Arc;

use model::diagnostic::Diagnostic;
use model::fleet::Fleet;
use model::label::Labels;
use model::name::PlaceName;
use model::object::{Cluster, ClusterType, Object};
use model::object_key::ObjectKey;

/// A place: a cluster type or a cluster.
#[derive(Clone, Debug)]
pub struct Place {
    /// The cluster type. It names the templates.
    pub cluster_type: Arc<Object<ClusterType>>,
    /// The cluster. None if the place is a cluster type.
    pub cluster: Option<Arc<Object<Cluster>>>,
}

impl Place {
    /// Finds a place by name in a fleet. None if no place has this name, or if it is a cluster whose cluster type does not exist.
    pub fn find(fleet: &Fleet, name: &str) -> Option<Self> {
        if let Some(cluster_type) = fleet.cluster_types.get(name) {
            return Some(Self { cluster_type: Arc::clone(cluster_type), cluster: None });
        }
        Self::of_cluster(fleet, fleet.clusters.get(name)?)
    }

    /// Creates the place of a cluster. None if its cluster type does not exist, or if a cluster type has the cluster's name.
    pub(crate) fn of_cluster(fleet: &Fleet, cluster: &Arc<Object<Cluster>>) -> Option<Self> {
        if fleet.cluster_types.contains_key(cluster.name.as_str()) {
            return None;
        }
        let cluster_type = fleet.cluster_types.get(&*cluster.spec.cluster_type)?;
        Some(Self { cluster_type: Arc::clone(cluster_type), cluster: Some(Arc::clone(cluster)) })
    }

    /// The name of the place, which is also the name of its folder in the output.
    pub fn name(&self) -> PlaceName {
        match &self.cluster {
            Some(cluster) => PlaceName::from(&cluster.name),
            None => PlaceName::from(&self.cluster_type.name),
        }
    }

    /// The name as a shared text.
    pub fn name_text(&self) -> &Arc<str> {
        match &self.cluster {
            Some(cluster) => cluster.name.as_arc(),
            None => self.cluster_type.name.as_arc(),
        }
    }

    /// The kind of the place in messages: `cluster` or `cluster type`.
    pub fn kind(&self) -> &'static str {
        if self.cluster.is_some() { "cluster" } else { "cluster type" }
    }

    /// The key of the object that defines the place.
    pub fn key(&self) -> ObjectKey {
        match &self.cluster {
            Some(cluster) => cluster.key(),
            None => self.cluster_type.key(),
        }
    }

    /// The value of a label. A cluster also has the labels of its cluster type. The cluster's own labels take precedence.
    pub fn label(&self, key: &str) -> Option<&Arc<str>> {
        let own = self.cluster.as_ref().and_then(|cluster| cluster.labels.get(key));
        own.or_else(|| self.cluster_type.labels.get(key))
    }

    /// All labels of the place.
    pub fn labels(&self) -> Labels {
        match &self.cluster {
            None => self.cluster_type.labels.clone(),
            Some(_) => self.labels_iter().map(|(key, value)| (Arc::clone(key), Arc::clone(value))).collect(),
        }
    }

    /// All labels of the place, each once, in no particular order.
    pub(crate) fn labels_iter(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<str>)> {
        let own = self.cluster.as_ref().map(|cluster| &cluster.labels);
        let is_overridden = move |key: &str| own.is_some_and(|labels| labels.get(key).is_some());
        let inherited = self.cluster_type.labels.iter().filter(move |(key, _)| !is_overridden(key));
        own.into_iter().flat_map(Labels::iter).chain(inherited)
    }

    /// Whether the objects of both places have the same content.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let same_cluster = match (&self.cluster, &other.cluster) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other) || one.digest == other.digest,
            (None, None) => true,
            _ => false,
        };
        let (one, other) = (&self.cluster_type, &other.cluster_type);
        same_cluster && (Arc::ptr_eq(one, other) || one.digest == other.digest)
    }

    /// The reason why nothing on the place can be rendered: it, or its cluster type, exists more than once.
    pub(crate) fn problem(&self, fleet: &Fleet) -> Option<Diagnostic> {
        if fleet.duplicates.is_empty() {
            return None;
        }
        let cluster = self.cluster.as_ref().and_then(|cluster| fleet.duplicate_diagnostic(&cluster.key()));
        cluster.or_else(|| fleet.duplicate_diagnostic(&self.cluster_type.key()))
    }
}
