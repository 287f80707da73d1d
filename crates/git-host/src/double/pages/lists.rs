//! The lists of repositories, pull requests and issues.

use super::html::Html;
use super::markdown;
use crate::hosts::memory::{Denial, HostState, RepositoryState};
use crate::pull_request::{PullRequest, PullRequestState};

/// All repositories, with their open pull requests and issues.
pub(super) fn repositories(state: &mut HostState) -> Result<Html, Denial> {
    let paths: Vec<String> = state.paths().map(str::to_owned).collect();
    let mut html = Html::new().tag("<h1>Repositories</h1>");
    for path in paths {
        let repository = state.repository(&path)?;
        let mut open: Vec<_> = repository.pull_requests().into_iter().filter(PullRequest::is_open).collect();
        open.reverse();
        html = html.tag("<h2>").link(&format!("/{path}/pulls"), &path).tag("</h2>");
        html = rows(html, &path, &open, "No open pull requests.");
        html = issues(html, &path, repository);
    }
    Ok(html)
}

/// All pull requests of a repository: the open ones first, and the newest first.
pub(super) fn pull_requests(state: &mut HostState, path: &str) -> Result<Html, Denial> {
    let repository = state.repository(path)?;
    let mut all = repository.pull_requests();
    all.sort_by_key(|found| (!found.is_open(), std::cmp::Reverse(found.number)));
    let html = Html::new().tag("<h1>").text(path).tag("</h1><h2>Pull requests</h2>");
    let html = rows(html, path, &all, "No pull requests yet.");
    Ok(issues(opening(html, path, &repository.branches.names()), path, repository))
}

/// The form that opens a pull request. None if there are no two branches.
fn opening(html: Html, path: &str, branches: &[String]) -> Html {
    if branches.len() < 2 {
        return html;
    }
    let option = |html: Html, name: &String| html.tag("<option>").text(name).tag("</option>");
    let html = html.tag("<h3>Open a pull request</h3>").form(&format!("/{path}/pulls/open"));
    let html = html.tag("<label>from <select name=\"head\">");
    let html = html.each(branches, option).tag("</select></label><label>into <select name=\"base\">");
    let html = html.each(branches, option).tag("</select></label><input name=\"title\" placeholder=\"Title\">");
    html.tag("<button>Open</button></form>")
}

fn rows(html: Html, path: &str, pull_requests: &[PullRequest], none: &str) -> Html {
    if pull_requests.is_empty() {
        return html.tag("<p class=\"muted\">").text(none).tag("</p>");
    }
    let row = |html: Html, found: &PullRequest| {
        let address = format!("/{path}/pulls/{}", found.number);
        let html = self::state(html.tag("<li>"), found.state).tag(" ").link(&address, &found.title);
        html.tag(" <span class=\"muted\">").text(&format!("#{} into {}", found.number, found.base)).tag("</span></li>")
    };
    html.tag("<ul class=\"plain\">").each(pull_requests, row).tag("</ul>")
}

/// The open issues, if there are any.
fn issues(html: Html, path: &str, repository: &RepositoryState) -> Html {
    let open: Vec<_> = repository.issues.iter().map(|row| &row.shown).filter(|issue| issue.is_open).collect();
    if open.is_empty() {
        return html;
    }
    let html = html.tag("<h3>Issues</h3><ul class=\"plain\">");
    let row = |html: Html, issue: &crate::issue::Issue| {
        let address = format!("/{path}/issues/{}", issue.number);
        html.tag("<li>").link(&address, &issue.title).tag("</li>")
    };
    html.each(open, row).tag("</ul>")
}

/// An issue, with the title of its page.
pub(super) fn issue(state: &mut HostState, path: &str, number: u64) -> Result<(String, Html), Denial> {
    let repository = state.repository(path)?;
    let found = repository.issues.iter().map(|row| &row.shown).find(|issue| issue.number == number);
    let issue = found.ok_or(Denial::NotFound)?;
    let html = Html::new().tag("<h1>").text(&issue.title).tag("</h1><p>");
    let html = if issue.is_open {
        html.tag("<span class=\"state open\">open</span>")
    } else {
        html.tag("<span class=\"state closed\">closed</span>")
    };
    let html = html.tag(" ").link(&format!("/{path}/pulls"), path).tag("</p><div class=\"box\">");
    Ok((issue.title.clone(), html.html(&markdown::rendered(&issue.body)).tag("</div>")))
}

/// The state of a pull request.
pub(super) fn state(html: Html, state: PullRequestState) -> Html {
    html.tag(match state {
        PullRequestState::Open => "<span class=\"state open\">open</span>",
        PullRequestState::Merged { .. } => "<span class=\"state merged\">merged</span>",
        PullRequestState::Closed => "<span class=\"state closed\">closed</span>",
    })
}
