//! GitHub's JSON, with all fields that its OpenAPI description requires.

use model::git_id::GitId;
use serde_json::{Map, Value, json};

use super::super::AppDouble;
use crate::hosts::memory::RepositoryState;
use crate::issue::{Issue, IssueLabel};
use crate::pull_request::{Comment, MergeRefusal, PullRequest, PullRequestState};
use crate::review::{Review, ReviewVerdict};
use crate::status::{ReportedStatus, StatusState};

/// The time of everything.
const TIME: &str = "2026-01-01T00:00:00Z";

/// An object with addresses: for each name, `<name>_url` below an address.
fn addresses(base: &str, names: &str) -> Map<String, Value> {
    names.split(' ').map(|name| (format!("{name}_url"), json!(format!("{base}/{name}")))).collect()
}

/// Two objects as one.
fn joined(mut one: Map<String, Value>, other: &Value) -> Value {
    one.extend(other.as_object().cloned().unwrap_or_default());
    Value::Object(one)
}

pub(super) fn user(login: &str) -> Value {
    let url = format!("https://github.example/{}", login.replace(['[', ']'], ""));
    let names =
        "avatar html followers following gists starred subscriptions organizations repos events received_events";
    let kind = if login.ends_with("[bot]") { "Bot" } else { "User" };
    let fields = json!({
        "login": login, "id": 1, "node_id": "U_1", "gravatar_id": "", "type": kind, "site_admin": false, "url": url,
    });
    joined(addresses(&url, names), &fields)
}

pub(super) fn repository(state: &RepositoryState, path: &str) -> Value {
    let names = "archive assignees blobs branches collaborators comments commits compare contents contributors deployments \
        downloads events forks git_commits git_refs git_tags hooks html issue_comment issue_events issues keys labels languages \
        merges milestones notifications pulls releases stargazers statuses subscribers subscription tags teams trees clone git \
        ssh svn";
    let (owner, name) = path.split_once('/').unwrap_or(("", path));
    let fields = json!({
        "id": 1, "node_id": "R_1", "name": name, "full_name": path, "owner": user(owner), "private": true, "description": null,
        "fork": false, "url": state.url, "default_branch": state.default_branch, "forks": 0, "forks_count": 0,
        "has_downloads": true, "has_issues": true, "has_projects": true, "has_wiki": false, "has_pages": false,
        "has_discussions": false, "homepage": null, "language": null, "archived": false, "disabled": false, "mirror_url": null,
        "open_issues": 0, "open_issues_count": 0, "license": null, "pushed_at": TIME, "size": 0, "stargazers_count": 0,
        "watchers": 0, "watchers_count": 0, "created_at": TIME, "updated_at": TIME, "network_count": 0, "subscribers_count": 0,
    });
    joined(addresses(&state.url, names), &fields)
}

pub(super) fn label(state: &RepositoryState, label: &IssueLabel) -> Value {
    json!({
        "id": state.label_id(&label.name), "node_id": "LA_1", "url": format!("{}/labels/{}", state.url, label.name.replace(' ', "%20")),
        "name": label.name, "description": label.description, "color": label.color, "default": false,
    })
}

/// The event of an added label.
pub(super) fn labelled(state: &RepositoryState, (name, account): &(String, String), id: u64) -> Value {
    let color = state.labels.iter().find(|label| label.name == *name).map(|label| label.color.clone());
    json!({
        "id": id, "node_id": format!("LE_{id}"), "url": format!("{}/issues/events/{id}", state.url), "actor": user(account),
        "event": "labeled", "commit_id": null, "commit_url": null, "created_at": TIME, "performed_via_github_app": null,
        "label": { "name": name, "color": color.unwrap_or_default() },
    })
}

/// The labels with these names.
pub(super) fn labels<'l>(state: &RepositoryState, names: impl IntoIterator<Item = &'l String>) -> Value {
    let found = names.into_iter().filter_map(|name| state.labels.iter().find(|label| label.name == *name));
    found.map(|found| label(state, found)).collect()
}

fn branch(state: &RepositoryState, path: &str, (name, commit): (&str, Option<GitId>)) -> Value {
    let owner = path.split('/').next().unwrap_or_default();
    let sha = commit.map(|commit| commit.to_string()).unwrap_or_default();
    json!({
        "label": format!("{owner}:{name}"), "ref": name, "sha": sha, "repo": repository(state, path), "user": user(owner),
    })
}

