//! Why an assignment does not exist, or why an object does not apply to it.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::position::SourcePosition;

/// What should exist, or apply. A place, a target or both are needed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct WhyNotQuery {
    /// The cluster type or cluster. Without it: any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The deployment target. Without it: any. A token for some workspaces needs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// An object that should apply to the assignment: `configmap/NAME` or `schema/NAME`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// A key of the `ConfigMap`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// The answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WhyNotFields {
    /// One answer for each environment, and for each meaning of a name.
    pub answers: Vec<WhyNotEnvironment>,
}

/// The answer for one environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WhyNotEnvironment {
    /// The environment; one answer for each environment, and for each meaning of a name.
    pub environment: String,
    /// The cluster type or cluster of the question; `null` if it is about all.
    pub cluster_type_or_cluster: Option<String>,
    /// Its cluster type; `null` if it does not exist.
    pub cluster_type: Option<String>,
    /// The deployment target of the question; `null` if it is about all.
    pub target: Option<String>,
    /// The number of assignments that exist.
    pub assignments: u64,
    /// The policies that make them.
    pub assigned_by: Vec<String>,
    /// The errors that stop the assignment, if it exists.
    pub problems: Vec<WhyNotProblem>,
    /// Why the cluster type, cluster or target does not exist, or is not rendered.
    pub obstacles: Vec<WhyNotObstacle>,
    /// The environments that have the cluster type or cluster, if this one does not.
    pub other_environments: Vec<String>,
    /// The number of policies with as few unmet requirements as the first of `nearPolicies`.
    pub nearest_count: usize,
    /// The number of policies.
    pub policy_count: usize,
    /// The number of policies that select the target.
    pub policies_that_select_target: usize,
    /// The number of policies that select the cluster type or cluster.
    pub policies_that_select_cluster_type: usize,
    /// The policies that almost make the assignment, the nearest first.
    pub near_policies: Vec<WhyNotPolicy>,
    /// The `ConfigMap` or schema of the question; `null` if there is none in the question.
    pub applied: Option<Vec<WhyNotApplied>>,
    /// The effect of the key of the question; `null` if there is no key in the question.
    pub value: Option<WhyNotStanding>,
}

/// An error that stops an assignment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WhyNotProblem {
    /// The code of an error that stops the assignment, if it exists.
    pub code: String,
    /// `error`.
    pub severity: String,
    /// The error.
    pub message: String,
}

/// Why something does not exist, or is not rendered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WhyNotObstacle {
    /// Why the cluster type, cluster or target does not exist, or is not rendered: `unknownClusterTypeOrCluster`, `unknownClusterType`, `unknownTarget`, `otherEnvironment`, `unread`, `unreachable` or `problem`.
    pub reason: String,
    /// The unknown name, the other environment, the unreadable object, the unreachable registration, or the problem.
    pub name: String,
    /// The most similar name that exists; may be `null`.
    pub nearest: Option<String>,
    /// Where the reason is; may be `null`.
    pub place: Option<SourcePosition>,
}

/// A policy that almost matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WhyNotPolicy {
    /// One of the nearest policies, at most 5; none if the assignment exists.
    pub policy: String,
    /// Where it is defined.
    pub place: Option<SourcePosition>,
    /// The number of requirements that are not met.
    pub missing: usize,
    /// What it requires of the target.
    pub target: WhyNotSide,
    /// What it requires of the cluster type.
    pub cluster_type: WhyNotSide,
    /// Changes with which the policy would make the assignment, the smallest first.
    pub changes: Vec<WhyNotChange>,
    /// The `code`, `severity` and `message`, if the policy exists more than once; else `null`.
    pub problem: Option<WhyNotProblem>,
}

/// What a policy requires of one side of an assignment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WhyNotSide {
    /// The number of deployment targets, or of cluster types and clusters, that it selects.
    pub selected: u64,
    /// The requirements.
    pub requirements: Vec<WhyNotRequirement>,
}

/// A requirement of a policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WhyNotRequirement {
    /// A requirement.
    pub requirement: String,
    /// Whether it is met.
    pub met: bool,
    /// Where it is written.
    pub place: Option<SourcePosition>,
    /// The label that the target, cluster type or cluster has; may be `null`.
    pub label: Option<WhyNotLabel>,
    /// The nearest label, if nothing in the environment meets the requirement; may be `null`.
    pub advice: Option<String>,
}

