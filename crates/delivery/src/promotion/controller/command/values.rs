//! The rollback of an environment with its values: the commits of its sources, and the releases, from which the earlier commit was rendered.

use std::sync::Arc;

use engine::promotion::command::{Command, CommandKind, apply_to_advance};
use engine::promotion::state::{AdvanceState, Revision};
use git::publications::PublishedCommit;

use super::{CommandError, DecisionCommand, sources};
use crate::access::RepositoryAccess;
use crate::promotion::controller::changes::{Change, DecidedEvents};
use crate::promotion::controller::line;
use crate::states::rollout_store::{StoredSource, StoredStates};
use crate::states::state_branch;

/// Adds the values and the releases that were published with the commit to which a rollback returns. The sources are held until `retry`: newer values would undo it.
pub(super) fn with_earlier_values(
    access: &Arc<RepositoryAccess>,
    decision: &DecisionCommand<'_>,
    (mut change, stored): (Change, &StoredStates),
) -> Result<Change, CommandError> {
    let environment = decision.environment;
    let Some(target) = change.platform().and_then(|platform| platform.admitted.clone()) else { return Ok(change) };
    let publications = state_branch::all_publications(access, environment);
    let is_of_target = |found: &&PublishedCommit| found.promoted.is_some() && found.promoted == line::commit(&target);
    let publication = publications
        .iter()
        .find(is_of_target)
        .ok_or_else(|| CommandError::NoValues { environment: environment.clone(), commit: target.0.to_string() })?;
    let mut all = sources::read(access, environment);
    all.extend(stored.advances.iter().flatten().flat_map(|known| known.sources.clone()));
    let command = decision.command;
    for (name, source) in all {
        let at = publication.sources.get(&source.source).map(|commit| line::revision(*commit));
        let hold = source.state.hold.clone().or_else(|| Some(command.decision()));
        let admitted = at.or_else(|| source.state.admitted.clone());
        let state = AdvanceState { admitted, current: None, hold, unmerged: Vec::new(), ..source.state.clone() };
        let event = command.event(state.admitted.clone());
        let source = StoredSource { state, ..source };
        change.set_source(&name, source, DecidedEvents::by_person(&event, &command.by));
    }
    for (workload, release) in &publication.releases {
        let known = stored.advances.iter().flatten().find_map(|known| known.releases.get(workload));
        let Some(before) = known.filter(|known| known.admitted.as_ref().is_none_or(|has| has.0 != *release)) else {
            continue;
        };
        let kind = CommandKind::Rollback { to: Some(Revision(Arc::clone(release))), with_values: true };
        let command = Command { kind, ..command.clone() };
        let after = apply_to_advance(before, &command)?;
        let event = command.event(before.admitted.clone());
        change.set_release(workload, after, DecidedEvents::by_person(&event, &command.by));
    }
    Ok(change)
}
