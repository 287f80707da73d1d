//! One comment or issue for one purpose: found again by its marker, and updated in place.

use crate::error::HostError;
use crate::host::GitHost;
use crate::hosts::creation::once;
use crate::issue::{Issue, IssueChanges, NewIssue};
use crate::marker::Marker;
use crate::pull_request::Comment;
use crate::repository::HostRepository;

/// The last line of an issue that was closed because its reason is gone.
const RESOLVED: &str = "*Resolved.*";

/// What was done to a comment or issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// It is new.
    Created,
    /// Its text changed.
    Updated,
    /// It had this text already.
    Unchanged,
}

/// What has a marker in a repository: one comment on each pull request, and one issue. What other accounts wrote never counts, even with the marker.
#[derive(Clone, Copy, Debug)]
pub struct Sticky<'a> {
    /// The host of the repository.
    pub host: &'a dyn GitHost,
    /// The repository.
    pub repository: &'a HostRepository,
    /// The marker.
    pub marker: &'a Marker,
}

impl Sticky<'_> {
    /// Writes the comment on a pull request.
    ///
    /// # Errors
    /// As the methods of [`GitHost`].
    pub fn put_comment(&self, number: u64, body: &str) -> Result<Put, HostError> {
        let body = self.marker.added_to(body);
        let find = || self.find_comment(number);
        match find()? {
            Some(comment) if is_same(&comment.body, &body) => Ok(Put::Unchanged),
            Some(comment) => {
                let comment = Comment { body, ..comment };
                self.host.update_comment(self.repository, number, &comment).map(|()| Put::Updated)
            }
            None => once(find, || self.host.create_comment(self.repository, number, &body)).map(|_| Put::Created),
        }
    }

    /// Removes the text of the comment on a pull request, if it exists: replaces it by a short text.
    ///
    /// # Errors
    /// As the methods of [`GitHost`].
    pub fn retract_comment(&self, number: u64, body: &str) -> Result<(), HostError> {
        let body = self.marker.added_to(body);
        match self.find_comment(number)?.filter(|comment| !is_same(&comment.body, &body)) {
            Some(comment) => self.host.update_comment(self.repository, number, &Comment { body, ..comment }),
            None => Ok(()),
        }
    }

    fn find_comment(&self, number: u64) -> Result<Option<Comment>, HostError> {
        let comments = self.host.comments(self.repository, number)?;
        Ok(comments.into_iter().find(|comment| comment.is_own && self.marker.is_in(&comment.body)))
    }

    /// Writes the issue. An issue that a person closed stays closed until its text changes.
    ///
    /// `new` needs a label: the issue is searched among the issues with its first label.
    ///
    /// # Errors
    /// As the methods of [`GitHost`].
    pub fn put_issue(&self, new: &NewIssue) -> Result<Put, HostError> {
        let body = self.marker.added_to(&new.body);
        let label = new.labels.first().map_or("", String::as_str);
        let Some(issue) = self.find_issue(label)? else {
            let new = NewIssue { body, ..new.clone() };
            let create = || self.host.create_issue(self.repository, &new);
            return once(|| self.find_issue(label), create).map(|_| Put::Created);
        };
        if issue.title == new.title && is_same(&issue.body, &body) {
            return Ok(Put::Unchanged);
        }
        let changes = IssueChanges { title: Some(new.title.clone()), body: Some(body), is_open: Some(true) };
        self.host.update_issue(self.repository, issue.number, &changes).map(|()| Put::Updated)
    }

    /// Closes the issue, if it is open. It is searched among the issues with a label. A later [`Self::put_issue`] opens it again, whatever its text is.
    ///
    /// # Errors
    /// As the methods of [`GitHost`].
    pub fn close_issue(&self, label: &str) -> Result<(), HostError> {
        match self.find_issue(label)?.filter(|issue| issue.is_open) {
            Some(issue) => {
                let body = format!("{RESOLVED}\n\n{}", issue.body.trim_end());
                let changes = IssueChanges { title: None, body: Some(body), is_open: Some(false) };
                self.host.update_issue(self.repository, issue.number, &changes)
            }
            None => Ok(()),
        }
    }

    /// The issue: the open one, else the newest one.
    fn find_issue(&self, label: &str) -> Result<Option<Issue>, HostError> {
        let issues = self.host.issues(self.repository, label)?;
        let own = issues.into_iter().filter(|issue| issue.is_own && self.marker.is_in(&issue.body));
        Ok(own.max_by_key(|issue| (issue.is_open, issue.number)))
    }
}

/// Whether two texts are the same for people. Hosts change line ends and blanks at the end.
pub fn is_same(one: &str, other: &str) -> bool {
    one.trim_end().lines().map(str::trim_end).eq(other.trim_end().lines().map(str::trim_end))
}
