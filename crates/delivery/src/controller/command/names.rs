//! The names that people have for releases.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::promotion::command::{Command, CommandKind};
use engine::promotion::state::{AdvanceState, Revision};
use model::count::named;
use model::name::EnvironmentName;
use model::object::release::{is_called, shown};
use model::similar;

use super::CommandError;
use crate::controller::plane::Plane;
use crate::controller::settled;
use crate::renderer::SUBJECT;
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
    known.extend(known_before(plane, environment).remove(subject).unwrap_or_default());
    known.retain(|revision| is_called(&revision.0, &requested.0));
    match known.pop_first().filter(|_| known.is_empty()) {
        Some(revision) => Command { kind: CommandKind::Request { revision }, ..command.clone() },
        None => command.clone(),
    }
}

/// Refuses the request of a release that no environment before has had, or of a workload that none has. Its typing error would move before the releases that are on
/// their way. Where nothing is known yet, anything is accepted.
///
/// # Errors
/// [`CommandError::UnknownRelease`], with the nearest name.
pub(super) fn check(
    plane: &Plane<'_>,
    (environment, subject): (&EnvironmentName, &str),
    (state, requested): (&AdvanceState, &Revision),
) -> Result<(), CommandError> {
    let before = known_before(plane, environment);
    let refuse = |what: String, help: String| {
        let environment = environment.clone();
        Err(CommandError::UnknownRelease { environment, what, help })
    };
    let of_state = of_state(state);
    let of_workload: BTreeSet<_> = before.get(subject).into_iter().flatten().chain(&of_state).collect();
    if before.is_empty() || of_workload.iter().any(|known| is_called(&known.0, &requested.0)) {
        return Ok(());
    }
    if of_workload.is_empty() {
        let help = match similar::nearest(subject, before.keys().map(|name| &**name)) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("they have releases of {}", named(&quoted(before.keys().map(|name| &**name)))),
        };
        return refuse(format!("a release of `{subject}`"), help);
    }
    let versions = of_workload.iter().map(|known| shown(&known.0).to_string());
    let help = format!("they have had {}", named(&quoted(versions)));
    refuse(format!("`{}` of `{subject}`", requested.0), help)
}

fn quoted(names: impl Iterator<Item = impl std::fmt::Display>) -> Vec<String> {
    names.map(|name| format!("`{name}`")).collect()
}

/// The releases that the environments before one have had, by workload.
fn known_before(plane: &Plane<'_>, environment: &EnvironmentName) -> BTreeMap<Arc<str>, BTreeSet<Revision>> {
    let mut known: BTreeMap<Arc<str>, BTreeSet<Revision>> = BTreeMap::new();
    let from = plane.step(environment).map(|step| step.promotion.from.clone()).unwrap_or_default();
    for before in from.into_iter().filter_map(|name| EnvironmentName::new(name).ok()) {
        // What can't be read has no names.
        let record = settled::read(plane.access, &before).ok().flatten();
        for (workload, release) in record.map(|record| record.releases).unwrap_or_default() {
            known.entry(workload).or_default().insert(Revision(release));
        }
        let stored = rollout_store::read_advances(plane.access, &before).ok().flatten();
        let advances = stored.and_then(Result::ok).unwrap_or_default();
        for (workload, state) in &advances.releases {
            known.entry(Arc::clone(workload)).or_default().extend(of_state(state));
        }
    }
    known.remove(SUBJECT);
    known
}

fn of_state(state: &AdvanceState) -> BTreeSet<Revision> {
    let current = state.current.iter().map(|current| &current.revision);
    let proofs = state.proofs.iter().map(|proof| &proof.revision);
    let shown = state.evidence.iter().map(|shown| &shown.revision);
    let rejected = state.rejected.iter().map(|rejected| &rejected.revision);
    current.chain(&state.waiting).chain(proofs).chain(shown).chain(rejected).cloned().collect()
}
