//! The API of Gitea and Forgejo.

use std::collections::BTreeSet;

use model::git_id::GitId;
use serde_json::{Value, json};

use super::Context;
use super::http::{Request, Response};
use crate::hosts::memory::{Denial, HostState, RepositoryState};
use crate::issue::{Issue, IssueChanges, IssueLabel, NewIssue};
use crate::pull_request::{
    Comment, MergeRefusal, NewPullRequest, PullRequest, PullRequestChanges, PullRequestState, Reviewer,
};
use crate::review::{Review, ReviewVerdict};
use crate::status::{CommitStatus, ReportedStatus, StatusState};

/// What a route answers.
type Answered = Result<Response, Denial>;

pub(super) fn answer(context: Context<'_>) -> Response {
    let path: Vec<&str> = context.request.path.iter().map(String::as_str).collect();
    let Context { state, account, request } = context;
    let answered = match path.as_slice() {
        ["api", "v1", "user"] => Ok(Response::json(200, &user(account))),
        ["api", "v1", "user", "repos"] => create((state, request), account),
        ["api", "v1", "orgs", owner, "repos"] => create((state, request), owner),
        ["api", "v1", "repos", owner, name, rest @ ..] => state
            .repository(&format!("{owner}/{name}"))
            .and_then(|state| Route { state, account, request }.answer((&request.method, rest))),
        _ => Err(Denial::NotFound),
    };
    answered.unwrap_or_else(|denial| denied(&denial))
}

/// Creates a repository of an organization or an account.
fn create((state, request): (&mut HostState, &Request), owner: &str) -> Answered {
    let path = format!("{owner}/{}", request.text("name").unwrap_or_default());
    state.create(&path)?;
    Ok(Response::json(201, &json!({ "id": 1, "default_branch": state.repository(&path)?.default_branch })))
}

fn denied(denial: &Denial) -> Response {
    let (status, message) = match denial {
        Denial::Merge(MergeRefusal::HeadMoved) => (409, "head out of date".to_owned()),
        Denial::Merge(MergeRefusal::Closed) => (404, "pull request is not open".to_owned()),
        denial => denial.answer(),
    };
    Response::json(status, &json!({ "message": message, "url": "https://git.example/api/swagger" }))
}

fn user(login: &str) -> Value {
    json!({ "id": 1, "login": login, "full_name": "" })
}

struct Route<'r> {
    state: &'r mut RepositoryState,
    account: &'r str,
    request: &'r Request,
}

