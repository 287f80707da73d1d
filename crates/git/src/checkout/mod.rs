//! Working trees on this machine: where people edit the branches of a repository.
//!
//! Only [`commit()`] starts programs that the repository or the user configures, such as hooks: it is the user's own `git commit`. All other functions
//! read files, and run `git ls-files`, which starts none.

mod commit;
mod error;
mod find;
mod listing;
mod operation;
mod state;
mod topic;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::git_id::GitId;

pub use self::commit::{Committed, commit, identity};
pub use self::error::CheckoutError;
pub use self::find::{checkout_at, checkouts, local_folder, origin, repository_above};
pub use self::operation::{Operation, OperationKind};
pub use self::state::{StateError, WorkingState, working_state};
pub use self::topic::{Distance, distance};

/// A working tree: the main one of a repository, or a linked one (`git worktree add`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    root: PathBuf,
    head: CheckoutHead,
    operation: Option<Operation>,
}

/// The `HEAD` of a working tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckoutHead {
    /// A branch, with its commit. None: the branch has no commit yet, or was deleted.
    Branch(Arc<str>, Option<GitId>),
    /// A commit without a branch.
    Detached(Option<GitId>),
}

impl Checkout {
    /// The root folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The `HEAD`.
    pub fn head(&self) -> &CheckoutHead {
        &self.head
    }

    /// The branch that is checked out. During a rebase, it is the branch that is being rebased. None if the `HEAD` is detached.
    pub fn branch(&self) -> Option<&str> {
        match (&self.head, &self.operation) {
            (CheckoutHead::Branch(branch, _), _) => Some(branch),
            (CheckoutHead::Detached(_), Some(operation)) => operation.branch.as_deref(),
            (CheckoutHead::Detached(_), None) => None,
        }
    }

    /// The commit that is checked out.
    pub fn commit(&self) -> Option<GitId> {
        match self.head {
            CheckoutHead::Branch(_, id) | CheckoutHead::Detached(id) => id,
        }
    }

    /// The operation of git that is not finished.
    pub fn operation(&self) -> Option<&Operation> {
        self.operation.as_ref()
    }
}
