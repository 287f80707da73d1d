//! The API of GitHub.

mod json;
mod protection;

use std::collections::BTreeSet;

use jiff::Timestamp;
use model::git_id::GitId;
use serde_json::{Value, json};

use super::http::{Request, Response};
use super::{AppDouble, Context};
use crate::hosts::memory::{Denial, RepositoryState};
use crate::issue::{IssueChanges, IssueLabel, NewIssue};
use crate::pull_request::{MergeRefusal, NewPullRequest, PullRequest, PullRequestChanges, Reviewer};
use crate::status::{CommitStatus, ReportedStatus, StatusState};

/// What a route answers.
type Answered = Result<Response, Denial>;

pub(super) fn answer(context: Context<'_>) -> Response {
    let path: Vec<&str> = context.request.path.iter().map(String::as_str).collect();
    let answered = match path.as_slice() {
        ["api", "graphql"] => Ok(graphql(context)),
        ["api", "v3", "user", "repos"] => create(context, None),
        ["api", "v3", "orgs", owner, "repos"] => create(context, Some((*owner).to_owned())),
        ["api", "v3", "repos", owner, name, rest @ ..] => {
            let path = format!("{owner}/{name}");
            let Context { state, account, request } = context;
            state
                .repository(&path)
                .and_then(|state| Route { state, path: &path, account, request }.answer(&(&request.method, rest)))
        }
        _ => Err(Denial::NotFound),
    };
    answered.unwrap_or_else(|denial| denied(&denial))
}

/// Creates a repository of an organization, or of the account.
fn create(context: Context<'_>, owner: Option<String>) -> Answered {
    let Context { state, account, request } = context;
    let owner = owner.unwrap_or_else(|| account.to_owned());
    let path = format!("{owner}/{}", request.text("name").unwrap_or_default());
    state.create(&path)?;
    let created = state.repository(&path)?;
    Ok(Response::json(201, &json::repository(created, &path)))
}

fn denied(denial: &Denial) -> Response {
    match denial {
        Denial::Exists(message) | Denial::Invalid(message) => {
            let error = json!({ "resource": "PullRequest", "code": "custom", "message": message });
            let url = "https://docs.github.com/rest";
            Response::json(422, &json!({ "message": "Validation Failed", "errors": [error], "documentation_url": url }))
        }
        Denial::Merge(MergeRefusal::HeadMoved) => Response::message(409, &denial.answer().1),
        _ => {
            let (status, message) = denial.answer();
            Response::message(status, &message)
        }
    }
}

/// The answer to a request of an app, and the token that was issued. None if the request is not one of an app.
pub(super) fn answer_app(app: &AppDouble, request: &Request, issued: usize) -> Option<(Response, Option<String>)> {
    let path: Vec<&str> = request.path.iter().map(String::as_str).collect();
    match path.as_slice() {
        ["api", "v3", "app"] => Some((Response::json(200, &json::app(app)), None)),
        ["api", "v3", "repos", _, _, "installation"] => Some((Response::json(200, &json::installation(app)), None)),
        ["api", "v3", "app", "installations", id, "access_tokens"] => {
            if *id != app.installation.to_string() {
                return Some((Response::message(404, "Not Found"), None));
            }
            let token = format!("ghs_{issued}");
            let expires_at =
                Timestamp::from_second(Timestamp::now().as_second() + app.token_seconds).unwrap_or_default();
            let body = json!({ "token": token, "expires_at": expires_at.to_string() });
            Some((Response::json(201, &body), Some(token)))
        }
        _ => None,
    }
}

struct Route<'r> {
    state: &'r mut RepositoryState,
    path: &'r str,
    account: &'r str,
    request: &'r Request,
}

