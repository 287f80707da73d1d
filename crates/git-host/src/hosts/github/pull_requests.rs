//! The pull requests of GitHub.

use model::git_id::GitId;
use serde_json::json;

use super::json::{IssueEventJson, PullRequestJson};
use super::{GitHub, path};
use crate::error::HostError;
use crate::host::PullRequests;
use crate::hosts::creation::{Creation, or_existing};
use crate::hosts::{changed, closed, errors, found, merged, sorted};
use crate::pull_request::{
    NewPullRequest, Opened, PullRequest, PullRequestChanges, PullRequestQuery, PullRequestStates, Reviewer,
};
use crate::repository::HostRepository;
use crate::transport::Call;

impl GitHub {
    fn add_labels<'l>(
        &self,
        repository: &HostRepository,
        number: u64,
        labels: impl IntoIterator<Item = &'l String>,
    ) -> Result<(), HostError> {
        let labels: Vec<&String> = labels.into_iter().collect();
        if labels.is_empty() {
            return Ok(());
        }
        // GitHub creates missing labels.
        let call =
            Call::post(&path(repository, &["issues", &number.to_string(), "labels"]), json!({ "labels": labels }));
        self.send(repository, call.repeatable()).map(drop)
    }

    fn request_reviews(
        &self,
        repository: &HostRepository,
        number: u64,
        reviewers: &[Reviewer],
    ) -> Result<(), HostError> {
        if reviewers.is_empty() {
            return Ok(());
        }
        let (users, teams) = Reviewer::users_and_teams(reviewers);
        let body = json!({ "reviewers": users, "team_reviewers": teams });
        let call = Call::post(&path(repository, &["pulls", &number.to_string(), "requested_reviewers"]), body);
        self.send(repository, call.repeatable()).map(drop)
    }
}

impl PullRequests for GitHub {
    fn pull_requests(
        &self,
        repository: &HostRepository,
        query: &PullRequestQuery,
    ) -> Result<Vec<PullRequest>, HostError> {
        let state = if query.states == PullRequestStates::All { "all" } else { "open" };
        let head = query.head.as_ref().map(|head| format!("{}:{head}", repository.owner()));
        let call = Call::get(&path(repository, &["pulls"])).query("state", state);
        let call = call.optional("head", head).optional("base", query.base.clone());
        let call = call.query("sort", "created").query("direction", "asc");
        let found: Vec<PullRequestJson> = self.list(repository, &call)?;
        let found = found.into_iter().map(PullRequestJson::into_pull_request);
        Ok(sorted(found.filter(|pull_request| query.selects(pull_request))))
    }

    fn pull_request(&self, repository: &HostRepository, number: u64) -> Result<PullRequest, HostError> {
        self.read_pull_request(repository, number).map(PullRequestJson::into_pull_request)
    }

    fn merged_pull_request(
        &self,
        repository: &HostRepository,
        commit: GitId,
        base: &str,
    ) -> Result<Option<PullRequest>, HostError> {
        let call = Call::get(&path(repository, &["commits", &commit.to_string(), "pulls"]));
        let found: Vec<PullRequestJson> = match self.list(repository, &call) {
            // GitHub does not know the commit.
            Err(HostError::Refused { status: 404 | 422, .. }) => return Ok(None),
            found => found?,
        };
        Ok(merged(found.into_iter().map(PullRequestJson::into_pull_request).collect(), commit, base))
    }

    fn open(&self, repository: &HostRepository, new: &NewPullRequest) -> Result<Opened, HostError> {
        let query = PullRequestQuery::between(&new.head, &new.base);
        let find = || Ok(self.pull_requests(repository, &query)?.pop());
        let body = json!({ "title": new.title, "head": new.head, "base": new.base, "body": new.body });
        let call = Call::post(&path(repository, &["pulls"]), body);
        let create = || self.read(repository, call.clone()).map(PullRequestJson::into_pull_request);
        let mut pull_request = match or_existing(find, create)? {
            Creation::New(new) => new,
            Creation::Existing(pull_request) => {
                return Ok(Opened { pull_request, is_new: false, incomplete: Vec::new() });
            }
        };
        let labelled = self.add_labels(repository, pull_request.number, &new.labels);
        if labelled.is_ok() {
            pull_request.labels.extend(new.labels.iter().cloned());
        }
        let requested = self.request_reviews(repository, pull_request.number, &new.reviewers);
        Ok(Opened { pull_request, is_new: true, incomplete: errors([labelled, requested]) })
    }

    fn update(&self, repository: &HostRepository, number: u64, changes: &PullRequestChanges) -> Result<(), HostError> {
        let fields = [("title", changes.title.clone()), ("body", changes.body.clone())];
        if let Some(body) = changed(fields) {
            self.send(repository, Call::patch(&path(repository, &["pulls", &number.to_string()]), body))?;
        }
        self.add_labels(repository, number, &changes.add_labels)?;
        changes.remove_labels.iter().try_for_each(|label| {
            let call = Call::delete(&path(repository, &["issues", &number.to_string(), "labels", label]));
            found(self.send(repository, call)).map(drop)
        })
    }

    fn close(&self, repository: &HostRepository, number: u64) -> Result<(), HostError> {
        let call = Call::patch(&path(repository, &["pulls", &number.to_string()]), json!({ "state": "closed" }));
        closed(self, repository, number, self.send(repository, call).map(drop))
    }

    fn label_author(&self, repository: &HostRepository, number: u64, label: &str) -> Result<Option<String>, HostError> {
        let call = Call::get(&path(repository, &["issues", &number.to_string(), "events"]));
        let events: Vec<IssueEventJson> = self.list(repository, &call)?;
        Ok(events.into_iter().rev().find_map(|event| event.author_of(label)))
    }
}
