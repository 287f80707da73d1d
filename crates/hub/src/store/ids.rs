//! Ids of rows: a type for each table, so that the id of one thing is not taken for the id of another.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::row::FromColumn;
use super::value::SqlValue;

macro_rules! ids {
    ($($(#[$doc:meta])+ $name:ident;)+) => {$(
        $(#[$doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(i64);

        impl $name {
            /// The id with this number.
            pub const fn new(number: i64) -> Self {
                Self(number)
            }

            /// Its number in the table.
            pub const fn number(self) -> i64 {
                self.0
            }

            /// The id with this number; none if it is 0, which is the id of no row.
            pub fn unless_zero(number: i64) -> Option<Self> {
                (number != 0).then_some(Self(number))
            }

            /// The number of an id; 0 if there is none.
            pub fn or_zero(id: Option<Self>) -> i64 {
                id.map_or(0, Self::number)
            }
        }

        impl From<$name> for SqlValue {
            fn from(id: $name) -> Self {
                id.0.into()
            }
        }

        impl From<Option<$name>> for SqlValue {
            fn from(id: Option<$name>) -> Self {
                id.map($name::number).into()
            }
        }

        impl From<Vec<$name>> for SqlValue {
            fn from(ids: Vec<$name>) -> Self {
                ids.into_iter().map($name::number).collect::<Vec<_>>().into()
            }
        }

        impl From<BTreeSet<$name>> for SqlValue {
            fn from(ids: BTreeSet<$name>) -> Self {
                ids.into_iter().map($name::number).collect::<Vec<_>>().into()
            }
        }

        impl FromColumn for $name {
            const EXPECTED: &'static str = i64::EXPECTED;

            fn from_value(value: SqlValue) -> Option<Self> {
                i64::from_value(value).map(Self)
            }
        }
    )+};
}

ids! {
    /// A branch of a GitOps repository: `gitops_branch`.
    BranchId;
    /// A commit of a branch, which is a row of its own in each branch: `gitops_commit`.
    CommitId;
    /// A report in the history: `deployment`.
    DeploymentId;
    /// The counts at a certain time: `count_record`.
    CountRecordId;
    /// An environment: `environment`.
    EnvironmentId;
    /// A host: `host`.
    HostId;
    /// A notification of a rule: `notification`.
    NotificationId;
    /// A folder of a branch: `place`.
    PlaceId;
    /// Places whose reconcilers are counted together: `place_group`.
    PlaceGroupId;
    /// A reconciler: `reconciler`.
    ReconcilerId;
    /// The desired content of a place from a commit on: `place_revision`.
    RevisionId;
    /// A count of reconcilers in one state: `tally`.
    TallyId;
    /// A deployment target: `deployment_target`.
    TargetId;
    /// A workload: `workload`.
    WorkloadId;
    /// A version of a workload: `workload_version`.
    WorkloadVersionId;
}
