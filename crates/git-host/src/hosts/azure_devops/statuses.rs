//! The statuses of commits on Azure DevOps.

use model::git_id::GitId;
use serde::Deserialize;
use serde_json::json;

use super::json::{IdentityJson, ListJson};
use super::{AzureDevOps, get, post};
use crate::error::HostError;
use crate::host::Statuses;
use crate::limits::PAGE_ITEMS;
use crate::repository::HostRepository;
use crate::status::{self, CommitStatus, ReportedStatus, StatusState};
use crate::transport::Answer;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StatusJson {
    id: Option<u64>,
    state: Option<String>,
    description: Option<String>,
    target_url: Option<String>,
    context: Option<ContextJson>,
    created_by: Option<IdentityJson>,
}

#[derive(Debug, Deserialize)]
struct ContextJson {
    genre: Option<String>,
    name: Option<String>,
}

impl Statuses for AzureDevOps {
    fn set_status(&self, repository: &HostRepository, commit: GitId, status: &CommitStatus) -> Result<(), HostError> {
        let state = match status.state {
            StatusState::Pending => "pending",
            StatusState::Success => "succeeded",
            StatusState::Failure => "failed",
            StatusState::Error => "error",
        };
        let (genre, name) = status.context.split_once('/').unwrap_or(("", &status.context));
        let body = json!({
            "state": state,
            "description": status.short_description(),
            "targetUrl": status.target_url,
            "context": { "genre": genre, "name": name },
        });
        self.send(&post(repository, &["commits", &commit.to_string(), "statuses"], body).repeatable()).map(drop)
    }

    fn commit_statuses(&self, repository: &HostRepository, commit: GitId) -> Result<Vec<ReportedStatus>, HostError> {
        let call = get(repository, &["commits", &commit.to_string(), "statuses"]);
        let page = |number: u32| {
            let call = call.clone().query("top", PAGE_ITEMS.to_string());
            call.query("skip", (PAGE_ITEMS * (number - 1)).to_string())
        };
        let is_full = |_: &Answer, list: &ListJson<StatusJson>| list.value.len() >= PAGE_ITEMS as usize;
        let pages = self.transport.pages(page, self.authorization.as_ref(), is_full)?;
        let found = pages.into_iter().flat_map(|page| page.value);
        Ok(status::latest(found.map(|found| (found.id.unwrap_or_default(), found.into_status()))))
    }
}

impl StatusJson {
    fn into_status(self) -> ReportedStatus {
        let state = match self.state.as_deref() {
            Some("succeeded") => StatusState::Success,
            Some("failed") => StatusState::Failure,
            Some("pending" | "notSet") => StatusState::Pending,
            _ => StatusState::Error,
        };
        let part = |text: Option<String>| text.filter(|text| !text.is_empty());
        let parts = self.context.map(|context| [part(context.genre), part(context.name)]);
        let context = parts.into_iter().flatten().flatten().collect::<Vec<_>>().join("/");
        let (description, target_url) = (self.description.unwrap_or_default(), self.target_url);
        let status = CommitStatus { context, state, description, target_url };
        ReportedStatus { status, account: self.created_by.map_or_else(String::new, |identity| identity.id) }
    }
}
