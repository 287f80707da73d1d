//! The page of a pull request.

use super::html::Html;
use super::visitor::Visitor;
use super::{lists, markdown};
use crate::hosts::memory::{BranchChanges, Denial, HostState, RepositoryState};
use crate::pull_request::{MergeRefusal, PullRequest, PullRequestState};
use crate::status::{CommitStatus, StatusState};

/// The maximum number of files in the list.
const FILES_MAX: usize = 300;

/// The page of a pull request, with its title.
pub(super) fn page(
    state: &mut HostState,
    path: &str,
    number: u64,
    visitor: Visitor<'_>,
) -> Result<(String, Html), Denial> {
    let repository = state.repository(path)?;
    let found = repository.pull_request(number)?.clone();
    let page = Page { repository, path, found: &found };
    let html = page.buttons(page.reviews(page.statuses(page.head()), visitor)?)?;
    let html = html.tag("<div class=\"box\">").html(&markdown::rendered(&found.body)).tag("</div>");
    let html = html.each(repository.comments.iter().filter(|row| row.pull_request == number), |html, row| {
        let html = html.tag("<div class=\"box\"><p class=\"muted\">").text(&row.shown.author).tag("</p>");
        html.html(&markdown::rendered(&row.shown.body)).tag("</div>")
    });
    let changes = found.head_commit.and_then(|head| {
        let merged = match found.state {
            PullRequestState::Merged { commit } => commit,
            PullRequestState::Open | PullRequestState::Closed => None,
        };
        repository.branches.changes(&found.base, merged, head)
    });
    let html = match changes {
        Some(changes) => self::changes(html, &changes),
        None => html.tag("<p class=\"muted\">The commits are no longer there.</p>"),
    };
    Ok((found.title, html))
}

/// A pull request on its page.
#[derive(Clone, Copy)]
struct Page<'p> {
    repository: &'p RepositoryState,
    /// The path of the repository.
    path: &'p str,
    found: &'p PullRequest,
}

impl Page<'_> {
    fn head(&self) -> Html {
        let Self { path, found, .. } = *self;
        let html = Html::new().tag("<h1>").text(&found.title).tag("</h1><p>");
        let html = lists::state(html, found.state).tag(" ").link(&format!("/{path}/pulls"), path);
        let html = html.text(&format!(" #{} by {}: ", found.number, found.author));
        let html = html.code(&found.head).tag(" into ").code(&found.base).tag("</p><p>");
        let label = |html: Html, label: &String| html.tag("<span class=\"label\">").text(label).tag("</span> ");
        html.each(&found.labels, label).tag("</p>")
    }

    /// The statuses of the head.
    fn statuses(&self, html: Html) -> Html {
        let statuses = self.found.head_commit.map(|head| self.repository.statuses(head)).unwrap_or_default();
        if statuses.is_empty() {
            return html;
        }
        let row = |html: Html, status: &CommitStatus| {
            let state = match status.state {
                StatusState::Pending => "<span class=\"label\">pending</span> ",
                StatusState::Success => "<span class=\"state open\">success</span> ",
                StatusState::Failure | StatusState::Error => "<span class=\"state closed\">failure</span> ",
            };
            html.tag("<li>").tag(state).code(&status.context).tag(" ").text(&status.description).tag("</li>")
        };
        html.tag("<ul class=\"plain\">").each(&statuses, row).tag("</ul>")
    }

    /// Who approved the head, and the button of the visitor.
    fn reviews(&self, html: Html, visitor: Visitor<'_>) -> Result<Html, Denial> {
        let found = self.found;
        let approvals = self.repository.approvals(found.number)?;
        let accounts: Vec<_> = approvals.iter().map(|approval| approval.account.as_str()).collect();
        let html = match accounts.as_slice() {
            [] => html,
            accounts => html.tag("<p>Approved by <strong>").text(&accounts.join(", ")).tag("</strong></p>"),
        };
        let (action, name) = match accounts.contains(&visitor.account) {
            _ if !found.is_open() || found.author == visitor.account => return Ok(html),
            true => ("withdraw", "Withdraw the approval"),
            false => ("approve", "Approve"),
        };
        Ok(self.form(html, action).tag("<button>").text(name).tag("</button></form>"))
    }

    /// The beginning of the form of a button.
    fn form(&self, html: Html, action: &str) -> Html {
        html.form(&format!("/{}/pulls/{}/{action}", self.path, self.found.number))
    }

    fn buttons(&self, html: Html) -> Result<Html, Denial> {
        let (found, form) = (self.found, |html: Html, action: &str| self.form(html, action));
        let html = match (found.state, self.repository.merge_refusal(found.number)?) {
            (PullRequestState::Merged { .. }, _) => return Ok(html),
            (PullRequestState::Closed, _) => {
                return Ok(form(html, "reopen").tag("<button>Reopen</button></form>"));
            }
            (PullRequestState::Open, None) => {
                let head = found.head_commit.map(|commit| commit.to_string()).unwrap_or_default();
                let html = form(html, "merge").tag("<input type=\"hidden\" name=\"head\" value=\"").text(&head);
                html.tag("\"><button class=\"merge\">Merge</button></form>")
            }
            (PullRequestState::Open, Some(refusal)) => html.tag("<p>").text(reason(refusal)).tag("</p>"),
        };
        Ok(form(html, "close").tag("<button>Close</button></form>"))
    }
}

fn reason(refusal: MergeRefusal) -> &'static str {
    match refusal {
        MergeRefusal::Conflict => "The branches have conflicting changes, so it can't be merged.",
        MergeRefusal::Blocked => "A review or a check is missing, so it can't be merged yet.",
        MergeRefusal::HeadMoved | MergeRefusal::Closed => "It can't be merged now. Load this page again.",
    }
}

fn changes(html: Html, changes: &BranchChanges) -> Html {
    let files = changes.files.len();
    let title = if files == 1 { "1 changed file".to_owned() } else { format!("{files} changed files") };
    let mut html = html.tag("<h2 id=\"changes\">").text(&title).tag("</h2><ul class=\"plain\">");
    for file in changes.files.iter().take(FILES_MAX) {
        html = html.tag("<li>").code(&file.path);
        html = match file.lines {
            Some((added, removed)) => {
                let html = html.tag(" <span class=\"add\">").text(&format!("+{added}")).tag("</span>");
                html.tag(" <span class=\"remove\">").text(&format!("-{removed}")).tag("</span></li>")
            }
            None => html.tag(" <span class=\"muted\">binary</span></li>"),
        };
    }
    html = html.tag("</ul>");
    if let Some(more) = files.checked_sub(FILES_MAX).filter(|more| *more > 0) {
        html = html.tag("<p class=\"muted\">").text(&format!("{more} more files are not listed.")).tag("</p>");
    }
    html = html.tag("<pre>").each(changes.diff.lines(), line).tag("</pre>");
    if changes.is_cut { html.tag("<p class=\"muted\">The rest of the changes is not shown.</p>") } else { html }
}

/// A line of a diff with its colour.
fn line(html: Html, line: &str) -> Html {
    let class = match line.as_bytes() {
        [b'+', ..] => Some("<span class=\"add\">"),
        [b'-', ..] => Some("<span class=\"remove\">"),
        [b'@', ..] => Some("<span class=\"hunk\">"),
        _ => None,
    };
    match class {
        Some(class) => html.tag(class).text(line).tag("</span>\n"),
        None => html.text(line).tag("\n"),
    }
}
