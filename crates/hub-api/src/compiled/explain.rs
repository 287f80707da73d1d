//! The reasons for an assignment, and the origins of its values.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::position::SourcePosition;
use super::published_content::PublishedContent;

/// The explanation of an assignment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedAssignment {
    /// The cluster type.
    pub cluster_type: String,
    /// The cluster; `null` if the assignment is the cluster type's.
    pub cluster: Option<String>,
    /// The deployment target.
    pub target: String,
    /// Its workload.
    pub workload: String,
    /// The workspace (the team) that it belongs to.
    pub workspace: String,
    /// The `WorkloadRegistration` that brought the workload; may be `null`.
    pub registration: Option<String>,
    /// Where the target is written.
    pub place: Option<SourcePosition>,
    /// The policies that make the assignment.
    pub policies: Vec<ExplainedPolicy>,
    /// The labels that `LabelMapping`s added.
    pub mapped_labels: Vec<ExplainedLabel>,
    /// The release pins that hold it.
    pub release_pins: Vec<ExplainedPin>,
    /// The names of the templates: reconciler, namespace, configuration.
    pub templates: Vec<String>,
    /// The version of the configuration: the same for the same values.
    pub config_version: String,
    /// Every value, as in `explain KEY`; `endsUpIn` is empty here, because files are searched for one value at a time.
    pub values: Vec<ExplainedValue>,
    /// One for each branch on which it is held, because it fails and a release pin reaches it.
    pub held: Vec<ExplainedHold>,
    /// What is published at the place, if it differs from the desired content: the place waits in a ring or in a pull request, is not published yet, or the assignment has errors. `null` if the place has the desired content, or if the branch has no publication.
    pub rollout: Option<PublishedContent>,
}

/// A policy that makes an assignment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedPolicy {
    /// A policy that makes the assignment.
    pub policy: String,
    /// Where it is written.
    pub place: Option<SourcePosition>,
    /// Its requirements of the target, in words.
    pub target: Vec<String>,
    /// Its requirements of the cluster type, in words.
    pub cluster_type: Vec<String>,
}

/// A label that a `LabelMapping` added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedLabel {
    /// A label that a `LabelMapping` added to the target.
    pub label: String,
    /// Its value.
    pub value: String,
    /// That `LabelMapping`.
    pub label_mapping: String,
    /// Where the label is written.
    pub place: Option<SourcePosition>,
}

/// A release pin that holds an assignment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedPin {
    /// A `ReleasePin` that holds it.
    pub release_pin: String,
    /// Where it is written.
    pub place: Option<SourcePosition>,
    /// The keys of the manifests that it overrides, with their values.
    pub manifests: BTreeMap<String, String>,
    /// The reason that it gives.
    pub reason: String,
    /// The day after which it is warned of; `null` if there is none.
    pub expires: Option<String>,
}

/// A branch on which an assignment is held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedHold {
    /// The branch: `REPOSITORY@BRANCH`.
    pub branch: String,
    /// The publication from whose commits it is rendered there.
    pub from: String,
    /// The release pins that are applied.
    pub release_pins: Vec<String>,
}

/// The explanation of a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedValue {
    /// The path of the value.
    pub key: String,
    /// The value, in the form that may be shown; `null` if there is none.
    pub value: Option<String>,
    /// What set it; `null` if nothing did, or if several `ConfigMap`s gave parts of it.
    pub set_by: Option<ExplainedSource>,
    /// The parts of the value that several `ConfigMap`s gave, in the order of merging; none if `setBy` gave all of it.
    pub composed_of: Vec<ExplainedPart>,
    /// What it overrides, the latest first.
    pub overrides: Vec<ExplainedSource>,
    /// The `ConfigMap`s that have the value too, and do not match.
    pub not_used: Vec<ExplainedUnused>,
    /// The schemas with a condition for the value.
    pub checks: Vec<ExplainedCheck>,
    /// The lines of files that hold the value.
    pub ends_up_in: Vec<ExplainedLine>,
}

/// A `ConfigMap` that sets a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedSource {
    /// The `ConfigMap`.
    pub config_map: String,
    /// Where it is written.
    pub place: Option<SourcePosition>,
    /// What is written there.
    pub value: String,
    /// Why that `ConfigMap` matches, in words.
    pub matches: Vec<String>,
}

/// A part of a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ExplainedPart {
    /// What gave it.
    #[serde(flatten)]
    pub source: ExplainedSource,
    /// A part of the value that one of several `ConfigMap`s gave.
    pub key: String,
}

/// A `ConfigMap` that has a value and does not match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedUnused {
    /// A `ConfigMap` that has the value too, and does not match.
    pub config_map: String,
    /// Where it is written.
    pub place: Option<SourcePosition>,
    /// Why it does not match, in words.
    pub because: Vec<String>,
}

/// A schema with a condition for a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ExplainedCheck {
    /// A schema that has a condition for this value, with its location.
    pub place: Option<SourcePosition>,
    /// The condition, as text.
    pub demands: String,
}

/// A line of a file that holds a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ExplainedLine {
    /// A file of the assignment that holds the value.
    pub file: String,
    /// The line.
    pub line: usize,
}
