//! What the host in memory knows of a change: its reviews, its statuses, and its pull request.

use std::collections::BTreeMap;

use jiff::Timestamp;
use model::git_id::GitId;

use super::state::{Denial, RepositoryState};
use crate::kind::HostKind;
use crate::pull_request::{PullRequest, PullRequestState};
use crate::review::{self, Review, ReviewApproval, ReviewVerdict};
use crate::status::{self, CommitStatus, ReportedStatus};

impl RepositoryState {
    /// Approves a pull request.
    ///
    /// # Errors
    /// If it does not exist.
    pub fn approve(&mut self, number: u64) -> Result<(), Denial> {
        self.row(number)?.is_approved = true;
        self.settle();
        Ok(())
    }

    /// Reviews a pull request as an account.
    ///
    /// # Errors
    /// If it does not exist.
    pub fn review(&mut self, account: &str, number: u64, verdict: ReviewVerdict) -> Result<(), Denial> {
        let row = self.row(number)?;
        let (at, commit) = (Timestamp::from_second(row.reviews.len() as i64).ok(), row.shown.head_commit);
        row.reviews.push(Review { account: account.to_owned(), verdict, at, commit });
        let is_approved = !self.approvals(number)?.is_empty();
        self.row(number)?.is_approved = is_approved;
        self.settle();
        Ok(())
    }

    /// The reviews of a pull request, oldest first.
    ///
    /// # Errors
    /// If it does not exist.
    #[cfg(feature = "double")]
    pub(crate) fn reviews(&self, number: u64) -> Result<Vec<Review>, Denial> {
        let row = self.pull_requests.iter().find(|row| row.shown.number == number).ok_or(Denial::NotFound)?;
        Ok(row.reviews.clone())
    }

    /// The current approvals of a pull request. Azure DevOps knows the accounts only, and keeps the approvals when the source branch moves.
    ///
    /// # Errors
    /// If it does not exist.
    pub fn approvals(&self, number: u64) -> Result<Vec<ReviewApproval>, Denial> {
        let row = self.pull_requests.iter().find(|row| row.shown.number == number).ok_or(Denial::NotFound)?;
        let head = row.shown.head_commit;
        if self.kind != HostKind::AzureDevOps {
            return Ok(review::approvals(row.reviews.clone(), head));
        }
        let current = row.reviews.iter().cloned().map(|review| Review { commit: head, ..review }).collect();
        let approvals = review::approvals(current, head).into_iter();
        Ok(approvals.map(|approval| ReviewApproval { commit: None, at: None, ..approval }).collect())
    }

    /// The pull requests with a commit: as their head, or as the result of their merge. Gitea knows the merges only.
    pub(crate) fn pull_requests_with(&self, commit: GitId) -> Vec<PullRequest> {
        let knows_heads = self.kind != HostKind::Gitea;
        let is_with = |found: &PullRequest| {
            found.state == PullRequestState::Merged { commit: Some(commit) }
                || (knows_heads && found.head_commit == Some(commit))
        };
        self.pull_requests().into_iter().filter(is_with).collect()
    }

    /// Sets the status of a commit.
    ///
    /// # Errors
    /// If the commit does not exist.
    pub fn set_status(&mut self, commit: GitId, status: CommitStatus) -> Result<(), Denial> {
        self.set_status_as("", commit, status)
    }

    /// Sets the status of a commit as an account.
    ///
    /// # Errors
    /// If the commit does not exist.
    pub fn set_status_as(&mut self, account: &str, commit: GitId, status: CommitStatus) -> Result<(), Denial> {
        if !self.branches.has_commit(commit) {
            return Err(Denial::NotFound);
        }
        self.statuses.push((commit, ReportedStatus { status, account: account.to_owned() }));
        self.settle();
        Ok(())
    }

    /// The current statuses of a commit: the last one of each context.
    pub fn statuses(&self, commit: GitId) -> Vec<CommitStatus> {
        let own = self.all_statuses(commit).map(|(_, reported)| reported.status);
        own.map(|status| (status.context.clone(), status)).collect::<BTreeMap<_, _>>().into_values().collect()
    }

    /// The current statuses of a commit: the last one of each account with each context.
    pub fn reported_statuses(&self, commit: GitId) -> Vec<ReportedStatus> {
        status::latest(self.all_statuses(commit))
    }

    /// All statuses of a commit with their ids, oldest first.
    pub(crate) fn all_statuses(&self, commit: GitId) -> impl Iterator<Item = (u64, ReportedStatus)> {
        let own = self.statuses.iter().zip(1..).filter(move |((at, _), _)| *at == commit);
        own.map(|((_, reported), id)| (id, reported.clone()))
    }
}
