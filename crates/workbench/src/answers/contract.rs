//! The values that workloads ask for, and the values that the platform gives.

use delivery::sources::loaded::Loaded;
use engine::answers::contract::{
    Advice, Ask, AskedValue, Contract, GivenValue, MissingValue, PlaceCount, UnassignedTarget, UnmetLabel,
    WorkloadContract, WrongValue,
};
use hub_api::compiled::SourcePosition;
use model::diagnostic::AssignmentId;
use model::locate::Locator;
use serde::Serialize;
use utoipa::ToSchema;

/// The contract of an environment, with the places of its objects.
pub struct EnvironmentContract<'a> {
    /// The name of the environment.
    pub environment: &'a str,
    /// Its contract.
    pub contract: &'a Contract,
    /// Finds places in its files.
    pub locator: Locator<'a>,
    /// The place of the platform's values: a repository and a branch. None for a plain directory.
    pub platform: Option<String>,
}

impl<'a> EnvironmentContract<'a> {
    /// The contract of a loaded environment.
    pub fn new(loaded: &'a Loaded, contract: &'a Contract) -> Self {
        let fleet = &loaded.fleet;
        let object = fleet.cluster_types.values().next().and_then(|object| fleet.address(&object.key()));
        let source = object.map(|address| fleet.files.get(address.file).source.place_name());
        Self {
            environment: fleet.environment.as_str(),
            contract,
            locator: Locator::new(fleet),
            platform: source.filter(|name| !name.is_empty()),
        }
    }
}

/// The contracts.
#[derive(Serialize, ToSchema)]
pub struct ContractFields {
    environments: Vec<EnvironmentFields>,
}

/// The contracts of an environment.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct EnvironmentFields {
    /// An environment.
    environment: String,
    workloads: Vec<WorkloadFields>,
    /// Values that no schema asks for and no template can read, as in `values[].givenBy[]`; at most 100 are listed.
    #[schema(value_type = Vec<Object>)]
    unused: Vec<GivenFields>,
    /// How many these are.
    unused_count: usize,
}

/// The contract of a workload.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct WorkloadFields {
    /// A workload; empty for deployment targets without one.
    workload: String,
    /// The workspace (the team) that it belongs to.
    workspace: String,
    /// The `WorkloadRegistration` that brought it; may be `null`.
    registration: Option<String>,
    /// How many deployment targets it has in the environment.
    targets: usize,
    /// Whether a policy assigns one of them; if not, all numbers are as if all of them were on all places.
    is_assigned: bool,
    /// How many assignments it has.
    assignments: u64,
    places: PlaceFields,
    counts: ValueCounts,
    values: Vec<ValueFields>,
    /// Values that it gets although no schema of it lists them, as in `values[].givenBy[]`, one for each key.
    #[schema(value_type = Vec<Object>)]
    not_asked_for: Vec<GivenFields>,
    unassigned: Vec<UnassignedFields>,
    /// The places of schemas that can't be used.
    #[schema(value_type = Vec<Object>)]
    unusable_schemas: Vec<SchemaPlace>,
    /// How many assignments have values that were not checked, because there are too many different ones.
    not_checked: u64,
}

/// The number of values of a workload in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct ValueCounts {
    /// How many values its schemas ask for.
    pub asked: usize,
    /// The number of values that all assignments get.
    pub given: usize,
    /// The number of required values that are missing in some assignments.
    pub missing: usize,
    /// The number of values that violate a schema in some assignments.
    pub wrong: usize,
}

/// A number of places.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PlaceFields {
    /// On how many cluster types.
    cluster_types: u64,
    /// And on how many clusters.
    clusters: u64,
}

/// A value that schemas ask for.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ValueFields {
    /// The key of a value; empty for rules about several values.
    key: String,
    /// Whether a schema requires it.
    is_required: bool,
    /// Whether it is shown as a digest only.
    is_sensitive: bool,
    asks: Vec<AskFields>,
    /// The assignments that ask for it.
    asked: ReachFields,
    /// Those of them that get it; the places where all of them do.
    given: ReachFields,
    /// `null` if it is not missing.
    missing: Option<MissingFields>,
    wrong: Vec<WrongFields>,
    given_by: Vec<GivenFields>,
    /// How many further `ConfigMap`s give it.
    given_by_more: usize,
    advice: Vec<AdviceFields>,
}

/// What a schema asks for.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct AskFields {
    /// Where a schema asks for it.
    place: Option<SourcePosition>,
    /// Whether this schema requires it.
    is_required: bool,
    /// The condition, as text.
    demands: String,
    /// The default, as JSON in a text; may be `null`.
    default: Option<String>,
    /// The description; may be `null`.
    description: Option<String>,
    places: PlaceFields,
}

