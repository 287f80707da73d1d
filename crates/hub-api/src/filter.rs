//! What a question is about: names and labels.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Only what has all of these. Names are whole names, whatever characters are in them.
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
    /// The cluster type: hosts that apply what the platform made for it, with everything on them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_type: Option<String>,
    /// The host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// How far it got: `succeeded`, `failed`, `inProgress`, `silent`, `outdated` or `neverReported`; several with commas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Labels of hosts, as `kubectl --selector` has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    /// Labels of deployment targets, as `kubectl --selector` has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_selector: Option<String>,
}
