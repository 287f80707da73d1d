//! Access to git repositories: one trait, with one implementation for real repositories and one in memory.

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

pub use self::error::{GitOperation, RepositoryError};
pub use self::memory::MemoryRepositories;
pub(crate) use self::object::from_gix as gix_id;
pub use self::real::GitRepositories;
pub(crate) use self::real::{in_checkout, options as open_options, own};
use crate::signing::{CommitSignature, SigningKey};
use crate::url::RepositoryUrl;

/// Access to repositories by URL.
///
/// Every method blocks. A request goes to the network only if the data is not in the cache: a commit that was fetched once is never fetched again.
pub trait Repositories: Sync {
    /// The current commit of a revision. Afterwards, all of its content can be read.
    ///
    /// # Errors
    /// If the repository can't be read, or has no such revision.
    fn resolve(&self, url: &RepositoryUrl, revision: &Revision) -> Result<Commit, RepositoryError>;

    /// The current commits of all branches and tags, by their full names, such as `refs/heads/main`. For an annotated tag, it is the tag object. One request;
    /// nothing is fetched.
    ///
    /// # Errors
    /// If the repository can't be read.
    fn references(&self, url: &RepositoryUrl) -> Result<BTreeMap<String, GitId>, RepositoryError>;

    /// The commit that the last [`Self::resolve`] of a revision returned, in this process or an earlier one. None if it is not known.
    fn cached(&self, url: &RepositoryUrl, revision: &Revision) -> Option<Commit>;

    /// The heads of a branch or tag at successful requests to its repository, oldest first. Consecutive equal heads are listed once. Only a limited
    /// number is stored; empty if none is known.
    fn seen(&self, url: &RepositoryUrl, revision: &Revision) -> Vec<GitId>;

    /// The entries of a folder of a commit, sorted by name. None if the folder does not exist. The empty path is the root.
    ///
    /// # Errors
    /// If the repository is damaged.
    fn folder(&self, commit: &Commit, path: &str) -> Result<Option<Vec<FolderEntry>>, RepositoryError>;

    /// Same as [`Self::folder`], for a folder whose tree id is known from the commit or the parent folder. The folders above it are not read again.
    ///
    /// # Errors
    /// If the repository is damaged, or if the tree exceeds its size limit.
    fn known_folder(
        &self,
        commit: &Commit,
        path: &str,
        _tree: KnownTree,
    ) -> Result<Option<Vec<FolderEntry>>, RepositoryError> {
        self.folder(commit, path)
    }

    /// The content of a file, by its blob id. A file with more than `limit` bytes is not read.
    ///
    /// # Errors
    /// If the repository is damaged.
    fn content(&self, commit: &Commit, blob: GitId, limit: u64) -> Result<FileContent, RepositoryError>;

    /// The root folder of a commit. Its folders are sealed, and files are known only by their blob ids.
    ///
    /// # Errors
    /// If the repository is damaged, or has a name that is not UTF-8.
    fn tree(&self, commit: &Commit) -> Result<Tree, RepositoryError>;

    /// A folder of a commit, by its tree id. Folders in it are sealed.
    ///
    /// # Errors
    /// Same as [`Self::tree`].
    fn subtree(&self, commit: &Commit, tree: GitId) -> Result<Tree, RepositoryError>;

    /// The metadata of a commit: parents, author, message.
    ///
    /// # Errors
    /// If the repository is damaged.
    fn info(&self, commit: &Commit) -> Result<CommitInfo, RepositoryError>;

    /// A commit and its ancestors along the first parents, newest first. At most `reach` commits; fewer if the history ends.
    ///
    /// # Errors
    /// If the history can't be read that far.
    fn history(&self, commit: &Commit, reach: usize) -> Result<Vec<Commit>, RepositoryError>;

    /// A commit and its ancestors along all parents, at most `reach` generations away. Each commit comes before its parents. The commits of a merged
    /// branch come before those of the branch that it was merged into.
    ///
    /// # Errors
    /// If the history can't be read that far.
    fn ancestry(&self, commit: &Commit, reach: usize) -> Result<Vec<(GitId, CommitInfo)>, RepositoryError>;

    /// Whether `ancestor` is `commit` or one of its ancestors, within `reach` generations.
    ///
    /// # Errors
    /// If the history can't be read that far.
    fn is_ancestor(&self, ancestor: GitId, commit: &Commit, reach: usize) -> Result<bool, RepositoryError>;

