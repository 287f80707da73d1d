//! The parts of GitLab's answers that are read.

use serde::Deserialize;

use crate::hosts::commit;
use crate::issue::Issue;
use crate::pull_request::{Comment, CommentId, PullRequest, PullRequestState};

#[derive(Debug, Deserialize)]
pub(super) struct MergeRequestJson {
    iid: u64,
    web_url: String,
    source_branch: String,
    target_branch: String,
    source_project_id: Option<u64>,
    target_project_id: Option<u64>,
    sha: Option<String>,
    title: String,
    description: Option<String>,
    #[serde(default)]
    labels: Vec<String>,
    state: String,
    merge_commit_sha: Option<String>,
    squash_commit_sha: Option<String>,
    author: Option<UserJson>,
    #[serde(default)]
    merge_when_pipeline_succeeds: bool,
    #[serde(default)]
    pub(super) has_conflicts: bool,
    /// `mergeable`, `checking`, `ci_must_pass` and others. Since GitLab 15.6.
    detailed_merge_status: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct UserJson {
    pub(super) id: u64,
    pub(super) username: String,
}

/// An added or removed label.
#[derive(Debug, Deserialize)]
pub(super) struct LabelEventJson {
    action: String,
    user: Option<UserJson>,
    label: Option<LabelNameJson>,
}

#[derive(Debug, Deserialize)]
struct LabelNameJson {
    name: String,
}

impl LabelEventJson {
    /// Who added a label. None if the event is another one.
    pub(super) fn author_of(self, label: &str) -> Option<String> {
        let is_it = self.action == "add" && self.label.is_some_and(|found| found.name == label);
        self.user.filter(|_| is_it).map(|user| user.username)
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct ProjectJson {
    pub(super) default_branch: Option<String>,
}

/// A group or an account that owns projects.
#[derive(Debug, Deserialize)]
pub(super) struct NamespaceJson {
    pub(super) id: u64,
}

#[derive(Debug, Deserialize)]
pub(super) struct NoteJson {
    id: u64,
    body: String,
    author: Option<UserJson>,
    /// GitLab wrote it.
    #[serde(default)]
    pub(super) system: bool,
}

#[derive(Debug, Deserialize)]
pub(super) struct StatusJson {
    pub(super) id: Option<u64>,
    pub(super) name: String,
    pub(super) status: String,
    pub(super) description: Option<String>,
    pub(super) target_url: Option<String>,
    pub(super) author: Option<UserJson>,
}

#[derive(Debug, Deserialize)]
pub(super) struct IssueJson {
    iid: u64,
    web_url: String,
    title: String,
    description: Option<String>,
    state: String,
    author: Option<UserJson>,
}

/// The name of a user who may have been deleted.
fn username(user: Option<UserJson>) -> String {
    user.map_or_else(String::new, |user| user.username)
}

impl MergeRequestJson {
    /// Whether the host knows if it can be merged. It computes this in the background.
    pub(super) fn is_settled(&self) -> bool {
        let status = self.detailed_merge_status.as_deref();
        self.state != "opened" || !matches!(status, Some("unchecked" | "checking" | "preparing" | "approvals_syncing"))
    }

    /// Whether all its requirements are met.
    pub(super) fn is_mergeable(&self) -> bool {
        self.state == "opened" && self.detailed_merge_status.as_deref() == Some("mergeable")
    }

    pub(super) fn into_pull_request(self) -> PullRequest {
        // After a fast-forward, the head itself is the commit of the target branch.
        let merged = self.merge_commit_sha.as_ref().or(self.squash_commit_sha.as_ref()).or(self.sha.as_ref());
        let state = match self.state.as_str() {
            "merged" => PullRequestState::Merged { commit: commit(merged.map(String::as_str)) },
            "closed" => PullRequestState::Closed,
            // `locked` while it is merged
            _ => PullRequestState::Open,
        };
        PullRequest {
            number: self.iid,
            url: self.web_url,
            head: self.source_branch,
            base: self.target_branch,
            head_commit: commit(self.sha.as_deref()),
            title: self.title,
            body: self.description.unwrap_or_default(),
            labels: self.labels.into_iter().collect(),
            state,
            is_from_fork: self.source_project_id.is_none() || self.source_project_id != self.target_project_id,
            author: username(self.author),
            is_auto_merge: self.merge_when_pipeline_succeeds,
        }
    }
}

impl NoteJson {
    pub(super) fn into_comment(self, account: &str) -> Comment {
        let author = username(self.author);
        let is_own = !account.is_empty() && author == account;
        Comment { id: CommentId(self.id.to_string()), author, is_own, body: self.body }
    }
}

impl IssueJson {
    pub(super) fn into_issue(self, account: &str) -> Issue {
        Issue {
            number: self.iid,
            url: self.web_url,
            title: self.title,
            body: self.description.unwrap_or_default(),
            is_open: self.state == "opened",
            is_own: !account.is_empty() && username(self.author) == account,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An example of GitLab's documentation, shortened.
    const MERGED: &str = r#"{"id": 1, "iid": 1, "project_id": 3, "title": "test1", "description": "fixed login page css paddings",
        "state": "merged", "merged_at": "2018-09-07T11:16:17.520Z", "target_branch": "main", "source_branch": "test1",
        "author": {"id": 1, "name": "Administrator", "username": "admin", "state": "active", "avatar_url": null},
        "source_project_id": 2, "target_project_id": 3, "labels": ["Community contribution", "Manage"], "draft": false,
        "merge_when_pipeline_succeeds": true, "detailed_merge_status": "not_open",
        "sha": "8888888888888888888888888888888888888888", "merge_commit_sha": null, "squash_commit_sha": null,
        "has_conflicts": false, "web_url": "http://gitlab.example.com/my-group/my-project/merge_requests/1"}"#;

    fn check(json: &str) -> PullRequest {
        serde_json::from_str::<MergeRequestJson>(json).unwrap().into_pull_request()
    }

    #[test]
    fn the_documented_example_is_read() {
        let found = check(MERGED);
        assert_eq!((found.number, found.head.as_str(), found.base.as_str()), (1, "test1", "main"));
        assert_eq!((found.author.as_str(), found.labels.len(), found.is_from_fork), ("admin", 2, true));
        // A fast-forward has no merge commit.
        assert_eq!(found.state, PullRequestState::Merged { commit: found.head_commit });
    }

    #[test]
    fn the_commit_of_a_merge_is_the_one_of_the_target_branch() {
        let digits = "9999999999999999999999999999999999999999";
        for name in ["merge_commit_sha", "squash_commit_sha"] {
            let json = MERGED.replace(&format!("\"{name}\": null"), &format!("\"{name}\": \"{digits}\""));
            assert_eq!(check(&json).state, PullRequestState::Merged { commit: commit(Some(digits)) });
        }
        assert_eq!(check(&MERGED.replace("\"merged\"", "\"locked\"")).state, PullRequestState::Open);
    }
}
