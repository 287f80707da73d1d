//! The seam to git repositories: one trait with two twins, real and in memory.

mod error;
mod memory;
mod object;
mod real;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use model::git_id::GitId;
use model::progress::Progress;
use model::tree::{Open, OpenError, Sealed, SealedBy, Tree};

pub use self::error::{RepositoryError, Wait};
pub use self::memory::MemoryRepositories;
pub use self::real::GitRepositories;
use crate::url::RepositoryUrl;

/// Repositories by URL.
///
/// Every method blocks. Nothing is asked of the network where what is wanted is here already: a commit, once read, is never fetched again.
pub trait Repositories: Sync {
    /// The commit that a revision names now. Everything in it can be read afterwards.
    ///
    /// # Errors
    /// If the repository can't be read, or has no such revision.
    fn resolve(&self, url: &RepositoryUrl, revision: &Revision) -> Result<Commit, RepositoryError>;

    /// The commit that a revision named when it was resolved for the last time, by this process or an earlier one. None if that is not known.
    fn remembered(&self, url: &RepositoryUrl, revision: &Revision) -> Option<Commit>;

    /// The commits that a branch or tag was found at when its repository was asked, in that order, oldest first, each once for as long as it stayed. Only so far
    /// back as is remembered; nothing if that is not known.
    fn seen(&self, url: &RepositoryUrl, revision: &Revision) -> Vec<GitId>;

    /// What is in a folder of a commit, by name; none if there is no such folder. The empty path is the root.
    ///
    /// # Errors
    /// If the repository is damaged.
    fn folder(&self, commit: &Commit, path: &str) -> Result<Option<Vec<Item>>, RepositoryError>;

    /// As [`Self::folder`], for a folder whose tree is known, from the commit or from the folder above: what lies above is not read again.
    ///
    /// # Errors
    /// If the repository is damaged, or the tree larger than it may be.
    fn known_folder(
        &self,
        commit: &Commit,
        path: &str,
        _tree: KnownTree,
    ) -> Result<Option<Vec<Item>>, RepositoryError> {
        self.folder(commit, path)
    }

    /// The content of a file, by its blob id; at most `limit` bytes are read.
    ///
    /// # Errors
    /// If the repository is damaged.
    fn content(&self, commit: &Commit, blob: GitId, limit: u64) -> Result<Content, RepositoryError>;

    /// What is at the root of a commit. Folders are sealed, and the content of files is known by id.
    ///
    /// # Errors
    /// If the repository is damaged, or has a name that is not UTF-8.
    fn tree(&self, commit: &Commit) -> Result<Tree, RepositoryError>;

    /// What is in a folder that a commit was found to have, by the id of its tree. Folders in it are sealed.
    ///
    /// # Errors
    /// As [`Self::tree`].
    fn subtree(&self, commit: &Commit, tree: GitId) -> Result<Tree, RepositoryError>;

    /// Who made a commit from which, and why.
    ///
    /// # Errors
    /// If the repository is damaged.
    fn info(&self, commit: &Commit) -> Result<CommitInfo, RepositoryError>;

    /// A commit and those before it, always following the first parent, newest first: at most `reach`, fewer where the history ends.
    ///
    /// # Errors
    /// If the repository can't be read that far.
    fn history(&self, commit: &Commit, reach: usize) -> Result<Vec<Commit>, RepositoryError>;

    /// A commit and those before it, by all parents, as far as they are at most `reach` generations away. Each comes before those it was made from; what a merge
    /// brought comes before what it was merged into.
    ///
    /// # Errors
    /// If the repository can't be read that far.
    fn ancestry(&self, commit: &Commit, reach: usize) -> Result<Vec<(GitId, CommitInfo)>, RepositoryError>;

    /// Whether `ancestor` is `commit` or was made before it, looking at the last `reach` generations.
    ///
    /// # Errors
    /// If the repository can't be read that far.
    fn is_ancestor(&self, ancestor: GitId, commit: &Commit, reach: usize) -> Result<bool, RepositoryError>;

    /// Moves a branch, all or nothing, and only if it still is where it is expected.
    ///
    /// # Errors
    /// If the repository can't be reached, or refuses.
    fn push(&self, url: &RepositoryUrl, push: &Push<'_>) -> Result<Pushed, RepositoryError>;
}

/// Puts commits that were reached from one of them into an order in which each comes before those it was made from.
fn newest_first(head: GitId, mut commits: BTreeMap<GitId, CommitInfo>) -> Vec<(GitId, CommitInfo)> {
    let mut waits_for: BTreeMap<GitId, usize> = BTreeMap::new();
    for parent in commits.values().flat_map(|info| &info.parents) {
        *waits_for.entry(*parent).or_default() += 1;
    }
    let (mut ordered, mut ready) = (Vec::new(), vec![head]);
    while let Some(id) = ready.pop() {
        let Some(info) = commits.remove(&id) else { continue };
        for parent in &info.parents {
            let children = waits_for.entry(*parent).or_default();
            *children = children.saturating_sub(1);
            if *children == 0 {
                ready.push(*parent);
            }
        }
        ordered.push((id, info));
    }
    ordered
}

/// Opens the folders of a commit that [`Repositories::tree`] has sealed, and no others.
pub fn opener<'a>(
    repositories: &'a dyn Repositories,
    commit: &'a Commit,
) -> impl Fn(&Sealed) -> Result<Tree, OpenError> + Sync + 'a {
    move |sealed| {
        let unreadable = |reason: String| OpenError::Unreadable { id: sealed.id, reason };
        match sealed.by {
            SealedBy::Repository => {
                repositories.subtree(commit, sealed.id).map_err(|error| unreadable(error.to_string()))
            }
            SealedBy::Maker(_) => Err(unreadable("it is not of a repository".to_owned())),
        }
    }
}

