//! The parts of Azure DevOps' answers that are read.

use model::git_id::GitId;
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

fn id(commit_json: Option<&CommitJson>) -> Option<GitId> {
    commit(commit_json.and_then(|found| found.commit_id.as_deref()))
}

impl PullRequestJson {
    pub(super) fn is_active(&self) -> bool {
        self.status == "active"
    }

    /// The commit of the source branch.
    pub(super) fn head_commit(&self) -> Option<GitId> {
        id(self.last_merge_source_commit.as_ref())
    }

    /// The pull request, with the address of the page of its repository.
    pub(super) fn into_pull_request(self, page: &str) -> PullRequest {
        let state = match self.status.as_str() {
            "completed" => PullRequestState::Merged { commit: id(self.last_merge_commit.as_ref()) },
            "abandoned" => PullRequestState::Closed,
            _ => PullRequestState::Open,
        };
        let head_commit = self.head_commit();
        let is_auto_merge = self.auto_complete_set_by.is_some_and(|identity| identity.id != NO_IDENTITY);
        PullRequest {
            head_commit,
            number: self.pull_request_id,
            url: format!("{page}/pullrequest/{}", self.pull_request_id),
            head: branch(&self.source_ref_name),
            base: branch(&self.target_ref_name),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// An example of the documentation of Azure DevOps, shortened.
    const ACTIVE: &str = r#"{"repository": {"id": "3411ebc1-d5aa-464f-9615-0b527bc66719", "name": "2016_10_31"}, "pullRequestId": 22,
        "codeReviewId": 22, "status": "active",
        "createdBy": {"id": "d6245f20-2af8-44f4-9451-8107cb2767db", "displayName": "Normal Paulk", "uniqueName": "x@hotmail.com"},
        "creationDate": "2016-11-01T16:30:31.6655471Z", "title": "A new feature", "description": "Adding a new feature",
        "sourceRefName": "refs/heads/npaulk/my_work", "targetRefName": "refs/heads/new_feature", "mergeStatus": "queued",
        "mergeId": "f5fc8381-3fb2-49fe-8a0d-27dcc2d6ef82",
        "lastMergeSourceCommit": {"commitId": "b60280bc6e62e2f880f1b63c1e24987664d3bda3", "url": "https://x"},
        "lastMergeTargetCommit": {"commitId": "f47bbc106853afe3c1b07a81754bce5f4b8dbf62", "url": "https://x"}, "reviewers": []}"#;

    #[test]
    fn the_documented_example_is_read() {
        let found = serde_json::from_str::<PullRequestJson>(ACTIVE)
            .unwrap()
            .into_pull_request("https://dev.azure.com/a/b/_git/c");
        assert_eq!((found.head.as_str(), found.base.as_str()), ("npaulk/my_work", "new_feature"));
        assert_eq!(found.url, "https://dev.azure.com/a/b/_git/c/pullrequest/22");
        assert_eq!(found.author, "d6245f20-2af8-44f4-9451-8107cb2767db");
        assert!(found.is_open() && !found.is_auto_merge && !found.is_from_fork && found.head_commit.is_some());
    }

    #[test]
    fn only_comments_of_people_and_programs_are_read() {
        let json = r#"{"id": 148, "isDeleted": false, "comments": [
            {"id": 1, "author": {"id": "a"}, "content": "Should we add a comment?", "commentType": "text"},
            {"id": 2, "author": {"id": "b"}, "content": "voted 10", "commentType": "system"},
            {"id": 3, "author": {"id": "a"}, "commentType": "text", "isDeleted": true}]}"#;
        let comments = serde_json::from_str::<ThreadJson>(json).unwrap().into_comments("a");
        assert!(comments.len() == 1 && comments[0].is_own && comments[0].id.0 == "148/1", "{comments:?}");
    }
}
