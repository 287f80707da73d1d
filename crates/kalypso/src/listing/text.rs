//! Numbers of assignments, for people.

use engine::answers::inventory::AssignmentCounts;

use crate::terminal::{count, thousands};

/// The size of a set of assignments: `48 assignments: 12 cluster types × 4 targets of 2 workloads`.
pub(crate) fn counts_text(counts: AssignmentCounts) -> String {
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
