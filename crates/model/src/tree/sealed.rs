//! Folders of which only the id is in memory, until they are opened.

use super::{DEPTH_MAX, Tree};
use crate::git_id::GitId;

/// A folder of which only the id is in memory. Its content can be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// The id of its tree.
    pub id: GitId,
    /// Where the content can be loaded.
    pub by: SealedBy,
}

/// Where the content of a sealed folder can be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealedBy {
    /// In the repository that the tree is written to: it already contains the folder.
    Repository,
    /// From the code that generates the folder. The key is that code's own.
    Generator(u64),
}

/// Opens sealed folders. The result has the sealed id. Folders in it may be sealed again.
pub type Open<'a> = dyn Fn(&Sealed) -> Result<Tree, OpenError> + Sync + 'a;

/// Why a folder can't be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The content could not be loaded.
    #[error("folder {id} can't be read: {reason}")]
    Unreadable {
        /// The folder.
        id: GitId,
        /// The reason.
        reason: String,
    },
    /// The loaded content has a different id.
    #[error("folder {sealed} has the id {found}")]
    Different {
        /// The expected id.
        sealed: GitId,
        /// The id of the content.
        found: GitId,
    },
    /// The folder is nested too deep.
    #[error("`{path}` is in more than {DEPTH_MAX} folders")]
    TooDeep {
        /// The path of the folder.
        path: String,
    },
}

impl OpenError {
    /// The error for a folder whose content is not available.
    pub fn unknown(sealed: &Sealed) -> Self {
        Self::Unreadable { id: sealed.id, reason: "there is no such folder".to_owned() }
    }
}

impl Sealed {
    /// The content of the folder.
    ///
    /// # Errors
    /// The folder can't be opened, or its content has a different id.
    pub fn opened(&self, open: &Open<'_>) -> Result<Tree, OpenError> {
        let tree = open(self)?;
        if tree.id() == self.id {
            return Ok(tree);
        }
        Err(OpenError::Different { sealed: self.id, found: tree.id() })
    }
}

/// Opens no folder: for trees that are completely in memory.
///
/// # Errors
/// Always.
pub fn closed(sealed: &Sealed) -> Result<Tree, OpenError> {
    Err(OpenError::Unreadable { id: sealed.id, reason: "it is not in memory".to_owned() })
}
