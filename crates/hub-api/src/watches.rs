//! The watched branches, with their problems.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::timestamp::Timestamp;

/// The watched branches, in this or another process.
pub trait WatchedBranches: std::fmt::Debug + Send + Sync {
    /// The state of each branch, sorted by repository and name.
    fn states(&self) -> Vec<WatchState>;

    /// Polls all branches now. It does not wait for the result.
    fn refresh(&self);
}

/// A watched branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WatchState {
    /// The repository's URL.
    pub repository: String,
    /// The branch.
    pub branch: String,
    /// The last commit that was read.
    pub commit: Option<String>,
    /// The time of the last poll.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub polled_on: Option<Timestamp>,
    /// The time since which the branch can't be read.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub failing_since: Option<Timestamp>,
    /// The reason why the branch can't be read.
    pub error: Option<String>,
    /// The number of its deployment descriptors.
    pub descriptors: usize,
    /// The problems in the branch. If there are many, only the first ones.
    pub problems: Vec<WatchProblem>,
    /// The number of all problems.
    pub problem_count: usize,
}

/// A problem in a branch. It affects only its own object, whose last good state stays desired.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WatchProblem {
    /// The file.
    pub file: Option<String>,
    /// The line in the file, from 1.
    pub line: Option<usize>,
    /// The problem.
    pub message: String,
    /// The advice.
    pub hint: Option<String>,
}
