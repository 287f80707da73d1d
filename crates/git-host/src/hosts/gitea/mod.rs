//! Gitea and Forgejo: their REST API.

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

use self::json::{CommentJson, LabelJson, PullRequestJson, RepositoryJson, TimelineJson};
use super::creation::{Creation, or_existing};
use super::json::{IssueJson, UserJson};
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

/// A client of Gitea or Forgejo.
#[derive(Debug)]
pub(super) struct Gitea {
    transport: Transport,
    authorization: Option<Authorization>,
    account: OnceLock<String>,
}

/// The path of a resource of a repository.
fn path(repository: &HostRepository, rest: &[&str]) -> Vec<String> {
    let owner = repository.path().iter().map(String::as_str);
    ["repos"].into_iter().chain(owner).chain(rest.iter().copied()).map(str::to_owned).collect()
}

fn get(repository: &HostRepository, rest: &[&str]) -> Call {
    with_path(repository, rest, Call::get)
}

fn post(repository: &HostRepository, rest: &[&str], body: Value) -> Call {
    with_path(repository, rest, |path| Call::post(path, body))
}

fn patch(repository: &HostRepository, rest: &[&str], body: Value) -> Call {
    with_path(repository, rest, |path| Call::patch(path, body))
}

fn with_path(repository: &HostRepository, rest: &[&str], call: impl FnOnce(&[&str]) -> Call) -> Call {
    let path = path(repository, rest);
    call(&path.iter().map(String::as_str).collect::<Vec<_>>())
}

impl Gitea {
    pub(super) fn new(settings: &HostSettings) -> Result<Self, HostError> {
        let value: fn(&Secret) -> String = |token| format!("token {}", token.reveal());
        let header = |token: &SecretSource| Authorization::new("authorization", value, token.clone());
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
            let call = call.clone().query("limit", PAGE_ITEMS.to_string());
            call.query("page", number.to_string())
        };
        let pages: Vec<Vec<T>> = self.transport.pages(page, self.authorization.as_ref(), next_by_link)?;
        Ok(pages.into_iter().flatten().collect())
    }

    fn account_or_none(&self, repository: &HostRepository) -> Result<String, HostError> {
        if self.authorization.is_none() { Ok(String::new()) } else { self.account(repository) }
    }

    fn labels(&self, repository: &HostRepository) -> Result<Vec<LabelJson>, HostError> {
        self.list(&get(repository, &["labels"]))
    }

    /// The ids of labels. Missing ones are created: Gitea does not create them by itself.
    fn label_ids(&self, repository: &HostRepository, names: &BTreeSet<String>) -> Result<Vec<u64>, HostError> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let existing = self.labels(repository)?;
        let id = |name: &String| match existing.iter().find(|label| label.name == *name) {
            Some(label) => Ok(label.id),
            None => self.create_label(repository, &Label::undescribed(name)),
        };
        names.iter().map(id).collect()
    }

    fn create_label(&self, repository: &HostRepository, label: &Label) -> Result<u64, HostError> {
        let body =
            json!({ "name": label.name, "color": format!("#{}", label.color), "description": label.description });
        let call = post(repository, &["labels"], body);
        let find = || Ok(self.labels(repository)?.into_iter().find(|found| found.name == label.name));
        match or_existing(find, || self.read(&call))? {
            Creation::New(LabelJson { id, .. }) | Creation::Existing(LabelJson { id, .. }) => Ok(id),
        }
    }

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

    fn read_pull_request(&self, repository: &HostRepository, number: u64) -> Result<PullRequestJson, HostError> {
        self.read(&get(repository, &["pulls", &number.to_string()]))
    }

    /// Merges now or later. The commit in the request makes a repetition harmless. An error that says that it can't be merged is an answer here.
    fn request_merge(
        &self,
        repository: &HostRepository,
        number: u64,
        body: Value,
    ) -> Result<Result<Answer, HostError>, HostError> {
        let call = post(repository, &["pulls", &number.to_string(), "merge"], body);
        match self.send(&call.repeatable()) {
            // 404: it is closed.
            Err(error) if !error.may_be_done() && !matches!(error.status(), Some(404 | 405 | 409 | 422)) => Err(error),
            result => Ok(result),
        }
    }
}

