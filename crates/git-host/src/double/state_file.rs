//! The file with the pull requests and issues of a double, so that they are there again after its next start.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write as _};
use std::path::Path;
use std::{fs, mem};

use jiff::Timestamp;
use model::git_id::GitId;
use serde::{Deserialize, Serialize};

use crate::hosts::memory::{CommentRow, HostState, IssueRow, PullRequestRow, RepositoryState};
use crate::issue::{Issue, IssueLabel};
use crate::pull_request::{Comment, CommentId, PullRequest, PullRequestState};
use crate::review::{self, Review, ReviewVerdict};

/// The version of the format.
const VERSION: u32 = 1;

#[derive(Debug, Deserialize, Serialize)]
struct SavedHost {
    version: u32,
    repositories: BTreeMap<String, SavedRepository>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct SavedRepository {
    labels: Vec<SavedLabel>,
    pull_requests: Vec<SavedPullRequest>,
    issues: Vec<SavedIssue>,
    comments: Vec<SavedComment>,
}

#[derive(Debug, Deserialize, Serialize)]
struct SavedLabel {
    name: String,
    color: String,
    description: String,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct SavedPullRequest {
    number: u64,
    head: String,
    base: String,
    head_commit: Option<String>,
    title: String,
    body: String,
    labels: BTreeSet<String>,
    state: SavedState,
    merge_commit: Option<String>,
    author: String,
    auto_merge: Option<String>,
    #[serde(default)]
    labelled: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    reviews: Vec<SavedReview>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct SavedReview {
    account: String,
    is_approved: bool,
    commit: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
enum SavedState {
    Open,
    Merged,
    Closed,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct SavedIssue {
    number: u64,
    title: String,
    body: String,
    is_open: bool,
    author: String,
    labels: BTreeSet<String>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct SavedComment {
    pull_request: u64,
    author: String,
    body: String,
}

/// Reads the state of the repositories that exist. A file that does not exist changes nothing.
pub(super) fn load(state: &mut HostState, path: &Path) -> io::Result<()> {
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        bytes => bytes?,
    };
    let saved: SavedHost = serde_json::from_slice(&bytes).map_err(io::Error::other)?;
    if saved.version != VERSION {
        return Err(io::Error::other(format!("its version is {}, not {VERSION}", saved.version)));
    }
    for (name, saved) in saved.repositories {
        if let Ok(repository) = state.repository(&name) {
            saved.restore(repository);
        }
    }
    Ok(())
}

/// The state of all repositories.
pub(super) fn text(state: &mut HostState) -> Vec<u8> {
    let paths: Vec<String> = state.paths().map(str::to_owned).collect();
    let saved = |path: String| Some((path.clone(), SavedRepository::from_state(state.repository(&path).ok()?)));
    let host = SavedHost { version: VERSION, repositories: paths.into_iter().filter_map(saved).collect() };
    serde_json::to_vec_pretty(&host).unwrap_or_default()
}

/// Writes the file completely or not at all.
pub(super) fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    let unfinished = path.with_extension("new");
    let mut file = fs::File::create(&unfinished)?;
    file.write_all(text)?;
    file.sync_all()?;
    fs::rename(&unfinished, path)
}

impl SavedRepository {
    fn from_state(state: &RepositoryState) -> Self {
        let label = |label: &IssueLabel| {
            let IssueLabel { name, color, description } = label.clone();
            SavedLabel { name, color, description }
        };
        let own = state.pull_requests.iter().filter(|row| row.fork.is_none());
        let issue = |row: &IssueRow| SavedIssue {
            number: row.shown.number,
            title: row.shown.title.clone(),
            body: row.shown.body.clone(),
            is_open: row.shown.is_open,
            author: row.author.clone(),
            labels: row.labels.clone(),
        };
        let comment = |row: &CommentRow| SavedComment {
            pull_request: row.pull_request,
            author: row.shown.author.clone(),
            body: row.shown.body.clone(),
        };
        Self {
            labels: state.labels.iter().map(label).collect(),
            pull_requests: own.map(SavedPullRequest::from_row).collect(),
            issues: state.issues.iter().map(issue).collect(),
            comments: state.comments.iter().map(comment).collect(),
        }
    }

    fn restore(self, state: &mut RepositoryState) {
        let label = |SavedLabel { name, color, description }| IssueLabel { name, color, description };
        state.labels = self.labels.into_iter().map(label).collect();
        let url = mem::take(&mut state.url);
        state.pull_requests = self.pull_requests.into_iter().map(SavedPullRequest::row).collect();
        for row in &mut state.pull_requests {
            row.shown.url = state.kind.pull_request_url(&url, row.shown.number);
        }
        let issue = |saved: SavedIssue| IssueRow {
            shown: Issue {
                number: saved.number,
                url: format!("{url}/issues/{}", saved.number),
                title: saved.title,
                body: saved.body,
                is_open: saved.is_open,
                is_own: true,
            },
            author: saved.author,
            labels: saved.labels,
        };
        state.issues = self.issues.into_iter().map(issue).collect();
        let comment = |(number, saved): (usize, SavedComment)| {
            let id = CommentId((number + 1).to_string());
            let shown = Comment { id, author: saved.author, is_own: true, body: saved.body };
            CommentRow { pull_request: saved.pull_request, shown }
        };
        state.comments = self.comments.into_iter().enumerate().map(comment).collect();
        state.url = url;
    }
}

impl SavedPullRequest {
    fn from_row(row: &PullRequestRow) -> Self {
        let shown = &row.shown;
        let (state, merge_commit) = match shown.state {
            PullRequestState::Open => (SavedState::Open, None),
            PullRequestState::Merged { commit } => (SavedState::Merged, commit),
            PullRequestState::Closed => (SavedState::Closed, None),
        };
        Self {
            number: shown.number,
            head: shown.head.clone(),
            base: shown.base.clone(),
            head_commit: shown.head_commit.map(|commit| commit.to_string()),
            title: shown.title.clone(),
            body: shown.body.clone(),
            labels: shown.labels.clone(),
            state,
            merge_commit: merge_commit.map(|commit| commit.to_string()),
            author: shown.author.clone(),
            auto_merge: row.auto_merge.clone(),
            labelled: row.labelled.clone(),
            reviews: row.reviews.iter().map(SavedReview::from_review).collect(),
        }
    }

    fn row(self) -> PullRequestRow {
        let commit = |text: Option<String>| text.and_then(|text| GitId::from_hex(&text));
        let state = match self.state {
            SavedState::Open => PullRequestState::Open,
            SavedState::Merged => PullRequestState::Merged { commit: commit(self.merge_commit) },
            SavedState::Closed => PullRequestState::Closed,
        };
        let shown = PullRequest {
            number: self.number,
            url: String::new(),
            head: self.head,
            base: self.base,
            head_commit: commit(self.head_commit),
            title: self.title,
            body: self.body,
            labels: self.labels,
            state,
            is_from_fork: false,
            author: self.author,
            is_auto_merge: self.auto_merge.is_some(),
        };
        let (reviewers, fork, auto_merge) = (Vec::new(), None, self.auto_merge);
        let reviews: Vec<_> = (0..).zip(self.reviews).map(SavedReview::review).collect();
        let is_approved = !review::approvals(reviews.clone(), shown.head_commit).is_empty();
        PullRequestRow { shown, reviewers, fork, is_approved, reviews, auto_merge, labelled: self.labelled }
    }
}

impl SavedReview {
    fn from_review(review: &Review) -> Self {
        let commit = review.commit.map(|commit| commit.to_string());
        Self { account: review.account.clone(), is_approved: review.verdict == ReviewVerdict::Approved, commit }
    }

    /// The review, with its position as its time.
    fn review((position, saved): (i64, Self)) -> Review {
        let verdict = if saved.is_approved { ReviewVerdict::Approved } else { ReviewVerdict::Dismissed };
        let commit = saved.commit.and_then(|commit| GitId::from_hex(&commit));
        Review { account: saved.account, verdict, at: Timestamp::from_second(position).ok(), commit }
    }
}
