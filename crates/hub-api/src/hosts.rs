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
    /// Who registered it for its place.
    pub registered_by: RegisteredBy,
}

/// Who registered a reconciler for its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RegisteredBy {
    /// An operator, or a reporter for the whole platform.
    Operator,
    /// A token of its host.
    Token,
    /// Not registered: the hub knew it before it checked places, and accepts it there.
    Upgrade,
}

impl RegisteredBy {
    /// The word in lists.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Token => "token",
            Self::Upgrade => "upgrade",
        }
    }

    /// The stored number.
    pub fn number(self) -> i64 {
        match self {
            Self::Operator => 0,
            Self::Token => 1,
            Self::Upgrade => 2,
        }
    }

    /// The value with a stored number. An unknown number gives the fewest rights.
    pub fn from_number(number: i64) -> Self {
        match number {
            0 => Self::Operator,
            2 => Self::Upgrade,
            _ => Self::Token,
        }
    }
}

/// The latest reports that are kept apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ApartReports {
    /// The reports, newest first.
    pub items: Vec<ApartReport>,
}

/// Reports of a token of hosts about a place that its host is not registered for. Nothing counts them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApartReport {
    /// The name of the token.
    pub token: String,
    /// The host.
    pub host: String,
    /// The reconciler.
    pub reconciler: String,
    /// The place, as `repository/branch/path`.
    pub place: String,
    /// Why it is kept apart.
    pub reason: ApartReason,
    /// The status of the latest report.
    pub status: String,
    /// The revision of the latest report. Empty: it names none.
    pub revision: String,
    /// The message of the latest report.
    pub message: String,
    /// The number of reports.
    pub reports: usize,
    /// The time of the latest report, by the clock of the reporter.
    pub observed_on: Timestamp,
    /// The arrival of the first report.
    pub first_on: Timestamp,
    /// The arrival of the latest report.
    pub received_on: Timestamp,
}

/// Why a report is kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ApartReason {
    /// The host is not registered for the place.
    Place,
    /// Several clusters have the name of the host.
    Clusters,
    /// Another reconciler of the host is at the place.
    Occupied,
    /// The token names other places or environments.
    Token,
}

impl ApartReason {
    /// The stored text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Place => "place",
            Self::Clusters => "clusters",
            Self::Occupied => "occupied",
            Self::Token => "token",
        }
    }

    /// Parses a stored text.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Place, Self::Clusters, Self::Occupied, Self::Token].into_iter().find(|reason| reason.as_str() == text)
    }

    /// The reason, with the way on.
    pub fn message(self) -> &'static str {
        match self {
            Self::Place => {
                "kept apart and not counted: the host is not registered for this place. An operator registers it with `kalypso hub host add`, or names \
                 the place in the token with `--place`"
            }
            Self::Clusters => {
                "kept apart and not counted: several clusters have the name of the host. An operator names one in the token with `--environment`"
            }
            Self::Occupied => {
                "kept apart and not counted: the host has another reconciler at this place. An operator retires that one with `kalypso hub host retire`, \
                 or registers this one with `kalypso hub host add`"
            }
            Self::Token => "kept apart and not counted: the token is limited to other places or environments",
        }
    }
}

/// The number of listed reports that are kept apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ApartFilter {
    /// The maximum number of entries. Default 100, at most 1000.
    pub limit: Option<usize>,
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
