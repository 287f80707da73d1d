//! Leases of environments: which replica of the service leads an environment, and what the other replicas know about it and pass on.
//!
//! Only the replica that leads an environment syncs it. A lease ends if its holder does not renew it in time; then another replica takes it over.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::promotions::PromotionStatus;
use crate::syncs::EnvironmentSyncDetail;

/// The storage of the leases, which all replicas share.
pub trait Leases: std::fmt::Debug + Send + Sync {
    /// How long a lease lasts since it was granted or renewed.
    fn duration(&self) -> Duration;

    /// Gives up, takes and renews leases, and passes on requests: everything or nothing.
    ///
    /// # Errors
    /// If the storage can't be reached in time, or refuses. The round may be stored nevertheless.
    fn exchange(&self, round: LeaseRound) -> Result<LeaseAnswer, LeaseError>;
}

/// What a replica stores and asks at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeaseRound {
    /// The control plane. Its environments have leases of their own.
    pub control_plane: String,
    /// The environments that the replica leads or would lead.
    pub wanted: Vec<WantedLease>,
    /// The environments that the replica does not lead any longer.
    pub given_up: Vec<String>,
    /// Requests for environments that other replicas lead.
    pub requests: Vec<LeaderRequest>,
    /// The ids of received requests that need not be received again.
    pub handled: Vec<i64>,
}

/// An environment that a replica leads or would lead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedLease {
    /// The environment.
    pub environment: String,
    /// The state for the other replicas. It is stored if the replica leads the environment. None: it has not changed.
    pub state: Option<LeaderState>,
    /// The number of the stored state that the replica has read. 0: none.
    pub known: i64,
}

/// The state of an environment, as its leader stores it for the other replicas.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LeaderState {
    /// The syncs, with plans and problems.
    #[serde(flatten)]
    pub sync: EnvironmentSyncDetail,
    /// Where the changes into the environment stand. None: it is in no promotion, or no step was made yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promotion: Option<PromotionStatus>,
}

/// The leases after a round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeaseAnswer {
    /// The leases of the wanted environments.
    pub leases: Vec<Lease>,
    /// The requests for environments that the replica leads, oldest first.
    pub requests: Vec<ReceivedRequest>,
}

/// The lease of an environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The environment.
    pub environment: String,
    /// Whether this replica leads it.
    pub is_own: bool,
    /// The name of the replica that leads it.
    pub holder: String,
    /// Grows by one each time that another replica takes over.
    pub term: i64,
    /// The time until the lease ends, unless it is renewed.
    pub rest: Duration,
    /// The number of the stored state. 0: none.
    pub number: i64,
    /// The stored state, if another replica leads and its state has another number than the one that is known.
    pub state: Option<LeaderState>,
}

/// A request for the replica that leads an environment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeaderRequest {
    /// The environment.
    pub environment: String,
    /// What is requested.
    pub action: LeaderAction,
}

/// What the leader of an environment is requested to do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeaderAction {
    /// A sync now.
    Sync,
    /// A sync when changes have settled: a webhook announced one.
    SyncAfterWebhook,
    /// Exactly the removals with this word are confirmed.
    Confirm {
        /// The word.
        word: String,
        /// Who confirms.
        by: String,
    },
}

/// A request that another replica passed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedRequest {
    /// Identifies the request. It is received again until it is handled.
    pub id: i64,
    /// The request.
    pub request: LeaderRequest,
}

/// The reason why a round failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LeaseError(pub String);
