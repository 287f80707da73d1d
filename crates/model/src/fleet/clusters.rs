//! Clusters that can't be scheduled.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Fleet;
use crate::diagnostic::{Code, Diagnostic, Origin};
use crate::field_path::FieldPath;
use crate::name::ClusterTypeName;
use crate::object::cluster::CLUSTER_TYPE;
use crate::object::{Cluster, Object};

/// How many clusters of one missing type are shown: there can be a million.
const SHOWN_MAX: usize = 5;

/// What is wrong with the clusters of a fleet.
pub(super) fn problems(fleet: &Fleet) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    let mut without_type: BTreeMap<&Arc<str>, Vec<&Object<Cluster>>> = BTreeMap::new();
    for cluster in fleet.clusters.values() {
        if fleet.cluster_types.contains_key(cluster.name.as_str()) {
            diagnostics.push(name_taken(fleet, cluster));
        } else if !fleet.cluster_types.contains_key(&*cluster.spec.cluster_type) {
            without_type.entry(&cluster.spec.cluster_type).or_default().push(cluster);
        }
    }
    diagnostics.extend(without_type.into_iter().filter_map(|(name, clusters)| unknown_type(fleet, name, &clusters)));
    diagnostics
}

fn name_taken(fleet: &Fleet, cluster: &Object<Cluster>) -> Diagnostic {
    let (key, name) = (cluster.key(), FieldPath::from(["metadata", "name"]));
    let message = format!("cluster `{}` has the name of a cluster type", cluster.name);
    let mut diagnostic = Diagnostic::error(Code::ClusterNameTaken, message)
        .at(Origin::field(&key, name.clone()), "this cluster is not scheduled");
    if let Some(cluster_type) = fleet.cluster_types.get(cluster.name.as_str()) {
        diagnostic = diagnostic
            .at(Origin::field(&cluster_type.key(), name), "this cluster type is, into the folder of that name");
    }
    diagnostic.help("rename the cluster").about(&key)
}

/// One diagnostic for all clusters of a type that does not exist.
fn unknown_type(fleet: &Fleet, name: &str, clusters: &[&Object<Cluster>]) -> Option<Diagnostic> {
    let first = clusters.first()?;
    let message = match clusters.len() {
        1 => format!("cluster `{}` is of cluster type `{name}`, which does not exist", first.name),
        count => format!("{count} clusters are of cluster type `{name}`, which does not exist"),
    };
    let mut diagnostic = Diagnostic::error(Code::UnknownClusterType, message).about(&first.key());
    for cluster in clusters.iter().take(SHOWN_MAX) {
        diagnostic = diagnostic.at(Origin::field(&cluster.key(), FieldPath::from(CLUSTER_TYPE)), "");
    }
    let diagnostic = diagnostic.note("what was published for it stays as it is");
    Some(diagnostic.help(match nearest(fleet, name) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("add a `ClusterType` named `{name}`, or name one that exists"),
    }))
}

fn nearest<'a>(fleet: &'a Fleet, written: &str) -> Option<&'a str> {
    let names = fleet.cluster_types.keys().map(ClusterTypeName::as_str);
    let distances = names.map(|name| (strsim::damerau_levenshtein(name, written), name));
    distances.min().filter(|(distance, _)| *distance <= 2).map(|(_, name)| name)
}
