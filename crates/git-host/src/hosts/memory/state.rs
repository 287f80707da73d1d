//! The state of a host in memory: repositories with their pull requests, issues, comments, labels and statuses.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use model::git_id::GitId;

use super::branches::{Branches, MemoryBranches};
use crate::issue::{Issue, IssueChanges, IssueLabel, NewIssue};
use crate::kind::HostKind;
use crate::pull_request::{
    Comment, CommentId, MergeRefusal, NewPullRequest, PullRequest, PullRequestChanges, PullRequestState, Reviewer,
};
use crate::review::Review;
use crate::status::{ReportedStatus, StatusState};

/// The address of a new host.
const URL: &str = "https://memory.example";

/// The state of a host.
#[derive(Debug)]
pub struct HostState {
    kind: HostKind,
    /// The address of its pages.
    url: String,
    repositories: BTreeMap<String, RepositoryState>,
    /// The reason why no account can create a repository. None: every account can.
    pub creation_denial: Option<Denial>,
    maker: Maker,
}

/// Makes the branches of the repository with a path.
type MakeBranches = dyn Fn(&str) -> Box<dyn Branches> + Send;

/// Makes the branches of new repositories.
struct Maker(Box<MakeBranches>);

impl fmt::Debug for Maker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Maker")
    }
}

/// The reason why the host does not do something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denial {
    /// The object does not exist.
    NotFound,
    /// It exists already.
    Exists(String),
    /// The request has an impossible value.
    Invalid(String),
    /// The account may not do this.
    Forbidden,
    /// The pull request can't be merged.
    Merge(MergeRefusal),
}

/// The state of a repository.
#[derive(Debug)]
pub struct RepositoryState {
    /// The address of its page.
    pub url: String,
    /// The default branch.
    pub default_branch: String,
    /// The requirements of protected branches.
    pub rules: BTreeMap<String, BranchRule>,
    /// Whether pull requests can be merged automatically.
    pub allows_auto_merge: bool,
    /// Its labels. The id of a label is its position, counted from 1.
    pub labels: Vec<IssueLabel>,
    pub(crate) kind: HostKind,
    pub(crate) branches: Box<dyn Branches>,
    pub(crate) pull_requests: Vec<PullRequestRow>,
    pub(crate) issues: Vec<IssueRow>,
    pub(crate) comments: Vec<CommentRow>,
    /// All statuses, oldest first.
    pub(crate) statuses: Vec<(GitId, ReportedStatus)>,
}

