//! The reason why a step can't be made.

use git::RepositoryError;
use model::name::EnvironmentName;

use super::commit_move::CommitMoveError;
use crate::states::promoted_commit::PromotedCommitError;
use crate::states::rollout_store::StoreError;
use crate::write_lease::LeaseEnded;

/// The reason why a step can't be made. The next step may succeed.
#[derive(Debug, thiserror::Error)]
pub enum ControllerError {
    /// The main branch of the control plane can't be read.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// The branch of an environment can't be read.
    #[error(transparent)]
    Environment(#[from] PromotedCommitError),
    /// The states can't be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A commit can't be written into the environment.
    #[error(transparent)]
    Move(#[from] CommitMoveError),
    /// Another replica may lead the environment now.
    #[error(transparent)]
    LeaseEnded(#[from] LeaseEnded),
    /// Other programs moved the branches during every attempt.
    #[error("the branches of {0} moved during every attempt")]
    LostRaces(EnvironmentName),
    /// There is no such environment.
    #[error("there is no environment `{0}`")]
    UnknownEnvironment(EnvironmentName),
}
