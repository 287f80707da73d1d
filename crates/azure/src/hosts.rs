//! The names of hosts. A cluster has its own name as long as that is unique in all sources.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use crate::resource::ResourceId;

/// The kind of a host. A cluster and a custom location with the same name are the same host, because the location represents the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum HostKind {
    /// An Arc or AKS cluster.
    Cluster,
    /// A custom location, the target of Workload Orchestration.
    Location,
}

/// A host, independent of its displayed name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Host {
    kind: HostKind,
    name: String,
    /// The name with its resource group and subscription.
    pub(crate) qualified: String,
}

impl Host {
    /// The host of a resource.
    pub(crate) fn new(kind: HostKind, id: &ResourceId<'_>) -> Self {
        Self { kind, name: id.name().to_lowercase(), qualified: id.qualified() }
    }
}

/// The names of the hosts of all sources. Clones share them.
///
/// If two clusters in different resource groups or subscriptions have the same name, both are named `name.group.subscription`, from the time at which the second
/// one is found until the hub is restarted.
#[derive(Clone, Debug, Default)]
pub struct HostNames(Arc<Mutex<QualifiedNames>>);

/// The qualified names of hosts, by kind and name.
type QualifiedNames = BTreeMap<(HostKind, String), BTreeSet<String>>;

impl HostNames {
    /// Adds a host. Returns the other hosts with the same name, if the host is new.
    pub(crate) fn add(&self, host: &Host) -> Vec<String> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same = known.entry((host.kind, host.name.clone())).or_default();
        if same.insert(host.qualified.clone()) && same.len() > 1 {
            return same.iter().filter(|other| **other != host.qualified).cloned().collect();
        }
        Vec::new()
    }

    /// The name of a host in reports.
    pub(crate) fn name(&self, host: &Host) -> String {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_unique = known.get(&(host.kind, host.name.clone())).is_none_or(|same| same.len() < 2);
        if is_unique { host.name.clone() } else { host.qualified.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(kind: HostKind, subscription: &str, name: &str) -> Host {
        let id = format!("/subscriptions/{subscription}/resourceGroups/G/providers/N/T/{name}");
        Host::new(kind, &ResourceId::parse(&id).unwrap())
    }

    #[test]
    fn names_are_qualified_where_two_have_the_same() {
        let names = HostNames::default();
        let (first, second) = (host(HostKind::Cluster, "S1", "Edge"), host(HostKind::Cluster, "S2", "edge"));
        assert_eq!(names.add(&first), [""; 0]);
        assert_eq!(names.name(&first), "edge");
        assert_eq!(names.clone().add(&second), ["edge.g.s1"]);
        assert_eq!((names.name(&first), names.name(&second)), ("edge.g.s1".to_owned(), "edge.g.s2".to_owned()));
        assert_eq!(names.add(&second), [""; 0]);
    }

    #[test]
    fn custom_location_has_the_name_of_its_cluster() {
        let names = HostNames::default();
        let (cluster, location) = (host(HostKind::Cluster, "S1", "edge"), host(HostKind::Location, "S2", "edge"));
        names.add(&cluster);
        assert_eq!(names.add(&location), [""; 0]);
        assert_eq!((names.name(&cluster), names.name(&location)), ("edge".to_owned(), "edge".to_owned()));
    }
}
