//! The statuses of commits on GitHub.

use model::git_id::GitId;
use serde::Deserialize;
use serde_json::json;

use super::{GitHub, path};
use crate::error::HostError;
use crate::host::Statuses;
use crate::hosts::json::{UserJson, login};
use crate::repository::HostRepository;
use crate::status::{self, CommitStatus, ReportedStatus, StatusState};
use crate::transport::Call;

#[derive(Debug, Deserialize)]
struct StatusJson {
    id: u64,
    state: String,
    description: Option<String>,
    target_url: Option<String>,
    context: String,
    creator: Option<UserJson>,
}

impl Statuses for GitHub {
    fn set_status(&self, repository: &HostRepository, commit: GitId, status: &CommitStatus) -> Result<(), HostError> {
        let state = match status.state {
            StatusState::Pending => "pending",
            StatusState::Success => "success",
            StatusState::Failure => "failure",
            StatusState::Error => "error",
        };
        let mut body = json!({ "state": state, "context": status.context, "description": status.short_description() });
        if let Some(url) = &status.target_url {
            body["target_url"] = json!(url);
        }
        let call = Call::post(&path(repository, &["statuses", &commit.to_string()]), body);
        self.send(repository, call.repeatable()).map(drop)
    }

    fn commit_statuses(&self, repository: &HostRepository, commit: GitId) -> Result<Vec<ReportedStatus>, HostError> {
        let call = Call::get(&path(repository, &["commits", &commit.to_string(), "statuses"]));
        let found: Vec<StatusJson> = self.list(repository, &call)?;
        Ok(status::latest(found.into_iter().map(|found| (found.id, found.into_status()))))
    }
}

impl StatusJson {
    fn into_status(self) -> ReportedStatus {
        let state = match self.state.as_str() {
            "success" => StatusState::Success,
            "failure" => StatusState::Failure,
            "pending" => StatusState::Pending,
            _ => StatusState::Error,
        };
        let (description, target_url) = (self.description.unwrap_or_default(), self.target_url);
        let status = CommitStatus { context: self.context, state, description, target_url };
        ReportedStatus { status, account: login(self.creator) }
    }
}
