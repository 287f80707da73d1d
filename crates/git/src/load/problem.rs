//! What goes wrong while reading, as diagnostics.

use model::diagnostic::{Code, Diagnostic};

use super::place::PlaceError;
use crate::repositories::{RepositoryError, Revision};
use crate::walk::PathError;

/// Why a place can't be read, without saying where that is written.
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
                PathError::TooManyFiles | PathError::TooDeep => {
                    (Code::YamlLimit, "name a smaller folder, or leave folders out with `.sourceignore`")
                }
            };
            Diagnostic::error(code, format!("path `{path}` can't be read: {reason}")).help(help)
        }
        PlaceError::TooLarge => Diagnostic::error(Code::YamlLimit, format!("path `{path}` can't be read: {error}"))
            .help("name a smaller folder, or leave folders out with `.sourceignore`"),
    }
}

/// Why a repository can't be read.
pub(crate) fn repository(error: &RepositoryError) -> Diagnostic {
    let (code, help) = match error {
        RepositoryError::Url { .. } => (Code::InvalidUrl, "write `https://…`, `ssh://…` or `user@host:path`".to_owned()),
        RepositoryError::NoRevision { revision: Revision::Commit { .. }, .. } => {
            (Code::RevisionNotFound, "was the commit pushed, and is it still on a branch?".to_owned())
        }
        RepositoryError::NoRevision { revision, .. } => {
            (Code::RevisionNotFound, format!("is the name right? `git push origin {}` publishes a new one", revision.name()))
        }
        RepositoryError::Empty { .. } => {
            (Code::RevisionNotFound, "push a first commit: `git push origin HEAD:main`".to_owned())
        }
        _ => (Code::Unreachable, "does the repository exist, and may this machine read it? `[git] credentials` in `kalypso.toml` names tokens".to_owned()),
    };
    Diagnostic::error(code, error.to_string()).help(help)
}