/// The body of a request to merge now, or later.
fn merge_body(request: &MergeRequest, is_automatic: bool) -> Value {
    let method = match request.method {
        MergeMethod::Merge => "merge",
        MergeMethod::Squash => "squash",
        MergeMethod::Rebase => "rebase",
    };
    json!({
        "Do": method,
        "head_commit_id": request.head_commit.to_string(),
        "merge_when_checks_succeed": is_automatic,
    })
}

/// The result of a request to merge, whether it succeeded or not, by the state afterwards.
fn after_merge(
    json: PullRequestJson,
    request: &MergeRequest,
    result: Result<(), HostError>,
) -> Result<Merge, HostError> {
    let is_conflicting = json.is_conflicting();
    let found = json.into_pull_request();
    let message = match result {
        Err(HostError::Refused { message, .. }) => message,
        Err(error) if !matches!(found.state, PullRequestState::Merged { .. }) => return Err(error),
        _ => "not merged yet".to_owned(),
    };
    Ok(super::merge_result(request, &found, is_conflicting, message))
}

impl GitHost for Gitea {
    fn kind(&self) -> HostKind {
        HostKind::Gitea
    }

    fn text_limits(&self) -> TextLimits {
        TextLimits { title: 255, body: 65_536, comment: 65_536 }
    }

    fn account(&self, _: &HostRepository) -> Result<String, HostError> {
        if let Some(known) = self.account.get() {
            return Ok(known.clone());
        }
        let user: UserJson = self.read(&Call::get(&["user"]))?;
        Ok(self.account.get_or_init(|| user.login).clone())
    }

    fn default_branch(&self, repository: &HostRepository) -> Result<String, HostError> {
        self.read(&get(repository, &[])).map(|found: RepositoryJson| found.default_branch)
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
        // Gitea can't select by branches.
        let state = if query.states == PullRequestStates::All { "all" } else { "open" };
        let call = get(repository, &["pulls"]).query("state", state).query("sort", "oldest");
        let found: Vec<PullRequestJson> = self.list(&call)?;
        let found = found.into_iter().map(PullRequestJson::into_pull_request);
        Ok(super::sorted(found.filter(|pull_request| query.selects(pull_request))))
    }

    fn pull_request(&self, repository: &HostRepository, number: u64) -> Result<PullRequest, HostError> {
        self.read_pull_request(repository, number).map(PullRequestJson::into_pull_request)
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
        Ok(Opened { pull_request, is_new: true, incomplete: super::errors([labelled, requested]) })
    }

