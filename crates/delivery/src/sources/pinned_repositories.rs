//! Repositories whose branches are pinned to commits, for example to the sources of an earlier publication.

use std::collections::BTreeMap;

use git::publications::SourceBranch;
use git::{
    Commit, CommitInfo, FileContent, FolderEntry, KnownTree, Push, Pushed, Repositories, RepositoryError,
    RepositoryUrl, Revision,
};
use model::git_id::GitId;
use model::tree::Tree;

/// Repositories with pinned branches and tags.
pub struct PinnedRepositories<'a> {
    repositories: &'a dyn Repositories,
    pins: BTreeMap<SourceBranch, GitId>,
    /// Whether branches and tags that are not pinned do not exist.
    is_strict: bool,
}

impl<'a> PinnedRepositories<'a> {
    /// Pins branches and tags to commits. Others are at their current heads.
    pub fn new(repositories: &'a dyn Repositories, pins: BTreeMap<SourceBranch, GitId>) -> Self {
        Self { repositories, pins, is_strict: false }
    }

    /// Same as [`Self::new`], but a branch or tag that is not pinned does not exist.
    pub fn strict(repositories: &'a dyn Repositories, pins: BTreeMap<SourceBranch, GitId>) -> Self {
        Self { repositories, pins, is_strict: true }
    }

    fn is_available(&self, revision: &Revision) -> bool {
        !self.is_strict || matches!(revision, Revision::Commit { .. })
    }

    fn pinned(&self, url: &RepositoryUrl, revision: &Revision) -> Revision {
        match revision {
            Revision::Branch(name) | Revision::Tag(name) => {
                match self.pins.get(&(url.as_str().to_owned(), name.to_string())) {
                    Some(id) => Revision::Commit { id: *id, branch: Some(name.clone()) },
                    None => revision.clone(),
                }
            }
            commit @ Revision::Commit { .. } => commit.clone(),
        }
    }
}

impl Repositories for PinnedRepositories<'_> {
    fn resolve(&self, url: &RepositoryUrl, revision: &Revision) -> Result<Commit, RepositoryError> {
        let pinned = self.pinned(url, revision);
        if !self.is_available(&pinned) {
            return Err(RepositoryError::NoRevision { url: url.clone(), revision: pinned });
        }
        self.repositories.resolve(url, &pinned)
    }

    fn references(&self, url: &RepositoryUrl) -> Result<BTreeMap<String, GitId>, RepositoryError> {
        self.repositories.references(url)
    }

    fn cached(&self, url: &RepositoryUrl, revision: &Revision) -> Option<Commit> {
        let pinned = self.pinned(url, revision);
        if self.is_available(&pinned) { self.repositories.cached(url, &pinned) } else { None }
    }

    fn seen(&self, url: &RepositoryUrl, revision: &Revision) -> Vec<GitId> {
        self.repositories.seen(url, revision)
    }

    fn folder(&self, commit: &Commit, path: &str) -> Result<Option<Vec<FolderEntry>>, RepositoryError> {
        self.repositories.folder(commit, path)
    }

    fn known_folder(
        &self,
        commit: &Commit,
        path: &str,
        tree: KnownTree,
    ) -> Result<Option<Vec<FolderEntry>>, RepositoryError> {
        self.repositories.known_folder(commit, path, tree)
    }

    fn content(&self, commit: &Commit, blob: GitId, limit: u64) -> Result<FileContent, RepositoryError> {
        self.repositories.content(commit, blob, limit)
    }

    fn tree(&self, commit: &Commit) -> Result<Tree, RepositoryError> {
        self.repositories.tree(commit)
    }

    fn subtree(&self, commit: &Commit, tree: GitId) -> Result<Tree, RepositoryError> {
        self.repositories.subtree(commit, tree)
    }

    fn info(&self, commit: &Commit) -> Result<CommitInfo, RepositoryError> {
        self.repositories.info(commit)
    }

    fn history(&self, commit: &Commit, reach: usize) -> Result<Vec<Commit>, RepositoryError> {
        self.repositories.history(commit, reach)
    }

    fn ancestry(&self, commit: &Commit, reach: usize) -> Result<Vec<(GitId, CommitInfo)>, RepositoryError> {
        self.repositories.ancestry(commit, reach)
    }

    fn is_ancestor(&self, ancestor: GitId, commit: &Commit, reach: usize) -> Result<bool, RepositoryError> {
        self.repositories.is_ancestor(ancestor, commit, reach)
    }

    fn push(&self, url: &RepositoryUrl, push: &Push<'_>) -> Result<Pushed, RepositoryError> {
        self.repositories.push(url, push)
    }
}