/// A branch without a branch protection rule.
pub(super) fn whole_branch(state: &RepositoryState, name: &str, commit: GitId) -> Value {
    let (url, sha) = (format!("{}/branches/{name}", state.url), commit.to_string());
    let at = format!("{}/commits/{sha}", state.url);
    let person = json!({ "name": "Kalypso", "email": "kalypso@example.com", "date": TIME });
    let details = json!({
        "url": at, "author": person, "committer": person, "message": "a commit", "comment_count": 0,
        "tree": { "sha": sha, "url": at },
    });
    let commit = json!({
        "url": at, "sha": sha, "node_id": "C_1", "html_url": at, "comments_url": at, "commit": details, "author": null,
        "committer": null, "parents": [],
    });
    let checks = json!({ "enforcement_level": "off", "contexts": [], "checks": [] });
    json!({
        "name": name, "commit": commit, "_links": { "html": url, "self": url }, "protected": false,
        "protection": { "enabled": false, "required_status_checks": checks }, "protection_url": format!("{url}/protection"),
    })
}

/// A pull request, with the fields of lists only, or all.
pub(super) fn pull_request(state: &RepositoryState, path: &str, shown: &PullRequest) -> Value {
    let fork = state.pull_requests.iter().find(|row| row.shown.number == shown.number).and_then(|row| row.fork.clone());
    let (merged_at, merge_commit) = match shown.state {
        PullRequestState::Merged { commit } => (Some(TIME), commit),
        _ => (None, None),
    };
    let url = &shown.url;
    let links: Map<String, Value> = "comments commits statuses html issue review_comments review_comment self"
        .split(' ')
        .map(|name| (name.to_owned(), json!({ "href": url })))
        .collect();
    let auto_merge = shown.is_auto_merge.then(|| {
        json!({ "enabled_by": user(&shown.author), "merge_method": "merge", "commit_title": "", "commit_message": "" })
    });
    let fields = json!({
        "_links": links, "assignee": null, "assignees": [], "labels": labels(state, &shown.labels),
        "head": branch(state, fork.as_deref().unwrap_or(path), (&shown.head, shown.head_commit)),
        "base": branch(state, path, (&shown.base, state.head(&shown.base))),
        "body": shown.body, "closed_at": null, "created_at": TIME, "id": shown.number,
        "node_id": format!("PR_{path}#{}", shown.number), "merge_commit_sha": merge_commit.map(|commit| commit.to_string()),
        "merged_at": merged_at, "milestone": null, "number": shown.number, "state": if shown.is_open() { "open" } else { "closed" },
        "locked": false, "title": shown.title, "updated_at": TIME, "url": url, "user": user(&shown.author),
        "author_association": "MEMBER", "auto_merge": auto_merge, "draft": false,
    });
    let names = "comments commits diff html issue patch review_comment review_comments statuses";
    let mut shown_url = addresses(url, names);
    shown_url.insert("html_url".to_owned(), json!(url));
    joined(shown_url, &fields)
}

/// A pull request with the fields of the answer about a single one.
pub(super) fn whole_pull_request(state: &RepositoryState, path: &str, shown: &PullRequest) -> Value {
    let refusal = state.merge_refusal(shown.number).unwrap_or(None);
    let mergeable_state = match refusal {
        None => "clean",
        Some(MergeRefusal::Conflict) => "dirty",
        Some(MergeRefusal::Blocked) => "blocked",
        Some(MergeRefusal::Closed | MergeRefusal::HeadMoved) => "unknown",
    };
    let is_merged = matches!(shown.state, PullRequestState::Merged { .. });
    let more = json!({
        "additions": 1, "changed_files": 1, "comments": 0, "commits": 1, "deletions": 0,
        "mergeable": refusal != Some(MergeRefusal::Conflict), "mergeable_state": mergeable_state, "merged": is_merged,
        "maintainer_can_modify": false, "merged_by": null, "review_comments": 0,
    });
    joined(pull_request(state, path, shown).as_object().cloned().unwrap_or_default(), &more)
}

pub(super) fn comment(state: &RepositoryState, comment: &Comment) -> Value {
    let id: u64 = comment.id.0.parse().unwrap_or_default();
    let url = format!("{}/comments/{id}", state.url);
    json!({
        "id": id, "node_id": "IC_1", "url": url, "html_url": url, "issue_url": url, "body": comment.body,
        "user": user(&comment.author), "created_at": TIME, "updated_at": TIME, "author_association": "MEMBER",
    })
}

