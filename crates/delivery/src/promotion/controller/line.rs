//! The commits of the main branch in their order: the line along which commits move from environment to environment.

use engine::promotion::state::Revision;
use git::{RepositoryError, Revision as GitRevision};
use model::git_id::GitId;

use crate::access::RepositoryAccess;

/// The number of commits of the main branch that count, along the first parents. A commit further back can't be promoted.
pub const LINE_MAX: usize = 1_000;

/// The commits of the main branch, along the first parents.
#[derive(Clone, Debug)]
pub struct Line {
    /// The commits, newest first.
    pub commits: Vec<Revision>,
}

impl Line {
    /// Reads the line from the head of the control plane's main branch.
    ///
    /// # Errors
    /// If the branch or its history can't be read.
    pub fn read(access: &RepositoryAccess) -> Result<Self, RepositoryError> {
        let settings = &access.settings;
        let head = access.repositories.resolve(&settings.repo, &GitRevision::branch(&settings.branch))?;
        let history = access.repositories.history(&head, LINE_MAX)?;
        Ok(Self { commits: history.into_iter().map(|commit| revision(commit.id)).collect() })
    }

    /// The newest commit. None only if there is none.
    pub fn head(&self) -> Option<&Revision> {
        self.commits.first()
    }

    /// What a commit brings to an environment that has another one: the commits from it, newest first, to the one after that. Only itself if the environment has none, or
    /// one that contains it. Empty: the line does not have the commit.
    pub fn brought(&self, commit: &Revision, has: Option<&Revision>) -> &[Revision] {
        let position = |wanted: &Revision| self.commits.iter().position(|known| known == wanted);
        let Some(start) = position(commit) else { return &[] };
        let end = match has.map(position) {
            Some(Some(end)) if end > start => end,
            Some(None) => self.commits.len(),
            _ => start + 1,
        };
        &self.commits[start..end]
    }

    /// The commit with this id, or with an id that begins with these digits.
    ///
    /// # Errors
    /// The number of commits in the line that begin with the digits, if it is not one.
    pub fn find(&self, digits: &str) -> Result<&Revision, usize> {
        let mut found = self.commits.iter().filter(|commit| commit.0.starts_with(digits));
        match (found.next(), found.count()) {
            (Some(one), 0) => Ok(one),
            (None, _) => Err(0),
            (Some(_), others) => Err(others + 1),
        }
    }
}

/// A commit as a revision.
pub fn revision(commit: GitId) -> Revision {
    Revision(commit.to_string().into())
}

/// The commit of a revision. None if the revision is no commit.
pub fn commit(revision: &Revision) -> Option<GitId> {
    GitId::from_hex(&revision.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_finds_commits_by_their_first_digits() {
        let ids = ["3333", "1222", "1111"].map(|start| GitId::from_hex(&format!("{start:0<40}")).unwrap());
        let line = Line { commits: ids.map(revision).into() };
        assert_eq!(line.head().and_then(commit), Some(ids[0]));
        assert_eq!(line.find("12").ok().and_then(commit), Some(ids[1]));
        assert_eq!([line.find("1"), line.find("2")], [Err(2), Err(0)]);
    }

    #[test]
    fn commit_brings_all_commits_since_the_present_one() {
        let [newest, middle, oldest, gone] =
            ["3333", "1222", "1111", "9999"].map(|start| revision(GitId::from_hex(&format!("{start:0<40}")).unwrap()));
        let line = Line { commits: vec![newest.clone(), middle.clone(), oldest.clone()] };
        assert_eq!(line.brought(&newest, Some(&oldest)), [newest.clone(), middle.clone()]);
        assert_eq!(line.brought(&newest, None), std::slice::from_ref(&newest));
        assert_eq!(line.brought(&middle, Some(&newest)), std::slice::from_ref(&middle));
        // What is there is not on the line any more, so it is not known what it contained.
        assert_eq!(line.brought(&middle, Some(&gone)), [middle, oldest]);
        assert!(line.brought(&gone, None).is_empty());
    }
}
