//! Adds what is missing to the branches of a repository.

use std::sync::Arc;

use git::{Commit, NewCommit, Person, Push, Pushed, Repositories, RepositoryError, RepositoryUrl, Revision, opener};
use model::progress::Progress;
use model::tree::{Child, Entry, OpenError, Tree, closed};

use super::plan::RequiredBranch;

/// How often a branch is completed again because another program pushed.
const ATTEMPTS: usize = 3;

/// Who completes branches, and when.
#[derive(Clone, Copy, Debug)]
pub struct BranchAuthor<'a> {
    /// The author of the commits.
    pub person: &'a Person,
    /// The time of the commits, in seconds since 1970.
    pub seconds: i64,
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BranchCompletion {
    /// The branch is new.
    New,
    /// These files were added.
    Added(Vec<String>),
    /// Nothing was missing.
    Complete,
}

/// The reason why a branch can't be completed.
#[derive(Debug, thiserror::Error)]
pub enum BranchError {
    /// The repository can't be read, or refuses the push.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// A folder of the branch can't be read.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Something is in the place of a file.
    #[error("`{path}` in branch `{branch}` of {repository} is in the way of a folder")]
    InTheWay {
        /// The repository.
        repository: Arc<str>,
        /// The branch.
        branch: String,
        /// The path.
        path: String,
    },
    /// Other programs pushed all the time.
    #[error("branch `{0}` moved in the meantime")]
    LostRace(String),
}

/// Makes a branch, or adds the files that it does not have.
///
/// # Errors
/// If the repository can't be read or written.
pub fn complete(
    repositories: &dyn Repositories,
    url: &RepositoryUrl,
    content: &RequiredBranch,
    author: BranchAuthor<'_>,
) -> Result<BranchCompletion, BranchError> {
    for _ in 0..ATTEMPTS {
        let completing = Completing { repositories, url, content, author };
        let head = match repositories.resolve(url, &Revision::branch(&content.name)) {
            Err(RepositoryError::NoRevision { .. } | RepositoryError::Empty { .. }) => None,
            found => Some(found?),
        };
        let done = match &head {
            Some(_) if !content.is_completed => return Ok(BranchCompletion::Complete),
            Some(head) => completing.add(head)?,
            None => completing.create()?,
        };
        if let Some(done) = done {
            return Ok(done);
        }
    }
    Err(BranchError::LostRace(content.name.clone()))
}

struct Completing<'a> {
    repositories: &'a dyn Repositories,
    url: &'a RepositoryUrl,
    content: &'a RequiredBranch,
    author: BranchAuthor<'a>,
}

impl Completing<'_> {
    /// None: another program was faster.
    fn create(&self) -> Result<Option<BranchCompletion>, BranchError> {
        let mut tree = Tree::default();
        for file in &self.content.files {
            tree.write(&file.path, file.text.as_bytes());
        }
        let message = format!("{}: begin the branch\n", self.content.name);
        let commit = NewCommit {
            parents: &[],
            tree: &tree,
            open: &closed,
            message: &message,
            author: self.author.person,
            seconds: self.author.seconds,
            signer: None,
        };
        Ok(self.push(None, commit)?.then_some(BranchCompletion::New))
    }

    /// None: another program was faster.
    fn add(&self, head: &Commit) -> Result<Option<BranchCompletion>, BranchError> {
        let open = opener(self.repositories, head);
        let mut tree = self.repositories.tree(head)?;
        let mut added = Vec::new();
        for file in &self.content.files {
            if tree.find(&file.path, &open)?.is_some() {
                continue;
            }
            self.check_folders(&tree, &file.path, &open)?;
            tree.put(&file.path, Child::File(Entry::file(file.text.as_bytes())), &open)?;
            added.push(file.path.clone());
        }
        if added.is_empty() {
            return Ok(Some(BranchCompletion::Complete));
        }
        let message = format!("{}: add the values of new targets\n", self.content.name);
        let commit = NewCommit {
            parents: &[head.id],
            tree: &tree,
            open: &open,
            message: &message,
            author: self.author.person,
            seconds: self.author.seconds,
            signer: None,
        };
        Ok(self.push(Some(head), commit)?.then_some(BranchCompletion::Added(added)))
    }

    /// A file in the place of a folder would be replaced.
    fn check_folders(&self, tree: &Tree, path: &str, open: &model::tree::Open<'_>) -> Result<(), BranchError> {
        let ends = path.match_indices('/').map(|(at, _)| at);
        for above in ends.filter_map(|at| path.get(..at)) {
            if matches!(tree.find(above, open)?, Some(found) if !found.is_folder()) {
                let (repository, branch) = (self.url.label(), self.content.name.clone());
                return Err(BranchError::InTheWay { repository, branch, path: above.to_owned() });
            }
        }
        Ok(())
    }

    /// Whether the commit is the new head.
    fn push(&self, head: Option<&Commit>, commit: NewCommit<'_>) -> Result<bool, BranchError> {
        let push = Push {
            branch: &self.content.name,
            expected: head.map(|head| head.id),
            commit: Some(commit),
            progress: &Progress::default(),
        };
        Ok(matches!(self.repositories.push(self.url, &push)?, Pushed::Moved(_)))
    }
}
