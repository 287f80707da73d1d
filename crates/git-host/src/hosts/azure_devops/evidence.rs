//! What Azure DevOps knows of a change: its approvals, its statuses, and its pull request.

use std::collections::BTreeMap;

use model::git_id::GitId;
use serde::Deserialize;
use serde_json::json;

use super::json::{IdentityJson, ListJson, PullRequestJson};
use super::{AzureDevOps, get, post};
use crate::error::HostError;
use crate::hosts::merged;
use crate::limits::PAGE_ITEMS;
use crate::pull_request::PullRequest;
use crate::repository::HostRepository;
use crate::review::Approval;
use crate::status::{self, CommitStatus, ReportedStatus, StatusState};
use crate::transport::Answer;

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

/// The pull requests with a commit: for each question, the pull requests by commit.
#[derive(Debug, Deserialize)]
struct FoundJson {
    #[serde(default)]
    results: Vec<BTreeMap<String, Vec<PullRequestJson>>>,
}

impl AzureDevOps {
    pub(super) fn read_approvals(&self, repository: &HostRepository, number: u64) -> Result<Vec<Approval>, HostError> {
        let call = get(repository, &["pullrequests", &number.to_string(), "reviewers"]);
        let found: ListJson<ReviewerJson> = self.read(&call)?;
        let approving = |reviewer: &ReviewerJson| reviewer.vote >= APPROVING_VOTE && !reviewer.is_container;
        let approving = found.value.into_iter().filter(approving);
        let mut approvals: Vec<Approval> =
            approving.map(|reviewer| Approval { account: reviewer.id, at: None, commit: None }).collect();
        approvals.sort_by(|one, other| one.account.cmp(&other.account));
        Ok(approvals)
    }

    pub(super) fn read_merged(
        &self,
        repository: &HostRepository,
        commit: GitId,
        base: &str,
    ) -> Result<Option<PullRequest>, HostError> {
        let items = [commit.to_string()];
        let queries = ["lastMergeCommit", "commit"].map(|kind| json!({ "type": kind, "items": items }));
        let call = post(repository, &["pullrequestquery"], json!({ "queries": queries })).repeatable();
        let found: FoundJson = self.read(&call)?;
        let page = self.page(repository);
        let found = found.results.into_iter().flat_map(BTreeMap::into_values).flatten();
        Ok(merged(found.map(|json| json.into_pull_request(&page)).collect(), commit, base))
    }

    pub(super) fn read_statuses(
        &self,
        repository: &HostRepository,
        commit: GitId,
    ) -> Result<Vec<ReportedStatus>, HostError> {
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
