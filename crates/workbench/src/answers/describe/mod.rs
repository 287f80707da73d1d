//! Descriptions of objects: what an object reaches, what reaches it, and what is wrong with it.

mod details;
mod problems;
mod reach;

use std::collections::BTreeMap;

use delivery::output::rings::HeldContent;
use delivery::sources::loaded::Loaded;
use engine::answers::inventory::AssignmentCounts;
use engine::compile::{Assignment, Compiled};
use hub_api::compiled::SourcePosition;
use model::diagnostic::{AssignmentId, Diagnostic};
use model::kind::Kind;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

pub use self::details::{DetailList, Details};
pub use self::reach::{ObjectReach, ReachingObject};
use crate::diagnostics::DiagnosticReport;
use crate::held_assignments::HeldAssignments;
use crate::listing::kind::ListedKind;
use crate::listing::object::Listed;
use crate::listing::rows::{ListRow, published_content, row};
use crate::listing::view::{Pairs, View, label_pairs};

/// An object that is described.
pub struct DescribedObject {
    /// Its kind.
    pub kind: ListedKind,
    /// The object.
    pub listed: Listed,
}

/// An environment whose objects are described.
pub struct DescribedEnvironment<'a> {
    /// The environment, for the rows of its objects.
    pub view: View<'a>,
    /// Its result.
    pub compiled: &'a Compiled,
    diagnostics: Vec<Diagnostic>,
    held: HeldAssignments<'a>,
}

/// What is known of an object in one environment.
pub struct Description<'a> {
    /// The object.
    pub object: DescribedObject,
    /// Its row in a list.
    pub row: ListRow,
    /// What it consists of.
    pub details: Details,
    /// The assignments that it reaches. None if an object of this kind reaches none.
    pub reach: Option<ObjectReach>,
    /// What is published of its assignments, where it is not the desired content.
    pub published: BTreeMap<AssignmentId, HeldContent>,
    /// What is wrong with it, or with its assignments.
    pub report: DiagnosticReport<'a>,
}

/// The descriptions.
#[derive(Serialize, ToSchema)]
pub struct Descriptions {
    items: Vec<DescriptionFields>,
}

/// The description of an object.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DescriptionFields {
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

/// The published content of an assignment.
#[derive(Serialize)]
struct RolloutFields {
    #[serde(flatten)]
    content: hub_api::compiled::PublishedContent,
    assignment: String,
}

impl<'a> DescribedEnvironment<'a> {
    /// Reads what is published of an environment. `warn` gets what can't be read.
    pub fn new(loaded: &'a Loaded, compiled: &'a Compiled, warn: &'a dyn Fn(&str)) -> Self {
        Self {
            view: View::new(loaded, compiled.prepared()),
            compiled,
            diagnostics: problems::all(loaded, compiled),
            held: HeldAssignments::read(loaded, compiled.prepared(), warn),
        }
    }

    /// Describes an object.
    pub fn describe(&mut self, object: DescribedObject) -> Description<'a> {
        let Self { view, compiled, diagnostics, held } = self;
        let published = reach::reached_assignments(&object.listed, &view.inventory).map(|set| {
            let ids: Vec<_> = view.inventory.assignments(&set, None).map(|assigned| assigned.id()).collect();
            let folder = |id: &AssignmentId| compiled.get(id).as_ref().and_then(Assignment::folder);
            held.find(&ids, |ids| ids.iter().map(folder).collect())
        });
        Description {
            row: row(&object.listed, view),
            details: Details::new(&object.listed, view),
            reach: ObjectReach::new(&object, view),
            published: published.unwrap_or_default(),
            report: problems::report(&object, (view, compiled), diagnostics),
            object,
        }
    }
}

impl From<Vec<DescriptionFields>> for Descriptions {
    fn from(items: Vec<DescriptionFields>) -> Self {
        Self { items }
    }
}

impl DescriptionFields {
    /// A description, with positions in files.
    pub fn new(description: Description<'_>, view: &mut View<'_>) -> Self {
        let Description { object, row, details, reach, published, report } = description;
        let mut fields = row.json;
        let [environment, name, place, labels] =
            ["environment", "name", "place", "labels"].map(|key| fields.remove(key).unwrap_or_default());
        let reached_by = reach.iter().flat_map(|reach| &reach.reached_by);
        Self {
            kind: object.kind.of_objects().map_or("", Kind::name),
            environment,
            name,
            place,
            labels,
            fields,
            rollouts: published.iter().map(RolloutFields::new).collect(),
            annotations: label_pairs(&object.listed.annotations()),
            details,
            reaches: reach.as_ref().map(ReachFields::new),
            reached_by: reached_by.map(|reaching| ReachingFields::new(reaching, view)).collect(),
            report: report.to_json(),
        }
    }
}

impl RolloutFields {
    fn new((id, content): (&AssignmentId, &HeldContent)) -> Self {
        Self { content: published_content(content), assignment: id.to_string() }
    }
}

impl ReachFields {
    fn new(reach: &ObjectReach) -> Self {
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
    fn new(reaching: &ReachingObject, view: &mut View<'_>) -> Self {
        Self {
            kind: reaching.kind.of_objects().map_or("", Kind::name),
            name: reaching.name.to_string(),
            place: SourcePosition::find(&reaching.origin, &mut view.locator),
            assignments: reaching.assignments,
        }
    }
}