impl Route<'_> {
    fn answer(mut self, route: &(&String, &[&str])) -> Answered {
        let number = |text: &str| text.parse::<u64>().map_err(|_| Denial::NotFound);
        match (route.0.as_str(), route.1) {
            ("GET", []) => Ok(Response::json(200, &json::repository(self.state, self.path))),
            ("GET", ["pulls"]) => Ok(self.pull_requests()),
            ("POST", ["pulls"]) => self.open(),
            ("GET", ["pulls", at]) => self.pull_request(200, number(at)?),
            ("PATCH", ["pulls", at]) => self.update(number(at)?),
            ("PUT", ["pulls", at, "merge"]) => self.merge(number(at)?),
            ("POST", ["pulls", at, "requested_reviewers"]) => self.request_reviews(number(at)?),
            ("GET", ["issues"]) => Ok(self.issues()),
            ("POST", ["issues"]) => self.create_issue(),
            ("PATCH", ["issues", "comments", id]) => {
                let body = self.request.text("body").unwrap_or_default();
                let comment = self.state.update_comment(id, (self.account, &body))?;
                Ok(Response::json(200, &json::comment(self.state, &comment)))
            }
            ("PATCH", ["issues", at]) => self.update_issue(number(at)?),
            ("GET", ["issues", at, "comments"]) => {
                let comments = self.state.comments(number(at)?, self.account)?;
                let comments = comments.iter().map(|comment| json::comment(self.state, comment)).collect();
                Ok(Response::page(self.request, "per_page", comments))
            }
            ("POST", ["issues", at, "comments"]) => {
                let body = self.request.text("body").unwrap_or_default();
                let comment = self.state.create_comment(number(at)?, (self.account, &body))?;
                Ok(Response::json(201, &json::comment(self.state, &comment)))
            }
            ("POST", ["issues", at, "labels"]) => self.add_labels(number(at)?),
            ("GET", ["issues", at, "events"]) => {
                let labelled = self.state.labelled(number(at)?)?;
                let events = labelled.iter().zip(1..).map(|(one, id)| json::labelled(self.state, one, id));
                Ok(Response::page(self.request, "per_page", events.collect()))
            }
            ("DELETE", ["issues", at, "labels", name]) => self.remove_label(number(at)?, name),
            ("GET", ["labels", name]) => {
                let found = self.state.labels.iter().find(|label| label.name == *name).ok_or(Denial::NotFound)?;
                Ok(Response::json(200, &json::label(self.state, found)))
            }
            ("POST", ["labels"]) => self.create_label(),
            ("POST", ["statuses", commit]) => self.set_status(commit),
            ("GET", ["commits", commit, "statuses"]) => {
                let statuses = self.state.all_statuses(GitId::from_hex(commit).ok_or(Denial::NotFound)?);
                // The newest one is the first.
                let mut statuses: Vec<_> = statuses.map(|one| json::status(self.state, &one)).collect();
                statuses.reverse();
                Ok(Response::page(self.request, "per_page", statuses))
            }
            ("GET", ["commits", commit, "pulls"]) => {
                let found = self.state.pull_requests_with(GitId::from_hex(commit).ok_or(Denial::NotFound)?);
                let found = found.iter().map(|found| json::pull_request(self.state, self.path, found)).collect();
                Ok(Response::page(self.request, "per_page", found))
            }
            ("GET", ["pulls", at, "reviews"]) => {
                let reviews = self.state.reviews(number(at)?)?;
                let reviews = reviews.iter().zip(1..).map(|one| json::review(self.state, one)).collect();
                Ok(Response::page(self.request, "per_page", reviews))
            }
            ("GET", rest) => protection::answer((self.state, self.path), self.request, rest),
            _ => Err(Denial::NotFound),
        }
    }

    fn pull_requests(&self) -> Response {
        let parameter = |name| self.request.parameter(name);
        let owner = self.path.split('/').next().unwrap_or_default();
        let is_selected = |found: &PullRequest| {
            let own = format!("{}:{}", if found.is_from_fork { &found.author } else { owner }, found.head);
            (parameter("state") == Some("all") || found.is_open())
                && parameter("base").is_none_or(|base| base == found.base)
                && parameter("head").is_none_or(|head| head == own)
        };
        let found = self.state.pull_requests().into_iter().filter(is_selected);
        let found = found.map(|found| json::pull_request(self.state, self.path, &found)).collect();
        Response::page(self.request, "per_page", found)
    }

    fn pull_request(&self, status: u16, number: u64) -> Answered {
        let found = self.state.pull_request(number)?;
        Ok(Response::json(status, &json::whole_pull_request(self.state, self.path, found)))
    }

    fn open(&mut self) -> Answered {
        let text = |name| self.request.text(name).unwrap_or_default();
        let new = NewPullRequest {
            head: text("head"),
            base: text("base"),
            title: text("title"),
            body: text("body"),
            ..NewPullRequest::default()
        };
        let number = self.state.open(self.account, &new)?;
        self.pull_request(201, number)
    }

    fn update(&mut self, number: u64) -> Answered {
        let (title, body) = (self.request.text("title"), self.request.text("body"));
        self.state.update(number, &PullRequestChanges { title, body, ..PullRequestChanges::default() })?;
        if self.request.text("state").as_deref() == Some("closed") {
            self.state.close(number)?;
        }
        self.pull_request(200, number)
    }

    fn merge(&mut self, number: u64) -> Answered {
        let head = self.state.pull_request(number)?.head_commit;
        let expected = self.request.text("sha").and_then(|sha| GitId::from_hex(&sha)).or(head);
        let merged = self.state.merge(number, expected.ok_or(Denial::NotFound)?)?;
        let body = json!({ "sha": merged.to_string(), "merged": true, "message": "Pull Request successfully merged" });
        Ok(Response::json(200, &body))
    }

    fn request_reviews(&mut self, number: u64) -> Answered {
        let users = self.request.texts("reviewers").into_iter().map(Reviewer::User);
        let teams = self.request.texts("team_reviewers").into_iter().map(Reviewer::Team);
        let reviewers: Vec<Reviewer> = users.chain(teams).collect();
        self.state.request_reviews(number, &reviewers)?;
        let found = self.state.pull_request(number)?;
        Ok(Response::json(201, &json::pull_request(self.state, self.path, found)))
    }

    fn add_labels(&mut self, number: u64) -> Answered {
        let add_labels: BTreeSet<String> = self.request.texts("labels").into_iter().collect();
        self.state.ensure_labels(&add_labels);
        let changes = PullRequestChanges { add_labels, ..PullRequestChanges::default() };
        self.state.update_as(self.account, number, &changes)?;
        let labels = json::labels(self.state, &self.state.pull_request(number)?.labels);
        Ok(Response::json(200, &labels))
    }

    fn remove_label(&mut self, number: u64, name: &str) -> Answered {
        if !self.state.pull_request(number)?.labels.contains(name) {
            return Err(Denial::NotFound);
        }
        let changes = PullRequestChanges { remove_labels: [name.to_owned()].into(), ..PullRequestChanges::default() };
        self.state.update(number, &changes)?;
        Ok(Response::json(200, &json::labels(self.state, &self.state.pull_request(number)?.labels)))
    }

    fn create_label(&mut self) -> Answered {
        let text = |name| self.request.text(name).unwrap_or_default();
        let label = IssueLabel { name: text("name"), color: text("color"), description: text("description") };
        self.state.create_label(&label)?;
        Ok(Response::json(201, &json::label(self.state, &label)))
    }

    fn set_status(&mut self, commit: &str) -> Answered {
        let text = |name| self.request.text(name).unwrap_or_default();
        let state = match text("state").as_str() {
            "pending" => StatusState::Pending,
            "success" => StatusState::Success,
            "failure" => StatusState::Failure,
            _ => StatusState::Error,
        };
        let status = CommitStatus {
            context: text("context"),
            state,
            description: text("description"),
            target_url: self.request.text("target_url"),
        };
        let account = self.account;
        self.state.set_status_as(account, GitId::from_hex(commit).ok_or(Denial::NotFound)?, status.clone())?;
        let reported = ReportedStatus { status, account: account.to_owned() };
        Ok(Response::json(201, &json::status(self.state, &(1, reported))))
    }

    /// The issues with a label. Pull requests are issues, too.
    fn issues(&self) -> Response {
        let label = self.request.parameter("labels").unwrap_or_default();
        let author =
            |number| self.state.issues.iter().find(|row| row.shown.number == number).map(|row| row.author.clone());
        let issues = self.state.issues(label, self.account);
        let issues =
            issues.iter().map(|issue| json::issue(self.state, issue, &author(issue.number).unwrap_or_default()));
        let pull_requests = self.state.pull_requests();
        let pull_requests = pull_requests.iter().filter(|found| found.labels.contains(label));
        let pull_requests = pull_requests.map(|found| json::pull_request_as_issue(self.state, found));
        Response::page(self.request, "per_page", issues.chain(pull_requests).collect())
    }

    fn create_issue(&mut self) -> Answered {
        let text = |name| self.request.text(name).unwrap_or_default();
        let labels: BTreeSet<String> = self.request.texts("labels").into_iter().collect();
        self.state.ensure_labels(&labels);
        let issue =
            self.state.create_issue(self.account, &NewIssue { title: text("title"), body: text("body"), labels })?;
        Ok(Response::json(201, &json::issue(self.state, &issue, self.account)))
    }

    fn update_issue(&mut self, number: u64) -> Answered {
        let is_open = self.request.text("state").map(|state| state == "open");
        let changes = IssueChanges { title: self.request.text("title"), body: self.request.text("body"), is_open };
        let issue = self.state.update_issue(number, &changes)?;
        Ok(Response::json(200, &json::issue(self.state, &issue, self.account)))
    }
}

