//! The pull requests of Azure DevOps.

use std::collections::BTreeMap;

use model::git_id::GitId;
use serde::Deserialize;
use serde_json::{Value, json};

use super::json::{BRANCH_PREFIX, ListJson, PullRequestJson};
use super::{AzureDevOps, get, post, with_path};
use crate::error::HostError;
use crate::host::PullRequests;
use crate::hosts::creation::{Creation, or_existing};
use crate::hosts::{changed, closed, errors, found, merged, sorted};
use crate::kind::HostKind;
use crate::limits::PAGE_ITEMS;
use crate::pull_request::{
    NewPullRequest, Opened, PullRequest, PullRequestChanges, PullRequestQuery, PullRequestStates, Reviewer,
};
use crate::repository::HostRepository;
use crate::transport::{Answer, Call};

/// The number of characters to which lists shorten descriptions.
const LISTED_CHARACTERS: usize = 400;

/// The pull requests with a commit: for each question, the pull requests by commit.
#[derive(Debug, Deserialize)]
struct FoundJson {
    #[serde(default)]
    results: Vec<BTreeMap<String, Vec<PullRequestJson>>>,
}

fn reference(branch: &str) -> String {
    format!("{BRANCH_PREFIX}{branch}")
}

impl AzureDevOps {
    fn add_label(&self, repository: &HostRepository, number: u64, label: &str) -> Result<(), HostError> {
        let rest = ["pullrequests", &number.to_string(), "labels"];
        self.send(&post(repository, &rest, json!({ "name": label })).repeatable()).map(drop)
    }

    fn request_reviews(
        &self,
        repository: &HostRepository,
        number: u64,
        reviewers: &[Reviewer],
    ) -> Result<(), HostError> {
        reviewers.iter().try_for_each(|reviewer| {
            let (Reviewer::User(id) | Reviewer::Team(id)) = reviewer;
            let rest = ["pullrequests", &number.to_string(), "reviewers", id];
            let call = with_path(repository, &rest, |path| Call::put(path, json!({ "id": id, "vote": 0 })));
            self.send(&call).map(drop)
        })
    }
}

impl PullRequests for AzureDevOps {
    fn pull_requests(
        &self,
        repository: &HostRepository,
        query: &PullRequestQuery,
    ) -> Result<Vec<PullRequest>, HostError> {
        let state = if query.states == PullRequestStates::All { "all" } else { "active" };
        let call = get(repository, &["pullrequests"]).query("searchCriteria.status", state);
        let call = call.optional("searchCriteria.sourceRefName", query.head.as_deref().map(reference));
        let call = call.optional("searchCriteria.targetRefName", query.base.as_deref().map(reference));
        let page = |number: u32| {
            let call = call.clone().query("$top", PAGE_ITEMS.to_string());
            call.query("$skip", (PAGE_ITEMS * (number - 1)).to_string())
        };
        let is_full = |_: &Answer, list: &ListJson<PullRequestJson>| list.value.len() >= PAGE_ITEMS as usize;
        let pages = self.transport.pages(page, self.authorization.as_ref(), is_full)?;
        let address = self.page(repository);
        let complete = |listed: PullRequestJson| {
            let is_shortened =
                listed.description.as_ref().is_some_and(|text| text.encode_utf16().count() >= LISTED_CHARACTERS);
            let number = listed.pull_request_id;
            let complete = if is_shortened { self.read_pull_request(repository, number)? } else { listed };
            Ok(complete.into_pull_request(&address))
        };
        let found =
            pages.into_iter().flat_map(|page| page.value).map(complete).collect::<Result<Vec<_>, HostError>>()?;
        Ok(sorted(found.into_iter().filter(|pull_request| query.selects(pull_request))))
    }

    fn pull_request(&self, repository: &HostRepository, number: u64) -> Result<PullRequest, HostError> {
        Ok(self.read_pull_request(repository, number)?.into_pull_request(&self.page(repository)))
    }

    fn merged_pull_request(
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

    fn open(&self, repository: &HostRepository, new: &NewPullRequest) -> Result<Opened, HostError> {
        let query = PullRequestQuery::between(&new.head, &new.base);
        let find = || Ok(self.pull_requests(repository, &query)?.pop());
        let labels: Vec<Value> = new.labels.iter().map(|label| json!({ "name": label })).collect();
        let body = json!({
            "sourceRefName": reference(&new.head),
            "targetRefName": reference(&new.base),
            "title": new.title,
            "description": new.body,
            "labels": labels,
        });
        let call = post(repository, &["pullrequests"], body);
        let create = || self.read(&call).map(|json: PullRequestJson| json.into_pull_request(&self.page(repository)));
        match or_existing(find, create)? {
            Creation::New(mut pull_request) => {
                pull_request.labels.extend(new.labels.iter().cloned());
                let requested = self.request_reviews(repository, pull_request.number, &new.reviewers);
                Ok(Opened { pull_request, is_new: true, incomplete: errors([requested]) })
            }
            Creation::Existing(pull_request) => Ok(Opened { pull_request, is_new: false, incomplete: Vec::new() }),
        }
    }

    fn update(&self, repository: &HostRepository, number: u64, changes: &PullRequestChanges) -> Result<(), HostError> {
        if let Some(body) = changed([("title", changes.title.clone()), ("description", changes.body.clone())]) {
            self.change(repository, number, body)?;
        }
        changes.add_labels.iter().try_for_each(|label| self.add_label(repository, number, label))?;
        changes.remove_labels.iter().try_for_each(|label| {
            let rest = ["pullrequests", &number.to_string(), "labels", label];
            found(self.send(&with_path(repository, &rest, Call::delete))).map(drop)
        })
    }

    fn close(&self, repository: &HostRepository, number: u64) -> Result<(), HostError> {
        let result = self.change(repository, number, json!({ "status": "abandoned" })).map(drop);
        closed(self, repository, number, result)
    }

    fn label_author(&self, _: &HostRepository, _: u64, _: &str) -> Result<Option<String>, HostError> {
        Err(HostError::NotSupported { kind: HostKind::AzureDevOps, what: "authors of labels" })
    }
}
