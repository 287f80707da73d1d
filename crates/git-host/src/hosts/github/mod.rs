//! GitHub, in the cloud and as Enterprise Server: its REST API, and its GraphQL API for automatic merges.

mod app;
mod auto_merge;
mod evidence;
mod json;
mod protection;
mod repositories;

use std::sync::OnceLock;

use model::git_id::GitId;
use model::secret::{Secret, SecretSource};
use serde::de::DeserializeOwned;
use serde_json::json;

use self::app::App;
use self::json::{CommentJson, IssueEventJson, MergeJson, PullRequestJson, RepositoryJson};
use super::creation::{Creation, or_existing};
use super::json::IssueJson;
use super::{commit, found, next_by_link};
use crate::calls::CallCounts;
use crate::credential::Credential;
use crate::error::HostError;
use crate::host::{GitHost, TextLimits};
use crate::issue::{Issue, IssueChanges, Label, NewIssue};
use crate::kind::HostKind;
use crate::limits::PAGE_ITEMS;
use crate::new_repository::{NewRepository, RepositoryCreation};
use crate::protection::BranchProtection;
use crate::pull_request::{
    AutoMerge, Comment, Merge, MergeMethod, MergeRequest, NewPullRequest, Opened, PullRequest, PullRequestChanges,
    PullRequestQuery, PullRequestState, PullRequestStates, Reviewer,
};
use crate::rate_limit::RateLimit;
use crate::repository::HostRepository;
use crate::review::Approval;
use crate::settings::HostSettings;
use crate::status::{CommitStatus, ReportedStatus, StatusState};
use crate::transport::{Answer, Authorization, Call, Transport};

/// The version of the REST API.
const VERSION: &str = "2022-11-28";

/// A client of GitHub.
#[derive(Debug)]
pub(super) struct GitHub {
    transport: Transport,
    tokens: Tokens,
    account: OnceLock<String>,
}

#[derive(Debug)]
enum Tokens {
    None,
    Account(SecretSource),
    App(Box<App>),
}

/// A call with the headers that GitHub recommends.
fn versioned(call: Call) -> Call {
    call.header("accept", "application/vnd.github+json").header("x-github-api-version", VERSION)
}

fn bearer(token: &SecretSource) -> Result<Authorization, HostError> {
    Authorization::new("authorization", |token| format!("Bearer {}", token.reveal()), token.clone())
}

impl GitHub {
    pub(super) fn new(settings: &HostSettings) -> Result<Self, HostError> {
        let tokens = match &settings.credential {
            Credential::None => Tokens::None,
            Credential::Token(token) => Tokens::Account(token.clone()),
            Credential::GitHubApp { app_id, installation, private_key } => {
                Tokens::App(Box::new(App::new(app_id, *installation, private_key.clone())?))
            }
        };
        Ok(Self { transport: Transport::new(settings)?, tokens, account: OnceLock::new() })
    }

    fn token(&self, repository: &HostRepository) -> Result<Option<SecretSource>, HostError> {
        match &self.tokens {
            Tokens::None => Ok(None),
            Tokens::Account(token) => Ok(Some(token.clone())),
            Tokens::App(app) => app.token(&self.transport, repository).map(|token| Some(token.into())),
        }
    }

    fn send(&self, repository: &HostRepository, call: Call) -> Result<Answer, HostError> {
        let call = versioned(call);
        let send = || {
            let header = self.token(repository)?.map(|token| bearer(&token)).transpose()?;
            self.transport.send(&call, header.as_ref())
        };
        match (send(), &self.tokens) {
            // The installation may have been suspended or its token revoked.
            (Err(HostError::Refused { status: 401, .. }), Tokens::App(app)) => {
                app.forget();
                send()
            }
            (result, _) => result,
        }
    }

    fn read<T: DeserializeOwned>(&self, repository: &HostRepository, call: Call) -> Result<T, HostError> {
        self.send(repository, call)?.json()
    }

    /// Reads all pages of a list.
    fn list<T: DeserializeOwned>(&self, repository: &HostRepository, call: &Call) -> Result<Vec<T>, HostError> {
        let header = self.token(repository)?.map(|token| bearer(&token)).transpose()?;
        let page = |number: u32| {
            let call = call.clone().query("per_page", PAGE_ITEMS.to_string());
            versioned(call.query("page", number.to_string()))
        };
        let pages: Vec<Vec<T>> = self.transport.pages(page, header.as_ref(), next_by_link)?;
        Ok(pages.into_iter().flatten().collect())
    }

