//! Repositories with additional commits that exist only in memory: existing commits with some files changed.

use git::{
    Commit, CommitInfo, Content, Edits, FolderEntry, KnownTree, Push, Pushed, Repositories, RepositoryError,
    RepositoryUrl, Revision,
};
use model::git_id::GitId;
use model::tree::Tree;
use std::collections::BTreeMap;

/// Repositories in which some commits are followed by a commit that exists only in memory.
pub(crate) struct EditedRepositories<'a> {
    repositories: &'a dyn Repositories,
    next: Vec<Next>,
}

/// A commit that exists only in memory.
pub(crate) struct Next {
    before: Commit,
    edits: Edits,
    id: GitId,
}

impl Next {
    /// Creates a commit that changes files of the commit `before`.
    pub(crate) fn new(before: Commit, edits: Edits) -> Self {
        let file = |path| format!("{path} {:?}\n", edits.get(path).flatten().map(|bytes| GitId::of_blob(bytes)));
        let files: String = edits.paths().map(|path| file(path)).collect();
        let id = GitId::of_blob(format!("{}\n{files}", before.id).as_bytes());
        Self { before, edits, id }
    }
}

impl<'a> EditedRepositories<'a> {
    pub(crate) fn new(repositories: &'a dyn Repositories, next: Vec<Next>) -> Self {
        Self { repositories, next }
    }

    /// The existing commit below a commit, and the changes since then.
    fn made<'c>(&'c self, commit: &'c Commit) -> (Commit, Option<&'c Edits>) {
        let next = self.next.iter().find(|next| next.before.url == commit.url && next.id == commit.id);
        let id = next.map_or(commit.id, |next| next.before.id);
        (Commit { id, ..commit.clone() }, next.map(|next| &next.edits))
    }
}

impl Repositories for EditedRepositories<'_> {
    fn resolve(&self, url: &RepositoryUrl, revision: &Revision) -> Result<Commit, RepositoryError> {
        let commit = self.repositories.resolve(url, revision)?;
        let next = self.next.iter().find(|next| next.before.url == commit.url && next.before.id == commit.id);
        Ok(Commit { id: next.map_or(commit.id, |next| next.id), ..commit })
    }

    fn references(&self, url: &RepositoryUrl) -> Result<BTreeMap<String, GitId>, RepositoryError> {
        self.repositories.references(url)
    }

    fn cached(&self, url: &RepositoryUrl, revision: &Revision) -> Option<Commit> {
        self.repositories.cached(url, revision)
    }

    fn seen(&self, url: &RepositoryUrl, revision: &Revision) -> Vec<GitId> {
        self.repositories.seen(url, revision)
    }

    fn folder(&self, commit: &Commit, path: &str) -> Result<Option<Vec<FolderEntry>>, RepositoryError> {
        let (made, edits) = self.made(commit);
        let items = self.repositories.folder(&made, path)?;
        Ok(edits.map_or(items.clone(), |edits| edits.folder(path, items)))
    }

    fn known_folder(
        &self,
        commit: &Commit,
        path: &str,
        tree: KnownTree,
    ) -> Result<Option<Vec<FolderEntry>>, RepositoryError> {
        let (made, edits) = self.made(commit);
        // A folder that an edit changes has no stored tree.
        if edits.is_some() { self.folder(commit, path) } else { self.repositories.known_folder(&made, path, tree) }
    }

    fn content(&self, commit: &Commit, blob: GitId, limit: u64) -> Result<Content, RepositoryError> {
        let (made, edits) = self.made(commit);
        match edits.and_then(|edits| edits.blob(blob)) {
            Some(bytes) if bytes.len() as u64 > limit => Ok(Content::TooLarge(bytes.len() as u64)),
            Some(bytes) => Ok(Content::Bytes(bytes.clone())),
            None => self.repositories.content(&made, blob, limit),
        }
    }

    fn tree(&self, commit: &Commit) -> Result<Tree, RepositoryError> {
        self.repositories.tree(&self.made(commit).0)
    }

    fn subtree(&self, commit: &Commit, tree: GitId) -> Result<Tree, RepositoryError> {
        self.repositories.subtree(&self.made(commit).0, tree)
    }

    fn info(&self, commit: &Commit) -> Result<CommitInfo, RepositoryError> {
        self.repositories.info(&self.made(commit).0)
    }

    fn history(&self, commit: &Commit, reach: usize) -> Result<Vec<Commit>, RepositoryError> {
        let (made, edits) = self.made(commit);
        let mut history = self.repositories.history(&made, reach)?;
        if edits.is_some() {
            history.insert(0, commit.clone());
            history.truncate(reach);
        }
        Ok(history)
    }

    fn ancestry(&self, commit: &Commit, reach: usize) -> Result<Vec<(GitId, CommitInfo)>, RepositoryError> {
        self.repositories.ancestry(&self.made(commit).0, reach)
    }

    fn is_ancestor(&self, ancestor: GitId, commit: &Commit, reach: usize) -> Result<bool, RepositoryError> {
        self.repositories.is_ancestor(ancestor, &self.made(commit).0, reach)
    }

    fn push(&self, url: &RepositoryUrl, push: &Push<'_>) -> Result<Pushed, RepositoryError> {
        self.repositories.push(url, push)
    }
}

#[cfg(test)]
mod tests {
    use git::MemoryRepositories;

    use super::*;

    /// A commit with one file, pushed to branch `main`.
    fn commit(repositories: &MemoryRepositories, url: &RepositoryUrl, text: &str) -> Commit {
        let mut tree = Tree::default();
        tree.write("a.yaml", text.as_bytes());
        let author = git::Person { name: "Ann".to_owned(), email: "ann@example.com".to_owned() };
        let (open, message) = (&model::tree::closed, "Begin");
        let commit = git::NewCommit { parents: &[], tree: &tree, open, message, author: &author, seconds: 0 };
        let progress = &model::progress::Progress::default();
        repositories.push(url, &Push { branch: "main", expected: None, commit: Some(commit), progress }).unwrap();
        repositories.resolve(url, &Revision::branch("main")).unwrap()
    }

    #[test]
    fn a_commit_that_is_not_made_has_one_before_it() {
        let url = RepositoryUrl::from_object("https://git.example/acme/x").unwrap();
        let repositories = MemoryRepositories::default();
        repositories.create(&url);
        let made = commit(&repositories, &url, "old");
        let edits = [("a.yaml".into(), Some(b"new"[..].into()))].into_iter().collect();
        let edited = EditedRepositories::new(&repositories, vec![Next::new(made.clone(), edits)]);
        let next = edited.resolve(&url, &Revision::branch("main")).unwrap();
        let text = |commit: &Commit| {
            let items = edited.folder(commit, "").unwrap().unwrap();
            edited.content(commit, items[0].id, 100).unwrap()
        };
        assert_eq!(edited.history(&next, 5).unwrap(), [next.clone(), made.clone()]);
        assert_eq!(text(&next), Content::Bytes(b"new"[..].into()));
        assert_eq!(text(&made), Content::Bytes(b"old"[..].into()));
        assert_eq!(edited.content(&next, GitId::of_blob(b"new"), 2), Ok(Content::TooLarge(3)));
    }
}
