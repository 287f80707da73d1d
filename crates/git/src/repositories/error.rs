//! What can go wrong with a repository.

use std::path::PathBuf;
use std::time::Duration;

use model::git_id::GitId;
use model::tree::OpenError;

use super::Revision;
use crate::url::{RepositoryUrl, UrlError};

/// What went wrong with a repository. No message holds a credential.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RepositoryError {
    /// The URL can't be used, perhaps after rewriting.
    #[error("`{url}` can't be used as the URL of a repository: {reason}")]
    Url {
        /// The URL.
        url: RepositoryUrl,
        /// Why.
        reason: UrlError,
    },
    /// The repository can't be read: it does not exist, does not let us in, or the way to it is broken.
    #[error("repository `{url}` can't be read: {reason}")]
    Unreachable {
        /// The repository.
        url: RepositoryUrl,
        /// What git says.
        reason: String,
    },
    /// The repository has no such revision.
    #[error("repository `{url}` has no {revision}")]
    NoRevision {
        /// The repository.
        url: RepositoryUrl,
        /// What was asked for.
        revision: Revision,
    },
    /// The repository has no commit at all.
    #[error("repository `{url}` is empty")]
    Empty {
        /// The repository.
        url: RepositoryUrl,
    },
    /// Git took longer than it may.
    #[error("repository `{url}` did not answer within {} seconds", limit.as_secs())]
    TimedOut {
        /// The repository.
        url: RepositoryUrl,
        /// How long it may take.
        limit: Duration,
    },
    /// The repository did not take what was pushed.
    #[error("repository `{url}` refuses the push to branch `{branch}`: {reason}")]
    Refused {
        /// The repository.
        url: RepositoryUrl,
        /// The branch.
        branch: String,
        /// What git says.
        reason: String,
    },
    /// An object of the repository is missing or broken, and could not be had again.
    #[error("repository `{url}` is damaged: {reason}")]
    Damaged {
        /// The repository.
        url: RepositoryUrl,
        /// What is wrong.
        reason: String,
    },
    /// A blob of a tree to be pushed is not in the repository.
    #[error("blob {blob}, which belongs to `{path}`, is not in repository `{url}`")]
    NoBlob {
        /// The repository.
        url: RepositoryUrl,
        /// The file.
        path: String,
        /// The blob.
        blob: GitId,
    },
    /// A folder of what should be pushed can't be made.
    #[error("what should go to repository `{url}` can't be put together: {error}")]
    Unopened {
        /// The repository.
        url: RepositoryUrl,
        /// Why not.
        error: OpenError,
    },
    /// The cache can't be written.
    #[error("the cache `{}` can't be used: {reason}", path.display())]
    Cache {
        /// The folder or file.
        path: PathBuf,
        /// What the operating system says.
        reason: String,
    },
    /// Git can't be started.
    #[error("`{}` can't be started: {reason}: is git installed?", program.display())]
    Program {
        /// The program.
        program: PathBuf,
        /// What the operating system says.
        reason: String,
    },
}
