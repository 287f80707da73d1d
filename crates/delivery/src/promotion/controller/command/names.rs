//! The names that people have for releases.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::promotion::state::{AdvanceState, Revision};
use model::count::named;
use model::name::EnvironmentName;
use model::object::release::{is_called, shown};
use model::similar;

use super::CommandError;
use crate::access::renderer::SUBJECT;
use crate::promotion::controller::plane::Plane;
use crate::promotion::controller::settled;
use crate::states::rollout_store;

/// The releases of a workload that people can request for an environment.
pub(super) struct KnownReleases<'a> {
    environment: &'a EnvironmentName,
    workload: &'a str,
    /// Those that this environment and the ones before it have had.
    releases: BTreeSet<Revision>,
    /// The releases of all workloads that the environments before have had.
    before: BTreeMap<Arc<str>, BTreeSet<Revision>>,
}

impl<'a> KnownReleases<'a> {
    /// Reads the releases of the environments before. `state`: the release on its way into this one.
    pub(super) fn read(
        plane: &Plane<'_>,
        environment: &'a EnvironmentName,
        workload: &'a str,
        state: Option<&AdvanceState>,
    ) -> Self {
        let before = known_before(plane, environment);
        let mut releases = state.map(of_state).unwrap_or_default();
        releases.extend(before.get(workload).into_iter().flatten().cloned());
        Self { environment, workload, releases, before }
    }

    /// The whole text of a requested release. A tag that was resolved to a commit is known by its name; an environment before says its commit. A name of more than one
    /// release stays as it is.
    ///
    /// A release that no environment before has had is refused, as is a workload of which none has had a release: a typing error would move before the releases that
    /// are on their way. Where nothing is known yet, any name is accepted.
    ///
    /// # Errors
    /// [`CommandError::UnknownRelease`], with the nearest name.
    pub(super) fn requested(&self, requested: &Revision) -> Result<Revision, CommandError> {
        let Self { environment, workload, releases: known, before } = self;
        let mut called: Vec<_> = known.iter().filter(|known| is_called(&known.0, &requested.0)).collect();
        match (called.pop(), called.is_empty()) {
            (Some(only), true) => return Ok(only.clone()),
            (None, _) if !before.is_empty() => {}
            _ => return Ok(requested.clone()),
        }
        let (what, help) = if known.is_empty() {
            let help = match similar::nearest(workload, before.keys().map(|name| &**name)) {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => format!("they have releases of {}", named(&quoted(before.keys().map(|name| &**name)))),
            };
            (format!("a release of `{workload}`"), help)
        } else {
            let versions = known.iter().map(|known| shown(&known.0));
            (format!("`{}` of `{workload}`", requested.0), format!("they have had {}", named(&quoted(versions))))
        };
        Err(CommandError::UnknownRelease { environment: (*environment).clone(), what, help })
    }
}

fn quoted<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
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
