//! GitLab: its REST API. Its merge requests are pull requests here.

mod evidence;
mod json;
mod protection;
mod repositories;

use std::collections::BTreeSet;
use std::sync::OnceLock;

use model::git_id::GitId;
use model::secret::{Secret, SecretSource};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use self::json::{IssueJson, LabelEventJson, MergeRequestJson, NoteJson, ProjectJson, StatusJson, UserJson};
use super::creation::{Creation, or_existing};
use super::{found, next_by_link, token};
use crate::calls::CallCounts;
use crate::error::HostError;
use crate::host::{GitHost, TextLimits};
use crate::issue::{Issue, IssueChanges, Label, NewIssue};
use crate::kind::HostKind;
use crate::limits::PAGE_ITEMS;
use crate::new_repository::{NewRepository, RepositoryCreation};
use crate::protection::BranchProtection;
use crate::pull_request::{
    AutoMerge, Comment, Merge, MergeMethod, MergeRefusal, MergeRequest, NewPullRequest, Opened, PullRequest,
    PullRequestChanges, PullRequestQuery, PullRequestState, PullRequestStates, Reviewer,
};
use crate::rate_limit::RateLimit;
use crate::repository::HostRepository;
use crate::review::Approval;
use crate::settings::HostSettings;
use crate::status::{CommitStatus, ReportedStatus, StatusState};
use crate::transport::{Answer, Authorization, Call, Transport};

/// A client of GitLab.
#[derive(Debug)]
pub(super) struct GitLab {
    transport: Transport,
    authorization: Option<Authorization>,
    account: OnceLock<String>,
}

/// A resource of a project: the calls to it.
struct Resource {
    path: Vec<String>,
}

impl Resource {
    fn new(repository: &HostRepository, rest: &[&str]) -> Self {
        // GitLab takes the path of a project as one part, instead of its id.
        let project = repository.to_string();
        let path = ["projects", &project].into_iter().chain(rest.iter().copied()).map(str::to_owned).collect();
        Self { path }
    }

    /// A part of a merge request.
    fn of_merge_request(repository: &HostRepository, number: u64, rest: &[&str]) -> Self {
        let number = number.to_string();
        Self::new(repository, &[&["merge_requests", number.as_str()], rest].concat())
    }

    fn call(&self, call: impl FnOnce(&[&str]) -> Call) -> Call {
        let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
        call(&path)
    }

    fn get(&self) -> Call {
        self.call(Call::get)
    }

    fn post(&self, body: Value) -> Call {
        self.call(|path| Call::post(path, body))
    }

    fn put(&self, body: Value) -> Call {
        self.call(|path| Call::put(path, body))
    }
}

impl GitLab {
    pub(super) fn new(settings: &HostSettings) -> Result<Self, HostError> {
        let value: fn(&Secret) -> String = |token| token.reveal().to_owned();
        let header = |token: &SecretSource| Authorization::new("private-token", value, token.clone());
        let authorization = token(settings)?.map(header).transpose()?;
        Ok(Self { transport: Transport::new(settings)?, authorization, account: OnceLock::new() })
    }

    fn send(&self, call: &Call) -> Result<Answer, HostError> {
        self.transport.send(call, self.authorization.as_ref())
    }

    fn read<T: DeserializeOwned>(&self, call: &Call) -> Result<T, HostError> {
        self.transport.read(call, self.authorization.as_ref())
    }

    fn list<T: DeserializeOwned>(&self, call: &Call) -> Result<Vec<T>, HostError> {
        let page = |number: u32| {
            let call = call.clone().query("per_page", PAGE_ITEMS.to_string());
            call.query("page", number.to_string())
        };
        let pages: Vec<Vec<T>> = self.transport.pages(page, self.authorization.as_ref(), next_by_link)?;
        Ok(pages.into_iter().flatten().collect())
    }

    fn account_or_none(&self, repository: &HostRepository) -> Result<String, HostError> {
        if self.authorization.is_none() { Ok(String::new()) } else { self.account(repository) }
    }

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

    /// A merge request of which is known whether it can be merged.
    fn read_settled(&self, repository: &HostRepository, number: u64) -> Result<MergeRequestJson, HostError> {
        let call = Resource::of_merge_request(repository, number, &[]).get();
        self.transport.read_settled(|| self.read(&call), MergeRequestJson::is_settled)
    }

    /// Merges now or later. An error that says that it can't be merged is an answer here.
    fn request_merge(
        &self,
        repository: &HostRepository,
        number: u64,
        body: Value,
    ) -> Result<Result<PullRequest, HostError>, HostError> {
        // GitLab refuses to merge what it has not checked yet.
        self.read_settled(repository, number)?;
        let resource = Resource::of_merge_request(repository, number, &["merge"]);
        match self.read(&resource.put(body)) {
            Ok(found) => Ok(Ok(MergeRequestJson::into_pull_request(found))),
            Err(error) if error.may_be_done() || matches!(error.status(), Some(405 | 406 | 409 | 422)) => {
                Ok(Err(error))
            }
            Err(error) => Err(error),
        }
    }
}