impl Route<'_> {
    fn answer(mut self, (method, rest): (&String, &[&str])) -> Answered {
        let number = |text: &str| text.parse::<u64>().map_err(|_| Denial::NotFound);
        match (method.as_str(), rest) {
            ("GET", []) => Ok(Response::json(200, &json!({ "id": 1, "default_branch": self.state.default_branch }))),
            ("GET", ["pulls"]) => Ok(self.pull_requests()),
            ("POST", ["pulls"]) => self.open(),
            ("GET", ["pulls", at]) => self.pull_request(200, number(at)?),
            ("PATCH", ["pulls", at]) => self.update(number(at)?),
            ("POST", ["pulls", at, "merge"]) => self.merge(number(at)?),
            ("DELETE", ["pulls", at, "merge"]) => self.cancel(number(at)?),
            ("POST", ["pulls", at, "requested_reviewers"]) => self.request_reviews(number(at)?),
            ("PATCH", ["issues", "comments", id]) => {
                let body = self.text("body");
                Ok(Response::json(200, &comment(&self.state.update_comment(id, (self.account, &body))?)))
            }
            ("GET", ["issues", at, "comments"]) => {
                let comments = self.state.comments(number(at)?, self.account)?;
                Ok(Response::json(200, &comments.iter().map(comment).collect()))
            }
            ("POST", ["issues", at, "comments"]) => {
                let body = self.text("body");
                Ok(Response::json(201, &comment(&self.state.create_comment(number(at)?, (self.account, &body))?)))
            }
            ("POST", ["issues", at, "labels"]) => {
                let add_labels = self.names_of_ids("labels")?;
                let changes = PullRequestChanges { add_labels, ..PullRequestChanges::default() };
                self.state.update_as(self.account, number(at)?, &changes)?;
                Ok(Response::json(200, &json!([])))
            }
            ("GET", ["issues", at, "timeline"]) => {
                let labelled = self.state.labelled(number(at)?)?;
                let events = labelled.iter().zip(1..).filter_map(|((name, account), id)| {
                    let found = self.state.labels.iter().find(|label| label.name == *name)?;
                    let label = label(self.state, found);
                    Some(json!({ "id": id, "type": "label", "user": user(account), "label": label, "body": "1" }))
                });
                Ok(Response::page(self.request, "limit", events.collect()))
            }
            ("DELETE", ["issues", at, "labels", id]) => self.remove_label(number(at)?, number(id)?),
            ("GET", ["labels"]) => {
                let labels = self.state.labels.iter().map(|found| label(self.state, found)).collect();
                Ok(Response::page(self.request, "limit", labels))
            }
            ("POST", ["labels"]) => self.create_label(),
            ("POST", ["statuses", commit]) => self.set_status(commit),
            ("GET", ["commits", commit, "statuses"]) => {
                let statuses = self.state.all_statuses(GitId::from_hex(commit).ok_or(Denial::NotFound)?);
                let statuses: Vec<Value> = statuses.map(|one| status(&one)).collect();
                Ok(Response::page(self.request, "limit", statuses))
            }
            ("GET", ["commits", commit, "pull"]) => {
                let found = self.state.pull_requests_with(GitId::from_hex(commit).ok_or(Denial::NotFound)?);
                Ok(Response::json(200, &self.json(found.first().ok_or(Denial::NotFound)?)))
            }
            ("GET", ["pulls", at, "reviews"]) => {
                let (number, reviews) = (number(at)?, self.state.reviews(number(at)?)?);
                let head = self.state.pull_request(number)?.head_commit;
                let reviews = reviews.iter().zip(1..).map(|(found, id)| review((id, found), head)).collect();
                // This list names no next page.
                Ok(Response { headers: Vec::new(), ..Response::page(self.request, "limit", reviews) })
            }
            ("GET", ["issues"]) => Ok(self.issues()),
            ("POST", ["issues"]) => self.create_issue(),
            ("PATCH", ["issues", at]) => self.update_issue(number(at)?),
            ("GET", ["branches", name @ ..]) => self.branch(&name.join("/")),
            _ => Err(Denial::NotFound),
        }
    }

    /// A branch with the rule that is in effect.
    fn branch(&self, name: &str) -> Answered {
        let commit = self.state.head(name).ok_or(Denial::NotFound)?;
        let rule = self.state.rules.get(name);
        let context = rule.and_then(|rule| rule.required_status.as_ref());
        Ok(Response::json(
            200,
            &json!({
                "name": name, "commit": { "id": commit.to_string() }, "protected": rule.is_some(),
                "required_approvals": u32::from(rule.is_some_and(|rule| rule.required_review)),
                "enable_status_check": context.is_some(), "status_check_contexts": context.into_iter().collect::<Vec<_>>(),
                "user_can_push": true, "user_can_merge": true, "effective_branch_protection_name": "",
            }),
        ))
    }

    fn text(&self, name: &str) -> String {
        self.request.text(name).unwrap_or_default()
    }

    /// The names of the labels whose ids are in a field.
    fn names_of_ids(&self, name: &str) -> Result<BTreeSet<String>, Denial> {
        let json = self.request.json();
        let ids = json.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
        let name = |id: &Value| {
            let position = id.as_u64().and_then(|id| id.checked_sub(1)).map(|position| position as usize);
            let label = position.and_then(|position| self.state.labels.get(position));
            label.map(|label| label.name.clone()).ok_or_else(|| Denial::Invalid(format!("no label {id}")))
        };
        ids.iter().map(name).collect()
    }

    fn pull_requests(&self) -> Response {
        let state = self.request.parameter("state");
        let is_selected = |found: &&PullRequest| match state {
            Some("all") => true,
            Some("closed") => !found.is_open(),
            _ => found.is_open(),
        };
        let found = self.state.pull_requests();
        Response::page(self.request, "limit", found.iter().filter(is_selected).map(|found| self.json(found)).collect())
    }

    fn pull_request(&self, status: u16, number: u64) -> Answered {
        Ok(Response::json(status, &self.json(self.state.pull_request(number)?)))
    }

    fn json(&self, shown: &PullRequest) -> Value {
        let (is_merged, merged) = match shown.state {
            PullRequestState::Merged { commit } => (true, commit),
            _ => (false, None),
        };
        let refusal = self.state.merge_refusal(shown.number).unwrap_or(None);
        let has_branch = shown.is_from_fork || self.state.head(&shown.head).is_some();
        let reference = if has_branch { shown.head.clone() } else { format!("refs/pull/{}/head", shown.number) };
        let labels = shown.labels.iter().filter_map(|name| self.state.labels.iter().find(|label| label.name == *name));
        json!({
            "id": 1_000 + shown.number, "number": shown.number, "html_url": shown.url, "title": shown.title, "body": shown.body,
            "head": {
                "label": shown.head, "ref": reference, "repo_id": if shown.is_from_fork { 2 } else { 1 },
                "sha": shown.head_commit.map(|commit| commit.to_string()).unwrap_or_default(),
            },
            "base": { "label": shown.base, "ref": shown.base, "repo_id": 1, "sha": "" },
            "labels": labels.map(|found| label(self.state, found)).collect::<Vec<_>>(),
            "state": if shown.is_open() { "open" } else { "closed" }, "merged": is_merged,
            "merge_commit_sha": merged.map(|commit| commit.to_string()), "user": user(&shown.author),
            "mergeable": refusal != Some(MergeRefusal::Conflict),
        })
    }

    fn open(&mut self) -> Answered {
        let new = NewPullRequest {
            head: self.text("head"),
            base: self.text("base"),
            title: self.text("title"),
            body: self.text("body"),
            ..NewPullRequest::default()
        };
        let number = self.state.open(self.account, &new)?;
        self.pull_request(201, number)
    }

    fn update(&mut self, number: u64) -> Answered {
        let is_closing = self.text("state") == "closed";
        if is_closing && matches!(self.state.pull_request(number)?.state, PullRequestState::Merged { .. }) {
            return Ok(Response::message(412, "cannot change state of this pull request, it was already merged"));
        }
        let (title, body) = (self.request.text("title"), self.request.text("body"));
        self.state.update(number, &PullRequestChanges { title, body, ..PullRequestChanges::default() })?;
        if is_closing {
            self.state.close(number)?;
        }
        self.pull_request(201, number)
    }

    fn merge(&mut self, number: u64) -> Answered {
        let head = self.state.pull_request(number)?.head_commit;
        let expected = GitId::from_hex(&self.text("head_commit_id")).or(head).ok_or(Denial::NotFound)?;
        let is_automatic = self.request.json().get("merge_when_checks_succeed").is_some_and(|value| value == true);
        if self.state.pull_request(number)?.is_auto_merge && is_automatic {
            return Ok(Response::message(409, "pull request is already scheduled to auto merge"));
        }
        match self.state.merge(number, expected) {
            Ok(_) => Ok(Response::empty(200)),
            Err(Denial::Merge(MergeRefusal::Blocked)) if is_automatic => {
                let account = self.account;
                self.state.set_auto_merge(number, Some(account)).map_err(|_| Denial::Merge(MergeRefusal::Blocked))?;
                Ok(Response::empty(201))
            }
            Err(denial) => Err(denial),
        }
    }

    fn cancel(&mut self, number: u64) -> Answered {
        if !self.state.pull_request(number)?.is_auto_merge {
            return Err(Denial::NotFound);
        }
        self.state.set_auto_merge(number, None)?;
        Ok(Response::empty(204))
    }

    fn request_reviews(&mut self, number: u64) -> Answered {
        let users = self.request.texts("reviewers").into_iter().map(Reviewer::User);
        let teams = self.request.texts("team_reviewers").into_iter().map(Reviewer::Team);
        self.state.request_reviews(number, &users.chain(teams).collect::<Vec<_>>())?;
        Ok(Response::json(201, &json!([])))
    }

    fn remove_label(&mut self, number: u64, id: u64) -> Answered {
        let position = id.checked_sub(1).ok_or(Denial::NotFound)? as usize;
        let name = self.state.labels.get(position).ok_or(Denial::NotFound)?.name.clone();
        self.state
            .update(number, &PullRequestChanges { remove_labels: [name].into(), ..PullRequestChanges::default() })?;
        Ok(Response::empty(204))
    }

    fn create_label(&mut self) -> Answered {
        let color = self.text("color").trim_start_matches('#').to_owned();
        let new = IssueLabel { name: self.text("name"), color, description: self.text("description") };
        self.state.create_label(&new)?;
        Ok(Response::json(201, &label(self.state, &new)))
    }

    fn set_status(&mut self, commit: &str) -> Answered {
        let state = match self.text("state").as_str() {
            "pending" => StatusState::Pending,
            "success" => StatusState::Success,
            "failure" => StatusState::Failure,
            _ => StatusState::Error,
        };
        let status = CommitStatus {
            context: self.text("context"),
            state,
            description: self.text("description"),
            target_url: self.request.text("target_url").filter(|url| !url.is_empty()),
        };
        self.state.set_status_as(self.account, GitId::from_hex(commit).ok_or(Denial::NotFound)?, status)?;
        Ok(Response::json(201, &json!({ "id": 1 })))
    }

    fn issues(&self) -> Response {
        let issues = self.state.issues(self.request.parameter("labels").unwrap_or_default(), self.account);
        let author =
            |number| self.state.issues.iter().find(|row| row.shown.number == number).map(|row| row.author.clone());
        // Gitea lists the newest first.
        let issues = issues.iter().rev().map(|found| issue(found, &author(found.number).unwrap_or_default()));
        Response::page(self.request, "limit", issues.collect())
    }

    fn create_issue(&mut self) -> Answered {
        let new = NewIssue { title: self.text("title"), body: self.text("body"), labels: self.names_of_ids("labels")? };
        let account = self.account;
        Ok(Response::json(201, &issue(&self.state.create_issue(account, &new)?, account)))
    }

    fn update_issue(&mut self, number: u64) -> Answered {
        let is_open = self.request.text("state").map(|state| state == "open");
        let changes = IssueChanges { title: self.request.text("title"), body: self.request.text("body"), is_open };
        Ok(Response::json(201, &issue(&self.state.update_issue(number, &changes)?, self.account)))
    }
}

