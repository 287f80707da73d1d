//! Azure DevOps Services and Server: the REST API of Azure Repos. Issues are work items of Azure Boards.

mod evidence;
pub(crate) mod html;
mod json;
mod protection;
mod repositories;
mod work_items;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use data_encoding::BASE64;
use model::git_id::GitId;
use model::secret::{Secret, SecretSource};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use self::json::{BRANCH_PREFIX, ConnectionJson, ListJson, NO_IDENTITY, PullRequestJson, RepositoryJson, ThreadJson};
use self::work_items::IssueType;
use super::creation::{Creation, or_existing};
use super::{found, token};
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

/// The version of the API. Azure DevOps Server has it since 2022.
const VERSION: &str = "7.0";

/// The number of characters to which lists shorten descriptions.
const LISTED_CHARACTERS: usize = 400;

/// A client of Azure DevOps.
#[derive(Debug)]
pub(super) struct AzureDevOps {
    transport: Transport,
    authorization: Option<Authorization>,
    /// The accounts by organization.
    accounts: Mutex<BTreeMap<String, String>>,
    /// The types of issues by project.
    issue_types: Mutex<BTreeMap<Vec<String>, IssueType>>,
}

/// A call of a resource of a repository.
fn with_path(repository: &HostRepository, rest: &[&str], call: impl FnOnce(&[&str]) -> Call) -> Call {
    let project = repository.path().split_last().map_or(&[][..], |(_, project)| project);
    let project = project.iter().map(String::as_str);
    let path = project.chain(["_apis", "git", "repositories", repository.name()]).chain(rest.iter().copied());
    call(&path.collect::<Vec<_>>()).query("api-version", VERSION)
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

fn reference(branch: &str) -> String {
    format!("{BRANCH_PREFIX}{branch}")
}

fn merge_options(method: MergeMethod) -> Value {
    let strategy = match method {
        MergeMethod::Merge => "noFastForward",
        MergeMethod::Squash => "squash",
        MergeMethod::Rebase => "rebase",
    };
    json!({ "mergeStrategy": strategy, "deleteSourceBranch": false })
}

impl AzureDevOps {
    pub(super) fn new(settings: &HostSettings) -> Result<Self, HostError> {
        let value: fn(&Secret) -> String =
            |token| format!("Basic {}", BASE64.encode(format!(":{}", token.reveal()).as_bytes()));
        let header = |token: &SecretSource| Authorization::new("authorization", value, token.clone());
        let authorization = token(settings)?.map(header).transpose()?;
        let transport = Transport::new(settings)?;
        Ok(Self { transport, authorization, accounts: Mutex::default(), issue_types: Mutex::default() })
    }

    fn send(&self, call: &Call) -> Result<Answer, HostError> {
        self.transport.send(call, self.authorization.as_ref())
    }

    fn read<T: DeserializeOwned>(&self, call: &Call) -> Result<T, HostError> {
        self.transport.read(call, self.authorization.as_ref())
    }

    /// The address of a page of a repository's project.
    fn page_of_project(&self, repository: &HostRepository, rest: [&str; 2]) -> String {
        let mut url = self.transport.base().clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            let project = repository.path().split_last().map_or(&[][..], |(_, project)| project);
            segments.pop_if_empty().extend(project).extend(rest);
        }
        url.to_string()
    }

    /// The address of the page of a repository.
    fn page(&self, repository: &HostRepository) -> String {
        self.page_of_project(repository, ["_git", repository.name()])
    }

    fn page_of_work_item(&self, repository: &HostRepository, number: u64) -> String {
        format!("{}/{number}", self.page_of_project(repository, ["_workitems", "edit"]))
    }

    /// The type of issues in a project. It is read once.
    fn issue_type(&self, repository: &HostRepository) -> Result<IssueType, HostError> {
        let project = repository.path().split_last().map_or_else(Vec::new, |(_, project)| project.to_vec());
        let known = || self.issue_types.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known().get(&project) {
            return Ok(known.clone());
        }
        let read = work_items::read_type(self, repository)?;
        known().insert(project, read.clone());
        Ok(read)
    }

    fn account_or_none(&self, repository: &HostRepository) -> Result<String, HostError> {
        if self.authorization.is_none() { Ok(String::new()) } else { self.account(repository) }
    }

    fn read_pull_request(&self, repository: &HostRepository, number: u64) -> Result<PullRequestJson, HostError> {
        self.read(&get(repository, &["pullrequests", &number.to_string()]))
    }

    fn change(&self, repository: &HostRepository, number: u64, body: Value) -> Result<PullRequestJson, HostError> {
        self.read(&patch(repository, &["pullrequests", &number.to_string()], body))
    }

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

impl GitHost for AzureDevOps {
    fn kind(&self) -> HostKind {
        HostKind::AzureDevOps
    }

    fn text_limits(&self) -> TextLimits {
        TextLimits { title: 400, body: 4_000, comment: 150_000 }
    }

    fn account(&self, repository: &HostRepository) -> Result<String, HostError> {
        let organization = repository.path().first().map_or("", String::as_str);
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = accounts.get(organization) {
            return Ok(known.clone());
        }
        let call = Call::get(&[organization, "_apis", "connectionData"]);
        let connection: ConnectionJson = self.read(&call.query("api-version", format!("{VERSION}-preview")))?;
        let id = connection.authenticated_user.id;
        accounts.insert(organization.to_owned(), id.clone());
        Ok(id)
    }

    fn default_branch(&self, repository: &HostRepository) -> Result<String, HostError> {
        let answer = self.send(&get(repository, &[]))?;
        let found: RepositoryJson = answer.json()?;
        let branch = found.default_branch.as_deref().and_then(|name| name.strip_prefix(BRANCH_PREFIX));
        branch.map(str::to_owned).ok_or_else(|| answer.unexpected("the repository is empty"))
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
        Ok(super::sorted(found.into_iter().filter(|pull_request| query.selects(pull_request))))
    }

    fn pull_request(&self, repository: &HostRepository, number: u64) -> Result<PullRequest, HostError> {
        Ok(self.read_pull_request(repository, number)?.into_pull_request(&self.page(repository)))
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
                Ok(Opened { pull_request, is_new: true, incomplete: super::errors([requested]) })
            }
            Creation::Existing(pull_request) => Ok(Opened { pull_request, is_new: false, incomplete: Vec::new() }),
        }
    }

    fn update(&self, repository: &HostRepository, number: u64, changes: &PullRequestChanges) -> Result<(), HostError> {
        if let Some(body) = super::changed([("title", changes.title.clone()), ("description", changes.body.clone())]) {
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
        super::closed(self, repository, number, result)
    }

    fn merge(&self, repository: &HostRepository, number: u64, request: &MergeRequest) -> Result<Merge, HostError> {
        let body = json!({
            "status": "completed",
            "lastMergeSourceCommit": { "commitId": request.head_commit.to_string() },
            "completionOptions": merge_options(request.method),
        });
        let (refusal, lost) = match self.change(repository, number, body) {
            Ok(_) => (None, None),
            Err(HostError::Refused { status: 400 | 403 | 409, message, .. }) => (Some(message), None),
            Err(error) if error.may_be_done() => (None, Some(error)),
            Err(error) => return Err(error),
        };
        // The merge runs in the background.
        let is_settled = |json: &PullRequestJson| {
            let is_final = matches!(json.merge_status.as_deref(), Some("conflicts" | "rejectedByPolicy"));
            refusal.is_some() || is_final || !json.is_active() || json.head_commit() != Some(request.head_commit)
        };
        let json = self.transport.read_settled(|| self.read_pull_request(repository, number), is_settled)?;
        let status = json.merge_status.clone().unwrap_or_default();
        let (found, is_conflicting) = (json.into_pull_request(""), status == "conflicts");
        match (super::merge_result(request, &found, is_conflicting, refusal.unwrap_or(status)), lost) {
            (Merge::Refused { reason: MergeRefusal::Blocked, .. }, Some(error)) => Err(error),
            (merge, _) => Ok(merge),
        }
    }

    fn label_author(&self, _: &HostRepository, _: u64, _: &str) -> Result<Option<String>, HostError> {
        Err(HostError::NotSupported { kind: HostKind::AzureDevOps, what: "authors of labels" })
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
        // The request itself can't name a commit.
        let before = self.pull_request(repository, number)?;
        if before.head_commit != Some(request.head_commit) && before.is_open() {
            return Ok(AutoMerge::NotAvailable("the source branch has another commit".to_owned()));
        }
        let body = json!({
            "autoCompleteSetBy": { "id": self.account(repository)? },
            "completionOptions": merge_options(request.method),
        });
        let after = match self.change(repository, number, body) {
            Ok(json) => json.into_pull_request(""),
            Err(HostError::Refused { status: 400 | 403 | 409, message, .. }) => {
                return Ok(AutoMerge::NotAvailable(message));
            }
            Err(error) => return Err(error),
        };
        Ok(match after.state {
            PullRequestState::Merged { commit } => AutoMerge::Merged { commit },
            PullRequestState::Closed => AutoMerge::NotAvailable("the pull request is abandoned".to_owned()),
            PullRequestState::Open if after.is_auto_merge => AutoMerge::Enabled,
            PullRequestState::Open => AutoMerge::NotAvailable("Azure DevOps did not accept it".to_owned()),
        })
    }

    fn cancel_auto_merge(&self, repository: &HostRepository, number: u64) -> Result<(), HostError> {
        if !self.pull_request(repository, number)?.is_auto_merge {
            return Ok(());
        }
        self.change(repository, number, json!({ "autoCompleteSetBy": { "id": NO_IDENTITY } })).map(drop)
    }

    fn comments(&self, repository: &HostRepository, number: u64) -> Result<Vec<Comment>, HostError> {
        let account = self.account_or_none(repository)?;
        let call = get(repository, &["pullrequests", &number.to_string(), "threads"]);
        let threads: ListJson<ThreadJson> = self.read(&call)?;
        Ok(threads.value.into_iter().flat_map(|thread| thread.into_comments(&account)).collect())
    }

    fn create_comment(&self, repository: &HostRepository, number: u64, body: &str) -> Result<Comment, HostError> {
        let account = self.account_or_none(repository)?;
        // A thread that is not closed could block the merge.
        let comment = json!({ "parentCommentId": 0, "content": body, "commentType": "text" });
        let body = json!({ "comments": [comment], "status": "closed" });
        let answer = self.send(&post(repository, &["pullrequests", &number.to_string(), "threads"], body))?;
        let comment = answer.json::<ThreadJson>()?.into_comments(&account).into_iter().next();
        comment.ok_or_else(|| answer.unexpected("the new thread has no comment"))
    }

    fn update_comment(&self, repository: &HostRepository, number: u64, comment: &Comment) -> Result<(), HostError> {
        let id = &comment.id.0;
        let (thread, id) = id.split_once('/').unwrap_or((id, "1"));
        let rest = ["pullrequests", &number.to_string(), "threads", thread, "comments", id];
        self.send(&patch(repository, &rest, json!({ "content": comment.body }))).map(drop)
    }

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
        self.read_statuses(repository, commit)
    }

    fn issues(&self, repository: &HostRepository, label: &str) -> Result<Vec<Issue>, HostError> {
        work_items::issues(self, repository, label)
    }

    fn create_issue(&self, repository: &HostRepository, new: &NewIssue) -> Result<Issue, HostError> {
        work_items::create(self, repository, new)
    }

    fn update_issue(&self, repository: &HostRepository, number: u64, changes: &IssueChanges) -> Result<(), HostError> {
        work_items::update(self, repository, (number, changes))
    }

    /// Does nothing: a label of a pull request exists by its use.
    fn ensure_label(&self, _: &HostRepository, _: &Label) -> Result<(), HostError> {
        Ok(())
    }

    fn rate_limit(&self) -> Option<RateLimit> {
        self.transport.rate_limit()
    }

    fn calls(&self) -> CallCounts {
        self.transport.calls()
    }
}
