//! The commits of the main branch in their order: the line along which commits move from environment to environment.

use std::collections::BTreeMap;
use std::sync::Arc;

use git::{RepositoryError, Revision};
use model::git_id::GitId;

use crate::access::RepositoryAccess;

/// The number of commits of the main branch that count, along the first parents. A commit further back can't be promoted.
pub const LINE_MAX: usize = 1_000;

/// The commits of the main branch, along the first parents.
#[derive(Clone, Debug)]
pub struct Line {
    /// The commits as revisions, oldest first.
    pub commits: Vec<Arc<str>>,
    index: BTreeMap<Arc<str>, usize>,
}

impl Line {
    /// Reads the line from the head of the control plane's main branch.
    ///
    /// # Errors
    /// If the branch or its history can't be read.
    pub fn read(access: &RepositoryAccess) -> Result<Self, RepositoryError> {
        let settings = &access.settings;
        let head = access.repositories.resolve(&settings.repo, &Revision::branch(&settings.branch))?;
        let history = access.repositories.history(&head, LINE_MAX)?;
        Ok(Self::of(history.into_iter().map(|commit| commit.id)))
    }

    /// A line of these commits, newest first.
    pub fn of(newest_first: impl IntoIterator<Item = GitId>) -> Self {
        let mut commits: Vec<Arc<str>> = newest_first.into_iter().map(|id| id.to_string().into()).collect();
        commits.reverse();
        let index = commits.iter().enumerate().map(|(index, commit)| (Arc::clone(commit), index)).collect();
        Self { commits, index }
    }

    /// The newest commit. None only if there is none.
    pub fn head(&self) -> Option<&Arc<str>> {
        self.commits.last()
    }

    /// The place of a commit in the line, from 0 for the oldest. None if it is not in the line.
    pub fn position(&self, commit: &str) -> Option<usize> {
        self.index.get(commit).copied()
    }

    /// The commit with this id, or with an id that begins with these digits.
    ///
    /// # Errors
    /// The number of commits in the line that begin with the digits, if it is not one.
    pub fn find(&self, digits: &str) -> Result<&Arc<str>, usize> {
        let mut found = self.commits.iter().filter(|commit| commit.starts_with(digits));
        match (found.next(), found.count()) {
            (Some(one), 0) => Ok(one),
            (None, _) => Err(0),
            (Some(_), others) => Err(others + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_in_order_and_finds_commits_by_their_first_digits() {
        let ids = ["1111", "1222", "3333"].map(|start| GitId::from_hex(&format!("{start:0<40}")).unwrap());
        let line = Line::of(ids.into_iter().rev());
        assert_eq!(line.head().map(|head| &head[..4]), Some("3333"));
        assert_eq!(ids.map(|id| line.position(&id.to_string())), [Some(0), Some(1), Some(2)]);
        assert_eq!(line.position("4"), None);
        assert_eq!(line.find("12").map(|found| &found[..4]), Ok("1222"));
        assert_eq!([line.find("1"), line.find("2")], [Err(2), Err(0)]);
    }
}