/// The body of a request to merge now, or later.
fn merge_body(request: &MergeRequest, is_automatic: bool) -> Value {
    let mut body = json!({
        "sha": request.head_commit.to_string(),
        "squash": request.method == MergeMethod::Squash,
    });
    if is_automatic {
        // The second name is that of GitLab 17.11 and later.
        body["merge_when_pipeline_succeeds"] = json!(true);
        body["auto_merge"] = json!(true);
    }
    body
}

/// The result of a merge that the host refused, or whose answer was lost, by the state afterwards.
fn after_merge(json: MergeRequestJson, request: &MergeRequest, error: HostError) -> Result<Merge, HostError> {
    let has_conflicts = json.has_conflicts;
    match super::merge_result(request, &json.into_pull_request(), has_conflicts, refusal_message(&error)) {
        Merge::Refused { .. } if error.may_be_done() => Err(error),
        merge => Ok(merge),
    }
}

/// The host's own words in an error.
fn refusal_message(error: &HostError) -> String {
    match error {
        HostError::Refused { message, .. } => message.clone(),
        other => other.to_string(),
    }
}

fn joined(labels: &BTreeSet<String>) -> String {
    labels.iter().map(String::as_str).collect::<Vec<_>>().join(",")
}

impl GitHost for GitLab {
    fn kind(&self) -> HostKind {
        HostKind::GitLab
    }

    fn text_limits(&self) -> TextLimits {
        TextLimits { title: 255, body: 1_048_576, comment: 1_000_000 }
    }

    fn account(&self, _: &HostRepository) -> Result<String, HostError> {
        if let Some(known) = self.account.get() {
            return Ok(known.clone());
        }
        let user: UserJson = self.read(&Call::get(&["user"]))?;
        Ok(self.account.get_or_init(|| user.username).clone())
    }

    fn default_branch(&self, repository: &HostRepository) -> Result<String, HostError> {
        let answer = self.send(&Resource::new(repository, &[]).get())?;
        let project: ProjectJson = answer.json()?;
        project.default_branch.ok_or_else(|| answer.unexpected("the repository is empty"))
    }

    fn protection(&self, repository: &HostRepository, branch: &str) -> Result<Option<BranchProtection>, HostError> {
        self.read_protection(repository, branch)
    }