/// The requirements of a protected branch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BranchRule {
    /// The context of a status that must be a success.
    pub required_status: Option<String>,
    /// Whether a review must approve.
    pub required_review: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct PullRequestRow {
    pub(crate) shown: PullRequest,
    pub(crate) reviewers: Vec<Reviewer>,
    /// The repository with the source branch, if it is another one.
    pub(crate) fork: Option<String>,
    pub(crate) is_approved: bool,
    /// Its reviews, oldest first.
    pub(crate) reviews: Vec<Review>,
    /// The account that requested the automatic merge.
    pub(crate) auto_merge: Option<String>,
    /// The labels that were added, with the accounts that added them, oldest first.
    pub(crate) labelled: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
pub(crate) struct IssueRow {
    pub(crate) shown: Issue,
    pub(crate) author: String,
    pub(crate) labels: BTreeSet<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct CommentRow {
    pub(crate) pull_request: u64,
    pub(crate) shown: Comment,
}

impl HostState {
    pub(super) fn new(kind: HostKind) -> Self {
        let maker = Maker(Box::new(|_| Box::new(MemoryBranches::default())));
        Self { kind, url: URL.to_owned(), repositories: BTreeMap::new(), creation_denial: None, maker }
    }

    /// Makes the branches of repositories that clients create. The argument is the path of the repository. Without it, they are in memory.
    pub fn make_branches_with(&mut self, make: impl Fn(&str) -> Box<dyn Branches> + Send + 'static) {
        self.maker = Maker(Box::new(make));
    }

    /// Creates a repository without branches.
    ///
    /// # Errors
    /// If it exists, or accounts can't create repositories.
    pub fn create(&mut self, path: &str) -> Result<(), Denial> {
        if let Some(denial) = &self.creation_denial {
            return Err(denial.clone());
        }
        if self.repositories.contains_key(path) {
            return Err(Denial::Exists("name already exists".to_owned()));
        }
        let branches = (self.maker.0)(path);
        self.add(path, branches);
        Ok(())
    }

    /// Moves the host to another address.
    pub fn set_url(&mut self, url: &str) {
        url.trim_end_matches('/').clone_into(&mut self.url);
        for (path, repository) in &mut self.repositories {
            repository.url = format!("{}/{path}", self.url);
        }
    }

    pub(super) fn add(&mut self, path: &str, branches: Box<dyn Branches>) {
        let repository = RepositoryState {
            url: format!("{}/{path}", self.url),
            default_branch: "main".to_owned(),
            rules: BTreeMap::new(),
            allows_auto_merge: true,
            labels: Vec::new(),
            kind: self.kind,
            branches,
            pull_requests: Vec::new(),
            issues: Vec::new(),
            comments: Vec::new(),
            statuses: Vec::new(),
        };
        self.repositories.insert(path.to_owned(), repository);
    }

    /// The repository with a path, such as `acme/gitops`, in the state that its branches require.
    ///
    /// # Errors
    /// If it does not exist.
    pub fn repository(&mut self, path: &str) -> Result<&mut RepositoryState, Denial> {
        let repository = self.repositories.get_mut(path).ok_or(Denial::NotFound)?;
        repository.settle();
        Ok(repository)
    }

    /// The paths of all repositories.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.repositories.keys().map(String::as_str)
    }
}

impl RepositoryState {
    /// Updates the pull requests to the branches, and does the automatic merges that are possible.
    pub fn settle(&mut self) {
        // GitLab and Azure DevOps keep pull requests without a source branch open.
        let closes = matches!(self.kind, HostKind::GitHub | HostKind::Gitea);
        for row in &mut self.pull_requests {
            if !row.shown.is_open() || row.fork.is_some() {
                continue;
            }
            match self.branches.head(&row.shown.head) {
                Some(commit) => row.shown.head_commit = Some(commit),
                None if closes => row.shown.state = PullRequestState::Closed,
                None => {}
            }
        }
        let waiting = self.pull_requests.iter().filter(|row| row.auto_merge.is_some());
        let waiting: Vec<_> = waiting.map(|row| (row.shown.number, row.shown.head_commit)).collect();
        for (number, commit) in waiting {
            if let Some(head_commit) = commit {
                // Otherwise it keeps waiting.
                let _ = self.merge(number, head_commit);
            }
        }
    }

    /// All pull requests, by number.
    pub fn pull_requests(&self) -> Vec<PullRequest> {
        self.pull_requests.iter().map(|row| row.shown.clone()).collect()
    }

    /// One pull request.
    ///
    /// # Errors
    /// If it does not exist.
    pub fn pull_request(&self, number: u64) -> Result<&PullRequest, Denial> {
        self.pull_requests.iter().map(|row| &row.shown).find(|shown| shown.number == number).ok_or(Denial::NotFound)
    }

    pub(crate) fn row(&mut self, number: u64) -> Result<&mut PullRequestRow, Denial> {
        self.pull_requests.iter_mut().find(|row| row.shown.number == number).ok_or(Denial::NotFound)
    }

    /// The accounts and teams whose review of a pull request was requested.
    ///
    /// # Errors
    /// If it does not exist.
    pub fn reviewers(&mut self, number: u64) -> Result<Vec<Reviewer>, Denial> {
        self.row(number).map(|row| row.reviewers.clone())
    }

    /// The number of the next pull request or issue. Some hosts count both together, which is allowed for all.
    fn next_number(&self) -> u64 {
        (self.pull_requests.len() + self.issues.len()) as u64 + 1
    }

    /// Opens a pull request as an account. Its labels and reviewers are not set.
    ///
    /// # Errors
    /// If an open one exists, or a branch does not exist.
    pub fn open(&mut self, account: &str, new: &NewPullRequest) -> Result<u64, Denial> {
        let head = self
            .branches
            .head(&new.head)
            .ok_or_else(|| Denial::Invalid(format!("head `{}` does not exist", new.head)))?;
        let base = self
            .branches
            .head(&new.base)
            .ok_or_else(|| Denial::Invalid(format!("base `{}` does not exist", new.base)))?;
        if head == base {
            return Err(Denial::Invalid(format!("No commits between {} and {}", new.base, new.head)));
        }
        let is_same = |row: &&PullRequestRow| {
            row.fork.is_none() && row.shown.is_open() && row.shown.head == new.head && row.shown.base == new.base
        };
        if self.pull_requests.iter().any(|row| is_same(&row)) {
            return Err(Denial::Exists(format!("A pull request already exists for {}.", new.head)));
        }
        let row = self.row_of(account, new, head);
        Ok(self.insert(row))
    }

    /// Opens a pull request as an account from a branch of its fork.
    pub fn open_from_fork(&mut self, account: &str, new: &NewPullRequest) -> u64 {
        let commit = GitId::of_object("commit", format!("{account} {}", new.head).as_bytes());
        let mut row = self.row_of(account, new, commit);
        row.fork = Some(format!("{account}/fork"));
        row.shown.is_from_fork = true;
        self.insert(row)
    }

    /// The row of a new pull request, from a branch of the repository itself.
    fn row_of(&self, account: &str, new: &NewPullRequest, head_commit: GitId) -> PullRequestRow {
        let number = self.next_number();
        let shown = PullRequest {
            number,
            url: self.kind.pull_request_url(&self.url, number),
            head: new.head.clone(),
            base: new.base.clone(),
            head_commit: Some(head_commit),
            title: new.title.clone(),
            body: new.body.clone(),
            labels: BTreeSet::new(),
            state: PullRequestState::Open,
            is_from_fork: false,
            author: account.to_owned(),
            is_auto_merge: false,
        };
        PullRequestRow {
            shown,
            reviewers: Vec::new(),
            fork: None,
            is_approved: false,
            reviews: Vec::new(),
            auto_merge: None,
            labelled: Vec::new(),
        }
    }

    fn insert(&mut self, row: PullRequestRow) -> u64 {
        let number = row.shown.number;
        self.pull_requests.push(row);
        number
    }

    /// Changes a pull request. Its labels must exist.
    ///
    /// # Errors
    /// If it or a label does not exist.
    pub fn update(&mut self, number: u64, changes: &PullRequestChanges) -> Result<(), Denial> {
        let missing = changes.add_labels.iter().find(|name| self.label_id(name).is_none());
        if let Some(missing) = missing {
            return Err(Denial::Invalid(format!("label `{missing}` does not exist")));
        }
        let shown = &mut self.row(number)?.shown;
        shown.title = changes.title.clone().unwrap_or_else(|| shown.title.clone());
        shown.body = changes.body.clone().unwrap_or_else(|| shown.body.clone());
        shown.labels.extend(changes.add_labels.iter().cloned());
        shown.labels.retain(|label| !changes.remove_labels.contains(label));
        Ok(())
    }

    /// Changes a pull request as in [`Self::update`], as an account.
    ///
    /// # Errors
    /// As in [`Self::update`].
    pub fn update_as(&mut self, account: &str, number: u64, changes: &PullRequestChanges) -> Result<(), Denial> {
        self.update(number, changes)?;
        let labelled = changes.add_labels.iter().map(|label| (label.clone(), account.to_owned()));
        self.row(number)?.labelled.extend(labelled);
        Ok(())
    }

    /// The account that added a label of a pull request last.
    ///
    /// # Errors
    /// If the pull request does not exist.
    pub fn label_author(&mut self, number: u64, label: &str) -> Result<Option<String>, Denial> {
        let labelled = self.row(number)?.labelled.iter().rev();
        Ok(labelled.filter(|(name, _)| name == label).map(|(_, account)| account.clone()).next())
    }

    /// The labels that were added to a pull request, with the accounts that added them, oldest first.
    ///
    /// # Errors
    /// If the pull request does not exist.
    #[cfg(feature = "double")]
    pub(crate) fn labelled(&mut self, number: u64) -> Result<Vec<(String, String)>, Denial> {
        Ok(self.row(number)?.labelled.clone())
    }

    /// Requests reviews.
    ///
    /// # Errors
    /// If the pull request does not exist.
    pub fn request_reviews(&mut self, number: u64, reviewers: &[Reviewer]) -> Result<(), Denial> {
        let row = self.row(number)?;
        row.reviewers.extend(reviewers.iter().cloned());
        Ok(())
    }

    /// Closes a pull request without a merge. A merged one stays as it is.
    ///
    /// # Errors
    /// If it does not exist.
    pub fn close(&mut self, number: u64) -> Result<(), Denial> {
        let row = self.row(number)?;
        if !row.shown.is_open() {
            return Ok(());
        }
        row.shown.state = PullRequestState::Closed;
        row.auto_merge = None;
        row.shown.is_auto_merge = false;
        Ok(())
    }

    /// Opens a closed pull request again.
    ///
    /// # Errors
    /// If it does not exist, was merged, or its source branch does not exist any more.
    pub fn reopen(&mut self, number: u64) -> Result<(), Denial> {
        let shown = self.pull_request(number)?;
        let refused = match shown.state {
            PullRequestState::Open => return Ok(()),
            PullRequestState::Merged { .. } => "it was merged",
            PullRequestState::Closed if self.branches.head(&shown.head).is_none() => "its branch was deleted",
            PullRequestState::Closed => "",
        };
        if !refused.is_empty() {
            return Err(Denial::Invalid(format!("Pull request {number} can't be reopened: {refused}")));
        }
        let (head, base) = (shown.head.clone(), shown.base.clone());
        let is_other = |row: &&PullRequestRow| row.shown.is_open() && row.shown.head == head && row.shown.base == base;
        if let Some(other) = self.pull_requests.iter().find(is_other) {
            let other = other.shown.number;
            return Err(Denial::Exists(format!("Pull request {number} can't be reopened: {other} is open")));
        }
        self.row(number)?.shown.state = PullRequestState::Open;
        self.settle();
        Ok(())
    }

    /// The reason why a pull request can't be merged. None if it can.
    ///
    /// # Errors
    /// If it does not exist.
    pub fn merge_refusal(&self, number: u64) -> Result<Option<MergeRefusal>, Denial> {
        let found = self.pull_requests.iter().find(|row| row.shown.number == number);
        let row = found.ok_or(Denial::NotFound)?;
        let PullRequest { head, base, head_commit, .. } = &row.shown;
        if !row.shown.is_open() {
            return Ok(Some(MergeRefusal::Closed));
        }
        if self.branches.is_conflicting(head, base) || (row.fork.is_none() && self.branches.head(head).is_none()) {
            return Ok(Some(MergeRefusal::Conflict));
        }
        let rule = self.rules.get(base).cloned().unwrap_or_default();
        let is_success = |context: &String| {
            let statuses = self.statuses.iter().rev();
            let mut own = statuses
                .filter(|(commit, reported)| Some(*commit) == *head_commit && reported.status.context == *context);
            own.next().is_some_and(|(_, reported)| reported.status.state == StatusState::Success)
        };
        let is_met = rule.required_status.as_ref().is_none_or(is_success) && (!rule.required_review || row.is_approved);
        Ok((!is_met).then_some(MergeRefusal::Blocked))
    }

    /// Merges a pull request whose head is a commit.
    ///
    /// # Errors
    /// If it does not exist or can't be merged.
    pub fn merge(&mut self, number: u64, head_commit: GitId) -> Result<GitId, Denial> {
        if let Some(refusal) = self.merge_refusal(number)? {
            return Err(Denial::Merge(refusal));
        }
        let shown = self.pull_request(number)?.clone();
        if shown.head_commit != Some(head_commit) {
            return Err(Denial::Merge(MergeRefusal::HeadMoved));
        }
        let merged = self.branches.merge(&shown.head, &shown.base).ok_or(Denial::Merge(MergeRefusal::Conflict))?;
        let row = self.row(number)?;
        row.shown.state = PullRequestState::Merged { commit: Some(merged) };
        row.auto_merge = None;
        row.shown.is_auto_merge = false;
        Ok(merged)
    }

    /// Requests an automatic merge as an account, or withdraws the request.
    ///
    /// # Errors
    /// If the pull request does not exist, or the repository does not allow it.
    pub fn set_auto_merge(&mut self, number: u64, account: Option<&str>) -> Result<(), Denial> {
        if account.is_some() && !self.allows_auto_merge {
            return Err(Denial::Invalid("Auto merge is not allowed for this repository".to_owned()));
        }
        let row = self.row(number)?;
        row.auto_merge = account.map(str::to_owned);
        row.shown.is_auto_merge = account.is_some();
        Ok(())
    }

    /// The comments of a pull request, as an account sees them.
    ///
    /// # Errors
    /// If it does not exist.
    pub fn comments(&self, number: u64, account: &str) -> Result<Vec<Comment>, Denial> {
        self.pull_request(number)?;
        let own = self.comments.iter().filter(|row| row.pull_request == number).map(|row| row.shown.clone());
        Ok(own.map(|comment| Comment { is_own: comment.author == account, ..comment }).collect())
    }

    /// Creates a comment as an account.
    ///
    /// # Errors
    /// If the pull request does not exist.
    pub fn create_comment(&mut self, number: u64, (account, body): (&str, &str)) -> Result<Comment, Denial> {
        self.pull_request(number)?;
        let id = CommentId((self.comments.len() + 1).to_string());
        let shown = Comment { id, author: account.to_owned(), is_own: true, body: body.to_owned() };
        self.comments.push(CommentRow { pull_request: number, shown: shown.clone() });
        Ok(shown)
    }

    /// Replaces the text of a comment as an account.
    ///
    /// # Errors
    /// If it does not exist, or belongs to another account.
    pub fn update_comment(&mut self, id: &str, (account, body): (&str, &str)) -> Result<Comment, Denial> {
        let found = self.comments.iter_mut().map(|row| &mut row.shown).find(|comment| comment.id.0 == id);
        let comment = found.ok_or(Denial::NotFound)?;
        if comment.author != account {
            return Err(Denial::Forbidden);
        }
        body.clone_into(&mut comment.body);
        Ok(comment.clone())
    }

    /// The issues with a label, as an account sees them.
    pub fn issues(&self, label: &str, account: &str) -> Vec<Issue> {
        let own = self.issues.iter().filter(|row| row.labels.contains(label));
        own.map(|row| Issue { is_own: row.author == account, ..row.shown.clone() }).collect()
    }

    /// Creates an issue as an account. Its labels must exist.
    ///
    /// # Errors
    /// If a label does not exist.
    pub fn create_issue(&mut self, account: &str, new: &NewIssue) -> Result<Issue, Denial> {
        if let Some(missing) = new.labels.iter().find(|name| self.label_id(name).is_none()) {
            return Err(Denial::Invalid(format!("label `{missing}` does not exist")));
        }
        let number = self.next_number();
        let shown = Issue {
            number,
            url: format!("{}/issues/{number}", self.url),
            title: new.title.clone(),
            body: new.body.clone(),
            is_open: true,
            is_own: true,
        };
        self.issues.push(IssueRow { shown: shown.clone(), author: account.to_owned(), labels: new.labels.clone() });
        Ok(shown)
    }

    /// Changes an issue.
    ///
    /// # Errors
    /// If it does not exist.
    pub fn update_issue(&mut self, number: u64, changes: &IssueChanges) -> Result<Issue, Denial> {
        let found = self.issues.iter_mut().map(|row| &mut row.shown).find(|issue| issue.number == number);
        let issue = found.ok_or(Denial::NotFound)?;
        issue.title = changes.title.clone().unwrap_or_else(|| issue.title.clone());
        issue.body = changes.body.clone().unwrap_or_else(|| issue.body.clone());
        issue.is_open = changes.is_open.unwrap_or(issue.is_open);
        Ok(issue.clone())
    }

    /// Creates a label.
    ///
    /// # Errors
    /// If one of this name exists.
    pub fn create_label(&mut self, label: &IssueLabel) -> Result<u64, Denial> {
        if self.label_id(&label.name).is_some() {
            return Err(Denial::Exists(format!("label `{}` exists already", label.name)));
        }
        self.labels.push(label.clone());
        Ok(self.labels.len() as u64)
    }

    /// Creates the labels that do not exist yet.
    pub fn ensure_labels<'l>(&mut self, names: impl IntoIterator<Item = &'l String>) {
        for name in names {
            if self.label_id(name).is_none() {
                self.labels.push(IssueLabel::undescribed(name));
            }
        }
    }

    /// The id of a label.
    pub fn label_id(&self, name: &str) -> Option<u64> {
        self.labels.iter().position(|label| label.name == name).map(|position| position as u64 + 1)
    }

    /// The commit of a branch.
    pub fn head(&self, branch: &str) -> Option<GitId> {
        self.branches.head(branch)
    }
}

impl MergeRefusal {
    /// The message of the host.
    pub(crate) fn message(self) -> &'static str {
        match self {
            Self::Conflict => "Pull Request is not mergeable: merge conflict",
            Self::Blocked => "Required reviews or checks are missing",
            Self::HeadMoved => "Head branch was modified. Review and try the merge again.",
            Self::Closed => "Pull Request is closed",
        }
    }
}

impl Denial {
    /// The HTTP status and the message of the host.
    pub(crate) fn answer(&self) -> (u16, String) {
        match self {
            Self::NotFound => (404, "Not Found".to_owned()),
            Self::Exists(message) => (409, message.clone()),
            Self::Invalid(message) => (422, message.clone()),
            Self::Forbidden => (403, "Forbidden".to_owned()),
            Self::Merge(refusal) => (405, refusal.message().to_owned()),
        }
    }
}
