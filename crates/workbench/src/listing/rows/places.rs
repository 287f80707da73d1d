//! Cluster types and clusters.

use model::count::thousands;
use model::object::{Cluster, ClusterType, Object};
use serde::Serialize;
use utoipa::ToSchema;

use super::{KindFields, ListColumns, columns};
use crate::listing::view::{Pairs, View, label_pairs, or_dash, pairs_text};

/// A cluster type.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterTypeFields {
    /// The name of its reconciler template.
    pub reconciler: String,
    /// The name of its configuration template.
    pub config_type: String,
    /// The name of its namespace template.
    pub namespace_service: String,
    /// How many `Cluster`s are of this type.
    pub clusters: usize,
    /// Its assignments, with those of its clusters.
    pub assignments: usize,
    /// Its assignments without those of its clusters.
    pub own_assignments: usize,
    #[serde(skip)]
    labels: Pairs,
}

impl ClusterTypeFields {
    pub(super) fn new(object: &Object<ClusterType>, view: &View<'_>) -> Self {
        let ClusterType { reconciler, namespace_service, config_type } = &object.spec;
        let (name, inventory) = (object.name.as_str(), &view.inventory);
        Self {
            reconciler: reconciler.to_string(),
            config_type: config_type.to_string(),
            namespace_service: namespace_service.to_string(),
            clusters: inventory.clusters_of(name),
            assignments: inventory.on(name).map_or(0, |set| inventory.len(&set)),
            own_assignments: inventory.len(&inventory.only_on(name)),
            labels: label_pairs(&object.labels),
        }
    }
}

impl KindFields for ClusterTypeFields {
    const COLUMNS: ListColumns =
        columns(&["NAME", "RECONCILER", "CONFIG", "CLUSTERS", "ASSIGNMENTS"], &["NAMESPACE", "LABELS", "SOURCE"]);

    fn cells(&self) -> Vec<String> {
        vec![
            or_dash(&self.reconciler),
            or_dash(&self.config_type),
            thousands(self.clusters),
            thousands(self.assignments),
            or_dash(&self.namespace_service),
            pairs_text(&self.labels),
        ]
    }
}

/// A cluster.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterFields {
    /// Its cluster type.
    pub cluster_type: String,
    /// How many targets run on it.
    pub assignments: usize,
    #[serde(skip)]
    labels: Pairs,
}

impl ClusterFields {
    pub(super) fn new(object: &Object<Cluster>, view: &View<'_>) -> Self {
        Self {
            cluster_type: object.spec.cluster_type.to_string(),
            assignments: view.inventory.len(&view.inventory.only_on(object.name.as_str())),
            labels: label_pairs(&object.labels),
        }
    }
}

impl KindFields for ClusterFields {
    const COLUMNS: ListColumns = columns(&["NAME", "TYPE", "ASSIGNMENTS", "LABELS"], &["SOURCE"]);

    fn cells(&self) -> Vec<String> {
        vec![or_dash(&self.cluster_type), thousands(self.assignments), pairs_text(&self.labels)]
    }
}
