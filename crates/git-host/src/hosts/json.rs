//! The parts of answers that GitHub and Gitea have in common: Gitea's API follows that of GitHub.

use serde::Deserialize;

use super::commit;
use crate::issue::Issue;
use crate::review::{self, Review, ReviewVerdict};

#[derive(Debug, Deserialize)]
pub(super) struct UserJson {
    pub(super) login: String,
}

/// The login of a user who may have been deleted.
pub(super) fn login(user: Option<UserJson>) -> String {
    user.map_or_else(String::new, |user| user.login)
}

#[derive(Debug, Deserialize)]
pub(super) struct IssueJson {
    number: u64,
    html_url: String,
    title: String,
    body: Option<String>,
    state: String,
    user: Option<UserJson>,
    /// Pull requests are issues, too.
    pull_request: Option<serde::de::IgnoredAny>,
}

impl IssueJson {
    /// The issue. None if it is a pull request.
    pub(super) fn into_issue(self, account: &str) -> Option<Issue> {
        if self.pull_request.is_some() {
            return None;
        }
        Some(Issue {
            number: self.number,
            url: self.html_url,
            title: self.title,
            body: self.body.unwrap_or_default(),
            is_open: self.state == "open",
            is_own: !account.is_empty() && login(self.user) == account,
        })
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct ReviewJson {
    /// None if the account was deleted, or a team was asked.
    user: Option<UserJson>,
    pub(super) state: String,
    commit_id: Option<String>,
    submitted_at: Option<String>,
    /// Whether the change is another one since. Only on Gitea.
    #[serde(default)]
    pub(super) stale: bool,
    /// Whether it was withdrawn. Only on Gitea, which keeps the state.
    #[serde(default)]
    pub(super) dismissed: bool,
}

impl ReviewJson {
    /// The review. None if it has no verdict yet, or no account.
    pub(super) fn into_review(self, verdict: impl Fn(&Self) -> Option<ReviewVerdict>) -> Option<Review> {
        let verdict = verdict(&self)?;
        let (at, commit) = (review::timestamp(self.submitted_at.as_deref()), commit(self.commit_id.as_deref()));
        Some(Review { account: login(Some(self.user?)), verdict, at, commit })
    }
}
