//! Whether a commit of the main branch contains another one.

use git::{Commit, Revision};
use model::git_id::GitId;

use crate::access::RepositoryAccess;

/// How far back a commit is searched in the history of another one.
const REACH: usize = 1_000;

/// Whether a commit of the main branch is another one, or contains it.
pub(super) fn contains(access: &RepositoryAccess, newer: GitId, commit: GitId) -> Result<bool, String> {
    if newer == commit {
        return Ok(true);
    }
    let settings = &access.settings;
    let revision = Revision::Commit { id: newer, branch: Some(settings.branch.as_str().into()) };
    let newer = access.repositories.resolve(&settings.repo, &revision);
    let newer: Result<Commit, _> = newer.map_err(|error| error.to_string());
    access.repositories.is_ancestor(commit, &newer?, REACH).map_err(|error| error.to_string())
}
