//! Places: where assignments run. A cluster type, or one cluster, which is like a cluster type of one.

use std::sync::Arc;

use model::diagnostic::Diagnostic;
use model::fleet::Fleet;
use model::label::Labels;
use model::name::PlaceName;
use model::object::{Cluster, ClusterType, Object};
use model::object_key::ObjectKey;

/// Where assignments run.
#[derive(Clone, Debug)]
pub struct Place {
    /// The cluster type: it says which templates are used.
    pub cluster_type: Arc<Object<ClusterType>>,
    /// The cluster, if the place is one.
    pub cluster: Option<Arc<Object<Cluster>>>,
}

impl Place {
    /// The place of this name in a fleet. None if there is none, or if it is a cluster whose cluster type is not there.
    pub fn find(fleet: &Fleet, name: &str) -> Option<Self> {
        if let Some(cluster_type) = fleet.cluster_types.get(name) {
            return Some(Self { cluster_type: Arc::clone(cluster_type), cluster: None });
        }
        Self::of_cluster(fleet, fleet.clusters.get(name)?)
    }

    /// The place that a cluster is. None if its cluster type is not there, or if a cluster type has its name.
    pub(crate) fn of_cluster(fleet: &Fleet, cluster: &Arc<Object<Cluster>>) -> Option<Self> {
        if fleet.cluster_types.contains_key(cluster.name.as_str()) {
            return None;
        }
        let cluster_type = fleet.cluster_types.get(&*cluster.spec.cluster_type)?;
        Some(Self { cluster_type: Arc::clone(cluster_type), cluster: Some(Arc::clone(cluster)) })
    }

    /// Its name, which is that of its folder.
    pub fn name(&self) -> PlaceName {
        match &self.cluster {
            Some(cluster) => PlaceName::from(&cluster.name),
            None => PlaceName::from(&self.cluster_type.name),
        }
    }

    /// Its name as a shared text.
    pub fn name_text(&self) -> &Arc<str> {
        match &self.cluster {
            Some(cluster) => cluster.name.as_arc(),
            None => self.cluster_type.name.as_arc(),
        }
    }

    /// What it is called in messages.
    pub fn kind(&self) -> &'static str {
        if self.cluster.is_some() { "cluster" } else { "cluster type" }
    }

    /// The object that it is.
    pub fn key(&self) -> ObjectKey {
        match &self.cluster {
            Some(cluster) => cluster.key(),
            None => self.cluster_type.key(),
        }
    }

    /// The value of a label: a cluster has those of its cluster type as well; its own win.
    pub fn label(&self, key: &str) -> Option<&Arc<str>> {
        let own = self.cluster.as_ref().and_then(|cluster| cluster.labels.get(key));
        own.or_else(|| self.cluster_type.labels.get(key))
    }

    /// All its labels.
    pub fn labels(&self) -> Labels {
        match &self.cluster {
            None => self.cluster_type.labels.clone(),
            Some(_) => self.labels_iter().map(|(key, value)| (Arc::clone(key), Arc::clone(value))).collect(),
        }
    }

    /// All its labels, each once, in no order that means anything.
    pub(crate) fn labels_iter(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<str>)> {
        let own = self.cluster.as_ref().map(|cluster| &cluster.labels);
        let is_overridden = move |key: &str| own.is_some_and(|labels| labels.get(key).is_some());
        let inherited = self.cluster_type.labels.iter().filter(move |(key, _)| !is_overridden(key));
        own.into_iter().flat_map(Labels::iter).chain(inherited)
    }

    /// Whether two say the same.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let same_cluster = match (&self.cluster, &other.cluster) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other) || one.digest == other.digest,
            (None, None) => true,
            _ => false,
        };
        let (one, other) = (&self.cluster_type, &other.cluster_type);
        same_cluster && (Arc::ptr_eq(one, other) || one.digest == other.digest)
    }

    /// Why nothing on it can be rendered: it, or its cluster type, exists more than once.
    pub(crate) fn problem(&self, fleet: &Fleet) -> Option<Diagnostic> {
        if fleet.duplicates.is_empty() {
            return None;
        }
        let cluster = self.cluster.as_ref().and_then(|cluster| fleet.duplicate_diagnostic(&cluster.key()));
        cluster.or_else(|| fleet.duplicate_diagnostic(&self.cluster_type.key()))
    }
}
