//! The pull requests of Gitea and Forgejo.

use std::collections::BTreeSet;

use model::git_id::GitId;
use serde_json::json;

use super::json::{PullRequestJson, TimelineJson};
use super::{Gitea, get, patch, post, with_path};
use crate::error::HostError;
use crate::host::PullRequests;
use crate::hosts::creation::{Creation, or_existing};
use crate::hosts::{changed, closed, errors, found, merged, sorted};
use crate::pull_request::{
    NewPullRequest, Opened, PullRequest, PullRequestChanges, PullRequestQuery, PullRequestStates, Reviewer,
};
use crate::repository::HostRepository;
use crate::transport::Call;

impl Gitea {
    fn add_labels(&self, repository: &HostRepository, number: u64, names: &BTreeSet<String>) -> Result<(), HostError> {
        let ids = self.label_ids(repository, names)?;
        if ids.is_empty() {
            return Ok(());
        }
        let call = post(repository, &["issues", &number.to_string(), "labels"], json!({ "labels": ids }));
        self.send(&call.repeatable()).map(drop)
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
        let call = post(repository, &["pulls", &number.to_string(), "requested_reviewers"], body);
        self.send(&call.repeatable()).map(drop)
    }
}

impl PullRequests for Gitea {
    fn pull_requests(
        &self,
        repository: &HostRepository,
        query: &PullRequestQuery,
    ) -> Result<Vec<PullRequest>, HostError> {
        // Gitea can't select by branches.
        let state = if query.states == PullRequestStates::All { "all" } else { "open" };
        let call = get(repository, &["pulls"]).query("state", state).query("sort", "oldest");
        let found: Vec<PullRequestJson> = self.list(&call)?;
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
        let call = get(repository, &["commits", &commit.to_string(), "pull"]);
        let found: Option<PullRequestJson> = found(self.read(&call))?;
        Ok(merged(found.into_iter().map(PullRequestJson::into_pull_request).collect(), commit, base))
    }

    fn open(&self, repository: &HostRepository, new: &NewPullRequest) -> Result<Opened, HostError> {
        let query = PullRequestQuery::between(&new.head, &new.base);
        let find = || Ok(self.pull_requests(repository, &query)?.pop());
        let body = json!({ "title": new.title, "head": new.head, "base": new.base, "body": new.body });
        let call = post(repository, &["pulls"], body);
        let mut pull_request = match or_existing(find, || self.read(&call).map(PullRequestJson::into_pull_request))? {
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
        if let Some(body) = changed([("title", changes.title.clone()), ("body", changes.body.clone())]) {
            self.send(&patch(repository, &["pulls", &number.to_string()], body))?;
        }
        self.add_labels(repository, number, &changes.add_labels)?;
        if changes.remove_labels.is_empty() {
            return Ok(());
        }
        let existing = self.labels(repository)?;
        existing.iter().filter(|label| changes.remove_labels.contains(&label.name)).try_for_each(|label| {
            let rest = ["issues", &number.to_string(), "labels", &label.id.to_string()];
            found(self.send(&with_path(repository, &rest, Call::delete))).map(drop)
        })
    }

    fn close(&self, repository: &HostRepository, number: u64) -> Result<(), HostError> {
        let call = patch(repository, &["pulls", &number.to_string()], json!({ "state": "closed" }));
        closed(self, repository, number, self.send(&call).map(drop))
    }

    fn label_author(&self, repository: &HostRepository, number: u64, label: &str) -> Result<Option<String>, HostError> {
        let call = get(repository, &["issues", &number.to_string(), "timeline"]);
        let events: Vec<TimelineJson> = self.list(&call)?;
        Ok(events.into_iter().rev().find_map(|event| event.author_of(label)))
    }
}
