//! Folders that are known by their ids until somebody opens them.

use super::{DEPTH_MAX, Tree};
use crate::git_id::GitId;

/// A folder whose id is known, and what is in it can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// The id of its tree.
    pub id: GitId,
    /// Who can open it.
    pub by: SealedBy,
}

/// Who can open a sealed folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealedBy {
    /// The repository that the tree goes to: it has the folder already.
    Repository,
    /// Whoever will make the folder, and knows it by this key.
    Maker(u64),
}

/// Opens sealed folders. What it gives has the id that was sealed; what is inside may be sealed again.
pub type Open<'a> = dyn Fn(&Sealed) -> Result<Tree, OpenError> + Sync + 'a;

/// Why a folder can't be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// Whoever should open it can't.
    #[error("folder {id} can't be read: {reason}")]
    Unreadable {
        /// The folder.
        id: GitId,
        /// Why not.
        reason: String,
    },
    /// It holds something else than was said.
    #[error("folder {sealed} turned out to be {found}")]
    Different {
        /// The id that it should have.
        sealed: GitId,
        /// The id that it has.
        found: GitId,
    },
    /// It is in too many folders.
    #[error("`{path}` is in more than {DEPTH_MAX} folders")]
    TooDeep {
        /// Its path.
        path: String,
    },
}

impl OpenError {
    /// That nobody knows the folder.
    pub fn unknown(sealed: &Sealed) -> Self {
        Self::Unreadable { id: sealed.id, reason: "there is no such folder".to_owned() }
    }
}

impl Sealed {
    /// What is in the folder.
    ///
    /// # Errors
    /// If it can't be opened, or holds something else than its id says.
    pub fn opened(&self, open: &Open<'_>) -> Result<Tree, OpenError> {
        let tree = open(self)?;
        if tree.id() == self.id {
            return Ok(tree);
        }
        Err(OpenError::Different { sealed: self.id, found: tree.id() })
    }
}

/// Opens nothing: for trees that are in memory as a whole.
///
/// # Errors
/// Always.
pub fn closed(sealed: &Sealed) -> Result<Tree, OpenError> {
    Err(OpenError::Unreadable { id: sealed.id, reason: "it is not in memory".to_owned() })
}
