//! Converts errors of reading to diagnostics.

use model::diagnostic::{Code, Diagnostic};

use super::place::PlaceError;
use crate::object_format;
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
                    (Code::InvalidPath, "write the path relative to the root of the repository")
                }
                PathError::Missing => {
                    (Code::PathNotFound, "check the spelling of the path, and that it exists on that branch")
                }
                PathError::Link => (Code::NotAFile, "name the folder or file itself, not a link to it"),
                PathError::TooMuch(_) | PathError::TooDeep => {
                    (Code::TooMuchToRead, "name a smaller folder, or exclude folders with `.sourceignore`")
                }
            };
            Diagnostic::error(code, format!("path `{path}` can't be read: {reason}")).help(help)
        }
    }
}

/// The advice for a cache that is not trusted.
pub const UNTRUSTED_CACHE_HELP: &str = "remove the access of other users, `chmod 700`, or set `cache` in `[git]` of `kalypso.toml`, or `KALYPSO_CACHE_DIR`, to a folder of your own";

/// The diagnostic for a repository that can't be read.
pub(crate) fn repository(error: &RepositoryError) -> Diagnostic {
    let (code, help) = match error {
        RepositoryError::Url { .. } => (Code::InvalidUrl, "write `https://…`, `ssh://…` or `user@host:path`".to_owned()),
        RepositoryError::Rewrite { .. } => {
            (Code::InvalidUrl, "fix `to` of that rule: it replaces `from`, and the rest of the URL stays as it is".to_owned())
        }
        RepositoryError::NoRevision { revision: Revision::Commit { .. }, .. } => {
            (Code::RevisionNotFound, "check that the commit was pushed, and that a branch or tag still contains it".to_owned())
        }
        RepositoryError::NoRevision { revision, .. } => {
            (Code::RevisionNotFound, format!("check the name; `git push origin {}` pushes a new branch or tag", revision.name()))
        }
        RepositoryError::Empty { .. } => {
            (Code::RevisionNotFound, "push a first commit: `git push origin HEAD:main`".to_owned())
        }
        RepositoryError::UntrustedCache { .. } => (Code::UntrustedCache, UNTRUSTED_CACHE_HELP.to_owned()),
        RepositoryError::NotOwned { .. } => (
            Code::NotOwned,
            "push over ssh or https, or become the owner of the repository, its `config` and its `hooks`, and remove write access of other users: `chmod go-w`".to_owned(),
        ),
        RepositoryError::Cache { .. } => {
            (Code::CacheFailed, "free disk space there, or name another folder: `cache` in `[git]` of `kalypso.toml`, or `KALYPSO_CACHE_DIR`".to_owned())
        }
        RepositoryError::ObjectFormat { .. } => (Code::Unreachable, object_format::ADVICE.to_owned()),
        RepositoryError::Unsupported { .. } => (Code::Unreachable, "use a clone of it, or convert it as the message describes".to_owned()),
        RepositoryError::TransferTooLarge { .. } => (
            Code::TooMuchToRead,
            "remove large files from the branch, or use a separate repository for the files that Kalypso reads; every run tries again".to_owned(),
        ),
        RepositoryError::FolderTooLarge { .. } => {
            (Code::TooMuchToRead, "name a smaller folder, or split this one".to_owned())
        }
        RepositoryError::TimedOut { .. } => {
            (Code::NoAnswerInTime, "run it again; if it fails again, try `git ls-remote` with this URL on this machine".to_owned())
        }
        RepositoryError::NotGit { .. } => (
            Code::NotAGitServer,
            "check the URL: a login page may answer there. If a token is needed, name it under `[git] credentials` in `kalypso.toml`".to_owned(),
        ),
        RepositoryError::Locked { lock, .. } => (Code::CopyInUse, lock.advice()),
        RepositoryError::InUse { .. } => {
            (Code::CopyInUse, "wait until that process ends, stop it, or set `[git] cache` in `kalypso.toml` to another folder".to_owned())
        }
        _ => (Code::Unreachable, "check that the repository exists, and that this machine may read it; name a token under `[git] credentials` in `kalypso.toml`".to_owned()),
    };
    Diagnostic::error(code, error.to_string()).help(help)
}
