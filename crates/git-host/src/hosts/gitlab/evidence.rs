//! What GitLab knows of a change: its approvals, its statuses, and its merge request.

use model::git_id::GitId;
use serde::Deserialize;

use super::json::{MergeRequestJson, StatusJson, UserJson};
use super::{GitLab, Resource};
use crate::error::HostError;
use crate::hosts::{found, merged};
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

impl GitLab {
    pub(super) fn read_approvals(&self, repository: &HostRepository, number: u64) -> Result<Vec<Approval>, HostError> {
        let found: ApprovalsJson = self.read(&Resource::of_merge_request(repository, number, &["approvals"]).get())?;
        let approval = |found: ApprovalJson| {
            let at = review::timestamp(found.approved_at.as_deref());
            Some(Approval { account: found.user?.username, at, commit: None })
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
        let listed: Option<Vec<MergeRequestJson>> = found(self.list(&Resource::of(repository, &rest).get()))?;
        let listed = listed.unwrap_or_default().into_iter().map(MergeRequestJson::into_pull_request);
        Ok(merged(listed.collect(), commit, base))
    }

    pub(super) fn read_statuses(
        &self,
        repository: &HostRepository,
        commit: GitId,
    ) -> Result<Vec<ReportedStatus>, HostError> {
        let call = Resource::of(repository, &["repository", "commits", &commit.to_string(), "statuses"]).get();
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
