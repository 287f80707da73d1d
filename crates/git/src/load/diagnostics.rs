//! Converts errors of reading to diagnostics.

use model::diagnostic::{Code, Diagnostic};

use super::place::PlaceError;
use crate::repositories::{RepositoryError, Revision};
use crate::walk::PathError;

/// The diagnostic for a place that can't be read. It does not point at a field.
pub(super) fn place(error: &PlaceError, path: &str) -> Diagnostic {
    let path = path.escape_debug();
    match error {
        PlaceError::Repository(error) => repository(error),
        PlaceError::Path(reason) => {
            let (code, help) = match reason {
                PathError::Upwards | PathError::Character => {
                    (Code::InvalidPath, "write the path as it is below the root of the repository")
                }
                PathError::Missing => (Code::PathNotFound, "is the path spelled right, and is it on that branch?"),
                PathError::Link => (Code::NotAFile, "name the folder or file that is meant"),
                PathError::TooMuch(_) | PathError::TooDeep => {
                    (Code::TooMuchToRead, "name a smaller folder, or leave folders out with `.sourceignore`")
                }
            };
            Diagnostic::error(code, format!("path `{path}` can't be read: {reason}")).help(help)
        }
    }
}

/// The advice for a cache that is not trusted.
pub const UNTRUSTED_CACHE_HELP: &str = "close it to others, `chmod 700`, or name a folder of your own: `cache` in `[git]` of `kalypso.toml`, or `KALYPSO_CACHE_DIR`";

/// The diagnostic for a repository that can't be read.
pub(crate) fn repository(error: &RepositoryError) -> Diagnostic {
    let (code, help) = match error {
        RepositoryError::Url { .. } => (Code::InvalidUrl, "write `https://…`, `ssh://…` or `user@host:path`".to_owned()),
        RepositoryError::Rewrite { .. } => {
            (Code::InvalidUrl, "mend `to` of that entry: it is put in the place of `from`, and the rest of the URL follows as it is".to_owned())
        }
        RepositoryError::NoRevision { revision: Revision::Commit { .. }, .. } => {
            (Code::RevisionNotFound, "was the commit pushed, and is it still on a branch?".to_owned())
        }
        RepositoryError::NoRevision { revision, .. } => {
            (Code::RevisionNotFound, format!("is the name right? `git push origin {}` publishes a new one", revision.name()))
        }
        RepositoryError::Empty { .. } => {
            (Code::RevisionNotFound, "push a first commit: `git push origin HEAD:main`".to_owned())
        }
        RepositoryError::UntrustedCache { .. } => (Code::UntrustedCache, UNTRUSTED_CACHE_HELP.to_owned()),
        RepositoryError::NotOwned { .. } => (
            Code::NotOwned,
            "push over ssh or https, or make the repository, its `config` and its `hooks` your own, and close them to others: `chmod go-w`".to_owned(),
        ),
        RepositoryError::Cache { .. } => {
            (Code::CacheFailed, "make room there, or name another folder: `cache` in `[git]` of `kalypso.toml`, or `KALYPSO_CACHE_DIR`".to_owned())
        }
        RepositoryError::Unsupported { .. } => (Code::Unreachable, "read a clone of it, or change it as it says".to_owned()),
        RepositoryError::TransferTooLarge { .. } => (
            Code::TooMuchToRead,
            "take large files out of the branch, or keep what Kalypso reads in a repository of its own; it is tried again with every run".to_owned(),
        ),
        RepositoryError::FolderTooLarge { .. } => {
            (Code::TooMuchToRead, "name a smaller folder, or divide this one".to_owned())
        }
        RepositoryError::TimedOut { .. } => {
            (Code::NoAnswerInTime, "run it again; if it stays so, what does `git ls-remote` do on this machine?".to_owned())
        }
        RepositoryError::NotGit { .. } => (
            Code::NotAGitServer,
            "is it a page to log in at? Is the URL right, and is a token needed? `[git] credentials` in `kalypso.toml` names tokens".to_owned(),
        ),
        RepositoryError::InUse { .. } => {
            (Code::CopyInUse, "wait until it has ended, end it, or set `[git] cache` in `kalypso.toml` to another folder".to_owned())
        }
        _ => (Code::Unreachable, "does the repository exist, and may this machine read it? `[git] credentials` in `kalypso.toml` names tokens".to_owned()),
    };
    Diagnostic::error(code, error.to_string()).help(help)
}