    /// Moves a branch. The update is atomic, and happens only if the branch is at the expected commit.
    ///
    /// # Errors
    /// If the repository can't be reached, or refuses the push.
    fn push(&self, url: &RepositoryUrl, push: &Push<'_>) -> Result<Pushed, RepositoryError>;
}

/// Sorts the ancestors of `head` so that each commit comes before its parents.
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

/// Opens the folders of a commit that [`Repositories::tree`] sealed. Other sealed folders are an error.
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
            SealedBy::Generator(_) => Err(unreadable("it is not of a repository".to_owned())),
        }
    }
}

/// A name for a commit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Revision {
    /// The head of a branch.
    Branch(Arc<str>),
    /// The commit that a tag points to.
    Tag(Arc<str>),
    /// A commit by its id.
    Commit {
        /// The commit.
        id: GitId,
        /// A branch that should contain the commit. Some servers do not send a commit by its id.
        branch: Option<Arc<str>>,
    },
}

impl Revision {
    /// The head of a branch.
    pub fn branch(name: &str) -> Self {
        Self::Branch(name.into())
    }

    /// The revision as [`model::source::Source`] names it. A pinned commit is named by its branch, if it has one.
    pub fn name(&self) -> Arc<str> {
        match self {
            Self::Branch(name) | Self::Tag(name) | Self::Commit { branch: Some(name), .. } => Arc::clone(name),
            Self::Commit { id, branch: None } => id.short().into(),
        }
    }
}

/// Writes ``branch `main` ``.
impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Branch(name) => write!(f, "branch `{}`", name.escape_debug()),
            Self::Tag(name) => write!(f, "tag `{}`", name.escape_debug()),
            Self::Commit { id, .. } => write!(f, "commit `{id}`"),
        }
    }
}

/// A commit that was resolved, so that its content can be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Commit {
    /// The repository.
    pub url: RepositoryUrl,
    /// The revision that was resolved.
    pub revision: Revision,
    /// The id.
    pub id: GitId,
}

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FolderEntry {
    /// The name, as [`name_text`](model::tree::name_text) writes it.
    pub name: String,
    /// The kind.
    pub kind: EntryKind,
    /// The id of the blob or tree.
    pub id: GitId,
}

/// The tree of a folder, by id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownTree {
    /// The id.
    pub id: GitId,
    /// The maximum size of the tree object, in bytes. It is read as a whole.
    pub limit: u64,
}

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
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
pub enum FileContent {
    /// The bytes.
    Bytes(Arc<[u8]>),
    /// The file exceeds the requested limit. Its size in bytes.
    TooLarge(u64),
}

/// The metadata of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitInfo {
    /// The parents.
    pub parents: Vec<GitId>,
    /// The id of the tree.
    pub tree: GitId,
    /// The author.
    pub author: Person,
    /// The committer.
    pub committer: Person,
    /// The commit time, in seconds since 1970, by the clock of the committer.
    pub seconds: i64,
    /// The message.
    pub message: String,
    /// The signature. None: the commit is not signed.
    pub signature: Option<CommitSignature>,
}

/// A name and an email address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// The name.
    pub name: String,
    /// The email address.
    pub email: String,
}

/// Writes `Ann <ann@example.com>`.
impl fmt::Display for Person {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} <{}>", self.name, self.email)
    }
}

/// A commit to create.
#[derive(Clone)]
pub struct NewCommit<'a> {
    /// The parents.
    pub parents: &'a [GitId],
    /// The files. Blobs that are known only by id must be in the repository, in a commit that was resolved.
    pub tree: &'a Tree,
    /// Opens sealed folders that the repository does not contain.
    pub open: &'a Open<'a>,
    /// The message, including trailers.
    pub message: &'a str,
    /// The author and committer.
    pub author: &'a Person,
    /// The time, in seconds since 1970.
    pub seconds: i64,
    /// The key that signs the commit. None: it is not signed.
    pub signer: Option<&'a SigningKey>,
}

/// A requested update of a branch.
#[derive(Clone)]
pub struct Push<'a> {
    /// The branch.
    pub branch: &'a str,
    /// The commit that the branch must be at now. None: the branch must not exist.
    pub expected: Option<GitId>,
    /// The new commit. None: the branch is deleted.
    pub commit: Option<NewCommit<'a>>,
    /// Counts each changed folder as [`Phase::Writing`](model::progress::ProgressPhase::Writing). The caller sets the expected number before the push,
    /// because only the caller can compute it.
    pub progress: &'a Progress,
}

/// The name of a push in the progress display.
fn push_name(url: &RepositoryUrl) -> Arc<str> {
    format!("push to {}", url.label()).into()
}

/// The result of a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// The branch is at this commit.
    Moved(GitId),
    /// The branch was deleted.
    Removed,
    /// The branch was not at the expected commit. Nothing was changed.
    LostRace,
}
