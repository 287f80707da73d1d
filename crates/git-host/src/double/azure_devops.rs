//! The API of Azure DevOps.

use model::git_id::GitId;
use serde_json::{Value, json};

use super::http::{Request, Response};
use super::{Context, work_items};
use crate::hosts::memory::{Denial, HostState, RepositoryState};
use crate::pull_request::{
    Comment, MergeRefusal, NewPullRequest, PullRequest, PullRequestChanges, PullRequestState, Reviewer,
};
use crate::status::{CommitStatus, ReportedStatus, StatusState};

/// What a route answers.
type Answered = Result<Response, Denial>;

/// The prefix of branches.
const BRANCH_PREFIX: &str = "refs/heads/";

/// The number of characters to which lists shorten descriptions.
const LISTED_CHARACTERS: usize = 400;

/// The id that withdraws an automatic completion.
const NO_IDENTITY: &str = "00000000-0000-0000-0000-000000000000";

/// The id of each project.
const PROJECT_ID: &str = "3411ebc1-d5aa-464f-9615-0b527bc66719";

/// The id of the policy that requires reviewers.
const REVIEWERS_POLICY: &str = "fa4e907d-c16b-4a4c-9dfa-4906e5d171dd";

/// The time at which each pull request was opened.
const CREATION_DATE: &str = "2026-01-01T08:00:00Z";

pub(super) fn answer(context: Context<'_>) -> Response {
    let Context { state, account, request } = context;
    let path: Vec<&str> = request.path.iter().map(String::as_str).collect();
    if request.parameter("api-version").is_none() {
        return Response::message(400, "No api-version was supplied");
    }
    let answered = match path.as_slice() {
        [_, "_apis", "connectionData"] => Ok(Response::json(200, &json!({ "authenticatedUser": identity(account) }))),
        [organization, project, "_apis", "wit", rest @ ..] => {
            let project = &format!("{organization}/{project}");
            work_items::Route { state, account, request, project }.answer(rest)
        }
        [organization, project, "_apis", "git", "repositories"] if request.method == "POST" => {
            create((state, request), (organization, project))
        }
        [organization, project, "_apis", "git", "policy", "configurations"] => {
            policies((state, request), &format!("{organization}/{project}/"))
        }
        [organization, project, "_apis", "git", "repositories", name, rest @ ..] => {
            state.repository(&format!("{organization}/{project}/{name}")).and_then(|state| {
                Route { state, names: (project, name), account, request }.answer((&request.method, rest))
            })
        }
        _ => Err(Denial::NotFound),
    };
    answered.unwrap_or_else(|denial| denied(&denial))
}

/// Creates a repository in a project.
fn create((state, request): (&mut HostState, &Request), (organization, project): (&str, &str)) -> Answered {
    let name = request.text("name").unwrap_or_default();
    let path = format!("{organization}/{project}/{name}");
    state.create(&path)?;
    let state = state.repository(&path)?;
    let route = Route { state, names: (project, &name), account: "", request };
    Ok(Response::json(201, &route.repository()))
}

/// The id of the repository with a name.
fn repository_id(name: &str) -> String {
    let digits = GitId::of_object("blob", name.as_bytes()).to_string();
    format!("3411ebc1-d5aa-464f-9615-{}", digits.get(..12).unwrap_or_default())
}

/// The policies that apply to a branch of a repository.
fn policies((state, request): (&mut HostState, &Request), project: &str) -> Answered {
    let id = request.parameter("repositoryId").unwrap_or_default();
    let is_it = |path: &&str| path.strip_prefix(project).is_some_and(|name| repository_id(name) == id);
    let path = state.paths().find(is_it).map(str::to_owned).ok_or(Denial::NotFound)?;
    let branch = request.parameter("refName").and_then(|name| name.strip_prefix(BRANCH_PREFIX)).unwrap_or_default();
    let rule = state.repository(&path)?.rules.contains_key(branch);
    let policy = json!({
        "id": 1, "url": "https://dev.azure.com/", "isEnabled": true, "isBlocking": true, "isDeleted": false,
        "type": { "id": REVIEWERS_POLICY, "displayName": "Minimum number of reviewers" }, "settings": {},
        "createdDate": CREATION_DATE,
    });
    let policies: Vec<Value> = rule.then_some(policy).into_iter().collect();
    Ok(Response::json(200, &json!({ "count": policies.len(), "value": policies })))
}

