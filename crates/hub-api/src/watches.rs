//! The watched branches, and their problems.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::timestamp::Timestamp;

/// Branches that are read as they change, wherever they are read.
pub trait WatchedBranches: std::fmt::Debug + Send + Sync {
    /// The state of each branch, in the order of their repositories and names.
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
    /// The commit up to which it was read.
    pub commit: Option<String>,
    /// When it was last polled.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub polled_on: Option<Timestamp>,
    /// Since when it can't be read.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub failing_since: Option<Timestamp>,
    /// Why it can't be read.
    pub error: Option<String>,
    /// Deployment descriptors in it.
    pub descriptors: usize,
    /// What is wrong in it: the first of it, if it is much.
    pub problems: Vec<WatchProblem>,
    /// How many problems there are.
    pub problem_count: usize,
}

/// Something that is wrong in a branch. It hurts only what it is about, which stays as it was.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WatchProblem {
    /// The file.
    pub file: Option<String>,
    /// The line in it, from 1.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}
