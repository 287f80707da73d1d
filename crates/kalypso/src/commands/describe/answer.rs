//! Descriptions for programs.

use engine::answers::inventory::AssignmentCounts;
use model::kind::Kind;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;
use workbench::diagnostics::DiagnosticReport;
use workbench::listing::position::SourcePosition;
use workbench::listing::view::{Pairs, View, label_pairs};

use super::Description;
use super::details::Details;
use super::held::RolloutFields;
use super::reach::{Reach, Reaching};

/// The descriptions.
#[derive(Serialize, ToSchema)]
pub(crate) struct DescribeFields {
    pub(super) items: Vec<DescriptionFields>,
}

/// The description of an object.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DescriptionFields {
    /// The kind of the object.
    kind: &'static str,
    /// The environment.
    #[schema(value_type = String)]
    environment: Value,
    /// The name.
    #[schema(value_type = String)]
    name: Value,
    /// Where it is written.
    #[schema(value_type = Option<SourcePosition>)]
    place: Value,
    /// Its labels.
    #[schema(value_type = Object)]
    labels: Value,
    /// The fields of this kind, the same as `get` has for it.
    #[schema(value_type = Object)]
    fields: Map<String, Value>,
    /// The assignments of the object with another published content than the desired one: `assignment`, and the same as `rollout` of `explain`.
    #[schema(value_type = Vec<Object>)]
    rollouts: Vec<RolloutFields>,
    /// Its annotations, as in `metadata.annotations`.
    #[schema(value_type = Object)]
    annotations: Pairs,
    #[serde(flatten)]
    details: Details,
    /// The assignments that it reaches; `null` for kinds that reach none.
    reaches: Option<ReachFields>,
    reached_by: Vec<ReachingFields>,
    /// The diagnostics that are about it, as in `check -o json`; at most 1,000.
    #[schema(value_type = Object)]
    report: Value,
}

/// The assignments that an object reaches.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ReachFields {
    /// How many assignments it reaches.
    assignments: usize,
    /// On how many cluster types; the same for the others.
    cluster_types: usize,
    clusters: usize,
    targets: usize,
    workloads: usize,
    by_workload: Vec<WorkloadCount>,
    by_cluster_type: Vec<ClusterTypeCount>,
    /// The first assignments.
    examples: Vec<String>,
}

/// The assignments of a workload.
#[derive(Serialize, ToSchema)]
struct WorkloadCount {
    /// A workload, the one with most assignments first.
    workload: String,
    assignments: usize,
}

/// The assignments of a cluster type.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ClusterTypeCount {
    /// A cluster type, with its clusters.
    cluster_type: String,
    assignments: usize,
}

/// An object that reaches some of the assignments.
#[derive(Serialize, ToSchema)]
struct ReachingFields {
    /// The kind of an object that reaches some of these assignments.
    kind: &'static str,
    /// Its name.
    name: String,
    /// Where it is written.
    place: Option<SourcePosition>,
    /// How many of these assignments it reaches.
    assignments: usize,
}

impl DescriptionFields {
    pub(super) fn new(description: Description, view: &mut View<'_>, report: &DiagnosticReport<'_>) -> Self {
        let Description { subject, row, details, reach, held } = description;
        let mut fields = row.json;
        let [environment, name, place, labels] =
            ["environment", "name", "place", "labels"].map(|key| fields.remove(key).unwrap_or_default());
        let reached_by = reach.iter().flat_map(|reach| &reach.reached_by);
        Self {
            kind: subject.kind.of_objects().map_or("", Kind::name),
            environment,
            name,
            place,
            labels,
            fields,
            rollouts: held.rollouts,
            annotations: label_pairs(&subject.listed.annotations()),
            details,
            reaches: reach.as_ref().map(ReachFields::new),
            reached_by: reached_by.map(|reaching| ReachingFields::new(reaching, view)).collect(),
            report: report.to_json(),
        }
    }
}

impl ReachFields {
    fn new(reach: &Reach) -> Self {
        let AssignmentCounts { assignments, cluster_types, clusters, targets, workloads } = reach.counts;
        let by_workload = reach.by_workload.iter();
        let by_workload =
            by_workload.map(|(name, count)| WorkloadCount { workload: name.to_string(), assignments: *count });
        let by_cluster_type = reach.by_cluster_type.iter();
        let by_cluster_type = by_cluster_type
            .map(|(name, count)| ClusterTypeCount { cluster_type: name.to_string(), assignments: *count });
        Self {
            assignments,
            cluster_types,
            clusters,
            targets,
            workloads,
            by_workload: by_workload.collect(),
            by_cluster_type: by_cluster_type.collect(),
            examples: reach.examples.clone(),
        }
    }
}

impl ReachingFields {
    fn new(reaching: &Reaching, view: &mut View<'_>) -> Self {
        Self {
            kind: reaching.kind.of_objects().map_or("", Kind::name),
            name: reaching.name.to_string(),
            place: SourcePosition::find(&reaching.origin, &mut view.locator),
            assignments: reaching.assignments,
        }
    }
}
