//! What is told of a branch that is looked at.

use hub_api::watches::WatchState;

use super::WatchedBranch;

/// The state of a branch before it is read.
pub(super) fn new(branch: &WatchedBranch) -> WatchState {
    WatchState {
        repository: hub_api::endpoint::repository(branch.url.as_str()),
        branch: branch.branch.clone(),
        commit: None,
        looked_on: None,
        failing_since: None,
        error: None,
        descriptors: 0,
        problems: Vec::new(),
        problem_count: 0,
    }
}
