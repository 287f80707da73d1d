//! The API of GitLab.

use std::collections::{BTreeMap, BTreeSet};

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

/// The times of approvals, before and after the last push.
const TIMES: (&str, &str) = ("2026-01-01T00:00:00.000Z", "2026-01-03T00:00:00.000Z");

/// The time of the last push.
const PUSH_TIME: &str = "2026-01-02T00:00:00.000Z";

/// A group without projects.
const NEW_NAMESPACE: &str = "acme";

/// The id of the project, and that of forks.
const PROJECT_IDS: (u64, u64) = (1, 2);

pub(super) fn answer(context: Context<'_>) -> Response {
    let path: Vec<&str> = context.request.path.iter().map(String::as_str).collect();
    let Context { state, account, request } = context;
    let answered = match path.as_slice() {
        ["api", "v4", "user"] => Ok(Response::json(200, &user(account))),
        // Each name is the name of a user.
        ["api", "v4", "users"] => {
            Ok(Response::json(200, &json!([user(request.parameter("username").unwrap_or_default())])))
        }
        // Each name is the path of a group.
        ["api", "v4", "namespaces", path] => Ok(Response::json(200, &namespace(path))),
        ["api", "v4", "projects"] if request.method == "POST" => create(state, request),
        ["api", "v4", "projects", path, rest @ ..] => {
            state.repository(path).and_then(|state| Route { state, account, request }.answer((&request.method, rest)))
        }
        _ => Err(Denial::NotFound),
    };
    answered.unwrap_or_else(|denial| denied(&denial))
}

fn denied(denial: &Denial) -> Response {
    let (status, message) = denial.answer();
    match denial {
        Denial::Exists(_) => Response::json(409, &json!({ "message": [message] })),
        Denial::Invalid(_) => Response::json(400, &json!({ "message": { "base": [message] } })),
        Denial::Merge(MergeRefusal::HeadMoved) => Response::message(409, "SHA does not match HEAD of source branch"),
        Denial::Merge(MergeRefusal::Conflict) => Response::message(422, "Branch cannot be merged"),
        Denial::Merge(_) => Response::message(405, "405 Method Not Allowed"),
        _ => Response::message(status, &format!("{status} {message}")),
    }
}

fn namespace(path: &str) -> Value {
    let name = path.rsplit('/').next().unwrap_or(path);
    json!({ "id": id_of(path), "name": name, "path": name, "kind": "group", "full_path": path })
}

/// Creates a project in the namespace of those of the other projects that has the id. Other namespaces do not exist.
fn create(state: &mut HostState, request: &Request) -> Answered {
    let id = request.json().get("namespace_id").and_then(Value::as_u64);
    let owners = state.paths().filter_map(|path| Some(path.rsplit_once('/')?.0.to_owned()));
    let owner = owners.chain([NEW_NAMESPACE.to_owned()]).find(|owner| Some(id_of(owner)) == id);
    let owner = owner.ok_or_else(|| Denial::Invalid("namespace is not valid".to_owned()))?;
    let path = format!("{owner}/{}", request.text("path").unwrap_or_default());
    state.create(&path)?;
    let created = state.repository(&path)?;
    Ok(Response::json(201, &json!({ "id": 1, "default_branch": created.default_branch })))
}

/// An id that depends only on a text.
fn id_of(text: &str) -> u64 {
    text.bytes().fold(0_u64, |id, byte| id * 31 % 1_000_007 + u64::from(byte))
}

