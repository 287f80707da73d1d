//! The pages of the double: lists of pull requests, and buttons to open, approve, merge, close and reopen them. They have no scripts.

mod html;
mod lists;
mod markdown;
mod pull_request;
mod visitor;

use data_encoding::BASE64;
use reqwest::Url;
use sha2::{Digest as _, Sha256};

use self::html::{Html, STYLE};
use self::visitor::Visitor;
use super::http::{Request, Response};
use crate::hosts::memory::{Denial, HostState};
use crate::pull_request::{MergeRefusal, NewPullRequest, PullRequest};
use crate::review::ReviewVerdict;

/// The names of this machine, under which browsers may open the pages. Under any other name, another site could read and press them.
const LOOPBACK: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// What a button changed: the repository, and its pull request.
pub(super) struct Pressed {
    pub(super) repository: String,
    pub(super) pull_request: PullRequest,
}

/// A button of a pull request.
struct Button<'p> {
    /// The repository.
    path: String,
    /// The pull request.
    number: u64,
    name: &'p str,
}

/// What a page shows.
enum Page<'p> {
    Start,
    PullRequests(String),
    PullRequest(String, u64),
    Issue(String, u64),
    Button(Button<'p>),
    /// The button that opens a pull request.
    Open(String),
    /// The button that makes the visitor another account.
    Account(&'p str),
}

/// Whether a request is one for the API.
pub(super) fn is_for_api(request: &Request) -> bool {
    request.path.iter().any(|part| matches!(part.as_str(), "api" | "_apis"))
}

/// The answer to a browser, and what it changed. `accounts` are those that people can use.
pub(super) fn answer(state: &mut HostState, request: &Request, accounts: &[String]) -> (Response, Option<Pressed>) {
    if !is_local(request) {
        return (refused("This page is only for browsers on this machine, at its address on loopback."), None);
    }
    let visitor = Visitor::new(request, accounts);
    let pressed = |(response, pressed)| (response, Some(pressed));
    let answered = match (request.method.as_str(), page_of(&request.path)) {
        ("GET" | "HEAD", Some(page)) => shown(state, &page, visitor).map(|response| (response, None)),
        ("POST", Some(Page::Button(..) | Page::Open(_) | Page::Account(_))) if !has_own_origin(request) => {
            Ok((refused("This request came from another site."), None))
        }
        ("POST", Some(Page::Button(button))) => press(state, &button, visitor, request).map(pressed),
        ("POST", Some(Page::Open(path))) => open(state, &path, visitor, request).map(pressed),
        ("POST", Some(Page::Account(account))) => {
            visitor.changed(request, account).ok_or(Denial::NotFound).map(|response| (response, None))
        }
        _ => Err(Denial::NotFound),
    };
    answered.unwrap_or_else(|denial| (denied(&denial), None))
}

fn page_of(path: &[String]) -> Option<Page<'_>> {
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    if let ["account", account] = names.as_slice() {
        return Some(Page::Account(account));
    }
    let is_list = |name: &&str| matches!(*name, "pull" | "pulls" | "issues");
    let (repository, page) = names.split_at(names.iter().position(is_list).unwrap_or(names.len()));
    let repository = repository.join("/");
    let number = |text: &str| text.parse::<u64>().ok();
    match page {
        [] if repository.is_empty() => Some(Page::Start),
        [] | ["pulls"] => Some(Page::PullRequests(repository)),
        ["pulls", "open"] => Some(Page::Open(repository)),
        ["pull" | "pulls", at] => Some(Page::PullRequest(repository, number(at)?)),
        ["issues", at] => Some(Page::Issue(repository, number(at)?)),
        ["pull" | "pulls", at, name] => Some(Page::Button(Button { path: repository, number: number(at)?, name })),
        _ => None,
    }
}

fn shown(state: &mut HostState, page: &Page<'_>, visitor: Visitor<'_>) -> Result<Response, Denial> {
    let (title, html) = match page {
        Page::Start => ("Repositories".to_owned(), lists::repositories(state)?),
        Page::PullRequests(path) => (path.clone(), lists::pull_requests(state, path)?),
        Page::Issue(path, number) => lists::issue(state, path, *number)?,
        Page::PullRequest(path, number) => pull_request::page(state, path, *number, visitor)?,
        Page::Button(..) | Page::Open(_) | Page::Account(_) => return Err(Denial::NotFound),
    };
    Ok(html_response(200, &title, html, &visitor.html()))
}