    fn read_pull_request(&self, repository: &HostRepository, number: u64) -> Result<PullRequestJson, HostError> {
        self.read(repository, Call::get(&path(repository, &["pulls", &number.to_string()])))
    }

    /// A pull request of which is known whether it can be merged.
    fn read_settled(&self, repository: &HostRepository, number: u64) -> Result<PullRequestJson, HostError> {
        self.transport.read_settled(|| self.read_pull_request(repository, number), PullRequestJson::is_settled)
    }

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

    /// The account, or an empty text without a credential.
    fn account_or_none(&self, repository: &HostRepository) -> Result<String, HostError> {
        if matches!(self.tokens, Tokens::None) { Ok(String::new()) } else { self.account(repository) }
    }
}

/// The path of a resource of a repository.
fn path<'a, const N: usize>(repository: &'a HostRepository, rest: &[&'a str; N]) -> Vec<&'a str> {
    let mut path = vec!["repos"];
    path.extend(repository.path().iter().map(String::as_str));
    path.extend(rest);
    path
}

fn method_name(method: MergeMethod) -> &'static str {
    match method {
        MergeMethod::Merge => "merge",
        MergeMethod::Squash => "squash",
        MergeMethod::Rebase => "rebase",
    }
}

impl GitHost for GitHub {
    fn kind(&self) -> HostKind {
        HostKind::GitHub
    }

    fn text_limits(&self) -> TextLimits {
        TextLimits { title: 256, body: 65_536, comment: 65_536 }
    }

    fn account(&self, _: &HostRepository) -> Result<String, HostError> {
        if let Some(known) = self.account.get() {
            return Ok(known.clone());
        }
        let account = match &self.tokens {
            Tokens::App(app) => app.account(&self.transport)?,
            Tokens::Account(token) => auto_merge::viewer(&self.transport, &bearer(token)?)?,
            Tokens::None => return Err(HostError::Settings("GitHub without a token has no account".to_owned())),
        };
        Ok(self.account.get_or_init(|| account).clone())
    }

    fn git_token(&self, repository: &HostRepository) -> Result<Option<Secret>, HostError> {
        match &self.tokens {
            Tokens::App(app) => app.git_token(&self.transport, repository),
            Tokens::Account(_) | Tokens::None => Ok(None),
        }
    }

    fn default_branch(&self, repository: &HostRepository) -> Result<String, HostError> {
        self.read(repository, Call::get(&path(repository, &[]))).map(|found: RepositoryJson| found.default_branch)
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
        let state = if query.states == PullRequestStates::All { "all" } else { "open" };
        let head = query.head.as_ref().map(|head| format!("{}:{head}", repository.owner()));
        let call = Call::get(&path(repository, &["pulls"])).query("state", state);
        let call = call.optional("head", head).optional("base", query.base.clone());
        let call = call.query("sort", "created").query("direction", "asc");
        let found: Vec<PullRequestJson> = self.list(repository, &call)?;
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
        Ok(Opened { pull_request, is_new: true, incomplete: super::errors([labelled, requested]) })
    }

