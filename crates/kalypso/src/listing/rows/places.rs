//! The columns of cluster types and clusters.

use model::object::{Cluster, ClusterType, Object};
use serde_json::json;

use super::super::view::{View, labels_text, or_dash};
use super::{Columns, Row, columns};
use crate::terminal::thousands;

pub(super) const CLUSTER_TYPE: Columns =
    columns(&["NAME", "RECONCILER", "CONFIG", "CLUSTERS", "ASSIGNMENTS"], &["NAMESPACE", "LABELS", "SOURCE"]);
pub(super) const CLUSTER: Columns = columns(&["NAME", "TYPE", "ASSIGNMENTS", "LABELS"], &["SOURCE"]);

pub(super) fn cluster_type(object: &Object<ClusterType>, view: &View<'_>) -> Row {
    let ClusterType { reconciler, namespace_service, config_type } = &object.spec;
    let clusters = view.inventory.clusters_of(object.name.as_str());
    let assignments = view.inventory.len(&view.inventory.only_on(object.name.as_str()));
    let with_clusters = view.inventory.on(object.name.as_str()).map_or(0, |set| view.inventory.len(&set));
    Row {
        cells: vec![
            or_dash(reconciler),
            or_dash(config_type),
            thousands(clusters),
            thousands(with_clusters),
            or_dash(namespace_service),
            labels_text(&object.labels),
        ],
        json: json!({
            "reconciler": &**reconciler,
            "configType": &**config_type,
            "namespaceService": &**namespace_service,
            "clusters": clusters,
            "assignments": with_clusters,
            "ownAssignments": assignments,
        }),
    }
}

pub(super) fn cluster(object: &Object<Cluster>, view: &View<'_>) -> Row {
    let cluster_type = &*object.spec.cluster_type;
    let assignments = view.inventory.len(&view.inventory.only_on(object.name.as_str()));
    Row {
        cells: vec![or_dash(cluster_type), thousands(assignments), labels_text(&object.labels)],
        json: json!({"clusterType": cluster_type, "assignments": assignments}),
    }
}