/// Does what a button says, and returns to the page of the pull request.
fn press(
    state: &mut HostState,
    button: &Button<'_>,
    visitor: Visitor<'_>,
    request: &Request,
) -> Result<(Response, Pressed), Denial> {
    let (path, number) = (&button.path, button.number);
    let repository = state.repository(path)?;
    let is_author = repository.pull_request(number)?.author == visitor.account;
    match button.name {
        "approve" if is_author => return Err(Denial::Invalid("You can't approve your own pull request.".to_owned())),
        "approve" => repository.review(visitor.account, number, ReviewVerdict::Approved)?,
        "withdraw" => repository.review(visitor.account, number, ReviewVerdict::Dismissed)?,
        "merge" => {
            // What is merged is what the page showed.
            let shown = request.field("head").and_then(|id| model::git_id::GitId::from_hex(&id));
            repository.merge(number, shown.ok_or(Denial::Merge(MergeRefusal::HeadMoved))?)?;
        }
        "close" => repository.close(number)?,
        "reopen" => repository.reopen(number)?,
        _ => return Err(Denial::NotFound),
    }
    Ok(pressed(repository.pull_request(number)?.clone(), path))
}

/// Opens a pull request between the branches of the form, and shows it.
fn open(
    state: &mut HostState,
    path: &str,
    visitor: Visitor<'_>,
    request: &Request,
) -> Result<(Response, Pressed), Denial> {
    let repository = state.repository(path)?;
    let field = |name: &str| request.field(name).unwrap_or_default();
    let (head, base) = (field("head"), field("base"));
    let title = Some(field("title")).filter(|title| !title.trim().is_empty()).unwrap_or_else(|| head.clone());
    let new = NewPullRequest { head, base, title, ..NewPullRequest::default() };
    let number = repository.open(visitor.account, &new)?;
    Ok(pressed(repository.pull_request(number)?.clone(), path))
}

/// The answer to a button: the page of its pull request.
fn pressed(pull_request: PullRequest, path: &str) -> (Response, Pressed) {
    let mut response = html_response(303, "", Html::new(), &Html::new());
    let location = Url::parse(&pull_request.url).map(|url| url.path().to_owned()).unwrap_or_default();
    response.headers.push(("Location".to_owned(), location));
    (response, Pressed { repository: path.to_owned(), pull_request })
}

/// Whether the browser opened the page at an address of this machine. A name of another site may lead here, too.
fn is_local(request: &Request) -> bool {
    let host = request.header("host").unwrap_or_default();
    let name = host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map_or(host, |(name, _)| name);
    LOOPBACK.contains(&name)
}

/// Whether a button was pressed on one of these pages. Browsers say so for each form.
fn has_own_origin(request: &Request) -> bool {
    let (origin, host) = (request.header("origin"), request.header("host").unwrap_or_default());
    origin.is_some_and(|origin| origin.strip_prefix("http://") == Some(host))
}

fn refused(message: &str) -> Response {
    let page = Html::new().tag("<h1>Refused</h1><p>").text(message).tag("</p>");
    html_response(403, "Refused", page, &Html::new())
}

fn denied(denial: &Denial) -> Response {
    let (status, message) = denial.answer();
    let page = Html::new().tag("<h1>").text(&message).tag("</h1><p>");
    html_response(status, &message, page.link("/", "All repositories").tag("</p>"), &Html::new())
}

fn html_response(status: u16, title: &str, html: Html, visitor: &Html) -> Response {
    let style = BASE64.encode(&Sha256::digest(STYLE.as_bytes()));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{style}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    );
    let headers = [
        ("Content-Type", "text/html; charset=utf-8"),
        ("Content-Security-Policy", policy.as_str()),
        ("X-Content-Type-Options", "nosniff"),
        // With `no-referrer`, browsers would not name the origin of a form.
        ("Referrer-Policy", "same-origin"),
        ("Cache-Control", "no-store"),
    ];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    Response { status, headers, body: html.page(title, visitor).into_bytes() }
}