/// Assignments with their places.
#[derive(Serialize, ToSchema)]
struct ReachFields {
    /// How many assignments.
    assignments: u64,
    places: PlaceFields,
}

/// A missing value.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct MissingFields {
    /// How many assignments require it and do not get it.
    assignments: u64,
    /// Whether that stops them; if not, it is a warning.
    is_enforced: bool,
    places: PlaceFields,
    /// The first three, as `CLUSTER_TYPE/TARGET`.
    examples: Vec<String>,
}

/// A value that violates a schema.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct WrongFields {
    /// What is wrong with a value; at most 20 are listed.
    message: String,
    /// Whether that stops assignments.
    is_enforced: bool,
    /// Where the value is written; `null` for several values.
    place: Option<SourcePosition>,
    required_by: SchemaPlace,
    /// How many assignments get the value.
    assignments: u64,
    /// The first three.
    examples: Vec<String>,
}

/// The place of a schema.
#[derive(Serialize, ToSchema)]
struct SchemaPlace {
    /// The rule of the schema.
    place: Option<SourcePosition>,
}

/// A `ConfigMap` that gives a value.
#[derive(Serialize, ToSchema)]
struct GivenFields {
    /// A `ConfigMap` that gives it, most places first; at most 20 are listed, and none without WORKLOAD or `--cluster-type`.
    key: String,
    /// The `ConfigMap`, or its key, in words.
    container: String,
    /// The labels that an assignment needs for it.
    conditions: Vec<String>,
    /// Where it is written.
    place: Option<SourcePosition>,
    /// The value, in the form that may be shown.
    value: String,
    /// Where it has an effect.
    places: PlaceFields,
    /// How many further `ConfigMap`s are not listed.
    more: usize,
}

/// Advice about a missing value.
#[derive(Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct AdviceFields {
    /// A key that differs only in its spelling.
    #[serde(skip_serializing_if = "Option::is_none")]
    similar_key: Option<String>,
    /// A `ConfigMap` that has it, and does not match.
    container: String,
    /// Where it is written.
    place: Option<SourcePosition>,
    /// An assignment where the value is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    assignment: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unmet: Option<Vec<UnmetFields>>,
}

/// A label that an assignment does not have.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct UnmetFields {
    /// A label that this assignment would need.
    label: String,
    /// Its value.
    value: String,
    /// The value that the assignment has; may be `null`.
    actual: Option<String>,
    /// Whether only the spelling differs.
    is_near: bool,
    /// Where the label is written.
    place: Option<SourcePosition>,
}

/// A deployment target without assignments.
#[derive(Serialize, ToSchema)]
struct UnassignedFields {
    /// A deployment target that no policy assigns.
    target: String,
    missing: Vec<MissingKey>,
    /// All places of the environment.
    places: PlaceFields,
}

/// A value that a deployment target would miss.
#[derive(Serialize, ToSchema)]
struct MissingKey {
    /// A value that it would miss.
    key: String,
    places: PlaceFields,
}

impl ContractFields {
    /// The contracts of environments.
    pub fn new(shown: &mut [EnvironmentContract<'_>]) -> Self {
        Self { environments: shown.iter_mut().map(EnvironmentFields::new).collect() }
    }
}

impl EnvironmentFields {
    fn new(shown: &mut EnvironmentContract<'_>) -> Self {
        let (contract, locator) = (shown.contract, &mut shown.locator);
        let workloads = contract.workloads.iter().map(|workload| WorkloadFields::new(workload, locator)).collect();
        Self {
            environment: shown.environment.to_owned(),
            workloads,
            unused: GivenFields::all(&contract.unused, locator),
            unused_count: contract.unused_count,
        }
    }
}

impl WorkloadFields {
    fn new(workload: &WorkloadContract, locator: &mut Locator<'_>) -> Self {
        let unusable = workload.unusable_schemas.iter();
        Self {
            workload: workload.workload.to_string(),
            workspace: workload.workspace.to_string(),
            registration: workload.registration.as_ref().map(ToString::to_string),
            targets: workload.targets,
            is_assigned: !workload.is_hypothetical,
            assignments: workload.assignments,
            places: workload.places.into(),
            counts: ValueCounts::new(workload),
            values: workload.values.iter().map(|asked| ValueFields::new(asked, locator)).collect(),
            not_asked_for: GivenFields::all(&workload.unasked, locator),
            unassigned: workload.unassigned.iter().map(UnassignedFields::new).collect(),
            unusable_schemas: unusable.map(|at| SchemaPlace { place: SourcePosition::find(at, locator) }).collect(),
            not_checked: workload.unchecked,
        }
    }
}

impl ValueCounts {
    /// The counts of a workload.
    pub fn new(workload: &WorkloadContract) -> Self {
        let values = || workload.values.iter().filter(|value| !value.key.is_empty());
        Self {
            asked: values().count(),
            given: values().filter(|value| value.given == value.asked).count(),
            missing: values().filter(|value| value.missing.is_some()).count(),
            wrong: workload.values.iter().filter(|value| !value.wrong.is_empty()).count(),
        }
    }

