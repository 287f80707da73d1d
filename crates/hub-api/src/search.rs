//! The search for objects by words of their names.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::timestamp::Timestamp;

/// The words of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SearchQuery {
    /// One word or several, separated by blanks: at most 8 words and 253 characters. All must match. Letters of ASCII match in any case, and `.`, `_` and `/` match `-`.
    pub q: String,
    /// The maximum number of hits of each kind. Default 8, at most 50.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(minimum = 1, maximum = 50, default = 8)]
    pub limit: Option<usize>,
}

/// The result of a search: the kinds of which something was found, in a fixed order.
///
/// Names that begin with the word come first, then names with a segment (after `-`, `.`, `_` or `/`) that begins with it, and then names that contain it. Of hosts, the
/// beginnings of the name and of its second, third, fourth and last segment are searched. Of commits, the beginning of the id is, from four digits on. Of versions, the newest 20000 are searched.
/// A word may also match the workspace, the application or the workload of a hit, if another word matches its name: `checkout 2.4` finds versions of `checkout`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchAnswer {
    /// The hits by kind. Kinds without hits are left out.
    pub groups: Vec<SearchGroup>,
}

/// The hits of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchGroup {
    /// The kind.
    pub kind: SearchKind,
    /// The first hits.
    pub hits: Vec<SearchHit>,
    /// Whether there are more hits, or more names that were not examined.
    pub more: bool,
}

/// The kind of a found object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum SearchKind {
    /// An environment.
    Environment,
    /// A workspace.
    Workspace,
    /// A workload.
    Workload,
    /// A deployment target, in any environment.
    Target,
    /// A cluster type.
    ClusterType,
    /// A host that is in service.
    Host,
    /// A version of a workload.
    Version,
    /// A commit of a GitOps repository.
    Commit,
}

impl SearchKind {
    /// All kinds, in the order of answers.
    pub const ALL: [Self; 8] = [
        Self::Environment,
        Self::Workspace,
        Self::Workload,
        Self::Target,
        Self::ClusterType,
        Self::Host,
        Self::Version,
        Self::Commit,
    ];
}

/// A found object, with what it belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchHit {
    /// Its name: of a version the version, of a commit the full id.
    pub name: String,
    /// The workspace of a workload, target or version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The application of a workload, target or version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application: Option<String>,
    /// The workload of a target or version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    /// The repository of a commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// The branch of a commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The time of a commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub committed_on: Option<Timestamp>,
}
