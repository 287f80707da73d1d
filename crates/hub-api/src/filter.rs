//! Filters of queries: names and labels.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Selects the rows that match all fields. Names are compared as a whole, and have no wildcards.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams, ToSchema)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct Filter {
    /// The environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// The workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The application.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application: Option<String>,
    /// The workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    /// The deployment target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The cluster type. It selects all content of the hosts that apply Kalypso's output for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_type: Option<String>,
    /// The host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The rollout state: `succeeded`, `failed`, `inProgress`, `silent`, `outdated` or `neverReported`. Several are separated by commas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// A label selector for hosts, in the format of `kubectl --selector`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    /// A label selector for deployment targets, in the format of `kubectl --selector`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_selector: Option<String>,
}
