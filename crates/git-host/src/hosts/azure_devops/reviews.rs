//! The reviews of pull requests on Azure DevOps.

use serde::Deserialize;
use serde_json::json;

use super::json::{ListJson, ThreadJson};
use super::{AzureDevOps, get, patch, post};
use crate::error::HostError;
use crate::host::Reviews;
use crate::pull_request::Comment;
use crate::repository::HostRepository;
use crate::review::ReviewApproval;

/// The lowest vote that approves: an approval with suggestions.
const APPROVING_VOTE: i64 = 5;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReviewerJson {
    id: String,
    #[serde(default)]
    vote: i64,
    /// Whether it is a group. The votes of its members are listed by themselves.
    #[serde(default)]
    is_container: bool,
}

impl Reviews for AzureDevOps {
    fn approvals(&self, repository: &HostRepository, number: u64) -> Result<Vec<ReviewApproval>, HostError> {
        let call = get(repository, &["pullrequests", &number.to_string(), "reviewers"]);
        let found: ListJson<ReviewerJson> = self.read(&call)?;
        let approving = |reviewer: &ReviewerJson| reviewer.vote >= APPROVING_VOTE && !reviewer.is_container;
        let approving = found.value.into_iter().filter(approving);
        let mut approvals: Vec<ReviewApproval> =
            approving.map(|reviewer| ReviewApproval { account: reviewer.id, at: None, commit: None }).collect();
        approvals.sort_by(|one, other| one.account.cmp(&other.account));
        Ok(approvals)
    }

    fn comments(&self, repository: &HostRepository, number: u64) -> Result<Vec<Comment>, HostError> {
        let account = self.account_or_none(repository)?;
        let call = get(repository, &["pullrequests", &number.to_string(), "threads"]);
        let threads: ListJson<ThreadJson> = self.read(&call)?;
        Ok(threads.value.into_iter().flat_map(|thread| thread.into_comments(&account)).collect())
    }

    fn create_comment(&self, repository: &HostRepository, number: u64, body: &str) -> Result<Comment, HostError> {
        let account = self.account_or_none(repository)?;
        // A thread that is not closed could block the merge.
        let comment = json!({ "parentCommentId": 0, "content": body, "commentType": "text" });
        let body = json!({ "comments": [comment], "status": "closed" });
        let answer = self.send(&post(repository, &["pullrequests", &number.to_string(), "threads"], body))?;
        let comment = answer.json::<ThreadJson>()?.into_comments(&account).into_iter().next();
        comment.ok_or_else(|| answer.unexpected("the new thread has no comment"))
    }

    fn update_comment(&self, repository: &HostRepository, number: u64, comment: &Comment) -> Result<(), HostError> {
        let id = &comment.id.0;
        let (thread, id) = id.split_once('/').unwrap_or((id, "1"));
        let rest = ["pullrequests", &number.to_string(), "threads", thread, "comments", id];
        self.send(&patch(repository, &rest, json!({ "content": comment.body }))).map(drop)
    }
}
