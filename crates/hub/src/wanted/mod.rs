//! What is wanted: which content which places should hold, from which commit on, and which versions of which workloads that is.

mod branch;
mod check;
mod fuzz;
mod groups;
mod order;
mod plans;
mod publish;
mod retally;
mod stretch;
mod vocabulary;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use self::branch::{read_up_to, wanted_paths};
pub use self::check::WishError;
pub use self::fuzz::fuzz;
pub(crate) use self::order::Order;
pub(crate) use self::publish::want;
pub(crate) use self::retally::restate;
pub use self::stretch::Stretch;
use crate::moment::Moment;

/// What a branch of a GitOps repository holds at a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Publication {
    /// The repository's URL.
    pub repository: String,
    /// The branch that reconcilers pull.
    pub branch: String,
    /// Its commit.
    pub commit: String,
    /// When that commit was made.
    pub committed_on: Moment,
    /// What the places hold.
    pub places: Vec<WantedPlace>,
    /// Whether these are all places of the branch: others are wanted no more.
    #[serde(default)]
    pub is_complete: bool,
}

/// What somebody knows of what is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// What a branch holds at a commit, by somebody who made it. It counts if the commit is not older than what is known.
    Published(Publication),
    /// The same, of all that the platform has in a stretch of the branch: what is not told is wanted there no more.
    Whole(Publication, Stretch),
    /// The same, by somebody who looked at the branch. That counts, whatever the dates of commits say: branches are reset, too.
    Seen(Publication, Seen),
    /// What places will hold, as soon as somebody merges it: kept until that content is seen.
    Planned(Plan),
    /// The environments, in the order in which changes reach them. It has nothing to do with a branch.
    Ordered(Vec<String>),
}

/// How far a branch was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The commit up to which it had been read before; none if it never had. If somebody else has read on meanwhile, nothing is changed.
    pub before: Option<String>,
    /// Whether nothing more is to be said of the commit. Large ones are told in several parts.
    pub is_last: bool,
}

/// What places of a branch will hold, perhaps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Plan {
    /// The repository's URL.
    pub repository: String,
    /// The branch that reconcilers pull.
    pub branch: String,
    /// What the places will hold.
    pub places: Vec<WantedPlace>,
}

/// What somebody who knows it tells a hub of what is wanted, or a part of that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Told {
    /// The repository's URL.
    pub repository: String,
    /// The branch that reconcilers pull.
    pub branch: String,
    /// The commit of the branch that holds it; none if no commit does yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// When that commit was made; left out: now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committed_on: Option<Moment>,
    /// What the places hold, or will hold.
    pub places: Vec<WantedPlace>,
    /// Where the places are all that the platform has in a stretch of the branch: which one. Only what a commit holds is known so well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stretch: Option<Stretch>,
    /// The environments, in the order in which changes reach them; empty if nothing is said of that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environments: Vec<String>,
}

impl Told {
    /// What is wished with it, one after the other.
    pub fn wishes(self) -> Vec<Wish> {
        let Self { repository, branch, commit, committed_on, places, stretch, environments } = self;
        let wish = match commit {
            None => Wish::Planned(Plan { repository, branch, places }),
            Some(commit) => {
                let committed_on = committed_on.unwrap_or_else(Moment::now);
                let publication = Publication { repository, branch, commit, committed_on, places, is_complete: false };
                match stretch {
                    None => Wish::Published(publication),
                    Some(stretch) => Wish::Whole(publication, stretch),
                }
            }
        };
        let order = (!environments.is_empty()).then_some(Wish::Ordered(environments));
        order.into_iter().chain([wish]).collect()
    }
}

/// What a place should hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WantedPlace {
    /// The folder in the branch.
    pub path: String,
    /// The git tree of the folder; none if it was removed.
    pub tree: Option<String>,
    /// What is in the folder.
    pub role: Role,
    /// The environment that it belongs to.
    #[serde(default)]
    pub environment: Option<String>,
    /// The cluster type whose folder it is, or lies in.
    #[serde(default)]
    pub cluster_type: Option<String>,
    /// The cluster whose own folder it is, or lies in. Such places are counted together with those of other clusters of the type.
    #[serde(default)]
    pub cluster: Option<String>,
    /// The version of the configuration in it.
    #[serde(default)]
    pub config_version: Option<String>,
    /// The deployment targets that it is for.
    #[serde(default)]
    pub targets: Vec<WantedTarget>,
}

/// What a place holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A workload's own manifests.
    Application,
    /// Namespace, configuration and reconciler of assignments.
    Platform,
}

impl Role {
    /// As it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Application => "application",
            Self::Platform => "platform",
        }
    }
}

/// A deployment target, and the version that it should have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WantedTarget {
    /// The workspace of the application.
    pub workspace: String,
    /// The application that the workload belongs to.
    pub application: String,
    /// The workload.
    pub workload: String,
    /// The target's own name.
    pub name: String,
    /// The target's environment.
    pub environment: String,
    /// The target's labels.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Where the workload's source is, as `repository/branch/path`.
    #[serde(default)]
    pub source_endpoint: Option<String>,
    /// The version of the workload, if this place says which one is wanted.
    #[serde(default)]
    pub version: Option<WantedVersion>,
}

/// A version of a workload.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WantedVersion {
    /// The version.
    pub version: String,
    /// The build that made it.
    #[serde(default)]
    pub build: Option<String>,
    /// The commit of the source that it was made of.
    #[serde(default)]
    pub commit: Option<String>,
}

/// What a publication changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
// The history has a `Published`, too.
#[schema(as = PublicationReceipt)]
pub struct Published {
    /// Places that should hold something else from now on.
    pub changed: usize,
    /// Places at which nothing is wanted any more.
    pub removed: usize,
    /// Places that should hold what they should have held before.
    pub unchanged: usize,
}
