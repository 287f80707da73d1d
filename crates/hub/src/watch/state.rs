//! What is told of a branch that is looked at.

use hub_api::timestamp::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::WatchedBranch;

/// A branch that is looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WatchState {
    /// The repository's URL.
    pub repository: String,
    /// The branch.
    pub branch: String,
    /// The commit up to which it was read.
    pub commit: Option<String>,
    /// When it was looked at for the last time.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub looked_on: Option<Timestamp>,
    /// Since when it can't be read.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub failing_since: Option<Timestamp>,
    /// Why it can't be read.
    pub error: Option<String>,
    /// Deployment descriptors in it.
    pub descriptors: usize,
    /// What is wrong in it: the first of it, if it is much.
    pub problems: Vec<Problem>,
    /// How many problems there are.
    pub problem_count: usize,
}

/// Something that is wrong in a branch. It hurts only what it is about, which stays as it was.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WatchProblem)]
pub struct Problem {
    /// The file.
    pub file: Option<String>,
    /// The line in it, from 1.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

impl WatchState {
    pub(super) fn new(branch: &WatchedBranch) -> Self {
        Self {
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
}
