//! The merge requests of GitLab, which are pull requests here.

use std::collections::BTreeSet;

use model::git_id::GitId;
use serde_json::json;

use super::json::{LabelEventJson, MergeRequestJson, UserJson};
use super::{GitLab, Resource, joined};
use crate::error::HostError;
use crate::host::PullRequests;
use crate::hosts::creation::{Creation, or_existing};
use crate::hosts::{changed, closed, errors, found, merged, sorted};
use crate::pull_request::{
    NewPullRequest, Opened, PullRequest, PullRequestChanges, PullRequestQuery, PullRequestStates, Reviewer,
};
use crate::repository::HostRepository;
use crate::transport::Call;

impl GitLab {
    /// Requests reviews. GitLab has no teams, and names users by their ids. Unknown users are an error after the request for the others.
    fn request_reviews(
        &self,
        repository: &HostRepository,
        number: u64,
        reviewers: &[Reviewer],
    ) -> Result<(), HostError> {
        let (users, _) = Reviewer::users_and_teams(reviewers);
        if users.is_empty() {
            return Ok(());
        }
        let (mut ids, mut unknown) = (Vec::new(), Vec::new());
        for name in users {
            let found: Vec<UserJson> = self.read(&Call::get(&["users"]).query("username", name))?;
            match found.first() {
                Some(user) => ids.push(user.id),
                None => unknown.push(format!("`{name}`")),
            }
        }
        if !ids.is_empty() {
            let resource = Resource::of_merge_request(repository, number, &[]);
            self.send(&resource.put(json!({ "reviewer_ids": ids })))?;
        }
        if unknown.is_empty() {
            return Ok(());
        }
        let unknown = unknown.join(", ");
        Err(HostError::Settings(format!(
            "GitLab does not know these users, or hides them from the token: {unknown}. Correct the reviewers"
        )))
    }
}

impl PullRequests for GitLab {
    fn pull_requests(
        &self,
        repository: &HostRepository,
        query: &PullRequestQuery,
    ) -> Result<Vec<PullRequest>, HostError> {
        let state = if query.states == PullRequestStates::All { "all" } else { "opened" };
        let call = Resource::new(repository, &["merge_requests"]).get().query("state", state);
        let call = call.optional("source_branch", query.head.clone()).optional("target_branch", query.base.clone());
        let found: Vec<MergeRequestJson> = self.list(&call.query("order_by", "created_at").query("sort", "asc"))?;
        let found = found.into_iter().map(MergeRequestJson::into_pull_request);
        Ok(sorted(found.filter(|pull_request| query.selects(pull_request))))
    }

    fn pull_request(&self, repository: &HostRepository, number: u64) -> Result<PullRequest, HostError> {
        self.read(&Resource::of_merge_request(repository, number, &[]).get()).map(MergeRequestJson::into_pull_request)
    }

    fn merged_pull_request(
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

    fn open(&self, repository: &HostRepository, new: &NewPullRequest) -> Result<Opened, HostError> {
        let query = PullRequestQuery::between(&new.head, &new.base);
        let find = || Ok(self.pull_requests(repository, &query)?.pop());
        // GitLab creates missing labels.
        let body = json!({
            "source_branch": new.head,
            "target_branch": new.base,
            "title": new.title,
            "description": new.body,
            "labels": joined(&new.labels),
        });
        let call = Resource::new(repository, &["merge_requests"]).post(body);
        match or_existing(find, || self.read(&call).map(MergeRequestJson::into_pull_request))? {
            Creation::New(pull_request) => {
                let requested = self.request_reviews(repository, pull_request.number, &new.reviewers);
                Ok(Opened { pull_request, is_new: true, incomplete: errors([requested]) })
            }
            Creation::Existing(pull_request) => Ok(Opened { pull_request, is_new: false, incomplete: Vec::new() }),
        }
    }

    fn update(&self, repository: &HostRepository, number: u64, changes: &PullRequestChanges) -> Result<(), HostError> {
        let labels = |labels: &BTreeSet<String>| (!labels.is_empty()).then(|| joined(labels));
        let fields = [
            ("title", changes.title.clone()),
            ("description", changes.body.clone()),
            ("add_labels", labels(&changes.add_labels)),
            ("remove_labels", labels(&changes.remove_labels)),
        ];
        let Some(body) = changed(fields) else { return Ok(()) };
        self.send(&Resource::of_merge_request(repository, number, &[]).put(body)).map(drop)
    }

    fn close(&self, repository: &HostRepository, number: u64) -> Result<(), HostError> {
        let call = Resource::of_merge_request(repository, number, &[]).put(json!({ "state_event": "close" }));
        closed(self, repository, number, self.send(&call).map(drop))
    }

    fn label_author(&self, repository: &HostRepository, number: u64, label: &str) -> Result<Option<String>, HostError> {
        let call = Resource::of_merge_request(repository, number, &["resource_label_events"]).get();
        let events: Vec<LabelEventJson> = self.list(&call)?;
        Ok(events.into_iter().rev().find_map(|event| event.author_of(label)))
    }
}
