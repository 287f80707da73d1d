//! The parts of Gitea's answers that are read.

use serde::Deserialize;

use crate::hosts::commit;
use crate::hosts::json::{UserJson, login};
use crate::pull_request::{Comment, CommentId, PullRequest, PullRequestState};

#[derive(Debug, Deserialize)]
pub(super) struct PullRequestJson {
    number: u64,
    html_url: String,
    head: BranchJson,
    base: BranchJson,
    title: String,
    body: Option<String>,
    /// Some versions write null instead of an empty list.
    labels: Option<Vec<LabelJson>>,
    state: String,
    #[serde(default)]
    merged: bool,
    merge_commit_sha: Option<String>,
    user: Option<UserJson>,
    /// Whether there are no conflicts.
    mergeable: Option<bool>,
}

#[derive(Debug, Deserialize)]
struct BranchJson {
    /// The name of the branch, also after its end.
    #[serde(default)]
    label: String,
    /// The name of the branch, or after its end `refs/pull/1/head`.
    #[serde(rename = "ref", default)]
    name: String,
    #[serde(default)]
    sha: String,
    /// -1 if the repository was deleted.
    #[serde(default)]
    repo_id: i64,
}

#[derive(Debug, Deserialize)]
pub(super) struct LabelJson {
    pub(super) id: u64,
    pub(super) name: String,
}

/// An event of a pull request, such as an added label.
#[derive(Debug, Deserialize)]
pub(super) struct TimelineJson {
    #[serde(rename = "type")]
    kind: String,
    user: Option<UserJson>,
    label: Option<LabelJson>,
    /// `1` for an added label, and empty for a removed one.
    body: Option<String>,
}

impl TimelineJson {
    /// Who added a label. None if the event is another one.
    pub(super) fn author_of(self, label: &str) -> Option<String> {
        let is_added = self.kind == "label" && self.body.as_deref() == Some("1");
        let is_it = is_added && self.label.is_some_and(|found| found.name == label);
        self.user.filter(|_| is_it).map(|user| user.login)
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct RepositoryJson {
    pub(super) default_branch: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct CommentJson {
    id: u64,
    user: Option<UserJson>,
    #[serde(default)]
    body: String,
}

impl BranchJson {
    fn branch(&self) -> &str {
        if self.label.is_empty() { &self.name } else { &self.label }
    }
}

impl PullRequestJson {
    /// Whether the host found conflicting changes.
    pub(super) fn is_conflicting(&self) -> bool {
        self.mergeable == Some(false)
    }

    pub(super) fn into_pull_request(self) -> PullRequest {
        let state = match self.state.as_str() {
            _ if self.merged => PullRequestState::Merged { commit: commit(self.merge_commit_sha.as_deref()) },
            "open" => PullRequestState::Open,
            _ => PullRequestState::Closed,
        };
        PullRequest {
            number: self.number,
            url: self.html_url,
            head: self.head.branch().to_owned(),
            base: self.base.branch().to_owned(),
            head_commit: commit(Some(&self.head.sha)),
            title: self.title,
            body: self.body.unwrap_or_default(),
            labels: self.labels.unwrap_or_default().into_iter().map(|label| label.name).collect(),
            state,
            is_from_fork: self.head.repo_id != self.base.repo_id,
            author: login(self.user),
            is_auto_merge: false,
        }
    }
}

impl CommentJson {
    pub(super) fn into_comment(self, account: &str) -> Comment {
        let author = login(self.user);
        let is_own = !account.is_empty() && author == account;
        Comment { id: CommentId(self.id.to_string()), author, is_own, body: self.body }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An answer as Gitea's description of its API defines it, shortened.
    const OPEN: &str = r#"{"id": 5, "number": 2, "html_url": "https://git.example/acme/gitops/pulls/2", "title": "dev", "body": "plan",
        "user": {"id": 1, "login": "kalypso", "full_name": ""}, "labels": null, "state": "open", "mergeable": true, "merged": false,
        "merged_at": null, "merge_commit_sha": null, "merged_by": null,
        "base": {"label": "main", "ref": "main", "sha": "4fb8c440e19eca604bbdc14dbba63e5fb98b2c52", "repo_id": 7},
        "head": {"label": "dev", "ref": "refs/pull/2/head", "sha": "4fb8c440e19eca604bbdc14dbba63e5fb98b2c52", "repo_id": -1}}"#;

    #[test]
    fn a_pull_request_without_its_branch_is_read() {
        let json: PullRequestJson = serde_json::from_str(OPEN).unwrap();
        assert!(!json.is_conflicting());
        let found = json.into_pull_request();
        assert_eq!((found.number, found.head.as_str(), found.base.as_str()), (2, "dev", "main"));
        assert!(found.is_open() && found.is_from_fork && found.labels.is_empty() && found.author == "kalypso");
    }

    #[test]
    fn merged_and_closed_pull_requests_differ() {
        let check = |from: &str, to: &str| {
            let json = OPEN.replace("\"open\"", "\"closed\"").replace(from, to);
            serde_json::from_str::<PullRequestJson>(&json).unwrap().into_pull_request().state
        };
        assert_eq!(check("", ""), PullRequestState::Closed);
        assert_eq!(check("\"merged\": false", "\"merged\": true"), PullRequestState::Merged { commit: None });
    }
}
