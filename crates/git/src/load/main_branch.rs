//! Recognizes the main branch of the control plane. The limits of an environment do not apply to it: it is above the environment.

use model::diagnostic::{Code, Diagnostic};
use model::git_id::GitId;

use super::diagnostics;
use super::place::SourcePlace;
use super::reference::Reference;
use super::view::View;
use crate::limits::MAIN_REACHES;
use crate::repositories::{RepositoryError, Revision};
use crate::settings::repository_key;

/// The reason why it is not known whether a commit is on the main branch.
pub(super) enum Problem {
    /// The history can't be read.
    Repository(RepositoryError),
    /// The object names the main branch, but the history of the branch does not contain the commit.
    NotInHistory(GitId),
}

/// Whether a place names the main branch of the control plane.
pub(super) fn is_named(view: &View<'_>, place: &SourcePlace) -> bool {
    let control_plane = &view.control_plane;
    let branch = match &place.revision {
        Revision::Branch(branch) => Some(branch),
        Revision::Commit { branch, .. } => branch.as_ref(),
        Revision::Tag(_) => None,
    };
    let repository = |url: &str| repository_key(control_plane.rewrite, url);
    branch.is_some_and(|branch| **branch == *control_plane.branch)
        && repository(place.url.as_str()) == repository(control_plane.url.as_str())
}

/// Checks that the commit of a place that names the main branch is in its history. An object may name the branch together with any commit, so a limited
/// environment could name a commit of another branch.
///
/// # Errors
/// If the history can't be read, or does not contain the commit.
pub(super) fn check(view: &View<'_>, place: &SourcePlace, commit: GitId) -> Result<(), Problem> {
    if matches!(place.revision, Revision::Branch(_)) {
        return Ok(());
    }
    let control_plane = &view.control_plane;
    let head = view.resolve(control_plane.url, &Revision::branch(control_plane.branch)).map_err(Problem::Repository)?;
    // The head may be a commit of a plan, which does not exist in git.
    if head.id == commit {
        return Ok(());
    }
    for reach in MAIN_REACHES {
        if view.repositories.is_ancestor(commit, &head, reach).map_err(Problem::Repository)? {
            return Ok(());
        }
    }
    Err(Problem::NotInHistory(commit))
}

impl Problem {
    /// The diagnostic for the reference that names the commit.
    pub(super) fn diagnostic(&self, reference: &Reference) -> Diagnostic {
        let diagnostic = match self {
            Self::Repository(error) => diagnostics::repository(error),
            Self::NotInHistory(commit) => {
                let message =
                    format!("commit {} of {} is not in the history of the main branch", commit.short(), reference.key);
                Diagnostic::error(Code::RevisionNotFound, message)
                    .note("the environment has limits, which do not apply to the main branch, but to all other commits")
                    .help("name a commit of the main branch, or no commit")
            }
        };
        diagnostic.at(reference.commit_origin(), "named here").about(&reference.key)
    }
}
