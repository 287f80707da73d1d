//! The statuses of commits on GitLab.

use model::git_id::GitId;
use serde_json::json;

use super::json::StatusJson;
use super::{GitLab, Resource};
use crate::error::HostError;
use crate::host::Statuses;
use crate::repository::HostRepository;
use crate::status::{self, CommitStatus, ReportedStatus, StatusState};

impl Statuses for GitLab {
    fn set_status(&self, repository: &HostRepository, commit: GitId, status: &CommitStatus) -> Result<(), HostError> {
        let (commit, description) = (commit.to_string(), status.short_description());
        let state = match status.state {
            StatusState::Pending => "pending",
            StatusState::Success => "success",
            StatusState::Failure | StatusState::Error => "failed",
        };
        // GitLab refuses to set a state that a status already has.
        let call = Resource::new(repository, &["repository", "commits", &commit, "statuses"]).get();
        let existing: Vec<StatusJson> = self.list(&call.query("name", &status.context))?;
        let is_set = |existing: &StatusJson| {
            existing.name == status.context
                && existing.status == state
                && existing.description.as_ref() == Some(&description)
                && existing.target_url == status.target_url
        };
        if existing.iter().any(is_set) {
            return Ok(());
        }
        let mut body = json!({ "state": state, "name": status.context, "description": description });
        if let Some(url) = &status.target_url {
            body["target_url"] = json!(url);
        }
        self.send(&Resource::new(repository, &["statuses", &commit]).post(body).repeatable()).map(drop)
    }

    fn commit_statuses(&self, repository: &HostRepository, commit: GitId) -> Result<Vec<ReportedStatus>, HostError> {
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
