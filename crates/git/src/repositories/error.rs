//! Errors of repositories.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use model::git_id::GitId;
use model::tree::OpenError;

use super::Revision;
use crate::limits::REQUEST_LIMIT;
use crate::lock_file::LockFile;
use crate::trust::Distrust;
use crate::url::{RepositoryUrl, UrlError};

/// The operation of git that a time limit applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitOperation {
    /// Listing branches and tags.
    References,
    /// Fetching commits with their content.
    Commits,
    /// Pushing.
    Push,
    /// Maintenance of the local copy, without the repository itself.
    Maintenance,
}

impl GitOperation {
    /// The time limit of this operation. `longest` is the limit of the settings.
    pub(super) fn limit(self, longest: Duration) -> Duration {
        match self {
            Self::References | Self::Maintenance => longest.min(REQUEST_LIMIT),
            Self::Commits | Self::Push => longest,
        }
    }
}

/// Writes `listing branches`.
impl fmt::Display for GitOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::References => "listing branches",
            Self::Commits => "fetching commits",
            Self::Push => "the push",
            Self::Maintenance => "maintenance of the local copy",
        })
    }
}

/// An error of a repository. No message contains a credential.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RepositoryError {
    /// The URL can't be used, possibly after rewriting.
    #[error("`{url}` can't be used as the URL of a repository: {reason}")]
    Url {
        /// The URL.
        url: RepositoryUrl,
        /// The reason.
        reason: UrlError,
    },
    /// A rewrite rule of `git.rewrite` turns the URL into one that can't be used.
    #[error("the rule for `{from}` in `git.rewrite` of kalypso.toml turns `{url}` into an invalid URL: {reason}")]
    Rewrite {
        /// The URL.
        url: RepositoryUrl,
        /// The `from` of the rule.
        from: String,
        /// The reason.
        reason: UrlError,
    },
    /// The repository can't be read: it does not exist, access is denied, or the connection fails.
    #[error("repository `{url}` can't be read: {reason}")]
    Unreachable {
        /// The repository.
        url: RepositoryUrl,
        /// The message of git.
        reason: String,
    },
    /// The format of the repository is not supported.
    #[error("repository `{url}` can't be read: {reason}")]
    Unsupported {
        /// The repository.
        url: RepositoryUrl,
        /// The format, and how to change it.
        reason: String,
    },
    /// The repository has another object format than SHA-1.
    #[error("repository `{url}` can't be used: its object format is `{format}`, and Kalypso uses `sha1`")]
    ObjectFormat {
        /// The repository.
        url: RepositoryUrl,
        /// The format.
        format: String,
    },
    /// The repository is on this machine, and a push would run programs of another user.
    #[error("repository `{url}` is not trusted, so nothing is pushed to it: {reason}")]
    NotOwned {
        /// The repository.
        url: RepositoryUrl,
        /// The file or folder, and its owner.
        reason: Distrust,
    },
    /// The repository has no such revision.
    #[error("repository `{url}` has no {revision}")]
    NoRevision {
        /// The repository.
        url: RepositoryUrl,
        /// The requested revision.
        revision: Revision,
    },
    /// The repository has no commit at all.
    #[error("repository `{url}` is empty")]
    Empty {
        /// The repository.
        url: RepositoryUrl,
    },
    /// Git exceeded a time limit.
    #[error("repository `{url}` did not answer in time: {wait} took more than {} seconds", limit.as_secs())]
    TimedOut {
        /// The repository.
        url: RepositoryUrl,
        /// The operation.
        wait: GitOperation,
        /// The time limit.
        limit: Duration,
    },
    /// Another run used the copy for longer than the time limit.
    #[error("the copy of repository `{url}` is in use by {holder} for more than {} seconds", limit.as_secs())]
    InUse {
        /// The repository.
        url: RepositoryUrl,
        /// The process that holds the lock.
        holder: String,
        /// The time limit.
        limit: Duration,
    },
    /// The server at the URL is not a git server.
    #[error("the server at the URL of repository `{url}` is not a git server")]
    NotGit {
        /// The repository.
        url: RepositoryUrl,
    },
    /// The repository refused the push.
    #[error("repository `{url}` refuses the push to branch `{branch}`: {reason}")]
    Refused {
        /// The repository.
        url: RepositoryUrl,
        /// The branch.
        branch: String,
        /// The message of git.
        reason: String,
    },
    /// A lock file of another git stops the push. Nothing was changed.
    #[error("repository `{url}` is locked, so nothing is pushed to branch `{branch}`: {lock}")]
    Locked {
        /// The repository.
        url: RepositoryUrl,
        /// The branch.
        branch: String,
        /// The lock file.
        lock: LockFile,
    },
    /// An object of the repository is missing or corrupt, and fetching it again did not help.
    #[error("repository `{url}` is damaged: {reason}")]
    Damaged {
        /// The repository.
        url: RepositoryUrl,
        /// The reason.
        reason: String,
    },
    /// A folder exceeds the size limit.
    #[error("a folder of repository `{url}` has {size} bytes; the limit is {limit}")]
    FolderTooLarge {
        /// The repository.
        url: RepositoryUrl,
        /// The size of the tree object, in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// A transfer exceeded the size limit. Nothing of it is stored.
    #[error("repository `{url}` sends more than {limit} bytes")]
    TransferTooLarge {
        /// The repository.
        url: RepositoryUrl,
        /// The limit in bytes.
        limit: u64,
    },
    /// A blob of a tree to push is not in the repository.
    #[error("blob {blob}, which belongs to `{path}`, is not in repository `{url}`")]
    NoBlob {
        /// The repository.
        url: RepositoryUrl,
        /// The file.
        path: String,
        /// The blob.
        blob: GitId,
    },
    /// A folder of the tree to push can't be created.
    #[error("the tree to push to repository `{url}` can't be created: {error}")]
    Unopened {
        /// The repository.
        url: RepositoryUrl,
        /// The reason.
        error: OpenError,
    },
    /// The cache does not belong to the current user, or other users may write to it.
    #[error("the cache is not used: {reason}")]
    UntrustedCache {
        /// The reason.
        reason: Distrust,
    },
    /// The cache can't be read or written.
    #[error("the cache can't be used: `{}`: {reason}", path.display())]
    Cache {
        /// The folder or file.
        path: PathBuf,
        /// The error of the operating system.
        reason: String,
    },
    /// Git can't be started.
    #[error("`{}` can't be started: {reason}: is git installed?", program.display())]
    Program {
        /// The program.
        program: PathBuf,
        /// The error of the operating system.
        reason: String,
    },
}

impl RepositoryError {
    /// The error for a repository with this object format.
    pub(super) fn object_format(url: &RepositoryUrl, format: &str) -> Self {
        Self::ObjectFormat { url: url.clone(), format: format.to_owned() }
    }
}
