//! The columns of assignments.

use delivery::rings::HeldContent;
use engine::inventory::{Assigned, Counts};
use hub_api::timestamp::Timestamp;
use serde_json::json;

use super::rows::{Columns, Row};
use super::view::or_dash;
use crate::held_content;
use crate::terminal::{count, thousands};

pub(crate) const COLUMNS: Columns = Columns {
    always: &["NAME", "WORKLOAD", "WORKSPACE", "CLUSTER-TYPE", "POLICIES", "RELEASE"],
    wide: &["CLUSTER", "PINS", "RING"],
};

/// The row of an assignment, with the content that its place has if it is not the desired one.
pub(crate) fn row(assigned: &Assigned<'_>, environment: &str, (held, now): (Option<&HeldContent>, Timestamp)) -> Row {
    let policies: Vec<_> = assigned.policies().map(model::name::PolicyName::as_str).collect();
    let pins: Vec<_> = assigned.pins().into_iter().map(|pin| pin.name.as_str()).collect();
    let cluster = assigned.place.cluster.as_ref().map(|cluster| cluster.name.as_str());
    let (target, cluster_type) = (assigned.target, assigned.place.cluster_type.name.as_str());
    let id = assigned.id().to_string();
    let release = assigned.release().map(|placed| placed.release.text());
    Row {
        cells: vec![
            id.clone(),
            or_dash(target.workload()),
            or_dash(target.workspace()),
            cluster_type.to_owned(),
            policies.join(","),
            held.map_or_else(|| or_dash(release.as_deref().unwrap_or_default()), held_content::releases),
            or_dash(cluster.unwrap_or_default()),
            or_dash(&pins.join(",")),
            held.map_or_else(|| "-".to_owned(), |held| held_content::ring(held, now)),
        ],
        json: json!({
            "environment": environment,
            "name": id,
            "clusterType": cluster_type,
            "cluster": cluster,
            "target": target.name.as_str(),
            "workload": target.workload(),
            "workspace": target.workspace(),
            "policies": policies,
            "releasePins": pins,
            "release": release.as_deref(),
            "rollout": held.map(held_content::json),
        }),
    }
}

/// The size of a set of assignments: `48 assignments: 12 cluster types × 4 targets of 2 workloads`.
pub(crate) fn counts_text(counts: Counts) -> String {
    if counts.assignments == 0 {
        return "0 assignments".to_owned();
    }
    let places = model::count::places(counts.cluster_types, counts.clusters);
    let targets = count(counts.targets, "target");
    let of = if counts.workloads > 0 { format!(" of {}", count(counts.workloads, "workload")) } else { String::new() };
    let assignments = count(counts.assignments, "assignment");
    if counts.places() * counts.targets == counts.assignments && counts.clusters.min(counts.cluster_types) == 0 {
        return format!("{assignments}: {places} × {targets}{of}");
    }
    format!("{assignments} on {places}: {targets}{of}")
}

/// A count of rows that are not shown.
pub(crate) fn more_text(more: usize) -> String {
    format!("… and {} more", thousands(more))
}