/// A name for a commit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Revision {
    /// The head of a branch.
    Branch(Arc<str>),
    /// What a tag points at.
    Tag(Arc<str>),
    /// A commit, which never changes.
    Commit {
        /// The commit.
        id: GitId,
        /// The branch that it should be on: some servers don't give out a commit by its id.
        branch: Option<Arc<str>>,
    },
}

impl Revision {
    /// The head of a branch.
    pub fn branch(name: &str) -> Self {
        Self::Branch(name.into())
    }

    /// What was asked for, as [`model::source::Source`] names it: a pinned commit by its branch, if it has one.
    pub fn name(&self) -> Arc<str> {
        match self {
            Self::Branch(name) | Self::Tag(name) | Self::Commit { branch: Some(name), .. } => Arc::clone(name),
            Self::Commit { id, branch: None } => id.short().into(),
        }
    }
}

/// ``branch `main` ``
impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Branch(name) => write!(f, "branch `{}`", name.escape_debug()),
            Self::Tag(name) => write!(f, "tag `{}`", name.escape_debug()),
            Self::Commit { id, .. } => write!(f, "commit `{id}`"),
        }
    }
}

/// A commit that can be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Commit {
    /// The repository.
    pub url: RepositoryUrl,
    /// How it was found.
    pub revision: Revision,
    /// Its id.
    pub id: GitId,
}

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Item {
    /// Its name, as [`name_text`](model::tree::name_text) writes it.
    pub name: String,
    /// What it is.
    pub kind: ItemKind,
    /// The id of the blob or tree.
    pub id: GitId,
}

/// The tree of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownTree {
    /// Its id.
    pub id: GitId,
    /// How many bytes it may have. It is read as a whole.
    pub limit: u64,
}

/// What an entry of a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ItemKind {
    /// A folder.
    Folder,
    /// A file.
    File,
    /// A symbolic link.
    Link,
    /// A submodule.
    Submodule,
}

/// The content of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Its bytes.
    Bytes(Arc<[u8]>),
    /// It is larger than was asked for, and has so many bytes.
    TooLarge(u64),
}

/// Who made a commit from which, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitInfo {
    /// The commits that it was made from.
    pub parents: Vec<GitId>,
    /// The id of its tree.
    pub tree: GitId,
    /// Who wrote it.
    pub author: Person,
    /// Who committed it.
    pub committer: Person,
    /// When it was committed, in seconds since 1970, by the committer's clock.
    pub seconds: i64,
    /// Why.
    pub message: String,
}

/// A name and address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// The name.
    pub name: String,
    /// The e-mail address.
    pub email: String,
}

/// `Ann <ann@example.com>`
impl fmt::Display for Person {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} <{}>", self.name, self.email)
    }
}

/// A commit to be made.
#[derive(Clone)]
pub struct NewCommit<'a> {
    /// The commits that it is made from.
    pub parents: &'a [GitId],
    /// What it holds. Blobs known by id must be in the repository, in a commit that was resolved.
    pub tree: &'a Tree,
    /// Opens what is sealed in it, as far as the repository does not have it.
    pub open: &'a Open<'a>,
    /// Why it is made, with its trailers.
    pub message: &'a str,
    /// Who makes it.
    pub author: &'a Person,
    /// When, in seconds since 1970.
    pub seconds: i64,
}

/// A branch to be moved.
#[derive(Clone)]
pub struct Push<'a> {
    /// The branch.
    pub branch: &'a str,
    /// Where it must be now; none if it must not exist.
    pub expected: Option<GitId>,
    /// Where it shall be. None: it is removed.
    pub commit: Option<NewCommit<'a>>,
    /// Where the folders that are not as before count as [`Phase::Writing`](model::progress::Phase::Writing). How many there will be only those
    /// know who made them, and say so before.
    pub progress: &'a Progress,
}

/// What is under way while a push is.
fn push_name(url: &RepositoryUrl) -> Arc<str> {
    format!("push to {}", url.label()).into()
}

/// What became of a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// The branch is at this commit.
    Moved(GitId),
    /// The branch is gone.
    Removed,
    /// The branch was not where it was expected; nothing was changed.
    LostRace,
}
