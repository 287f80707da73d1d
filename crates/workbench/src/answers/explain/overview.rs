//! Overviews of a place, a deployment target or a workload.

use engine::answers::overview::{Assignments, Meanings, PlaceOverview, PolicyShare, TargetOverview, WorkloadOverview};
use engine::answers::why_not::SourcedLabel;
use engine::compile::Prepared;
use hub_api::compiled::SourcePosition;
use model::diagnostic::{Diagnostic, Origin};
use model::field_path::FieldPath;
use model::locate::Locator;
use model::object_key::ObjectKey;
use serde::Serialize;
use utoipa::ToSchema;

/// The overviews of a name, one for each of its meanings.
pub struct Overviews {
    /// Of the cluster type or cluster.
    pub place: Option<PlaceOverview>,
    /// Of the deployment target.
    pub target: Option<TargetOverview>,
    /// Of the workload.
    pub workload: Option<WorkloadOverview>,
}

/// The overviews of a name in an environment.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NameOverviews {
    /// The environment.
    environment: String,
    /// The name.
    name: String,
    /// The cluster type or cluster of this name; `null` if there is none.
    cluster_type_or_cluster: Option<PlaceFields>,
    /// The deployment target of this name; `null` if there is none.
    deployment_target: Option<TargetFields>,
    /// The workload of this name; `null` if there is none.
    workload: Option<WorkloadFields>,
}

/// The overview of a cluster type or a cluster.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PlaceFields {
    #[serde(flatten)]
    reached: ReachedFields,
    /// Always empty.
    #[schema(value_type = Vec<Object>)]
    differing_values: Vec<DifferingFields>,
    problems: Vec<ProblemFields>,
    /// The number of assignments that were searched for errors, at most 100.
    checked_assignments: usize,
    /// The cluster type.
    cluster_type: String,
    /// The cluster; `null` for a cluster type.
    cluster: Option<String>,
    /// Where it is defined.
    place: Option<SourcePosition>,
    /// The number of clusters of the cluster type.
    clusters: u64,
    /// The names of the templates: reconciler, namespace, configuration.
    templates: Vec<String>,
    labels: Vec<LabelFields>,
    /// The number of its assignments.
    assignments: usize,
    /// The deployment targets that run there.
    targets: Vec<String>,
}

/// The overview of a deployment target.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TargetFields {
    #[serde(flatten)]
    reached: ReachedFields,
    differing_values: Vec<DifferingFields>,
    problems: Vec<ProblemFields>,
    /// The number of assignments that were searched for errors, at most 100.
    checked_assignments: usize,
    /// The deployment target.
    target: String,
    /// Its workload.
    workload: String,
    /// Its workspace.
    workspace: String,
    /// The registration whose repository contains it; may be `null`.
    registration: Option<String>,
    /// Where it is defined.
    place: Option<SourcePosition>,
    /// Its labels.
    labels: Vec<LabelFields>,
    /// The number of its assignments.
    assignments: u64,
    /// The number of cluster types that it is assigned to.
    cluster_type_count: u64,
    /// The number of clusters that it is assigned to.
    cluster_count: u64,
    /// The cluster types and clusters that it is assigned to, by name, at most 1,000.
    places: Vec<String>,
}

/// The overview of a workload.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct WorkloadFields {
    /// The workload.
    workload: String,
    /// Its workspace.
    workspace: String,
    /// The registration whose repository contains it; may be `null`.
    registration: Option<String>,
    /// Where it is defined; may be `null`.
    place: Option<SourcePosition>,
    targets: Vec<TargetCount>,
    other_environments: Vec<EnvironmentCount>,
    /// The code and the message, if several registrations claim the workload; else `null`.
    #[schema(value_type = Option<Object>)]
    problem: Option<ClaimFields>,
}

/// What reaches the assignments of a place or a target.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ReachedFields {
    policies: Vec<PolicyFields>,
    /// The `ConfigMap`s that reach at least one assignment, in merge order.
    config_maps: Vec<String>,
    schemas: Vec<SchemaFields>,
}

/// A policy that makes assignments.
#[derive(Serialize, ToSchema)]
struct PolicyFields {
    /// A policy that makes assignments.
    policy: String,
    /// The number of these assignments.
    assignments: u64,
    /// Where the policy is defined.
    place: Option<SourcePosition>,
}

/// An object with a schema.
#[derive(Serialize, ToSchema)]
struct SchemaFields {
    /// The kind of an object with a schema that checks at least one assignment.
    kind: &'static str,
    /// The name of this object.
    name: String,
}

/// A value that differs between assignments.
#[derive(Serialize, ToSchema)]
struct DifferingFields {
    /// A value that differs between its assignments; no values if it has more than 32 different configurations.
    key: String,
    /// The number of different values.
    values: usize,
}

/// An error that stops assignments.
#[derive(Serialize, ToSchema)]
struct ProblemFields {
    /// The code of an error that stops assignments.
    code: String,
    /// The error.
    message: String,
    /// The assignments that it stops.
    assignments: Vec<String>,
}

/// A label with the object that sets it.
#[derive(Serialize, ToSchema)]
struct LabelFields {
    /// A label.
    key: String,
    /// Its value.
    value: String,
    /// The kind of the object that sets it.
    kind: &'static str,
    /// The name of this object.
    object: String,
    /// Where it is set.
    place: Option<SourcePosition>,
}

/// A deployment target of a workload.
#[derive(Serialize, ToSchema)]
struct TargetCount {
    /// A deployment target for this environment.
    target: String,
    /// The number of its assignments.
    assignments: u64,
}

/// Another environment of a workload.
#[derive(Serialize, ToSchema)]
struct EnvironmentCount {
    /// Another environment that it has deployment targets for.
    environment: String,
    /// The number of these targets.
    targets: usize,
}