    fn update(&self, repository: &HostRepository, number: u64, changes: &PullRequestChanges) -> Result<(), HostError> {
        if let Some(body) = super::changed([("title", changes.title.clone()), ("body", changes.body.clone())]) {
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
        super::closed(self, repository, number, self.send(&call).map(drop))
    }

    fn merge(&self, repository: &HostRepository, number: u64, request: &MergeRequest) -> Result<Merge, HostError> {
        let result = self.request_merge(repository, number, merge_body(request, false))?.map(drop);
        after_merge(self.read_pull_request(repository, number)?, request, result)
    }

    fn label_author(&self, repository: &HostRepository, number: u64, label: &str) -> Result<Option<String>, HostError> {
        let call = get(repository, &["issues", &number.to_string(), "timeline"]);
        let events: Vec<TimelineJson> = self.list(&call)?;
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
        let result = match self.request_merge(repository, number, merge_body(request, true))? {
            // 201: it waits for the checks. 200: it is merged.
            Ok(Answer { status: 201, .. }) => return Ok(AutoMerge::Enabled),
            result => result.map(drop),
        };
        let is_conflict = matches!(result, Err(HostError::Refused { status: 409, .. }));
        Ok(match after_merge(self.read_pull_request(repository, number)?, request, result)? {
            Merge::Merged { commit } => AutoMerge::Merged { commit },
            // It waits for the checks already.
            Merge::Refused { reason: MergeRefusal::Blocked, .. } if is_conflict => AutoMerge::Enabled,
            Merge::Refused { message, .. } => AutoMerge::NotAvailable(message),
        })
    }

    fn cancel_auto_merge(&self, repository: &HostRepository, number: u64) -> Result<(), HostError> {
        let call = with_path(repository, &["pulls", &number.to_string(), "merge"], Call::delete);
        // There may have been no request.
        found(self.send(&call)).map(drop)
    }

    fn comments(&self, repository: &HostRepository, number: u64) -> Result<Vec<Comment>, HostError> {
        let account = self.account_or_none(repository)?;
        // This list has no pages.
        let found: Vec<CommentJson> = self.read(&get(repository, &["issues", &number.to_string(), "comments"]))?;
        Ok(found.into_iter().map(|comment| comment.into_comment(&account)).collect())
    }

    fn create_comment(&self, repository: &HostRepository, number: u64, body: &str) -> Result<Comment, HostError> {
        let account = self.account_or_none(repository)?;
        let call = post(repository, &["issues", &number.to_string(), "comments"], json!({ "body": body }));
        self.read(&call).map(|comment: CommentJson| comment.into_comment(&account))
    }

    fn update_comment(&self, repository: &HostRepository, _: u64, comment: &Comment) -> Result<(), HostError> {
        self.send(&patch(repository, &["issues", "comments", &comment.id.0], json!({ "body": comment.body }))).map(drop)
    }

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
        self.read_statuses(repository, commit)
    }

    fn issues(&self, repository: &HostRepository, label: &str) -> Result<Vec<Issue>, HostError> {
        let account = self.account_or_none(repository)?;
        let call = get(repository, &["issues"]).query("type", "issues").query("state", "all").query("labels", label);
        let found: Vec<IssueJson> = self.list(&call)?;
        let mut issues: Vec<Issue> = found.into_iter().filter_map(|issue| issue.into_issue(&account)).collect();
        issues.sort_by_key(|issue| issue.number);
        Ok(issues)
    }

    fn create_issue(&self, repository: &HostRepository, new: &NewIssue) -> Result<Issue, HostError> {
        let account = self.account_or_none(repository)?;
        let labels = self.label_ids(repository, &new.labels)?;
        let body = json!({ "title": new.title, "body": new.body, "labels": labels });
        let answer = self.send(&post(repository, &["issues"], body))?;
        let issue = answer.json::<IssueJson>()?.into_issue(&account);
        issue.ok_or_else(|| answer.unexpected("the new issue is a pull request"))
    }

    fn update_issue(&self, repository: &HostRepository, number: u64, changes: &IssueChanges) -> Result<(), HostError> {
        let state = changes.is_open.map(|is_open| if is_open { "open" } else { "closed" }.to_owned());
        let fields = [("title", changes.title.clone()), ("body", changes.body.clone()), ("state", state)];
        let Some(body) = super::changed(fields) else { return Ok(()) };
        self.send(&patch(repository, &["issues", &number.to_string()], body)).map(drop)
    }

    fn ensure_label(&self, repository: &HostRepository, label: &Label) -> Result<(), HostError> {
        if self.labels(repository)?.iter().any(|existing| existing.name == label.name) {
            return Ok(());
        }
        self.create_label(repository, label).map(drop)
    }

    fn rate_limit(&self) -> Option<RateLimit> {
        self.transport.rate_limit()
    }

    fn calls(&self) -> CallCounts {
        self.transport.calls()
    }
}