    fn update(&self, repository: &HostRepository, number: u64, changes: &PullRequestChanges) -> Result<(), HostError> {
        let fields = [("title", changes.title.clone()), ("body", changes.body.clone())];
        if let Some(body) = super::changed(fields) {
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
        super::closed(self, repository, number, self.send(repository, call).map(drop))
    }

    fn merge(&self, repository: &HostRepository, number: u64, request: &MergeRequest) -> Result<Merge, HostError> {
        let body = json!({ "sha": request.head_commit.to_string(), "merge_method": method_name(request.method) });
        let call = Call::put(&path(repository, &["pulls", &number.to_string(), "merge"]), body);
        match self.read(repository, call) {
            Ok(MergeJson { sha }) => Ok(Merge::Merged { commit: commit(sha.as_deref()) }),
            Err(HostError::Refused { status: 405 | 409 | 422, message, .. }) => {
                let found = self.read_settled(repository, number)?;
                let is_dirty = found.mergeable_state.as_deref() == Some("dirty");
                Ok(super::merge_result(request, &found.into_pull_request(), is_dirty, message))
            }
            Err(error) if error.may_be_done() || matches!(error.status(), Some(405 | 409 | 422)) => {
                match self.pull_request(repository, number)?.state {
                    PullRequestState::Merged { commit } => Ok(Merge::Merged { commit }),
                    _ => Err(error),
                }
            }
            Err(error) => Err(error),
        }
    }

    fn label_author(&self, repository: &HostRepository, number: u64, label: &str) -> Result<Option<String>, HostError> {
        let call = Call::get(&path(repository, &["issues", &number.to_string(), "events"]));
        let events: Vec<IssueEventJson> = self.list(repository, &call)?;
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
        self.enable_auto_merge(repository, number, request)
    }

    fn cancel_auto_merge(&self, repository: &HostRepository, number: u64) -> Result<(), HostError> {
        self.disable_auto_merge(repository, number)
    }

    fn comments(&self, repository: &HostRepository, number: u64) -> Result<Vec<Comment>, HostError> {
        let account = self.account_or_none(repository)?;
        let call = Call::get(&path(repository, &["issues", &number.to_string(), "comments"]));
        let found: Vec<CommentJson> = self.list(repository, &call)?;
        Ok(found.into_iter().map(|comment| comment.into_comment(&account)).collect())
    }

    fn create_comment(&self, repository: &HostRepository, number: u64, body: &str) -> Result<Comment, HostError> {
        let account = self.account_or_none(repository)?;
        let number = number.to_string();
        let call = Call::post(&path(repository, &["issues", &number, "comments"]), json!({ "body": body }));
        self.read(repository, call).map(|comment: CommentJson| comment.into_comment(&account))
    }

    fn update_comment(&self, repository: &HostRepository, _: u64, comment: &Comment) -> Result<(), HostError> {
        let call =
            Call::patch(&path(repository, &["issues", "comments", &comment.id.0]), json!({ "body": comment.body }));
        self.send(repository, call).map(drop)
    }

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
        self.read_statuses(repository, commit)
    }

    fn issues(&self, repository: &HostRepository, label: &str) -> Result<Vec<Issue>, HostError> {
        let account = self.account_or_none(repository)?;
        let call = Call::get(&path(repository, &["issues"])).query("state", "all").query("labels", label);
        let found: Vec<IssueJson> = self.list(repository, &call.query("sort", "created").query("direction", "asc"))?;
        Ok(found.into_iter().filter_map(|issue| issue.into_issue(&account)).collect())
    }

    fn create_issue(&self, repository: &HostRepository, new: &NewIssue) -> Result<Issue, HostError> {
        let account = self.account_or_none(repository)?;
        let body = json!({ "title": new.title, "body": new.body, "labels": new.labels });
        let answer = self.send(repository, Call::post(&path(repository, &["issues"]), body))?;
        let issue = answer.json::<IssueJson>()?.into_issue(&account);
        issue.ok_or_else(|| answer.unexpected("the new issue is a pull request"))
    }

    fn update_issue(&self, repository: &HostRepository, number: u64, changes: &IssueChanges) -> Result<(), HostError> {
        let state = changes.is_open.map(|is_open| if is_open { "open" } else { "closed" }.to_owned());
        let fields = [("title", changes.title.clone()), ("body", changes.body.clone()), ("state", state)];
        let Some(body) = super::changed(fields) else { return Ok(()) };
        let call = Call::patch(&path(repository, &["issues", &number.to_string()]), body);
        self.send(repository, call).map(drop)
    }

    fn ensure_label(&self, repository: &HostRepository, label: &Label) -> Result<(), HostError> {
        let find = || found(self.send(repository, Call::get(&path(repository, &["labels", &label.name]))).map(drop));
        if find()?.is_some() {
            return Ok(());
        }
        let body = json!({ "name": label.name, "color": label.color, "description": label.description });
        let call = Call::post(&path(repository, &["labels"]), body);
        or_existing(find, || self.send(repository, call.clone()).map(drop)).map(drop)
    }

    fn rate_limit(&self) -> Option<RateLimit> {
        self.transport.rate_limit()
    }

    fn calls(&self) -> CallCounts {
        self.transport.calls()
    }
}