fn denied(denial: &Denial) -> Response {
    let (status, message) = match denial {
        Denial::Exists(message) => (409, format!("TF401179: {message}")),
        Denial::Invalid(message) => (400, message.clone()),
        Denial::Merge(refusal) => (409, refusal.message().to_owned()),
        denial => denial.answer(),
    };
    Response::json(status, &json!({ "message": message, "typeKey": "GitException", "errorCode": 0 }))
}

pub(super) fn identity(account: &str) -> Value {
    json!({ "id": account, "displayName": account })
}

struct Route<'r> {
    state: &'r mut RepositoryState,
    /// The project and the name of the repository.
    names: (&'r str, &'r str),
    account: &'r str,
    request: &'r Request,
}

impl Route<'_> {
    fn answer(mut self, (method, rest): (&String, &[&str])) -> Answered {
        let number = |text: &str| text.parse::<u64>().map_err(|_| Denial::NotFound);
        match (method.as_str(), rest) {
            ("GET", []) => {
                let branch = format!("{BRANCH_PREFIX}{}", self.state.default_branch);
                let mut json = self.repository();
                json["defaultBranch"] = json!(branch);
                Ok(Response::json(200, &json))
            }
            ("GET", ["pullrequests"]) => Ok(self.pull_requests()),
            ("POST", ["pullrequests"]) => self.open(),
            ("GET", ["pullrequests", at]) => self.pull_request(200, number(at)?),
            ("PATCH", ["pullrequests", at]) => self.update(number(at)?),
            ("POST", ["pullrequests", at, "labels"]) => {
                self.add_labels(number(at)?, vec![self.request.text("name").unwrap_or_default()])?;
                Ok(Response::json(200, &json!({ "name": self.request.text("name") })))
            }
            ("DELETE", ["pullrequests", at, "labels", name]) => {
                let remove_labels = [(*name).to_owned()].into();
                let changes = PullRequestChanges { remove_labels, ..PullRequestChanges::default() };
                self.state.update(number(at)?, &changes)?;
                Ok(Response::empty(200))
            }
            ("PUT", ["pullrequests", at, "reviewers", id]) => {
                self.state.request_reviews(number(at)?, &[Reviewer::User((*id).to_owned())])?;
                Ok(Response::json(200, &json!({ "id": id, "vote": 0 })))
            }
            ("GET", ["pullrequests", at, "threads"]) => {
                let comments = self.state.comments(number(at)?, self.account)?;
                let system =
                    json!({ "id": 0, "comments": [{ "id": 1, "content": "created", "commentType": "system" }] });
                let threads: Vec<Value> = std::iter::once(system).chain(comments.iter().map(thread)).collect();
                Ok(Response::json(200, &json!({ "value": threads, "count": threads.len() })))
            }
            ("POST", ["pullrequests", at, "threads"]) => {
                let json = self.request.json();
                let body = json.pointer("/comments/0/content").and_then(Value::as_str).unwrap_or_default();
                Ok(Response::json(200, &thread(&self.state.create_comment(number(at)?, (self.account, body))?)))
            }
            ("PATCH", ["pullrequests", _, "threads", id, "comments", "1"]) => {
                let body = self.request.text("content").unwrap_or_default();
                self.state.update_comment(id, (self.account, &body))?;
                Ok(Response::json(200, &json!({ "id": 1, "content": body })))
            }
            ("POST", ["commits", commit, "statuses"]) => self.set_status(commit),
            ("GET", ["commits", commit, "statuses"]) => self.statuses(commit),
            ("POST", ["pullrequestquery"]) => Ok(self.query()),
            ("GET", ["pullrequests", at, "reviewers"]) => {
                let reviewers = self.state.approvals(number(at)?)?;
                let reviewers =
                    reviewers.iter().map(|one| json!({ "id": one.account, "displayName": one.account, "vote": 10 }));
                // The vote of a member counts for its group, too.
                let team = json!({ "id": "team", "displayName": "team", "isContainer": true, "vote": 10 });
                let reviewers: Vec<Value> = reviewers.chain([team]).collect();
                Ok(Response::json(200, &json!({ "count": reviewers.len(), "value": reviewers })))
            }
            _ => Err(Denial::NotFound),
        }
    }

    fn pull_requests(&self) -> Response {
        let parameter = |name: &str| self.request.parameter(&format!("searchCriteria.{name}"));
        let is_branch = |name: &str, branch: &str| {
            parameter(name).is_none_or(|reference| reference.strip_prefix(BRANCH_PREFIX) == Some(branch))
        };
        let is_selected = |found: &&PullRequest| {
            (parameter("status") == Some("all") || found.is_open())
                && is_branch("sourceRefName", &found.head)
                && is_branch("targetRefName", &found.base)
        };
        let number = |name, default| self.request.parameter(name).and_then(|n| n.parse().ok()).unwrap_or(default);
        let found = self.state.pull_requests();
        let page = found.iter().rev().filter(is_selected).skip(number("$skip", 0)).take(number("$top", 100));
        let listed: Vec<Value> = page
            .map(|found| {
                let body = found.body.chars().take(LISTED_CHARACTERS).collect();
                self.json(&PullRequest { body, ..found.clone() })
            })
            .collect();
        Response::json(200, &json!({ "count": listed.len(), "value": listed }))
    }

    fn repository(&self) -> Value {
        let (project, name) = self.names;
        let project = json!({ "id": PROJECT_ID, "name": project, "state": "wellFormed", "visibility": "private" });
        json!({ "id": repository_id(name), "name": name, "project": project, "url": self.state.url })
    }

    fn pull_request(&self, status: u16, number: u64) -> Answered {
        Ok(Response::json(status, &self.json(self.state.pull_request(number)?)))
    }

    fn json(&self, shown: &PullRequest) -> Value {
        let (status, merged) = match shown.state {
            PullRequestState::Open => ("active", None),
            PullRequestState::Closed => ("abandoned", None),
            PullRequestState::Merged { commit } => ("completed", commit),
        };
        let refusal = self.state.merge_refusal(shown.number).unwrap_or(None);
        let row = self.state.pull_requests.iter().find(|row| row.shown.number == shown.number);
        let id = |commit: Option<GitId>| commit.map(|commit| json!({ "commitId": commit.to_string() }));
        let mut json = json!({
            "pullRequestId": shown.number, "repository": self.repository(), "url": shown.url, "isDraft": false,
            "creationDate": CREATION_DATE, "status": status, "title": shown.title, "description": shown.body,
            "sourceRefName": format!("{BRANCH_PREFIX}{}", shown.head), "targetRefName": format!("{BRANCH_PREFIX}{}", shown.base),
            "lastMergeSourceCommit": id(shown.head_commit), "lastMergeCommit": id(merged),
            "mergeStatus": if refusal == Some(MergeRefusal::Conflict) { "conflicts" } else { "succeeded" },
            "createdBy": identity(&shown.author),
            "labels": shown.labels.iter().map(|name| json!({ "name": name, "active": true })).collect::<Vec<_>>(),
        });
        if let Some(account) = row.and_then(|row| row.auto_merge.as_deref()) {
            json["autoCompleteSetBy"] = identity(account);
        }
        if shown.is_from_fork {
            json["forkSource"] = json!({ "repository": { "name": "fork" } });
        }
        json
    }

    fn branch(&self, name: &str) -> Result<String, Denial> {
        let reference = self.request.text(name).unwrap_or_default();
        let branch = reference.strip_prefix(BRANCH_PREFIX).map(str::to_owned);
        branch.ok_or_else(|| Denial::Invalid(format!("{name} is no branch")))
    }

    fn open(&mut self) -> Answered {
        let text = |name| self.request.text(name).unwrap_or_default();
        let new = NewPullRequest {
            head: self.branch("sourceRefName")?,
            base: self.branch("targetRefName")?,
            title: text("title"),
            body: text("description"),
            ..NewPullRequest::default()
        };
        let number = self.state.open(self.account, &new)?;
        let json = self.request.json();
        let labels = json.get("labels").and_then(Value::as_array).cloned().unwrap_or_default();
        let names = labels.iter().filter_map(|label| label.get("name")?.as_str().map(str::to_owned));
        self.add_labels(number, names.collect())?;
        self.pull_request(201, number)
    }

    fn add_labels(&mut self, number: u64, names: Vec<String>) -> Result<(), Denial> {
        self.state.ensure_labels(&names);
        let add_labels = names.into_iter().collect();
        self.state.update(number, &PullRequestChanges { add_labels, ..PullRequestChanges::default() })
    }

    fn update(&mut self, number: u64) -> Answered {
        let (title, body) = (self.request.text("title"), self.request.text("description"));
        self.state.update(number, &PullRequestChanges { title, body, ..PullRequestChanges::default() })?;
        let json = self.request.json();
        let id = |pointer: &str| json.pointer(pointer).and_then(Value::as_str);
        if let Some(account) = id("/autoCompleteSetBy/id") {
            let account = Some(account).filter(|account| *account != NO_IDENTITY);
            self.state.set_auto_merge(number, account)?;
            let answer = self.pull_request(200, number);
            // It completes in the background.
            self.state.settle();
            return answer;
        }
        match self.request.text("status").as_deref() {
            Some("abandoned") => self.state.close(number)?,
            Some("completed") => {
                let head = id("/lastMergeSourceCommit/commitId").and_then(GitId::from_hex).ok_or(Denial::NotFound)?;
                let before = self.pull_request(200, number);
                // The result of the merge is not in the answer.
                return match self.state.merge(number, head) {
                    Ok(_) | Err(Denial::Merge(MergeRefusal::Conflict)) => before,
                    Err(denial) => Err(denial),
                };
            }
            _ => {}
        }
        self.pull_request(200, number)
    }

    /// The pull requests of commits.
    fn query(&self) -> Response {
        let json = self.request.json();
        let queries = json.get("queries").and_then(Value::as_array).cloned().unwrap_or_default();
        let results = queries.iter().map(|query| {
            let (kind, items) = (query.get("type"), query.get("items").and_then(Value::as_array));
            let is_merge = kind.is_some_and(|kind| kind == "lastMergeCommit");
            let found = items.into_iter().flatten().filter_map(Value::as_str).map(|item| {
                let commit = GitId::from_hex(item);
                let is_of = |found: &&PullRequest| {
                    let merged = matches!(found.state, PullRequestState::Merged { commit: merged } if merged == commit);
                    if is_merge { merged } else { found.head_commit == commit }
                };
                let found = commit.map(|commit| self.state.pull_requests_with(commit)).unwrap_or_default();
                let found: Vec<Value> = found.iter().filter(is_of).map(|found| self.json(found)).collect();
                (item.to_owned(), found)
            });
            let found = found.filter(|(_, found)| !found.is_empty());
            Value::Object(found.map(|(item, found)| (item, Value::Array(found))).collect())
        });
        let results: Vec<Value> = results.collect();
        Response::json(200, &json!({ "queries": queries, "results": results }))
    }

    fn statuses(&self, commit: &str) -> Answered {
        let number = |name, default| self.request.parameter(name).and_then(|n| n.parse().ok()).unwrap_or(default);
        let found = self.state.all_statuses(GitId::from_hex(commit).ok_or(Denial::NotFound)?);
        let page = found.skip(number("skip", 0)).take(number("top", 1_000));
        let statuses: Vec<Value> = page.map(|one| status(&one)).collect();
        Ok(Response::json(200, &json!({ "count": statuses.len(), "value": statuses })))
    }

    fn set_status(&mut self, commit: &str) -> Answered {
        let json = self.request.json();
        let text = |pointer: &str| json.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let state = match text("/state").as_str() {
            "pending" => StatusState::Pending,
            "succeeded" => StatusState::Success,
            "failed" => StatusState::Failure,
            _ => StatusState::Error,
        };
        let context = [text("/context/genre"), text("/context/name")].join("/").trim_start_matches('/').to_owned();
        let target_url = self.request.text("targetUrl");
        let status = CommitStatus { context, state, description: text("/description"), target_url };
        self.state.set_status_as(self.account, GitId::from_hex(commit).ok_or(Denial::NotFound)?, status)?;
        Ok(Response::json(201, &json!({ "id": 1 })))
    }
}

fn status((id, ReportedStatus { status, account }): &(u64, ReportedStatus)) -> Value {
    let state = match status.state {
        StatusState::Pending => "pending",
        StatusState::Success => "succeeded",
        StatusState::Failure => "failed",
        StatusState::Error => "error",
    };
    let (genre, name) = status.context.split_once('/').unwrap_or(("", &status.context));
    json!({
        "id": id, "state": state, "description": status.description, "context": { "genre": genre, "name": name },
        "targetUrl": status.target_url, "createdBy": identity(account), "creationDate": CREATION_DATE,
    })
}

/// A comment as a thread of its own.
fn thread(comment: &Comment) -> Value {
    let id: u64 = comment.id.0.parse().unwrap_or_default();
    let shown = json!({ "id": 1, "content": comment.body, "commentType": "text", "author": identity(&comment.author) });
    json!({ "id": id, "comments": [shown], "status": "closed", "isDeleted": false })
}
