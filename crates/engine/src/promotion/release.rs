//! The releases of workloads: what their deployment targets deploy in an environment, and with which configuration.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::diagnostic::AssignmentId;
use model::object::deployment_target::WORKLOAD_LABEL;
use model::object::release::Release;

use crate::compile::{Assignment, Compiled, Prepared};
use crate::schedule::pin::{self, Manifests, Pin};
use crate::schedule::place::Place;
use crate::schedule::target::Target;

/// The release of each workload in an environment, by the name of the workload. None: no key names it, or its targets have different ones. What people pin does not
/// count: these are exceptions.
pub fn workload_releases(prepared: &Prepared) -> BTreeMap<Arc<str>, Option<Release>> {
    let mut of_workload: BTreeMap<Arc<str>, Vec<(&Manifests, Manifests)>> = BTreeMap::new();
    for target in prepared.targets().iter().filter(|target| !target.workload().is_empty()) {
        let mut promoted = Manifests::new();
        // What people pin is an exception, and does not change what the release of the environment is.
        for pin in prepared.pins.holding(|_| None, target).into_iter().filter(|pin| pin.is_promoted()) {
            promoted
                .extend(pin.of_target(&target.manifests).map(|(key, version)| (Arc::clone(key), Arc::clone(version))));
        }
        of_workload.entry(target.workload().into()).or_default().push((&target.manifests, promoted));
    }
    let release = |targets: Vec<(&Manifests, Manifests)>| {
        Release::of_promoted(targets.iter().map(|(manifests, promoted)| (*manifests, promoted)))
    };
    of_workload.into_iter().map(|(workload, targets)| (workload, release(targets))).collect()
}

/// The release of a workload at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedRelease {
    /// The release.
    pub release: Release,
    /// Whether a person pinned it there.
    pub is_pinned: bool,
}

/// The release of an assignment's workload at its place: one for all targets of the workload, with the pins of people. If they have different ones, that of its own
/// target. None: no key names it, or its place or target does not exist.
pub fn placed_release(prepared: &Prepared, id: &AssignmentId) -> Option<PlacedRelease> {
    let place = prepared.place(prepared.place_id(id.place.as_str())?)?;
    release_at(prepared, (place, &prepared.target(prepared.target_id(id.target.as_str())?)?.target))
}

/// The release of a compiled assignment.
pub fn assigned_release(assignment: Assignment<'_>) -> Option<PlacedRelease> {
    release_at(assignment.prepared(), (assignment.place()?, assignment.target()?))
}

/// The release of the workload of a target at a place.
pub(crate) fn release_at(prepared: &Prepared, (place, own): (&Place, &Target)) -> Option<PlacedRelease> {
    let said = |target: &Target| prepared.pins.said(|key| place.label(key), target);
    let (of_own, is_pinned) = said(own);
    let others: Vec<_> =
        prepared.targets_with(WORKLOAD_LABEL, own.workload()).map(|target| (target, said(target).0)).collect();
    let whole = Release::of_promoted(others.iter().map(|(target, said)| (&target.manifests, said)));
    let release = whole.or_else(|| Release::of_promoted([(&own.manifests, &of_own)]))?;
    Some(PlacedRelease { release, is_pinned })
}

/// The release of a target with these manifests, if exactly these pins hold it. None: no key names it.
pub fn released_with(pins: &[Pin], manifests: &Manifests) -> Option<PlacedRelease> {
    let (said, is_pinned) = pin::said(pins, manifests);
    Some(PlacedRelease { release: Release::of_promoted([(manifests, &said)])?, is_pinned })
}

/// The assignments that a person pinned to a release.
pub fn pinned_assignments(compiled: &Compiled) -> Vec<AssignmentId> {
    let has_exceptions = compiled.prepared().pins.all().iter().any(|pin| !pin.is_promoted());
    let all = has_exceptions.then(|| compiled.assignments()).into_iter().flatten();
    let is_pinned = |one: &Assignment<'_>| {
        let of_both = one.place().zip(one.target());
        of_both.is_some_and(|(place, target)| one.prepared().pins.said(|key| place.label(key), target).1)
    };
    all.filter(is_pinned).filter_map(|one| one.id()).collect()
}

/// The versions of the configuration of each workload's assignments, each with the number of assignments. Failing assignments have none.
pub fn config_versions(compiled: &Compiled) -> BTreeMap<Arc<str>, BTreeMap<Arc<str>, usize>> {
    let mut versions: BTreeMap<Arc<str>, BTreeMap<Arc<str>, usize>> = BTreeMap::new();
    for assignment in compiled.assignments().filter(Assignment::is_rendered) {
        let (Some(composition), workload) = (assignment.composition(), assignment.workload()) else { continue };
        if !versions.contains_key(workload) {
            versions.insert(workload.into(), BTreeMap::new());
        }
        if let Some(of_workload) = versions.get_mut(workload) {
            *of_workload.entry(Arc::clone(composition.version())).or_default() += 1;
        }
    }
    versions
}
