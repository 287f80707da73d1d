//! The values that workloads ask for, and the values that the platform gives.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::position::SourcePosition;

/// Whose contract is asked for. With a workload or a place, the answer has the details of each value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct ContractQuery {
    /// The workload. Without it: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    /// The cluster type or cluster. Without it: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

/// The contracts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ContractFields {
    /// The environments.
    pub environments: Vec<ContractEnvironment>,
}

/// The contracts of an environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContractEnvironment {
    /// An environment.
    pub environment: String,
    /// The contracts of its workloads.
    pub workloads: Vec<ContractWorkload>,
    /// Values that no schema asks for and no template can read, as in `values[].givenBy[]`; at most 100 are listed.
    pub unused: Vec<ContractGiven>,
    /// How many these are.
    pub unused_count: usize,
}

/// The contract of a workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContractWorkload {
    /// A workload; empty for deployment targets without one.
    pub workload: String,
    /// The workspace (the team) that it belongs to.
    pub workspace: String,
    /// The `WorkloadRegistration` that brought it; may be `null`.
    pub registration: Option<String>,
    /// How many deployment targets it has in the environment.
    pub targets: usize,
    /// Whether a policy assigns one of them; if not, all numbers are as if all of them were on all places.
    pub is_assigned: bool,
    /// How many assignments it has.
    pub assignments: u64,
    /// The places of its assignments.
    pub places: ContractPlaces,
    /// The numbers of values.
    pub counts: ValueCounts,
    /// The values that its schemas ask for.
    pub values: Vec<ContractValue>,
    /// Values that it gets although no schema of it lists them, as in `values[].givenBy[]`, one for each key.
    pub not_asked_for: Vec<ContractGiven>,
    /// Its deployment targets that no policy assigns.
    pub unassigned: Vec<ContractUnassigned>,
    /// The places of schemas that can't be used.
    pub unusable_schemas: Vec<ContractSchema>,
    /// How many assignments have values that were not checked, because there are too many different ones.
    pub not_checked: u64,
}

/// The number of values of a workload in each state.
#[derive(Clone, Debug, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContractPlaces {
    /// On how many cluster types.
    pub cluster_types: u64,
    /// And on how many clusters.
    pub clusters: u64,
}

/// A value that schemas ask for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContractValue {
    /// The key of a value; empty for rules about several values.
    pub key: String,
    /// Whether a schema requires it.
    pub is_required: bool,
    /// Whether it is shown as a digest only.
    pub is_sensitive: bool,
    /// What the schemas ask for.
    pub asks: Vec<ContractAsk>,
    /// The assignments that ask for it.
    pub asked: ContractReach,
    /// Those of them that get it; the places where all of them do.
    pub given: ContractReach,
    /// `null` if it is not missing.
    pub missing: Option<ContractMissing>,
    /// The values that violate a schema.
    pub wrong: Vec<ContractWrong>,
    /// The `ConfigMap`s that give it, most places first.
    pub given_by: Vec<ContractGiven>,
    /// How many further `ConfigMap`s give it.
    pub given_by_more: usize,
    /// Advice about the missing value.
    pub advice: Vec<ContractAdvice>,
}

/// What a schema asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContractAsk {
    /// Where a schema asks for it.
    pub place: Option<SourcePosition>,
    /// Whether this schema requires it.
    pub is_required: bool,
    /// The condition, as text.
    pub demands: String,
    /// The default, as JSON in a text; may be `null`.
    pub default: Option<String>,
    /// The description; may be `null`.
    pub description: Option<String>,
    /// The places where it is asked for.
    pub places: ContractPlaces,
}

/// Assignments with their places.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ContractReach {
    /// How many assignments.
    pub assignments: u64,
    /// The places of these assignments.
    pub places: ContractPlaces,
}

/// A missing value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContractMissing {
    /// How many assignments require it and do not get it.
    pub assignments: u64,
    /// Whether that stops them; if not, it is a warning.
    pub is_enforced: bool,
    /// The places where it is missing.
    pub places: ContractPlaces,
    /// The first three, as `CLUSTER_TYPE/TARGET`.
    pub examples: Vec<String>,
}

/// A value that violates a schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContractWrong {
    /// What is wrong with a value; at most 20 are listed.
    pub message: String,
    /// Whether that stops assignments.
    pub is_enforced: bool,
    /// Where the value is written; `null` for several values.
    pub place: Option<SourcePosition>,
    /// The rule of the schema that requires another value.
    pub required_by: ContractSchema,
    /// How many assignments get the value.
    pub assignments: u64,
    /// The first three.
    pub examples: Vec<String>,
}

/// The place of a schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ContractSchema {
    /// The rule of the schema.
    pub place: Option<SourcePosition>,
}

/// A `ConfigMap` that gives a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ContractGiven {
    /// A `ConfigMap` that gives it, most places first; at most 20 are listed, and none without WORKLOAD or `--cluster-type`.
    pub key: String,
    /// The `ConfigMap`, or its key, in words.
    pub container: String,
    /// The labels that an assignment needs for it.
    pub conditions: Vec<String>,
    /// Where it is written.
    pub place: Option<SourcePosition>,
    /// The value, in the form that may be shown.
    pub value: String,
    /// Where it has an effect.
    pub places: ContractPlaces,
    /// How many further `ConfigMap`s are not listed.
    pub more: usize,
}

/// Advice about a missing value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContractAdvice {
    /// A key that differs only in its spelling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similar_key: Option<String>,
    /// A `ConfigMap` that has it, and does not match.
    pub container: String,
    /// Where it is written.
    pub place: Option<SourcePosition>,
    /// An assignment where the value is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assignment: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// The labels that this assignment would need; absent if only the spelling differs.
    pub unmet: Option<Vec<ContractUnmet>>,
}

/// A label that an assignment does not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContractUnmet {
    /// A label that this assignment would need.
    pub label: String,
    /// Its value.
    pub value: String,
    /// The value that the assignment has; may be `null`.
    pub actual: Option<String>,
    /// Whether only the spelling differs.
    pub is_near: bool,
    /// Where the label is written.
    pub place: Option<SourcePosition>,
}

/// A deployment target without assignments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ContractUnassigned {
    /// A deployment target that no policy assigns.
    pub target: String,
    /// The values that it would miss.
    pub missing: Vec<ContractKey>,
    /// All places of the environment.
    pub places: ContractPlaces,
}

/// A value that a deployment target would miss.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ContractKey {
    /// A value that it would miss.
    pub key: String,
    /// The places where it would be missing.
    pub places: ContractPlaces,
}

impl ValueCounts {
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