fn graphql(context: Context<'_>) -> Response {
    let Context { state, account, request } = context;
    let (json, query) = (request.json(), request.text("query").unwrap_or_default());
    if query.contains("viewer") {
        return Response::json(200, &json!({ "data": { "viewer": { "login": account } } }));
    }
    let variable = |name: &str| json.pointer(&format!("/variables/{name}")).and_then(Value::as_str).unwrap_or_default();
    let id = variable("id").strip_prefix("PR_").and_then(|id| id.split_once('#'));
    let found = id.and_then(|(path, number)| Some((state.repository(path).ok()?, number.parse::<u64>().ok()?)));
    let failed = |kind: &str, message: &str| {
        Response::json(200, &json!({ "data": null, "errors": [{ "type": kind, "message": message }] }))
    };
    let Some((state, number)) = found else { return failed("NOT_FOUND", "Could not resolve to a node") };
    let Ok(shown) = state.pull_request(number).cloned() else {
        return failed("NOT_FOUND", "Could not resolve to a node");
    };
    let is_enabled = query.contains("enablePullRequestAutoMerge");
    if is_enabled && state.merge_refusal(number) == Ok(None) {
        return failed("UNPROCESSABLE", "Pull request Pull request is in clean status");
    }
    if is_enabled && shown.head_commit != GitId::from_hex(variable("head")) {
        return failed("UNPROCESSABLE", "Head sha didn't match expected head");
    }
    match state.set_auto_merge(number, is_enabled.then_some(account)) {
        Ok(()) => Response::json(200, &json!({ "data": { "pullRequest": { "number": number } } })),
        Err(denial) => failed("UNPROCESSABLE", &denial.answer().1),
    }
}
