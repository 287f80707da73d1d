//! The statuses of commits on Gitea and Forgejo.

use model::git_id::GitId;
use serde::Deserialize;
use serde_json::json;

use super::{Gitea, get, post};
use crate::error::HostError;
use crate::host::Statuses;
use crate::hosts::json::{UserJson, login};
use crate::repository::HostRepository;
use crate::status::{self, CommitStatus, ReportedStatus, StatusState};

#[derive(Debug, Deserialize)]
struct StatusJson {
    id: u64,
    status: String,
    description: Option<String>,
    target_url: Option<String>,
    context: String,
    creator: Option<UserJson>,
}

impl Statuses for Gitea {
    fn set_status(&self, repository: &HostRepository, commit: GitId, status: &CommitStatus) -> Result<(), HostError> {
        let state = match status.state {
            StatusState::Pending => "pending",
            StatusState::Success => "success",
            StatusState::Failure => "failure",
            StatusState::Error => "error",
        };
        let body = json!({
            "state": state,
            "context": status.context,
            "description": status.short_description(),
            "target_url": status.target_url.clone().unwrap_or_default(),
        });
        self.send(&post(repository, &["statuses", &commit.to_string()], body).repeatable()).map(drop)
    }

    fn commit_statuses(&self, repository: &HostRepository, commit: GitId) -> Result<Vec<ReportedStatus>, HostError> {
        let found: Vec<StatusJson> =
            self.list_to_the_end(&get(repository, &["commits", &commit.to_string(), "statuses"]))?;
        Ok(status::latest(found.into_iter().map(|found| (found.id, found.into_status()))))
    }
}

impl StatusJson {
    fn into_status(self) -> ReportedStatus {
        let state = match self.status.as_str() {
            "success" => StatusState::Success,
            "failure" | "warning" => StatusState::Failure,
            "pending" => StatusState::Pending,
            _ => StatusState::Error,
        };
        let (description, target_url) = (self.description.unwrap_or_default(), self.target_url);
        let target_url = target_url.filter(|url| !url.is_empty());
        let status = CommitStatus { context: self.context, state, description, target_url };
        ReportedStatus { status, account: login(self.creator) }
    }
}
