//! The assignments of an environment.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Selects assignments that match all fields, and a page of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct AssignmentQuery {
    /// The workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    /// The workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The deployment target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The cluster type, with its clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_type: Option<String>,
    /// Exactly this cluster type or cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The scheduling policy that selects them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// A label selector for cluster types and clusters, in the format of `kubectl --selector`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place_selector: Option<String>,
    /// A label selector for deployment targets, in the format of `kubectl --selector`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_selector: Option<String>,
    /// Only those that have errors, and so no files.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failing: bool,
    /// The order. Default: `place`.
    #[serde(default)]
    #[param(inline)]
    pub sort: AssignmentOrder,
    /// The `next` of the previous page. None: the first page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The maximum number of rows. Default 100, at most 1000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(minimum = 1, maximum = 1000, default = 100)]
    pub limit: Option<usize>,
}

/// The order of assignments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum AssignmentOrder {
    /// By cluster type or cluster, then by target.
    #[default]
    Place,
    /// By target, then by cluster type or cluster.
    Target,
}

/// A page of assignments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CompiledAssignments {
    /// The assignments of the page.
    pub items: Vec<CompiledAssignment>,
    /// The number of assignments that match, on all pages.
    pub total: usize,
    /// The number of assignments of the environment.
    pub all: usize,
    /// The number of those of the environment that have errors.
    pub failing: usize,
    /// The cursor of the next page. None: this is the last one.
    pub next: Option<String>,
}

/// An assignment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CompiledAssignment {
    /// The cluster type or cluster.
    pub place: String,
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
    /// The path of its folder in the repository of the first `GitOpsRepo`, by name; `null` if the environment has none.
    pub folder: Option<String>,
    /// The version of the configuration: the same for the same values.
    pub config_version: Option<String>,
    /// The release of the workload there; `null` if no key names it.
    pub release: Option<String>,
    /// Whether it has errors, and so no files.
    pub is_failing: bool,
    /// The number of errors and warnings that affect it.
    pub findings: usize,
    /// The policies that select it.
    pub policies: Vec<String>,
    /// The release pins that hold it.
    pub release_pins: Vec<String>,
}
