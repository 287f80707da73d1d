//! Reconcilers that are counted together, because they have the same values.

use std::sync::Arc;

use hub_api::timestamp::Timestamp;
use model::rollout::{Counts, Liveness, ReconcilerState};

use super::super::scope::Scope;
use crate::store::{CommitId, PlaceGroupId, Transaction};

/// The selected reconcilers, with the transaction and the scope in which they were read.
pub(super) struct Found {
    pub(super) transaction: Transaction,
    pub(super) scope: Scope,
    pub(super) units: Vec<Unit>,
    /// When the counts were recorded; none if they are exact.
    pub(super) recorded_on: Option<Timestamp>,
}

/// The value of a dimension; none for those without a value.
pub(super) type Value = Option<Arc<str>>;

/// Reconcilers with the same values. What no dimension needs is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) group_id: PlaceGroupId,
    pub(super) environment: Value,
    pub(super) cluster_type: Value,
    pub(super) state: ReconcilerState,
    pub(super) liveness: Liveness,
    /// The commit since which the content that they have was desired, if the hub knows that content.
    pub(super) held: Option<CommitId>,
    /// Its id in git.
    pub(super) commit: Option<String>,
    pub(super) content: Content,
    /// The values of the dimensions that are of hosts: of the rows, and of the columns.
    pub(super) hosts: [Value; 2],
    pub(super) reconcilers: i64,
}

impl Unit {
    /// Their number, as counts.
    pub(super) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        counts.add(self.state, self.liveness, self.reconcilers);
        counts
    }
}

/// The versions in the content of a platform folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) config_version: Value,
    /// The release that it was rendered with.
    pub(super) release: Value,
}
