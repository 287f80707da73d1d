//! The names that people have for releases.

use std::collections::BTreeSet;

use engine::promotion::command::{Command, CommandKind};
use engine::promotion::state::{AdvanceState, Revision};
use model::name::EnvironmentName;
use model::object::release::is_called;

use crate::controller::plane::Plane;
use crate::controller::settled;
use crate::rollout_store;

/// The command with the whole text of the release that it requests. A tag that was resolved to a commit is known by its name; an environment before says its commit. A
/// name of no release, or of more than one, stays as it is.
pub(super) fn whole(
    plane: &Plane<'_>,
    (environment, subject): (&EnvironmentName, &str),
    (state, command): (&AdvanceState, &Command),
) -> Command {
    let CommandKind::Request { revision: requested } = &command.kind else { return command.clone() };
    let mut known = of_state(state);
    let from = plane.step(environment).map(|step| step.promotion.from.clone()).unwrap_or_default();
    for before in from.into_iter().filter_map(|name| EnvironmentName::new(name).ok()) {
        // What can't be read has no names.
        let record = settled::read(plane.access, &before).ok().flatten();
        known.extend(record.and_then(|record| record.releases.get(subject).cloned()).map(Revision));
        let stored = rollout_store::read_advances(plane.access, &before).ok().flatten();
        let advances = stored.and_then(Result::ok).unwrap_or_default();
        known.extend(advances.releases.get(subject).map(of_state).unwrap_or_default());
    }
    known.retain(|revision| is_called(&revision.0, &requested.0));
    match known.pop_first().filter(|_| known.is_empty()) {
        Some(revision) => Command { kind: CommandKind::Request { revision }, ..command.clone() },
        None => command.clone(),
    }
}

fn of_state(state: &AdvanceState) -> BTreeSet<Revision> {
    let current = state.current.iter().map(|current| &current.revision);
    let proofs = state.proofs.iter().map(|proof| &proof.revision);
    let shown = state.evidence.iter().map(|shown| &shown.revision);
    let rejected = state.rejected.iter().map(|rejected| &rejected.revision);
    current.chain(&state.waiting).chain(proofs).chain(shown).chain(rejected).cloned().collect()
}