pub(super) fn issue(state: &RepositoryState, issue: &Issue, author: &str) -> Value {
    let row = state.issues.iter().find(|row| row.shown.number == issue.number);
    let labels = row.map_or(json!([]), |row| labels(state, &row.labels));
    let fields = json!({
        "id": issue.number, "node_id": "I_1", "number": issue.number, "title": issue.title, "body": issue.body,
        "state": if issue.is_open { "open" } else { "closed" }, "locked": false, "labels": labels, "user": user(author),
        "assignee": null, "assignees": [], "milestone": null, "comments": 0, "closed_at": null, "created_at": TIME,
        "updated_at": TIME, "url": issue.url, "html_url": issue.url, "author_association": "MEMBER",
    });
    joined(addresses(&issue.url, "comments events labels repository"), &fields)
}

/// A pull request in a list of issues.
pub(super) fn pull_request_as_issue(state: &RepositoryState, shown: &PullRequest) -> Value {
    let fields = json!({
        "id": shown.number, "node_id": "I_1", "number": shown.number, "title": shown.title, "body": shown.body,
        "state": if shown.is_open() { "open" } else { "closed" }, "locked": false, "labels": labels(state, &shown.labels),
        "user": user(&shown.author), "assignee": null, "assignees": [], "milestone": null, "comments": 0, "closed_at": null,
        "created_at": TIME, "updated_at": TIME, "url": shown.url, "html_url": shown.url, "author_association": "MEMBER",
        "pull_request": { "url": shown.url, "html_url": shown.url, "diff_url": shown.url, "patch_url": shown.url },
    });
    joined(addresses(&shown.url, "comments events labels repository"), &fields)
}

/// A review of a pull request, with its id.
pub(super) fn review(state: &RepositoryState, (review, id): (&Review, u64)) -> Value {
    let verdict = match review.verdict {
        ReviewVerdict::Approved => "APPROVED",
        ReviewVerdict::ChangesRequested => "CHANGES_REQUESTED",
        ReviewVerdict::Commented => "COMMENTED",
        ReviewVerdict::Dismissed => "DISMISSED",
    };
    let (url, link) = (&state.url, json!({ "href": state.url }));
    json!({
        "id": id, "node_id": format!("PRR_{id}"), "user": user(&review.account), "body": "", "state": verdict, "html_url": url,
        "pull_request_url": url, "_links": { "html": link, "pull_request": link }, "author_association": "MEMBER",
        "commit_id": review.commit.map(|commit| commit.to_string()), "submitted_at": review.at.map(|at| at.to_string()),
    })
}

/// A status of a commit, with its id.
pub(super) fn status(state: &RepositoryState, (id, reported): &(u64, ReportedStatus)) -> Value {
    let ReportedStatus { status, account } = reported;
    let name = match status.state {
        StatusState::Pending => "pending",
        StatusState::Success => "success",
        StatusState::Failure => "failure",
        StatusState::Error => "error",
    };
    json!({
        "url": state.url, "avatar_url": null, "id": id, "node_id": format!("SC_{id}"), "state": name, "description": status.description,
        "target_url": status.target_url, "context": status.context, "created_at": TIME, "updated_at": TIME,
        "creator": user(account),
    })
}

pub(super) fn app(app: &AppDouble) -> Value {
    let url = format!("https://github.example/apps/{}", app.slug);
    json!({
        "id": 1, "slug": app.slug, "node_id": "A_1", "owner": user("acme"), "name": app.slug, "description": null,
        "external_url": url, "html_url": url, "created_at": TIME, "updated_at": TIME, "permissions": {}, "events": [],
    })
}

pub(super) fn installation(app: &AppDouble) -> Value {
    let url = format!("https://github.example/installations/{}", app.installation);
    json!({
        "id": app.installation, "app_id": 1, "app_slug": app.slug, "target_id": 1, "target_type": "Organization",
        "single_file_name": null, "repository_selection": "all", "access_tokens_url": url, "html_url": url,
        "repositories_url": url, "events": [], "account": user("acme"), "permissions": {}, "created_at": TIME,
        "updated_at": TIME, "suspended_by": null, "suspended_at": null,
    })
}
