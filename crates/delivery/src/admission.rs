//! What was admitted into an environment: its output is rendered from this, whatever its branches name.
//!
//! The controller records it on the branch with the states. A commit that a person, a script or a merged pull request writes into the environment's branch is a
//! request: it changes no output before the controller admits it.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::promotion::state::AdvanceState;
use git::publications::AdmittedReleases;
use model::git_id::GitId;

use crate::loaded::Admission;
use crate::rollout_store::StoredStates;

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
