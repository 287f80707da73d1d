//! What was admitted into an environment: its output is rendered from this, whatever its branches name.
//!
//! The controller records it on the branch with the states. A commit that a person, a script or a merged pull request writes into the environment's branch is a
//! request: it changes no output before the controller admits it.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::promotion::state::AdvanceState;
use git::publications::AdmittedReleases;
use model::git_id::GitId;

use crate::sources::loaded::Admission;
use crate::states::rollout_store::StoredStates;

/// What would be admitted by these states if no gate were before the environment: the newest candidates of the main branch and of releases, and the heads of all
/// other sources. None: there is no state.
///
/// # Errors
/// The reason in words.
pub(crate) fn candidates_of(stored: &StoredStates) -> Result<Option<Admission>, String> {
    let (Some(head), Some(advances)) = (&stored.head, &stored.advances) else { return Ok(None) };
    let advances = advances.as_ref().map_err(ToString::to_string)?;
    let newest = |state: &AdvanceState| {
        let candidate = state.waiting.last().or(state.current.as_ref().map(|current| &current.revision));
        candidate.map(|revision| Arc::clone(&revision.0))
    };
    let main = advances.platform.as_ref().and_then(newest).and_then(|commit| GitId::from_hex(&commit));
    let release = |(workload, state): (&Arc<str>, &AdvanceState)| {
        let admitted = || state.admitted.as_ref().map(|admitted| Arc::clone(&admitted.0));
        Some((Arc::clone(workload), newest(state).or_else(admitted)?))
    };
    let releases = advances.releases.iter().filter_map(release).collect();
    Ok(Some(Admission { main, sources: BTreeMap::new(), releases, state: head.id }))
}

/// What was admitted by these states. None: the controller has admitted nothing.
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
