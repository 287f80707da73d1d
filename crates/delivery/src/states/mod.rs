//! What Kalypso stores on branches: the states of rollouts, and named releases.

pub mod named_releases;
pub mod promoted_commit;
pub mod rollout_position;
pub mod rollout_store;
pub mod state_branch;
pub(crate) mod state_file;