fn user(name: &str) -> Value {
    let id = id_of(name);
    json!({ "id": id, "username": name, "name": name, "state": "active" })
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
            ("GET", []) => Ok(self.project()),
            ("GET", ["repository", "branches", name]) => self.branch(name),
            ("GET", ["merge_requests"]) => Ok(self.merge_requests()),
            ("POST", ["merge_requests"]) => self.open(),
            ("GET", ["merge_requests", at]) => self.merge_request(200, number(at)?),
            ("PUT", ["merge_requests", at]) => self.update(number(at)?),
            ("PUT", ["merge_requests", at, "merge"]) => self.merge(number(at)?),
            ("POST", ["merge_requests", at, "cancel_merge_when_pipeline_succeeds"]) => self.cancel(number(at)?),
            ("GET", ["merge_requests", at, "notes"]) => {
                let notes = self.state.comments(number(at)?, self.account)?;
                let system = json!({ "id": 0, "body": "added 1 commit", "author": user("gitlab"), "system": true });
                let notes = std::iter::once(system).chain(notes.iter().map(note)).collect();
                Ok(Response::page(self.request, "per_page", notes))
            }
            ("POST", ["merge_requests", at, "notes"]) => {
                let body = self.text("body");
                Ok(Response::json(201, &note(&self.state.create_comment(number(at)?, (self.account, &body))?)))
            }
            ("PUT", ["merge_requests", _, "notes", id]) => {
                let body = self.text("body");
                Ok(Response::json(200, &note(&self.state.update_comment(id, (self.account, &body))?)))
            }
            ("GET", ["merge_requests", at, "resource_label_events"]) => {
                let labelled = self.state.labelled(number(at)?)?;
                let events = labelled.iter().zip(1..).map(|((name, account), id)| {
                    json!({
                        "id": id, "user": user(account), "resource_type": "MergeRequest", "resource_id": 1,
                        "label": { "id": 1, "name": name }, "action": "add",
                    })
                });
                Ok(Response::page(self.request, "per_page", events.collect()))
            }
            ("GET", ["repository", "commits", commit, "statuses"]) => self.statuses(commit),
            ("POST", ["statuses", commit]) => self.set_status(commit),
            ("GET", ["repository", "commits", commit, "merge_requests"]) => {
                let found = self.state.pull_requests_with(GitId::from_hex(commit).ok_or(Denial::NotFound)?);
                Ok(Response::page(self.request, "per_page", found.iter().map(|found| self.json(found)).collect()))
            }
            ("GET", ["merge_requests", at, "approvals"]) => self.approvals(number(at)?),
            ("GET", ["merge_requests", at, "versions"]) => self.versions(number(at)?),
            ("GET", ["issues"]) => Ok(self.issues()),
            ("POST", ["issues"]) => self.create_issue(),
            ("PUT", ["issues", at]) => self.update_issue(number(at)?),
            ("GET", ["labels", name]) => {
                let found = self.state.labels.iter().find(|label| label.name == *name).ok_or(Denial::NotFound)?;
                Ok(Response::json(200, &label_json(self.state, found)))
            }
            ("POST", ["labels"]) => {
                let color = self.text("color");
                let color = color.strip_prefix('#').ok_or_else(|| Denial::Invalid("color".to_owned()))?.to_owned();
                let label = IssueLabel { name: self.text("name"), color, description: self.text("description") };
                self.state.create_label(&label)?;
                Ok(Response::json(201, &label_json(self.state, &label)))
            }
            _ => Err(Denial::NotFound),
        }
    }

    fn project(&self) -> Response {
        let project = json!({
            "id": 1, "default_branch": self.state.default_branch,
            "only_allow_merge_if_pipeline_succeeds": self.state.requires_pipelines(),
        });
        Response::json(200, &project)
    }

    fn branch(&self, name: &str) -> Answered {
        let commit = self.state.head(name).ok_or(Denial::NotFound)?.to_string();
        let is_default = self.state.default_branch == name;
        let branch = json!({
            "name": name, "commit": { "id": commit }, "merged": false, "protected": self.state.rules.contains_key(name),
            "default": is_default, "developers_can_push": false, "developers_can_merge": false, "can_push": true,
        });
        Ok(Response::json(200, &branch))
    }

    fn text(&self, name: &str) -> String {
        self.request.text(name).unwrap_or_default()
    }

    /// The labels in a field, which are separated by commas.
    fn labels(&self, name: &str) -> BTreeSet<String> {
        let text = self.text(name);
        text.split(',').filter(|label| !label.is_empty()).map(str::to_owned).collect()
    }

    fn merge_requests(&self) -> Response {
        let parameter = |name| self.request.parameter(name);
        let is_selected = |found: &&PullRequest| {
            (parameter("state") == Some("all") || found.is_open())
                && parameter("source_branch").is_none_or(|head| head == found.head)
                && parameter("target_branch").is_none_or(|base| base == found.base)
        };
        let found = self.state.pull_requests();
        let found = found.iter().filter(is_selected).map(|found| self.json(found)).collect();
        Response::page(self.request, "per_page", found)
    }

    fn merge_request(&self, status: u16, number: u64) -> Answered {
        Ok(Response::json(status, &self.json(self.state.pull_request(number)?)))
    }

    fn json(&self, shown: &PullRequest) -> Value {
        let (state, merged) = match shown.state {
            PullRequestState::Open => ("opened", None),
            PullRequestState::Closed => ("closed", None),
            PullRequestState::Merged { commit } => ("merged", commit),
        };
        let refusal = self.state.merge_refusal(shown.number).unwrap_or(None);
        let status = match refusal {
            None => "mergeable",
            Some(MergeRefusal::Conflict) => "conflict",
            Some(MergeRefusal::Closed) => "not_open",
            Some(MergeRefusal::Blocked | MergeRefusal::HeadMoved) => "ci_must_pass",
        };
        json!({
            "id": 1_000 + shown.number, "iid": shown.number, "project_id": PROJECT_IDS.0, "web_url": shown.url,
            "source_branch": shown.head, "target_branch": shown.base, "target_project_id": PROJECT_IDS.0,
            "source_project_id": if shown.is_from_fork { PROJECT_IDS.1 } else { PROJECT_IDS.0 },
            "sha": shown.head_commit.map(|commit| commit.to_string()), "title": shown.title, "description": shown.body,
            "labels": shown.labels, "state": state, "merge_commit_sha": merged.map(|commit| commit.to_string()),
            "squash_commit_sha": null, "author": user(&shown.author), "merge_when_pipeline_succeeds": shown.is_auto_merge,
            "has_conflicts": refusal == Some(MergeRefusal::Conflict), "detailed_merge_status": status,
        })
    }

    fn open(&mut self) -> Answered {
        let new = NewPullRequest {
            head: self.text("source_branch"),
            base: self.text("target_branch"),
            title: self.text("title"),
            body: self.text("description"),
            ..NewPullRequest::default()
        };
        let number = self.state.open(self.account, &new)?;
        let add_labels = self.labels("labels");
        self.state.ensure_labels(&add_labels);
        let changes = PullRequestChanges { add_labels, ..PullRequestChanges::default() };
        self.state.update_as(self.account, number, &changes)?;
        self.merge_request(201, number)
    }

    fn update(&mut self, number: u64) -> Answered {
        let changes = PullRequestChanges {
            title: self.request.text("title"),
            body: self.request.text("description"),
            add_labels: self.labels("add_labels"),
            remove_labels: self.labels("remove_labels"),
        };
        self.state.ensure_labels(&changes.add_labels);
        self.state.update_as(self.account, number, &changes)?;
        if self.text("state_event") == "close" {
            self.state.close(number)?;
        }
        if let Some(ids) = self.request.json().get("reviewer_ids").and_then(Value::as_array) {
            let reviewers: Vec<_> = ids.iter().map(|id| Reviewer::User(id.to_string())).collect();
            self.state.request_reviews(number, &reviewers)?;
        }
        self.merge_request(200, number)
    }

    fn merge(&mut self, number: u64) -> Answered {
        let head = self.state.pull_request(number)?.head_commit;
        let expected = GitId::from_hex(&self.text("sha")).or(head).ok_or(Denial::NotFound)?;
        let is_automatic = self.request.json().get("auto_merge").is_some_and(|value| value == true);
        if is_automatic && head != Some(expected) {
            return Err(Denial::Merge(MergeRefusal::HeadMoved));
        }
        match self.state.merge(number, expected) {
            Err(Denial::Merge(MergeRefusal::Blocked)) if is_automatic => {
                let account = self.account;
                self.state.set_auto_merge(number, Some(account)).map_err(|_| Denial::Merge(MergeRefusal::Blocked))?;
            }
            result => drop(result?),
        }
        self.merge_request(200, number)
    }

    fn cancel(&mut self, number: u64) -> Answered {
        if !self.state.pull_request(number)?.is_auto_merge {
            return Ok(Response::message(406, "406 Not Acceptable"));
        }
        self.state.set_auto_merge(number, None)?;
        self.merge_request(201, number)
    }

    fn statuses(&self, commit: &str) -> Answered {
        let commit = GitId::from_hex(commit).ok_or(Denial::NotFound)?;
        let (name, is_all) = (self.request.parameter("name"), self.request.parameter("all") == Some("true"));
        let current = self.state.statuses(commit);
        let found: Vec<_> = self.state.all_statuses(commit).collect();
        let found = found.iter().filter(|(_, reported)| {
            let is_named = name.is_none_or(|name| name == reported.status.context);
            is_named && (is_all || current.contains(&reported.status))
        });
        Ok(Response::page(self.request, "per_page", found.map(status).collect()))
    }

    fn set_status(&mut self, commit: &str) -> Answered {
        let commit = GitId::from_hex(commit).ok_or(Denial::NotFound)?;
        let state = match self.text("state").as_str() {
            "pending" => StatusState::Pending,
            "success" => StatusState::Success,
            "failed" => StatusState::Failure,
            other => return Err(Denial::Invalid(format!("state `{other}`"))),
        };
        let new = CommitStatus {
            context: self.text("name"),
            state,
            description: self.text("description"),
            target_url: self.request.text("target_url"),
        };
        let is_same = |old: &CommitStatus| old.context == new.context && old.state == state;
        if self.state.statuses(commit).iter().any(is_same) {
            return Err(Denial::Invalid("Cannot transition status via :enqueue from :pending".to_owned()));
        }
        let account = self.account;
        self.state.set_status_as(account, commit, new.clone())?;
        Ok(Response::json(201, &status(&(1, ReportedStatus { status: new, account: account.to_owned() }))))
    }

    /// The pushes, the newest first.
    fn versions(&self, number: u64) -> Answered {
        let head = self.state.pull_request(number)?.head_commit.map(|commit| commit.to_string());
        let versions = [(2, head.unwrap_or_default(), PUSH_TIME), (1, "a".repeat(40), TIMES.0)];
        let versions = versions.map(|(id, head, time)| {
            json!({ "id": id, "head_commit_sha": head, "created_at": time, "merge_request_id": 1, "state": "collected" })
        });
        Ok(Response::page(self.request, "per_page", versions.into()))
    }

    fn approvals(&self, number: u64) -> Answered {
        let shown = self.state.pull_request(number)?;
        // The last verdict of each account. GitLab keeps those about older commits, with their times.
        let verdicts = self.state.reviews(number)?.into_iter().filter(|one| one.verdict != ReviewVerdict::Commented);
        let latest: BTreeMap<String, Review> = verdicts.map(|one| (one.account.clone(), one)).collect();
        let approved = latest.values().filter(|one| one.verdict == ReviewVerdict::Approved).map(|one| {
            let at = if one.commit == shown.head_commit { TIMES.1 } else { TIMES.0 };
            json!({ "user": user(&one.account), "approved_at": at })
        });
        let json = json!({
            "id": 1_000 + shown.number, "iid": shown.number, "project_id": PROJECT_IDS.0, "title": shown.title,
            "approvals_required": 1, "approvals_left": 0, "approved_by": approved.collect::<Vec<_>>(),
        });
        Ok(Response::json(200, &json))
    }

    fn issues(&self) -> Response {
        let issues = self.state.issues(self.request.parameter("labels").unwrap_or_default(), self.account);
        let author =
            |number| self.state.issues.iter().find(|row| row.shown.number == number).map(|row| row.author.clone());
        let issues = issues.iter().map(|found| issue(found, &author(found.number).unwrap_or_default()));
        Response::page(self.request, "per_page", issues.collect())
    }

    fn create_issue(&mut self) -> Answered {
        let labels = self.labels("labels");
        self.state.ensure_labels(&labels);
        let new = NewIssue { title: self.text("title"), body: self.text("description"), labels };
        let account = self.account;
        Ok(Response::json(201, &issue(&self.state.create_issue(account, &new)?, account)))
    }

    fn update_issue(&mut self, number: u64) -> Answered {
        let is_open = self.request.text("state_event").map(|event| event == "reopen");
        let changes =
            IssueChanges { title: self.request.text("title"), body: self.request.text("description"), is_open };
        Ok(Response::json(200, &issue(&self.state.update_issue(number, &changes)?, self.account)))
    }
}

fn label_json(state: &RepositoryState, label: &IssueLabel) -> Value {
    json!({
        "id": state.label_id(&label.name), "name": label.name, "color": format!("#{}", label.color), "text_color": "#FFFFFF",
        "description": label.description,
    })
}

fn note(comment: &Comment) -> Value {
    let id: u64 = comment.id.0.parse().unwrap_or_default();
    json!({ "id": id, "body": comment.body, "author": user(&comment.author), "system": false })
}

fn status((id, ReportedStatus { status, account }): &(u64, ReportedStatus)) -> Value {
    let state = match status.state {
        StatusState::Pending => "pending",
        StatusState::Success => "success",
        StatusState::Failure | StatusState::Error => "failed",
    };
    json!({
        "id": id, "name": status.context, "status": state, "description": status.description, "target_url": status.target_url,
        "author": user(account),
    })
}

fn issue(issue: &Issue, author: &str) -> Value {
    json!({
        "id": 2_000 + issue.number, "iid": issue.number, "web_url": issue.url, "title": issue.title,
        "description": issue.body, "state": if issue.is_open { "opened" } else { "closed" }, "author": user(author),
    })
}
