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

/// Writes the one comment with a marker on a pull request. Comments of other accounts never count, even with the marker.
///
/// # Errors
/// As the methods of [`GitHost`].
pub fn put_comment(
    host: &dyn GitHost,
    repository: &HostRepository,
    number: u64,
    (marker, body): (&Marker, &str),
) -> Result<Put, HostError> {
    let body = marker.added_to(body);
    let find = || -> Result<Option<Comment>, HostError> {
        let comments = host.comments(repository, number)?;
        Ok(comments.into_iter().find(|comment| comment.is_own && marker.is_in(&comment.body)))
    };
    match find()? {
        Some(comment) if is_same(&comment.body, &body) => Ok(Put::Unchanged),
        Some(comment) => host.update_comment(repository, number, (&comment.id, &body)).map(|()| Put::Updated),
        None => once(find, || host.create_comment(repository, number, &body)).map(|_| Put::Created),
    }
}

/// Removes the text of the one comment with a marker, if it exists: replaces it by a short text.
///
/// # Errors
/// As the methods of [`GitHost`].
pub fn retract_comment(
    host: &dyn GitHost,
    repository: &HostRepository,
    number: u64,
    (marker, body): (&Marker, &str),
) -> Result<(), HostError> {
    let comments = host.comments(repository, number)?;
    let body = marker.added_to(body);
    let own = comments.iter().find(|comment| comment.is_own && marker.is_in(&comment.body));
    match own.filter(|comment| !is_same(&comment.body, &body)) {
        Some(comment) => host.update_comment(repository, number, (&comment.id, &body)),
        None => Ok(()),
    }
}

/// Writes the one issue with a marker. An issue that a person closed stays closed until its text changes.
///
/// `new` needs a label: the issue is searched among the issues with its first label.
///
/// # Errors
/// As the methods of [`GitHost`].
pub fn put_issue(
    host: &dyn GitHost,
    repository: &HostRepository,
    (marker, new): (&Marker, &NewIssue),
) -> Result<Put, HostError> {
    let body = marker.added_to(&new.body);
    let Some(issue) = find_issue(host, repository, (marker, new))? else {
        let new = NewIssue { body, ..new.clone() };
        let find = || find_issue(host, repository, (marker, &new));
        return once(find, || host.create_issue(repository, &new)).map(|_| Put::Created);
    };
    if issue.title == new.title && is_same(&issue.body, &body) {
        return Ok(Put::Unchanged);
    }
    let changes = IssueChanges { title: Some(new.title.clone()), body: Some(body), is_open: Some(true) };
    host.update_issue(repository, issue.number, &changes).map(|()| Put::Updated)
}

/// Closes the one issue with a marker, if it is open. A later [`put_issue`] opens it again, whatever its text is.
///
/// # Errors
/// As the methods of [`GitHost`].
pub fn close_issue(
    host: &dyn GitHost,
    repository: &HostRepository,
    (marker, label): (&Marker, &str),
) -> Result<(), HostError> {
    let new = NewIssue { labels: [label.to_owned()].into(), ..NewIssue::default() };
    match find_issue(host, repository, (marker, &new))?.filter(|issue| issue.is_open) {
        Some(issue) => {
            let body = format!("{RESOLVED}\n\n{}", issue.body.trim_end());
            let changes = IssueChanges { title: None, body: Some(body), is_open: Some(false) };
            host.update_issue(repository, issue.number, &changes)
        }
        None => Ok(()),
    }
}

/// The issue with a marker: the open one, else the newest one.
fn find_issue(
    host: &dyn GitHost,
    repository: &HostRepository,
    (marker, new): (&Marker, &NewIssue),
) -> Result<Option<Issue>, HostError> {
    let label = new.labels.first().map_or("", String::as_str);
    let issues = host.issues(repository, label)?;
    let own = issues.into_iter().filter(|issue| issue.is_own && marker.is_in(&issue.body));
    Ok(own.max_by_key(|issue| (issue.is_open, issue.number)))
}

/// Whether two texts are the same for people. Hosts change line ends and blanks at the end.
pub fn is_same(one: &str, other: &str) -> bool {
    one.trim_end().lines().map(str::trim_end).eq(other.trim_end().lines().map(str::trim_end))
}
