//! What GitLab knows of a change: its approvals, its statuses, and its merge request.

use jiff::Timestamp;
use model::git_id::GitId;
use serde::Deserialize;

use super::json::{MergeRequestJson, StatusJson, UserJson};
use super::{GitLab, Resource};
use crate::error::HostError;
use crate::hosts::{commit, found, merged};
use crate::pull_request::PullRequest;
use crate::repository::HostRepository;
use crate::review::{self, Approval};
use crate::status::{self, CommitStatus, ReportedStatus, StatusState};

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

impl GitLab {
    pub(super) fn read_approvals(&self, repository: &HostRepository, number: u64) -> Result<Vec<Approval>, HostError> {
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
            Some(Approval { account, at, commit })
        };
        let mut approvals: Vec<Approval> = found.approved_by.into_iter().filter_map(approval).collect();
        approvals.sort_by(|one, other| one.account.cmp(&other.account));
        Ok(approvals)
    }

    pub(super) fn read_merged(
        &self,
        repository: &HostRepository,
        commit: GitId,
        base: &str,
    ) -> Result<Option<PullRequest>, HostError> {
        let rest = ["repository", "commits", &commit.to_string(), "merge_requests"];
        let listed: Option<Vec<MergeRequestJson>> = found(self.list(&Resource::new(repository, &rest).get()))?;
        let listed = listed.unwrap_or_default().into_iter().map(MergeRequestJson::into_pull_request);
        Ok(merged(listed.collect(), commit, base))
    }

    pub(super) fn read_statuses(
        &self,
        repository: &HostRepository,
        commit: GitId,
    ) -> Result<Vec<ReportedStatus>, HostError> {
        let call = Resource::new(repository, &["repository", "commits", &commit.to_string(), "statuses"]).get();
        // Otherwise, the status of another account with the same name hides one.
        let found: Vec<StatusJson> = self.list(&call.query("all", "true"))?;
        Ok(status::latest(found.into_iter().map(|found| (found.id.unwrap_or_default(), reported(found)))))
    }
}

fn reported(found: StatusJson) -> ReportedStatus {
    let state = match found.status.as_str() {
        "success" => StatusState::Success,
        "failed" => StatusState::Failure,
        "canceled" | "skipped" => StatusState::Error,
        // `running`, `created`, `manual` and others.
        _ => StatusState::Pending,
    };
    let (description, target_url) = (found.description.unwrap_or_default(), found.target_url);
    let status = CommitStatus { context: found.name, state, description, target_url };
    ReportedStatus { status, account: found.author.map_or_else(String::new, |author| author.username) }
}
