//! Pull requests: their state, queries and changes.

use std::collections::BTreeSet;

use model::git_id::GitId;

/// A pull request of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRequest {
    /// The number within its repository.
    pub number: u64,
    /// Its page for people.
    pub url: String,
    /// The source branch, without `refs/heads/`.
    pub head: String,
    /// The target branch, without `refs/heads/`.
    pub base: String,
    /// The commit of the source branch. None if the branch does not exist any more and the host has forgotten it.
    pub head_commit: Option<GitId>,
    /// The title.
    pub title: String,
    /// The body, in Markdown.
    pub body: String,
    /// The names of its labels.
    pub labels: BTreeSet<String>,
    /// The state.
    pub state: PullRequestState,
    /// Whether the source branch is in another repository.
    pub is_from_fork: bool,
    /// The name of the author's account.
    pub author: String,
    /// Whether the host merges it as soon as its requirements are met. False on Gitea, whose API does not show it.
    pub is_auto_merge: bool,
}

/// The state of a pull request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PullRequestState {
    /// It can be merged or closed.
    Open,
    /// It was merged.
    Merged {
        /// The resulting commit of the target branch. None if the host does not name it.
        commit: Option<GitId>,
    },
    /// It was closed without a merge.
    Closed,
}

/// Selects pull requests of a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PullRequestQuery {
    /// The source branch. With it, the answer contains no pull requests from forks: a branch of this name in a fork is another branch.
    pub head: Option<String>,
    /// The target branch.
    pub base: Option<String>,
    /// The states.
    pub states: PullRequestStates,
}

/// The states that a query selects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PullRequestStates {
    /// Only open ones.
    #[default]
    Open,
    /// All.
    All,
}

/// A pull request that is to be opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewPullRequest {
    /// The source branch. It must exist in the same repository.
    pub head: String,
    /// The target branch.
    pub base: String,
    /// The title.
    pub title: String,
    /// The body, in Markdown.
    pub body: String,
    /// The names of labels. Missing labels are created.
    pub labels: BTreeSet<String>,
    /// The accounts and teams whose review is requested.
    pub reviewers: Vec<Reviewer>,
}

/// An account or a team whose review is requested.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reviewer {
    /// The name of an account. On Azure DevOps, the id of an identity.
    User(String),
    /// The short name of a team. GitLab has none. On Azure DevOps, the id of an identity.
    Team(String),
}

/// The result of opening a pull request.
#[derive(Debug)]
pub struct Opened {
    /// The pull request.
    pub pull_request: PullRequest,
    /// Whether it is new. If an open one with the same branches existed, it is returned as it is.
    pub is_new: bool,
    /// Labels and reviewers of the new pull request that could not be set. It is open without them.
    pub incomplete: Vec<crate::HostError>,
}

/// Changes of an open pull request. Parts without a value stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PullRequestChanges {
    /// The new title.
    pub title: Option<String>,
    /// The new body.
    pub body: Option<String>,
    /// Labels that it gets. Missing labels are created.
    pub add_labels: BTreeSet<String>,
    /// Labels that it loses. Labels that it does not have are no error.
    pub remove_labels: BTreeSet<String>,
}

/// How a pull request is merged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MergeMethod {
    /// With a merge commit.
    #[default]
    Merge,
    /// With one commit that contains all changes.
    Squash,
    /// With the same changes as new commits on the target branch.
    Rebase,
}

/// A merge that is requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeRequest {
    /// The commit of the source branch that may be merged. If the branch moved, nothing is merged.
    pub head_commit: GitId,
    /// The method.
    pub method: MergeMethod,
}

/// The result of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merge {
    /// It is merged, now or already before.
    Merged {
        /// The resulting commit of the target branch. None if the host does not name it.
        commit: Option<GitId>,
    },
    /// It is not merged.
    Refused {
        /// The reason.
        reason: MergeRefusal,
        /// The host's message.
        message: String,
    },
}

/// The reason why a pull request is not merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeRefusal {
    /// Source and target branch have conflicting changes.
    Conflict,
    /// A rule of the target branch is not met: a review or a check is missing, or the account may not merge.
    Blocked,
    /// The source branch has another commit.
    HeadMoved,
    /// The pull request is closed.
    Closed,
}

/// The result of requesting an automatic merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AutoMerge {
    /// The host merges the pull request as soon as its requirements are met.
    Enabled,
    /// The requirements are met, and it is merged.
    Merged {
        /// The resulting commit of the target branch. None if the host does not name it.
        commit: Option<GitId>,
    },
    /// The host can't merge it by itself, for this reason.
    NotAvailable(String),
}

/// A comment on a pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// The id.
    pub id: CommentId,
    /// The name of the author's account.
    pub author: String,
    /// Whether the credential's account wrote it.
    pub is_own: bool,
    /// The text, in Markdown.
    pub body: String,
}

/// The id of a comment, as the host writes it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommentId(pub(crate) String);

impl Reviewer {
    /// The names of users, and those of teams.
    pub(crate) fn users_and_teams(reviewers: &[Self]) -> (Vec<&str>, Vec<&str>) {
        let (mut users, mut teams) = (Vec::new(), Vec::new());
        for reviewer in reviewers {
            match reviewer {
                Self::User(name) => users.push(name.as_str()),
                Self::Team(name) => teams.push(name.as_str()),
            }
        }
        (users, teams)
    }
}

impl MergeRequest {
    /// A merge of a commit with a merge commit.
    pub fn new(head_commit: GitId) -> Self {
        Self { head_commit, method: MergeMethod::Merge }
    }
}

impl PullRequest {
    /// Whether it is open.
    pub fn is_open(&self) -> bool {
        self.state == PullRequestState::Open
    }
}

impl PullRequestQuery {
    /// Selects the open pull requests between two branches of the repository. There is at most one.
    pub fn between(head: &str, base: &str) -> Self {
        Self { head: Some(head.to_owned()), base: Some(base.to_owned()), states: PullRequestStates::Open }
    }

    /// Whether a pull request is selected.
    pub(crate) fn selects(&self, pull_request: &PullRequest) -> bool {
        let is_head = |head: &String| *head == pull_request.head && !pull_request.is_from_fork;
        self.head.as_ref().is_none_or(is_head)
            && self.base.as_ref().is_none_or(|base| *base == pull_request.base)
            && (self.states == PullRequestStates::All || pull_request.is_open())
    }
}
