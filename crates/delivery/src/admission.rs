//! What was admitted into an environment: its output is rendered from this, whatever its branches name.
//!
//! The controller records it on the branch with the states. A commit that a person, a script or a merged pull request writes into the environment's branch is a
//! request: it changes no output before the controller admits it.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::promotion::state::AdvanceState;
use git::Revision;
use git::publications::{AdmittedReleases, Publications};
use model::git_id::GitId;
use model::name::EnvironmentName;

use crate::access::RepositoryAccess;
use crate::error::AdmissionError;
use crate::heads::DestinationHeads;
use crate::loaded::Admission;
use crate::rollout_store::{self, StoredStates, branch_name};

/// What was admitted into an environment, by its states. None: the controller has admitted nothing.
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
    let admitted = |state: &AdvanceState| match &state.admitted {
        Some(admitted) => {
            GitId::from_hex(&admitted.0).map(Some).ok_or_else(|| format!("`{}` is no commit", admitted.0))
        }
        None => Ok(None),
    };
    let main = advances.platform.as_ref().map(admitted).transpose()?.flatten();
    let mut sources = BTreeMap::new();
    for stored in advances.sources.values() {
        sources.extend(admitted(&stored.state)?.map(|commit| (stored.source.clone(), commit)));
    }
    let release = |(workload, state): (&Arc<str>, &AdvanceState)| {
        Some((Arc::clone(workload), Arc::clone(&state.admitted.as_ref()?.0)))
    };
    let releases: AdmittedReleases = advances.releases.iter().filter_map(release).collect();
    let is_empty = main.is_none() && sources.is_empty() && releases.is_empty();
    Ok((!is_empty).then_some(Admission { main, sources, releases, state: head.id }))
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