fn label(state: &RepositoryState, label: &IssueLabel) -> Value {
    json!({ "id": state.label_id(&label.name), "name": label.name, "color": label.color, "description": label.description })
}

/// A review of a pull request with a head.
fn review((id, review): (u64, &Review), head: Option<GitId>) -> Value {
    // A withdrawn verdict stays what it was.
    let verdict = match review.verdict {
        ReviewVerdict::Approved | ReviewVerdict::Dismissed => "APPROVED",
        ReviewVerdict::ChangesRequested => "REQUEST_CHANGES",
        ReviewVerdict::Commented => "COMMENT",
    };
    json!({
        "id": id, "user": user(&review.account), "state": verdict, "body": "", "official": true, "stale": review.commit != head,
        "dismissed": review.verdict == ReviewVerdict::Dismissed, "commit_id": review.commit.map(|commit| commit.to_string()),
        "submitted_at": review.at.map(|at| at.to_string()),
    })
}

fn status((id, ReportedStatus { status, account }): &(u64, ReportedStatus)) -> Value {
    let state = match status.state {
        StatusState::Pending => "pending",
        StatusState::Success => "success",
        StatusState::Failure => "failure",
        StatusState::Error => "error",
    };
    json!({
        "id": id, "status": state, "context": status.context, "description": status.description,
        "target_url": status.target_url.clone().unwrap_or_default(), "creator": user(account),
    })
}

fn comment(comment: &Comment) -> Value {
    let id: u64 = comment.id.0.parse().unwrap_or_default();
    json!({ "id": id, "body": comment.body, "user": user(&comment.author) })
}

fn issue(issue: &Issue, author: &str) -> Value {
    json!({
        "id": 2_000 + issue.number, "number": issue.number, "html_url": issue.url, "title": issue.title, "body": issue.body,
        "state": if issue.is_open { "open" } else { "closed" }, "user": user(author), "pull_request": null,
    })
}