/// The error about a workload that several registrations claim.
#[derive(Serialize)]
struct ClaimFields {
    code: String,
    message: String,
}

impl Overviews {
    /// The overviews for these meanings of a name.
    pub fn new(prepared: &Prepared, name: &str, meanings: Meanings) -> Self {
        Self {
            place: prepared.place_overview(name).filter(|_| meanings.is_place),
            target: prepared.target_overview(name).filter(|_| meanings.is_target),
            workload: prepared.workload_overview(name).filter(|_| meanings.is_workload),
        }
    }
}

impl NameOverviews {
    /// The overviews of `name` in `environment`, with positions in files.
    pub fn new((environment, name): (&str, &str), overviews: &Overviews, locator: &mut Locator<'_>) -> Self {
        let Overviews { place, target, workload } = overviews;
        Self {
            environment: environment.to_owned(),
            name: name.to_owned(),
            cluster_type_or_cluster: place.as_ref().map(|place| PlaceFields::new(place, locator)),
            deployment_target: target.as_ref().map(|target| TargetFields::new(target, locator)),
            workload: workload.as_ref().map(|workload| WorkloadFields::new(workload, locator)),
        }
    }
}

impl PlaceFields {
    fn new(overview: &PlaceOverview, locator: &mut Locator<'_>) -> Self {
        let PlaceOverview { place, labels, clusters, targets, assignments } = overview;
        let spec = &place.cluster_type.spec;
        Self {
            reached: ReachedFields::new(assignments, locator),
            differing_values: DifferingFields::all(assignments),
            problems: assignments.problems.iter().map(ProblemFields::new).collect(),
            checked_assignments: assignments.checked,
            cluster_type: place.cluster_type.name.to_string(),
            cluster: place.cluster.as_ref().map(|cluster| cluster.name.to_string()),
            place: SourcePosition::find(&Origin::field(&place.key(), FieldPath::default()), locator),
            clusters: *clusters,
            templates: [&spec.reconciler, &spec.namespace_service, &spec.config_type].map(ToString::to_string).into(),
            labels: labels.iter().map(|label| LabelFields::new(label, locator)).collect(),
            assignments: targets.len(),
            targets: targets.iter().map(ToString::to_string).collect(),
        }
    }
}

impl TargetFields {
    fn new(overview: &TargetOverview, locator: &mut Locator<'_>) -> Self {
        let TargetOverview { target, labels, counts: [types, clusters], places, assignments } = overview;
        let (object, path) = &target.origin;
        Self {
            reached: ReachedFields::new(assignments, locator),
            differing_values: DifferingFields::all(assignments),
            problems: assignments.problems.iter().map(ProblemFields::new).collect(),
            checked_assignments: assignments.checked,
            target: target.name.to_string(),
            workload: target.workload().to_owned(),
            workspace: target.workspace().to_owned(),
            registration: target.registration.as_ref().map(ToString::to_string),
            place: SourcePosition::find(&Origin::field(object, path.clone()), locator),
            labels: labels.iter().map(|label| LabelFields::new(label, locator)).collect(),
            assignments: types + clusters,
            cluster_type_count: *types,
            cluster_count: *clusters,
            places: places.iter().map(ToString::to_string).collect(),
        }
    }
}

impl WorkloadFields {
    fn new(overview: &WorkloadOverview, locator: &mut Locator<'_>) -> Self {
        let WorkloadOverview { name, origin, registration, workspace, targets, elsewhere, problem } = overview;
        let targets = targets.iter();
        let targets = targets.map(|(name, places)| TargetCount { target: name.to_string(), assignments: *places });
        let elsewhere = elsewhere.iter();
        let elsewhere =
            elsewhere.map(|(name, count)| EnvironmentCount { environment: name.to_string(), targets: *count });
        let problem = problem.as_ref();
        Self {
            workload: name.to_string(),
            workspace: workspace.to_string(),
            registration: registration.as_ref().map(ToString::to_string),
            place: origin.as_ref().and_then(|origin| SourcePosition::find(origin, locator)),
            targets: targets.collect(),
            other_environments: elsewhere.collect(),
            problem: problem.map(|found| ClaimFields { code: found.code.to_string(), message: found.message.clone() }),
        }
    }
}

impl ReachedFields {
    fn new(assignments: &Assignments, locator: &mut Locator<'_>) -> Self {
        let policy = |share: &PolicyShare| PolicyFields {
            policy: share.policy.to_string(),
            assignments: share.assignments,
            place: SourcePosition::find(&share.origin, locator),
        };
        let schema = |object: &ObjectKey| SchemaFields { kind: object.kind.name(), name: object.name.to_string() };
        Self {
            policies: assignments.policies.iter().map(policy).collect(),
            config_maps: assignments.config_maps.iter().map(ToString::to_string).collect(),
            schemas: assignments.schemas.iter().map(schema).collect(),
        }
    }
}

impl DifferingFields {
    fn all(assignments: &Assignments) -> Vec<Self> {
        assignments.differing.iter().map(|(path, count)| Self { key: path.to_string(), values: *count }).collect()
    }
}

impl ProblemFields {
    fn new(problem: &Diagnostic) -> Self {
        Self {
            code: problem.code.to_string(),
            message: problem.message.clone(),
            assignments: problem.assignments.iter().map(ToString::to_string).collect(),
        }
    }
}

impl LabelFields {
    fn new(label: &SourcedLabel, locator: &mut Locator<'_>) -> Self {
        Self {
            key: label.key.to_string(),
            value: label.value.to_string(),
            kind: label.object.kind.name(),
            object: label.object.name.to_string(),
            place: SourcePosition::find(&label.origin(), locator),
        }
    }
}
