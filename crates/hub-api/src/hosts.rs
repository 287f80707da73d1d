//! Hosts and their reconcilers: registration and lists.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::timestamp::Timestamp;

/// A page of hosts, by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Hosts {
    /// The hosts.
    pub items: Vec<Host>,
    /// What to say as `after` for the next page; none if this is the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A host as it is listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Host {
    /// Its name.
    pub name: String,
    /// What kind of host it is.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Since when the hub knows it.
    pub created_on: Timestamp,
    /// Since when it is out of service.
    pub retired_on: Option<Timestamp>,
    /// Its reconcilers, by name.
    pub reconcilers: Vec<Reconciler>,
}

/// A reconciler as it is listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reconciler {
    /// Its name.
    pub name: String,
    /// What kind of reconciler it is.
    #[serde(rename = "type")]
    pub kind: String,
    /// The folder that it applies, as `repository/branch/path`.
    pub place: Option<String>,
    /// When it reported last.
    pub reported_on: Option<Timestamp>,
    /// Since when it is out of service.
    pub retired_on: Option<Timestamp>,
}

/// Which hosts are listed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct HostPage {
    /// Behind the host of this name, in the order of names: what the page before had as `next`.
    pub after: Option<String>,
    /// Those that are retired, too.
    #[serde(default)]
    pub retired: bool,
    /// How many at most: 100 if it is not said, 1000 at most.
    pub limit: Option<usize>,
}

/// A host as it is to be known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HostRegistration {
    /// What kind of host it is, such as `K8s-cluster`; as it is, if it is known already.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Its labels, which replace those that it has; without any, they stay as they are.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// A reconciler that will report.
    pub reconciler: Option<ReconcilerOfHost>,
}

/// A reconciler as it is to be known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReconcilerOfHost {
    /// Its name, unique on its host.
    pub name: String,
    /// What kind of reconciler it is, such as `flux`; `generic` if nothing is said.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The folder that it applies: it is expected there from now on.
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
    /// The folder; the root if nothing is said.
    #[serde(default)]
    pub path: String,
}
