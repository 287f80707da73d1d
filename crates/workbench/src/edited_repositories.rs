//! Repositories with additional commits that exist only in memory: existing commits with some files changed.

use delivery::access::SharedRepositories;
use git::publications::SourceBranch;
use git::{
    Commit, CommitInfo, Edit, Edits, FileContent, FolderEntry, KnownTree, Push, Pushed, Repositories, RepositoryError,
    RepositoryUrl, Revision,
};
use model::git_id::GitId;
use model::tree::Tree;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Repositories in which some commits are followed by a commit that exists only in memory.
pub struct EditedRepositories<'a> {
    repositories: Below<'a>,
    next: Vec<Next>,
}

/// The repositories with the existing commits.
enum Below<'a> {
    Borrowed(&'a dyn Repositories),
    Shared(SharedRepositories),
}

/// A commit that exists only in memory.
pub struct Next {
    before: Commit,
    edits: Edits,
    id: GitId,
    /// If only the branch of the commit before leads to it: the settings that say which URLs are those of its repository. Else all revisions do that name
    /// the commit before.
    of_branch: Option<Arc<git::Settings>>,
}

impl Next {
    /// Creates a commit that changes files of the commit `before`. Every revision of that commit leads to it.
    pub fn new(before: Commit, edits: Edits) -> Self {
        Self::with((before, edits), None)
    }

    /// Same as [`Self::new`], but only the branch of `before` leads to it: other branches at the same commit, and objects that name the commit, do not.
    /// All URLs of its repository lead to it.
    pub fn of_branch(before: Commit, edits: Edits, settings: &Arc<git::Settings>) -> Self {
        Self::with((before, edits), Some(Arc::clone(settings)))
    }

    fn with((before, edits): (Commit, Edits), of_branch: Option<Arc<git::Settings>>) -> Self {
        let file = |(path, edit): (&_, &_)| match edit {
            Edit::Content(id, _) => format!("{path} {id}\n"),
            Edit::Link(id) => format!("{path} -> {id}\n"),
            Edit::Removed => format!("{path} removed\n"),
        };
        let files: String = edits.iter().map(file).collect();
        let branch = of_branch.as_ref().map_or_else(String::new, |_| format!(" {}", before.revision));
        let id = GitId::of_blob(format!("{}{branch}\n{files}", before.id).as_bytes());
        Self { before, edits, id, of_branch }
    }

    /// The id of the commit.
    pub fn id(&self) -> GitId {
        self.id
    }

    /// The branch that leads to the commit, pinned at the commit before, if only the branch does.
    pub fn pin(&self) -> Option<(SourceBranch, GitId)> {
        let name = (self.before.url.as_str().to_owned(), self.before.revision.name().to_string());
        self.of_branch.as_ref().map(|_| (name, self.before.id))
    }

    fn follows(&self, commit: &Commit, revision: &Revision) -> bool {
        if self.before.id != commit.id {
            return false;
        }
        match &self.of_branch {
            Some(settings) => {
                self.before.revision == *revision && settings.is_same_repository(&self.before.url, &commit.url)
            }
            None => self.before.url == commit.url,
        }
    }
}

impl<'a> EditedRepositories<'a> {
    /// Repositories with additional commits.
    pub fn new(repositories: &'a dyn Repositories, next: Vec<Next>) -> Self {
        Self { repositories: Below::Borrowed(repositories), next }
    }

    /// The same, of repositories that others use as well.
    pub fn shared(repositories: SharedRepositories, next: Vec<Next>) -> EditedRepositories<'static> {
        EditedRepositories { repositories: Below::Shared(repositories), next }
    }

    fn below(&self) -> &dyn Repositories {
        match &self.repositories {
            Below::Borrowed(repositories) => *repositories,
            Below::Shared(repositories) => &**repositories,
        }
    }

    /// The existing commit below a commit, and the changes since then.
    fn made<'c>(&'c self, commit: &'c Commit) -> (Commit, Option<&'c Edits>) {
        let next = self.next.iter().find(|next| next.id == commit.id);
        let id = next.map_or(commit.id, |next| next.before.id);
        (Commit { id, ..commit.clone() }, next.map(|next| &next.edits))
    }
}

