//! Names of assignments.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The name of an assignment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
pub struct AssignmentName {
    /// The cluster type or cluster.
    pub place: String,
    /// The deployment target.
    pub target: String,
}

impl std::fmt::Display for AssignmentName {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}/{}", self.place, self.target)
    }
}
