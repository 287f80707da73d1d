//! The reviews of merge requests on GitLab.

use jiff::Timestamp;
use model::git_id::GitId;
use serde::Deserialize;
use serde_json::json;

use super::json::{NoteJson, UserJson};
use super::{GitLab, Resource};
use crate::error::HostError;
use crate::host::Reviews;
use crate::hosts::commit;
use crate::pull_request::Comment;
use crate::repository::HostRepository;
use crate::review::{self, ReviewApproval};

#[derive(Debug, Deserialize)]
struct ApprovalsJson {
    approved_by: Vec<ApprovalJson>,
}

#[derive(Debug, Deserialize)]
struct ApprovalJson {
    user: Option<UserJson>,
    /// Since GitLab 18.
    approved_at: Option<String>,
}

/// A state of a merge request: each push makes a new one.
#[derive(Debug, Deserialize)]
struct VersionJson {
    head_commit_sha: Option<String>,
    created_at: Option<String>,
}

impl VersionJson {
    /// The time of the push, and its commit.
    fn into_version(self) -> Option<(Timestamp, Option<GitId>)> {
        Some((review::timestamp(self.created_at.as_deref())?, commit(self.head_commit_sha.as_deref())))
    }
}

impl Reviews for GitLab {
    fn approvals(&self, repository: &HostRepository, number: u64) -> Result<Vec<ReviewApproval>, HostError> {
        let found: ApprovalsJson = self.read(&Resource::of_merge_request(repository, number, &["approvals"]).get())?;
        let versions: Vec<VersionJson> =
            self.list(&Resource::of_merge_request(repository, number, &["versions"]).get())?;
        let versions = versions.into_iter().filter_map(VersionJson::into_version);
        let newest = versions.max_by_key(|(created, _)| *created);
        let approval = |found: ApprovalJson| {
            let (account, at) = (found.user?.username, review::timestamp(found.approved_at.as_deref()));
            let commit = match (at, newest) {
                (Some(at), Some((created, _))) if at < created => return None,
                (Some(_), Some((_, head))) => head,
                _ => None,
            };
            Some(ReviewApproval { account, at, commit })
        };
        let mut approvals: Vec<ReviewApproval> = found.approved_by.into_iter().filter_map(approval).collect();
        approvals.sort_by(|one, other| one.account.cmp(&other.account));
        Ok(approvals)
    }

    fn comments(&self, repository: &HostRepository, number: u64) -> Result<Vec<Comment>, HostError> {
        let account = self.account_or_none(repository)?;
        let call = Resource::of_merge_request(repository, number, &["notes"]).get();
        let found: Vec<NoteJson> = self.list(&call.query("order_by", "created_at").query("sort", "asc"))?;
        let written = found.into_iter().filter(|note| !note.system);
        Ok(written.map(|note| note.into_comment(&account)).collect())
    }

    fn create_comment(&self, repository: &HostRepository, number: u64, body: &str) -> Result<Comment, HostError> {
        let account = self.account_or_none(repository)?;
        let call = Resource::of_merge_request(repository, number, &["notes"]).post(json!({ "body": body }));
        self.read(&call).map(|note: NoteJson| note.into_comment(&account))
    }

    fn update_comment(&self, repository: &HostRepository, number: u64, comment: &Comment) -> Result<(), HostError> {
        let call = Resource::of_merge_request(repository, number, &["notes", &comment.id.0])
            .put(json!({ "body": comment.body }));
        self.send(&call).map(drop)
    }
}
