//! The desired state: the desired content of each place since a commit, and the versions of workloads in it.

mod branch;
mod check;
#[cfg(feature = "fuzz")]
mod fuzz;
mod groups;
pub(crate) mod order;
mod plans;
mod publish;
mod range;
mod vocabulary;

use hub_api::publication::{BranchContent, DesiredPlace, PathRange, Publication, PublishedOutput, ReadProgress};
use hub_api::timestamp::Timestamp;
use serde::{Deserialize, Serialize};

pub use self::branch::{desired_paths, published_up_to, read_up_to};
#[cfg(feature = "fuzz")]
pub use self::fuzz::fuzz;
pub(crate) use self::publish::update;

/// An update of the desired state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DesiredUpdate {
    /// The content of a branch at a commit, from the publisher of that commit. It is applied if the commit is not older than the last known one.
    Published(BranchContent),
    /// Like `Published`, with all platform folders in a range of the branch: a folder of this range that is not listed no longer exists.
    Complete(BranchContent, PathRange),
    /// Like `Published`, but read from the branch itself. It is applied independently of the dates of commits, because a branch can be reset.
    Observed(BranchContent, ReadProgress),
    /// The content that places will hold when a proposed change is merged. It is stored until that content is observed.
    Planned(PlannedContent),
    /// All places of an output at a commit were published, by the updates before this one.
    Completed(CompletedOutput),
    /// The environments, in the order in which changes reach them. The order is independent of branches.
    Ordered(Vec<String>),
}

impl DesiredUpdate {
    /// The updates of a publication, in their order.
    pub fn of_publication(publication: Publication) -> Vec<Self> {
        let Publication { repository, branch, commit, committed_on, places, range, environments, completes } =
            publication;
        let completed = commit.clone().zip(completes).map(|(commit, output)| {
            Self::Completed(CompletedOutput { repository: repository.clone(), branch: branch.clone(), commit, output })
        });
        let update = match commit {
            None => Self::Planned(PlannedContent { repository, branch, places }),
            Some(commit) => {
                let committed_on = committed_on.unwrap_or_else(Timestamp::now);
                let content = BranchContent { repository, branch, commit, committed_on, places, is_complete: false };
                match range {
                    None => Self::Published(content),
                    Some(range) => Self::Complete(content, range),
                }
            }
        };
        let order = (!environments.is_empty()).then_some(Self::Ordered(environments));
        order.into_iter().chain([update]).chain(completed).collect()
    }
}

/// The output of an environment of which all places were published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletedOutput {
    /// The URL of the repository.
    pub repository: String,
    /// The branch that reconcilers pull.
    pub branch: String,
    /// The commit with the output.
    pub commit: String,
    /// The output.
    pub output: PublishedOutput,
}

/// The content that places of a branch will hold when a proposed change is merged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlannedContent {
    /// The URL of the repository.
    pub repository: String,
    /// The branch that reconcilers pull.
    pub branch: String,
    /// The content of the places.
    pub places: Vec<DesiredPlace>,
}
