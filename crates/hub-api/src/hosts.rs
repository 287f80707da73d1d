//! Hosts and their reconcilers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::timestamp::Timestamp;

/// A page of hosts, by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Hosts {
    /// The hosts.
    pub items: Vec<Host>,
    /// The `after` of the next page. None: this is the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A host in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Host {
    /// Its name.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// The time of its registration or first report.
    pub created_on: Timestamp,
    /// The time at which it was taken out of service. None: it is in service.
    pub retired_on: Option<Timestamp>,
    /// Its reconcilers, by name.
    pub reconcilers: Vec<Reconciler>,
}

/// A reconciler in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reconciler {
    /// Its name.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// The folder that it applies, as `repository/branch/path`.
    pub place: Option<String>,
    /// The time of its last report.
    pub reported_on: Option<Timestamp>,
    /// The time at which it was taken out of service. None: it is in service.
    pub retired_on: Option<Timestamp>,
}

/// The requested page of hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct HostPage {
    /// Only hosts after this name, in the order of names: the `next` of the previous page.
    pub after: Option<String>,
    /// Whether retired hosts are included.
    #[serde(default)]
    pub retired: bool,
    /// The maximum number of hosts. Default 100, at most 1000.
    pub limit: Option<usize>,
}

/// A host to register.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HostRegistration {
    /// The type of the host, for example `K8s-cluster`. None: the type of a known host stays.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Its labels, which replace the current ones. Empty: the current labels stay.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// A reconciler that is expected to report.
    pub reconciler: Option<ReconcilerOfHost>,
}

/// A reconciler to register.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReconcilerOfHost {
    /// Its name, unique on its host.
    pub name: String,
    /// The type of the reconciler, for example `flux`. Default `generic`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The folder that it is expected to apply.
    pub place: Option<PlaceOfReconciler>,
}

/// A folder of a branch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PlaceOfReconciler {
    /// The repository's URL.
    pub repository: String,
    /// The branch.
    pub branch: String,
    /// The path of the folder. Default: the root.
    #[serde(default)]
    pub path: String,
}