    fn create_repository(
        &self,
        repository: &HostRepository,
        new: &NewRepository,
    ) -> Result<RepositoryCreation, HostError> {
        self.create(repository, new)
    }

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
        Ok(super::sorted(found.filter(|pull_request| query.selects(pull_request))))
    }

    fn pull_request(&self, repository: &HostRepository, number: u64) -> Result<PullRequest, HostError> {
        self.read(&Resource::of_merge_request(repository, number, &[]).get()).map(MergeRequestJson::into_pull_request)
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
                Ok(Opened { pull_request, is_new: true, incomplete: super::errors([requested]) })
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
        let Some(body) = super::changed(fields) else { return Ok(()) };
        self.send(&Resource::of_merge_request(repository, number, &[]).put(body)).map(drop)
    }

    fn close(&self, repository: &HostRepository, number: u64) -> Result<(), HostError> {
        let call = Resource::of_merge_request(repository, number, &[]).put(json!({ "state_event": "close" }));
        super::closed(self, repository, number, self.send(&call).map(drop))
    }

    fn merge(&self, repository: &HostRepository, number: u64, request: &MergeRequest) -> Result<Merge, HostError> {
        match self.request_merge(repository, number, merge_body(request, false))? {
            Ok(PullRequest { state: PullRequestState::Merged { commit }, .. }) => Ok(Merge::Merged { commit }),
            Ok(_) => Ok(Merge::Refused { reason: MergeRefusal::Blocked, message: "not merged yet".to_owned() }),
            Err(error) => after_merge(self.read_settled(repository, number)?, request, error),
        }
    }

    fn label_author(&self, repository: &HostRepository, number: u64, label: &str) -> Result<Option<String>, HostError> {
        let call = Resource::of_merge_request(repository, number, &["resource_label_events"]).get();
        let events: Vec<LabelEventJson> = self.list(&call)?;
        Ok(events.into_iter().rev().find_map(|event| event.author_of(label)))
    }

    fn approvals(&self, repository: &HostRepository, number: u64) -> Result<Vec<Approval>, HostError> {
        self.read_approvals(repository, number)
    }

    fn merged_pull_request(
        &self,
        repository: &HostRepository,
        commit: GitId,
        base: &str,
    ) -> Result<Option<PullRequest>, HostError> {
        self.read_merged(repository, commit, base)
    }

    fn set_auto_merge(
        &self,
        repository: &HostRepository,
        number: u64,
        request: &MergeRequest,
    ) -> Result<AutoMerge, HostError> {
        let refusal = match self.request_merge(repository, number, merge_body(request, true))? {
            Ok(PullRequest { state: PullRequestState::Merged { commit }, .. }) => {
                return Ok(AutoMerge::Merged { commit });
            }
            Ok(found) if found.is_auto_merge => return Ok(AutoMerge::Enabled),
            Ok(_) => "GitLab did not accept it".to_owned(),
            Err(error) => match after_merge(self.read_settled(repository, number)?, request, error)? {
                Merge::Merged { commit } => return Ok(AutoMerge::Merged { commit }),
                Merge::Refused { message, .. } => message,
            },
        };
        // Without a running pipeline, GitLab accepts only an immediate merge.
        if !self.read_settled(repository, number)?.is_mergeable() {
            return Ok(AutoMerge::NotAvailable(refusal));
        }
        Ok(match self.merge(repository, number, request)? {
            Merge::Merged { commit } => AutoMerge::Merged { commit },
            Merge::Refused { message, .. } => AutoMerge::NotAvailable(message),
        })
    }

    fn cancel_auto_merge(&self, repository: &HostRepository, number: u64) -> Result<(), HostError> {
        let resource = Resource::of_merge_request(repository, number, &["cancel_merge_when_pipeline_succeeds"]);
        match self.send(&resource.post(json!({})).repeatable()) {
            // There was no request.
            Err(HostError::Refused { status: 405 | 406, .. }) => Ok(()),
            result => result.map(drop),
        }
    }

    fn comments(&self, repository: &HostRepository, number: u64) -> Result<Vec<Comment>, HostError> {
        let account = self.account_or_none(repository)?;
        let call = Resource::of_merge_request(repository, number, &["notes"]).get();
        let found: Vec<NoteJson> = self.list(&call.query("order_by", "created_at").query("sort", "asc"))?;
        let written = found.into_iter().filter(|note| !note.system);
        Ok(written.map(|note| note.into_comment(&account)).collect())
    }

    fn create_comment(&self, repository: &HostRepository, number: u64, body: &str) -> Result<Comment, HostError> {
        let account = self.account_or_none(repository)?;
        let call = Resource::of_merge_request(repository, number, &["notes"]).post(json!({ "body": body }));
        self.read(&call).map(|note: NoteJson| note.into_comment(&account))
    }

    fn update_comment(&self, repository: &HostRepository, number: u64, comment: &Comment) -> Result<(), HostError> {
        let call = Resource::of_merge_request(repository, number, &["notes", &comment.id.0])
            .put(json!({ "body": comment.body }));
        self.send(&call).map(drop)
    }

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
        self.read_statuses(repository, commit)
    }

    fn issues(&self, repository: &HostRepository, label: &str) -> Result<Vec<Issue>, HostError> {
        let account = self.account_or_none(repository)?;
        let call = Resource::new(repository, &["issues"]).get().query("labels", label).query("state", "all");
        let found: Vec<IssueJson> = self.list(&call.query("order_by", "created_at").query("sort", "asc"))?;
        Ok(found.into_iter().map(|issue| issue.into_issue(&account)).collect())
    }

    fn create_issue(&self, repository: &HostRepository, new: &NewIssue) -> Result<Issue, HostError> {
        let account = self.account_or_none(repository)?;
        let body = json!({ "title": new.title, "description": new.body, "labels": joined(&new.labels) });
        self.read(&Resource::new(repository, &["issues"]).post(body)).map(|issue: IssueJson| issue.into_issue(&account))
    }

    fn update_issue(&self, repository: &HostRepository, number: u64, changes: &IssueChanges) -> Result<(), HostError> {
        let event = changes.is_open.map(|is_open| if is_open { "reopen" } else { "close" }.to_owned());
        let fields = [("title", changes.title.clone()), ("description", changes.body.clone()), ("state_event", event)];
        let Some(body) = super::changed(fields) else { return Ok(()) };
        self.send(&Resource::new(repository, &["issues", &number.to_string()]).put(body)).map(drop)
    }

    fn ensure_label(&self, repository: &HostRepository, label: &Label) -> Result<(), HostError> {
        let find = || found(self.send(&Resource::new(repository, &["labels", &label.name]).get()).map(drop));
        if find()?.is_some() {
            return Ok(());
        }
        let body =
            json!({ "name": label.name, "color": format!("#{}", label.color), "description": label.description });
        let call = Resource::new(repository, &["labels"]).post(body);
        or_existing(find, || self.send(&call).map(drop)).map(drop)
    }

    fn rate_limit(&self) -> Option<RateLimit> {
        self.transport.rate_limit()
    }

    fn calls(&self) -> CallCounts {
        self.transport.calls()
    }
}
