//! The parts of Azure DevOps' answers that are read.

use serde::Deserialize;

use crate::hosts::commit;
use crate::pull_request::{Comment, CommentId, PullRequest, PullRequestState};

/// The prefix of branches. Names of branches are complete references in this API.
pub(super) const BRANCH_PREFIX: &str = "refs/heads/";

/// The id of no identity, which withdraws an automatic completion.
pub(super) const NO_IDENTITY: &str = "00000000-0000-0000-0000-000000000000";

/// A list.
#[derive(Debug, Deserialize)]
pub(super) struct ListJson<T> {
    pub(super) value: Vec<T>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PullRequestJson {
    pub(super) pull_request_id: u64,
    status: String,
    title: String,
    /// Lists shorten it.
    pub(super) description: Option<String>,
    source_ref_name: String,
    target_ref_name: String,
    last_merge_source_commit: Option<CommitJson>,
    last_merge_commit: Option<CommitJson>,
    /// `succeeded`, `conflicts`, `queued` and others.
    pub(super) merge_status: Option<String>,
    created_by: Option<IdentityJson>,
    #[serde(default)]
    labels: Vec<LabelJson>,
    fork_source: Option<serde::de::IgnoredAny>,
    auto_complete_set_by: Option<IdentityJson>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CommitJson {
    commit_id: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct IdentityJson {
    pub(super) id: String,
}

#[derive(Debug, Deserialize)]
struct LabelJson {
    name: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RepositoryJson {
    pub(super) default_branch: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ConnectionJson {
    pub(super) authenticated_user: IdentityJson,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThreadJson {
    id: u64,
    #[serde(default)]
    is_deleted: bool,
    #[serde(default)]
    comments: Vec<ThreadCommentJson>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ThreadCommentJson {
    id: u64,
    content: Option<String>,
    /// `text`, or `system` if Azure DevOps wrote it.
    comment_type: Option<String>,
    #[serde(default)]
    is_deleted: bool,
    author: Option<IdentityJson>,
}

/// The name of a branch without the prefix.
fn branch(reference: &str) -> String {
    reference.strip_prefix(BRANCH_PREFIX).unwrap_or(reference).to_owned()
}

fn id(commit_json: Option<&CommitJson>) -> Option<model::git_id::GitId> {
    commit(commit_json.and_then(|found| found.commit_id.as_deref()))
}

impl PullRequestJson {
    /// The pull request, with the address of the page of its repository.
    pub(super) fn into_pull_request(self, page: &str) -> PullRequest {
        let state = match self.status.as_str() {
            "completed" => PullRequestState::Merged { commit: id(self.last_merge_commit.as_ref()) },
            "abandoned" => PullRequestState::Closed,
            _ => PullRequestState::Open,
        };
        let is_auto_merge = self.auto_complete_set_by.is_some_and(|identity| identity.id != NO_IDENTITY);
        PullRequest {
            number: self.pull_request_id,
            url: format!("{page}/pullrequest/{}", self.pull_request_id),
            head: branch(&self.source_ref_name),
            base: branch(&self.target_ref_name),
            head_commit: id(self.last_merge_source_commit.as_ref()),
            title: self.title,
            body: self.description.unwrap_or_default(),
            labels: self.labels.into_iter().map(|label| label.name).collect(),
            is_auto_merge: is_auto_merge && state == PullRequestState::Open,
            state,
            is_from_fork: self.fork_source.is_some(),
            author: self.created_by.map_or_else(String::new, |identity| identity.id),
        }
    }
}

impl ThreadJson {
    /// The comments of people and programs, with ids such as `7/1`.
    pub(super) fn into_comments(self, account: &str) -> Vec<Comment> {
        if self.is_deleted {
            return Vec::new();
        }
        let thread = self.id;
        let written = self.comments.into_iter().filter(|comment| {
            !comment.is_deleted && comment.comment_type.as_deref() != Some("system") && comment.content.is_some()
        });
        let comment = |comment: ThreadCommentJson| {
            let author = comment.author.map_or_else(String::new, |identity| identity.id);
            Comment {
                id: CommentId(format!("{thread}/{}", comment.id)),
                is_own: !account.is_empty() && author == account,
                author,
                body: comment.content.unwrap_or_default(),
            }
        };
        written.map(comment).collect()
    }
}
