//! Reports clusters that cannot be scheduled.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Fleet;
use crate::diagnostic::{Code, Diagnostic, Origin};
use crate::field_path::FieldPath;
use crate::name::ClusterTypeName;
use crate::object::cluster::CLUSTER_TYPE;
use crate::object::{Cluster, ClusterType, Object};

/// How many clusters of one missing type are listed. There can be a million of them.
const SHOWN_MAX: usize = 5;

/// The diagnostics for the clusters of a fleet.
pub(super) fn problems(fleet: &Fleet) -> Vec<Diagnostic> {
    let mut diagnostics: Vec<_> =
        fleet.cluster_types.values().filter_map(|cluster_type| name_taken(fleet, cluster_type)).collect();
    let mut without_type: BTreeMap<&Arc<str>, Vec<&Object<Cluster>>> = BTreeMap::new();
    // In a fleet with a million clusters, most have the type of the cluster before.
    let mut known: Option<&Arc<str>> = None;
    for cluster in fleet.clusters.values() {
        let name = &cluster.spec.cluster_type;
        if known == Some(name) {
            continue;
        }
        if fleet.cluster_types.contains_key(&**name) {
            known = Some(name);
        } else if !fleet.cluster_types.contains_key(cluster.name.as_str()) {
            without_type.entry(name).or_default().push(cluster);
        }
    }
    diagnostics.extend(without_type.into_iter().filter_map(|(name, clusters)| unknown_type(fleet, name, &clusters)));
    diagnostics
}

fn name_taken(fleet: &Fleet, cluster_type: &Object<ClusterType>) -> Option<Diagnostic> {
    let cluster = fleet.clusters.get(cluster_type.name.as_str())?;
    let (key, name) = (cluster.key(), FieldPath::from(["metadata", "name"]));
    let message = format!("cluster `{}` has the name of a cluster type", cluster.name);
    let diagnostic = Diagnostic::error(Code::ClusterNameTaken, message)
        .at(Origin::field(&key, name.clone()), "this cluster is not scheduled")
        .at(Origin::field(&cluster_type.key(), name), "this cluster type is, into the folder of that name")
        .help("rename the cluster");
    Some(diagnostic.about(&key))
}

/// One diagnostic for all clusters whose type does not exist.
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
    let whom = if clusters.len() == 1 { "it" } else { "them" };
    let diagnostic = diagnostic.note(format!("what was published for {whom} stays as it is"));
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