/// A label of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WhyNotLabel {
    /// The key.
    pub key: String,
    /// The value.
    pub value: String,
    /// The kind of the object that sets it.
    pub kind: String,
    /// The name of this object.
    pub object: String,
    /// Where it is set.
    pub place: Option<SourcePosition>,
    /// The registration whose repository contains this object; may be `null`.
    pub registration: Option<String>,
}

/// A `ConfigMap` or a schema, or one key of an `azure-app-config` map.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WhyNotApplied {
    /// The kind of the object.
    pub kind: String,
    /// Its name.
    pub object: String,
    /// The object in words, or one key of an `azure-app-config` map.
    pub name: String,
    /// The registration whose repository contains it; may be `null`.
    pub registration: Option<String>,
    /// Where its conditions are.
    pub place: Option<SourcePosition>,
    /// Whether it applies to the assignment.
    pub applies: bool,
    /// Why it applies to nothing; else `null`.
    pub excluded: Option<String>,
    /// The labels that an assignment must have.
    pub conditions: Vec<WhyNotCondition>,
    /// The number of assignments that it applies to.
    pub assignments: u64,
    /// Changes after which it would apply, the smallest first.
    pub changes: Vec<WhyNotChange>,
}

/// A label that an assignment must have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WhyNotCondition {
    /// A label that the assignment must have.
    pub key: String,
    /// Its value.
    pub value: String,
    /// Where it is written.
    pub place: Option<SourcePosition>,
    /// Whether it is met.
    pub met: bool,
    /// `clusterType` or `target`; `null` if it is not met.
    pub met_by: Option<String>,
    /// The labels that they have.
    pub labels: Vec<WhyNotLabel>,
    /// The name with which the condition is compared, if it is not a label.
    pub actual_name: Option<String>,
    /// The nearest label, if nothing in the environment has this one; may be `null`.
    pub advice: Option<String>,
}

/// The effect of a key of a `ConfigMap`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WhyNotStanding {
    /// The key.
    pub key: String,
    /// `sets`, `setsPart`, `overridden` or `withoutKey`.
    pub standing: String,
    /// Where the `ConfigMap` has the key; may be `null`.
    pub place: Option<SourcePosition>,
    /// The `ConfigMap` that overrides it; may be `null`.
    pub overridden_by: Option<WhyNotOverride>,
}

/// The `ConfigMap` that overrides a key of another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WhyNotOverride {
    /// Its name.
    pub config_map: String,
    /// Where it has the key.
    pub place: Option<SourcePosition>,
    /// Its priority; `null` for a key of an `azure-app-config` map.
    pub priority: Option<i64>,
    /// The priority of the overridden one.
    pub own_priority: Option<i64>,
    /// Whether it replaces the value as a whole.
    pub replaces: bool,
}

/// A change after which something would apply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WhyNotChange {
    /// The objects to edit.
    pub edits: Vec<WhyNotEdit>,
    /// The number of assignments of the question that the change adds.
    pub answers: u64,
    /// The number of other assignments that it adds.
    pub adds: u64,
    /// The number of assignments that it removes.
    pub removes: u64,
    /// The number of other assignments that get other `ConfigMap`s or schemas.
    pub reconfigures: u64,
}

/// An edit of one object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WhyNotEdit {
    /// The kind of an object to edit.
    pub kind: String,
    /// The name of this object.
    pub object: String,
    /// The field.
    pub field: String,
    /// Where the field is, or where it would be added.
    pub place: Option<SourcePosition>,
    /// `setLabel`, `removeLabel`, `setRequirement`, `removeRequirement` or `setWorkspace`.
    pub action: String,
    /// The label's key; `null` for a workspace.
    pub key: Option<String>,
    /// The value or requirement now; may be `null`.
    pub before: Option<String>,
    /// The new value or requirement; `null` if it is removed.
    pub after: Option<String>,
    /// The registration of the team to ask, if the object is in its repository.
    pub registration: Option<String>,
}
