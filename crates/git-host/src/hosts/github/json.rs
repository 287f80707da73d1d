//! The parts of GitHub's answers that are read.

use serde::Deserialize;

use crate::hosts::commit;
use crate::hosts::json::{UserJson, login};
use crate::pull_request::{Comment, CommentId, PullRequest, PullRequestState};

#[derive(Debug, Deserialize)]
pub(super) struct PullRequestJson {
    pub(super) number: u64,
    /// The id in the GraphQL API.
    pub(super) node_id: String,
    html_url: String,
    head: BranchJson,
    base: BranchJson,
    title: String,
    body: Option<String>,
    #[serde(default)]
    labels: Vec<LabelJson>,
    state: String,
    merged_at: Option<String>,
    merge_commit_sha: Option<String>,
    user: Option<UserJson>,
    auto_merge: Option<serde::de::IgnoredAny>,
    /// `clean`, `dirty`, `blocked` and others. Only in the answer about a single one.
    pub(super) mergeable_state: Option<String>,
}

#[derive(Debug, Deserialize)]
struct BranchJson {
    #[serde(rename = "ref")]
    name: String,
    sha: String,
    /// None if the repository was deleted.
    repo: Option<RepositoryNameJson>,
}

#[derive(Debug, Deserialize)]
struct RepositoryNameJson {
    full_name: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct LabelJson {
    name: String,
}

/// An event of a pull request, such as an added label.
#[derive(Debug, Deserialize)]
pub(super) struct IssueEventJson {
    event: String,
    actor: Option<UserJson>,
    label: Option<NameJson>,
}

#[derive(Debug, Deserialize)]
struct NameJson {
    name: String,
}

impl IssueEventJson {
    /// Who added a label. None if the event is another one.
    pub(super) fn author_of(self, label: &str) -> Option<String> {
        let is_it = self.event == "labeled" && self.label.is_some_and(|found| found.name == label);
        self.actor.filter(|_| is_it).map(|actor| actor.login)
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct RepositoryJson {
    pub(super) default_branch: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct MergeJson {
    pub(super) sha: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct CommentJson {
    id: u64,
    user: Option<UserJson>,
    body: Option<String>,
}

impl PullRequestJson {
    /// Whether the host knows if it can be merged. It computes this in the background.
    pub(super) fn is_settled(&self) -> bool {
        self.state != "open" || self.mergeable_state.as_deref() != Some("unknown")
    }

    pub(super) fn into_pull_request(self) -> PullRequest {
        let name =
            |branch: &BranchJson| branch.repo.as_ref().map(|repository| repository.full_name.to_ascii_lowercase());
        let head_repository = name(&self.head);
        let is_from_fork = head_repository.is_none() || head_repository != name(&self.base);
        let state = match (self.merged_at.is_some(), self.state.as_str()) {
            (true, _) => PullRequestState::Merged { commit: commit(self.merge_commit_sha.as_deref()) },
            (false, "open") => PullRequestState::Open,
            (false, _) => PullRequestState::Closed,
        };
        PullRequest {
            number: self.number,
            url: self.html_url,
            head_commit: commit(Some(&self.head.sha)),
            head: self.head.name,
            base: self.base.name,
            title: self.title,
            body: self.body.unwrap_or_default(),
            labels: self.labels.into_iter().map(|label| label.name).collect(),
            state,
            is_from_fork,
            author: login(self.user),
            is_auto_merge: self.auto_merge.is_some(),
        }
    }
}

impl CommentJson {
    pub(super) fn into_comment(self, account: &str) -> Comment {
        let author = login(self.user);
        let is_own = !account.is_empty() && author == account;
        Comment { id: CommentId(self.id.to_string()), author, is_own, body: self.body.unwrap_or_default() }
    }
}
