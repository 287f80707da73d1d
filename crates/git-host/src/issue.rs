//! Issues of a repository, and labels.

use std::collections::BTreeSet;

/// An issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// The number. On GitHub and Gitea, issues and pull requests share their numbers.
    pub number: u64,
    /// Its page for people.
    pub url: String,
    /// The title.
    pub title: String,
    /// The body, in Markdown.
    pub body: String,
    /// Whether it is open.
    pub is_open: bool,
    /// Whether the credential's account opened it.
    pub is_own: bool,
}

/// An issue that is to be opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewIssue {
    /// The title.
    pub title: String,
    /// The body, in Markdown.
    pub body: String,
    /// The names of labels. Missing labels are created.
    pub labels: BTreeSet<String>,
}

/// Changes of an issue. Parts without a value stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IssueChanges {
    /// The new title.
    pub title: Option<String>,
    /// The new body.
    pub body: Option<String>,
    /// Whether it is open from now on.
    pub is_open: Option<bool>,
}

/// A label of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssueLabel {
    /// The name.
    pub name: String,
    /// Six hexadecimal digits.
    pub color: String,
    /// A short text.
    pub description: String,
}

impl IssueLabel {
    /// A label that was not described: it gets a gray color.
    pub(crate) fn undescribed(name: &str) -> Self {
        Self { name: name.to_owned(), color: "ededed".to_owned(), description: String::new() }
    }
}
