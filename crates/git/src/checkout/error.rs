//! Errors of working trees.

use std::path::PathBuf;

use crate::lock_file::LockFile;

/// The reason why a working tree can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckoutError {
    /// The folder contains no repository, or a broken one.
    #[error("`{}` can't be used as a git repository: {reason}", path.display())]
    Repository {
        /// The folder.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// Git failed.
    #[error("git {command} failed in `{}`: {message}", path.display())]
    Git {
        /// The working tree.
        path: PathBuf,
        /// The command.
        command: String,
        /// Its messages.
        message: String,
    },
    /// A lock file of another git stops git.
    #[error("git {command} is not possible in `{}`: {lock}", path.display())]
    Locked {
        /// The working tree.
        path: PathBuf,
        /// The command.
        command: String,
        /// The lock file.
        lock: LockFile,
    },
    /// A file can't be read.
    #[error("`{}` can't be read: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
}
