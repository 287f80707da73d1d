//! The state of places: what is desired in each folder of an environment, and how many reconcilers have applied it.

use model::rollout::Counts;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::deployments::TargetNames;
use crate::timestamp::Timestamp;

/// A page of places.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlaceStates {
    /// The places. Places of one cluster type follow each other.
    pub items: Vec<PlaceState>,
    /// The cursor of the next page. None: this is the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// The state of a folder of the platform's GitOps branch: that of a cluster type or a cluster, or that of one assignment in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlaceState {
    /// The name of the cluster, or else of the cluster type. Empty: none is known.
    pub place: String,
    /// The cluster type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_type: Option<String>,
    /// The environment.
    pub environment: String,
    /// The repository.
    pub repository: String,
    /// The branch.
    pub branch: String,
    /// The folder in the branch.
    pub path: String,
    /// The deployment target, for the folder of an assignment.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetNames>,
    /// The git tree that is desired now.
    pub tree: String,
    /// The commit that made it desired.
    pub commit: String,
    /// The time since which it is desired.
    pub desired_since: Timestamp,
    /// The states of the reconcilers of the folder, for the content that is desired now. For the folder of an assignment, also those of the reconcilers of the
    /// folder around it: they have this content if the commit that they hold has it, also if that commit is an earlier or later one. A failure of such a
    /// reconciler counts for each assignment in the folder: its report names none. The message of the reconciler says what failed.
    pub counts: Counts,
    /// For the folder of an assignment: the states of the reconcilers of the workload's manifests on the same hosts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applications: Option<Counts>,
}

/// The requested page of places.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct PlacePage {
    /// The `next` of the previous page. None: the first page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The maximum number of rows. Default 1,000, at most 10,000. A page may have fewer rows, or none, and still have a `next`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(minimum = 1, maximum = 10000, default = 1000)]
    pub limit: Option<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_an_earlier_hub_are_read() {
        let earlier = r#"{"expected":3,"succeeded":2,"failed":0,"inProgress":0,"silent":1,"outdated":0,"neverReported":0,"succeededButSilent":1}"#;
        let counts: Counts = serde_json::from_str(earlier).unwrap();
        assert_eq!((counts.succeeded_but_silent, counts.succeeded_without_heartbeat), (1, 0));
    }
}