impl Repositories for EditedRepositories<'_> {
    fn resolve(&self, url: &RepositoryUrl, revision: &Revision) -> Result<Commit, RepositoryError> {
        let commit = self.below().resolve(url, revision)?;
        let next = self.next.iter().find(|next| next.follows(&commit, revision));
        Ok(Commit { id: next.map_or(commit.id, |next| next.id), ..commit })
    }

    fn references(&self, url: &RepositoryUrl) -> Result<BTreeMap<String, GitId>, RepositoryError> {
        self.below().references(url)
    }

    fn cached(&self, url: &RepositoryUrl, revision: &Revision) -> Option<Commit> {
        self.below().cached(url, revision)
    }

    fn seen(&self, url: &RepositoryUrl, revision: &Revision) -> Vec<GitId> {
        self.below().seen(url, revision)
    }

    fn folder(&self, commit: &Commit, path: &str) -> Result<Option<Vec<FolderEntry>>, RepositoryError> {
        let (made, edits) = self.made(commit);
        let items = self.below().folder(&made, path)?;
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
        if edits.is_some() { self.folder(commit, path) } else { self.below().known_folder(&made, path, tree) }
    }

    fn content(&self, commit: &Commit, blob: GitId, limit: u64) -> Result<FileContent, RepositoryError> {
        let (made, edits) = self.made(commit);
        match edits.and_then(|edits| edits.blob(blob)) {
            Some(bytes) if bytes.len() as u64 > limit => Ok(FileContent::TooLarge(bytes.len() as u64)),
            Some(bytes) => Ok(FileContent::Bytes(bytes.clone())),
            None => self.below().content(&made, blob, limit),
        }
    }

    fn tree(&self, commit: &Commit) -> Result<Tree, RepositoryError> {
        self.below().tree(&self.made(commit).0)
    }

    fn subtree(&self, commit: &Commit, tree: GitId) -> Result<Tree, RepositoryError> {
        self.below().subtree(&self.made(commit).0, tree)
    }

    fn info(&self, commit: &Commit) -> Result<CommitInfo, RepositoryError> {
        self.below().info(&self.made(commit).0)
    }

    fn history(&self, commit: &Commit, reach: usize) -> Result<Vec<Commit>, RepositoryError> {
        let (made, edits) = self.made(commit);
        let mut history = self.below().history(&made, reach)?;
        if edits.is_some() {
            history.insert(0, commit.clone());
            history.truncate(reach);
        }
        Ok(history)
    }

    fn ancestry(&self, commit: &Commit, reach: usize) -> Result<Vec<(GitId, CommitInfo)>, RepositoryError> {
        self.below().ancestry(&self.made(commit).0, reach)
    }

    fn is_ancestor(&self, ancestor: GitId, commit: &Commit, reach: usize) -> Result<bool, RepositoryError> {
        self.below().is_ancestor(ancestor, &self.made(commit).0, reach)
    }

    fn push(&self, url: &RepositoryUrl, push: &Push<'_>) -> Result<Pushed, RepositoryError> {
        self.below().push(url, push)
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
        let commit =
            git::NewCommit { parents: &[], tree: &tree, open, message, author: &author, seconds: 0, signer: None };
        let progress = &model::progress::Progress::default();
        repositories.push(url, &Push { branch: "main", expected: None, commit: Some(commit), progress }).unwrap();
        repositories.resolve(url, &Revision::branch("main")).unwrap()
    }

    #[test]
    fn uncommitted_edits_have_the_head_as_parent() {
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
        assert_eq!(text(&next), FileContent::Bytes(b"new"[..].into()));
        assert_eq!(text(&made), FileContent::Bytes(b"old"[..].into()));
        assert_eq!(edited.content(&next, GitId::of_blob(b"new"), 2), Ok(FileContent::TooLarge(3)));
    }

    #[test]
    fn a_commit_of_a_branch_is_that_of_no_other_revision() {
        let url = RepositoryUrl::from_object("https://git.example/acme/x").unwrap();
        let repositories = MemoryRepositories::default();
        repositories.create(&url);
        let made = commit(&repositories, &url, "old");
        let edits: Edits = [("a.yaml".into(), Some(b"new"[..].into()))].into_iter().collect();
        let pinned = Revision::Commit { id: made.id, branch: None };
        let leads = |next| {
            let edited = EditedRepositories::new(&repositories, vec![next]);
            let id = |revision| edited.resolve(&url, revision).unwrap().id;
            (id(&made.revision) != made.id, id(&pinned) != made.id)
        };
        assert_eq!(leads(Next::new(made.clone(), edits.clone())), (true, true));
        let settings = Arc::new(git::Settings::new("cache"));
        assert_eq!(leads(Next::of_branch(made.clone(), edits, &settings)), (true, false));
    }
}
