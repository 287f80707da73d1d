//! The releases of workloads: what their deployment targets deploy in an environment, and with which configuration.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::object::release::Release;

use crate::compile::{Assignment, Compiled, Prepared};
use crate::pin::Manifests;

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
