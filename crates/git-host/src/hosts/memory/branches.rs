//! The branches of a repository of the memory host: the seam to a real repository.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::git_id::GitId;

/// The branches of a repository. An implementation may read and write a real one.
pub trait Branches: Send + fmt::Debug {
    /// The commit of a branch. None if it does not exist.
    fn head(&self, branch: &str) -> Option<GitId>;

    /// Whether a commit exists.
    fn has_commit(&self, commit: GitId) -> bool;

    /// Whether a branch can't be merged into another one without a decision about conflicting changes.
    fn is_conflicting(&self, head: &str, base: &str) -> bool;

    /// Merges a branch into another one, and returns the new commit. None if there are conflicting changes.
    fn merge(&mut self, head: &str, base: &str) -> Option<GitId>;

    /// The names of all branches, for people. Empty if they are not listed.
    fn names(&self) -> Vec<String> {
        Vec::new()
    }

    /// What a commit changes in a branch, or has changed if it was merged there with the commit `merged`. None if commits have no content.
    fn changes(&self, _base: &str, _merged: Option<GitId>, _head: GitId) -> Option<BranchChanges> {
        None
    }
}

/// The changes of a branch, for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BranchChanges {
    /// The changed files.
    pub files: Vec<ChangedFile>,
    /// The changes as a unified diff.
    pub diff: String,
    /// Whether the diff is not complete, because it is too long.
    pub is_cut: bool,
}

/// A changed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// The path. For a moved file, both paths as git writes them.
    pub path: String,
    /// The numbers of added and of removed lines. None if it is not a text.
    pub lines: Option<(u64, u64)>,
}

/// Branches in memory. Commits have no content. All copies are the same branches.
#[derive(Clone, Debug, Default)]
pub struct MemoryBranches(Arc<Mutex<Content>>);

#[derive(Debug, Default)]
struct Content {
    heads: BTreeMap<String, GitId>,
    commits: BTreeSet<GitId>,
    /// Pairs of source and target branch.
    conflicts: BTreeSet<(String, String)>,
}

impl MemoryBranches {
    /// A repository with the branch `main`.
    pub fn new() -> Self {
        let branches = Self::default();
        branches.push("main");
        branches
    }

    /// Moves a branch to a new commit, or creates it.
    pub fn push(&self, branch: &str) -> GitId {
        let mut content = self.content();
        let commit = GitId::of_object("commit", format!("{branch} {}", content.commits.len()).as_bytes());
        content.commits.insert(commit);
        content.heads.insert(branch.to_owned(), commit);
        commit
    }

    /// Creates a branch at the commit of another one, or moves it there.
    pub fn reset(&self, branch: &str, to: &str) {
        let mut content = self.content();
        if let Some(commit) = content.heads.get(to).copied() {
            content.heads.insert(branch.to_owned(), commit);
        }
    }

    /// Deletes a branch.
    pub fn delete(&self, branch: &str) {
        self.content().heads.remove(branch);
    }

    /// Gives two branches conflicting changes, or removes them.
    pub fn set_conflict(&self, head: &str, base: &str, is_conflicting: bool) {
        let (mut content, pair) = (self.content(), (head.to_owned(), base.to_owned()));
        if is_conflicting {
            content.conflicts.insert(pair);
        } else {
            content.conflicts.remove(&pair);
        }
    }

    fn content(&self) -> MutexGuard<'_, Content> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Branches for MemoryBranches {
    fn head(&self, branch: &str) -> Option<GitId> {
        self.content().heads.get(branch).copied()
    }

    fn has_commit(&self, commit: GitId) -> bool {
        self.content().commits.contains(&commit)
    }

    fn is_conflicting(&self, head: &str, base: &str) -> bool {
        self.content().conflicts.contains(&(head.to_owned(), base.to_owned()))
    }

    fn merge(&mut self, head: &str, base: &str) -> Option<GitId> {
        let is_possible = self.head(head).is_some() && !self.is_conflicting(head, base);
        is_possible.then(|| self.push(base))
    }
}