    /// The sum of both.
    #[must_use]
    pub fn and(self, more: Self) -> Self {
        Self {
            asked: self.asked + more.asked,
            given: self.given + more.given,
            missing: self.missing + more.missing,
            wrong: self.wrong + more.wrong,
        }
    }
}

impl From<PlaceCount> for PlaceFields {
    fn from(PlaceCount { cluster_types, clusters }: PlaceCount) -> Self {
        Self { cluster_types, clusters }
    }
}

impl ValueFields {
    fn new(value: &AskedValue, locator: &mut Locator<'_>) -> Self {
        Self {
            key: value.key.to_string(),
            is_required: value.is_required,
            is_sensitive: value.is_sensitive,
            asks: value.asks.iter().map(|asked| AskFields::new(asked, locator)).collect(),
            asked: ReachFields { assignments: value.asked, places: value.asked_places.into() },
            given: ReachFields { assignments: value.given, places: value.given_places.into() },
            missing: value.missing.as_ref().map(MissingFields::new),
            wrong: value.wrong.iter().map(|found| WrongFields::new(found, locator)).collect(),
            given_by: GivenFields::all(&value.givers, locator),
            given_by_more: value.more_givers,
            advice: value.advice.iter().map(|found| AdviceFields::new(found, locator)).collect(),
        }
    }
}

impl AskFields {
    fn new(ask: &Ask, locator: &mut Locator<'_>) -> Self {
        Self {
            place: SourcePosition::find(&ask.origin, locator),
            is_required: ask.is_required,
            demands: ask.requirements.clone(),
            default: ask.default.clone(),
            description: ask.description.clone(),
            places: ask.places.into(),
        }
    }
}

impl MissingFields {
    fn new(missing: &MissingValue) -> Self {
        Self {
            assignments: missing.assignments,
            is_enforced: missing.is_enforced,
            places: missing.places.into(),
            examples: examples(&missing.examples),
        }
    }
}

impl WrongFields {
    fn new(wrong: &WrongValue, locator: &mut Locator<'_>) -> Self {
        Self {
            message: wrong.message.clone(),
            is_enforced: wrong.is_enforced,
            place: wrong.origin.as_ref().and_then(|origin| SourcePosition::find(origin, locator)),
            required_by: SchemaPlace { place: SourcePosition::find(&wrong.schema, locator) },
            assignments: wrong.assignments,
            examples: examples(&wrong.examples),
        }
    }
}

impl GivenFields {
    fn all(given: &[GivenValue], locator: &mut Locator<'_>) -> Vec<Self> {
        let of = |given: &GivenValue| Self {
            key: given.key.to_string(),
            container: given.container.clone(),
            conditions: given.conditions.clone(),
            place: SourcePosition::find(&given.origin, locator),
            value: given.shown.clone(),
            places: given.places.into(),
            more: given.more,
        };
        given.iter().map(of).collect()
    }
}

impl AdviceFields {
    fn new(advice: &Advice, locator: &mut Locator<'_>) -> Self {
        match advice {
            Advice::Spelling { key, container, origin } => Self {
                similar_key: Some(key.to_string()),
                container: container.clone(),
                place: SourcePosition::find(origin, locator),
                ..Self::default()
            },
            Advice::Elsewhere { container, origin, assignment, unmet } => Self {
                container: container.clone(),
                place: SourcePosition::find(origin, locator),
                assignment: Some(assignment.clone()),
                unmet: Some(unmet.iter().map(|label| UnmetFields::new(label, locator)).collect()),
                ..Self::default()
            },
        }
    }
}

impl UnmetFields {
    fn new(label: &UnmetLabel, locator: &mut Locator<'_>) -> Self {
        Self {
            label: label.key.to_string(),
            value: label.value.to_string(),
            actual: label.actual.as_deref().map(str::to_owned),
            is_near: label.is_near,
            place: SourcePosition::find(&label.origin, locator),
        }
    }
}

impl UnassignedFields {
    fn new(target: &UnassignedTarget) -> Self {
        let missing = target.missing.iter();
        let missing = missing.map(|(key, places)| MissingKey { key: key.to_string(), places: (*places).into() });
        Self { target: target.name.to_string(), missing: missing.collect(), places: target.places.into() }
    }
}

fn examples(examples: &[AssignmentId]) -> Vec<String> {
    examples.iter().map(ToString::to_string).collect()
}
