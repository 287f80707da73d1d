//! What was admitted into an environment: its output is rendered from this, whatever its branches name.
//!
//! The controller records it on the branch with the states. A commit that a person, a script or a merged pull request writes into the environment's branch is a
//! request: it changes no output before the controller admits it.

use git::Revision;
use git::publications::Publications;
use model::git_id::GitId;
use model::name::EnvironmentName;

use crate::access::RepositoryAccess;
use crate::error::AdmissionError;
use crate::heads::DestinationHeads;
use crate::loaded::Admission;
use crate::rollout_store::{self, StoredStates, branch_name};

/// What was admitted into an environment, by its states. None: no commit of the main branch was admitted by the controller.
///
/// # Errors
/// If the states can't be read.
pub fn read(access: &RepositoryAccess, environment: &EnvironmentName) -> Result<Option<Admission>, AdmissionError> {
    let unreadable = |reason: String| AdmissionError::Unreadable { environment: environment.clone(), reason };
    let stored = rollout_store::read(access, environment).map_err(|error| unreadable(error.to_string()))?;
    of_states(&stored).map_err(unreadable)
}

/// What was admitted by these states.
///
/// # Errors
/// The reason in words.
pub fn of_states(stored: &StoredStates) -> Result<Option<Admission>, String> {
    let (Some(head), Some(advances)) = (&stored.head, &stored.advances) else { return Ok(None) };
    let advances = advances.as_ref().map_err(ToString::to_string)?;
    let Some(admitted) = advances.platform.as_ref().and_then(|state| state.admitted.as_ref()) else { return Ok(None) };
    let main = GitId::from_hex(&admitted.0).ok_or_else(|| format!("`{}` is no commit", admitted.0))?;
    Ok(Some(Admission { main, state: head.id }))
}

/// Checks that the branch with the states was not deleted. The publications of an environment with states name their commit.
///
/// # Errors
/// If it was deleted.
pub(crate) fn check_not_gone(
    access: &RepositoryAccess,
    environment: &EnvironmentName,
    destinations: &[DestinationHeads],
) -> Result<(), AdmissionError> {
    let branch = branch_name(environment);
    let repositories = &*access.repositories;
    if repositories.resolve(&access.settings.repo, &Revision::branch(&branch)).is_ok() {
        return Ok(());
    }
    let heads = destinations.iter().filter_map(|found| found.heads.as_ref().ok());
    let mut published = heads.filter_map(|heads| Publications::read(repositories, &heads.base, environment).ok());
    let named = published.find_map(|published| published.newest()?.states);
    named.map_or(Ok(()), |commit| Err(AdmissionError::Gone { environment: environment.clone(), branch, commit }))
}
