//! What can go wrong with a repository.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use model::git_id::GitId;
use model::tree::OpenError;

use super::Revision;
use crate::limits::ASK_LIMIT;
use crate::trust::Distrust;
use crate::url::{RepositoryUrl, UrlError};

/// What git is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Where its branches and tags are.
    References,
    /// Commits, with what is in them.
    Commits,
    /// That it takes what is pushed.
    Push,
    /// Nothing of the repository itself: its copy is put in order.
    Maintenance,
}

impl Wait {
    /// How long, if nothing at all may take longer than `longest`.
    pub(super) fn limit(self, longest: Duration) -> Duration {
        match self {
            Self::References | Self::Maintenance => longest.min(ASK_LIMIT),
            Self::Commits | Self::Push => longest,
        }
    }
}

/// `the list of its branches`
impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::References => "the list of its branches",
            Self::Commits => "fetching commits",
            Self::Push => "taking a push",
            Self::Maintenance => "maintenance of its copy",
        })
    }
}

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
    /// An entry of `git.rewrite` makes something of the URL that can't be used.
    #[error("the entry of `git.rewrite` in kalypso.toml for `{from}` makes no usable URL of `{url}`: {reason}")]
    Rewrite {
        /// The URL.
        url: RepositoryUrl,
        /// What the entry is for.
        from: String,
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
    /// The repository is of a kind that is not read.
    #[error("repository `{url}` can't be read: {reason}")]
    Unsupported {
        /// The repository.
        url: RepositoryUrl,
        /// Of what kind it is, and what to do about it.
        reason: String,
    },
    /// The repository is on this machine, and a push would run programs of somebody else.
    #[error("repository `{url}` is not this user's own, so nothing is pushed there: {reason}")]
    NotOwned {
        /// The repository.
        url: RepositoryUrl,
        /// What belongs to whom.
        reason: Distrust,
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
    #[error("repository `{url}` did not answer in time: {wait} took longer than {} seconds", limit.as_secs())]
    TimedOut {
        /// The repository.
        url: RepositoryUrl,
        /// What was waited for.
        wait: Wait,
        /// How long it may take.
        limit: Duration,
    },
    /// Another run works in the copy for longer than we wait.
    #[error("the copy of repository `{url}` is in use by {holder} for longer than {} seconds", limit.as_secs())]
    InUse {
        /// The repository.
        url: RepositoryUrl,
        /// Who works there.
        holder: String,
        /// How long was waited.
        limit: Duration,
    },
    /// Somebody answers at the URL, but no git server.
    #[error("what answers at the URL of repository `{url}` is no git server")]
    NotGit {
        /// The repository.
        url: RepositoryUrl,
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
    /// A folder is too large to be read.
    #[error("a folder of repository `{url}` takes {size} bytes; at most {limit} are read")]
    FolderTooLarge {
        /// The repository.
        url: RepositoryUrl,
        /// The size of the tree.
        size: u64,
        /// How large it may be.
        limit: u64,
    },
    /// What was to be fetched is too large; nothing of it is kept.
    #[error("what repository `{url}` sends is larger than {limit} bytes")]
    TransferTooLarge {
        /// The repository.
        url: RepositoryUrl,
        /// How large it may be.
        limit: u64,
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
    /// The cache is not this user's own, or others may write to it.
    #[error("the cache is not used: {reason}")]
    UntrustedCache {
        /// Why not.
        reason: Distrust,
    },
    /// The cache can't be used or written.
    #[error("the cache can't be used: `{}`: {reason}", path.display())]
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
