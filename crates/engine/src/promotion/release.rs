//! The releases of workloads: what their deployment targets deploy in an environment, and with which configuration.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::object::release_pin::release_key;

use crate::compile::{Assignment, Compiled, Prepared};
use crate::pin::Manifests;

/// The release of a workload in an environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkloadRelease {
    /// The key of `manifests` that names it. None: no target has one.
    pub key: Option<Arc<str>>,
    /// The versions of its targets, each with the number of targets. What people pin does not count: these are exceptions.
    pub versions: BTreeMap<Arc<str>, usize>,
}

impl WorkloadRelease {
    /// The version of all targets. None if they differ, or if there is none.
    pub fn version(&self) -> Option<&Arc<str>> {
        self.versions.first_key_value().filter(|_| self.versions.len() == 1).map(|(version, _)| version)
    }
}

/// The release of each workload in an environment, by the name of the workload.
pub fn workload_releases(prepared: &Prepared) -> BTreeMap<Arc<str>, WorkloadRelease> {
    let mut of_workload: BTreeMap<Arc<str>, Vec<Manifests>> = BTreeMap::new();
    for target in prepared.targets().iter().filter(|target| !target.workload().is_empty()) {
        let mut manifests = target.manifests.clone();
        // What people pin is an exception, and does not change what the release of the environment is.
        for pin in prepared.pins.holding(|_| None, target).into_iter().filter(|pin| pin.is_promoted()) {
            manifests.extend(pin.spec.manifests.clone());
        }
        of_workload.entry(target.workload().into()).or_default().push(manifests);
    }
    of_workload.into_iter().map(|(workload, manifests)| (workload, release(&manifests))).collect()
}

fn release(targets: &[Manifests]) -> WorkloadRelease {
    let key = release_key(targets);
    let mut found = WorkloadRelease { key: key.map(Arc::from), versions: BTreeMap::new() };
    for version in targets.iter().filter_map(|manifests| manifests.get(key?)) {
        *found.versions.entry(Arc::clone(version)).or_default() += 1;
    }
    found
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(targets: &[&[(&str, &str)]], key: Option<&str>, version: Option<&str>) {
        let map = |pairs: &&[(&str, &str)]| pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        let found = release(&targets.iter().map(map).collect::<Vec<_>>());
        assert_eq!((found.key.as_deref(), found.version().map(|version| &**version)), (key, version));
    }

    #[test]
    fn the_most_exact_key_names_the_release() {
        check(&[&[("repo", "r"), ("branch", "dev"), ("tag", "v2.0.0-rc.1")]], Some("tag"), Some("v2.0.0-rc.1"));
        check(&[&[("repo", "r"), ("branch", "dev")], &[("branch", "dev")]], Some("branch"), Some("dev"));
        check(&[&[("tag", "v1")], &[("tag", "v2")]], Some("tag"), None);
        check(&[&[("repo", "r")]], None, None);
    }
}
